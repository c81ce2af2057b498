# SPDX-License-Identifier: Apache-2.0
"""Axes that sample a space in place of a grid, by SciPy's quasi-Monte Carlo."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sluice import arguments
from sluice.error import Error

#: Of a key: a list of values to choose from, or a pair of numbers as its ends. Two integers: integers between them.
Space = Mapping[str, Any]


def latin_hypercube(space: Space, points: int, seed: int = 1) -> dict[tuple[str, ...], list[tuple[Any, ...]]]:
    """An axis of so many points: each of as many slices of every key's range holds one.

        sluice.Study(base, axes={**sluice.latin_hypercube({"topology.spines": (2, 16)}, 20), "seed": range(3)})

    space: by key, (least, most), or a list of values. Needs SciPy (sluice[search])."""
    return _axis(space, _sampler("LatinHypercube", space, seed).random(_points(points)))


def sobol(space: Space, points: int, seed: int = 1) -> dict[tuple[str, ...], list[tuple[Any, ...]]]:
    """The same by a scrambled Sobol sequence, whose points fill the space evenly; best a power of two of them."""
    return _axis(space, _sampler("Sobol", space, seed).random(_points(points)))


def _sampler(kind: str, space: Space, seed: int) -> Any:
    """One of SciPy's, of as many dimensions as the space has keys."""
    dimensions = len(arguments.table("space", space))
    if dimensions == 0:
        raise Error("the space has no keys; allowed: {\"topology.spines\": (2, 16)} and others of a scenario")
    try:
        from scipy.stats import qmc
    except ImportError as error:
        raise Error("sampled axes need SciPy: pip install 'sluice[search]'") from error
    return getattr(qmc, kind)(dimensions, seed=arguments.whole("seed", seed, 0))


def _points(number: int) -> int:
    return arguments.whole("points", number, most=1_000_000)


def _axis(space: Space, units: Sequence[Sequence[float]]) -> dict[tuple[str, ...], list[tuple[Any, ...]]]:
    """Points of the unit cube in the space; equal ones once."""
    chosen = [tuple(_at(choice, float(unit)) for choice, unit in zip(space.values(), point)) for point in units]
    return {tuple(space): list(dict.fromkeys(chosen))}


def _at(choice: Any, unit: float) -> Any:
    if isinstance(choice, tuple):
        if len(choice) != 2 or not all(isinstance(end, (int, float)) for end in choice) or choice[0] > choice[1]:
            raise Error(f"{arguments.shown(choice)} is no range; allowed: (least, most), or a list of values")
        least, most = choice
        if isinstance(least, int) and isinstance(most, int):
            return least + min(int(unit * (most - least + 1)), most - least)
        return least + unit * (most - least)
    values = arguments.values("a choice", choice)
    if not values:
        raise Error("a key has no values to choose from")
    return values[min(int(unit * len(values)), len(values) - 1)]

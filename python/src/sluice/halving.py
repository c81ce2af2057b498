# SPDX-License-Identifier: Apache-2.0
"""Successive halving over modes: all configurations in a cheap one, the best of them in dearer ones."""
from __future__ import annotations

import dataclasses
import math
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sluice import arguments
from sluice.error import Error
from sluice.study import REPEATING, Study

if TYPE_CHECKING:
    import polars
    from distributed import Client


@dataclasses.dataclass(frozen=True)
class Halving:
    """What a search has found. `promotions`: a row per configuration and rung: its keys, the mode, the metric with half
    of its 95% interval where there is one, its rank, whether it went on, and why. `best`: the first of the last rung."""

    promotions: polars.DataFrame
    best: dict[str, Any]
    rungs: list[Study]


def successive_halving(study: Study, metric: str = "jct_s", *, modes: Sequence[str] = ("flow", "wormhole", "packet"),
                       keep: float = 0.1, least: int = 4, tolerance: float = 0.0,
                       executor: str | Client = "local", threads: int | None = None) -> Halving:
    """Runs all configurations of a study in the first mode, the best `keep` of them (at least `least`) in the second, and
    so on. Configurations whose interval reaches that of the last one kept go on, too: nothing tells them apart. Intervals
    are over repetitions (seed, perturbation, trial) and, in modes with an audit, of its error.

    tolerance: how much worse than the best the result may be, such as 0.01. Rungs after the first then run in waves, the
    best of the rung before first, each wave twice as large as the one before, and end when a configuration, with its
    interval, is within the tolerance of the least value of the first rung. That takes the first mode for a lower bound: no
    mode with packets is quicker than it by more than the tolerance. 0: all promoted configurations run.

    Each rung is a study in a folder of its own below that of `study`: a search that was stopped goes on."""
    import polars

    if not isinstance(study, Study):
        raise Error(f"study {arguments.shown(study)} must be a sluice.Study")
    if not isinstance(keep, (int, float)) or not 0 < keep < 1:
        raise Error(f"keep {arguments.shown(keep)} must be a number between 0 and 1")
    if not isinstance(tolerance, (int, float)) or not 0 <= tolerance < 1:
        raise Error(f"tolerance {arguments.shown(tolerance)} must be a number from 0 to below 1")
    least = arguments.whole("least", least)
    modes = arguments.texts("modes", modes)
    if not modes:
        raise Error("modes must name one at least")
    search = _Search(study, metric)
    told: list[polars.DataFrame] = []
    for number, mode in enumerate(modes):
        goal = (1 + tolerance) * told[0][metric][0] if tolerance > 0 and told else None
        ran, ranking = 0, polars.DataFrame()
        while ran < len(search.points) and not _reaches(ranking, metric, goal):
            ran = len(search.points) if goal is None else min(len(search.points), max(least, 2 * ran))
            rung = search.rung(number, mode, ran)
            rung.run(executor, threads=threads)
            ranking = search.with_audit(rung)
        search.studies.append(rung)
        if ranking.is_empty():
            raise Error(f"{rung.folder}: in mode {mode} no configuration was done; frame() of the rung has the reasons")
        if told and ran < len(search.points):
            told[-1] = _with_spared(told[-1], ran, f"not needed: in mode {mode} {ranking[metric][0]:.6g} was found, within "
                                                   f"{100 * tolerance:g}% of mode {modes[0]}'s least, {told[0][metric][0]:.6g}")
        last = number == len(modes) - 1
        wanted = 1 if last else min(len(ranking), max(least, math.ceil(keep * len(ranking))))
        promoted, reasons = _promote(ranking, metric, wanted, last)
        told.append(ranking.select(*search.columns, metric, f"{metric}_half", "repetitions").with_columns(
            polars.lit(number).alias("rung"), polars.lit(mode).alias("mode"),
            polars.Series("rank", range(1, len(ranking) + 1)), polars.Series("promoted", promoted),
            polars.Series("why", reasons)))
        search.survivors = [search.points[index] for index, on in zip(ranking["point"], promoted) if on]
        search.points = search.survivors
    best = told[-1].row(0, named=True)
    return Halving(polars.concat(told), best, search.studies)


class _Search:
    """The configurations that are left, and the studies of all rungs."""

    def __init__(self, study: Study, metric: str) -> None:
        self.study = study
        self.metric = metric
        self.studies: list[Study] = []
        self.repeating = {keys: values for keys, values in study.axes.items()
                          if all(key.split(".")[-1] in REPEATING for key in keys)}
        varying = {keys: values for keys, values in study.axes.items() if keys not in self.repeating}
        self.columns = [key for keys in varying for key in keys]
        if not self.columns:
            raise Error("the study varies nothing but seeds: there is no configuration to choose")
        self.points: list[tuple[Any, ...]] = [()]
        for values in varying.values():
            self.points = [point + value for point in self.points for value in values]
        self.survivors = self.points

    def rung(self, number: int, mode: str, count: int) -> Study:
        """Of the first `count` points. What its folder holds of an earlier, smaller one is not run again."""
        axes: dict[tuple[str, ...], list[tuple[Any, ...]]] = {tuple(self.columns): self.points[:count], **self.repeating}
        return Study(self.study.base, {keys[0] if len(keys) == 1 else keys:
                                       [value[0] for value in values] if len(keys) == 1 else values
                                       for keys, values in axes.items()},
                     set=self.study.set, mode=mode, name=f"rung{number}-{mode}",
                     folder=pathlib.Path(self.study.folder) / f"rung{number}-{mode}", memo=self.study.memo)

    def with_audit(self, rung: Study) -> polars.DataFrame:
        """The rung's ranking with the number of each configuration's point, its interval widened by the audit's."""
        import polars

        repetitions = math.prod(len(values) for values in self.repeating.values())
        frame = rung.frame().with_columns((polars.col("experiment") // repetitions).alias("point"))
        audit = frame.group_by("point").agg(
            (polars.col("jct_error").abs() + polars.col("jct_error_half")).max().alias("audit"))
        ranking = rung.ranking(self.metric).with_columns(
            (polars.col("experiment") // repetitions).alias("point")).join(audit, on="point", how="left")
        error = polars.col("audit") * polars.col(self.metric) if self.metric == "jct_s" else polars.lit(None)
        half = f"{self.metric}_half"
        return ranking.with_columns(
            polars.when(polars.col(half).is_null() & error.is_null()).then(None)
            .otherwise(polars.col(half).fill_null(0.0) + error.fill_null(0.0)).alias(half)).sort(self.metric, "point")


def _reaches(ranking: polars.DataFrame, metric: str, goal: float | None) -> bool:
    """Whether the best one, with its interval, is no worse than the goal."""
    if goal is None or ranking.is_empty():
        return False
    mean, half = ranking.row(0, named=True)[metric], ranking.row(0, named=True)[f"{metric}_half"]
    return bool(mean + (half or 0.0) <= goal)


def _with_spared(rung: polars.DataFrame, ran: int, why: str) -> polars.DataFrame:
    """The rung's decisions, where of those promoted only the first `ran` were run after all."""
    import polars

    spared = polars.col("promoted") & (polars.col("promoted").cast(polars.Int64).cum_sum() > ran)
    return rung.with_columns(polars.when(spared).then(polars.lit(why)).otherwise(polars.col("why")).alias("why"),
                             (polars.col("promoted") & ~spared).alias("promoted"))


def _promote(ranking: polars.DataFrame, metric: str, wanted: int, last: bool) -> tuple[list[bool], list[str]]:
    means: list[float] = ranking[metric].to_list()
    halves = [half or 0.0 for half in ranking[f"{metric}_half"]]
    cut = means[wanted - 1] + halves[wanted - 1]
    promoted, reasons = [], []
    for index, (mean, half) in enumerate(zip(means, halves)):
        first, near = index < wanted, mean - half <= cut
        promoted.append(first or (near and not last))
        if first:
            reasons.append("the best of the last rung" if last else f"rank {index + 1} of {len(means)}, of which {wanted} go on")
        elif near:
            reasons.append(f"its interval begins at {mean - half:.6g}, within that of rank {wanted}, which ends at {cut:.6g}")
        else:
            reasons.append(f"{100 * (mean / means[wanted - 1] - 1):.2f}% above rank {wanted}, beyond its interval")
    return promoted, reasons

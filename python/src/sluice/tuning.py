# SPDX-License-Identifier: Apache-2.0
"""Optuna as a driver: it proposes configurations, batches evaluate them."""
from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sluice import arguments
from sluice.error import Error
from sluice.sampling import Space
from sluice.study import Study

if TYPE_CHECKING:
    from distributed import Client


def tune(base: str | os.PathLike[str], space: Space, trials: int, metric: str = "jct_s", *, at_a_time: int = 8,
         sampler: Any = None, set: Mapping[str, Any] | None = None, mode: str | None = None,
         folder: str | os.PathLike[str] = "runs/tune", memo: str | os.PathLike[str] | None = None,
         executor: str | Client = "local") -> Any:
    """Minimizes a metric by Optuna, `at_a_time` configurations a batch, and returns Optuna's study.

    memo: a Study's; each batch begins with what those before it have learned.
    space: by key, (least, most), or a list of values. sampler: one of Optuna's; default: TPE with a fixed seed. An
    experiment that is not done is a failed trial. Needs Optuna (sluice[optuna])."""
    space = arguments.table("space", space)
    trials, at_a_time = arguments.whole("trials", trials), arguments.whole("at_a_time", at_a_time)
    try:
        import optuna
    except ImportError as error:
        raise Error("tune() needs Optuna: pip install 'sluice[optuna]'") from error
    search = optuna.create_study(sampler=sampler or optuna.samplers.TPESampler(seed=1))
    number = 0
    while number < trials:
        asked = [search.ask() for _ in range(min(at_a_time, trials - number))]
        points = [tuple(_suggest(trial, key, choice) for key, choice in space.items()) for trial in asked]
        batch = Study(base, {tuple(space): points}, set=set, mode=mode, name=f"trials{number}",
                      folder=pathlib.Path(folder) / f"trials{number}", memo=memo).run(executor)
        found = {row["experiment"]: row for row in batch.frame().iter_rows(named=True)}
        for index, trial in enumerate(asked):
            row = found.get(index, {})
            if row.get("status") == "done" and row.get(metric) is not None:
                search.tell(trial, row[metric])
            else:
                search.tell(trial, state=optuna.trial.TrialState.FAIL)
        number += len(asked)
    return search


def _suggest(trial: Any, key: str, choice: Any) -> Any:
    if not isinstance(choice, tuple):
        return trial.suggest_categorical(key, list(choice))
    least, most = choice
    if isinstance(least, int) and isinstance(most, int):
        return trial.suggest_int(key, least, most)
    return trial.suggest_float(key, least, most)

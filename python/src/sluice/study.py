# SPDX-License-Identifier: Apache-2.0
"""Many experiments: `sluice batch`, on this machine, on a Dask cluster, or by Slurm."""
from __future__ import annotations

import math
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from sluice import arguments, executable, tables, toml
from sluice.error import Error

if TYPE_CHECKING:
    import polars
    from distributed import Client

#: A key of the scenario, or keys that vary together.
Keys = Union[str, tuple[str, ...]]

#: Keys that only repeat an experiment: what is best is best on the mean over them.
REPEATING = ("seed", "perturbation", "trial")


class Study:
    """A batch file and its folder (docs/batch.md).

    base: the scenario that all experiments share.
    axes: keys and their values; every combination is an experiment, the last axis fastest. A tuple of keys has values
        that are tuples, one entry a key.
    set: keys of every experiment.
    mode: of all experiments; default: the scenario's.
    folder: of the batch file and its results; default: runs/NAME. What it holds of these experiments is not run again.
    memo: a file of what earlier runs have learned (docs/memo.md). All experiments begin with what it holds when the study
        first runs, and what they learn is added to it at the end. Default: they know nothing.
    """

    def __init__(self, base: str | os.PathLike[str], axes: Mapping[Keys, Iterable[Any]] | None = None, *,
                 set: Mapping[str, Any] | None = None, mode: str | None = None, name: str | None = None,
                 folder: str | os.PathLike[str] | None = None, memo: str | os.PathLike[str] | None = None) -> None:
        self.base = pathlib.Path(arguments.path("base", base)).resolve()
        self.axes = _axes(axes)
        self.set = arguments.table("set", set)
        if mode is not None:
            self.set["mode"] = arguments.text("mode", mode)
        self.name = f"{self.base.stem}-study" if name is None else _name(name)
        self.folder = pathlib.Path("runs", self.name) if folder is None else pathlib.Path(arguments.path("folder", folder))
        self.folder = self.folder.resolve()
        self.memo = None if memo is None else pathlib.Path(arguments.path("memo", memo)).resolve()

    @property
    def file(self) -> pathlib.Path:
        """The batch file, which `sluice batch` runs just as well."""
        return self.folder / f"{self.name}.toml"

    @property
    def keys(self) -> list[str]:
        """All keys that vary."""
        return [key for keys in self.axes for key in keys]

    @property
    def size(self) -> int:
        """How many experiments there are."""
        return math.prod(len(values) for values in self.axes.values())

    def write(self) -> pathlib.Path:
        """Writes the batch file. A run does so, too."""
        lines = [f"name = {toml.value(self.name)}", f"base = {toml.value(self.base)}"]
        if self.set:
            lines.append(f"set = {toml.value(self.set)}")
        for keys, values in self.axes.items():
            lines += ["", "[[axis]]"]
            if len(keys) == 1:
                lines += [f"key = {toml.value(keys[0])}", f"values = {toml.value([value[0] for value in values])}"]
            else:
                lines += [f"keys = {toml.value(keys)}", f"values = {toml.value(values)}"]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        except OSError as error:
            raise Error(f"{arguments.shown(str(self.file))}: {error.strerror}") from None
        return self.file

    def plan(self) -> str:
        """What it takes: number of experiments, memory, expected time. Runs none."""
        return executable.call(["batch", self.write(), "--plan"]).stdout

    def run(self, executor: str | Client = "local", *, threads: int | None = None, shards: int | None = None,
            options: Sequence[str] = ()) -> Study:
        """Runs what the folder does not hold yet, and returns itself.

        executor: "local": `sluice batch` with as many threads (default: all cores). A dask.distributed Client: shards,
            one task each, of one thread; workers must see the folder. "slurm": an array job of shards with `threads`
            each, by sbatch; waits for its end.
        shards: how many parts; default: four per thread of the cluster, or 8 by Slurm.
        options: others of `sluice batch`.

        Experiments that fail do not stop it: frame() has their status and reason. Error if the batch itself is wrong, or
        if every experiment is refused."""
        from sluice import executors

        threads = None if threads is None else arguments.whole("threads", threads)
        shards = None if shards is None else arguments.whole("shards", shards, most=1_000_000)
        options = arguments.texts("options", options)
        if self.memo is not None:
            options = ["--memo", str(self.memo), *options]
        self.write()
        if executor == "local":
            executors.run_here(self, threads, options)
        elif executor == "slurm":
            executors.run_by_slurm(self, threads or 1, shards or 8, options)
        elif isinstance(executor, str) or not hasattr(executor, "scheduler_info"):
            raise Error(f"executor {arguments.shown(executor)} must be \"local\", \"slurm\", or a dask.distributed Client")
        else:
            executors.run_on_dask(self, executor, shards, options)
        self._expect_some()
        return self

    def _expect_some(self) -> None:
        """Error if every experiment was refused."""
        frame = self.frame()
        if frame.height > 0 and (frame["status"] == "refused").all():
            raise Error(f"every experiment is refused, the first one because of this: {frame['reason'][0]}")

    def frame(self) -> polars.DataFrame:
        """A row per experiment that has come to an end, in their order: batch.csv."""
        return tables.read(self.folder / "batch.csv")

    def ranking(self, metric: str = "jct_s") -> polars.DataFrame:
        """Configurations by the mean of a metric over their repetitions (experiments that differ in seed, perturbation
        or trial only), the least first: mean, repetitions, and half of its 95% interval (Student's t; null for one).
        Only configurations all of whose experiments are done."""
        import polars

        frame = self.frame()
        if arguments.text("metric", metric) not in frame.columns:
            raise Error(f"{metric} is no column of batch.csv; it has {', '.join(frame.columns)}")
        keys = [key for key in self.keys if key.split(".")[-1] not in REPEATING]
        repetitions = 1
        for axis, values in self.axes.items():
            if all(key.split(".")[-1] in REPEATING for key in axis):
                repetitions *= len(values)
        done = frame.filter(polars.col("status") == "done", polars.col(metric).is_not_null())
        if not keys:
            done = done.with_columns(polars.lit(str(self.base)).alias("base"))
        groups = done.group_by(keys or ["base"], maintain_order=True).agg(
            polars.col(metric).mean().alias(metric), polars.len().alias("repetitions"),
            polars.col(metric).std().alias("deviation"), polars.col("experiment").first())
        half = [_half_width(deviation, number)
                for deviation, number in groups.select("deviation", "repetitions").iter_rows()]
        return (groups.with_columns(polars.Series(f"{metric}_half", half, dtype=polars.Float64)).drop("deviation")
                .filter(polars.col("repetitions") >= repetitions).sort(metric, "experiment"))

    def best(self, metric: str = "jct_s") -> dict[str, Any]:
        """The first row of ranking(): keys, their values, and the metric. Error if nothing is done."""
        ranking = self.ranking(metric)
        if ranking.is_empty():
            raise Error(f"{self.folder}: no configuration is done; frame() has the reasons")
        return ranking.row(0, named=True)

    def report(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes it as a page for a browser (`sluice report`)."""
        executable.call(["report", self.folder / "batch.db", "-o", arguments.path("path", path)])
        return pathlib.Path(path)


def _name(name: str) -> str:
    """Of a study: its files are called by it."""
    if not arguments.text("name", name) or name in (".", "..") or "/" in name:
        raise Error(f"name {arguments.shown(name)} must be a file's name")
    return name


def _axes(axes: Mapping[Keys, Iterable[Any]] | None) -> dict[tuple[str, ...], list[tuple[Any, ...]]]:
    """By keys, a tuple of values for each."""
    if axes is not None and not isinstance(axes, Mapping):
        raise Error(f"axes {arguments.shown(axes)} must be keys and lists of values, such as {{\"seed\": [1, 2]}}")
    made: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for keys, values in (axes or {}).items():
        what = f"axis {arguments.shown(keys)}"
        listed = arguments.values(what, values)
        if isinstance(keys, str):
            made[(arguments.text(what, keys),)] = [(value,) for value in listed]
            continue
        if not isinstance(keys, tuple) or not keys:
            raise Error(f"{what} must be a key, or a tuple of keys")
        names = tuple(arguments.text(what, key) for key in keys)
        rows = [tuple(row) if isinstance(row, (tuple, list)) else (row,) for row in listed]
        for row in rows:
            if len(row) != len(names):
                raise Error(f"{what}: {arguments.shown(row)} must have a value for each of {len(names)} keys")
        made[names] = rows
    return made


def _half_width(deviation: float | None, number: int) -> float | None:
    if deviation is None or number < 2:
        return None
    return _student(number - 1) * deviation / math.sqrt(number)


def _student(freedom: int) -> float:
    """The 97.5% quantile of Student's t."""
    try:
        from scipy.stats import t
    except ImportError as error:
        raise Error("intervals need SciPy: pip install 'sluice[search]'") from error
    return float(t.ppf(0.975, freedom))

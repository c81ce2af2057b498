# SPDX-License-Identifier: Apache-2.0
"""One run: `sluice run`, and the folder that it leaves."""
from __future__ import annotations

import functools
import json
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sluice import arguments, executable, tables, toml
from sluice.error import Error
from sluice.plots import RunPlots

if TYPE_CHECKING:
    import polars


class Run:
    """What a run has left in its folder (docs/outputs.md). Frames are polars': their 64-bit integers keep
    picoseconds whole where values are missing, which pandas' would turn into floating point; `.to_pandas()` of a frame
    makes one of those."""

    def __init__(self, folder: str | os.PathLike[str], text: str = "",
                 temporary: tempfile.TemporaryDirectory[str] | None = None) -> None:
        """`folder`: as `sluice run --out` left it. Error if no run has ended there."""
        self.folder = pathlib.Path(arguments.path("folder", folder))
        #: What the program printed.
        self.text = text
        self._temporary = temporary
        if not os.path.isfile(self.folder / "summary.json"):
            raise Error(f"{self.folder}: holds no finished run (no summary.json)")

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        """summary.json: figures, and the configuration that the run had."""
        with (self.folder / "summary.json").open(encoding="utf-8") as file:
            loaded: dict[str, Any] = json.load(file)
        return loaded

    @property
    def complete(self) -> bool:
        """All flows and jobs came to their ends."""
        jobs = self.summary.get("jobs", [])
        return (self.summary["flows"] == self.summary["flows_completed"]
                and all(job["jct_s"] is not None for job in jobs))

    def flows(self) -> polars.DataFrame:
        """A row per finished flow, in the order of their ends."""
        return self.table("flows")

    def ports(self) -> polars.DataFrame:
        """A row per egress port, that is, per link."""
        return self.table("ports")

    def collectives(self) -> polars.DataFrame:
        """A row per collective operation of a job."""
        return self.table("collectives")

    def phases(self) -> polars.DataFrame:
        """When each partition was simulated by packets, and when it was skipped (modes hybrid and wormhole)."""
        return self.table("phases")

    def table(self, name: str) -> polars.DataFrame:
        """Any other CSV file of the folder, by its name: "series", "rtt", "replicas"."""
        return tables.read(self.folder / f"{arguments.text('name', name)}.csv")

    def trace(self) -> list[dict[str, Any]]:
        """The events of trace.json."""
        path = self.folder / "trace.json"
        if not path.is_file():
            raise Error(f"{path}: is not there; output.trace = true makes a run write it")
        with path.open(encoding="utf-8") as file:
            loaded = json.load(file)
        events: list[dict[str, Any]] = loaded["traceEvents"] if isinstance(loaded, dict) else loaded
        return events

    @property
    def plot(self) -> RunPlots:
        """Pictures of it, by matplotlib."""
        return RunPlots(self)

    def report(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes it as a page for a browser (`sluice report`)."""
        executable.call(["report", self.folder, "-o", arguments.path("path", path)])
        return pathlib.Path(path)

    def __repr__(self) -> str:
        return (f"<sluice.Run {self.summary['scenario']}, mode {self.summary['mode']}, "
                f"jct_s {self.summary['jct_s']}, in {self.folder}>")


def run(scenario: str | os.PathLike[str], overrides: Mapping[str, Any] | None = None, *, mode: str | None = None,
        out: str | os.PathLike[str] | None = None, threads: int | None = None,
        options: Sequence[str] = ()) -> Run:
    """Simulates a scenario file to its end.

    overrides: keys of the scenario and their values, {"congestion.law": "dcqcn"}; a table replaces a table.
    mode: packet, hybrid, wormhole or flow; default: the scenario's.
    out: the folder of results; default: a temporary one, which goes when the Run does.
    options: others of `sluice run`, as on the command line.

    Error with the program's one line if the scenario is wrong. A run that stalled is returned, and not `complete`."""
    words = ["run", arguments.path("scenario", scenario)]
    if mode is not None:
        words += ["--mode", arguments.text("mode", mode)]
    if threads is not None:
        words += ["--threads", str(arguments.whole("threads", threads, 0))]
    for assignment in toml.assignments(overrides):
        words += ["--set", assignment]
    words += arguments.texts("options", options)
    temporary = None
    if out is None:
        temporary = tempfile.TemporaryDirectory(prefix="sluice-run-")
        out = temporary.name
    words += ["--out", arguments.path("out", out)]
    ended = executable.call(words, allowed=(executable.DONE, executable.WORK_LEFT))
    return Run(out, ended.stdout, temporary)

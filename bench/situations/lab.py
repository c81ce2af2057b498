# SPDX-License-Identifier: Apache-2.0
"""What the situations share: the list that they are in, and a folder in which they run the program."""
import csv
import dataclasses
import json
import os
import pathlib
import subprocess
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 300  # seconds of one run


@dataclasses.dataclass
class Situation:
    source: str
    what: str
    expected: str
    # From a Lab to what came out, in words, and whether that is what was expected.
    check: typing.Callable
    reference: bool  # needs the folder of other simulators' answers


ALL = []


def situation(source, what, expected, reference=False):
    """Puts a function into the list."""
    def add(check):
        ALL.append(Situation(source, what, expected, check, reference))
        return check
    return add


class Lab:
    def __init__(self, program, folder, reference):
        self.program, self.folder, self.reference = program, pathlib.Path(folder), reference

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def sluice(self, *arguments, environment=None):
        """The finished process, whatever its exit code."""
        variables = {key: value for key, value in os.environ.items() if not key.startswith("AS_")}
        variables["XDG_CACHE_HOME"] = str(self.folder)  # no memo but its own
        return subprocess.run([str(self.program), *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, env={**variables, **(environment or {})}, timeout=LONGEST)

    def output(self, *arguments, environment=None):
        """Standard output; what the program refuses is a RuntimeError with its words."""
        result = self.sluice(*arguments, environment=environment)
        if result.returncode != 0:
            raise RuntimeError(f"exit code {result.returncode}: {result.stderr.strip()[-300:]}")
        return result.stdout

    def run(self, scenario, *options):
        """The summary of a run of a scenario's text."""
        self.write("run.toml", scenario)
        self.output("run", "run.toml", "--out", "out", "--quiet", "--no-memo", *options)
        return self.summary()

    def summary(self, folder="out"):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def rows(self, name, folder="out"):
        with open(self.folder / folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def fct(self):
        """Flow completion times in us, in order of flows."""
        return [(int(row["finish_ps"]) - int(row["start_ps"])) / 1e6 for row in self.rows("flows.csv")]

    def collective(self, scenario, *options):
        """Microseconds and bus bandwidth by size."""
        self.write("collective.toml", scenario)
        self.output("collective", "collective.toml", "--csv", "table.csv", "--quiet", *options)
        return {int(row["size_bytes"]): (float(row["time_us"]), float(row["busbw_GBps"]))
                for row in self.rows("table.csv", ".")}


def near(got, expected, percent):
    return abs(got / expected - 1) <= percent / 100


def percent(got, expected):
    return f"{100 * (got / expected - 1):+.2f}%"

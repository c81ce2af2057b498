# SPDX-License-Identifier: Apache-2.0
"""Random cases in local phases, each by several perturbed runs, beside as many in mode packet: a table."""

import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PERTURBED = (0, 1, 2)


def run(program, scenario, folder, words):
    """The rows of flows.csv, and packet-hops."""
    command = [program, "run", scenario, "--threads", "1", "--quiet", "--no-memo", "--out", folder, *words]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    with open(folder / "flows.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return rows, json.loads((folder / "summary.json").read_text())["packet_hops"]


def mean_and_end(case, rows):
    """What most benches judge: the mean completion time and the last one's end."""
    del case
    return [statistics.mean(int(row["fct_ps"]) for row in rows), max(int(row["finish_ps"]) for row in rows)]


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", type=lambda path: pathlib.Path(path).resolve(), default=[PROJECT / "sluice"])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=24)
    return parser.parse_args()


def compare(options, make, figures, columns):
    """`make(number)` is a case with `text`, a scenario, and `about`. `figures(case, rows)` are what is judged of a run, one
    for each of `columns`. Printed: how far each run's are from the mean of packets, and how many times fewer packet-hops the
    unperturbed run and a perturbed one executed."""
    print(f"| case | program | {' | '.join(columns)} | packet-hops, times fewer |\n| --- | --- |{' --- |' * len(columns)} --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number in range(options.first, options.first + options.count):
            case = make(number)
            scenario = folder / "case.toml"
            scenario.write_text(case.text)

            def runs(program, *words):
                made = [run(program, scenario, folder / "run", [*words, "--set", f"perturbation={one}"]) for one in PERTURBED]
                return [(figures(case, rows), hops) for rows, hops in made]

            try:
                results = [(program, runs(program, "--mode", "hybrid", "--set", 'phases.wake="data"'))
                           for program in options.programs]
            except subprocess.CalledProcessError as refusal:  # local phases are not for every network
                print(f"| {number}: {case.about} | {refusal.stderr.decode().strip()} |", file=sys.stderr)
                continue
            packets = runs(options.programs[0], "--mode", "packet", "--no-fold")
            truth = [statistics.mean(values) for values in zip(*(judged for judged, _ in packets))]
            results.insert(0, ("packets", packets))
            for label, made in results:
                errors = " | ".join(" ".join(f"{judged[of] / truth[of] - 1:+.2%}" for judged, _ in made)
                                    for of in range(len(columns)))
                fewer = " ".join(f"{packets[one][1] / made[one][1]:.1f}" for one in range(2))
                print(f"| {number}: {case.about} | {label} | {errors} | {fewer} |", flush=True)

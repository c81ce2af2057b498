#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `sluice collective` to measured NCCL times inside a server: prints the error of every system in bands of sizes.

Each row of the CSV (system, op, gpus, bytes, us_median) is one run of the program on one server of 8 GPUs. With --fit
the tables of the shipped GPU types are written first, by `sluice calibrate`.

usage: nccl_silicon.py [--program SLUICE] [--fit] NCCL.csv
"""
import argparse
import collections
import csv
import pathlib
import statistics
import subprocess
import sys
import tempfile

GPUS = pathlib.Path(__file__).resolve().parents[2] / "workloads/data/gpus"
# Who has no times of its own has those of the type with the same NVLink.
TYPES = {"a100_sxm": ["A100", "A100-80GB"], "h100_sxm": ["H100", "H200"], "b200_sxm": ["B200", "B300"],
         "gb200": ["GB200", "GB300"], "l40s": ["L40S"]}
NAMES = {system: types[0] for system, types in TYPES.items()}
NAMES.update({"h200_sxm": "H200", "b300_sxm": "B300", "gb300": "GB300"})
KINDS = {"all_reduce": "all-reduce", "all_gather": "all-gather", "reduce_scatter": "reduce-scatter",
         "alltoall": "all-to-all"}
BANDS = [("to 64 kB", 1 << 16), ("to 4 MB", 1 << 22), ("to 64 MB", 1 << 26), ("beyond", 1 << 62)]
SERVER = """\
name = "server"
[topology]
type = "rail-optimized"
gpus = 8
gpus_per_server = 8
[congestion]
law = "dcqcn"
[workload]
type = "collective"
"""


def fit(program, path, system):
    """A type without times of its own says whose it has."""
    for name in TYPES[system]:
        other = "" if name == TYPES[system][0] else f"; on {TYPES[system][0]}, whose NVLink it has"
        subprocess.run([program, "calibrate", path, "--system", system, "--gpu", GPUS / f"{name}.toml", "-o",
                        GPUS / f"{name}.toml", "--quiet", "--source",
                        f"NVIDIA ai-dynamo/aiconfigurator 095f58a5, nccl_perf{other}"], check=True)


def predictions(program, folder, system, op, gpus, sizes):
    """Microseconds by size."""
    result = {}
    for size in sizes:
        subprocess.run([program, "collective", folder / "server.toml", "--gpu", NAMES[system], "--kind", KINDS[op],
                        "--ranks", str(gpus), "--mode", "flow", "--begin", str(size), "--end", str(size),
                        "--csv", folder / "out.csv", "--quiet"], check=True)
        with open(folder / "out.csv") as file:
            result[size] = float(next(csv.DictReader(file))["time_us"])
    return result


def shown(errors):
    """Median and the smallest error that 95% do not exceed, in percent."""
    errors = sorted(errors)
    return f"{100 * statistics.median(errors):.1f}, {100 * errors[(len(errors) * 95 + 99) // 100 - 1]:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv")
    parser.add_argument("--program", default="build/release/cli/sluice")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--rows", help="also write every row with its prediction to this file")
    options = parser.parse_args()
    measured = collections.defaultdict(dict)
    with open(options.csv) as file:
        for row in csv.DictReader(file):
            key = (row["system"], row["op"], int(row["gpus"]))
            if row["system"] in NAMES:
                measured[key][int(row["bytes"])] = float(row["us_median"])
    if options.fit:
        for system in sorted({key[0] for key in measured} & TYPES.keys()):
            fit(options.program, options.csv, system)
    errors = collections.defaultdict(list)
    lines = ["system,op,gpus,bytes,us_measured,us_predicted"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "server.toml").write_text(SERVER)
        for (system, op, gpus), times in measured.items():
            for size, time in predictions(options.program, folder, system, op, gpus, times).items():
                band = next(band for band, last in BANDS if size <= last)
                lines.append(f"{system},{op},{gpus},{size},{times[size]},{time:.3f}")
                for group in (system, "all"):
                    errors[group, band].append(abs(time / times[size] - 1))
                    errors[group, "all"].append(abs(time / times[size] - 1))
    if options.rows:
        pathlib.Path(options.rows).write_text("\n".join(lines) + "\n")
    columns = [band for band, last in BANDS] + ["all"]
    print("| system | rows | " + " | ".join(columns) + " |\n| --- |" + " ---: |" * (1 + len(columns)))
    for system in list(dict.fromkeys(key[0] for key in measured)) + ["all"]:
        cells = [shown(errors[system, band]) if errors[system, band] else "" for band in columns]
        print(f"| {system} | {len(errors[system, 'all'])} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    sys.exit(main())

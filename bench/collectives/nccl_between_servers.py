#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts collectives of groups that span servers, as NCCL would run them, and compares them with published
nccl-tests (docs/measured.md).

    nccl_between_servers.py predict SLUICE > nccl_between_servers.predicted.csv
    nccl_between_servers.py compare

`predict` runs `sluice collective --algorithm nccl --mode flow` for each system below, from 1 KiB to 8 GiB. `compare`
holds the committed predictions against nccl_between_servers.measured.csv."""
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent

# GPU type, Gb/s of NICs for each GPU, GPUs that take part of a server, numbers of servers. Four NICs of eight GPUs are
# half of a NIC for each.
SYSTEMS = {
    "8 H100 x 400": ("H100", 400, 8, (2, 3, 4, 8, 10)),
    "8 H100, 4 x 400": ("H100", 200, 8, (2, 3, 4, 8)),
    "8 A100 x 200": ("A100", 200, 8, (2, 3, 4, 8)),
    "8 A100, 4 x 200": ("A100", 100, 8, (2, 3, 4, 8)),
    "1 H100 x 400": ("H100", 400, 1, (10,)),
    "2 H100 x 400": ("H100", 400, 2, (10,)),
    "4 H100 x 400": ("H100", 400, 4, (10,)),
}
LIMITS = ("", "ring")
KINDS = ("all-reduce", "all-gather", "reduce-scatter")
BANDS = (("to 64 kB", 1 << 16), ("to 4 MB", 1 << 22), ("to 64 MB", 1 << 26), ("beyond", 1 << 62))

SCENARIO = """\
mode = "flow"
[topology]
type = "rail-optimized"
gpus = {gpus}
gpus_per_server = {per_server}
rate = "{rate}Gbps"
delay = "500ns"
[network]
payload = 4096
[congestion]
law = "dcqcn"
[workload]
type = "collective"
gpu = "{gpu}"
"""


def predict(sluice):
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["system", "servers", "limit", "kind", "bytes", "choice", "us"])
    with tempfile.TemporaryDirectory() as folder:
        scenario = pathlib.Path(folder) / "scenario.toml"
        table = pathlib.Path(folder) / "table.json"
        for system, (gpu, rate, per_server, counts) in SYSTEMS.items():
            for servers in counts:
                scenario.write_text(
                    SCENARIO.format(gpus=per_server * servers, per_server=per_server, rate=rate, gpu=gpu))
                for kind in KINDS:
                    for limit in LIMITS:
                        if limit and kind != "all-reduce":
                            continue
                        options = ["--nccl-algorithm", limit] if limit else []
                        subprocess.run(
                            [sluice, "collective", scenario, "--kind", kind, "--algorithm", "nccl", "-b", "1K",
                             "-e", "8G", "-f", "2", "--json", table, "--quiet", *options], check=True)
                        for row in json.loads(table.read_text())["rows"]:
                            out.writerow([system, servers, limit, kind, row["size_bytes"], row["choice"],
                                          f"{row['time_us']:.2f}"])


def error_table(rows):
    """|predicted / measured - 1| in percent, median and largest, by band."""
    cells = []
    least = 0
    for _, most in BANDS:
        errors = [abs(error) for size, error in rows if least < size <= most]
        cells.append(f"{100 * statistics.median(errors):.0f}, {100 * max(errors):.0f}" if errors else "")
        least = most
    errors = [abs(error) for _, error in rows]
    return cells + [f"{100 * statistics.median(errors):.0f}, {100 * max(errors):.0f}"]


def compare():
    key = ("system", "servers", "limit", "kind", "bytes")
    with open(HERE / "nccl_between_servers.predicted.csv", encoding="utf-8") as file:
        predicted = {tuple(row[name] for name in key): row for row in csv.DictReader(file)}
    groups = {}
    with open(HERE / "nccl_between_servers.measured.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            forecast = predicted[tuple(row[name] for name in key)]
            error = float(forecast["us"]) / float(row["us"]) - 1
            groups.setdefault((row["source"], row["system"], row["servers"], row["limit"], row["kind"]), []).append(
                (int(row["bytes"]), error, float(row["us"]), float(forecast["us"]), forecast["choice"]))
    print("| system, measured by | servers | kind | " + " | ".join(name for name, _ in BANDS) + " | all |")
    print("| --- | ---: | --- |" + " ---: |" * (len(BANDS) + 1))
    for (source, system, servers, limit, kind), rows in groups.items():
        shown = kind + (f" ({limit})" if limit else "")
        cells = error_table([(size, error) for size, error, *_ in rows])
        print(f"| {system} Gb/s, {source} | {servers} | {shown} | " + " | ".join(cells) + " |")
    if "--rows" in sys.argv:
        for group, rows in groups.items():
            print("\n" + ", ".join(group))
            for size, error, measured, forecast, choice in rows:
                print(f"{size:>12} {measured:>10.1f} {forecast:>10.1f} {100 * error:>+6.0f}%  {choice}")


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "predict":
        predict(sys.argv[2])
    elif len(sys.argv) > 1 and sys.argv[1] == "compare":
        compare()
    else:
        sys.exit(__doc__)

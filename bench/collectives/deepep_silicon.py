#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DeepEP's dispatch and combine between H100 servers, predicted packet by packet, and held to measured times.

usage: deepep_silicon.py [--program SLUICE] [--publish] [--compare] DEEPEP.csv

DEEPEP.csv: node_num, num_token, dispatch_sms, dispatch_transmit_us, ..., combine_transmit_us, ... From its rows of one server come two
figures of a kernel that the network does not have: a fixed time, and how fast one processor that sends copies. A third is from the rows of
two servers on 8 processors: how fast one that forwards does. All other rows of several servers are predicted. --compare adds measured
times and errors; --publish writes the table into docs/measured.md.

What is known of the test: 7,168 values of a token, 8 of 256 experts at random; 8 bits with a scale for each 128 values and 72 B of indices
and weights in a dispatch, 16 bits and 48 B in a combine. A token has a copy on each GPU that has an expert of it. Half of the processors send. Between servers half of them forward: all copies for or
of a GPU's rail, those of its own server included, pass the forwarding processors of that GPU (DeepEP, csrc/kernels/internode.cu).
"""
import argparse
import csv
import math
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/measured.md"
BEGIN, END = "<!-- table deepep -->\n", "<!-- end deepep -->\n"
GPUS, EXPERTS, TOP = 8, 256, 8
TOKEN = {"dispatch": 7168 + 7168 // 128 * 4 + 72 + 8, "combine": 2 * 7168 + 48}
NVLINK = 450e9  # bytes a second of an H100, each way
FIRST = 1024  # tokens from which on rows are compared
FITTED = 8  # processors with which rows of two servers are fitted
NETWORK = """\
name = "deepep"
[topology]
type = "rail-optimized"
gpus = {gpus}
gpus_per_server = 8
servers_per_segment = {servers}
rate = "400Gbps"
delay = "500ns"
nvswitches_per_server = 1
nvlink_rate = "{rate}bps"
nvlink_delay = "250ns"
[network]
payload = 4096
[congestion]
law = "none"
[workload]
type = "collective"
"""


def places(parts):
    """How many of so many equal parts of the experts a token's are in, on average."""
    of_each = EXPERTS // parts
    return parts * (1 - math.prod((EXPERTS - of_each - i) / (EXPERTS - i) for i in range(TOP)))


def kernel(rows, kind):
    """Microseconds of a launch, and bytes a second of one sending processor: least squares in relative terms over one server's rows."""
    one = [row for row in rows if row["node_num"] == "1"]
    tokens = [int(row["num_token"]) for row in one]
    times = [float(row[f"{kind}_transmit_us"]) for row in one]
    # time = a + b tokens, each row weighted by 1 / time^2
    w = [1 / time ** 2 for time in times]
    sw, st, sy = sum(w), sum(x * t for x, t in zip(w, tokens)), sum(x * y for x, y in zip(w, times))
    stt, sty = sum(x * t * t for x, t in zip(w, tokens)), sum(x * t * y for x, t, y in zip(w, tokens, times))
    b = (sw * sty - st * sy) / (sw * stt - st * st)
    senders = int(one[0][f"{'dispatch'}_sms"]) / 2
    return (sy - b * st) / sw, places(GPUS) * TOKEN[kind] / (b * 1e-6) / senders


def forwarding(rows, kind):
    """Bytes a second of one forwarding processor: least squares in relative terms over the fitted rows of two servers."""
    launch, _ = kernel(rows, kind)
    top = bottom = 0
    for row in rows:
        tokens, time = int(row["num_token"]), float(row[f"{kind}_transmit_us"])
        if row["node_num"] != "2" or int(row["dispatch_sms"]) != FITTED or tokens < FIRST:
            continue
        top += tokens / time * (1 - launch / time)
        bottom += (tokens / time) ** 2
    return places(2 * GPUS) * TOKEN[kind] / (top / bottom * 1e-6) / (FITTED / 2)


def predicted(program, kind, servers, tokens, sms, launch, copying):
    """Microseconds."""
    # A copy for the GPU itself is copied, too, but by no NVLink.
    rate = min(NVLINK, copying * sms / 2 * (GPUS - 1) / GPUS)
    size = int(tokens * places(servers * GPUS) * TOKEN[kind])
    with tempfile.TemporaryDirectory(prefix="sluice-deepep-") as folder:
        path = pathlib.Path(folder)
        (path / "net.toml").write_text(NETWORK.format(rate=int(rate * 8), gpus=servers * GPUS, servers=servers))
        subprocess.run([program, "collective", "net.toml", "--kind", "all-to-all", "--algorithm", f"deepep-{kind}", "--server-copies",
                        f"{places(servers * GPUS) / places(servers):.4f}", "-b", str(size), "-e", str(size), "--mode", "packet", "--overhead",
                        f"{launch:.2f}us", "--csv", "out.csv", "--quiet"], cwd=folder, check=True)
        with open(path / "out.csv", newline="") as file:
            return float(next(csv.DictReader(file))["time_us"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/cli/sluice")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--publish", action="store_true")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    with open(arguments.file, newline="") as file:
        rows = list(csv.DictReader(file))
    lines, errors = [], {}
    for kind in TOKEN:
        launch, copying = kernel(rows, kind)
        lines.append(f"- {kind}: {launch:.1f} us, {copying / 1e9:.1f} GB/s a sending processor, and {forwarding(rows, kind) / 1e9:.1f} GB/s a "
                     "forwarding one.")
    lines += ["", "| operation | servers | processors | " + " | ".join(f"{FIRST << i:,}" for i in (0, 2, 4)) + " |",
              "| --- | ---: | ---: |" + " ---: |" * 3]
    for kind in TOKEN:
        launch, copying = kernel(rows, kind)
        settings = sorted({(int(row["node_num"]), int(row["dispatch_sms"])) for row in rows})
        for servers, sms in settings:
            cells = []
            for tokens in (FIRST << i for i in (0, 2, 4)):
                time = predicted(program, kind, servers, tokens, sms, launch, copying if servers == 1 else forwarding(rows, kind))
                cells.append(f"{time:.0f}")
                if not arguments.compare:
                    continue
                measured = next(float(row[f"{kind}_transmit_us"]) for row in rows if row["node_num"] == str(servers) and
                                row["num_token"] == str(tokens) and row["dispatch_sms"] == str(sms))
                error = 100 * (time / measured - 1)
                if servers > 1 and (servers, sms) != (2, FITTED):
                    errors.setdefault((kind, servers), []).append(error)
                cells[-1] += f" / {measured:.0f} ({error:+.0f}%)"
            lines.append(f"| {kind} | {servers} | {sms} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    for (kind, servers), list_ in errors.items():
        sizes = sorted(abs(error) for error in list_)
        lines.append(("\n" if kind == "dispatch" else "") + f"{servers} servers, {kind}, not fitted: median |error| {statistics.median(sizes):.0f}%, largest {sizes[-1]:.0f}%.")
    print("\n".join(lines))
    if arguments.publish:
        page = PAGE.read_text()
        PAGE.write_text(page[:page.index(BEGIN)] + BEGIN + "\n".join(lines) + "\n" + page[page.index(END):])


if __name__ == "__main__":
    main()

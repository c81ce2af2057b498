#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares packet mode with the HPCC ns-3 reference, flow by flow.

Runs `sluice run --hpcc` on every SCENARIO/CC/config.txt under a folder of reference experiments,
each in a temporary output folder, and sets its completion times against SCENARIO/CC/fct.txt (and
fct_seed*.txt: answers of the reference with other random draws). With flow_paths.csv beside the
scenario its paths are used. See docs/fidelity.md for what the numbers mean.

Kinds of scenario, told from the reference's own times:
  lone          no two flows overlap: every flow must be within 2 ns
  synchronized  all flows start in the same nanosecond: shown, not judged (tie order decides)
  shared        all others: mean and maximum FCT must be within the law's bar; under DCTCP also
                every single flow
Where the reference has several seeds, its figure is the mean over them.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

LAWS = {1: "dcqcn", 3: "hpcc", 7: "timely", 8: "dctcp"}
# Largest relative difference of (mean FCT, maximum FCT, a single flow's FCT) in shared scenarios.
BARS = {
    "hpcc": (0.01, 0.03, None),
    "dctcp": (0.01, 0.03, 0.01),
    "dcqcn": (0.02, 0.08, None),
    "timely": (0.02, 0.08, None),
}
LONE_NS = 2
PROJECT = pathlib.Path(__file__).resolve().parents[2]


def read_config(path):
    """The keys this script needs; later ones win, as in ns-3."""
    keys = {"CC_MODE": "1", "FCT_OUTPUT_FILE": "fct.txt", "PFC_OUTPUT_FILE": "pfc.txt"}
    tokens = path.read_text().split()
    for name, value in zip(tokens, tokens[1:]):
        if name in keys:
            keys[name] = value
    return keys


def read_fct(path):
    """{(source, destination, sport, dport): (start, fct)} in ns."""
    flows = {}
    for line in path.read_text().splitlines():
        fields = line.split()
        if len(fields) >= 8:
            flows[tuple(fields[0:4])] = (int(fields[5]), int(fields[6]))
    return flows


def percentile(values, percent):
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[max(math.ceil(percent * len(ordered) / 100) - 1, 0)]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def kind_of(flows):
    times = sorted(flows.values())
    if len(times) > 1 and len({start for start, _ in times}) == 1:
        return "synchronized"
    for (start, fct), (next_start, _) in zip(times, times[1:]):
        if start + fct > next_start:
            return "shared"
    return "lone"


def run_sluice(options, config, keys, seed):
    """One run: (flows, summary, lines of the PFC file)."""
    paths = config.parent.parent / "flow_paths.csv"
    with tempfile.TemporaryDirectory(prefix="fidelity-") as folder:
        out = pathlib.Path(folder) / "out"
        work = pathlib.Path(folder)
        if seed > 1:
            # A copy with its own seed; its relative paths then count from the working directory.
            text = config.read_text() + f"\nRANDOM_SEED {seed}\n"
            work, config = config.parent, work / "config.txt"
            config.write_text(text)
        command = [str(options.sluice), "run", "--hpcc", str(config), "--out", str(out), "--quiet"]
        if paths.exists():
            command += ["--paths", str(paths)]
        try:
            done = subprocess.run(command, cwd=work, capture_output=True, text=True,
                                  timeout=options.timeout, check=False)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"took longer than {options.timeout} s") from None
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["no message"]
            raise RuntimeError(f"exit code {done.returncode}: {lines[-1]}")
        flows = read_fct(out / pathlib.PurePath(keys["FCT_OUTPUT_FILE"]).name)
        summary = json.loads((out / "summary.json").read_text())
        pfc = out / pathlib.PurePath(keys["PFC_OUTPUT_FILE"]).name
        pauses = len(pfc.read_text().splitlines()) if pfc.exists() else 0
        return flows, summary, pauses


def average(runs):
    """Per-flow mean FCT, and the means over the runs of the mean and the maximum FCT."""
    flows = {key: mean(run[key][1] for run in runs) for key in runs[0]}
    return (flows, mean(mean(fct for _, fct in run.values()) for run in runs),
            mean(max(fct for _, fct in run.values()) for run in runs))


def judge(row, law, per_flow_ns, per_flow):
    """What misses its bar, as text."""
    missed = []
    if row["kind"] == "lone":
        worst = max(per_flow_ns)
        row["bar"] = f"every flow {LONE_NS} ns"
        row["worst_ns"] = worst
        if worst > LONE_NS:
            missed.append(f"a lone flow is {worst:g} ns off")
    elif row["kind"] == "shared" and law in BARS:
        bar_mean, bar_max, bar_flow = BARS[law]
        row["bar"] = f"mean {bar_mean:.0%}, max {bar_max:.0%}" + (
            f", flow {bar_flow:.0%}" if bar_flow else "")
        if abs(row["mean_difference"]) > bar_mean:
            missed.append(f"mean FCT {row['mean_difference']:+.2%}")
        if abs(row["max_difference"]) > bar_max:
            missed.append(f"maximum FCT {row['max_difference']:+.2%}")
        if bar_flow and max(per_flow) > bar_flow:
            missed.append(f"a flow is {max(per_flow):.2%} off")
    else:
        row["bar"] = "none"
    return missed


def compare(options, config):
    keys = read_config(config)
    law = LAWS.get(int(keys["CC_MODE"]), "none")
    row = {"scenario": config.parent.parent.name, "cc": config.parent.name, "law": law}
    try:
        references = [read_fct(config.parent / "fct.txt")]
        references += [read_fct(path) for path in sorted(config.parent.glob("fct_seed*.txt"))]
        row["kind"] = kind_of(references[0])
        seeds = options.seeds if law == "dcqcn" and row["kind"] != "lone" else 1
        runs = []
        row["packet_hops"] = row["user_s"] = 0
        for seed in range(1, seeds + 1):
            flows, summary, row["pfc_lines"] = run_sluice(options, config, keys, seed)
            for reference in references:
                if flows.keys() != reference.keys():
                    raise RuntimeError(f"{len(flows)} flows finished, {len(reference)} in the "
                                       "reference, or their ports differ")
            runs.append(flows)
            row["packet_hops"] += summary["packet_hops"]
            row["user_s"] += summary["user_s"]
        ours, our_mean, our_max = average(runs)
        theirs, their_mean, their_max = average(references)
        errors_ns = [abs(ours[key] - theirs[key]) for key in theirs]
        errors = [abs(ours[key] - theirs[key]) / theirs[key] for key in theirs]
        row.update({
            "flows": len(theirs), "reference_seeds": len(references), "seeds": seeds,
            "error_mean": mean(errors), "error_p99": percentile(errors, 99),
            "error_max": max(errors),
            "mean_fct_us": our_mean / 1e3, "reference_mean_fct_us": their_mean / 1e3,
            "mean_difference": our_mean / their_mean - 1,
            "max_fct_us": our_max / 1e3, "reference_max_fct_us": their_max / 1e3,
            "max_difference": our_max / their_max - 1,
        })
        row["missed"] = judge(row, law, errors_ns, errors)
    except (RuntimeError, OSError, ValueError, KeyError, IndexError) as error:
        row["missed"] = [str(error)]
        row["failed"] = True
    return row


def markdown(rows):
    lines = [
        "| scenario | CC | kind | flows | FCT error per flow: mean / p99 / max | mean FCT (us): "
        "ours / ns-3 | difference | max FCT (us): ours / ns-3 | difference | bar | verdict |",
        "| --- | --- | --- | ---: | --- | --- | ---: | --- | ---: | --- | --- |",
    ]
    for row in rows:
        verdict = "; ".join(row["missed"]) or ("met" if row.get("bar") != "none" else "-")
        if row.get("failed"):
            lines.append(f"| {row['scenario']} | {row['cc']} | | | | | | | | | {verdict} |")
            continue
        lines.append(
            f"| {row['scenario']} | {row['cc']} | {row['kind']} | {row['flows']} "
            f"| {row['error_mean']:.3%} / {row['error_p99']:.3%} / {row['error_max']:.3%} "
            f"| {row['mean_fct_us']:.1f} / {row['reference_mean_fct_us']:.1f} "
            f"| {row['mean_difference']:+.2%} "
            f"| {row['max_fct_us']:.1f} / {row['reference_max_fct_us']:.1f} "
            f"| {row['max_difference']:+.2%} | {row['bar']} | {verdict} |")
    return "\n".join(lines) + "\n"


def default_reference():
    base = os.environ.get("SLUICE_REFERENCE") or PROJECT.parent / "shared" / "reference"
    return pathlib.Path(base) / "ns3"


def default_sluice():
    found = [path for pattern in ("build/**/sluice", "build-*/**/sluice")
             for path in PROJECT.glob(pattern) if path.is_file() and os.access(path, os.X_OK)]
    if not found and (PROJECT / "sluice").is_file():
        found = [PROJECT / "sluice"]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference", nargs="?", type=pathlib.Path, default=default_reference(),
                        help="folder of SCENARIO/CC/config.txt (default: %(default)s)")
    parser.add_argument("--sluice", type=pathlib.Path, default=default_sluice(),
                        help="the program (default: the newest built one: %(default)s)")
    parser.add_argument("--only", default="", metavar="TEXT",
                        help="only experiments whose SCENARIO/CC contains TEXT")
    parser.add_argument("--seeds", type=int, default=1, metavar="N",
                        help="average N runs of each random law (DCQCN)")
    parser.add_argument("--jobs", type=int, default=1, help="experiments run at once")
    parser.add_argument("--timeout", type=float, default=600, help="seconds per run")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows here")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE",
                        help="write the table here (default: standard output)")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bar is missed")
    options = parser.parse_args()
    if options.sluice is None or not options.sluice.is_file():
        parser.error("no sluice program found: build it, or give --sluice PATH")
    options.sluice = options.sluice.resolve()
    options.reference = options.reference.resolve()
    configs = [path for path in sorted(options.reference.glob("*/*/config.txt"))
               if options.only in "/".join(path.parts[-3:-1])]
    if not configs:
        parser.error(f"no SCENARIO/CC/config.txt under {options.reference}")

    with concurrent.futures.ThreadPoolExecutor(max(options.jobs, 1)) as pool:
        rows = list(pool.map(lambda config: compare(options, config), configs))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(rows))
    else:
        sys.stdout.write(markdown(rows))
    missed = [row for row in rows if row["missed"]]
    for row in missed:
        print(f"{row['scenario']}/{row['cc']}: {'; '.join(row['missed'])}", file=sys.stderr)
    print(f"{len(rows) - len(missed)} of {len(rows)} experiments meet their bar", file=sys.stderr)
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares packet mode with the HPCC ns-3 reference, flow by flow.

Runs `sluice run --hpcc` on every SCENARIO/CC/config.txt under a folder of reference experiments,
each in a temporary output folder, and sets its completion times against SCENARIO/CC/fct.txt (and
fct_seed*.txt: answers of the reference with other random draws). Routing is our own, unless --paths
takes SCENARIO/flow_paths.csv. See docs/fidelity.md for what the numbers mean.

HPCC, DCTCP and TIMELY draw nothing at random: mean and maximum FCT must be within the law's bar,
with --exact every flow equal to the nanosecond. DCQCN depends on random marks: the mean and the
maximum FCT of runs with several seeds are compared with those of the reference's, each difference
in units of its standard error (z); |z| may be at most 3. It needs at least two seeds on both sides,
and says little below eight.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

LAWS = {1: "dcqcn", 3: "hpcc", 7: "timely", 8: "dctcp"}
# Largest relative difference of (mean FCT, maximum FCT) under laws without random draws.
BARS = {"hpcc": (0.01, 0.03), "dctcp": (0.01, 0.03), "timely": (0.02, 0.08)}
LARGEST_Z = 3
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


def z_score(ours, theirs):
    """The difference of two samples' means in standard errors; 0 if both never vary and agree."""
    if len(ours) < 2 or len(theirs) < 2:
        return math.nan
    error = math.sqrt(statistics.variance(ours) / len(ours) +
                      statistics.variance(theirs) / len(theirs))
    difference = mean(ours) - mean(theirs)
    if error == 0:
        return 0.0 if difference == 0 else math.copysign(math.inf, difference)
    return difference / error


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
        if options.paths and paths.exists():
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
    """Per-flow mean FCT, and each run's mean and maximum FCT."""
    flows = {key: mean(run[key][1] for run in runs) for key in runs[0]}
    return (flows, [mean(fct for _, fct in run.values()) for run in runs],
            [max(fct for _, fct in run.values()) for run in runs])


def judge(row, law, exact):
    """What misses its bar, as text."""
    missed = []
    if law in BARS:
        bar_mean, bar_max = BARS[law]
        row["bar"] = f"mean {bar_mean:.0%}, max {bar_max:.0%}" + (", every flow" if exact else "")
        if abs(row["mean_difference"]) > bar_mean:
            missed.append(f"mean FCT {row['mean_difference']:+.2%}")
        if abs(row["max_difference"]) > bar_max:
            missed.append(f"maximum FCT {row['max_difference']:+.2%}")
        if exact and row["equal"] < row["flows"]:
            missed.append(f"{row['flows'] - row['equal']} flows are not equal")
    elif law == "dcqcn" and not math.isnan(row["z_mean"]):
        row["bar"] = f"z {LARGEST_Z}"
        for name in ("mean", "max"):
            if abs(row[f"z_{name}"]) > LARGEST_Z:
                missed.append(f"{name} FCT z = {row[f'z_{name}']:+.1f}")
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
        seeds = options.seeds if law == "dcqcn" else 1
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
        errors = [abs(ours[key] - theirs[key]) / theirs[key] for key in theirs]
        row.update({
            "flows": len(theirs), "reference_seeds": len(references), "seeds": seeds,
            "error_mean": mean(errors), "error_p99": percentile(errors, 99),
            "error_max": max(errors),
            "equal": sum(runs[0][key] == references[0][key] for key in theirs),
            "mean_fct_us": mean(our_mean) / 1e3, "reference_mean_fct_us": mean(their_mean) / 1e3,
            "mean_difference": mean(our_mean) / mean(their_mean) - 1,
            "max_fct_us": mean(our_max) / 1e3, "reference_max_fct_us": mean(their_max) / 1e3,
            "max_difference": mean(our_max) / mean(their_max) - 1,
            "z_mean": z_score(our_mean, their_mean), "z_max": z_score(our_max, their_max),
        })
        row["missed"] = judge(row, law, options.exact)
    except (RuntimeError, OSError, ValueError, KeyError, IndexError) as error:
        row["missed"] = [str(error)]
        row["failed"] = True
    return row


def markdown(rows):
    lines = [
        "| scenario | CC | flows equal | FCT error per flow: mean / p99 / max | mean FCT (us): "
        "ours / ns-3 | difference | max FCT (us): ours / ns-3 | difference | bar | verdict |",
        "| --- | --- | ---: | --- | --- | ---: | --- | ---: | --- | --- |",
    ]
    for row in rows:
        verdict = "; ".join(row["missed"]) or ("met" if row.get("bar") != "none" else "-")
        if row.get("failed"):
            lines.append(f"| {row['scenario']} | {row['cc']} | | | | | | | | {verdict} |")
            continue
        z = ("", "") if math.isnan(row["z_mean"]) or row["law"] != "dcqcn" else (
            f", z {row['z_mean']:+.1f}", f", z {row['z_max']:+.1f}")
        equal = "-" if row["law"] == "dcqcn" else f"{row['equal']} of {row['flows']}"
        lines.append(
            f"| {row['scenario']} | {row['cc']} | {equal} "
            f"| {row['error_mean']:.3%} / {row['error_p99']:.3%} / {row['error_max']:.3%} "
            f"| {row['mean_fct_us']:.1f} / {row['reference_mean_fct_us']:.1f} "
            f"| {row['mean_difference']:+.2%}{z[0]} "
            f"| {row['max_fct_us']:.1f} / {row['reference_max_fct_us']:.1f} "
            f"| {row['max_difference']:+.2%}{z[1]} | {row['bar']} | {verdict} |")
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
    parser.add_argument("--seeds", type=int, default=8, metavar="N",
                        help="runs of each random law (DCQCN), default 8")
    parser.add_argument("--exact", action="store_true",
                        help="under laws without random draws every flow must be equal")
    parser.add_argument("--paths", action="store_true",
                        help="take the paths of SCENARIO/flow_paths.csv where there is one")
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

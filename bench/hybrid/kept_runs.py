# SPDX-License-Identifier: Apache-2.0
"""Runs of a study, each made once: what it gave stays in measured.json of its folder."""

import hashlib
import json
import resource
import statistics
import subprocess
import sys

from figures import percentile, read_csv


def measure(folder, sizes=()):
    """End, completion times (ps) and executed packet-hops of a run. `sizes`: (name, most bytes), ascending; flows up to each
    have a mean of their own."""
    summary = json.loads((folder / "summary.json").read_text())
    rows = [row for row in read_csv(folder / "flows.csv") if row["fct_ps"]]
    times = sorted(float(row["fct_ps"]) for row in rows)
    measured = {"end": max(float(row["start_ps"]) + float(row["fct_ps"]) for row in rows),
                "mean": statistics.fmean(times), "p99": percentile(times, 99),
                "hops": summary["packet_hops"] - summary.get("fold", {}).get("hops", 0)}
    least = -1
    for name, most in sizes:
        of_size = [float(row["fct_ps"]) for row in rows if least < int(row["size_bytes"]) <= most]
        least = most
        if of_size:
            measured[name] = statistics.fmean(of_size)
    return measured


def run(folder, program, words, *, scenario, table=False, sizes=(), limit=None):
    """What `program run SCENARIO WORDS` gave, with its user time. None if it failed or took more than `limit` seconds, or is
    not there and nothing is to be run (`table`). A run that is there stays if program, scenario and words are the same."""
    command = [str(word) for word in (program, "run", scenario, "--quiet", "--out", folder / "out", *words)]
    stamp = hashlib.sha256(" ".join(command).encode() + scenario.read_bytes() + program.read_bytes()).hexdigest()
    file = folder / "measured.json"
    if file.exists():
        kept = json.loads(file.read_text())
        if table or kept["stamp"] == stamp:
            return kept["values"]
    if table:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        done = subprocess.run(command, timeout=limit, capture_output=True, text=True, check=False)
        why = done.stderr if done.returncode else ""
    except subprocess.TimeoutExpired:
        why = f"not done in {limit} s"
    user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if why:
        print(f"{folder}: {why.strip()}", file=sys.stderr)
    values = None if why else {**measure(folder / "out", sizes), "user": user}
    file.write_text(json.dumps({"stamp": stamp, "why": why, "values": values}))
    for large in (folder / "out").glob("*"):
        large.unlink()
    return values

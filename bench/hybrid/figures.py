# SPDX-License-Identifier: Apache-2.0
"""What a run left behind, and how two runs of one experiment differ. Errors as in `sluice
compare`: absolute and relative to the reference, percentiles by nearest rank."""

import collections
import csv
import json
import math

# Links with less of the busiest one's bytes than this are left out of the throughput error.
CARRIES_ENOUGH = 0.01
# Where two distributions of completion times are compared, in percent.
RANKS = (1, 5, 10, 25, 50, 75, 90, 95, 99, 100)


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def percentile(ordered, percent):
    """Nearest rank."""
    return ordered[max(math.ceil(percent * len(ordered) / 100) - 1, 0)]


class Figures:
    """A run's folder, read."""

    def __init__(self, folder):
        self.summary = json.loads((folder / "summary.json").read_text())
        self.costs = json.loads((folder / "costs.json").read_text())
        # flow: (class, bytes, completion time in ps)
        self.flows = {int(row["flow"]): (row["label"], int(row["size_bytes"]), int(row["fct_ps"]))
                      for row in read_csv(folder / "flows.csv")}
        self.ports = [int(row["tx_bytes"]) for row in read_csv(folder / "ports.csv")]
        self.phases = phase_mix(folder / "phases.csv")

    def hops(self):
        return self.summary["packet_hops"]


def phase_mix(path):
    """{phase and why it ended: [how often, flow-seconds, GB skipped]}."""
    mix = collections.defaultdict(lambda: [0, 0.0, 0.0])
    if path.exists():
        for row in read_csv(path):
            entry = mix[f"{row['phase']}, {row['ended_by']}"]
            entry[0] += 1
            entry[1] += int(row["flows"]) * (int(row["end_ps"]) - int(row["start_ps"])) * 1e-12
            entry[2] += int(row["bytes_skipped"]) / 1e9
    return dict(sorted(mix.items(), key=lambda item: -item[1][1]))


def errors_of(pairs):
    """pairs: (bytes, reference, value). Mean, percentiles, by bytes, and by rank: the same times
    sorted on each side before they are compared, which is what is left of an error that only
    exchanges flows."""
    pairs = list(pairs)
    if not pairs:
        return None
    errors = sorted(abs(value - reference) / reference for _, reference, value in pairs)
    ours, theirs = sorted(v for _, _, v in pairs), sorted(r for _, r, _ in pairs)
    ranks = [(percentile(ours, p) - percentile(theirs, p)) / percentile(theirs, p) for p in RANKS]
    return {
        "flows": len(errors),
        "mean": sum(errors) / len(errors),
        "p50": percentile(errors, 50),
        "p99": percentile(errors, 99),
        "max": errors[-1],
        "byte_weighted": sum(size * abs(value - reference) / reference
                             for size, reference, value in pairs) / sum(p[0] for p in pairs),
        "bias": (sum(ours) - sum(theirs)) / sum(theirs),
        "by_rank": sum(abs(o - t) / t for o, t in zip(ours, theirs)) / len(errors),
        "quantiles": dict(zip(map(str, RANKS), ranks)),
    }


def compare(reference, run):
    """Errors of `run` against `reference`, both Figures."""
    classes = collections.defaultdict(list)
    for flow, (label, size, fct) in reference.flows.items():
        if flow in run.flows:
            classes[label].append((size, fct, run.flows[flow][2]))
    duration, theirs = run.summary["simulated_s"], reference.summary["simulated_s"]
    busiest = max(reference.ports)
    links = [abs(b / duration - a / theirs) / (a / theirs)
             for a, b in zip(reference.ports, run.ports) if a > CARRIES_ENOUGH * busiest]
    jct = reference.summary["jct_s"]
    return {
        "fct": errors_of(pair for pairs in classes.values() for pair in pairs),
        "by_class": {label: errors_of(pairs) for label, pairs in sorted(classes.items())},
        "jct": abs(run.summary["jct_s"] - jct) / jct,
        "throughput": sum(links) / len(links),
        "missing": len(reference.flows.keys() - run.flows.keys()),
    }

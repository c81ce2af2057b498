#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and figures of the steadiness study, from what bench/steady/run left in WORK.

usage: report.py WORK [DOCS]    (with DOCS: puts them into DOCS/steady-study.md and DOCS/figures)
"""

import csv
import pathlib
import re
import statistics
import struct
import sys

LAWS = ["hpcc", "dcqcn", "timely", "dctcp"]
HALVES = ["tune", "judge"]
DEFAULT_TOLERANCE = "default: 0.1 alone, 0.01 sharing"
# Of the closed loop, tuning half; the default is beside them.
SWEEP = ["0.01", "0.03", "0.05", "0.1", "0.2"]
# Kinds whose flows all go to one host.
ONE_PORT = {"pair", "stagger2", "stagger3", "stagger4", "stagger16", "incast8", "incast16",
            "elephants4"}
GUARDED = ["rate", "hygra", "inflight", "queue"]


def rows(work, stem, halves, suffix=".csv", laws=LAWS):
    found = []
    for half in halves:
        for law in laws:
            with open(work / "results" / f"{stem}-{half}-{law}{suffix}", encoding="ascii") as file:
                found += list(csv.DictReader(file))
    return found


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def quantile(values, q):
    """Nearest rank."""
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else 0.0


def percent(value, digits=2):
    return f"{100 * value:.{digits}f}%"


def flow_errors(work, stem, halves, laws=LAWS):
    return [abs(float(row["error"])) for row in rows(work, stem, halves, ".flows", laws)]


def skipped(work, stem, halves, laws=LAWS):
    return mean(float(row["skipped"]) for row in rows(work, stem, halves, laws=laws))


def summary_row(work, stem, halves, label, laws=LAWS):
    errors = flow_errors(work, stem, halves, laws)
    return (f"| {label} | {percent(mean(errors))} | {percent(quantile(errors, 0.99))} | "
            f"{percent(max(errors))} | {percent(skipped(work, stem, halves, laws), 1)} |")


def table_detectors(work):
    lines = ["| detector | mean | p99 | max | time skipped |", "| --- | --- | --- | --- | --- |"]
    for name in GUARDED + [f"bare-{name}" for name in GUARDED]:
        lines.append(summary_row(work, f"open-{name}", ["judge"], f"`{name}`"))
    return lines


def table_tolerance(work):
    lines = ["| tolerance | mean | p99 | max | time skipped |", "| --- | --- | --- | --- | --- |"]
    for tolerance in ["0.01", "0.02", "0.03", "0.05", "0.1", "0.2", ""]:
        stem = f"open-tolerance{tolerance}" if tolerance else "open-rate"
        lines.append(summary_row(work, stem, ["tune"], tolerance or DEFAULT_TOLERANCE))
    return lines


def closed_row(work, law, stem, label):
    """One sweep point of the closed loop on the tuning half."""
    cases = rows(work, stem, ["tune"], laws=[law])
    lone = [float(row["mean"]) for row in cases if row["kind"] == "lone"]
    saved = sum(int(row["hops_packet"]) for row in cases) / sum(
        int(row["hops_skip"]) for row in cases)
    by_flow = flow_errors(work, stem, ["tune"], [law])
    return (f"| {law} | {label} | {percent(mean(float(row['mean']) for row in cases))} | "
            f"{percent(mean(by_flow))} | {percent(quantile(by_flow, 0.99), 1)} | "
            f"{percent(max(by_flow), 1)} | {percent(mean(lone))}, {percent(max(lone))} | "
            f"{saved:.2f} |")


def table_bars(work):
    """Closed loop, tuning half: what the default tolerance was chosen by."""
    lines = ["| law | tolerance | mean of cases | mean of flows | p99 | max | "
             "lone flows: mean, max | packet-hops divided by |",
             "| --- |" + " --- |" * 7]
    for law in LAWS:
        for tolerance in [*SWEEP, ""]:
            stem = f"closed-tolerance{tolerance}" if tolerance else "closed-rate"
            lines.append(closed_row(work, law, stem, tolerance or DEFAULT_TOLERANCE))
        lines.append(closed_row(work, law, "closed-nudge", "none: nudged by a packet"))
    return lines


def table_contended(work):
    """HPCC's kinds, closed loop, tuning half, by tolerance."""
    sweep = [*((tolerance, f"closed-tolerance{tolerance}") for tolerance in SWEEP),
             (DEFAULT_TOLERANCE, "closed-rate"), ("nudged by a packet", "closed-nudge")]
    lines = ["| traffic | " + " | ".join(label for label, _ in sweep) + " |",
             "| --- |" + " --- |" * len(sweep)]
    found = {label: rows(work, stem, ["tune"], laws=["hpcc"]) for label, stem in sweep}
    for kind in dict.fromkeys(row["kind"] for row in found[DEFAULT_TOLERANCE]):
        cells = []
        for label, _ in sweep:
            cases = [row for row in found[label] if row["kind"] == kind]
            cells.append(f"{percent(mean(float(row['mean']) for row in cases))}, "
                         f"{percent(mean(float(row['skipped']) for row in cases), 0)}")
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return lines


def table_lag(work):
    """HPCC, tuning half, tolerance 0.1: what earlier skips count for."""
    runs = [("nothing", "lag-none"), ("in the group", "lag-group"),
            ("in whatever group (as shipped)", "tolerance0.1")]
    kinds = ["stagger2", "stagger3", "stagger4", "stagger16", "uneven4", "elephants4"]
    lines = ["| skips that count | open loop: mean, time skipped | closed loop: mean | " +
             " | ".join(kinds) + " |", "| --- |" + " --- |" * (2 + len(kinds))]

    def closed(cases, kind=None):
        return percent(mean(float(row["mean"]) for row in cases if kind in (None, row["kind"])))

    for label, name in runs:
        cases = rows(work, f"closed-{name}", ["tune"], laws=["hpcc"])
        off = mean(flow_errors(work, f"open-{name}", ["tune"], ["hpcc"]))
        share = skipped(work, f"open-{name}", ["tune"], ["hpcc"])
        lines.append(
            f"| {label} | {percent(off)}, {percent(share, 0)} | {closed(cases)} | " +
            " | ".join(closed(cases, kind) for kind in kinds) + " |")
    nudged = rows(work, "closed-nudge", ["tune"], laws=["hpcc"])
    lines.append(f"| nudged by a packet | | {closed(nudged)} | " +
                 " | ".join(closed(nudged, kind) for kind in kinds) + " |")
    return lines


def table_bias(work):
    """HPCC, tuning half: signed errors, as a bias is not noise however small it is beside it."""
    runs = [*((tolerance, f"closed-tolerance{tolerance}") for tolerance in SWEEP),
            (DEFAULT_TOLERANCE, "closed-rate"),
            ("0.1, nothing counts as lag", "closed-lag-none"),
            ("none: nudged by a packet", "closed-nudge")]
    lines = ["| tolerance | mean of flows | fastest flow | slowest flow | slowest / fastest |",
             "| --- | --- | --- | --- | --- |"]
    for label, stem in runs:
        by_case = {}
        for row in rows(work, stem, ["tune"], ".flows", ["hpcc"]):
            if row["kind"] in ONE_PORT:
                by_case.setdefault(row["case"], []).append(
                    (int(row["fct_packet"]), int(row["fct_skip"])))
        changes = ([], [], [], [])
        for times in by_case.values():
            packet, skip = zip(*times)
            changes[0].append(mean(s / p - 1 for p, s in times))
            changes[1].append(min(skip) / min(packet) - 1)
            changes[2].append(max(skip) / max(packet) - 1)
            changes[3].append(max(skip) / min(skip) / (max(packet) / min(packet)) - 1)
        cells = [f"{100 * mean(values):+.2f}% +- "
                 f"{percent(statistics.stdev(values) / len(values) ** 0.5)}" for values in changes]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return lines


def table_kinds(work):
    """Judged half, default detector: open loop, closed loop and what a packet's time does."""
    lines = ["| law | traffic | time skipped | open loop: mean, max | closed loop: mean, p99 | "
             "nudged by a packet: mean, p99 |", "| --- | --- | --- | --- | --- | --- |"]
    tables = {name: rows(work, stem, ["judge"], ".flows") for name, stem in
              (("open", "open-rate"), ("closed", "closed-rate"), ("nudge", "closed-nudge"))}
    cases = rows(work, "closed-rate", ["judge"])
    kinds = list(dict.fromkeys(row["kind"] for row in cases))

    def errors(name, law, kind):
        return [abs(float(row["error"])) for row in tables[name]
                if row["law"] == law and kind in ("all", row["kind"])]

    for law in LAWS:
        for kind in kinds + ["all"]:
            share = mean(float(row["skipped"]) for row in cases
                         if row["law"] == law and kind in ("all", row["kind"]))
            o, c, n = (errors(name, law, kind) for name in ("open", "closed", "nudge"))
            lines.append(f"| {law} | {kind} | {percent(share, 0)} | {percent(mean(o))}, "
                         f"{percent(max(o))} | {percent(mean(c))}, {percent(quantile(c, 0.99), 1)} "
                         f"| {percent(mean(n))}, {percent(quantile(n, 0.99), 1)} |")
    return lines


def table_distribution(work):
    """Closed loop: what is left of the error when it does not matter which flow has it."""
    lines = ["| law | run | by flow | by rank | makespan | packet-hops saved |",
             "| --- | --- | --- | --- | --- | --- |"]
    for law in LAWS:
        for stem, label in (("rate", "skips"), ("nudge", "nudged by a packet"),
                            ("bare-rate", "`bare-rate` skips")):
            cases = rows(work, f"closed-{stem}", ["judge"], laws=[law])
            saved = 1 - sum(int(r["hops_skip"]) for r in cases) / sum(
                int(r["hops_packet"]) for r in cases)
            lines.append(
                f"| {law} | {label} | {percent(mean(float(r['mean']) for r in cases))} | "
                f"{percent(mean(float(r['rank']) for r in cases))} | "
                f"{percent(mean(abs(float(r['makespan'])) for r in cases))} | "
                f"{percent(saved, 1)} |")
    return lines


def read_series(path):
    """Times, per-flow (time, acked, progress) and the fullest queue, of a steady_record file."""
    data = path.read_bytes()
    (sizes,) = struct.unpack_from("<Q", data, 8)
    at = 16 + sizes - 40  # congestion::Parameters; 40 is a FlowSample
    _, _, _, flows = struct.unpack_from("<qqqQ", data, at)
    at += 32
    for _ in range(flows):
        (ports,) = struct.unpack_from("<Q", data, at + 40)
        at += 48 + 4 * ports

    def vector(code, width):
        nonlocal at
        (count,) = struct.unpack_from("<Q", data, at)
        values = struct.unpack_from(f"<{count}{code}", data, at + 8)
        at += 8 + count * width
        return values

    ports = vector("I", 4)
    times = vector("q", 8)
    first = vector("Q", 8)
    (count,) = struct.unpack_from("<Q", data, at)
    samples = list(struct.iter_unpack("<Ixxxxqqqq", data[at + 8:at + 8 + 40 * count]))
    at += 8 + 40 * count
    queues = vector("I", 4)
    by_flow = {}
    for i, time in enumerate(times):
        for flow, progress, acked, _, _ in samples[first[i]:first[i + 1]]:
            by_flow.setdefault(flow, []).append((time, acked, progress))
    fullest = [max(queues[i * len(ports):(i + 1) * len(ports)]) for i in range(len(times))]
    return times, by_flow, fullest


def figure_series(work, plt, path):
    names = ["lone-hpcc-200g-10us-1", "stagger4-hpcc-200g-10us-1", "pair-hpcc-100g-1us-1",
             "stagger4-dcqcn-100g-1us-1", "stagger4-timely-100g-1us-1",
             "stagger4-dctcp-200g-10us-1"]
    figure, axes = plt.subplots(len(names), 2, figsize=(11, 2 * len(names)), squeeze=False)
    for (left, right), name in zip(axes, names):
        times, by_flow, fullest = read_series(work / "series" / f"{name}.series")
        step = 8
        for samples in by_flow.values():
            points = [(b[0] * 1e-9, (b[1] - a[1]) / (b[2] - a[2]) * 8e3)
                      for a, b in zip(samples[::step], samples[step::step]) if b[2] > a[2]]
            left.plot([p[0] for p in points], [p[1] for p in points], linewidth=0.7)
        left.set_ylabel("Gb/s")
        left.set_title(f"{name}: goodput over two base round trips", fontsize=8)
        left.set_ylim(bottom=0)
        right.plot([t * 1e-9 for t in times], [q / 1e3 for q in fullest], linewidth=0.5)
        right.set_ylabel("KB")
        right.set_title("its fullest switch queue", fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("ms")
    figure.tight_layout()
    figure.savefig(path, dpi=70)


def figure_curve(work, plt, path):
    """Error of extrapolating against time skipped, judged half, by law."""
    figure, axes = plt.subplots(1, 4, figsize=(14, 3.4), sharey=True)
    for axis, law in zip(axes, LAWS):
        for name, label, color, allowed in (
                ("bare-rate", "rate 5%, 200 us, no guards", "tab:red", None),
                ("bare-hygra", "hygra, 200 us, no guards", "tab:orange", None),
                ("rate", "default, as if not capped", "tab:gray", None),
                ("rate", "default, allowed", "tab:blue", "1")):
            by_time = {}
            for row in rows(work, f"open-{name}", ["judge"], ".curve", [law]):
                if allowed is None or row["allowed"] == allowed:
                    by_time.setdefault(int(row["round_trips"]), []).append(float(row["worst"]))
            xs = sorted(x for x, values in by_time.items() if len(values) >= 5)
            axis.plot(xs, [mean(by_time[x]) for x in xs], color=color, label=f"{label}: mean")
            axis.plot(xs, [quantile(by_time[x], 0.95) for x in xs], color=color, linestyle=":",
                      linewidth=0.8)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_ylim(1e-5, 10)
        axis.axhline(0.02, color="black", linewidth=0.4)
        axis.set_title(law)
        axis.set_xlabel("time skipped, base round trips")
    axes[0].set_ylabel("error of the worst flow's bytes (dotted: p95)")
    axes[0].legend(fontsize=6)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def figure_closed(work, plt, path):
    """Closed loop against the noise of packet mode itself, judged half."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 6))
    for axis, law in zip(axes.flat, LAWS):
        by_kind = {}
        for column, stem in enumerate(("closed-rate", "closed-nudge")):
            for row in rows(work, stem, ["judge"], ".flows", [law]):
                by_kind.setdefault(row["kind"], ([], []))[column].append(abs(float(row["error"])))
        share = {}
        for row in rows(work, "closed-rate", ["judge"], laws=[law]):
            share.setdefault(row["kind"], []).append(float(row["skipped"]))
        kinds = list(by_kind)
        for shift, column, label, color in ((-0.2, 0, "with skips", "tab:blue"),
                                            (0.2, 1, "nudged by a packet, no skips", "tab:gray")):
            axis.bar([i + shift for i in range(len(kinds))],
                     [100 * mean(by_kind[kind][column]) for kind in kinds], 0.4, label=label,
                     color=color)
        axis.set_xticks(range(len(kinds)))
        axis.set_xticklabels([f"{kind}\n{100 * mean(share[kind]):.0f}%" for kind in kinds],
                             fontsize=6)
        axis.set_title(f"{law}: mean error of completion times, %; under each, time skipped",
                       fontsize=8)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    work = pathlib.Path(sys.argv[1])
    report = work / "report"
    report.mkdir(exist_ok=True)
    tables = {"detectors": table_detectors(work), "tolerance": table_tolerance(work),
              "kinds": table_kinds(work), "distribution": table_distribution(work),
              "bars": table_bars(work), "contended": table_contended(work),
              "lag": table_lag(work), "bias": table_bias(work)}
    for name, lines in tables.items():
        (report / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="ascii")
    figures = {}
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no matplotlib: tables only", file=sys.stderr)
    else:
        for name, draw in (("series", figure_series), ("curve", figure_curve),
                           ("closed", figure_closed)):
            figures[name] = report / f"steady-{name}.png"
            draw(work, plt, figures[name])
    if len(sys.argv) == 3:
        docs = pathlib.Path(sys.argv[2])
        (docs / "figures").mkdir(exist_ok=True)
        for path in figures.values():
            (docs / "figures" / path.name).write_bytes(path.read_bytes())
        page = docs / "steady-study.md"
        text = page.read_text(encoding="ascii")
        for name, lines in tables.items():
            text, count = re.subn(
                f"(<!-- table {name} -->\n).*?(<!-- end -->)",
                lambda match, lines=lines: match[1] + "\n".join(lines) + "\n" + match[2], text,
                flags=re.DOTALL)
            if count != 1:
                sys.exit(f"{page}: no place for table {name}")
        page.write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Tables of the study, from the runs that are there: results.json and tables.md."""

import json
import re
import statistics

import cases
import figures


# Times below this are not told apart: flow mode ends within one.
CLOCK_TICK_S = 1e-3


def speedup(packet, run):
    """Medians over pairs of neighbouring runs: (by wall time, by user time, pairs). The first pair
    counts only where there is no other, as its runs need not have been neighbours."""
    pairs = list(zip(packet.costs, run.costs))
    pairs = pairs[1:] or pairs
    ratios = [statistics.median(max(p[key], CLOCK_TICK_S) / max(r[key], CLOCK_TICK_S)
                                for p, r in pairs) for key in ("wall_s", "user_s")]
    return (*ratios, len(pairs))


def row_of(run, figure, packet):
    summary = figure.summary
    row = {
        "run": run.name,
        "version": summary["version"],
        "wall_s": statistics.median(c["wall_s"] for c in figure.costs),
        "user_s": statistics.median(c["user_s"] for c in figure.costs),
        "peak_rss_bytes": statistics.median(c["peak_rss_bytes"] for c in figure.costs),
        "packet_hops": summary["packet_hops"] if run.mode != "flow" else 0,
        "steady_share": summary.get("steady_share"),
        "skips": summary.get("skips"),
        "jct_s": summary["jct_s"],
        "flows_completed": summary["flows_completed"],
        "phases": figure.phases,
    }
    if packet is not None and run.name != "packet":
        row["errors"] = figures.compare(packet, figure)
        row["speedup"], row["speedup_user"], row["pairs"] = speedup(packet, figure)
    return row


def judge(scenario, law, rows):
    """[(bar, figure, floor or None)] of the bars that are missed."""
    bars, missed = scenario.bars, []
    hybrid, floor = rows.get("hybrid"), rows.get("floor")
    if not hybrid or "errors" not in hybrid:
        return missed

    def most(what, of, bar):
        if bar is not None and of(hybrid) > bar:
            missed.append((f"{what} {of(hybrid):.2%} > {bar:.1%}",
                           f"{of(floor):.2%}" if floor else None))

    most("mean", lambda row: row["errors"]["fct"]["mean"], bars.mean)
    most("p99", lambda row: row["errors"]["fct"]["p99"], bars.p99)
    most("JCT", lambda row: row["errors"]["jct"], bars.jct)
    least = bars.speedup.get(law, bars.speedup.get(""))
    if least is not None and hybrid["speedup"] < least:
        missed.append((f"speed-up {hybrid['speedup']:.1f} < {least}", None))
    if bars.slowdown is not None and 1 / hybrid["speedup"] > bars.slowdown:
        missed.append((f"wall time {1 / hybrid['speedup']:.2f} > {bars.slowdown}", None))
    return missed


class Cache:
    """A case's rows are made anew only when one of its runs has changed."""

    def __init__(self, path):
        self.path = path
        self.old = json.loads(path.read_text()) if path.exists() else {}
        self.new = {}

    def rows(self, key, stamp, make):
        entry = self.old.get(key)
        if entry is None or entry["stamp"] != stamp:
            entry = {"stamp": stamp, "rows": make()}
        self.new[key] = entry
        return entry["rows"]

    def save(self):
        self.path.write_text(json.dumps(self.new))


def newest_program(out):
    """The program of the latest hybrid mode run: its runs only are in the tables."""
    stamps = sorted(out.glob("*/*/hybrid/stamp.json"), key=lambda path: path.stat().st_mtime)
    return json.loads(stamps[-1].read_text())["program"] if stamps else None


def write(out):
    """Reads every run under `out`, writes results.json and tables.md, returns the results. Hybrid
    mode's runs are left out if another program than the latest one made them."""
    newest = newest_program(out)

    def counts(folder, run):
        path = folder / run.name / "stamp.json"
        return path.exists() and (run.mode != "hybrid" or
                                  json.loads(path.read_text())["program"] == newest)

    cache, results = Cache(out / "rows.json"), []
    for scenario in cases.SCENARIOS:
        for law in scenario.laws:
            folder = out / scenario.name / law
            there = [run for run in cases.runs_of(scenario, law)
                     if counts(folder, run)]
            stamp = [[run.name, (folder / run.name / "costs.json").stat().st_mtime]
                     for run in there]

            def make(there=there, folder=folder):
                made, packet = {}, None
                for run in there:
                    figure = figures.Figures(folder / run.name)
                    if run.name == "packet":
                        packet = figure
                    made[run.name] = row_of(run, figure, packet)
                return made

            rows = cache.rows(f"{scenario.name}/{law}", stamp, make)
            failed = {path.stem: path.read_text().strip() for path in folder.glob("*.failed")}
            if rows or failed:
                results.append({"scenario": scenario.name, "law": law, "rows": rows,
                                "failed": failed, "missed": judge(scenario, law, rows)})
    cache.save()
    (out / "results.json").write_text(json.dumps(results, indent=1))
    (out / "tables.md").write_text(markdown(results))
    return results


def missed(results):
    lines = []
    for result in results:
        case = f"{result['scenario']} {result['law']}"
        lines += [f"{case}: {what}" + (f" (floor {floor})" if floor else "")
                  for what, floor in result["missed"]]
        lines += [f"{case}: {run} failed: {why}" for run, why in result["failed"].items()]
    return lines


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |",
             "|" + "|".join(" --- " if i < 2 else " ---: " for i in range(len(header))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def percent(value):
    return "-" if value is None else f"{value:.2%}"


def triple(error):
    return f"{error['mean']:.2%} / {error['p99']:.2%} / {error['max']:.1%}"


def verdict(result):
    if "hybrid" not in result["rows"] or "errors" not in result["rows"]["hybrid"]:
        return "-"
    return "; ".join(what for what, _ in result["missed"]) or "met"


def costs_table(results):
    lines = []
    for result in results:
        rows = result["rows"]
        packet, hybrid, flow = (rows.get(name) for name in ("packet", "hybrid", "flow"))
        if not packet or not hybrid:
            continue
        lines.append([
            result["scenario"], result["law"], f"{packet['packet_hops'] / 1e6:,.0f}",
            f"{hybrid['packet_hops'] / 1e6:,.1f}",
            f"{packet['packet_hops'] / hybrid['packet_hops']:.1f}",
            f"{packet['wall_s']:.1f}", f"{hybrid['wall_s']:.2f}",
            f"{hybrid['speedup']:.1f}", f"{hybrid['speedup_user']:.1f}", f"{hybrid['pairs']}",
            percent(hybrid["steady_share"]), f"{hybrid['skips']:,}",
            f"{packet['peak_rss_bytes'] / 1e6:.0f} / {hybrid['peak_rss_bytes'] / 1e6:.0f}",
            f"{flow['wall_s']:.2f}" if flow else "-",
        ])
    return table(["scenario", "law", "M hops packet", "hybrid", "ratio", "packet s", "hybrid s",
                  "speed-up", "in user time", "pairs", "steady", "skips", "MB", "flow s"], lines)


def errors_table(results):
    lines = []
    for result in results:
        for name in ("hybrid", "floor"):
            row = result["rows"].get(name)
            if not row or "errors" not in row:
                continue
            fct = row["errors"]["fct"]
            lines.append([
                result["scenario"], result["law"], name, triple(fct), percent(fct["p50"]),
                percent(fct["byte_weighted"]), f"{fct['bias']:+.2%}", percent(fct["by_rank"]),
                percent(row["errors"]["jct"]), percent(row["errors"]["throughput"]),
                verdict(result) if name == "hybrid" else "",
            ])
    return table(["scenario", "law", "run", "FCT mean / p99 / max", "p50", "by bytes", "bias",
                  "by rank", "JCT", "throughput", "bars"], lines)


def classes_table(results):
    lines = []
    for result in results:
        rows = result["rows"]
        if "hybrid" not in rows or len(rows["hybrid"].get("errors", {}).get("by_class", {})) < 2:
            continue
        for name in ("hybrid", "floor"):
            for label, fct in rows.get(name, {}).get("errors", {}).get("by_class", {}).items():
                quantiles = fct["quantiles"]
                lines.append([
                    result["scenario"], result["law"], name, label, f"{fct['flows']:,}",
                    triple(fct), percent(fct["by_rank"]),
                    " ".join(f"{quantiles[p]:+.2%}" for p in ("5", "50", "95", "99", "100"))])
    return table(["scenario", "law", "run", "class", "flows", "FCT mean / p99 / max", "by rank",
                  "quantiles 5, 50, 95, 99, 100"], lines)


def settings_table(results):
    lines = []
    for result in results:
        rows = result["rows"]
        if "packet" not in rows or not any(name in rows for name in cases.VARIANTS):
            continue
        for name in ("hybrid", *cases.VARIANTS, "flow"):
            if name not in rows:
                continue
            row, errors = rows[name], rows[name]["errors"]
            hops = row["packet_hops"]
            lines.append([
                result["scenario"], result["law"], "default" if name == "hybrid" else name,
                f"{rows['packet']['packet_hops'] / hops:.1f}" if hops else "-",
                percent(row["steady_share"]), triple(errors["fct"]),
                percent(errors["fct"]["by_rank"]), percent(errors["jct"])])
    return table(["scenario", "law", "setting", "hops ratio", "steady", "FCT mean / p99 / max",
                  "by rank", "JCT"], lines)


def large_table(results):
    lines = []
    for result in results:
        for name in ("hybrid", "flow"):
            row = result["rows"].get(name)
            if row and "errors" not in row:
                lines.append([
                    result["scenario"], result["law"], name, f"{row['wall_s']:.1f}",
                    f"{row['peak_rss_bytes'] / 1e9:.2f}", f"{row['packet_hops'] / 1e6:,.0f}",
                    percent(row["steady_share"]), f"{row['jct_s']:.4f}",
                    f"{row['flows_completed']:,}"])
    return table(["scenario", "law", "mode", "wall s", "peak GB", "M hops", "steady", "JCT s",
                  "flows"], lines)


def phases_table(results):
    """Where flows spend their time, as a share of all flows' time in the network."""
    lines = []
    for result in results:
        row = result["rows"].get("hybrid")
        if not row or not row["phases"]:
            continue
        total = sum(entry[1] for entry in row["phases"].values()) or 1
        lines.append([result["scenario"], result["law"], "; ".join(
            f"{name} {entry[1] / total:.1%} ({entry[0]:,})"
            for name, entry in row["phases"].items() if entry[1] > 0.002 * total)])
    return table(["scenario", "law", "phases: share of flow time (count)"], lines)


TABLES = {"cost": ("Cost", costs_table), "error": ("Error and floor", errors_table),
          "class": ("By class", classes_table), "settings": ("Settings", settings_table),
          "large": ("Too large for packet mode", large_table), "phases": ("Phases", phases_table)}


def markdown(results):
    versions = sorted({row["version"] for result in results for row in result["rows"].values()})
    parts = ["Versions: " + ", ".join(versions)]
    parts += [f"### {title}\n\n{make(results)}" for title, make in TABLES.values()]
    return "\n\n".join(parts) + "\n"


def publish(results):
    """Renews the tables of the documentation, between `<!-- table hybrid-NAME -->` and
    `<!-- end -->`."""
    for name in ("fidelity.md",):
        page = cases.PROJECT / "docs" / name
        text = re.sub(
            r"(<!-- table hybrid-(\w+) -->\n).*?(<!-- end -->)",
            lambda match: match[1] + TABLES[match[2]][1](results) + "\n" + match[3],
            page.read_text(encoding="utf-8"), flags=re.DOTALL)
        page.write_text(text, encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0
"""bench/fabric clos: one job on a Clos under three ways to build it, on one and four planes, with and without a slow cable."""
import csv
import hashlib
import json
import math
import pathlib
import statistics
import subprocess

SCENARIO = "examples/moe-clos-64gpu.toml"
LEAVES = SPINES = HOSTS = 8
GBPS = 400  # of a host, by one port or by four
FABRICS = {
    "hashed paths, go-back-N, DCQCN": [],
    "adaptive, selective repeat, DCQCN": ["network.load_balance=adaptive", "network.nic.transport=selective-repeat"],
    "Ultra Ethernet: entropy values, trimming, NSCC": [
        "network.load_balance=entropy", "network.entropy_recycle=true", "network.nic.transport=selective-repeat",
        "network.pfc=false", "network.trim.threshold=100KB", "network.trim.reference_rate=100Gbps", "congestion.law=nscc"],
}
# Of the 95% interval of a mean of so many runs (Student); of a number that is not here the next smaller one's.
QUANTILES = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262, 12: 2.201, 16: 2.131,
             20: 2.093}


def topology(planes, slow):
    """A topology.txt of HPCC ns-3; `slow`: one cable between a leaf and a spine has a quarter of its rate."""
    hosts, leaf, spine = LEAVES * HOSTS, LEAVES * HOSTS, LEAVES * HOSTS + planes * LEAVES
    switches = planes * (LEAVES + SPINES)
    rate = GBPS // planes
    links = [(host, leaf + plane * LEAVES + host // HOSTS, rate) for host in range(hosts) for plane in range(planes)]
    links += [(leaf + plane * LEAVES + i, spine + plane * SPINES + j, rate // 4 if slow and plane == i == j == 0 else rate)
              for plane in range(planes) for i in range(LEAVES) for j in range(SPINES)]
    lines = [f"{hosts + switches} {switches} {len(links)}", " ".join(str(leaf + i) for i in range(switches))]
    return "\n".join(lines + [f"{a} {b} {gbps}Gbps 1000ns 0" for a, b, gbps in links]) + "\n"


def names(planes):
    """Of switches, by node."""
    leaf = LEAVES * HOSTS
    spine = leaf + planes * LEAVES
    of_plane = (lambda plane: f" of plane {plane}") if planes > 1 else (lambda _: "")
    return {**{leaf + n: f"leaf {n % LEAVES}{of_plane(n // LEAVES)}" for n in range(planes * LEAVES)},
            **{spine + n: f"spine {n % SPINES}{of_plane(n // SPINES)}" for n in range(planes * SPINES)}}


def one_run(program, case, seed, folder):
    """What a run says, and its busiest and longest queue between switches."""
    fabric, planes, slow, placement = case
    file = folder / f"clos-{planes}-{'slow' if slow else 'whole'}.txt"
    file.write_text(topology(planes, slow), encoding="utf-8")
    settings = ["topology={type='file', path='" + str(file.resolve()) + "'}", f"seed={seed}", f"perturbation={seed}",
                f"workload.placement={placement}", *FABRICS[fabric]]
    words = [program, "run", SCENARIO, "--quiet", "--threads", "1", "--out", folder / "out"]
    for setting in settings:
        words += ["--set", setting]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{case}: {done.stderr.strip()[:500]}")
    summary = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))
    with open(folder / "out" / "ports.csv", encoding="utf-8") as rows:
        switch = names(planes)
        ports = [row for row in csv.DictReader(rows) if int(row["node"]) in switch and int(row["peer"]) in switch]
    title = {row["port"]: f"{switch[int(row['node'])]} to {switch[int(row['peer'])]}" for row in ports}
    busiest = max(ports, key=lambda row: float(row["utilization"]))
    longest = max(ports, key=lambda row: int(row["max_queue_bytes"]))
    return {"ms": summary["jct_s"] * 1e3, "again": summary["retransmitted_bytes"], "trimmed": summary.get("trimmed", 0),
            "drops": summary["drops"], "busiest": title[busiest["port"]], "used": float(busiest["utilization"]),
            "mean_used": statistics.mean(float(row["utilization"]) for row in ports),
            "longest": title[longest["port"]], "queue": int(longest["max_queue_bytes"])}


def most_frequent(words):
    """The one that most runs name, and how many; of equal ones the first."""
    best = max(dict.fromkeys(words), key=words.count)
    return best, words.count(best)


def row(case, runs):
    fabric, planes, slow, placement = case
    times = [run["ms"] for run in runs]
    quantile = QUANTILES[max(count for count in QUANTILES if count <= len(times))] if len(times) > 1 else math.inf
    half = quantile * statistics.stdev(times) / math.sqrt(len(times)) if len(times) > 1 else math.inf
    busiest, count = most_frequent([run["busiest"] for run in runs])
    used = statistics.mean(run["used"] for run in runs)
    cells = [fabric, placement, planes, "one at a quarter" if slow else "whole", f"{statistics.mean(times):.2f} ± {half:.2f}",
             f"{used:.2f}, mean {statistics.mean(run['mean_used'] for run in runs):.2f}", f"{busiest} ({count} of {len(runs)})",
             f"{max(run['queue'] for run in runs) / 1e3:.0f} KB"]
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def clos(options):
    """Prints the table. Each run is a line of runs.jsonl in --out, and is not repeated by the same program on the same files."""
    folder = pathlib.Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "runs.jsonl"
    sources = [pathlib.Path(options.program), pathlib.Path(SCENARIO), pathlib.Path(__file__)]
    stamp = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    known = {}
    for text in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []:
        line = json.loads(text)
        if line["stamp"] == stamp:
            known[(*line["case"], line["seed"])] = line["run"]
    print("| fabric | ranks | planes | cables | iteration, ms | busiest cable, in use | which | longest queue |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for placement in options.placements:
        for planes in (1, 4):
            for slow in (False, True):
                for fabric in FABRICS:
                    case = (fabric, planes, slow, placement)
                    runs = []
                    for seed in range(1, options.seeds + 1):
                        key = (*case, seed)
                        if key not in known:
                            known[key] = one_run(options.program, case, seed, folder)
                            with open(kept, "a", encoding="utf-8") as sink:
                                sink.write(json.dumps({"stamp": stamp, "case": case, "seed": seed, "run": known[key]}) + "\n")
                        runs.append(known[key])
                    print(row(case, runs), flush=True)
    return 0

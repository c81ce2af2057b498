#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes random multi-switch experiments of the HPCC ns-3's form, to be answered by it.

    make_cases.py OUT [--seed N] [--count N] [--laws hpcc,dctcp,timely,dcqcn]

Each becomes OUT/NAME/{topology,flow,trace}.txt with OUT/NAME/LAW/config.txt. After ns-3 has run in
each LAW folder and left its fct.txt there, fidelity.py OUT sets sluice against it. The cases are
drawn: rings of switches, leaf-spines, fat-trees, hosts with cables to two switches, parallel cables,
cables of different rates and lengths, small buffers, several traffic classes, incasts, permutations,
all-to-alls, flows of the published size distributions, coalesced ACKs, and, where asked for, a link
that fails. Same seed, same files.
"""

import argparse
import pathlib
import random

RATES = (25, 50, 100, 200, 400)  # Gb/s that ns-3's INT header can tell

# What run.py of the original derives for each law at a NIC of `g` Gb/s.
LAWS = {
    "hpcc": {"CC_MODE": 3, "FAST_REACT": 1, "MI_THRESH": 5, "INT_MULTI": "{intm}",
             "RATE_AI": "{ai:g}Mb/s", "RATE_HAI": "{ai:g}Mb/s", "ACK_HIGH_PRIO": 0},
    "dctcp": {"CC_MODE": 8, "EWMA_GAIN": 0.0625, "FAST_REACT": 0, "MI_THRESH": 0,
              "DCTCP_RATE_AI": "{dctcp:g}Mb/s", "RATE_AI": "10Mb/s", "RATE_HAI": "10Mb/s",
              "ACK_HIGH_PRIO": 0},
    "timely": {"CC_MODE": 7, "FAST_REACT": 0, "MI_THRESH": 0, "RATE_AI": "{tai:g}Mb/s",
               "RATE_HAI": "{thai:g}Mb/s", "ACK_HIGH_PRIO": 1, "HAS_WIN": 0, "VAR_WIN": 0},
    "dcqcn": {"CC_MODE": 1, "FAST_REACT": 0, "MI_THRESH": 0, "RATE_AI": "{dai:g}Mb/s",
              "RATE_HAI": "{dhai:g}Mb/s", "ACK_HIGH_PRIO": 1, "HAS_WIN": 0, "VAR_WIN": 0},
}
COMMON = {
    "ENABLE_QCN": 1, "USE_DYNAMIC_PFC_THRESHOLD": 1, "PACKET_PAYLOAD_SIZE": 1000,
    "TOPOLOGY_FILE": "../topology.txt", "FLOW_FILE": "../flow.txt", "TRACE_FILE": "../trace.txt",
    "TRACE_OUTPUT_FILE": "mix.tr", "FCT_OUTPUT_FILE": "fct.txt", "PFC_OUTPUT_FILE": "pfc.txt",
    "SIMULATOR_STOP_TIME": 4.0, "ALPHA_RESUME_INTERVAL": 1, "RATE_DECREASE_INTERVAL": 4,
    "CLAMP_TARGET_RATE": 0, "RP_TIMER": 300, "EWMA_GAIN": 0.00390625, "FAST_RECOVERY_TIMES": 1,
    "MIN_RATE": "1000Mb/s", "DCTCP_RATE_AI": "1000Mb/s", "ERROR_RATE_PER_LINK": 0,
    "L2_CHUNK_SIZE": 4000, "L2_ACK_INTERVAL": 1, "L2_BACK_TO_ZERO": 0, "HAS_WIN": 1,
    "GLOBAL_T": 1, "VAR_WIN": 1, "U_TARGET": 0.95, "INT_MULTI": 1, "MULTI_RATE": 0,
    "SAMPLE_FEEDBACK": 0, "PINT_LOG_BASE": 1.01, "PINT_PROB": 1.0, "RATE_BOUND": 1,
    "LINK_DOWN": "0 0 0", "ENABLE_TRACE": 0, "BUFFER_SIZE": 32, "QLEN_MON_FILE": "qlen.txt",
    "QLEN_MON_START": 9000000000, "QLEN_MON_END": 9000000100,
}


class Topology:
    """Hosts first, then switches; cables as (a, b, Gb/s, delay in ns)."""

    def __init__(self, hosts):
        self.hosts, self.switches, self.cables = hosts, 0, []

    def switch(self):
        self.switches += 1
        return self.hosts + self.switches - 1

    def join(self, a, b, rate, delay):
        self.cables.append((a, b, rate, delay))

    def text(self):
        nodes = self.hosts + self.switches
        ids = " ".join(str(n) for n in range(self.hosts, nodes))
        cables = [f"{a} {b} {rate}Gbps {delay / 1e6:g}ms 0" for a, b, rate, delay in self.cables]
        return f"{nodes} {self.switches} {len(self.cables)}\n{ids}\n" + "\n".join(cables) + "\n"


def leaf_spine(dice, rate, delay):
    leaves, spines, each = dice.randint(2, 5), dice.randint(1, 4), dice.randint(2, 6)
    topology = Topology(leaves * each)
    up = [topology.switch() for _ in range(leaves + spines)]
    uplink = rate if dice.random() < 0.6 else dice.choice([r for r in RATES if r >= rate])
    cables = 2 if dice.random() < 0.2 else 1
    for host in range(topology.hosts):
        topology.join(host, up[host // each], rate, delay())
        if dice.random() < 0.1:
            topology.join(host, up[(host // each + 1) % leaves], rate, delay())
    for leaf in range(leaves):
        for spine in range(spines):
            for _ in range(cables):
                topology.join(up[leaf], up[leaves + spine], uplink, delay())
    return topology


def ring(dice, rate, delay):
    count = dice.choice([4, 6, 8, 12])
    each = dice.randint(1, 2)
    topology = Topology(count * each)
    switches = [topology.switch() for _ in range(count)]
    for host in range(topology.hosts):
        topology.join(host, switches[host // each], rate, delay())
    for i in range(count):
        topology.join(switches[i], switches[(i + 1) % count], rate, delay())
    return topology


def fat_tree(dice, rate, delay):
    k = 4
    half = k // 2
    topology = Topology(k * half * half)
    edge = [topology.switch() for _ in range(k * half)]
    aggregation = [topology.switch() for _ in range(k * half)]
    core = [topology.switch() for _ in range(half * half)]
    for host in range(topology.hosts):
        topology.join(host, edge[host // half], rate, delay())
    for pod in range(k):
        for i in range(half):
            for j in range(half):
                topology.join(edge[pod * half + i], aggregation[pod * half + j], rate, delay())
                topology.join(aggregation[pod * half + i], core[i * half + j], rate, delay())
    return topology


def mesh(dice, rate, delay):
    """Switches joined at random, a spanning tree and some more cables."""
    count = dice.randint(4, 8)
    topology = Topology(count * 2)
    switches = [topology.switch() for _ in range(count)]
    for host in range(topology.hosts):
        topology.join(host, switches[host // 2], rate, delay())
    for i in range(1, count):
        topology.join(switches[i], switches[dice.randrange(i)], rate, delay())
    for _ in range(count):
        a, b = dice.sample(range(count), 2)
        topology.join(switches[a], switches[b], rate, delay())
    return topology


def flows_of(dice, hosts, rate, budget):
    """(source, destination, class, bytes, start in s), by start."""
    kind = dice.choice(["random", "random", "incast", "permutation", "all-to-all", "together"])
    per_us = rate * 125  # bytes
    flows, spent = [], 0

    def add(src, dst, size, at_us):
        nonlocal spent
        if src != dst and spent < budget:
            flows.append((src, dst, size, at_us))
            spent += size

    span = budget / per_us / dice.choice([2, 4, 8])
    size = lambda: int(10 ** dice.uniform(2, 6.3))
    everyone = list(range(hosts))
    if kind == "incast":
        for sink in dice.sample(everyone, min(2, hosts)):
            for src in dice.sample(everyone, max(2, hosts * 3 // 4)):
                add(src, sink, budget // hosts, dice.choice([0, dice.uniform(0, 1)]))
    elif kind == "permutation":
        order = everyone[:]
        dice.shuffle(order)
        for src, dst in zip(everyone, order):
            add(src, dst, budget // hosts, dice.choice([0.0, dice.uniform(0, 5)]))
    elif kind == "all-to-all":
        each = max(1000, budget // (hosts * hosts))
        for src in everyone:
            for dst in everyone:
                add(src, dst, each, 0.0)
    elif kind == "together":
        for _ in range(hosts * 3):
            add(dice.choice(everyone), dice.choice(everyone), size(), 5.0 * dice.randrange(4))
    while spent < budget and len(flows) < 400:
        add(dice.choice(everyone), dice.choice(everyone), size(), dice.uniform(0, span))
    flows.sort(key=lambda flow: flow[3])
    return flows, kind


def write_config(folder, law, rate, changes):
    scale = rate / 100
    ecn = (300, 300, 1.0) if law == "dctcp" else (400, 1600, 0.2)
    values = {"intm": max(1, rate // 25), "ai": 50 * scale, "dctcp": 615 * scale,
              "tai": 100 * scale, "thai": 500 * scale, "dai": 20 * scale, "dhai": 200 * scale}
    keys = dict(COMMON)
    for key, value in LAWS[law].items():
        keys[key] = value.format(**values) if isinstance(value, str) else value
    keys.update(changes)
    if "LINK_DOWN" in keys:
        # LINK_DOWN is read before it counts; a map key must come last for ns-3's reader
        keys["LINK_DOWN"] = keys.pop("LINK_DOWN")
    for name, part in zip(("KMIN_MAP", "KMAX_MAP"), ecn[:2]):
        keys[name] = f"{len(RATES)} " + " ".join(
            f"{r}000000000 {int(part * r / 100)}" for r in RATES)
    keys["PMAX_MAP"] = f"{len(RATES)} " + " ".join(f"{r}000000000 {ecn[2]}" for r in RATES)
    folder.mkdir(exist_ok=True)
    (folder / "config.txt").write_text(
        "\n".join(f"{key} {value}" for key, value in keys.items()) + "\n")


def write_case(folder, dice, laws, link_down):
    rate = dice.choice([25, 100, 100, 100, 200, 400])
    alike = dice.random() < 0.6
    length = dice.choice([500, 1000, 1000, 1000, 2000])
    delay = (lambda: length) if alike else (lambda: dice.choice([300, 500, 1000, 1500, 2000]))
    shape = dice.choice([leaf_spine, leaf_spine, ring, fat_tree, mesh])
    topology = shape(dice, rate, delay)
    flows, kind = flows_of(dice, topology.hosts, rate, dice.choice([4, 8, 16]) * 10 ** 6)
    classes = [3] if dice.random() < 0.7 else [1, 2, 3, 5]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "topology.txt").write_text(topology.text())
    (folder / "trace.txt").write_text("0\n\n")
    lines = [f"{src} {dst} {dice.choice(classes)} 100 {size} {2 + at / 1e6:.9f}"
             for src, dst, size, at in flows]
    (folder / "flow.txt").write_text(f"{len(lines)}\n" + "\n".join(lines) + "\n")

    changes = {}
    if dice.random() < 0.3:
        changes["BUFFER_SIZE"] = dice.choice([1, 2, 4])
    if dice.random() < 0.2:
        changes["L2_ACK_INTERVAL"] = dice.choice([2000, 4000, 16000])
    if dice.random() < 0.2:
        changes["GLOBAL_T"] = 0
    if dice.random() < 0.15:
        changes["PACKET_PAYLOAD_SIZE"] = dice.choice([512, 1460, 4000])
    variants = {"hpcc": {}, "dctcp": {}, "timely": {}, "dcqcn": {}}
    if dice.random() < 0.25:
        variants["hpcc"]["MULTI_RATE"] = 1
    if dice.random() < 0.2:
        variants["hpcc"]["SAMPLE_FEEDBACK"] = 1
    if dice.random() < 0.2:
        variants["hpcc"]["FAST_REACT"] = 0
    if dice.random() < 0.3:
        variants["timely"].update({"HAS_WIN": 1, "VAR_WIN": 1})
    if dice.random() < 0.2:
        variants["dctcp"].update({"HAS_WIN": 0, "VAR_WIN": 0})
    if link_down:
        a, b, _, _ = dice.choice([c for c in topology.cables if c[0] >= topology.hosts])
        changes["LINK_DOWN"] = f"{dice.randint(20, 200)} {a} {b}"
    for law in laws:
        write_config(folder / law, law, rate, {**changes, **variants[law]})
    return f"{shape.__name__} {topology.hosts} hosts, {len(flows)} flows {kind}, {rate}G, {changes}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--laws", default="hpcc,dctcp,timely")
    parser.add_argument("--link-down", action="store_true", help="a cable between switches fails")
    options = parser.parse_args()
    laws = options.laws.split(",")
    unknown = [law for law in laws if law not in LAWS]
    if unknown:
        parser.error(f"unknown laws {unknown}; allowed: {', '.join(LAWS)}")
    for number in range(options.seed, options.seed + options.count):
        name = f"r{number:04d}" + ("_down" if options.link_down else "")
        text = write_case(options.out / name, random.Random(number), laws, options.link_down)
        print(f"{name}: {text}")


if __name__ == "__main__":
    main()

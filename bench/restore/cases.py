# SPDX-License-Identifier: Apache-2.0
"""The scenarios that the shipped model learns from, and those that it is judged on.

A scenario is a kind of traffic x law x link rate x link delay, its starts and sizes drawn by its name.
Kinds, rates and delays decide the half by a pattern over all three, so that each half has every kind, law,
rate and delay, and no combination is in both.
"""

import random

LAWS = ["hpcc", "dcqcn", "timely", "dctcp"]
RATES = [100, 200, 400]  # Gb/s
DELAYS = [1, 4, 10]  # us
MB = 1_000_000


def star(hosts):
    return hosts, f'type = "star"\nhosts = {hosts}\n'


def leaf_spine(leaves, spines, hosts):
    return leaves * hosts, (f'type = "leaf-spine"\nleaves = {leaves}\nspines = {spines}\n'
                            f"hosts_per_leaf = {hosts}\n")


def flows(rows):
    text = ", ".join(f'[{s}, {d}, "{int(size)}B", "{int(start)}ps"]' for s, d, size, start in rows)
    return f'[[workload]]\ntype = "flows"\nlist = [{text}]\n'


class Draw:
    """Sizes and times of a scenario: a base round trip is its clock, what a line carries in it its measure."""

    def __init__(self, name, rate, delay):
        self.rng = random.Random(name)
        self.rtt = 4.2e6 * delay  # ps, of two links
        self.bdp = rate / 8e3 * self.rtt  # bytes

    def size(self, low, high):
        """Of a flow that would take so many round trips alone."""
        return self.bdp * self.rng.uniform(low, high)

    def start(self, high):
        return self.rtt * self.rng.uniform(0, high)


def incast(draw, senders, trips, gap):
    """Flows to one host, each drawn up to `gap` round trips after the one before."""
    rows, start = [], 0
    for i in range(senders):
        rows.append((i + 1, 0, draw.size(0.7 * trips, 1.3 * trips), start))
        start += draw.start(gap)
    return star(senders + 1)[1], flows(rows)


def experts(draw):
    hosts, topology = star(8)
    return topology, flows([(i, j, draw.size(40, 60), draw.start(1))
                            for i in range(hosts) for j in range(hosts) if i != j])


def pipeline(draw):
    """A ring of long flows, and point-to-point flows in sequence that share ports with it."""
    hosts, topology = star(8)
    rows = [(i, (i + 1) % hosts, draw.size(500, 700), draw.start(1)) for i in range(hosts)]
    start = 0
    for i in range(6):
        start += draw.rtt * draw.rng.uniform(60, 120)
        rows.append((i, (i + 3) % hosts, draw.size(60, 120), start))
    return topology, flows(rows)


def permutation(draw):
    """Flows that ECMP may put on one cable."""
    hosts, topology = leaf_spine(4, 4, 4)
    order = list(range(hosts))
    draw.rng.shuffle(order)
    rows = [(order[i], order[(i + 1) % hosts], draw.size(200, 400), draw.start(20))
            for i in range(hosts)]
    return topology, flows(rows)


def oversubscribed(draw):
    """Half as many cables up as down: leaves are where flows meet."""
    hosts, topology = leaf_spine(2, 2, 4)
    rows = [(i, (i + hosts // 2) % hosts, draw.size(250, 400), draw.start(30)) for i in range(hosts)]
    return topology, flows(rows)


def arrivals(draw):
    """Flows of very different sizes that come and go, between any two hosts."""
    hosts, topology = leaf_spine(4, 2, 4)
    rows, start = [], 0
    for _ in range(120):
        start += draw.start(12)
        src, dst = draw.rng.sample(range(hosts), 2)
        rows.append((src, dst, draw.bdp * min(draw.rng.lognormvariate(2.5, 1.5), 1000) + 1, start))
    return topology, flows(rows)


def job(_draw):
    """Three layers of a mixture of experts: all-to-alls and gradients between 4 servers."""
    topology = ('type = "rail-optimized"\ngpus = 16\ngpus_per_server = 4\n'
                "servers_per_segment = 4\n")
    return topology, ('[[workload]]\ntype = "training"\n'
                      'model = { base = "moe-8x13b", layers = 3 }\ntp = 4\nep = 4\ndp = 4\n'
                      "sequence = 1024\nmicro_batches = 1\nall_to_all_window = 0\n")


KINDS = {
    "lone": lambda draw: incast(draw, 1, 600, 0),
    "pair": lambda draw: incast(draw, 2, 300, 1),
    "stagger3": lambda draw: incast(draw, 3, 300, 80),
    "stagger6": lambda draw: incast(draw, 6, 150, 60),
    "incast4": lambda draw: incast(draw, 4, 200, 1),
    "incast8": lambda draw: incast(draw, 8, 100, 1),
    "incast16": lambda draw: incast(draw, 16, 60, 1),
    "experts": experts,
    "pipeline": pipeline,
    "permutation": permutation,
    "oversubscribed": oversubscribed,
    "arrivals": arrivals,
    "job": job,
}
# What does not get new with the rate and the delay, and costs more than all others together.
FEW = {"job": [(100, 1), (400, 4), (200, 1), (100, 10)]}


def cases(small):
    """(name, half, text) of every scenario; `small`: one rate and two delays of each kind."""
    for k, (kind, make) in enumerate(KINDS.items()):
        for r, rate in enumerate(RATES):
            for d, delay in enumerate(DELAYS):
                few = FEW.get(kind)
                if (few and (rate, delay) not in few) or (small and (k + r) % 3 != 0):
                    continue
                held_out = (k + r + 2 * d) % 3 == 0 if not few else few.index((rate, delay)) == 1
                for law in LAWS:
                    name = f"{kind}-{rate}g-{delay}us"
                    topology, workload = make(Draw(name, rate, delay))
                    yield f"{name}-{law}", "judge" if held_out else "train", (
                        f'name = "{name}-{law}"\n\n[topology]\n{topology}'
                        f'rate = "{rate}Gbps"\ndelay = "{delay}us"\n\n[congestion]\nlaw = "{law}"\n'
                        f"\n[output]\ntrace = false\nrecord_queues = true\n\n{workload}")

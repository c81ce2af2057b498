# SPDX-License-Identifier: Apache-2.0
"""Cases of bench/uet/run: networks, flows and what both simulators are told of them."""
import dataclasses
import random

PAYLOAD = 4096
HEADER = 64  # of a data packet, an ACK, a NACK and a trimmed packet, in uet-htsim
FRAME = PAYLOAD + HEADER
LATENCY_NS = 1000
VALUES = 64  # entropy values
HUGE = 20_000  # packets: a queue that never fills
SMALL, MEDIUM, BIG = (packets * PAYLOAD for packets in (48, 244, 488))

# How uet-htsim chooses paths, and what stands for it here.
PATHS = {
    "one": (["-load_balancing_algo", "oblivious", "-paths", "1"], {"load_balance": "ecmp"}),
    "oblivious": (["-load_balancing_algo", "oblivious", "-paths", str(VALUES)],
                  {"load_balance": "entropy", "entropy_order": "permuted"}),
    "reps": (["-load_balancing_algo", "reps", "-paths", str(VALUES)], {"load_balance": "entropy", "entropy_recycle": True}),
    "bitmap": (["-load_balancing_algo", "bitmap", "-paths", str(VALUES)],
               {"load_balance": "entropy", "entropy_order": "permuted", "entropy_avoid": True}),
    "mixed": (["-load_balancing_algo", "mixed", "-paths", str(VALUES)],
              {"load_balance": "entropy", "entropy_order": "permuted", "entropy_avoid": True, "entropy_recycle": True}),
    "adaptive": (["-strat", "ecmp_ar", "-load_balancing_algo", "oblivious"], {"load_balance": "adaptive"}),
    "in turn": (["-strat", "ecmp_rr", "-load_balancing_algo", "oblivious"], {"load_balance": "round-robin"}),
}


@dataclasses.dataclass
class Fabric:
    """Two tiers of `leaves` x `hosts` and `spines`, or with `pods` three: a pod has so many of both, and cores above."""
    leaves: int
    hosts: int
    spines: int
    gbps: int
    pods: int = 0
    slow: int = 0  # spines whose links have a quarter of the rate

    @property
    def count(self):
        return self.leaves * self.hosts * max(self.pods, 1)

    @property
    def links(self):
        """Of the longest path; uet-htsim counts so many between all hosts."""
        return 6 if self.pods else 4

    @property
    def base_rtt_ps(self):
        return 2 * self.links * LATENCY_NS * 1000 + self.links * (FRAME + HEADER) * 8000 // self.gbps

    def topo(self):
        """htsim's .topo."""
        tiers = 3 if self.pods else 2
        pod = self.leaves * self.hosts
        lines = [f"Nodes {self.count}", f"Tiers {tiers}", f"Podsize {pod}"]
        down = [self.hosts, self.leaves, self.pods]
        up = [self.spines, self.spines, 0]
        for tier in range(tiers):
            lines += ["", f"Tier {tier}", f"Downlink_speed_Gbps {self.gbps}", f"Radix_Down {down[tier]}"]
            if tier < tiers - 1:
                lines += [f"Radix_Up {up[tier]}"]
            if tier == 0 and self.hosts > self.spines:
                lines += [f"Oversubscribed {self.hosts // self.spines}"]
            lines += [f"Downlink_Latency_ns {LATENCY_NS}"]
        return "\n".join(lines) + "\n"

    def hpcc(self):
        """The same network, or one with slow spines, as a topology.txt of HPCC ns-3."""
        leaf, spine = self.count, self.count + self.leaves
        switches = self.leaves + self.spines
        links = [(host, leaf + host // self.hosts, 1) for host in range(self.count)]
        links += [(leaf + i, spine + j, 4 if j < self.slow else 1) for i in range(self.leaves) for j in range(self.spines)]
        lines = [f"{self.count + switches} {switches} {len(links)}", " ".join(str(leaf + i) for i in range(switches))]
        lines += [f"{a} {b} {self.gbps * 1000 // part}Mbps {LATENCY_NS}ns 0" for a, b, part in links]
        return "\n".join(lines) + "\n"


@dataclasses.dataclass
class Case:
    name: str
    fabric: Fabric
    flows: list  # (source, destination), all from 0 on
    size: int
    paths: str = "one"
    queue: int = HUGE  # packets
    marks: tuple = (HUGE, HUGE)  # packets: none is marked up to the first, all above the second
    trims: bool = True
    exact: bool = False  # no draw decides anything
    law: str = "nscc"
    ack_every: int = 1  # packets; uet-htsim counts bytes
    seeds: int = 0  # at least; more where the 99th percentile of ten says little

    def matrix(self):
        """htsim's .cm."""
        rows = [f"{src}->{dst} id {i} start 0 size {self.size}" for i, (src, dst) in enumerate(self.flows, 1)]
        return "\n".join([f"Nodes {self.fabric.count}", f"Connections {len(rows)}", *rows]) + "\n"

    @property
    def timeout_ps(self):
        """uet-htsim's shortest, of two queues in a row at three hops."""
        return 15_000_000 + self.queue * FRAME * 6 * 8000 // self.fabric.gbps

    @property
    def target_ps(self):
        return self.fabric.base_rtt_ps * 3 // 4 if self.trims else self.fabric.base_rtt_ps


def product(fabric):
    """Packets of a bandwidth-delay product, as uet-htsim rounds it."""
    return -(-fabric.base_rtt_ps * fabric.gbps // (8000 * FRAME))


def permutation(hosts, seed):
    """Nobody sends to itself."""
    draw = random.Random(seed)
    while True:
        targets = list(range(hosts))
        draw.shuffle(targets)
        if all(i != target for i, target in enumerate(targets)):
            return list(enumerate(targets))


def all_to_all(hosts):
    return [(i, (i + step) % hosts) for step in range(1, hosts) for i in range(hosts)]


def all_cases():
    cases = []
    for gbps in (100, 200, 400, 800):
        pair = Fabric(2, 1, 1, gbps)
        cases.append(Case(f"2 hosts, {gbps}G", pair, [(0, 1)], BIG, exact=True))
    for gbps in (100, 400):
        near = Fabric(2, 2, 1, gbps)
        cases.append(Case(f"2 hosts of a leaf, {gbps}G", near, [(0, 1)], BIG, exact=True))
        cases.append(Case(f"2 hosts, RCCC, {gbps}G", Fabric(2, 1, 1, gbps), [(0, 1)], BIG, exact=True, law="rccc"))
    for gbps in (100, 200, 400, 800):
        for senders in (8, 32):
            flows = [(i, 0) for i in range(1, senders + 1)]
            leaf = Fabric(2, senders + 1, 1, gbps)
            cases.append(Case(f"incast {senders}:1, no marks, {gbps}G", leaf, flows, MEDIUM, exact=True))
    for gbps in (100, 400):
        for senders in (8, 32):
            flows = [(senders + i, 0) for i in range(senders)]
            across = Fabric(2, senders, 1, gbps)
            step = product(across) // 2
            cases.append(Case(f"incast {senders}:1 over a spine, marks by a step, {gbps}G", across, flows, MEDIUM,
                              marks=(step, step), exact=True))
    for gbps in (100, 400):
        for senders in (8, 32):
            flows = [(i, 0) for i in range(1, senders + 1)]
            for law in ("nscc", "rccc"):
                name = f"incast {senders}:1, trimmed, {law.upper()}, {gbps}G"
                cases.append(spread(name, Fabric(2, senders + 1, 1, gbps), flows, MEDIUM, "one", law=law))
    for gbps in (100, 400, 800):
        for paths in ("oblivious", "reps", "adaptive", "in turn"):
            clos = Fabric(4, 8, 8, gbps)
            cases.append(spread(f"permutation of 32, {paths}, {gbps}G", clos, permutation(32, 1), BIG, paths))
    tree = Fabric(4, 4, 4, 400, pods=8)
    for paths in ("oblivious", "reps"):
        cases.append(spread(f"permutation of 128, {paths}, 400G", tree, permutation(128, 1), MEDIUM, paths))
    cases.append(spread("permutation of 32, oblivious, no trimming, 400G", Fabric(4, 8, 8, 400), permutation(32, 1),
                        BIG, "oblivious", trims=False))
    cases.append(spread("permutation of 32, oblivious, RCCC, 400G", Fabric(4, 8, 8, 400), permutation(32, 1), BIG,
                        "oblivious", law="rccc"))
    for gbps in (100, 400):
        for paths in ("oblivious", "reps", "adaptive"):
            cases.append(spread(f"all-to-all of 16, {paths}, {gbps}G", Fabric(4, 4, 4, gbps), all_to_all(16), SMALL, paths))
    for paths in ("bitmap", "mixed"):
        cases.append(spread(f"permutation of 32, {paths}, 400G", Fabric(4, 8, 8, 400), permutation(32, 1), BIG, paths))
    for paths in ("oblivious", "reps", "bitmap", "mixed", "adaptive"):
        clos = Fabric(4, 8, 8, 400, slow=1)
        cases.append(spread(f"permutation of 32, a spine at a quarter, {paths}, 400G", clos, permutation(32, 1), BIG,
                            paths))
    return cases + cases_of_few_acks()


def cases_of_few_acks():
    """An ACK for 16 KB, uet-htsim's default."""
    cases = []
    for gbps in (100, 400):
        cases.append(Case(f"2 hosts, an ACK in four, {gbps}G", Fabric(2, 1, 1, gbps), [(0, 1)], BIG, exact=True))
    clos = Fabric(4, 8, 8, 400)
    for paths in ("oblivious", "adaptive"):
        cases.append(spread(f"permutation of 32, an ACK in four, {paths}, 400G", clos, permutation(32, 1), BIG, paths))
    small = Fabric(4, 4, 4, 400)
    cases.append(spread("all-to-all of 16, an ACK in four, oblivious, 400G", small, all_to_all(16), SMALL, "oblivious"))
    for gbps in (100, 400):
        flows = [(i, 0) for i in range(1, 9)]
        cases.append(spread(f"incast 8:1, an ACK in four, trimmed, NSCC, {gbps}G", Fabric(2, 9, 1, gbps), flows, MEDIUM, "one"))
    return [dataclasses.replace(case, ack_every=4) for case in cases]


def spread(name, fabric, flows, size, paths, trims=True, law="nscc"):
    """With queues and marks as uet-htsim has them by default. Which values share a path is drawn once a seed, so that of
    oblivious spraying ten seeds have ten tails. In incasts which flows are starved differs from seed to seed."""
    bdp = product(fabric)
    seeds = 100 if paths == "oblivious" else 40 if paths == "one" and law == "nscc" else 0
    return Case(name, fabric, flows, size, paths, queue=bdp if trims else 5 * bdp, marks=(-(-bdp // 5), -(-bdp * 4 // 5)),
                trims=trims, law=law, seeds=seeds)

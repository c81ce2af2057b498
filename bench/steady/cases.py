#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of the steadiness study: writes one scenario file each.

A case is a traffic kind x law x link rate x link delay x seed. Kinds, rates and delays decide the
half: a checkerboard, so that each half has every kind, law, rate and delay, and the seeds of one
configuration never straddle the halves. Detectors are tuned on "tune" and judged on "judge".

usage: cases.py OUT_DIR
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import case_folder  # noqa: E402

LAWS = ["hpcc", "dcqcn", "timely", "dctcp"]
RATES = [100, 200]  # Gb/s
DELAYS = [1, 10]  # us
SEEDS = [1, 2, 3]
MB = 1_000_000


def flows_table(flows):
    rows = ", ".join(f'[{s}, {d}, "{size}B", "{start}ps"]' for s, d, size, start in flows)
    return f'[[workload]]\ntype = "flows"\nlist = [{rows}]\n'


def staggered(count, size, rng, gap_us=100):
    """Flows to one receiver, each about gap_us after the one before."""
    flows, start = [], 0
    for i in range(count):
        flows.append((i + 1, 0, size, start))
        start += int(gap_us * 1_000_000 * rng.uniform(0.8, 1.2))
    return count + 1, flows_table(flows)


def equal_starts(count, size, rng):
    """Flows to one receiver that start within a microsecond."""
    flows = [(i + 1, 0, size, rng.randrange(1_000_000)) for i in range(count)]
    return count + 1, flows_table(flows)


def lone(rng):
    return 2, flows_table([(1, 0, 40 * MB, rng.randrange(1_000_000))])


def uneven(rng):
    """Four staggered flows of different sizes: epochs with 4, 3, 2 and 1 flows."""
    sizes = [80, 40, 60, 20]
    flows = [(i + 1, 0, size * MB, int(i * 100_000_000 * rng.uniform(0.8, 1.2)))
             for i, size in enumerate(sizes)]
    return 5, flows_table(flows)


def expert_all_to_all(rng):
    """Eight hosts, each sends 4 MB to every other, all within 2 us."""
    flows = [(i, j, 4 * MB, rng.randrange(2_000_000)) for i in range(8) for j in range(8) if i != j]
    return 8, flows_table(flows)


def pipeline_beside_ring(rng):
    """A ring of long flows 0-1-..-7-0 and point-to-point flows of a pipeline in sequence, two of
    which share a host's port with the ring at any time."""
    flows = [(i, (i + 1) % 8, 40 * MB, rng.randrange(2_000_000)) for i in range(8)]
    start = 0
    for i in range(6):
        start += int(400_000_000 * rng.uniform(0.8, 1.2))
        flows.append((i, (i + 3) % 8, 8 * MB, start))
    return 8, flows_table(flows)


KINDS = {
    "lone": lone,
    "pair": lambda rng: equal_starts(2, 40 * MB, rng),
    "stagger2": lambda rng: staggered(2, 80 * MB, rng),
    "stagger3": lambda rng: staggered(3, 80 * MB, rng),
    "stagger4": lambda rng: staggered(4, 60 * MB, rng),
    "stagger16": lambda rng: staggered(16, 40 * MB, rng),
    "uneven4": uneven,
    "incast8": lambda rng: equal_starts(8, 20 * MB, rng),
    "incast16": lambda rng: equal_starts(16, 20 * MB, rng),
    "experts": expert_all_to_all,
    "pipeline": pipeline_beside_ring,
    # The reference measurement of four 400 MB flows, once per law and network.
    "elephants4": lambda rng: staggered(4, 400 * MB, rng),
}
ONE_SEED = {"elephants4"}


def cases():
    """(name, half, kind, law, text) of every case."""
    for k, (kind, make) in enumerate(KINDS.items()):
        for r, rate in enumerate(RATES):
            for d, delay in enumerate(DELAYS):
                half = "tune" if (k + r + d) % 2 == 0 else "judge"
                for seed in SEEDS[:1] if kind in ONE_SEED else SEEDS:
                    # The same starts for every law.
                    rng = random.Random(f"{kind}/{rate}/{delay}/{seed}")
                    hosts, workload = make(rng)
                    for law in LAWS:
                        name = f"{kind}-{law}-{rate}g-{delay}us-{seed}"
                        text = (
                            f'name = "{name}"\nseed = {seed}\n\n[topology]\ntype = "star"\n'
                            f'hosts = {hosts}\nrate = "{rate}Gbps"\ndelay = "{delay}us"\n\n'
                            f'[congestion]\nlaw = "{law}"\n\n{workload}'
                        )
                        yield name, half, kind, law, text


if __name__ == "__main__":
    case_folder.main(__doc__, cases())

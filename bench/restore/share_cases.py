#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scenarios that the process of shares is learned from: crowds of flows to one host under HPCC, long
against their round trips, of unequal sizes, so that crowds of every smaller number follow. Sizes and starts
are drawn by the scenario's name. Rate, delay and number decide the half by a pattern, so that each half has
every one of them and no combination is in both.

usage: share_cases.py OUT_DIR
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import case_folder  # noqa: E402

RATES = [100, 200, 400]  # Gb/s
DELAYS = [1, 2, 5, 10]  # us
FLOWS = [2, 3, 4, 6, 8, 12, 16, 24, 32]


def scenario(name, flows, rate, delay):
    rng = random.Random(name)
    rtt = 4.2e6 * delay  # ps, of two links
    in_trip = rate / 8e3 * rtt  # bytes that a line carries in it
    trips = 3000 if delay < 5 else 1500
    rows = ", ".join(f'[{i + 1}, 0, "{int(in_trip * trips / flows * rng.uniform(0.8, 1.6))}B", '
                     f'"{int(rtt * rng.uniform(0, 30))}ps"]' for i in range(flows))
    return (f'name = "{name}"\n\n[topology]\ntype = "star"\nhosts = {flows + 1}\n'
            f'rate = "{rate}Gbps"\ndelay = "{delay}us"\n\n[congestion]\nlaw = "hpcc"\n\n'
            f'[[workload]]\ntype = "flows"\nlist = [{rows}]\n')


def cases():
    """(name, half, kind, law, text) of every case."""
    for r, rate in enumerate(RATES):
        for d, delay in enumerate(DELAYS):
            for n, flows in enumerate(FLOWS):
                name = f"crowd{flows}-hpcc-{rate}g-{delay}us"
                half = "judge" if (r + d + n) % 3 == 0 else "tune"
                yield name, half, "crowd", "hpcc", scenario(name, flows, rate, delay)


if __name__ == "__main__":
    case_folder.main(__doc__, cases())

# SPDX-License-Identifier: Apache-2.0
"""Messages that come to others in local phases, which skip meanwhile."""
import csv
import unittest

from support import CliTest

L, M, S = 37163636, 743272, 9290  # bytes


def scenario(keys, messages):
    """`messages`: sender, receiver, bytes, start in us."""
    listed = ", ".join(f'["host{sender}", "host{receiver}", "{size}B", "{start}us"]'
                       for sender, receiver, size, start in messages)
    return f'''name = "case"
{keys}
[output]
trace = false
[workload]
type = "flows"
list = [{listed}]
'''


# To some hosts: a long message, one of eight round trips, and short ones as that one ends.
STAR = scenario("""\
[topology]
type = "star"
hosts = 64
rate = "100Gbps"
delay = "2us"
[network.nic]
ack_every = 4
[congestion]
law = "hpcc"
""", (
        (3, 1, S, 1188.7926), (8, 9, L, 0.0381), (10, 9, M, 245.3181), (11, 9, S, 390.7962), (11, 9, S, 371.7275),
        (11, 9, S, 371.5177), (27, 25, S, 870.5112), (26, 25, M, 1042.1398), (27, 25, S, 1179.3515),
        (27, 25, S, 1182.7700), (27, 25, S, 1177.0480), (32, 33, L, 3.3096), (34, 33, M, 248.5896),
        (35, 33, S, 381.7401), (35, 33, S, 374.0616), (35, 33, S, 381.7853), (34, 33, M, 563.4496),
        (35, 33, S, 689.4542), (35, 33, S, 696.7050), (35, 33, S, 686.2853), (34, 33, M, 839.0741),
        (35, 33, S, 966.6298), (35, 33, S, 982.6425), (35, 33, S, 973.5467), (34, 33, M, 1165.9719),
        (35, 33, S, 1293.9663), (35, 33, S, 1293.2739), (40, 41, L, 1.6755), (42, 41, M, 246.9555),
        (43, 41, S, 379.0190), (43, 41, S, 392.4820), (42, 41, M, 501.3662),
    ))


# Long messages, most of them both ways: each takes a part of what the other aims at, from the instant on at which it begins.
RAILS = scenario("""\
[topology]
type = "rail-optimized"
gpus = 32
gpus_per_server = 8
servers_per_segment = 2
rate = "400Gbps"
delay = "300ns"
[network]
payload = 2048
[congestion]
law = "hpcc"
hpcc.target_utilization = 0.8
hpcc.additive_rate = "1000Mbps"
""", (
        (20, 5, 151270860, 11.389), (5, 20, 225288608, 382.5284), (22, 16, 140550530, 1.5871),
        (16, 22, 142670291, 704.1442), (12, 30, 194347839, 5.3505), (30, 12, 197542592, 401.7462),
        (1, 7, 233141741, 7.1261), (7, 1, 200689485, 661.3949), (10, 17, 132249111, 4.8788),
        (17, 10, 208382950, 1419.7162), (13, 9, 156238950, 10.3863), (9, 13, 241183054, 7.2656),
    ))


class InterruptionsTest(CliTest):
    def times(self, perturbation, *words):
        self.succeed("run", "case.toml", "--no-memo", "--set", f"perturbation={perturbation}", "--out", "-".join(words[:2]), "--quiet",
                     *words)
        with open(self.folder / "-".join(words[:2]) / "flows.csv", newline="", encoding="utf-8") as file:
            return {row["flow"]: int(row["fct_ps"]) for row in csv.DictReader(file)}

    def test_nobody_starves(self):
        """Where a law was told to wait for more bytes than it sends in two round trips, its flow took seven times as long."""
        self.write("case.toml", STAR)
        packets = self.times(5, "--mode", "packet")
        local = self.times(5, "--mode", "hybrid", "--set", 'phases.wake="data"')
        self.assertLess(max(local[flow] / packets[flow] for flow in packets), 1.4)

    def test_an_aim_that_nobody_has_had_is_recorded(self):
        """Messages went on as at the aim before, though they had thousands of round trips to go, and took up to 6% longer."""
        self.write("case.toml", RAILS)
        packets = self.times(2, "--mode", "packet")
        local = self.times(2, "--mode", "hybrid", "--set", 'phases.wake="data"')
        for flow, time in packets.items():
            self.assertAlmostEqual(local[flow] / time, 1, delta=0.03, msg=flow)


if __name__ == "__main__":
    unittest.main()

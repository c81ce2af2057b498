# SPDX-License-Identifier: Apache-2.0
"""rtt.csv: the round trip of each acknowledged packet."""
import csv
import unittest

from support import CliTest

NETWORK = "[topology]\ntype = \"star\"\nhosts = 4\nrate = \"100Gbps\"\ndelay = \"1us\"\n"
PERMUTATION = NETWORK + "[workload]\ntype = \"permutation\"\nsize = \"%s\"\n"
RTT = ("--set", "output.rtt=true")


class RoundTrips(CliTest):
    def run_it(self, mode, *words, law="dcqcn"):
        self.succeed("run", "s.toml", "--mode", mode, "--out", mode, "--set",
                     f"congestion.law={law}", *words)
        path = self.folder / mode / "rtt.csv"
        if not path.exists():
            return None
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0]), ["flow", "sequence", "rtt_ps"])
        return {(int(row["flow"]), int(row["sequence"])): int(row["rtt_ps"]) for row in rows}

    def results(self, mode):
        return [(self.folder / mode / name).read_bytes() for name in ("flows.csv", "ports.csv")]

    def test_every_packet_once_with_its_round_trip(self):
        self.write("s.toml", PERMUTATION % "2500B")
        trips = self.run_it("packet", *RTT)
        self.assertEqual(set(trips), {(flow, sequence) for flow in range(4)
                                      for sequence in range(3)})
        # 1048 bytes take 83,840 ps on each of two links, the ACK of 60 bytes 4,800 ps, and 4 us of cable.
        self.assertEqual(trips[0, 0], 2 * 83_840 + 2 * 4_800 + 4_000_000)

    def test_off_by_default_and_changes_nothing(self):
        self.write("s.toml", NETWORK + "[workload]\ntype = \"ring-all-reduce\"\nsize = \"4MB\"\n")
        for mode in ("packet", "hybrid", "wormhole"):
            self.assertIsNone(self.run_it(mode, "--no-memo"))
            plain = self.results(mode)
            self.assertTrue(self.run_it(mode, *RTT))
            self.assertEqual(self.results(mode), plain, mode)

    def test_hybrid_has_the_same_packets_where_they_were_simulated(self):
        self.write("s.toml", PERMUTATION % "10MB")
        for law, bar in (("hpcc", 0.005), ("dcqcn", 0), ("timely", 0), ("dctcp", 0)):
            truth = self.run_it("packet", *RTT, law=law)
            self.assertEqual(len(truth), 4 * 10_000)
            found = self.run_it("hybrid", *RTT, law=law)
            self.assertLess(len(found), len(truth) / 4)
            self.assertLessEqual(set(found), set(truth))
            mean = sum(truth[key] for key in found) / len(found)
            squares = sum((truth[key] - rtt) ** 2 for key, rtt in found.items()) / len(found)
            self.assertLessEqual(squares ** 0.5 / mean, bar, law)
            # What is after a skip has the numbers that it has without: the flows' last packets are there.
            self.assertIn((0, 9_999), found)

    def test_acks_of_several_packets_and_losses(self):
        self.write("s.toml", PERMUTATION % "100KB")
        trips = self.run_it("packet", *RTT, "--set", "network.nic.ack_every=4")
        self.assertEqual({sequence for _, sequence in trips}, set(range(3, 100, 4)))
        lossy = self.run_it("packet", *RTT, "--set", "topology.loss=0.01", "--set",
                            "workload.size=1MB")
        self.assertLessEqual({key[1] for key in lossy}, set(range(1000)))
        self.assertGreater(min(lossy.values()), 4_000_000)

    def test_refusals(self):
        self.write("s.toml", PERMUTATION % "10KB")
        self.refuse("run", "s.toml", *RTT, "--mode", "flow", says=["rtt", "packet, hybrid"])
        self.refuse("run", "s.toml", *RTT, "--mode", "packet", "--set",
                    "network.arithmetic=\"ns3\"", says=["rtt", "exact"])
        self.refuse("run", "s.toml", *RTT, "--mode", "hybrid", "--set", "phases.wake=\"data\"",
                    says=["rtt", "partition"])


if __name__ == "__main__":
    unittest.main()

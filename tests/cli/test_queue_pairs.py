# SPDX-License-Identifier: Apache-2.0
"""Messages over all of a host's parallel ports: NVLink, and NICs of two ports."""
import csv
import json
import unittest

from support import CliTest

NVLINK = """\
[topology]
type = "rail-optimized"
gpus = 8
gpus_per_server = 4
nvswitches_per_server = {switches}
nvlink_rate = "{rate}"
rate = "100Gbps"
[congestion]
law = "hpcc"
[workload]
type = "collective"
kind = "send"
group_size = 2
size = "10MB"
intra_node = "network"
"""

TWO_PORTS = """\
[topology]
type = "alibaba-hpn"
gpus = 16
rate = "200Gbps"
psws = 4
[congestion]
law = "dcqcn"
[workload]
type = "collective"
kind = "all-reduce"
groups = "rail"
size = "10MB"
overhead = "0s"
"""


class QueuePairs(CliTest):
    def run_it(self, text, *words):
        """Completion time, and the bytes of every flow."""
        self.write("scenario.toml", text)
        self.succeed("run", "scenario.toml", "--quiet", "--no-memo", "--out", "out", *words)
        summary = json.loads((self.folder / "out/summary.json").read_text())
        with open(self.folder / "out/flows.csv", newline="", encoding="utf-8") as file:
            return summary["jct_s"], [int(row["size_bytes"]) for row in csv.DictReader(file)]

    def pairs(self, count):
        return "--set", f"workload.queue_pairs={count}"

    def test_nvlink_stripes(self):
        """Four NVSwitches at a quarter of one's rate are as quick as it, in every mode."""
        for mode in ("packet", "hybrid", "flow"):
            with self.subTest(mode=mode):
                whole, one = self.run_it(NVLINK.format(switches=1, rate="400Gbps"), "--mode", mode)
                striped, four = self.run_it(NVLINK.format(switches=4, rate="100Gbps"), "--mode", mode)
                self.assertAlmostEqual(striped / whole, 1, delta=0.02)
                self.assertEqual((len(four), sum(four)), (4 * len(one), sum(one)))

    def test_queue_pairs_are_of_the_network(self):
        text = NVLINK.format(switches=4, rate="100Gbps")
        self.assertEqual(self.run_it(text), self.run_it(text, *self.pairs(1)))

    def test_nics_of_two_ports_send_by_both(self):
        for mode in ("packet", "hybrid", "flow"):
            with self.subTest(mode=mode):
                both, parts = self.run_it(TWO_PORTS, "--mode", mode)
                one, whole = self.run_it(TWO_PORTS, "--mode", mode, *self.pairs(1))
                self.assertAlmostEqual(one / both, 2, delta=0.1)
                self.assertEqual((len(parts), sum(parts)), (2 * len(whole), sum(whole)))
                more, parts = self.run_it(TWO_PORTS, "--mode", mode, *self.pairs(4))
                self.assertAlmostEqual(more / both, 1, delta=0.05)
                self.assertEqual(len(parts), 4 * len(whole))

    def test_sprayed_packets(self):
        _, parts = self.run_it(TWO_PORTS, "--set", 'network.load_balance="spray"')
        self.assertEqual(sum(parts), sum(self.run_it(TWO_PORTS, *self.pairs(1))[1]))

    def test_a_port_that_is_lost_is_made_up_for_by_the_other(self):
        event = '[[link_event]]\nat = "20us"\nlink = [0, 18]\nup = false\n'
        whole, parts = self.run_it(TWO_PORTS)
        slower, same = self.run_it(TWO_PORTS + event)
        self.assertEqual(parts, same)
        self.assertGreater(slower, 1.5 * whole)

    def test_refusals(self):
        self.write("scenario.toml", TWO_PORTS)
        for value in ("0", "129", '"two"'):
            self.refuse("run", "scenario.toml", *self.pairs(value), says="must be an integer from 1 to 128")


if __name__ == "__main__":
    unittest.main()

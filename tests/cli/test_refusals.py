# SPDX-License-Identifier: Apache-2.0
"""`describe` refuses what `run` refuses, in the same words, with file and line."""
import unittest

from support import CliTest

FLOW = "[workload]\ntype = \"flows\"\nlist = [[0, 1, \"100KB\"]]\n"
TREE = "[topology]\ntype = \"fat-tree\"\nk = 4\n"
STAR = "[topology]\ntype = \"star\"\nhosts = 4\n"

SCENARIOS = [
    ("a slow fabric", "[topology]\ntype = \"leaf-spine\"\nleaves = 2\nspines = 2\n"
     "hosts_per_leaf = 2\nfabric_rate = \"1Mbps\"\n" + FLOW, ["bad.toml:6:15", "too slow"]),
    ("slow links", STAR + "rate = \"1Mbps\"\n" + FLOW, ["bad.toml:4:8", "too slow"]),
    ("a slow link in a file", "[topology]\ntype = \"file\"\npath = \"t.txt\"\n" + FLOW,
     ["bad.toml:1:1", "too slow"]),
    ("a small buffer of many ports", "[topology]\ntype = \"star\"\nhosts = 400\n" + FLOW +
     "[network.buffer]\nsize = \"2MiB\"\n", ["bad.toml:8:8", "headroom"]),
    ("a chunk over the window", STAR + FLOW +
     "[network.nic]\nback_to_zero = true\nack_chunk = 4000\n", ["bad.toml:9:13", "window"]),
    ("many NVSwitches", "[topology]\ntype = \"rail-optimized\"\ngpus = 8\nnvswitches_per_server = 65535\n" + FLOW,
     ["bad.toml:", "65535 ports"]),
    ("many rates", "[topology]\ntype = \"file\"\npath = \"rates.txt\"\n" + FLOW +
     "[congestion]\nlaw = \"hpcc\"\n", ["bad.toml", "link rates"]),
    ("a long path", "[topology]\ntype = \"file\"\npath = \"line.txt\"\n" + FLOW +
     "[congestion]\nlaw = \"hpcc\"\n", ["bad.toml:8:7", "switches"]),
    ("sprayed beside sprayed", STAR + FLOW +
     "[network]\nload_balance = \"spray\"\nsprayed_priorities = [2]\n", ["bad.toml:9:22", "spray"]),
    ("no priority", STAR + FLOW + "[network]\nsprayed_priorities = [2, 8]\n", ["bad.toml:8:26", "7"]),
    ("hybrid with sprayed packets", "mode = \"hybrid\"\n" + TREE + FLOW +
     "[network]\nload_balance = \"spray\"\n[phases]\nwake = \"data\"\n", ["bad.toml", "spray"]),
]


class Refusals(CliTest):
    def setUp(self):
        super().setUp()
        self.write("t.txt", "3 1 2\n2\n0 2 1Mbps 1us 0\n1 2 1Mbps 1us 0\n")
        self.write("rates.txt", "11 1 10\n10\n" + "".join(
            f"{host} 10 {host + 1}0Gbps 1us 0\n" for host in range(10)))
        self.write("line.txt", "10 8 9\n" + " ".join(map(str, range(2, 10))) +
                   "\n0 2 100Gbps 1us 0\n1 9 100Gbps 1us 0\n" + "".join(
                       f"{node} {node + 1} 100Gbps 1us 0\n" for node in range(2, 9)))

    def test_both_ask_the_same(self):
        for what, text, says in SCENARIOS:
            with self.subTest(what):
                self.write("bad.toml", text)
                described = self.refuse("describe", "bad.toml", says=says)
                ran = self.refuse("run", "bad.toml", says=says)
                self.assertEqual(described.stderr, ran.stderr)
                self.assertFalse((self.folder / "runs").exists())

    def test_flow_mode_has_no_packets_to_refuse(self):
        self.write("slow.toml", STAR + "rate = \"1Mbps\"\n" + FLOW)
        self.succeed("describe", "slow.toml", "--mode", "flow")
        self.succeed("run", "slow.toml", "--mode", "flow")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Nodes by name, wherever a scenario asks for one; `sluice topo` says which ids they are."""
import csv
import json
import unittest

from support import CliTest

# Leaves are nodes 4 and 5, spines 6 and 7; hosts 0 and 1 are at leaf0.
NETWORK = ("[topology]\ntype = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n")
PERMUTATION = "[workload]\ntype = \"permutation\"\nsize = \"10KB\"\n"
RING = "[workload]\ntype = \"ring-all-reduce\"\nsize = \"1MB\"\n"


class NodeNames(CliTest):
    def flows(self, name):
        with open(self.folder / "runs" / name / "flows.csv", newline="") as file:
            return [(row["src"], row["dst"], row["start_ps"], row["finish_ps"])
                    for row in csv.DictReader(file)]

    def test_topo_prints_ids_by_tier(self):
        out = self.succeed("topo", "leaf-spine", "--leaves", "2", "--spines", "2",
                           "--hosts-per-leaf", "2").stdout
        for line in ("  host0 to host3: nodes 0 to 3\n", "  leaf0 to leaf1: nodes 4 to 5\n",
                     "  spine0 to spine1: nodes 6 to 7\n"):
            self.assertIn(line, out)
        out = self.succeed("topo", "fat-tree", "--k", "4").stdout
        for tier in ("host0 to host15", "leaf0 to leaf7", "spine0 to spine7", "core0 to core3"):
            self.assertIn(tier, out)

    def same(self, by_id, by_name):
        self.write("ids.toml", NETWORK + by_id)
        self.write("names.toml", NETWORK + by_name)
        self.succeed("run", "ids.toml")
        self.succeed("run", "names.toml")
        self.assertEqual(self.flows("ids"), self.flows("names"))
        a, b = (json.loads((self.folder / "runs" / name / "summary.json").read_text())["config"]
                for name in ("ids", "names"))
        self.assertEqual({**a, "name": ""}, {**b, "name": ""})

    def test_flows(self):
        flows = "[workload]\ntype = \"flows\"\nlist = [[%s, %s, \"1MB\"]]\n"
        self.same(flows % (3, 0), flows % ('"gpu3"', '"host0"'))

    def test_link_events(self):
        event = PERMUTATION + "[[link_event]]\nat = \"1us\"\nlink = [%s, %s]\n"
        self.same(event % (4, 6), event % ('"leaf0"', '"spine0"'))

    def test_the_receiver_of_an_incast(self):
        incast = "[workload]\ntype = \"incast\"\nsenders = 3\nsize = \"10KB\"\nreceiver = %s\n"
        self.same(incast % 2, incast % '"host2"')

    def test_placements(self):
        ring = RING + "placement = \"listed\"\nhosts = [%s]\n"
        self.same(ring % "3, 1", ring % '"gpu3", "host1"')

    def test_stragglers(self):
        training = ("[workload]\ntype = \"training\"\nmodel = \"gpt-7b\"\ntp = 1\ndp = 4\n"
                    "layers = 2\nallow_oom = true\n"
                    "[[workload.stragglers]]\nhost = %s\nfactor = 2\n")
        self.write("t.toml", NETWORK + training % '"leaf1"')
        self.refuse("run", "t.toml", says="a switch")
        self.write("t.toml", NETWORK + training % 99)
        self.refuse("run", "t.toml", says="99")

    def test_refusals_say_what_there_is(self):
        event = NETWORK + PERMUTATION + "[[link_event]]\nat = \"1us\"\nlink = [\"%s\", \"%s\"]\n"
        known = "0 to 7, or host0 to host3, leaf0 to leaf1, spine0 to spine1"
        for a in ("leaf2", "leaf", "leaf01", "leaf-1", "leaf0x", "LEAF0", "core0", "host4",
                  "gpu99999999999999999999", "", "nvswitch0"):
            with self.subTest(a):
                self.write("e.toml", event % (a, "spine0"))
                self.refuse("run", "e.toml", says=["e.toml:", known])
        self.write("e.toml", event % ("leaf0", "host2"))
        self.refuse("run", "e.toml", says="joins 4 (leaf0) and 2 (host2), which no cable joins")
        self.write("f.toml", NETWORK + "[workload]\ntype = \"flows\"\n"
                   "list = [[\"leaf0\", 1, \"1MB\"]]\n")
        self.refuse("run", "f.toml", says=["f.toml:", "a switch; hosts are 0 to 3"])


if __name__ == "__main__":
    unittest.main()

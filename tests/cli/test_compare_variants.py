# SPDX-License-Identifier: Apache-2.0
"""`sluice compare --vary`: runs that differ in the values of keys, in one table."""
import csv
import json
import pathlib
import unittest

from support import SMALL, CliTest


class CompareVariants(CliTest):
    def setUp(self):
        super().setUp()
        self.write("small.toml", SMALL)

    def table(self, path="runs/small-compare/compare.json"):
        return json.loads((self.folder / path).read_text())

    def test_laws_in_one_table(self):
        result = self.succeed("compare", "small.toml", "--vary", "congestion.law=hpcc,dcqcn,timely",
                              "--json", "table.json")
        lines = result.stdout.splitlines()
        one = self.succeed("compare", "small.toml", "--vary", "seed=1,2", "--modes", "packet",
                           "--out", "one").stdout.splitlines()
        self.assertEqual(one[0], "small: 2 variants, mode packet, one run each")
        self.assertRegex(one[1], r"^  seed +mean FCT ")
        self.assertEqual(lines[0], "small: 3 variants, one run each")
        self.assertRegex(lines[1], r"^  congestion\.law +mean FCT +p50 +p99 +max +completion ")
        self.assertEqual([line.split()[0] for line in lines[2:5]], ["hpcc", "dcqcn", "timely"])
        self.assertIn("run 2 of 3: law=dcqcn", result.stderr)
        table = self.table()
        self.assertEqual(table, self.table("table.json"))
        self.assertEqual(table["varied"], ["congestion.law"])
        for row, law in zip(table["rows"], ("hpcc", "dcqcn", "timely")):
            self.assertEqual(row["values"], {"congestion.law": law})
            summary = self.table(f"{row['folder']}/summary.json")
            self.assertEqual(summary["config"]["congestion"]["law"], law)
            self.assertEqual(row["fct_s"], summary["fct_s"])
            self.assertEqual((row["jct_s"], row["packet_hops"], row["ecn_marks"]),
                             (summary["jct_s"], summary["packet_hops"], summary["ecn_marks"]))
            self.assertEqual((row["flows"], row["flows_left"]), (4, 0))

    def test_every_combination_with_modes_and_repeats(self):
        result = self.succeed("compare", "small.toml", "--vary", "workload.size=10KB,1MB",
                              "--vary", "seed=1,2", "--modes", "packet,flow",
                              "--repeat", "2", "--set", "topology.hosts=5")
        self.assertIn("8 variants, medians of 2 runs", result.stdout)
        self.assertIn("run 16 of 16", result.stderr)
        with open(self.folder / "runs/small-compare/compare.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["mode"], row["workload.size"], row["seed"]) for row in rows],
                         [(mode, size, seed) for mode in ("packet", "flow")
                          for size in ("10KB", "1MB") for seed in ("1", "2")])
        self.assertEqual({row["flows"] for row in rows}, {"5"})
        self.assertEqual({row["packet_hops"] for row in rows if row["mode"] == "flow"}, {""})
        self.assertEqual(len({row["folder"] for row in rows}), 8)

    def test_variants_that_give_the_same_flows_say_why(self):
        def same(*words):
            said = self.succeed("compare", "apart.toml", *words).stdout
            found = self.table("runs/apart-compare/compare.json")["same_flows"]
            self.assertEqual(said.count("  same flows   "), len(found))
            for one in found:
                flows = {pathlib.Path(self.folder, self.table("runs/apart-compare/compare.json")["rows"][row]["folder"],
                                      "flows.csv").read_bytes() for row in one["rows"]}
                self.assertEqual(len(flows), 1)
            return [(one["rows"], one["why"]) for one in found]

        self.write("apart.toml", 'name = "apart"\n[topology]\ntype = "star"\nhosts = 4\n[workload]\n'
                   'type = "flows"\nlist = [[0, 1, "1MB"], [2, 3, "2MB"]]\n')
        self.assertEqual(same("--vary", "congestion.law=dcqcn,timely,none"),
                         [([0, 2], "no contention: no switch queue held more than 8 packets")])
        [(rows, why)] = same("--vary", "network.ecn.kmin=10KB,20KB", "--set", "congestion.law=none")
        self.assertEqual(rows, [0, 1])
        self.assertTrue(why.startswith("no effect: network.ecn.kmin: "), why)
        [(_, why)] = same("--vary", "seed=1,2")
        self.assertIn("random", why)
        [(_, why)] = same("--vary", "congestion.law=dcqcn,none", "--set", "mode=flow")
        self.assertTrue("flow" in why or "effect" in why, why)
        # Two senders share a port: its queue grows up to the marks.
        self.write("apart.toml", 'name = "apart"\nmode = "packet"\n[topology]\ntype = "star"\nhosts = 4\n'
                   '[workload]\ntype = "flows"\nlist = [[0, 1, "60KB", "0ps"], [2, 1, "60KB", "0ps"]]\n')
        self.assertEqual(same("--vary", "congestion.law=dcqcn,none"),
                         [([0, 1], "queues filled, but nothing was marked, paused or dropped")])
        self.assertEqual(same("--vary", "congestion.law=dcqcn,none", "--set", "workload.list=[[0, 1, \"4MB\"], [2, 1, \"4MB\"]]"), [])

    def test_values_that_are_lists(self):
        self.write("torus.toml", "[topology]\ntype = \"torus\"\ndimensions = [2, 2]\n"
                   "[workload]\ntype = \"permutation\"\nsize = \"10KB\"\n")
        self.succeed("compare", "torus.toml", "--vary", "topology.dimensions=[2,2],[2, 3]", "--quiet")
        self.assertEqual([row["flows"] for row in self.table("runs/torus-compare/compare.json")["rows"]],
                         [4, 6])

    def test_work_left_is_told(self):
        self.write("down.toml", SMALL + "[[link_event]]\nat = \"1us\"\nlink = 0\n")
        result = self.sluice("compare", "down.toml", "--vary", "seed=1,2")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("unfinished", result.stdout)

    def test_refusals_come_before_any_run_and_leave_nothing(self):
        for arguments, says in [
                (["--vary", "congestion.law"], "KEY=VALUE"),
                (["--vary", "=hpcc"], "KEY=VALUE"),
                (["--vary", "congestion.law="], "is empty"),
                (["--vary", "congestion.law=hpcc,"], "is empty"),
                (["--vary", "congestion.law=hpcc,hpcc"], "twice"),
                (["--vary", "congestion.law=hpcc,hpc"], "nearest: hpcc"),
                (["--vary", "congestion.lav=hpcc"], "lav"),
                (["--vary", "seed=1", "--vary", "seed=2"], "varied twice"),
                (["--vary", "seed=1,2", "--modes", "packet,flows"], "flow"),
                (["--vary", "seed=1,2", "--perturb", "6"], "excludes"),
                (["--vary", "seed=" + ",".join(map(str, range(1001)))], "more than 1000"),
        ]:
            with self.subTest(arguments[:2]):
                self.refuse("compare", "small.toml", *arguments, says=says)
        self.assertFalse((self.folder / "runs").exists())


if __name__ == "__main__":
    unittest.main()

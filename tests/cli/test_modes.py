# SPDX-License-Identifier: Apache-2.0
"""Modes and phases as a user types them: what each mode writes, and what is refused."""
import csv
import json
import unittest

from support import EXAMPLES, SMALL, CliTest

PACKETS_ONLY = {"packet_hops", "packet_hops_per_s", "windows", "drops", "pfc_pauses", "ecn_marks",
                "retransmitted_bytes"}
PHASES_ONLY = {"hops_saved", "bytes_skipped", "skips", "skip_backs", "partitions",
               "steady_share"}

# (what it is, the [phases] table, what the line must say)
PHASES = [
    ("unknown key", "thetta = 0.05", ["bad.toml:8:1", "\"theta\""]),
    ("unknown scope", "scope = \"port\"", ["bad.toml:8:9", "partition, network"]),
    ("unknown rates", "rates = \"fluid\"", ["bad.toml:8:9", "measured, maxmin"]),
    ("unknown restoration", "restore = \"full\"", ["bad.toml:8:11", "hold, empty, last_mean, linear, transformer"]),
    ("unknown detector", "detector = \"hydra\"", ["bad.toml:8:12", "nearest: hygra"]),
    ("detector as a number", "detector = 1", ["bad.toml:8:12", "one of"]),
    ("theta above 1", "theta = 2", ["bad.toml:8:9", "from 0 to 1"]),
    ("negative theta", "theta = -0.05", ["bad.toml:8:9", "from 0 to 1"]),
    ("theta is no number", "theta = nan", ["bad.toml:8:9"]),
    ("theta in words", "theta = \"5%\"", ["bad.toml:8:9", "a number"]),
    ("span without unit", "span = 200", ["bad.toml:8:8", "unit missing"]),
    ("span as a size", "span = \"200KB\"", ["bad.toml:8:8", "unknown unit"]),
    ("absurd span", "span = \"9e99s\"", ["bad.toml:8:8"]),
    ("eps_bw as a rate", "eps_bw = \"1Gbps\"", ["bad.toml:8:10", "from 0 to 1"]),
    ("eps_q without unit", "eps_q = 3000", ["bad.toml:8:9", "unit missing"]),
    ("negative rounds", "stable_rounds = -1", ["bad.toml:8:17", "integer"]),
    ("fractional rounds", "stable_rounds = 2.5", ["bad.toml:8:17", "integer"]),
    ("tolerance", "tolerance = 1.01", ["bad.toml:8:13", "from 0 to 1"]),
    ("negative skip", "longest_skip = \"-1ms\"", ["bad.toml:8:16", "negative"]),
    ("skip as a word", "skip = \"no\"", ["bad.toml:8:8", "true or false"]),
]


class Modes(CliTest):
    def summary(self, folder):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def rows(self, path):
        with open(self.folder / path, newline="") as file:
            return list(csv.DictReader(file))

    def test_each_mode_writes_what_it_has(self):
        self.write("small.toml", SMALL)
        self.succeed("run", "small.toml", "--mode", "packet", "--out", "packet")
        result = self.succeed("run", "small.toml", "--mode", "flow", "--out", "flow")
        packet, flow = self.summary("packet"), self.summary("flow")
        self.assertEqual((packet["mode"], flow["mode"]), ("packet", "flow"))
        self.assertEqual(flow["config"]["mode"], "flow")
        self.assertLessEqual(PACKETS_ONLY, set(packet))
        self.assertFalse(PACKETS_ONLY & set(flow))
        self.assertFalse(PHASES_ONLY & (set(packet) | set(flow)))
        self.assertEqual(flow["flows_completed"], 4)
        self.assertGreater(flow["events"], 0)
        for text in ("drops", "packet-hops", "steady"):
            self.assertNotIn(text, result.stdout)
        self.assertIn("4 of 4 completed", result.stdout)
        for row in self.rows("flow/flows.csv"):
            self.assertEqual(row["retransmitted_bytes"], "")
        ports = self.rows("flow/ports.csv")
        self.assertEqual(len(ports), 8)
        self.assertTrue(all(row["max_queue_bytes"] == "" == row["drops"] for row in ports))
        self.assertTrue(any(int(row["tx_bytes"]) > 0 for row in ports))
        for folder in ("packet", "flow"):
            self.assertFalse((self.folder / folder / "phases.csv").exists())
            self.assertFalse(list((self.folder / folder).glob("*.partial")))

    def test_mode_of_the_scenario_and_of_the_command_line(self):
        self.write("small.toml", "mode = \"flow\"\n" + SMALL)
        self.succeed("run", "small.toml", "--out", "a")
        self.assertEqual(self.summary("a")["mode"], "flow")
        self.succeed("run", "small.toml", "--out", "b", "--mode", "packet")
        self.assertEqual(self.summary("b")["mode"], "packet")
        self.succeed("run", "small.toml", "--out", "c", "--mode", "flow", "--set", "mode=packet")
        self.assertEqual(self.summary("c")["mode"], "flow")

    def test_flow_mode_runs_jobs_and_failures(self):
        for name in ("incast", "permutation-fattree", "link-failure", "ring-allreduce-1024gpu"):
            with self.subTest(example=name):
                self.succeed("run", EXAMPLES / f"{name}.toml", "--mode", "flow", "--quiet",
                             "--out", name)
                summary = self.summary(name)
                self.assertEqual(summary["flows_completed"], summary["flows"])

    def test_unknown_modes_are_one_clear_line(self):
        self.write("small.toml", SMALL)
        for word in ("hybird", "", "Packet", "packet,flow", "a\nb", "\"", "warmhole"):
            with self.subTest(word):
                if word:
                    self.refuse("run", "small.toml", "--mode", word,
                                says=["--mode", "must be one of packet, hybrid, wormhole, flow"])
                self.write("bad.toml", f"mode = {json.dumps(word)}\n" + SMALL)
                self.refuse("run", "bad.toml", says=["bad.toml:1:8", "packet, hybrid, wormhole, flow"])
        self.write("bad.toml", "mode = 1\n" + SMALL)
        self.refuse("run", "bad.toml", says="bad.toml:1:8")
        self.assertFalse((self.folder / "runs").exists())

    def test_no_skip_needs_a_mode_that_skips(self):
        self.write("small.toml", SMALL)
        for mode in ("packet", "flow"):
            self.refuse("run", "small.toml", "--no-skip", "--mode", mode,
                        says=["--no-skip", mode, "hybrid"])

    def test_hpcc_experiments_are_packet_mode(self):
        self.refuse("run", "--hpcc", "config.txt", "--mode", "flow", says="--hpcc")
        self.refuse("run", "--hpcc", "config.txt", "--no-skip", says="--hpcc")

    def test_bad_phases(self):
        base = "[topology]\ntype = \"star\"\nhosts = 4\n[workload]\ntype = \"incast\"\nsenders = 2\n"
        for what, line, says in PHASES:
            with self.subTest(what):
                self.write("bad.toml", base + "[phases]\n" + line + "\n")
                self.refuse("run", "bad.toml", says=says)
                self.refuse("describe", "bad.toml", says=says)
        for text in ("phases = 3\n" + base, base + "[[phases]]\n"):
            self.write("bad.toml", text)
            self.refuse("run", "bad.toml", says=["phases", "table"])
        self.write("small.toml", SMALL)
        self.refuse("run", "small.toml", "--set", "phases.theta=high", says=["--set", "a number"])
        self.assertFalse((self.folder / "runs").exists())

    def test_phases_may_stay_in_a_packet_scenario(self):
        self.write("small.toml", SMALL + "[phases]\ndetector = \"hygra\"\neps_bw = 0.02\n")
        self.succeed("run", "small.toml")
        phases = self.summary("runs/small")["config"]["phases"]
        self.assertEqual((phases["detector"], phases["eps_bw"], phases["scope"]),
                         ("hygra", 0.02, "partition"))

    def test_hybrid_refuses_the_order_of_ns3(self):
        self.write("ns3.toml", "mode = \"hybrid\"\n" + SMALL + "[network]\narithmetic = \"ns3\"\n")
        self.refuse("describe", "ns3.toml", says=["ns3.toml:10:14", "ns3", "exact"])
        self.succeed("run", "ns3.toml", "--mode", "packet")


if __name__ == "__main__":
    unittest.main()

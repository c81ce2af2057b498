# SPDX-License-Identifier: Apache-2.0
"""`sluice compare --perturb` and `--restorers`: pairs of runs, judgement, going on, refusals."""
import json
import os
import signal
import subprocess
import time
import unittest

from support import BINARY, SMALL, CliTest, model_that_says

# Eight flows into one host and two pairs by themselves.
MIXED = """\
name = "mixed"
[topology]
type = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 8
rate = "100Gbps"
delay = "10us"
[congestion]
law = "hpcc"
[[workload]]
type = "flows"
list = [
  [1, 0, "1MB", "0us"],
  [9, 0, "1MB", "3us"],
  [10, 0, "1MB", "5us"],
  [2, 3, "4MB", "0us"],
  [11, 12, "4MB", "0us"],
]
"""
# Packets take some tenths of a second, long enough to be interrupted in.
LONG = SMALL.replace("100KB", "300MB")


class ComparePerturbed(CliTest):
    def table(self, path):
        return json.loads((self.folder / path).read_text())

    def runs_said(self, result):
        return [line for line in result.stderr.splitlines() if line.startswith("run ")]

    def test_pairs_have_one_perturbation_and_the_first_none(self):
        self.write("mixed.toml", MIXED)
        result = self.succeed("compare", "mixed.toml", "--perturb", "6", "--json", "t.json")
        self.assertEqual(self.runs_said(result),
                         [f"run {n + 1} of 12: {('packet', 'hybrid')[n % 2]}, perturbation {n // 2}"
                          for n in range(12)])
        folder = self.folder / "runs/mixed-perturbed"
        delays = set()
        for pair in range(6):
            configs = [self.table(folder / str(pair) / mode / "summary.json")["config"]
                       for mode in ("packet", "hybrid")]
            self.assertEqual([c["perturbation"] for c in configs], [pair, pair])
            delays.add((folder / str(pair) / "packet/flows.csv").read_text())
        self.assertEqual(len(delays), 6, "perturbations that change nothing")
        self.succeed("run", "mixed.toml", "--mode", "packet", "--out", "plain")
        self.assertIn((self.folder / "plain/flows.csv").read_text(), delays)
        self.assertEqual((self.folder / "plain/flows.csv").read_text(),
                         (folder / "0/packet/flows.csv").read_text())
        # Any run can be had again.
        self.succeed("run", "mixed.toml", "--mode", "hybrid", "--set", "perturbation=4", "--out",
                     "four")
        self.assertEqual((self.folder / "four/flows.csv").read_text(),
                         (folder / "4/hybrid/flows.csv").read_text())
        self.assertFalse((folder / "0/packet/trace.json").exists())

        table = self.table("t.json")
        self.assertEqual(table, self.table("runs/mixed-perturbed/compare.json"))
        self.assertEqual((table["reference"], table["pairs"], table["interrupted"]),
                         ("packet", 6, False))
        self.assertEqual(table["stable_flows"] + table["sensitive_flows"], 5)
        self.assertGreaterEqual(table["stable_flows"], 2)
        packet, hybrid = table["rows"]
        self.assertNotIn("judgement", packet)
        self.assertEqual(len(hybrid["by_run"]), 6)
        judgement = hybrid["judgement"]
        self.assertEqual(judgement["stable_fct_error"]["flows"], 6 * table["stable_flows"])
        self.assertLess(judgement["stable_fct_error"]["max"], 0.03)
        self.assertEqual(judgement["verdict"], table["verdict"])
        self.assertIn(f"hybrid: {table['verdict']}", result.stdout)
        self.assertFalse(list(self.folder.rglob("*.partial")))

    def test_marks_are_drawn_anew_in_each_pair(self):
        # Cables alone move these flows by a millionth: they would be stable, each of one sample of marks.
        self.write("marked.toml", """\
[topology]
type = "star"
hosts = 4
[congestion]
law = "dcqcn"
[workload]
type = "flows"
list = [[1, 0, "30MB", "0us"], [2, 0, "30MB", "50us"]]
""")
        self.succeed("compare", "marked.toml", "--perturb", "6", "--out", "o")
        table = self.table("o/compare.json")
        self.assertEqual((table["stable_flows"], table["sensitive_flows"]), (0, 2))
        for pair in range(6):
            for mode in ("packet", "hybrid"):
                summary = self.table(f"o/{pair}/{mode}/summary.json")
                self.assertEqual((summary["seed"], summary["config"]["seed"]), (1, 1))

    def test_a_mode_compared_with_itself_is_equivalent(self):
        # Nothing is skipped: hybrid mode's packets are packet mode's.
        self.write("mixed.toml", MIXED)
        result = self.succeed("compare", "mixed.toml", "--perturb", "6", "--check", "--set",
                              "phases.skip=false", "--out", "o")
        table = self.table("o/compare.json")
        judgement = table["rows"][1]["judgement"]
        self.assertEqual(table["verdict"], "equivalent")
        self.assertEqual((judgement["jct"]["bias"], judgement["jct"]["low"],
                          judgement["jct"]["high"]), (0, 0, 0))
        self.assertEqual(judgement["stable_fct_error"]["max"], 0)
        self.assertIn("hybrid: equivalent", result.stdout)

    def test_a_bias_is_an_exit_code_if_asked_for(self):
        # Flow mode knows no start-up, no headers of HPCC's INT growth, no queue: it is off here.
        self.write("small.toml", SMALL)
        arguments = ("compare", "small.toml", "--perturb", "6", "--modes", "packet,flow", "--set",
                     "workload.type=incast", "--set", "workload.size=20KB", "--quiet")
        self.succeed(*arguments)
        table = self.table("runs/small-perturbed/compare.json")
        self.assertEqual(table["verdict"], "biased")
        self.assertEqual(self.sluice(*arguments, "--check").returncode, 1)

    def test_what_is_there_is_not_run_again(self):
        self.write("small.toml", SMALL)
        arguments = ("compare", "small.toml", "--perturb", "2", "--few", "--out", "o")
        self.succeed(*arguments)
        before = (self.folder / "o/compare.json").read_text()
        again = self.succeed(*arguments)
        self.assertEqual([line.endswith("already done") for line in self.runs_said(again)], [True] * 4)
        self.assertEqual((self.folder / "o/compare.json").read_text(), before)
        # Pairs more, a mode more: only what is new.
        more = self.succeed("compare", "small.toml", "--perturb", "3", "--few", "--out", "o",
                            "--modes", "packet,hybrid,flow")
        self.assertEqual([line.endswith("already done") for line in self.runs_said(more)],
                         [True, True, False] * 2 + [False] * 3)
        for change in (("--fresh",), ("--set", "seed=2")):
            result = self.succeed(*arguments, *change)
            self.assertFalse([line for line in self.runs_said(result) if "already done" in line])
        self.write("small.toml", SMALL + "# changed\n")
        self.assertFalse([line for line in self.runs_said(self.succeed(*arguments))
                          if "already done" in line])
        # Results that were taken away, or spoilt.
        (self.folder / "o/1/hybrid/stamp.json").write_text("{")
        (self.folder / "o/1/packet/flows.csv").unlink()
        result = self.succeed(*arguments)
        self.assertEqual([line.endswith("already done") for line in self.runs_said(result)],
                         [True, True, False, False])

    def test_another_model_at_the_same_place_is_another_run(self):
        self.write("mixed.toml", MIXED)
        arguments = ("compare", "mixed.toml", "--perturb", "2", "--few", "--out", "o",
                     "--restorers", "hold,linear", "--set", 'phases.restore_model="own.model"')
        model = self.folder / "own.model"
        model.write_bytes(model_that_says(0.0))
        made = model.stat().st_mtime_ns
        self.succeed(*arguments)
        for units, there in [(0.0, [True] * 6), (5.0, [True, True, False] * 2)]:
            model.write_bytes(model_that_says(units))  # as long as the other one, and as old
            os.utime(model, ns=(made, made))
            again = self.succeed(*arguments)
            self.assertEqual([line.endswith("already done") for line in self.runs_said(again)], there)

    def test_an_interrupted_comparison_goes_on(self):
        self.write("long.toml", LONG)
        arguments = ["compare", "long.toml", "--perturb", "2", "--few", "--modes", "flow,packet",
                     "--out", "o"]
        process = subprocess.Popen([str(BINARY), *arguments], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        deadline = time.monotonic() + 60
        while (not (self.folder / "o/0/packet/flows.csv.partial").exists()
               and time.monotonic() < deadline):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("1 of 4 runs are in o; repeat the command to continue", errors)
        self.assertFalse((self.folder / "o/compare.json").exists())
        self.assertFalse((self.folder / "o/0/packet/stamp.json").exists())
        result = self.succeed(*arguments)
        self.assertEqual([line.endswith("already done") for line in self.runs_said(result)],
                         [True, False, False, False])
        self.assertFalse(list(self.folder.rglob("*.partial")))

    def test_restorers_are_columns(self):
        self.write("mixed.toml", MIXED)
        result = self.succeed("compare", "mixed.toml", "--restorers", "empty,hold")
        for text in ("hybrid-empty, hybrid-hold against packet", "speed-up"):
            self.assertIn(text, result.stdout)
        table = self.table("runs/mixed-compare/compare.json")
        self.assertEqual([(row["mode"], row.get("restorer")) for row in table["rows"]],
                         [("packet", None), ("hybrid", "empty"), ("hybrid", "hold")])
        for restorer in ("empty", "hold"):
            summary = self.table(f"runs/mixed-compare/hybrid-{restorer}/summary.json")
            self.assertEqual(summary["config"]["phases"]["restore"], restorer)
        # With perturbations, and the scenario's own word does not matter.
        self.succeed("compare", "mixed.toml", "--restorers", "empty,hold", "--perturb", "2",
                     "--few", "--set", "phases.restore=empty", "--out", "p")
        rows = self.table("p/compare.json")["rows"]
        self.assertEqual([row.get("restorer") for row in rows], [None, "empty", "hold"])
        for row in rows[1:]:
            self.assertIn("max", row["judgement"]["stable_fct_error"])
            self.assertLessEqual({"wall_s", "user_s", "cpu_use", "peak_rss_bytes"}, set(row))
        config = self.table("p/1/hybrid-hold/summary.json")["config"]
        self.assertEqual(config["phases"]["restore"], "hold")

    def test_work_left_is_reported(self):
        self.write("down.toml", SMALL + "[[link_event]]\nat = \"1us\"\nlink = 0\n")
        arguments = ("compare", "down.toml", "--perturb", "2", "--few")
        result = self.sluice(*arguments)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(self.sluice(*arguments).returncode, 3, "what is there says so, too")

    def test_refusals_come_before_any_run_and_leave_nothing(self):
        self.write("small.toml", SMALL)
        self.write("ns3.toml", SMALL + "[network]\narithmetic = \"ns3\"\n")
        for arguments, says in [
                (["small.toml", "--perturb", "5"], ["must be at least 6", "5%", "--few"]),
                (["small.toml", "--perturb", "1", "--few"], "--perturb"),
                (["small.toml", "--perturb", "0"], "--perturb"),
                (["small.toml", "--perturb", "-6"], "--perturb"),
                (["small.toml", "--perturb", "six"], "--perturb"),
                (["small.toml", "--perturb", "1e3"], "--perturb"),
                (["small.toml", "--perturb", "99999999999999999999"], "--perturb"),
                (["small.toml", "--perturb", "6", "--repeat", "2"], "--repeat"),
                (["small.toml", "--perturb", "6", "--modes", "packet"], "--perturb"),
                (["small.toml", "--few"], "--perturb"),
                (["small.toml", "--fresh"], "--perturb"),
                (["small.toml", "--check"], "--perturb"),
                (["small.toml", "--restorers", "emtpy"], "nearest: empty"),
                (["small.toml", "--restorers", ""], "--restorers"),
                (["small.toml", "--restorers", "hold,"], ["--restorers", "empty"]),
                (["small.toml", "--restorers", "hold,hold"], "twice"),
                (["small.toml", "--restorers", "../hold"], "must be one of"),
                (["small.toml", "--restorers", "a\nb"], "must be one of"),
                (["small.toml", "--restorers", "hold", "--modes", "packet,flow"], "hybrid"),
                (["small.toml", "--perturb", "6", "--modes", "packet,packet"], "twice"),
                (["ns3.toml", "--perturb", "6", "--modes", "packet,flow"], "perturbation"),
                (["none.toml", "--perturb", "6"], "none.toml"),
        ]:
            with self.subTest(arguments):
                self.refuse("compare", *arguments, says=says)
                self.assertFalse((self.folder / "runs").exists(), "left something behind")


if __name__ == "__main__":
    unittest.main()

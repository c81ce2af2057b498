# SPDX-License-Identifier: Apache-2.0
"""`sluice compare`: the table that it prints and writes, refusals, interruption."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from support import BINARY, SMALL, CliTest, catches

ROW_KEYS = {"mode", "wall_s", "user_s", "speedup", "packet_hops", "fct_error", "jct_error",
            "throughput_error", "peak_rss_bytes"}
# 16 packets' worth of flow finish in microseconds, 100 GB never.
LONG = ("[topology]\ntype = \"star\"\nhosts = 4\n"
        "[[workload]]\ntype = \"permutation\"\nsize = \"16KB\"\n"
        "[[workload]]\ntype = \"permutation\"\nsize = \"100GB\"\n")


class Compare(CliTest):
    def table(self, path):
        return json.loads((self.folder / path).read_text())

    def test_table_of_two_modes(self):
        self.write("small.toml", SMALL)
        result = self.succeed("compare", "small.toml", "--modes", "packet,flow", "--repeat", "3",
                              "--json", "table.json")
        for text in ("flow against packet", "medians of 3 runs", "speed-up", "completion times"):
            self.assertIn(text, result.stdout)
        self.assertEqual([line for line in result.stderr.splitlines() if line.startswith("run ")],
                         [f"run {n} of 6: {mode}" for n, mode in
                          enumerate(("packet", "flow") * 3, start=1)])
        folder = "runs/small-compare"
        table = self.table("table.json")
        self.assertEqual(table, self.table(f"{folder}/compare.json"))
        self.assertEqual((table["reference"], table["interrupted"]), ("packet", False))
        packet, flow = table["rows"]
        for row in (packet, flow):
            self.assertLessEqual(ROW_KEYS, set(row))
            self.assertLessEqual({"mean", "p50", "p99", "max"}, set(row["fct_error"]))
            self.assertEqual(row["runs"], 3)
            self.assertGreater(row["wall_s"], 0)
            self.assertGreater(row["peak_rss_bytes"], 1_000_000)
        self.assertEqual((packet["mode"], flow["mode"]), ("packet", "flow"))
        self.assertEqual(packet["speedup"], 1)
        self.assertEqual(set(packet["fct_error"].values()), {0, 4})
        self.assertEqual((packet["jct_error"], packet["throughput_error"]), (0, 0))
        self.assertEqual((packet["packet_hops"], flow["packet_hops"]), (4 * 2 * 200, 0))
        self.assertAlmostEqual(flow["speedup"], packet["wall_s"] / flow["wall_s"])
        with open(self.folder / folder / "compare.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["mode"], row["class"]) for row in rows],
                         [("packet", "all"), ("packet", "permutation"), ("flow", "all"),
                          ("flow", "permutation")])
        self.assertEqual(float(rows[2]["fct_error_mean"]), flow["fct_error"]["mean"])
        self.assertFalse(list(self.folder.rglob("*.partial")))

    def test_figures_are_those_of_the_runs(self):
        self.write("small.toml", SMALL)
        self.succeed("compare", "small.toml", "--modes", "flow,packet", "--out", "out", "--quiet",
                     "--set", "topology.hosts=6", "--set", "workload.type=incast")
        table = self.table("out/compare.json")
        self.assertEqual(table["reference"], "flow")
        runs = {}
        for row in table["rows"]:
            summary = self.table(f"out/{row['mode']}/summary.json")
            self.assertEqual(summary["flows"], 5)
            self.assertAlmostEqual(row["wall_s"], summary["elaboration_s"] + summary["wall_s"])
            self.assertAlmostEqual(row["user_s"],
                                   summary["elaboration_user_s"] + summary["user_s"])
            self.assertEqual(row["peak_rss_bytes"], summary["peak_rss_bytes"])
            with open(self.folder / "out" / row["mode"] / "flows.csv", newline="") as file:
                runs[row["mode"]] = {line["flow"]: int(line["fct_ps"])
                                     for line in csv.DictReader(file)}
            runs[row["mode"], "jct"] = summary["jct_s"]
        errors = [abs(runs["packet"][flow] - fct) / fct for flow, fct in runs["flow"].items()]
        row = table["rows"][1]
        self.assertEqual(row["fct_error"]["flows"], 5)
        self.assertAlmostEqual(row["fct_error"]["mean"], sum(errors) / len(errors))
        self.assertAlmostEqual(row["fct_error"]["max"], max(errors))
        self.assertAlmostEqual(row["jct_error"], abs(runs["packet", "jct"] / runs["flow", "jct"] - 1))

    def test_quiet_prints_nothing_and_one_mode_is_a_table(self):
        self.write("small.toml", SMALL)
        result = self.succeed("compare", "small.toml", "--modes", "packet", "--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        self.assertEqual(len(self.table("runs/small-compare/compare.json")["rows"]), 1)

    def test_memory_is_the_runs_own(self):
        # Whoever starts a run may be large; the system's usual figure would hold it against the run.
        self.write("small.toml", SMALL)
        ballast = bytearray(b"x" * 200_000_000)
        self.succeed("compare", "small.toml", "--modes", "packet", "--quiet")
        row, = self.table("runs/small-compare/compare.json")["rows"]
        self.assertLess(row["peak_rss_bytes"], len(ballast) / 2)

    def test_work_left_is_reported_and_compared(self):
        # Host 0 is cut off after some flows of others have finished in both modes.
        self.write("down.toml", SMALL + "[[link_event]]\nat = \"1us\"\nlink = 0\n")
        result = self.sluice("compare", "down.toml", "--modes", "packet,flow")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("unfinished", result.stderr)
        for row in self.table("runs/small-compare/compare.json")["rows"]:
            self.assertEqual((row["flows"], row["fct_error"]["flows"]), (2, 2))
            self.assertEqual((row["flows_missing"], row["flows_extra"]), (0, 0))

    def test_refusals_come_before_any_run_and_leave_nothing(self):
        self.write("small.toml", SMALL)
        self.write("bad.toml", SMALL + "[phases]\ntheta = 2\n")
        self.write("ns3.toml", SMALL + "[network]\narithmetic = \"ns3\"\n")
        self.write("file", "in the way")
        for arguments, says in [
                (["none.toml"], "none.toml"),
                (["."], "."),
                ([], "scenario"),
                (["small.toml", "--modes", "packet,hybird"], ["--modes", "nearest: hybrid"]),
                (["small.toml", "--modes", "packet,"], ["--modes", "must be one of"]),
                (["small.toml", "--modes", ",,"], "--modes"),
                (["small.toml", "--modes", "packet flow"], "--modes"),
                (["small.toml", "--modes", "packet,packet"], "twice"),
                (["small.toml", "--modes", "a\nb"], "--modes"),
                (["small.toml", "--repeat", "0"], "--repeat"),
                (["small.toml", "--repeat", "-1"], "--repeat"),
                (["small.toml", "--repeat", "many"], "--repeat"),
                (["small.toml", "--repeat", "99999999999999999999"], "--repeat"),
                (["small.toml", "--set", "topology.hots=4"], ["--set", "\"hosts\""]),
                (["small.toml", "--set", "nonsense"], ["--set", "key=value"]),
                (["bad.toml"], ["bad.toml:9:9", "theta"]),
                (["small.toml", "--json", "/proc/nowhere/t.json"], "/proc/nowhere"),
                (["small.toml", "--json", "nowhere/t.json"], "nowhere"),
                (["small.toml", "--out", "file"], "file"),
                (["small.toml", "--out", "file/below"], "file"),
                (["small.toml", "extra.toml"], "extra"),
                (["small.toml", "--mode", "packet"], "--mode"),
        ]:
            with self.subTest(arguments):
                self.refuse("compare", *arguments, says=says)
                self.assertFalse((self.folder / "runs").exists(), "left something behind")

    def test_what_only_the_run_finds_out_is_still_one_line(self):
        # The workload's own tables are read by the run.
        self.write("small.toml", SMALL)
        self.refuse("compare", "small.toml", "--modes", "packet", "--quiet", "--set",
                    "workload.sise=1", says="\"size\"")
        self.assertFalse((self.folder / "runs").exists())

    def test_packet_mode_executes_every_packet_unless_told_otherwise(self):
        # Two pairs of hosts that do the same.
        self.write("twice.toml", "fold = true\n" + SMALL.split("[workload]")[0] + """
[workload]
type = "flows"
list = [[0, 1, "200KB", "0us"], [2, 3, "200KB", "0us"]]
""")
        flows = []
        for out, sets in (("unfolded", ()), ("folded", ("--set", "fold=true"))):
            self.succeed("compare", "twice.toml", "--out", out, "--quiet", *sets)
            self.assertEqual("fold" in self.table(f"{out}/packet/summary.json"), out == "folded")
            self.assertTrue(self.table(f"{out}/hybrid/summary.json")["config"]["fold"])
            flows.append((self.folder / out / "packet/flows.csv").read_bytes())
        self.assertEqual(flows[0], flows[1])

    def test_odd_names_reach_the_run_unchanged(self):
        self.write("-a b'\"$x.toml", SMALL)
        self.succeed("compare", "--modes", "packet", "--out", "--odd dir", "--json=-t.json", "--",
                     "-a b'\"$x.toml")
        self.assertEqual(self.table("-t.json"), self.table("--odd dir/compare.json"))

    def test_json_may_be_the_folders_own(self):
        self.write("small.toml", SMALL)
        self.succeed("compare", "small.toml", "--modes", "packet", "--out", "o", "--json",
                     "./o/../o/compare.json")
        self.assertEqual(len(self.table("o/compare.json")["rows"]), 1)

    def interrupt(self, ready, *arguments):
        """Starts a comparison, interrupts it once `ready()`; its result."""
        process = subprocess.Popen([str(BINARY), "compare", *arguments], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        deadline = time.monotonic() + 60
        while not ready() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        return out, errors

    def test_interrupt_keeps_what_finished(self):
        self.write("long.toml", LONG)
        flows = self.folder / "out" / "packet" / "flows.csv.partial"
        # Flow mode ends at once; packet mode would take hours.
        _, errors = self.interrupt(lambda: flows.exists() and flows.read_text().count("\n") == 5,
                                   "long.toml", "--modes", "flow,packet", "--out", "out")
        self.assertIn("interrupted", errors)
        table = self.table("out/compare.json")
        self.assertTrue(table["interrupted"])
        self.assertEqual([row["mode"] for row in table["rows"]], ["flow"])
        # The run that was going on ended in order, too.
        summary = self.table("out/packet/summary.json")
        self.assertTrue(summary["interrupted"])
        self.assertEqual(summary["flows_completed"], 4)
        self.assertFalse(list(self.folder.rglob("*.partial")))

    def test_interrupt_before_the_reference_is_done(self):
        self.write("long.toml", LONG)
        flows = self.folder / "out" / "packet" / "flows.csv.partial"
        self.interrupt(lambda: flows.exists() and flows.read_text().count("\n") == 5,
                       "long.toml", "--modes", "packet,flow", "--out", "out")
        self.assertFalse((self.folder / "out" / "compare.json").exists())
        self.assertTrue(self.table("out/packet/summary.json")["interrupted"])
        self.assertFalse(list(self.folder.rglob("*.partial")))

    def test_interrupt_before_the_run_has_heard_of_it(self):
        """The run is held before it has a handler; what is passed on to it ends it."""
        self.write("long.toml", LONG)
        held = 0
        until = time.monotonic() + 30
        while held < 3 and time.monotonic() < until:
            process = subprocess.Popen([str(BINARY), "compare", "long.toml", "--modes", "packet",
                                        "--quiet"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True, start_new_session=True)
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            while not (child := children.read_text().split()):
                pass
            os.kill(int(child[0]), signal.SIGSTOP)
            held += not catches(child[0], signal.SIGINT)
            time.sleep(0.05)  # it waits for its run now
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
            os.kill(int(child[0]), signal.SIGCONT)
            errors = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, 130, errors)
            self.assertFalse(list(self.folder.rglob("*.partial")))
        if held == 0:
            self.skipTest("the machine is too busy: no run was held before it had a handler")

    def test_a_killed_comparison_takes_its_run_along(self):
        self.write("long.toml", LONG)
        process = subprocess.Popen([str(BINARY), "compare", "long.toml", "--modes", "packet",
                                    "--out", "out", "--quiet"], cwd=self.folder,
                                   start_new_session=True)
        summary = self.folder / "out" / "packet" / "summary.json"
        deadline = time.monotonic() + 60
        while (not summary.with_name("summary.json.partial").exists()
               and time.monotonic() < deadline):
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=60)
        while not summary.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(self.table("out/packet/summary.json")["interrupted"])


if __name__ == "__main__":
    unittest.main()

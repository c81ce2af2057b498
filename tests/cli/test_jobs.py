# SPDX-License-Identifier: Apache-2.0
"""Several jobs on one fabric, as a user types it."""
import csv
import json
import unittest

from support import CliTest

TWO = """\
name = "two"
[topology]
type = "rail-optimized"
gpus = 32
[[workload]]
type = "ring-all-reduce"
name = "left"
ranks = 16
size = "1MB"
[[workload]]
type = "ring-all-reduce"
name = "right"
ranks = 16
size = "1MB"
start = "50us"
"""


class Jobs(CliTest):
    def summary(self, name):
        return json.loads((self.folder / "runs" / name / "summary.json").read_text())

    def rows(self, name, file):
        with open(self.folder / "runs" / name / file, newline="") as text:
            return list(csv.DictReader(text))

    def test_classes_by_what_messages_are_of(self):
        """Two jobs whose hosts share leaves and the spine: who has the lower class goes first."""
        self.write("s.toml", """\
mode = "packet"
[topology]
type = "leaf-spine"
leaves = 4
spines = 1
hosts_per_leaf = 4
rate = "100Gbps"
[network.queues]
scheduler = "strict"
[congestion]
law = "dcqcn"
[[workload]]
name = "a"
type = "all-to-all"
size = "4MB"
ranks = 8
placement = "spread"
unit = 1
[[workload]]
name = "b"
type = "ring-all-reduce"
size = "4MB"
""")

        def times(first, second, *options):
            self.succeed("run", "s.toml", "--out", "out", "--set", f"workload.0.priorities.collective={first}", "--set",
                         f"workload.1.priorities.collective={second}", *options)
            jobs = json.loads((self.folder / "out" / "summary.json").read_text())["jobs"]
            with open(self.folder / "out" / "flows.csv", newline="", encoding="utf-8") as file:
                classes = {(row["label"], row["priority"]) for row in csv.DictReader(file)}
            self.assertEqual(classes, {("a.collective", str(first)), ("b.collective", str(second))})
            return [job["jct_s"] for job in jobs]

        alike, ahead, behind = times(3, 3), times(2, 5), times(5, 2)
        self.assertLess(ahead[0], 0.95 * alike[0])
        self.assertLess(behind[1], 0.6 * alike[1])
        self.assertGreater(behind[0], ahead[0])
        self.assertEqual(times(5, 2, "--mode", "hybrid", "--no-skip"), behind)
        # The same in mode flow, of a law that fills links: who goes first, and how long both take.
        for first, second in ((2, 5), (5, 2)):
            law = ("--set", "congestion.law=dctcp")
            for packet, flow in zip(times(first, second, *law), times(first, second, *law, "--mode", "flow")):
                self.assertAlmostEqual(flow / packet, 1, delta=0.02)
        for key, said in (("dq=2", 'did you mean "dp"'), ("dp=8", "must be an integer from 1 to 7")):
            refused = self.sluice("run", "s.toml", "--set", f"workload.0.priorities.{key}")
            self.assertEqual(refused.returncode, 2)
            self.assertIn(said, refused.stderr)

    def test_each_job_has_its_own_results(self):
        self.write("two.toml", TWO)
        result = self.succeed("run", "two.toml", "--mode", "flow")
        self.assertIn("left", result.stdout)
        left, right = self.summary("two")["jobs"]
        self.assertEqual((left["name"], right["name"]), ("left", "right"))
        self.assertEqual((left["ranks"], left["start_s"], right["start_s"]), (16, 0, 50e-6))
        # Servers of their own and rings inside them and across: alike, so equally long.
        self.assertAlmostEqual(left["jct_s"], right["jct_s"], delta=0.2 * left["jct_s"])
        self.assertAlmostEqual(
            self.summary("two")["jct_s"],
            max(left["jct_s"], 50e-6 + right["jct_s"]), places=12)
        jobs = {row["job"] for row in self.rows("two", "collectives.csv")}
        self.assertEqual(jobs, {"left", "right"})
        flows = self.rows("two", "flows.csv")
        self.assertEqual({row["label"] for row in flows}, {"left.collective", "right.collective"})
        for row in flows:
            mine = range(16) if row["label"] == "left.collective" else range(16, 32)
            self.assertIn(int(row["src"]), mine)
            self.assertIn(int(row["dst"]), mine)

    def test_packet_and_hybrid_without_skips_agree(self):
        self.write("two.toml", TWO)
        self.succeed("run", "two.toml", "--set", "workload.0.placement=random", "--out", "p")
        self.succeed("run", "two.toml", "--set", "workload.0.placement=random", "--out", "h",
                     "--mode", "hybrid", "--no-skip")
        packet = (self.folder / "p/flows.csv").read_text()
        self.assertEqual(packet, (self.folder / "h/flows.csv").read_text())
        self.assertGreater(len(packet.splitlines()), 900)

    def test_placements(self):
        self.write("two.toml", TWO)
        self.succeed("run", "two.toml", "--mode", "flow", "--set", "workload.0.placement=spread",
                     "--set", "workload.0.name=a b")
        # Servers 0 and 2 of 4.
        hosts = {int(row["src"]) for row in self.rows("two", "flows.csv")
                 if row["label"] == "a b.collective"}
        self.assertEqual(hosts, {*range(8), *range(16, 24)})
        self.succeed("run", "two.toml", "--mode", "flow", "--set", "workload.0.placement=listed",
                     "--set", "workload.0.hosts=[31, 2, 9]", "--set", "workload.0.ranks=0")
        pairs = {(int(row["src"]), int(row["dst"])) for row in self.rows("two", "flows.csv")
                 if row["label"] == "left.collective"}
        self.assertEqual(pairs, {(31, 2), (2, 9), (9, 31)})

    def test_a_job_cut_short_has_no_completion_time(self):
        self.write("two.toml", TWO)
        text = self.succeed("run", "two.toml", "--mode", "flow", "--set", "stop=100us").stdout
        summary = self.summary("two")
        self.assertGreater(summary["flows_completed"], 0)
        self.assertEqual([job["jct_s"] for job in summary["jobs"]], [None, None])
        self.assertIsNone(summary["jct_s"])
        self.assertNotIn("completion time", text)

    def test_a_job_beyond_the_end_of_time_comes_to_rest(self):
        self.write("long.toml", """\
[topology]
type = "rail-optimized"
gpus = 16
[workload]
type = "training"
model = { base = "gpt-7b", layers = 4, hidden = 512, heads = 8, ffn = 2048 }
tp = 4
micro_batches = 60
forward_time = "86400s"
backward_time = "86400s"
""")
        for mode in ("packet", "flow"):
            result = self.sluice("run", "long.toml", "--mode", mode)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("the end of time", result.stderr)
            # 52 micro-batches of two days, and one more forward.
            self.assertEqual(self.summary("long")["simulated_s"], 105 * 86400)

    def test_mistakes(self):
        self.write("two.toml", TWO)
        self.refuse("run", "two.toml", "--set", "workload.1.ranks=17",
                    says=["two.toml:", "wants 17 hosts, 16 of 32 are free"])
        self.refuse("run", "two.toml", "--set", "workload.1.placement=sprad",
                    says=["packed, spread, random, listed"])
        self.refuse("run", "two.toml", "--set", "workload.1.placement=listed",
                    says="needs the key hosts")
        self.refuse("run", "two.toml", "--set", "workload.1.hosts=[1]", says="listed")
        self.refuse("run", "two.toml", "--set", "workload.1.unit=3", says="no multiple of the unit")
        self.refuse("run", "two.toml", "--set", "workload.1.placement=listed", "--set",
                    "workload.1.ranks=0", "--set", "workload.1.hosts=[20, 21]", "--set",
                    "workload.1.unit=2", says="'unit' is not for placement")
        self.refuse("run", "two.toml", "--set", 'workload.0.name="a\\nb"', says="control characters")
        self.refuse("run", "two.toml", "--set", 'workload.0.name=""', says="at least one letter")

    def test_describe_lists_the_jobs(self):
        self.write("two.toml", TWO)
        text = self.succeed("describe", "two.toml").stdout
        self.assertIn("left: 16 ranks", text)
        self.assertIn("right: 16 ranks", text)


if __name__ == "__main__":
    unittest.main()

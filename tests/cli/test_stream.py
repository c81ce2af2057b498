# SPDX-License-Identifier: Apache-2.0
"""Streamed jobs from outside: the generator, schedules read as they run, and what they write."""
import csv
import json
import unittest

import support

NETWORK = """\
name = "net"
mode = "flow"
[topology]
type = "star"
hosts = 8
"""

STREAM = NETWORK + """\
[workload]
type = "stream"
operations = 3000
pattern = "shift"
bytes = "16KB"
compute = "5us"
jitter = 0.5
"""

PINGPONG = """\
num_ranks 2
rank 0 {
a: calc 1000
b: send 5000b to 1
c: recv 700b from 1
b requires a
c requires a
}
rank 1 {
a: recv 5000b from 0
b: calc 300
c: send 700b to 0
b requires a
c requires b
}
"""


class StreamTest(support.CliTest):
    def summary(self, folder):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def rows(self, folder):
        with open(self.folder / folder / "flows.csv", encoding="utf-8") as file:
            return [row[1:] for row in csv.reader(file)]

    def test_a_generated_stream_runs_to_its_end(self):
        self.write("s.toml", STREAM)
        self.succeed("run", "s.toml", "--out", "out")
        summary = self.summary("out")
        self.assertEqual(summary["flows"], 8000)
        self.assertEqual(summary["flows_completed"], 8000)
        self.assertEqual(summary["bytes"], 8000 * 16000)
        job = summary["jobs"][0]
        self.assertEqual((job["operations"], job["operations_completed"]), (24000, 24000))
        self.assertEqual(job["name"], "stream")
        self.assertEqual(len(self.rows("out")), 8001)
        self.assertFalse((self.folder / "out" / "trace.json").exists())

    def test_the_messages_of_a_stream_have_the_priority_of_their_class(self):
        self.write("s.toml", STREAM.replace("3000", "30"))
        for out, keys, expected in (("given", ["priority=2"], "2"), ("class", ["priorities.other=5"], "5"),
                                    ("both", ["priority=2", "priorities.other=5"], "5"),
                                    ("none", ["priority=2", "priorities.dp=5"], "2")):
            sets = [text for key in keys for text in ("--set", "workload." + key)]
            self.succeed("run", "s.toml", "--out", out, *sets)
            with open(self.folder / out / "flows.csv", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual({(row["label"], row["priority"]) for row in rows}, {("other", expected)})

    def test_the_same_stream_twice_is_the_same_and_another_seed_is_not(self):
        self.write("s.toml", STREAM)
        for out, seed in (("a", 1), ("b", 1), ("c", 2)):
            self.succeed("run", "s.toml", "--out", out, "--set", f"seed={seed}")
        self.assertEqual(self.rows("a"), self.rows("b"))
        self.assertNotEqual(self.rows("a"), self.rows("c"))

    def test_flows_csv_can_be_left_out(self):
        self.write("s.toml", STREAM + "[output]\nflows = false\n")
        self.succeed("run", "s.toml", "--out", "out")
        self.assertFalse((self.folder / "out" / "flows.csv").exists())
        self.assertFalse((self.folder / "out" / "flows.csv.partial").exists())
        self.assertEqual(self.summary("out")["flows_completed"], 8000)

    def test_a_schedule_streamed_has_the_flows_of_the_schedule_read_whole(self):
        self.write("p.goal", PINGPONG)
        self.succeed("goal", "p.goal", "--to-binary", "p.bin")
        for out, extra in (("whole", 'file = "p.goal"'),
                           ("text", 'file = "p.goal"\nstream = true'),
                           ("binary", 'file = "p.bin"\nstream = true\nstart = "0us"')):
            self.write("s.toml", NETWORK + f'[workload]\ntype = "goal"\n{extra}\n')
            self.succeed("run", "s.toml", "--out", out)
        self.assertEqual(self.rows("whole"), self.rows("text"))
        self.assertEqual(self.rows("whole"), self.rows("binary"))
        self.assertEqual(self.summary("whole")["jct_s"], self.summary("text")["jct_s"])

    def assert_streamed_as_whole(self, workload):
        """In every mode the same flows at the same times, whether read whole or as it runs."""
        packets = {}
        for mode in ("packet", "hybrid", "flow"):
            for stream in ("true", "false"):
                self.write("s.toml", NETWORK + f"[workload]\n{workload}\nstream = {stream}\n")
                self.succeed("run", "s.toml", "--mode", mode, "--out", f"{mode}-{stream}")
            streamed, whole = (self.summary(f"{mode}-{stream}") for stream in ("true", "false"))
            for key in ("jct_s", "flows", "flows_completed", "bytes"):
                self.assertEqual(streamed[key], whole[key], (mode, key))
            self.assertEqual(streamed["flows_completed"], streamed["flows"])
            self.assertEqual(streamed.get("packet_hops"), whole.get("packet_hops"))
            self.assertEqual(streamed["jobs"][0]["jct_s"], whole["jobs"][0]["jct_s"])
            self.assertEqual(self.rows(f"{mode}-true"), self.rows(f"{mode}-false"))
            packets[mode] = streamed.get("packet_hops")  # flow mode has none
        # Hybrid mode skipped some of them.
        self.assertLess(packets["hybrid"], packets["packet"])

    def test_a_streamed_schedule_is_the_whole_one_in_every_mode(self):
        ranks = ""
        for rank in range(8):
            lines = "".join(f"c{i}: calc {1000 + 300 * rank}\n"
                            f"s{i}: send 1000000b to {(rank + 1) % 8} tag {i}\n"
                            f"r{i}: recv 1000000b from {(rank + 7) % 8} tag {i}\n"
                            f"s{i} requires c{i}\nr{i} requires c{i}\n" for i in range(6))
            waits = "".join(f"c{i + 1} requires s{i}\nc{i + 1} requires r{i}\n" for i in range(5))
            ranks += f"rank {rank} {{\n{lines}{waits}}}\n"
        self.write("ring.goal", "num_ranks 8\n" + ranks)
        self.assert_streamed_as_whole('type = "goal"\nfile = "ring.goal"')

    def test_streamed_traces_are_the_whole_ones_in_every_mode(self):
        self.write("ring.toml", NETWORK + '[workload]\ntype = "ring-all-reduce"\nsize = "8MB"\n')
        self.succeed("chakra", "export", "ring.toml", "-o", "ring")
        self.assert_streamed_as_whole('type = "chakra"\ntraces = "ring"')

    def test_a_generated_stream_runs_in_every_mode(self):
        self.write("s.toml", STREAM.replace("3000", "60"))
        for mode in ("packet", "hybrid", "flow"):
            self.succeed("run", "s.toml", "--mode", mode, "--out", mode)
            summary = self.summary(mode)
            self.assertEqual((summary["flows"], summary["flows_completed"]), (160, 160))
            self.assertEqual(len(self.rows(mode)), 161)
            job = summary["jobs"][0]
            self.assertEqual((job["operations"], job["operations_completed"]), (480, 480))
            self.assertEqual(summary["jct_s"], job["jct_s"])

    def test_a_start_time_and_a_priority_hold_for_a_stream(self):
        self.write("s.toml", STREAM.replace("3000", "3") + 'start = "7us"\npriority = 5\n')
        self.succeed("run", "s.toml", "--out", "out")
        rows = self.rows("out")
        self.assertTrue(all(row[4] == "5" for row in rows[1:]))
        self.assertTrue(all(int(row[7]) > 7_000_000 for row in rows[1:]))

    def test_a_stream_that_comes_to_rest_says_what_waits(self):
        self.write("p.goal", "num_ranks 2\nrank 0 {\na: recv 8b from 1\n}\nrank 1 {\ncalc 5\n}\n")
        self.write("s.toml", NETWORK + '[workload]\ntype = "goal"\nfile = "p.goal"\nstream = true\n')
        result = self.sluice("run", "s.toml", "--out", "out")
        self.assertEqual(result.returncode, 3)
        self.assertIn('the job "goal" stopped with 1 operations done, of 2', result.stderr)
        self.assertIn("rank 0 waits for messages that nobody sends", result.stderr)

    def test_a_stream_runs_alone(self):
        self.write("s.toml", STREAM.replace("[workload]", "[[workload]]") +
                   '[[workload]]\ntype = "flows"\nflows = [{src = 0, dst = 1, size = "1KB"}]\n')
        result = self.sluice("run", "s.toml", "--out", "out")
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()

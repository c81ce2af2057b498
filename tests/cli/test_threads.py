# SPDX-License-Identifier: Apache-2.0
"""Threads: what `sluice run` writes is the same for every number of them, and the summary says how many."""
import json
import os
import subprocess
import unittest

from support import BINARY, CliTest

NETWORK = """\
mode = "packet"
[topology]
type = "rail-optimized"
gpus = 32
gpus_per_server = 8
servers_per_segment = 2
rate = "100Gbps"
delay = "1us"
"""
FLOWS = NETWORK + """\
[workload]
type = "permutation"
size = "200KB"
"""
JOB = NETWORK + """\
[workload]
type = "training"
model = "gpt-13b"
tp = 8
dp = 2
pp = 2
sequence = 128
micro_batch = 1
micro_batches = 2
gpu = "A100"
[output]
trace = true
"""
STREAM = NETWORK + """\
[workload]
type = "stream"
operations = 30
pattern = "shift"
bytes = "16KB"
compute = "5us"
"""
# 150,000 packets of a flow fit into its window: more than packets can name INT slots.
FAR = """mode = "packet"
[topology]
type = "fat-tree"
k = 4
rate = "100Gbps"
delay = "1ms"
[congestion]
law = "hpcc"
[workload]
type = "flows"
list = [[12, 11, "60MB", "0ps"], [6, 5, "60MB", "0ps"]]
"""


class Threads(CliTest):
    def test_more_packets_in_flight_than_int_slots(self):
        self.check_same(self.write("far.toml", FAR))

    def test_too_few_threads_are_told(self):
        scenario = self.write("s.toml", FLOWS.replace("[topology]", "fold = false\n[topology]"))
        limited = subprocess.run(
            ["bash", "-c", f"ulimit -v 300000; exec '{BINARY}' run {scenario} --threads 64 --out out --quiet"],
            cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(limited.returncode, 2, limited.stderr)
        self.assertRegex(limited.stderr, r"^sluice: the system does not make \d+ threads here \(.*\); allowed: fewer\n$")

    def check_same(self, scenario, *arguments):
        """The summaries of runs on 1, 2, 4 and 8 threads, whose other files are the same."""
        summaries = []
        for threads in ("1", "2", "4", "8"):
            self.succeed("run", scenario, "--threads", threads, "--out", threads, *arguments)
            summaries.append(json.loads((self.folder / threads / "summary.json").read_text()))
            for path in (self.folder / "1").iterdir():
                if path.name != "summary.json":
                    self.assertEqual(path.read_bytes(),
                                     (self.folder / threads / path.name).read_bytes(), path.name)
            for key in ("simulated_s", "packet_hops", "windows", "events"):
                self.assertEqual(summaries[0].get(key), summaries[-1].get(key), key)
        return summaries

    def test_flows(self):
        self.write("flows.toml", FLOWS)
        summaries = self.check_same("flows.toml", "--set", "topology.loss=0.001")
        self.assertEqual([summary.get("threads") for summary in summaries], [None, 2, 4, 8])

    def test_a_job_folded_and_not(self):
        self.write("job.toml", JOB)
        folded = self.check_same("job.toml", "--set", "stop=35ms")
        self.assertGreater(folded[1]["fold"]["hops"], 0)
        unfolded = self.check_same("job.toml", "--set", "stop=35ms", "--no-fold")
        self.assertEqual(unfolded[1]["threads"], 2)

    def test_hybrid(self):
        self.write("job.toml", JOB)
        for arguments in (("--no-fold",), ("--set", "phases.wake=data")):
            summaries = self.check_same("job.toml", "--mode", "hybrid", "--set", "stop=60ms",
                                        *arguments)
            self.assertEqual([summary.get("threads") for summary in summaries], [None, 2, 4, 8])
            self.assertGreater(summaries[0]["skips"], 0)
            for key in ("skips", "skip_backs", "hops_saved"):
                self.assertEqual(summaries[0][key], summaries[-1][key], key)

    def test_as_many_as_help_with_phases(self):
        self.write("busy.toml", FLOWS.replace("gpus = 32", "gpus = 256").replace("200KB", "2MB"))
        for threads in (("--threads", "1"), ()):
            self.succeed("run", "busy.toml", "--mode", "hybrid", "--set", "phases.wake=data", "--no-fold",
                         *threads, "--out", "out" + "".join(threads[1:]))
        for name in ("flows.csv", "phases.csv", "ports.csv"):
            self.assertEqual((self.folder / "out" / name).read_bytes(),
                             (self.folder / "out1" / name).read_bytes(), name)
        summary = json.loads((self.folder / "out/summary.json").read_text())
        self.assertGreater(summary["skips"], 0)
        if len(os.sched_getaffinity(0)) > 1:
            self.assertEqual(summary["threads"], 2)

    def test_servers_at_the_end_of_long_cables(self):
        """Inside a server a step takes 3.4 us, over any cable more than 5: the job limits the window."""
        self.write("tiny.toml", "layers = 2\nhidden = 64\nheads = 8\n")
        job = ("mode = \"packet\"\n[topology]\n%s\ndelay = \"5us\"\ngpus_per_server = 8\n"
               "[workload]\ntype = \"training\"\nmodel = \"tiny.toml\"\ntp = %d\n"
               "micro_batches = 2\nsequence = 512\nforward_time = \"20us\"\n"
               "backward_time = \"40us\"\n")
        for network in ("type = \"star\"\nhosts = 32",
                        "type = \"leaf-spine\"\nleaves = 4\nhosts_per_leaf = 8",
                        "type = \"three-tier\"\npods = 2\nleaves_per_pod = 2\nhosts_per_leaf = 8"):
            for tp in (8, 4, 1):
                with self.subTest(network=network, tp=tp):
                    self.write("job.toml", job % (network, tp))
                    self.check_same("job.toml", "--no-fold")
                    self.check_same("job.toml")
        # A job inside a server knows nothing of the cables between servers.
        self.write("job.toml", job % ("type = \"star\"\nhosts = 8", 2))
        ends = set()
        for delay in ("1us", "5us", "80us"):
            self.succeed("run", "job.toml", "--set", f"topology.delay={delay}", "--out", "out")
            ends.add((self.folder / "out/collectives.csv").read_text())
        self.assertEqual(len(ends), 1)

    def test_what_is_for_one_thread_runs_on_one(self):
        self.write("flows.toml", FLOWS)
        self.write("stream.toml", STREAM)
        for arguments in (("stream.toml", "--threads", "2"),
                          ("flows.toml", "--threads", "2", "--set", "network.arithmetic=ns3"),
                          ("flows.toml", "--set", "workload.size=2KB")):  # too little to do
            self.succeed("run", *arguments, "--out", "out")
            summary = json.loads((self.folder / "out/summary.json").read_text())
            self.assertNotIn("threads", summary, arguments)

    def test_at_least_one(self):
        self.write("flows.toml", FLOWS)
        self.refuse("run", "flows.toml", "--threads", "0", says="--threads")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""What a run says about why it took so long, and what of the scenario did not matter."""
import json
import unittest

from support import CliTest

JOB = """\
name = "job"
[topology]
type = "rail-optimized"
gpus = 32
gpus_per_server = 8
[workload]
type = "training"
model = "gpt-6.7b"
tp = 8
pp = 2
micro_batches = 4
"""


class Explain(CliTest):
    def summary(self, folder="runs/job"):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def test_shares_add_up_to_the_completion_time(self):
        self.write("job.toml", JOB)
        text = self.succeed("run", "job.toml", "--mode", "flow").stdout
        job = self.summary()["jobs"][0]
        self.assertAlmostEqual(sum(job["critical_path_s"].values()), job["jct_s"], places=11)
        means = sum(share["mean"] for share in job["rank_time_s"].values())
        self.assertAlmostEqual(means, job["jct_s"], places=10)
        self.assertIn("DP over nic", job["critical_path_s"])
        self.assertIn("bound by", text)
        self.assertNotIn("warning", text)

    def test_computed_steps_of_a_collective_are_inside_servers(self):
        self.write("job.toml", """
[topology]
type = "rail-optimized"
gpus = 32
[workload]
type = "training"
model = { base = "gpt-7b", layers = 4, hidden = 512, heads = 8, ffn = 2048 }
tp = 4
""")
        self.succeed("run", "job.toml", "--mode", "flow")
        # Rings of data parallelism pass between servers and, computed, inside them.
        shares = self.summary()["jobs"][0]["critical_path_s"]
        self.assertLessEqual({"DP over nic", "DP inside servers"}, set(shares))
        self.assertNotIn("DP", shares)

    def test_bytes_by_link_class(self):
        self.write("job.toml", JOB)
        self.succeed("run", "job.toml", "--mode", "flow")
        classes = {c["name"]: c for c in self.summary()["link_classes"]}
        sent = self.summary()["bytes"]
        # Every flow leaves by a host's cable and arrives by one; headers and ACKs come on top.
        self.assertGreater(classes["nic"]["bytes"], 2 * sent)
        self.assertLess(classes["nic"]["bytes"], 2.5 * sent)
        self.assertLessEqual(classes["nic"]["most_utilization"], 1)

    def test_keys_without_effect(self):
        self.write("job.toml", JOB + """
[phases]
theta = 0.05
[congestion]
law = "hpcc"
[congestion.timely]
beta = 0.8
[network.ecn]
kmin = "1MB"
kmax = "2MB"
""")
        text = self.succeed("run", "job.toml", "--set", "workload.model=gpt-6.7b", "--set",
                            "workload.micro_batches=1", "--set", "workload.sequence=64", "--set",
                            "workload.gradient_bytes=1", "--mode", "flow").stdout
        keys = {line.split(":")[0] for line in self.summary()["keys_without_effect"]}
        self.assertEqual(keys, {"phases.theta", "congestion.timely.beta", "network.ecn.kmin",
                                "network.ecn.kmax"})
        self.assertIn("no effect", text)
        self.write("ring.toml", "[topology]\ntype = \"star\"\nhosts = 3\n[workload]\n"
                   "type = \"ring-all-reduce\"\nsize = \"10KB\"\n[phases]\neps_q = \"1KB\"\n"
                   "[congestion.hpcc]\nmax_stage = 5\n")
        self.succeed("run", "ring.toml", "--mode", "hybrid")
        self.assertEqual([line.split(":")[0] for line in
                          self.summary("runs/ring")["keys_without_effect"]], ["phases.eps_q"])

    def test_keys_named_without_effect_have_none(self):
        """Each key changes the results exactly if it is not named, in several modes and settings."""
        self.write("mix.toml", """
[topology]
type = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
[[workload]]
type = "permutation"
size = "400KB"
[[workload]]
type = "incast"
senders = 3
size = "300KB"
priority = 5
""")

        def results(mode, *keys):
            options = [word for key in keys for word in ("--set", key)]
            self.succeed("run", "mix.toml", "--mode", mode, "--out", "out", *options)
            tables = [(self.folder / "out" / name).read_text() for name in
                      ("flows.csv", "ports.csv")]
            return tables, [line.split(":")[0] for line in
                            self.summary("out")["keys_without_effect"]]

        used = 0
        for mode, base, keys in (
                ("flow", (), (
                    'congestion.law="dcqcn"', "congestion.hpcc.target_utilization=0.5",
                    "congestion.hpcc.max_stage=0", "congestion.window=false",
                    "network.nic.ack_every=4", "network.nic.ack_chunk=2",
                    "network.nic.global_base_rtt=false", "network.packet.header=100",
                    "network.packet.pause=400", "network.pfc=false", "topology.loss=0.01",
                    "topology.fabric_loss=0.01", "topology.fabric_delay=2us", "seed=2",
                    "network.load_balance=spray", "network.queues.scheduler=strict")),
                ("flow", ("network.nic.back_to_zero=true",), ("network.nic.ack_chunk=2",)),
                ("packet", ("network.nic.back_to_zero=true",), ("network.nic.ack_chunk=2",)),
                ("packet", (), ("topology.loss=0.01", "topology.fabric_loss=0.01", "seed=2")),
                ("flow", ("network.nic.ack_every=3",), ("network.nic.ack_chunk=1",)),
                ("flow", ('congestion.law="dcqcn"',), ("congestion.hpcc.target_utilization=0.5",)),
                ("packet", ("network.nic.ack_every=3",), ("network.nic.ack_chunk=1",)),
                ("packet", ("network.pfc=false",), (
                    "network.nic.ack_chunk=2", "network.packet.pause=400",
                    "network.queues.ack_pause_class=0", "network.buffer.alpha_shift=1")),
                ("packet", ('congestion.law="dcqcn"', "network.ecn.enabled=false"),
                 ("network.ecn.kmin=10KB", "congestion.variable_window=true")),
                ("packet", ('congestion.law="dcqcn"',), ("network.ecn.kmin=10KB",)),
                ("hybrid", ("phases.skip=false",), (
                    'phases.rates="maxmin"', 'phases.restore="empty"',
                    "phases.longest_skip=5us"))):
            before, _ = results(mode, *base)
            for key in keys:
                after, unused = results(mode, *base, key)
                self.assertEqual(before == after, key.split("=")[0] in unused, (mode, base, key))
                used += before != after
        self.assertGreaterEqual(used, 6)

    def test_a_job_that_never_uses_the_network_is_told_so(self):
        self.write("job.toml", JOB)
        text = self.succeed("run", "job.toml", "--mode", "flow", "--set", "topology.gpus=8", "--set",
                            "workload.pp=1", "--set", "workload.forward_time=10ms", "--set",
                            "workload.backward_time=20ms").stdout
        self.assertIn("no traffic crosses a NIC", text)
        self.assertEqual(len(self.summary()["warnings"]), 2)

    def test_losses_that_mode_flow_does_not_know_are_told(self):
        self.write("lossy.txt", "4 1 3\n3\n0 3 100Gbps 1us 0.01\n1 3 100Gbps 1us 0\n"
                                "2 3 100Gbps 1us 0.02\n")
        self.write("lossy.toml", '[topology]\ntype = "file"\npath = "lossy.txt"\n[workload]\n'
                                 'type = "ring"\nsize = "10KB"\n')
        says = "2 of 3 links lose packets (loss > 0), which mode flow does not model"
        for command in ("run", "describe"):
            self.assertIn(says, self.succeed(command, "lossy.toml", "--set", "mode=flow").stdout)
        self.assertIn(says, self.summary("runs/lossy")["warnings"][0])
        self.assertNotIn(says, self.succeed("run", "lossy.toml", "--mode", "packet").stdout)

    def test_a_timeout_within_a_round_trip_is_told(self):
        self.write("far.toml", "[topology]\ntype = \"star\"\nhosts = 2\ndelay = \"1ms\"\n"
                   "[workload]\ntype = \"flows\"\nlist = [[0, 1, \"1MB\", \"0ps\"]]\n")
        for mode, timeout, told in (("packet", "4ms", True), ("packet", "4.1ms", False),
                                    ("packet", "0s", False), ("flow", "4ms", False)):
            with self.subTest(mode=mode, timeout=timeout):
                self.succeed("run", "far.toml", "--mode", mode, "--out", "out", "--set",
                             "network.nic.retransmit_timeout=" + timeout)
                summary = self.summary("out")
                told_of = [w for w in summary["warnings"]
                           if "is no longer than a flow's round trip" in w]
                self.assertEqual(len(told_of), told)
                self.assertEqual(summary.get("retransmitted_bytes", 0) > 0, told)

    def test_the_timeout_follows_the_network_unless_it_is_given(self):
        # A bottleneck of 5 ms: by 4 ms no ACK can be back.
        self.write("far.toml", "[topology]\ntype = \"dumbbell\"\nbottleneck_delay = \"5ms\"\n"
                   "[workload]\ntype = \"flows\"\nlist = [[0, 2, \"1MB\", \"0ps\"]]\n")

        def nic(*words):
            self.succeed("run", "far.toml", "--mode", "packet", "--out", "out", *words)
            summary = self.summary("out")
            return summary["config"]["network"]["nic"]["retransmit_timeout"], summary

        timeout, summary = nic()
        self.assertEqual(timeout, "41ms")  # four round trips of more than 10 ms
        self.assertEqual(summary["retransmitted_bytes"], 0)
        self.assertEqual(summary["warnings"], [])
        timeout, summary = nic("--set", "network.nic.retransmit_timeout=4ms")
        self.assertEqual(timeout, "4ms")
        self.assertGreater(summary["retransmitted_bytes"], 0)
        for delay in ("1us", "100us"):
            self.assertEqual(nic("--set", "topology.bottleneck_delay=" + delay)[0], "4ms")
        # A long way of many short cables.
        self.write("far.toml", "[topology]\ntype = \"torus\"\ndimensions = [30, 2]\ndelay = \"80us\"\n"
                   "[workload]\ntype = \"flows\"\nlist = [[0, 2, \"1MB\", \"0ps\"]]\n")
        self.assertRegex(nic()[0], r"^1\dms$")

    def test_software_of_a_collective_is_told_apart(self):
        self.write("ring.toml", "[topology]\ntype = \"star\"\nhosts = 4\n[workload]\n"
                   "type = \"collective\"\nkind = \"all-reduce\"\nsize = \"1MB\"\n"
                   "overhead = \"7us\"\n")
        self.succeed("run", "ring.toml", "--mode", "flow")
        path = self.summary("runs/ring")["jobs"][0]["critical_path_s"]
        self.assertEqual(set(path), {"collective software", "collective over nic"})
        self.assertAlmostEqual(path["collective software"], 7e-6, places=12)

    def test_a_job_cut_off_names_what_is_blocked(self):
        self.write("cut.toml", "[topology]\ntype = \"star\"\nhosts = 3\n[workload]\n"
                   "type = \"ring-all-reduce\"\nsize = \"10MB\"\n[[link_event]]\nat = \"10us\"\n"
                   "link = 1\n")
        result = self.sluice("run", "cut.toml")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("operations unfinished", result.stderr)
        self.assertIn("waits for", result.stderr)


if __name__ == "__main__":
    unittest.main()

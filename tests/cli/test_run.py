# SPDX-License-Identifier: Apache-2.0
"""`sluice run`: outputs, overrides, determinism, interruption, exit codes."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from support import BINARY, EXAMPLES, SMALL, SOURCE, CliTest

SUMMARY_KEYS = {
    "mode", "scenario", "seed", "jct_s", "flows", "flows_completed", "bytes", "packet_hops",
    "events", "wall_s", "user_s", "packet_hops_per_s", "peak_rss_bytes", "fct_s", "drops",
    "pfc_pauses", "ecn_marks", "version", "config",
}


class Run(CliTest):
    def test_hpcc_hears_of_its_path_where_few_packets_have_int_slots(self):
        """Alone it leaves 5% of a link unused; deaf, it would send at line rate."""
        self.write("far.toml", """mode = "packet"
[topology]
type = "star"
hosts = 2
rate = "100Gbps"
delay = "3ms"
[congestion]
law = "hpcc"
[network.nic]
retransmit_timeout = "100ms"
[workload]
type = "flows"
list = [[0, 1, "1GB", "0ps"]]
""")
        for ack_every in (1, 2, 4):
            self.succeed("run", "far.toml", "--out", "out", "--set",
                         f"network.nic.ack_every={ack_every}")
            with open(self.folder / "out" / "flows.csv", newline="") as file:
                slowdown = float(next(csv.DictReader(file))["slowdown"])
            self.assertGreater(slowdown, 1.01, ack_every)
            self.assertLess(slowdown, 1.1, ack_every)

    def summary(self, folder="runs/small"):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def test_outputs_exist_and_parse(self):
        self.write("small.toml", SMALL)
        result = self.succeed("run", "small.toml")
        self.assertIn("4 of 4 completed", result.stdout)
        summary = self.summary()
        self.assertLessEqual(SUMMARY_KEYS, set(summary))
        self.assertEqual(summary["flows"], 4)
        self.assertEqual(summary["flows_completed"], 4)
        self.assertEqual(summary["bytes"], 400_000)
        # 100 data packets and 100 ACKs over 2 links each, 4 times.
        self.assertEqual(summary["packet_hops"], 4 * 2 * 200)
        self.assertEqual(summary["config"]["topology"]["rate"], "100Gbps")
        with open(self.folder / "runs/small/flows.csv", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 4)
        with open(self.folder / "runs/small/ports.csv", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 8)
        json.loads((self.folder / "runs/small/trace.json").read_text())
        self.assertFalse(list(self.folder.rglob("*.partial")))

    def test_out_and_set_override_the_scenario(self):
        self.write("small.toml", SMALL)
        self.succeed("run", "small.toml", "--out", "elsewhere", "--set", "topology.hosts=6",
                     "--set", "congestion.law=dctcp", "--set", "workload.size=\"50KB\"",
                     "--set", "seed=7", "--threads", "2", "--mode", "packet")
        summary = self.summary("elsewhere")
        self.assertEqual(summary["flows"], 6)
        self.assertEqual(summary["bytes"], 300_000)
        self.assertEqual(summary["seed"], 7)
        self.assertEqual(summary["config"]["congestion"]["law"], "dctcp")
        self.assertFalse((self.folder / "runs").exists())

    def test_two_runs_write_the_same_flows(self):
        self.write("small.toml", SMALL)
        for folder in ("one", "two"):
            self.succeed("run", "small.toml", "--out", folder, "--set", "congestion.law=dcqcn",
                         "--set", "workload.type=incast", "--set", "topology.hosts=17",
                         "--set", "workload.jitter=2us")
        one, two = ((self.folder / name / "flows.csv").read_bytes() for name in ("one", "two"))
        self.assertEqual(one, two)

    def test_seed_changes_random_traffic(self):
        self.write("small.toml", SMALL)
        for seed in (1, 2):
            self.succeed("run", "small.toml", "--out", f"s{seed}", "--set", f"seed={seed}",
                         "--set", "topology.hosts=16")
        one, two = ((self.folder / name / "flows.csv").read_bytes() for name in ("s1", "s2"))
        self.assertNotEqual(one, two)

    def test_quiet_prints_nothing(self):
        self.write("small.toml", SMALL)
        result = self.succeed("run", "small.toml", "--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))

    def test_optional_files(self):
        self.write("small.toml", SMALL + "[output]\nfct = true\ntrace = false\n")
        self.succeed("run", "small.toml")
        lines = (self.folder / "runs/small/fct.txt").read_text().splitlines()
        self.assertEqual(len(lines), 4)
        self.assertEqual(len(lines[0].split()), 8)
        self.assertFalse((self.folder / "runs/small/trace.json").exists())

    def test_flow_list_and_lone_flow_time(self):
        self.write("lone.toml", "[topology]\ntype = \"star\"\nhosts = 2\n"
                   "[congestion]\nlaw = \"dctcp\"\n"
                   "[workload]\ntype = \"flows\"\nlist = [[0, 1, \"1000B\", \"5us\"]]\n")
        self.succeed("run", "lone.toml")
        with open(self.folder / "runs/lone/flows.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        # Two links of 1 us each way, 1048 B and 60 B at 80 ps a byte, twice each:
        # 4,000,000 + 2 x 83,840 + 2 x 4,800 = 4,177,280 ps.
        self.assertIn("4177280", rows[0].values())

    def test_flow_file_cdf_and_topology_file(self):
        self.write("in/topo.txt", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n")
        self.write("in/flow.txt", "1\n0 1 3 100 5000 2.0\n")
        self.write("in/sizes.csv", "1000,0\n2000,100\n")
        # Paths are tried from the working directory, then from the scenario's own folder.
        self.write("in/files.toml", "[topology]\ntype = \"file\"\npath = \"topo.txt\"\n"
                   "[[workload]]\ntype = \"flows\"\nfile = \"flow.txt\"\n"
                   "[[workload]]\ntype = \"poisson\"\ncdf = \"sizes.csv\"\nload = 0.1\n"
                   "duration = \"10us\"\n")
        self.succeed("run", "in/files.toml")
        self.assertGreaterEqual(self.summary("runs/files")["flows_completed"], 2)

    def test_a_lone_hpcc_flow_gets_the_line_at_any_rate(self):
        self.write("lone.toml", "[topology]\ntype = \"star\"\nhosts = 2\n[workload]\n"
                   "type = \"flows\"\nlist = [[0, 1, \"8MB\"]]\n")
        for gigabits in (25, 100, 200, 400, 800):
            self.succeed("run", "lone.toml", "--set", f"topology.rate={gigabits}Gbps")
            ideal = 8e6 * 8 * 1.09 / (gigabits * 1e9)
            self.assertLess(self.summary("runs/lone")["fct_s"]["max"], 1.12 * ideal + 10e-6)

    def test_small_job_runs_and_writes_collectives(self):
        self.write("job.toml", "[topology]\ntype = \"rail-optimized\"\ngpus = 16\n"
                   "[workload]\ntype = \"ring-all-reduce\"\nsize = \"100KB\"\ngroups = \"rail\"\n")
        self.succeed("run", "job.toml")
        with open(self.folder / "runs/job/collectives.csv", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 8)
        self.assertEqual(self.summary("runs/job")["flows_completed"], 8 * 2 * 2)

    def test_groups_of_a_collective(self):
        self.write("job.toml", "[topology]\ntype = \"rail-optimized\"\ngpus = 32\n"
                   "[workload]\ntype = \"ring-all-gather\"\nsize = \"100KB\"\n")

        def pairs(*sets):
            self.succeed("run", "job.toml", *[word for key in sets for word in ("--set", key)])
            with open(self.folder / "runs/job/flows.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            return ({row["label"] for row in rows},
                    {(int(row["src"]), int(row["dst"])) for row in rows}, len(rows))

        # Servers are hosts 0..7, 8..15, ...: 4 rings of 8 members, of 7 steps each.
        label, sent, flows = pairs("workload.groups=server")
        self.assertEqual((label, flows), ({"collective"}, 4 * 8 * 7))
        self.assertEqual(sent, {(i, i // 8 * 8 + (i + 1) % 8) for i in range(32)})
        # A rail has a host of each of the 4 servers; pairs of neighbours: servers 0-1 and 2-3.
        label, sent, flows = pairs("workload.groups=rail", "workload.group_size=2")
        self.assertEqual((label, flows), ({"collective"}, 32))
        self.assertEqual(sent, {(i, i ^ 8) for i in range(32)})
        label, sent, flows = pairs("workload.group_size=16")
        # Over 2 servers of 8: a ring per member of a server, from server to server by all NICs.
        self.assertEqual((label, flows), ({"collective"}, 8 * 2 * 16 * 15))
        self.assertEqual({a for a, b in sent if a // 8 != b // 8}, set(range(32)))
        self.assertEqual({(a, b) for a, b in sent if a // 8 != b // 8}, {(i, i ^ 8) for i in range(32)})
        _, sent, _ = pairs("workload.group_size=16", "workload.ring_order=given")
        self.assertIn((15, 0), sent)
        self.assertNotIn((15, 16), sent)
        label, sent, flows = pairs("workload.group_size=16", "workload.channels=1")
        self.assertEqual((flows, {a % 8 for a, b in sent if a // 8 != b // 8}), (2 * 16 * 15, {0, 7}))
        for bad in ("workload.group_size=3", "workload.group_size=1", "workload.group_size=64"):
            result = self.sluice("run", "job.toml", "--set", bad)
            self.assertEqual(result.returncode, 2, bad)
            self.assertIn("group", result.stderr)

    def test_ideal_times_are_those_of_given_paths(self):
        # A triangle of switches 3, 4, 5, given the long way round: one more link each way.
        self.write("lone.toml", "[topology]\ntype = \"full-mesh\"\nswitches = 3\n"
                   "hosts_per_switch = 1\n[congestion]\nlaw = \"none\"\n"
                   "[workload]\ntype = \"flows\"\nlist = [[0, 1, \"1000B\"]]\n")
        self.write("paths.csv", "src,dst,sport,path\n0,1,10000,0-3-5-4-1\n1,0,100,1-4-5-3-0\n")
        self.succeed("run", "lone.toml", "--paths", "paths.csv")
        with open(self.folder / "runs/lone/flows.csv", newline="") as file:
            flow = next(csv.DictReader(file))
        # Four links of 1 us each way, 1048 B and 60 B at 80 ps a byte.
        self.assertEqual(flow["ideal_ps"], str(4 * (2_000_000 + 83_840 + 4_800)))
        self.assertEqual(flow["fct_ps"], flow["ideal_ps"])

    def test_work_left_is_exit_code_3(self):
        self.write("down.toml", SMALL + "[[link_event]]\nat = \"1us\"\nlink = 0\n")
        result = self.sluice("run", "down.toml")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("unfinished", result.stderr)
        self.assertLess(self.summary("runs/small")["flows_completed"], 4)

    def test_stop_is_no_failure(self):
        self.write("small.toml", SMALL)
        self.succeed("run", "small.toml", "--set", "stop=2us")
        self.assertEqual(self.summary()["flows_completed"], 0)

    def test_repeated_runs_replace_their_outputs(self):
        self.write("small.toml", SMALL)
        self.succeed("run", "small.toml")
        self.succeed("run", "small.toml", "--set", "topology.hosts=2")
        self.assertEqual(self.summary()["flows"], 2)

    def test_interrupt_keeps_what_finished(self):
        self.write("long.toml", "[topology]\ntype = \"fat-tree\"\nk = 4\n"
                   "[[workload]]\ntype = \"permutation\"\nsize = \"10KB\"\n"
                   "[[workload]]\ntype = \"permutation\"\nsize = \"100GB\"\n")
        process = subprocess.Popen([str(BINARY), "run", "long.toml"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2.5)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("interrupted", errors)
        summary = self.summary("runs/long")
        self.assertTrue(summary["interrupted"])
        self.assertEqual(summary["flows"], 32)
        self.assertEqual(summary["flows_completed"], 16)
        with open(self.folder / "runs/long/flows.csv", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 16)
        self.assertFalse(list(self.folder.rglob("*.partial")))

    def test_hpcc_experiment_runs_unchanged(self):
        reference = pathlib.Path(os.environ.get("SLUICE_REFERENCE", SOURCE / "../shared/reference"))
        dumbbell = (reference / "ns3" / "a_dumbbell").resolve()
        if not (dumbbell / "hpcc" / "config.txt").exists():
            self.skipTest(f"no reference experiments at {reference}")
        self.succeed("run", "--hpcc", dumbbell / "hpcc" / "config.txt", "--paths",
                     dumbbell / "flow_paths.csv", "--out", "dumbbell")
        expected = sorted((dumbbell / "hpcc" / "fct.txt").read_text().split("\n"))
        written = sorted((self.folder / "dumbbell" / "fct.txt").read_text().split("\n"))
        self.assertEqual(len(written), len(expected))
        for ours, theirs in zip(written, expected):
            self.assertEqual(ours.split()[:5], theirs.split()[:5])
        self.assertEqual(self.summary("dumbbell")["flows_completed"], len(expected) - 1)

    def test_quick_examples_run(self):
        for name in ("incast", "permutation-fattree", "link-failure", "websearch-fattree"):
            with self.subTest(example=name):
                self.succeed("run", EXAMPLES / f"{name}.toml", "--quiet", "--out", name)
                summary = self.summary(name)
                self.assertEqual(summary["flows_completed"], summary["flows"])


if __name__ == "__main__":
    unittest.main()

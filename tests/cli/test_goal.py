# SPDX-License-Identifier: Apache-2.0
"""GOAL schedules and htsim's files, from outside: LogGOPSim's lines, networks, checks, conversion."""
import json
import os
import pathlib
import unittest

import support

RING = (support.SOURCE / "tests" / "data" / "ring4.goal").read_text()

NETWORK = """\
name = "net"
[topology]
type = "star"
hosts = 8
"""

MATRIX = """\
Nodes 4
Connections 3
Triggers 1
0->1 id 1 start 0 size 100000 recv_done_trigger 1
2->1 id 2 start 1000000 size 100000 recv_done_trigger 1
1->3 id 3 trigger 1 size 5000
trigger id 1 barrier count 2
"""

TOPO = """\
Nodes 8
Tiers 2
Podsize 8
Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Downlink_Latency_ns 1000
Oversubscribed 2
Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Downlink_Latency_ns 1000
"""

DEADLOCK = "num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 5\n}\nrank 1 {\n}\n"


class GoalTest(support.CliTest):
    def summary(self, folder):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def hosts(self, *arguments):
        lines = self.succeed("goal", *arguments).stdout.splitlines()
        return [int(line.split()[-1]) for line in lines if line.startswith("Host ")]

    def test_loggops_prints_the_lines_of_loggopsim(self):
        self.write("ring.goal", RING)
        result = self.succeed("goal", "ring.goal")
        self.assertIn("Host 0: 6319432\nHost 1: 3160716\nHost 2: 4740074\nHost 3: 6319432\n",
                      result.stdout)
        self.assertIn("Maximum finishing time at host 0: 6319432 (0.00631943 s)\n", result.stdout)
        self.assertEqual(self.hosts("ring.goal", "-S", 100000000),
                         [6319432, 1582858, 3162216, 4741574])
        self.assertEqual(
            self.hosts("-f", "ring.goal", "-L", 1000, "-o", 0, "-g", 0, "-G", 0.02, "-S", 100000000,
                       "-n", "LogGP"),
            [26968, 8242, 14484, 20726])
        self.assertNotIn("Host 0", self.succeed("goal", "ring.goal", "--batchmode").stdout)

    def test_formats_convert_into_each_other(self):
        self.write("ring.goal", RING)
        self.succeed("goal", "ring.goal", "--to-binary", "a.bin")
        self.succeed("goal", "a.bin", "--to-text", "a.goal")
        self.succeed("goal", "a.goal", "--to-binary", "b.bin")
        self.assertEqual((self.folder / "a.bin").read_bytes(), (self.folder / "b.bin").read_bytes())
        self.assertEqual(self.hosts("a.bin"), self.hosts("ring.goal"))

    def test_schedules_run_on_a_network_in_every_mode(self):
        self.write("ring.goal", RING)
        self.write("net.toml", NETWORK)
        times = []
        for mode in ["packet", "hybrid", "flow"]:
            self.succeed("goal", "ring.goal", "--topology", "net.toml", "--mode", mode, "--out",
                         mode, "--quiet")
            summary = self.summary(mode)
            self.assertEqual(summary["flows_completed"], 4)
            times.append(summary["jct_s"] * 1e12)
        # Four messages of 262144 B one after the other over two cables of 1 us, 263 packets of 1048 B
        # each: 2 x 1 us + 263 packets and one more hop's, and an ACK back at the sends.
        least = 4 * (262144 * 80 + 2 * 10**6)
        for time in times:
            self.assertGreater(time, least)
            self.assertLess(time, 1.35 * least)

    def test_checks_and_deadlocks(self):
        self.write("dead.goal", DEADLOCK)
        self.write("net.toml", NETWORK)
        result = self.sluice("goal", "dead.goal")
        self.assertEqual(result.returncode, 3)
        self.assertIn("rank 0 recv of 8 bytes from rank 1 tag 5", result.stderr)
        self.assertNotIn("Host", result.stdout)
        self.refuse("goal", "dead.goal", "--topology", "net.toml",
                    says=["dead.goal: rank 0 recv", "waits for a message that nobody sends"])
        checked = self.sluice("goal", "dead.goal", "--check")
        self.assertEqual(checked.returncode, 2)
        self.assertIn("does not fit: rank 0 recv", checked.stdout)
        self.write("ring.goal", RING)
        self.assertIn("GOAL text, 4 ranks, 10 operations",
                      self.succeed("goal", "ring.goal", "--check").stdout)

    def test_lost_link_is_work_left(self):
        self.write("ring.goal", RING)
        self.write("net.toml", NETWORK + '[[link_event]]\nat = "5us"\nlink = 0\n')
        for mode in ("packet", "hybrid", "flow"):
            result = self.sluice("goal", "ring.goal", "--topology", "net.toml", "--mode", mode)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertRegex(result.stderr, r'the job "goal" stopped with \d+ of \d+ op')
            self.assertIn("waits for flow 0 (262144 bytes, rank 0 to rank 1)", result.stderr)

    def test_mistakes_are_one_line(self):
        self.write("net.toml", NETWORK)
        self.write("bad.goal", "num_ranks 1\r\nrank 0 {\r\nl1: calc 5\r\nl1: calc 6\r\n}\r\n")
        self.refuse("goal", "none.goal", says="none.goal: no such file")
        self.refuse("goal", ".", says="is a folder")
        self.refuse("goal", says="needs a FILE")
        self.refuse("goal", "bad.goal", says="bad.goal:4: label l1 is defined twice in rank 0")
        self.refuse("goal", "bad.goal", "--topology", "net.toml",
                    says="bad.goal:4: label l1 is defined twice")
        self.write("wide.goal", "num_ranks 9\n" +
                   "".join(f"rank {rank} {{\n}}\n" for rank in range(9)))
        self.refuse("goal", "wide.goal", "--topology", "net.toml", says="8")
        self.write("ring.goal", RING)
        (self.folder / "cut.bin").write_bytes(b"\x7f\x10" + bytes(20))
        self.refuse("goal", "cut.bin", says="cut.bin: has no ranks")
        self.refuse("goal", "ring.goal", "-n", "tree", says="tree")
        self.refuse("goal", "ring.goal", "-G", "-1", says="G is 0 to")

    def test_several_schedules_share_a_network(self):
        self.write("ring.goal", RING)
        self.write("two.toml", NETWORK +
                   '[[workload]]\ntype = "goal"\nfile = "ring.goal"\nname = "a"\n'
                   '[[workload]]\ntype = "goal"\nfile = "ring.goal"\nname = "b"\n'
                   'placement = "random"\n')
        self.succeed("run", "two.toml", "--out", "two", "--quiet")
        self.assertEqual(self.summary("two")["flows_completed"], 8)

    def test_jobs_merge_into_one_schedule(self):
        self.write("ring.goal", RING)
        ring = self.hosts("ring.goal")
        self.write("pair.goal", "num_ranks 2\nrank 0 {\ncalc 7\n}\nrank 1 {\ncalc 9\n}\n")
        config = {"mode": "multi-job", "goal_files": ["ring.goal", "pair.goal"]}
        expected = {
            "packed": ring + [7, 9],
            "round-robin": [ring[0], 7, ring[1], 9, ring[2], ring[3]],
        }
        for pattern, hosts in expected.items():
            self.write("m.json", json.dumps({**config, "pattern": pattern}))
            self.assertEqual(self.hosts("--merge", "m.json"), hosts)
        self.write("m.json", json.dumps({**config, "pattern": [[7, 5, 3, 1], [0, 2]]}))
        self.assertEqual(self.hosts("--merge", "m.json"),
                         [7, ring[3], 9, ring[2], 0, ring[1], 0, ring[0]])
        self.succeed("goal", "--merge", "m.json", "--to-binary", "m.bin")
        self.assertIn("8 ranks", self.succeed("goal", "m.bin", "--check").stdout)
        self.write("m.json", json.dumps({**config, "pattern": "random"}))
        drawn = self.hosts("--merge", "m.json", "--seed", 3)
        self.assertEqual(sorted(drawn), sorted(ring + [7, 9]))
        self.assertEqual(self.hosts("--merge", "m.json", "--seed", 3), drawn)
        for bad, says in [({"pattern": [[0, 1, 2, 3], [3, 4]]}, "rank 3 to job 0 and job 1"),
                          ({"pattern": [[0, 1, 2], [3, 4]]}, "gives job 0 3 ranks, it has 4"),
                          ({"pattern": "tree"}, "pattern must be"),
                          ({"mode": "multi-tenant"}, "mode must be"),
                          ({"goal_files": []}, "goal_files must be"),
                          ({"goal_files": ["none.goal"]}, "none.goal: no such file")]:
            self.write("m.json", json.dumps({**config, **bad}))
            self.refuse("goal", "--merge", "m.json", says=says)
        self.write("m.json", "[")
        self.refuse("goal", "--merge", "m.json", says="m.json: is not a JSON object")

    def test_htsim_files_run(self):
        self.write("m.cm", MATRIX)
        self.write("t.topo", TOPO)
        self.write("h.toml", 'name = "h"\n[topology]\ntype = "file"\npath = "t.topo"\n'
                             '[workload]\ntype = "htsim"\nfile = "m.cm"\n')
        for mode in ["packet", "hybrid", "flow"]:
            self.succeed("run", "h.toml", "--mode", mode, "--out", mode, "--quiet")
            flows = (self.folder / mode / "flows.csv").read_text().splitlines()
            self.assertEqual(len(flows), 4)
        # A trigger that nobody activates leaves its flow undone.
        self.write("m.cm", MATRIX.replace("count 2", "count 3"))
        result = self.sluice("run", "h.toml", "--out", "left", "--quiet")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("m.cm:4: doubtful: trigger 1 is activated 2 times, 3 are needed",
                      result.stderr)
        self.write("m.cm", MATRIX.replace("Connections 3", "Connections 4"))
        self.assertIn("m.cm: doubtful: Connections 4, but there are 3 such lines",
                      self.succeed("run", "h.toml", "--out", "four", "--quiet").stderr)
        self.assertIn("m.cm: doubtful: Connections 4",
                      self.succeed("goal", "m.cm", "--check").stdout)
        self.write("m.cm", MATRIX.replace("Nodes 4", "Nodes 9"))
        self.refuse("run", "h.toml", says="9 nodes but only 8 hosts")
        self.write("t.topo", TOPO + "Queue_Size 7\n")
        self.write("m.cm", MATRIX.replace("count 2", "count 3"))
        self.assertIn("t.topo:14: skipped: Queue_Size",
                      self.succeed("goal", "t.topo", "--check").stdout)
        self.assertEqual(self.succeed("topo", "--file", "t.topo", "--check").stdout,
                         self.succeed("goal", "t.topo", "--check").stdout)
        self.assertIn("leaf-spine links", self.succeed("topo", "--file", "t.topo").stdout)
        checked = self.succeed("goal", "m.cm", "--check")
        self.assertIn("m.cm:4: doubtful: trigger 1", checked.stdout)
        self.refuse("goal", "m.cm", says="is htsim's")
        self.write("t.topo", TOPO.replace("Podsize 8", "Podsize 7"))
        self.refuse("run", "h.toml", says="t.topo")

    def test_a_connection_matrix_runs_on_a_network_whatever_it_is_called(self):
        self.write("m.tm", "# a comment\n" + MATRIX)
        self.write("t.txt", TOPO)
        self.write("h.toml", 'name = "h"\n[topology]\ntype = "file"\npath = "t.txt"\n'
                             '[workload]\ntype = "htsim"\nfile = "m.tm"\n')
        self.write("net.toml", 'name = "h"\n[topology]\ntype = "file"\npath = "t.txt"\n'
                               '[workload]\ntype = "permutation"\n')
        self.succeed("run", "h.toml", "--mode", "packet", "--out", "a", "--quiet")
        self.succeed("goal", "m.tm", "--topology", "net.toml", "--mode", "packet", "--out", "b",
                     "--quiet")
        self.assertEqual((self.folder / "a/flows.csv").read_text(),
                         (self.folder / "b/flows.csv").read_text())
        self.assertIn("m.tm: read: 4 nodes, 3 connections",
                      self.succeed("goal", "m.tm", "--check").stdout)
        self.assertIn("t.txt: read: 8 hosts", self.succeed("goal", "t.txt", "--check").stdout)
        matrix = "m.tm: is htsim's connection matrix"
        self.refuse("goal", "m.tm", says=[matrix, "--topology SCENARIO.toml runs it", "--check"])
        self.refuse("goal", "m.tm", "--to-text", "o", says=[matrix, "--to-text"])
        self.refuse("goal", "m.tm", "--topology", "net.toml", "--goal-layout", "gpu",
                    says="--goal-layout is for GOAL schedules")
        self.refuse("goal", "t.txt", "--topology", "net.toml",
                    says=["t.txt: is htsim's topology", "[topology]", "path"])
        for stream in ("", "stream = true\n"):
            self.write("g.toml", '[topology]\ntype = "star"\n[workload]\ntype = "goal"\n'
                                 'file = "m.tm"\n' + stream)
            self.refuse("run", "g.toml", says=[matrix, 'workload type "htsim" reads it'])
        self.write("ring.goal", RING)
        self.refuse("run", "h.toml", "--set", "workload.file=ring.goal",
                    says=['is a GOAL schedule', 'workload type "goal" reads it'])
        self.refuse("run", "h.toml", "--set", "topology.path=m.tm",
                    says=[matrix.replace("m.tm", "m.tm:3"), 'workload type "htsim" reads it'])

    def test_htsim_flows_without_end_run_until_the_stop(self):
        self.write("t.topo", TOPO)
        self.write("m.cm", "Nodes 4\nConnections 2\n0->1 start 0.000000 size 0\n"
                           "2->1 start 0 size 100000\n")
        self.write("h.toml", '[topology]\ntype = "file"\npath = "t.topo"\n'
                             '[workload]\ntype = "htsim"\nfile = "m.cm"\n')
        self.refuse("run", "h.toml", says='1 flow of size 0, without end: give the scenario a stop')
        for mode in ["packet", "hybrid", "flow"]:
            out = self.succeed("run", "h.toml", "--mode", mode, "--set", 'stop="1ms"').stdout
            self.assertIn("1 of 2 completed", out)
        self.assertIn("m.cm: read: 1 flow of size 0: without end",
                      self.succeed("goal", "m.cm", "--check").stdout)

    def test_messages_of_a_uec_connection_follow_each_other(self):
        self.write("t.topo", TOPO)
        self.write("m.cm", "Nodes 2\nConnections 3\nTriggers 0\n" +
                   "".join(f"0->1 id 1 msg {number}start 0 size 100000\n"
                           for number in ("", "2 ", "3 ")))
        self.write("h.toml", '[topology]\ntype = "file"\npath = "t.topo"\n'
                             '[workload]\ntype = "htsim"\nfile = "m.cm"\n')
        self.succeed("run", "h.toml", "--mode", "packet", "--out", "o")
        rows = (self.folder / "o" / "flows.csv").read_text().splitlines()
        columns = rows[0].split(",")
        flows = [dict(zip(columns, row.split(","))) for row in rows[1:]]
        self.assertEqual(len({flow["sport"] for flow in flows}), 1)
        starts = sorted(int(flow["start_ps"]) for flow in flows)
        self.assertLess(starts[0], starts[1])
        self.assertLess(starts[1], starts[2])

    def test_reference_samples(self):
        reference = pathlib.Path(os.environ.get("SLUICE_REFERENCE", "")) / "samples"
        if not (reference / "goal").is_dir():
            self.skipTest("no reference samples (SLUICE_REFERENCE)")
        last = self.succeed("goal", reference / "goal" / "binary_tree_32.bin").stdout.splitlines()
        self.assertEqual(last[-1], "Maximum finishing time at host 31: 41500 (4.15e-05 s)")
        for name in ["mini4", "binary_tree_32"]:
            self.succeed("goal", reference / "goal" / (name + ".goal"), "--to-binary", "x.bin")
            self.assertEqual((self.folder / "x.bin").read_bytes(),
                             (reference / "goal" / (name + ".bin")).read_bytes())
        self.write("h.toml", f'name = "h"\n[topology]\ntype = "file"\n'
                             f'path = "{reference}/htsim/leaf_spine_tiny.topo"\n'
                             f'[workload]\ntype = "htsim"\n'
                             f'file = "{reference}/htsim/perm_16n_16c_2MB.cm"\n')
        self.succeed("run", "h.toml", "--out", "h", "--quiet")
        self.assertEqual(self.summary("h")["flows_completed"], 16)


if __name__ == "__main__":
    unittest.main()

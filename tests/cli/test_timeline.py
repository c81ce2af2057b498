# SPDX-License-Identifier: Apache-2.0
"""What a run says of where and when: hosts of jobs, the timeline, links that fail, queues over time."""
import csv
import json
import unittest

from support import CliTest

# Hosts 0 to 3, leaves 4 and 5, spines 6 and 7.
NETWORK = ("mode = \"packet\"\n[topology]\ntype = \"leaf-spine\"\nleaves = 2\nspines = 2\n"
           "hosts_per_leaf = 2\n")
RINGS = ("[[workload]]\ntype = \"ring-all-reduce\"\nname = \"one\"\nsize = \"100KB\"\nranks = 2\n"
         "placement = \"listed\"\nhosts = [\"gpu3\", \"gpu0\"]\n"
         "[[workload]]\ntype = \"ring-all-reduce\"\nname = \"two\"\nsize = \"100KB\"\n")
INCAST = "[workload]\ntype = \"incast\"\nsenders = 3\nsize = \"100KB\"\n"


class Timeline(CliTest):
    def run_it(self, text, *words):
        self.write("s.toml", text)
        out = self.succeed("run", "s.toml", *words).stdout
        folder = self.folder / "runs/s"
        return (out, json.loads((folder / "summary.json").read_text()),
                json.loads((folder / "trace.json").read_text()))

    def test_jobs_say_their_hosts_and_hosts_their_jobs(self):
        out, summary, trace = self.run_it(NETWORK + RINGS)
        self.assertEqual([job["hosts"] for job in summary["jobs"]], ["3 0", "1-2"])
        self.assertIn("2 ranks, hosts 3 0\n", out)
        self.assertIn("2 ranks, hosts 1-2\n", out)
        names = {event["pid"]: event["args"]["name"] for event in trace
                 if event["name"] == "process_name"}
        self.assertEqual({names[host] for host in range(4)},
                         {"host 0: one rank 1", "host 1: two rank 0", "host 2: two rank 1",
                          "host 3: one rank 0"})
        flows = [event["name"] for event in trace if event.get("cat") == "flows"]
        self.assertTrue(any(name.endswith(": 3 to 0") for name in flows), flows)

    def test_one_job_that_is_placed_says_where(self):
        ring = RINGS.partition("[[workload]]\ntype = \"ring-all-reduce\"\nname = \"two\"")[0]
        out, _, _ = self.run_it(NETWORK + ring)
        self.assertIn("placed           2 ranks, hosts 3 0\n", out)

    def test_links_that_fail_are_marked_and_explained(self):
        events = ("[[link_event]]\nat = \"3us\"\nlink = [\"leaf0\", \"spine1\"]\n"
                  "[[link_event]]\nat = \"3us\"\nlink = [\"leaf0\", \"spine0\"]\n"
                  "[[link_event]]\nat = \"20us\"\nlink = [\"leaf0\", \"spine0\"]\nup = true\n"
                  "[[link_event]]\nat = \"50s\"\nlink = [\"leaf1\", \"spine1\"]\n")
        flows = ("[workload]\ntype = \"flows\"\nlist = [[\"host0\", \"host2\", \"1MB\"], "
                 "[\"host3\", \"host1\", \"1MB\"]]\n")
        out, _, trace = self.run_it(NETWORK + flows + events)
        marks = {event["name"]: event["ts"] for event in trace if event["ph"] == "i"}
        self.assertEqual({name: at for name, at in marks.items() if "drops" not in name},
                         {"leaf0-spine1 down": 3, "leaf0-spine0 down": 3, "leaf0-spine0 up": 20})
        self.assertIn("link             leaf0-spine0 down at 3 us, up at 20 us\n", out)
        self.assertIn("link             leaf0-spine1 down at 3 us\n", out)
        self.assertTrue(any("drops until here: " in name for name in marks), marks)
        self.assertRegex(out, r"drops +\d+ from \w+ to \w+: its link was down\n")

    def test_drops_say_where_and_why(self):
        lossy = ("[network]\npfc = false\n[network.buffer]\nsize = \"64KiB\"\n"
                 "[congestion]\nlaw = \"none\"\n")
        out, summary, _ = self.run_it(NETWORK + lossy + INCAST.replace("100KB", "1MB"))
        self.assertGreater(summary["drops"], 0)
        self.assertRegex(out, r"drops +\d+ from leaf0 to host0: no room in the buffer\n")
        out, _, _ = self.run_it(NETWORK.replace("hosts_per_leaf", "loss = 0.01\nhosts_per_leaf") +
                                INCAST)
        self.assertRegex(out, r"drops +\d+ (from|at) \w+,? (to|from) \w+: (its|a) cable .*loses packets\n")

    def test_packets_without_a_way_are_no_want_of_buffer(self):
        # A link that fails and comes back, between a switch and the only host behind it.
        out, summary, _ = self.run_it(
            "mode = \"packet\"\n[topology]\ntype = \"dumbbell\"\nleft_hosts = 1\nright_hosts = 1\n"
            "[workload]\ntype = \"flows\"\nlist = [[\"host0\", \"host1\", \"20MB\"]]\n"
            "[[link_event]]\nat = \"200us\"\nlink = [\"leaf1\", \"host1\"]\n"
            "[[link_event]]\nat = \"9ms\"\nlink = [\"leaf1\", \"host1\"]\nup = true\n")
        causes = summary["drops_by_cause"]
        self.assertEqual(sum(causes.values()), summary["drops"])
        self.assertGreater(causes["no_way"], 0)
        self.assertEqual(causes["no_room"], 0)
        self.assertNotIn("no room in the buffer", out)
        self.assertRegex(out, r"drops +\d+ at leaf\d, from \w+: no way to their destination\n")

    def test_what_is_sent_again_is_told_with_its_cause(self):
        spray = (NETWORK.replace("spines = 2", "spines = 4") + "[network]\nload_balance = \"spray\"\n"
                 "[congestion]\nlaw = \"none\"\n")
        flows = ("[workload]\ntype = \"flows\"\n"
                 "list = [[0, 2, \"5MB\"], [1, 2, \"5MB\"], [0, 3, \"5MB\"]]\n")
        for text, cause, words, advice in (
                (spray + flows, "out_of_order", "packets came out of order", "spray suits it badly"),
                (NETWORK.replace("hosts_per_leaf", "loss = 0.005\nhosts_per_leaf") + flows, "loss",
                 "packets were lost", ""),
                (NETWORK.replace("hosts_per_leaf", "delay = \"1ms\"\nhosts_per_leaf") +
                 "[network.nic]\nretransmit_timeout = \"4ms\"\n" + flows, "timeout",
                 "a time-out ended before their ACK had come", "retransmit_timeout is 4ms")):
            with self.subTest(cause=cause):
                out, summary, _ = self.run_it(text)
                causes = summary["retransmitted_by_cause"]
                self.assertEqual(sum(causes.values()), summary["retransmitted_bytes"])
                self.assertEqual(max(causes, key=causes.get), cause)
                self.assertRegex(out, r"sent again +[\d.]+ ?\w*B, [\d.e+]+(%| times) .*" + words)
                told = [w for w in summary["warnings"] if "sent more than once" in w]
                self.assertEqual(len(told), 1)
                self.assertIn(words, told[0])
                self.assertIn(advice, told[0])
        out, summary, _ = self.run_it(NETWORK + flows)
        self.assertNotIn("retransmitted_by_cause", summary)
        self.assertNotIn("sent again", out)

    def series(self):
        with open(self.folder / "runs/s/series.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_queues_and_utilization_over_time(self):
        series = "[output]\nseries = true\nseries_step = \"2us\"\n"
        self.run_it(NETWORK.replace("mode = \"packet\"\n", "") + INCAST + series)
        rows = self.series()
        self.assertEqual(list(rows[0]), ["time_ps", "port", "from", "to", "queue_bytes", "tx_bytes",
                                         "utilization"])
        self.assertTrue(all(int(row["time_ps"]) % 2_000_000 == 0 for row in rows))
        down = [row for row in rows if (row["from"], row["to"]) == ("leaf0", "host0")]
        self.assertGreater(max(int(row["queue_bytes"]) for row in down), 10_000)
        # 2 us of 100 Gbps are 25,000 bytes; frames are counted as their last bit leaves.
        self.assertGreater(max(float(row["utilization"]) for row in down), 0.9)
        self.assertLessEqual(max(float(row["utilization"]) for row in rows), 1.05)
        for row in down:
            self.assertAlmostEqual(float(row["utilization"]), int(row["tx_bytes"]) / 25_000,
                                   places=5)
        with open(self.folder / "runs/s/ports.csv", newline="") as file:
            whole = {row["port"]: int(row["tx_bytes"]) for row in csv.DictReader(file)}
        for port in {row["port"] for row in rows}:
            told = sum(int(row["tx_bytes"]) for row in rows if row["port"] == port)
            self.assertLessEqual(told, whole[port])
            self.assertGreater(told, 0.5 * whole[port])

    def test_series_change_nothing_and_fold_alike(self):
        def flows():
            return (self.folder / "runs/s/flows.csv").read_bytes()

        ring = "[workload]\ntype = \"ring-all-reduce\"\nsize = \"1MB\"\n"
        self.run_it(NETWORK + ring)
        plain = flows()
        self.assertFalse((self.folder / "runs/s/series.csv").exists())
        self.run_it(NETWORK + ring + "[output]\nseries = true\n")
        folded = self.series()
        self.assertEqual(flows(), plain)
        self.run_it(NETWORK + ring + "[output]\nseries = true\n", "--no-fold")
        self.assertEqual(self.series(), folded)
        self.assertEqual(flows(), plain)

    def test_modes_without_queues_refuse_series(self):
        self.write("s.toml", NETWORK + INCAST + "[output]\nseries = true\n")
        for mode in ("hybrid", "wormhole", "flow"):
            self.refuse("run", "s.toml", "--mode", mode, says=["s.toml:", "allowed: mode packet"])
        self.write("s.toml", NETWORK + INCAST + "[output]\nseries = true\nrecord_queues = true\n")
        self.refuse("run", "s.toml", says="one of them")
        self.write("s.toml", NETWORK + INCAST + "[output]\nseries = true\nseries_step = \"0s\"\n")
        self.refuse("run", "s.toml", says="series_step")


if __name__ == "__main__":
    unittest.main()

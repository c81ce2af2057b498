#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mode wormhole: what a run has simulated it need not simulate again, nor need the next."""
import json
import re
import unittest

from support import CliTest

# Every host sends to every other one, at intervals.
FLOWS = """\
mode = "wormhole"
[phases]
episodes = true
[topology]
type = "star"
hosts = 6
[congestion]
law = "hpcc"
[[workload]]
type = "flows"
"""


def exchanges(times, hosts=6, size="200kB"):
    rows = [[a, b, size, f"{400 * k}us"]
            for k in range(times) for a in range(hosts) for b in range(hosts) if a != b]
    return "list = " + repr(rows).replace("'", '"') + "\n"


class Wormhole(CliTest):
    def setUp(self):
        super().setUp()
        self.write("job.toml", FLOWS + exchanges(30))

    def run_job(self, out, *arguments):
        self.succeed("run", "job.toml", "--out", out, "--quiet", *arguments)
        return json.loads((self.folder / out / "summary.json").read_text())

    def test_what_was_simulated_is_told(self):
        packets = self.run_job("packet", "--mode", "packet")
        told = self.run_job("told")
        self.assertGreaterEqual(told["episodes"]["hits"], 15)
        self.assertLess(told["packet_hops"], packets["packet_hops"] / 2)
        self.assertEqual(told["flows_completed"], told["flows"])
        self.assertLess(abs(told["fct_s"]["mean"] / packets["fct_s"]["mean"] - 1), 0.01)
        self.assertIn("memoized", (self.folder / "told" / "phases.csv").read_text())

    def test_the_next_run_simulates_nothing(self):
        first = self.run_job("first", "--memo", "memo.sqlite", "--audit", "0%")
        second = self.run_job("second", "--memo", "memo.sqlite", "--audit", "0%")
        self.assertGreater(first["packet_hops"], 0)
        self.assertEqual(second["episodes"]["hits"], 30)
        self.assertLess(second["packet_hops"], first["packet_hops"] / 4)
        again = self.run_job("third", "--memo", "memo.sqlite", "--audit", "0%")
        self.assertEqual((self.folder / "second" / "flows.csv").read_bytes(),
                         (self.folder / "third" / "flows.csv").read_bytes())
        self.assertEqual(again["episodes"], second["episodes"])

    def test_the_usual_file_is_in_the_cache(self):
        self.run_job("first")
        self.assertTrue((self.folder / "cache" / "sluice" / "memo-7.sqlite").is_file())
        self.assertEqual(self.run_job("second", "--audit", "0%")["episodes"]["hits"], 30)

    def test_a_run_says_how_far_it_is_off(self):
        packets = self.run_job("packet", "--mode", "packet")
        self.write("job.toml", FLOWS + exchanges(200))
        said = self.succeed("run", "job.toml", "--out", "told").stdout
        audit = json.loads((self.folder / "told" / "summary.json").read_text())["audit"]
        self.assertGreater(audit["episodes"], 50)
        self.assertGreater(audit["audited_episodes"], 1)
        self.assertLess(abs(audit["fct_error"]["mean"]), 0.01)
        self.assertTrue(audit["within_tolerance"])
        self.assertIsNone(audit["distrusted_ps"])
        self.assertRegex(said, r"audit  .* of \d+ episodes")
        again = self.run_job("again")["audit"]
        self.assertGreater(again["inherited"], 0)

    def test_what_is_told_is_what_packets_do(self):
        self.run_job("first", "--memo", "memo.sqlite")
        said = self.succeed("memo", "verify", "job.toml", "--memo", "memo.sqlite").stdout
        self.assertRegex(said, r"verified  1 of 1 episodes; 0 with hosts that this network lacks, 0 of kinds")
        error = float(re.search(r"error     mean ([+-][0-9.]+)%", said).group(1))
        self.assertLess(abs(error), 1)
        # Under another law these are others' episodes; on a smaller network there are no such hosts.
        said = self.succeed("memo", "verify", "job.toml", "--memo", "memo.sqlite",
                            "--set", "congestion.law=timely").stdout
        self.assertRegex(said, r"verified  0 of 1 episodes; 0 with hosts that this network lacks, 1 of kinds")
        self.write("small.toml", '[topology]\ntype = "star"\nhosts = 2\n[workload]\n'
                   'type = "permutation"\nsize = "1KB"\n')
        said = self.succeed("memo", "verify", "small.toml", "--memo", "memo.sqlite").stdout
        self.assertRegex(said, r"verified  0 of 1 episodes; 1 with hosts that this network lacks, 0 of kinds")
        said = self.succeed("memo", "verify", "job.toml", "--memo", "memo.sqlite",
                            "--share", "0").stdout
        self.assertRegex(said, r"verified  0 of 0 episodes")

    def test_nothing_to_verify(self):
        self.run_job("first", "--memo", "memo.sqlite")
        self.refuse("memo", "verify", "job.toml", "--memo", "none.sqlite", says="does not exist")
        self.refuse("memo", "verify", "none.toml", "--memo", "memo.sqlite", says="none.toml")

    def test_nothing_is_left_out_if_asked(self):
        self.run_job("first")
        packets = self.run_job("packet", "--mode", "packet")
        exact = self.run_job("exact", "--no-skip")
        self.assertEqual(exact["packet_hops"], packets["packet_hops"])
        self.assertEqual((self.folder / "exact" / "flows.csv").read_bytes(),
                         (self.folder / "packet" / "flows.csv").read_bytes())

    def test_nothing_is_told_where_nothing_is_skipped(self):
        for _ in range(2):
            silent = self.run_job("silent", "--set", "phases.skip=false")
        self.assertNotIn("episodes", silent)
        asked = self.run_job("asked", "--set", "phases.skip=false", "--set", "phases.memo=true")
        self.assertGreater(asked["episodes"]["learned"] + asked["episodes"]["hits"], 0)

    def test_it_is_the_default(self):
        self.write("job.toml", FLOWS.replace('mode = "wormhole"\n', "") + exchanges(30))
        summary = self.run_job("usual")
        self.assertEqual(summary["mode"], "wormhole")
        self.assertEqual(summary["audit"]["share"], 0.1)
        self.assertGreater(summary["episodes"]["learned"], 0)
        self.assertTrue((self.folder / "cache" / "sluice" / "memo-7.sqlite").is_file())

    def test_episodes_are_told_only_if_asked(self):
        for _ in range(2):
            summary = self.run_job("plain", "--set", "phases.episodes=false")
        self.assertEqual(summary["flows_completed"], summary["flows"])
        self.assertNotIn("memoized", (self.folder / "plain" / "phases.csv").read_text())

    def test_nothing_is_remembered_if_asked(self):
        summary = self.run_job("none", "--no-memo")
        self.assertNotIn("episodes", summary)
        self.assertFalse((self.folder / "cache").exists())

    def test_a_file_that_cannot_be_used_harms_nothing(self):
        cache = self.folder / "cache" / "sluice"
        cache.mkdir(parents=True)
        (cache / "memo-7.sqlite").write_text("no database at all\n" * 100)
        result = self.sluice("run", "job.toml", "--out", "a", "--quiet")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn("the run goes on without it", result.stderr)
        self.assertEqual((cache / "memo-7.sqlite").read_text(), "no database at all\n" * 100)
        self.refuse("run", "job.toml", "--memo", "cache/sluice/memo-7.sqlite", says="memo-7.sqlite")

    def test_threads_change_nothing(self):
        self.run_job("one")
        self.run_job("two", "--threads", "2", "--memo", "fresh.sqlite")
        self.assertEqual((self.folder / "one" / "flows.csv").read_bytes(),
                         (self.folder / "two" / "flows.csv").read_bytes())

    def test_other_laws_do_not_meet(self):
        self.run_job("hpcc", "--memo", "memo.sqlite")
        other = self.run_job("dctcp", "--memo", "memo.sqlite", "--set", "congestion.law=dctcp")
        fresh = self.run_job("fresh", "--memo", "other.sqlite", "--set", "congestion.law=dctcp")
        self.assertEqual(other["episodes"], fresh["episodes"])

    def test_modes_without_phases_refuse_a_memo(self):
        self.refuse("run", "job.toml", "--mode", "flow", "--memo", "memo.sqlite", says="--memo")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Folding: what `sluice run` writes is the same with and without, and the summary says what it saved."""
import json
import unittest

from support import SMALL, CliTest

JOB = """\
name = "job"
[topology]
type = "rail-optimized"
gpus = 32
gpus_per_server = 8
servers_per_segment = 4
rate = "100Gbps"
delay = "1us"
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

RINGS = """\
[topology]
type = "star"
[network]
payload = 256
[network.nic]
ack_every = 4
[congestion]
law = "timely"
[[workload]]
type = "flows"
"""


class Fold(CliTest):
    def test_files_are_the_same(self):
        self.write("job.toml", JOB)
        self.compare("packet", ("flows.csv", "ports.csv", "collectives.csv", "trace.json"))

    def test_files_of_hybrid_mode_are_the_same(self):
        self.compare("hybrid", ("flows.csv", "ports.csv", "collectives.csv", "phases.csv"))

    def test_rings_over_one_another(self):
        # Six loads add up at each port, in another order at each, and a skip ends where the last digit decides.
        rings = [[15, 10, 11, 1, 3], [7, 2, 9, 8, 5]]
        flows = [[ring[(i + step) % 5], ring[i], "200001B", "0ns"]
                 for step in (1, 2, 3) for ring in rings for i in range(5)]
        self.write("rings.toml", RINGS + f"list = {json.dumps(flows)}\n")
        for out, arguments in (("folded", ()), ("unfolded", ("--no-fold",))):
            self.succeed("run", "rings.toml", "--mode", "hybrid", "--out", out, *arguments)
        for name in ("flows.csv", "ports.csv", "phases.csv"):
            self.assertEqual((self.folder / "folded" / name).read_bytes(),
                             (self.folder / "unfolded" / name).read_bytes(), name)

    def test_an_audit_changes_nothing_of_what_is_folded(self):
        self.write("job.toml", JOB)
        for out, share in (("plain", "0%"), ("audited", "10%")):
            self.succeed("run", "job.toml", "--mode", "hybrid", "--audit", share, "--set", "stop=60ms",
                         "--quiet", "--out", out)
        folder = self.folder
        for name in ("flows.csv", "ports.csv", "phases.csv"):
            self.assertEqual((folder / "plain" / name).read_bytes(),
                             (folder / "audited" / name).read_bytes(), name)
        plain = json.loads((folder / "plain/summary.json").read_text())
        audited = json.loads((folder / "audited/summary.json").read_text())
        self.assertEqual(plain["fold"], audited["fold"])
        self.assertGreater(audited["audit"]["audited"], 0)

    def compare(self, mode, names):
        self.write("job.toml", JOB)
        for out, arguments in (("folded", ()), ("unfolded", ("--no-fold",))):
            text = self.succeed("run", "job.toml", "--mode", mode, "--set", "stop=60ms", "--out",
                                out, *arguments).stdout
            self.assertEqual("of them in symmetric copies" in text, out == "folded")
        folder = self.folder
        for name in names:
            self.assertEqual((folder / "folded" / name).read_bytes(),
                             (folder / "unfolded" / name).read_bytes(), name)
        folded = json.loads((folder / "folded/summary.json").read_text())
        unfolded = json.loads((folder / "unfolded/summary.json").read_text())
        self.assertEqual(folded["packet_hops"], unfolded["packet_hops"])
        self.assertGreater(folded["fold"]["hops"], folded["packet_hops"] // 2)
        executed = folded["packet_hops"] - folded["fold"]["hops"]
        if folded["user_s"] > 0:  # clocks that count by 10 ms may see none of it
            self.assertAlmostEqual(folded["packet_hops_per_s"] * folded["user_s"] / executed, 1)
        self.assertNotIn("fold", unfolded)
        self.assertIs(unfolded["config"]["fold"], False)

    def test_only_modes_with_packets_fold(self):
        self.write("small.toml", SMALL)
        self.refuse("run", "small.toml", "--mode", "flow", "--no-fold",
                    says=["--no-fold", "packet"])
        self.refuse("run", "small.toml", "--set", "fold=3", says="fold")


if __name__ == "__main__":
    unittest.main()

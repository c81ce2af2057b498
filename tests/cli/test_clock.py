# SPDX-License-Identifier: Apache-2.0
"""Runs on a steady clock that jumps ahead by up to a second whenever it is asked: what they write does not depend on it."""
import json
import os
import unittest

from support import CliTest
from test_stall import CHUNKS

CLOCK = os.environ.get("SLUICE_JUMPING_CLOCK", "")
MEASURED = {"elaboration_s", "elaboration_user_s", "wall_s", "user_s", "packet_hops_per_s", "threads", "peak_rss_bytes"}
# Windows of thousands of packets: with several cores they are divided, as long as that is faster.
BUSY = """\
[topology]
type = "fat-tree"
k = 8
[workload]
type = "permutation"
size = "200KB"
"""


@unittest.skipUnless(CLOCK, "nothing is preloaded under sanitizers")
class Clock(CliTest):
    def left_by(self, code, *words, env=()):
        result = self.sluice("run", *words, "--out", "out", "--quiet", env=env)
        self.assertEqual(result.returncode, code, result.stderr)
        summary = json.loads((self.folder / "out/summary.json").read_text())
        self.wall = summary["wall_s"]
        files = {path.name: path.read_bytes() for path in (self.folder / "out").iterdir()}
        # On several threads it depends on their speed how windows are divided (docs/outputs.md).
        measured = MEASURED | ({"events", "fold"} if "--threads" in words else set())
        files["summary.json"] = {key: value for key, value in summary.items() if key not in measured}
        return files

    def check(self, code, *words):
        expected = self.left_by(code, *words)
        for seed in ("1", "2", "3"):
            found = self.left_by(code, *words, env={"LD_PRELOAD": CLOCK, "JUMPING_CLOCK_SEED": seed})
            self.assertGreater(self.wall, 1)  # it is the clock of the run
            self.assertEqual(found.keys(), expected.keys())
            for name, content in expected.items():
                self.assertEqual(found[name], content, name)

    def test_runs_to_the_end(self):
        self.write("busy.toml", BUSY)
        for words in (["--mode", "packet"], ["--mode", "packet", "--threads", "2"], ["--mode", "wormhole", "--no-memo"]):
            with self.subTest(words=words):
                self.check(0, "busy.toml", *words)

    def test_a_run_that_stalls_ends_at_the_same_instant(self):
        self.write("chunks.toml", CHUNKS)
        for mode in ("packet", "hybrid"):
            with self.subTest(mode=mode):
                self.check(3, "chunks.toml", "--mode", mode)


if __name__ == "__main__":
    unittest.main()

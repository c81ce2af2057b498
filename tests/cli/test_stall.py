# SPDX-License-Identifier: Apache-2.0
"""Runs that could go on for ever: they end, and say why."""
import json
import unittest

from support import CliTest

# Go-back-0 sends chunks over until one comes through whole; HPCC's window falls below a chunk.
CHUNKS = """\
[topology]
type = "star"
hosts = 17
[network.nic]
back_to_zero = true
[workload]
type = "flows"
list = """ + json.dumps([[i, 16, "500KB", "0us"] for i in range(16)]) + "\n"


def host(x, y, h):
    return (5 * y + x) * 2 + h


# Everybody sends two switches on along a ring of five, whose buffers are small.
RING = """\
[topology]
type = "torus"
dimensions = [5, 2]
hosts_per_switch = 2
[congestion]
law = "dcqcn"
[network.ecn]
kmin = "4MB"
kmax = "8MB"
[network.buffer]
size = "600KiB"
[workload]
type = "flows"
list = """ + json.dumps([[host(x, y, h), host((x + 2) % 5, y, h), "8MB", "0us"]
                         for x in range(5) for y in range(2) for h in range(2) for _ in range(6)]) + "\n"


class Stall(CliTest):
    def end(self, name, text, *arguments):
        self.write(f"{name}.toml", text)
        result = self.sluice("run", f"{name}.toml", "--out", name, *arguments)
        self.printed = result.stdout
        self.assertEqual(result.returncode, 3, result.stderr)
        return result.stderr, json.loads((self.folder / name / "summary.json").read_text())

    def test_no_flow_progresses(self):
        for mode in ("packet", "hybrid", "wormhole"):
            said, summary = self.end("chunks", CHUNKS, "--mode", mode)
            self.assertIn("no unfinished flow progresses any more", said.splitlines()[0])
            self.assertIn("from host 2 to host 16", said)
            self.assertTrue(summary["stalled"])
            self.assertNotIn("paused_cycle", summary)
            self.assertEqual(summary["flows_completed"], 15)
            self.assertFalse(summary["interrupted"])

    def test_ports_that_pause_each_other(self):
        for mode in ("packet", "hybrid", "wormhole"):
            said, summary = self.end("ring", RING, "--mode", mode, "--set",
                                     "network.nic.retransmit_timeout=1ms")
            self.assertIn("PFC deadlock: each port waits for the next", said)
            self.assertEqual(len(summary["paused_cycle"]), 5)
            self.assertEqual(summary["flows_completed"], 0)

    def test_a_paused_host_does_not_heap_up_answers(self):
        """Host 0 is paused for good; host 1 beside it, which is not, repeats itself."""
        flows = [[host(x, y, 0), host((x + 2) % 5, y, 0), "8MB", "0us"]
                 for x in range(5) for y in range(2) for _ in range(12)]
        text = RING[:RING.index("list = ")] + "list = " + json.dumps(flows + [[1, 0, "8MB", "1ms"]])
        said, summary = self.end("beside", text, "--mode", "packet", "--set",
                                 "network.nic.retransmit_timeout=1ms")
        self.assertIn("PFC deadlock: each port waits for the next", said)
        self.assertGreater(summary["drops"], 1_000_000)
        self.assertRegex(self.printed, r"drops +\d+ from host0 to \S+: more ACKs than its paused host can hold\n")
        self.assertLess(summary["peak_rss_bytes"], 200_000_000)

    def test_what_takes_its_time_is_waited_for(self):
        # A link that fails for three seconds, and messages of two: neither is a stall.
        self.write("slow.toml", """\
[topology]
type = "star"
hosts = 3
rate = "10Mbps"
[network.nic]
retransmit_timeout = "4ms"
[workload]
type = "flows"
list = [[0, 1, "3MB", "0us"], [1, 2, "1MB", "4s"]]
[[link_event]]
at = "10ms"
link = [0, 3]
up = false
[[link_event]]
at = "3s"
link = [0, 3]
up = true
""")
        for mode in ("packet", "hybrid"):
            self.succeed("run", "slow.toml", "--mode", mode, "--quiet", "--out", mode)
            summary = json.loads((self.folder / mode / "summary.json").read_text())
            self.assertEqual(summary["flows_completed"], 2)
            self.assertNotIn("stalled", summary)


if __name__ == "__main__":
    unittest.main()

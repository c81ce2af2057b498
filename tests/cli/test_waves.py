# SPDX-License-Identifier: Apache-2.0
"""[output] capture and waves: links.pcapng and ports.vcd of a run. Files are read by parsers of the test's own; what other
programs make of them is tests/models/observe.cpp's."""
import csv
import json
import struct
import unittest

from support import CliTest

NETWORK = """\
[topology]
type = "leaf-spine"
leaves = 2
spines = 1
hosts_per_leaf = 2
[workload]
type = "flows"
list = [[0, 2, "%s"], [1, 2, "%s"]]
"""
CAPTURE = ("--set", "output.capture=[[\"host2\", \"leaf1\"]]")
WAVES = ("--set", "output.waves=[[\"leaf1\", \"host2\"]]")
DATA, ACK = (6, 7, 8, 10), 17  # opcodes of RDMA writes and of an ACK


def frames_of(path):
    """(interface, time in ps, frame) of each, and the interfaces' names."""
    data, at, names, frames = path.read_bytes(), 0, [], []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + length - 4]
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        if kind == 1:
            code, size = struct.unpack_from("<HH", body, 8)
            assert code == 2
            names.append(body[12:12 + size].decode())
        elif kind == 6:
            interface, high, low, size, original = struct.unpack_from("<5I", body)
            assert size == original
            frames.append((interface, high << 32 | low, body[20:20 + size]))
        at += length
    assert at == len(data)
    return names, frames


def opcode(frame):
    return frame[14 + 20 + 8]


def wave_of(path, scope, variable):
    """[(time in ps, value)] of a variable."""
    code, inside, now, changes = None, None, 0, []
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:2] == ["$scope", "module"]:
            inside = words[2]
        elif words[:1] == ["$var"] and inside == scope and words[4] == variable:
            code = words[3]
        elif line.startswith("#"):
            now = int(line[1:])
        elif code is not None and line[:1] in "01" and line[1:] == code:
            changes.append((now, int(line[0])))
        elif code is not None and len(words) == 2 and words[1] == code and line[0] in "br":
            value = words[0][1:]
            changes.append((now, int(value, 2) if line[0] == "b" else float(value)))
    return changes


class Waves(CliTest):
    def run_it(self, *words, out="out"):
        return self.succeed("run", "s.toml", "--out", out, "--no-memo", *words)

    def results(self, out):
        return [(self.folder / out / name).read_bytes() for name in ("flows.csv", "ports.csv")]

    def test_every_packet_of_a_link_both_ways(self):
        self.write("s.toml", NETWORK % ("100KB", "50KB"))
        self.run_it("--mode", "packet", *CAPTURE)
        names, frames = frames_of(self.folder / "out" / "links.pcapng")
        self.assertEqual(sorted(names), ["host2_0_to_leaf1", "leaf1_0_to_host2"])
        down = [one for one in frames if names[one[0]] == "leaf1_0_to_host2"]
        up = [one for one in frames if names[one[0]] == "host2_0_to_leaf1"]
        self.assertEqual(len([one for one in down if opcode(one[2]) in DATA]), 150)
        self.assertEqual(len([one for one in up if opcode(one[2]) == ACK]), 150)
        self.assertEqual([one[1] for one in frames], sorted(one[1] for one in frames))
        with open(self.folder / "out" / "flows.csv", newline="") as file:
            received = [int(row["received_ps"]) for row in csv.DictReader(file)]
        self.assertEqual(max(one[1] for one in down), max(received))

    def test_nothing_is_changed_in_any_mode(self):
        self.write("s.toml", NETWORK % ("20MB", "1MB"))
        for mode in ("packet", "hybrid", "wormhole"):
            self.run_it("--mode", mode, out="plain")
            self.run_it("--mode", mode, *CAPTURE, *WAVES, "--set", "output.rtt=true", out="watched")
            self.assertEqual(self.results("watched"), self.results("plain"), mode)
            self.assertFalse((self.folder / "plain" / "links.pcapng").exists())
            names, frames = frames_of(self.folder / "watched" / "links.pcapng")
            data = [one for one in frames if opcode(one[2]) in DATA]
            skipped = wave_of(self.folder / "watched" / "ports.vcd", "leaf1_0_to_host2", "skipped")
            if mode == "packet":
                self.assertEqual(len(data), 21_000)
                self.assertEqual(skipped, [(0, 0)])
            else:
                self.assertLess(len(data), 14_000)
                self.assertGreaterEqual(len(skipped), 3)
        self.assertEqual(list((self.folder / "watched").glob("*.partial")), [])

    def test_waves_show_the_queue_where_two_flows_meet(self):
        self.write("s.toml", NETWORK % ("200KB", "200KB"))
        self.run_it("--mode", "packet", *WAVES, "--set", "output.waves_step=1us", "--set",
                    "congestion.law=none")
        path = self.folder / "out" / "ports.vcd"
        queue = wave_of(path, "leaf1_0_to_host2", "queue_bytes")
        rate = wave_of(path, "leaf1_0_to_host2", "rate_bps")
        with open(self.folder / "out" / "ports.csv", newline="") as file:
            most = {(row["node"], row["peer"]): int(row["max_queue_bytes"])
                    for row in csv.DictReader(file)}["5", "2"]
        # What is queued and sent at one instant is in the one only.
        self.assertLessEqual(max(value for _, value in queue), most)
        self.assertGreaterEqual(max(value for _, value in queue), most - 2 * 1048)
        self.assertLessEqual(max(value for _, value in rate), 100e9 * 1.05)
        self.assertGreater(max(value for _, value in rate), 95e9)

    def test_entries_are_links_nodes_and_indices(self):
        self.write("s.toml", NETWORK % ("10KB", "10KB"))
        for value, count in (('["leaf0"]', 6), ('[0]', 2), ('["host0", [4, 0]]', 2),
                             ('[["leaf0", "spine0"], "host3"]', 4)):
            self.run_it("--mode", "packet", "--set", f"output.capture={value}")
            names, _ = frames_of(self.folder / "out" / "links.pcapng")
            self.assertEqual(len(names), count, value)
        config = json.loads((self.folder / "out" / "summary.json").read_text())["config"]
        self.assertEqual(config["output"]["capture_limit"], "1GB")
        # A run without them takes them away.
        self.run_it("--mode", "packet")
        self.assertFalse((self.folder / "out" / "links.pcapng").exists())

    def test_a_limit_is_told(self):
        self.write("s.toml", NETWORK % ("100KB", "50KB"))
        done = self.run_it("--mode", "packet", *CAPTURE, "--set", "output.capture_limit=10KB")
        self.assertLess((self.folder / "out" / "links.pcapng").stat().st_size, 12_000)
        summary = json.loads((self.folder / "out" / "summary.json").read_text())
        self.assertIn("beyond output.capture_limit", " ".join(summary["warnings"]))
        self.assertIn("beyond output.capture_limit", done.stdout + done.stderr)

    def test_mistakes_have_a_place(self):
        text = NETWORK % ("10KB", "10KB") + "[output]\n"
        for line, says in (("capture = []", ["s.toml:10:", "capture", "one or more"]),
                           ("capture = \"leaf0\"", ["capture", "must be a list"]),
                           ("capture = [[0, 1]]", ["s.toml:10:", "no cable joins"]),
                           ("capture = [99]", ["s.toml:10:", "capture"]),
                           ("capture = [\"leaf9\"]", ["s.toml:10:", "leaf0 to leaf1"]),
                           ("capture = [[0, \"leaf0\", 1]]", ["s.toml:10:", "a link's index"]),
                           ("waves = [3]", ["s.toml:10:", "a node's name"]),
                           ("waves = [[0, \"leaf1\"]]", ["s.toml:10:", "no cable joins"]),
                           ("capture_limit = \"10B\"", ["s.toml:10:", "capture_limit"]),
                           ("waves_step = \"0s\"", ["s.toml:10:", "waves_step"]),
                           ("captures = [0]", ["capture"])):
            self.write("s.toml", text + line + "\n")
            self.refuse("run", "s.toml", says=says)

    def test_what_does_not_go_together(self):
        self.write("s.toml", NETWORK % ("10KB", "10KB"))
        self.refuse("run", "s.toml", *CAPTURE, "--mode", "flow", says=["capture", "no packets"])
        self.refuse("run", "s.toml", *WAVES, "--mode", "packet", "--set",
                    "network.arithmetic=\"ns3\"", says=["waves", "exact"])
        self.refuse("run", "s.toml", *WAVES, "--mode", "hybrid", "--set", "phases.wake=\"data\"",
                    says=["waves", "partition"])
        self.write("s.toml", NETWORK % ("10KB", "10KB") + "[output]\ncapture = [0]\n")
        self.write("b.toml", "base = \"s.toml\"\n[[axis]]\nkey = \"seed\"\nvalues = [1, 2]\n")
        self.assertIn("only `sluice run` records ports", self.sluice("batch", "b.toml").stdout)

    def test_replications_are_not_recorded(self):
        self.write("s.toml", NETWORK % ("10KB", "10KB"))
        self.run_it("--mode", "packet", *CAPTURE, *WAVES, "--set", "output.rtt=true", "--replicas", "2")
        self.assertEqual(len(frames_of(self.folder / "out" / "links.pcapng")[1]), 40)
        self.assertTrue((self.folder / "out" / "replicas.csv").exists())


if __name__ == "__main__":
    unittest.main()

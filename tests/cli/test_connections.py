# SPDX-License-Identifier: Apache-2.0
"""Connections of a job: their messages leave in order, from one source port."""
import collections
import csv
import unittest

from support import CliTest

# Hops of a ring that stay on a leaf are quicker than those that cross spines.
RING = """\
name = "ring"
[topology]
type = "leaf-spine"
leaves = 8
spines = 4
hosts_per_leaf = 4
rate = "400Gbps"
[congestion]
law = "dcqcn"
[workload]
type = "ring-all-reduce"
size = "32MB"
[output]
trace = false
"""
RATE = 400e9
EXCEPTIONS = ("overlapping_messages", "port_per_message")


class Connections(CliTest):
    def setUp(self):
        super().setUp()
        self.write("ring.toml", RING)

    def flows(self, mode, *keys):
        """Rows of flows.csv by (source, destination)."""
        sets = [word for key in keys for word in ("--set", key)]
        self.succeed("run", "ring.toml", "--mode", mode, "--out", "out", "--quiet", *sets)
        pairs = collections.defaultdict(list)
        with open(self.folder / "out" / "flows.csv", newline="") as rows:
            for row in csv.DictReader(rows):
                pairs[row["src"], row["dst"]].append(row)
        for rows in pairs.values():
            rows.sort(key=lambda row: int(row["start_ps"]))
        return pairs

    def overlaps(self, pairs):
        """Messages that were sent before the one before them on the wire can have left."""
        count = 0
        for rows in pairs.values():
            for before, row in zip(rows, rows[1:]):
                least = int(before["size_bytes"]) * 8 / RATE * 1e12
                count += int(row["start_ps"]) < int(before["start_ps"]) + least
                count += int(row["received_ps"]) < int(before["received_ps"])
        return count

    def ports(self, pairs):
        return {len({row["sport"] for row in rows}) for rows in pairs.values()}

    def finish(self, pairs):
        return max(int(row["received_ps"]) for rows in pairs.values() for row in rows)

    def test_messages_leave_in_order_from_one_port(self):
        for mode in ("packet", "hybrid", "flow"):
            with self.subTest(mode=mode):
                pairs = self.flows(mode)
                self.assertEqual(len(pairs), 32)
                self.assertEqual(self.ports(pairs), {1})
                self.assertEqual(self.overlaps(pairs), 0)

    def test_a_ring_of_packets_is_as_quick_as_max_min_says(self):
        # Where steps of one member overlap, those on the quick hops run ahead of the slow ones'.
        ideal = self.finish(self.flows("flow"))
        self.assertAlmostEqual(self.finish(self.flows("packet")) / ideal, 1, delta=0.005)
        beside = self.finish(self.flows("packet", "workload.overlapping_messages=true"))
        self.assertGreater(beside / ideal, 1.02)

    def test_exceptions(self):
        pairs = self.flows("packet", "workload.overlapping_messages=true")
        self.assertGreater(self.overlaps(pairs), 0)
        self.assertEqual(self.ports(pairs), {1})
        pairs = self.flows("packet", "workload.port_per_message=true")
        self.assertEqual(self.overlaps(pairs), 0)
        self.assertEqual(self.ports(pairs), {62})

    def test_refusals(self):
        for key in EXCEPTIONS:
            with self.subTest(key=key):
                self.refuse("run", "ring.toml", "--set", f"workload.{key}=often", says=key)
                self.refuse("run", "ring.toml", "--set", "workload.type=permutation", "--set",
                            "workload.size=1MB", "--set", f"workload.{key}=true", says=key)


if __name__ == "__main__":
    unittest.main()

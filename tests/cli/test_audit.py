# SPDX-License-Identifier: Apache-2.0
"""An audit as a user asks for it: the run stays what it is, and states an error that it has."""
import csv
import json
import unittest

from support import CliTest

# Messages of two sizes between partners that nobody else disturbs.
PAIRS = """\
name = "pairs"
[topology]
type = "star"
hosts = 128
[workload]
type = "flows"
list = [""" + ", ".join(f'[{i}, {64 + i}, "{5 + 3 * (i % 4)}MB", "{37 * i}us"]' for i in range(64)) + """]
"""

# Long messages both ways, and short ones, while a cable fails and is repaired.
LED_BACK = """\
name = "led-back"
[topology]
type = "leaf-spine"
leaves = 4
spines = 4
hosts_per_leaf = 8
fabric_rate = "1600Gbps"
rate = "400Gbps"
[network]
payload = 4096
[congestion]
law = "hpcc"
[[link_event]]
at = "1088119ns"
link = ["leaf0", "spine1"]
up = false
[[link_event]]
at = "1269349ns"
link = ["leaf0", "spine1"]
up = true
[workload]
type = "flows"
list = [""" + ", ".join(
    f'["host{sender}", "host{receiver}", "{size}B", "{start}us"]' for sender, receiver, size, starts in (
        (8, 3, 122055333, (1.7030,)),
        (3, 8, 122055333, (1.7030,)),
        (0, 11, 122055333, (4.6698,)),
        (11, 0, 122055333, (93.4551,)),
        (22, 6, 122055, (377.6368, 384.2901, 399.7514, 413.7677, 432.3997, 452.8969, 460.4300, 474.9217, 483.8473,
                         496.4683, 513.9878, 523.2918)),
        (25, 17, 122055, (531.1213,)),
        (30, 3, 122055, (2308.9985, 2357.1597, 2401.6992, 2415.4248, 2441.2507, 2461.0287, 2469.3294, 2478.1411)),
        (12, 3, 122055, (2326.5042, 2342.7363, 2379.9766, 2425.9051, 2493.6868)),
        (8, 5, 122055, (2365.8320, 2389.3266, 2449.5840)),
    ) for start in starts) + "]\n"


class AuditTest(CliTest):
    def summary(self, folder):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def times(self, folder):
        with open(self.folder / folder / "flows.csv", newline="") as file:
            return {row["flow"]: int(row["fct_ps"]) for row in csv.DictReader(file)}

    def test_the_run_is_the_same_and_its_error_is_within(self):
        self.write("pairs.toml", PAIRS)
        self.succeed("run", "pairs.toml", "--mode", "packet", "--out", "packet", "--quiet")
        self.succeed("run", "pairs.toml", "--mode", "hybrid", "--out", "plain", "--quiet")
        said = self.succeed("run", "pairs.toml", "--mode", "hybrid", "--audit", "100%",
                            "--out", "audited").stdout
        for name in ("flows.csv", "ports.csv", "phases.csv"):
            self.assertEqual((self.folder / "plain" / name).read_bytes(),
                             (self.folder / "audited" / name).read_bytes())
        self.assertNotIn("audit", self.summary("plain"))
        audit = self.summary("audited")["audit"]
        self.assertEqual(audit["share"], 1)
        self.assertGreater(audit["audited"], 1)
        truth, found = self.times("packet"), self.times("audited")
        error = sum((found[flow] - truth[flow]) / truth[flow] for flow in truth) / len(truth)
        self.assertLessEqual(abs(error - audit["fct_error"]["mean"]), audit["fct_error"]["half_width"])
        self.assertIsNone(audit["jct_error"])
        self.assertIn(" of ", said.split("audit  ")[1].splitlines()[0])
        line = said.split("  skipping error ")[1].splitlines()[0]
        self.assertIn("flow completion", line)
        inside = abs(audit["fct_error"]["mean"]) <= audit["fct_error"]["half_width"]
        self.assertEqual("not distinguishable from 0 (" in line, inside)

    def test_a_scope_of_several_partitions_is_audited(self):
        self.write("pairs.toml", PAIRS + '[phases]\nscope = "network"\n[congestion]\nlaw = "none"\n')
        self.succeed("run", "pairs.toml", "--mode", "hybrid", "--audit", "100%", "--out", "out",
                     "--quiet")
        self.assertGreater(self.summary("out")["audit"]["audited"], 0)

    def test_an_error_inside_its_interval_is_called_none(self):
        self.write("pairs.toml", PAIRS)
        seen = set()
        for law in ("none", "dcqcn", "hpcc", "timely"):
            said = self.succeed("run", "pairs.toml", "--mode", "hybrid", "--audit", "30%", "--set",
                                f"congestion.law={law}", "--out", "out").stdout
            error = self.summary("out")["audit"]["fct_error"]
            if error is None:
                continue
            inside = abs(error["mean"]) <= error["half_width"]
            line = said.split("  skipping error ")[1].splitlines()[0]
            self.assertEqual("flow completion not distinguishable from 0 (" in line, inside, line)
            self.assertIn("%+.3f%% +- %.3f%%" % (100 * error["mean"], 100 * error["half_width"]), line)
            seen.add(inside)
        self.assertIn(True, seen)

    def test_shares_that_are_none(self):
        self.write("pairs.toml", PAIRS)
        for share in ("110%", "x", "10 %", "1.5"):
            self.refuse("run", "pairs.toml", "--mode", "hybrid", "--audit", share, says="--audit")
        self.refuse("run", "pairs.toml", "--mode", "packet", "--audit", "10%",
                    says="modes hybrid and wormhole")

    def test_the_key_is_the_option(self):
        self.write("pairs.toml", 'mode = "hybrid"\n' + PAIRS + "[phases]\naudit = 0.5\n")
        self.succeed("run", "pairs.toml", "--out", "key", "--quiet")
        self.write("pairs.toml", 'mode = "hybrid"\n' + PAIRS)
        self.succeed("run", "pairs.toml", "--audit", "50%", "--out", "option", "--quiet")
        self.assertEqual(self.summary("key")["audit"], self.summary("option")["audit"])

    def test_packets_of_flows_that_are_led_elsewhere_are_part_of_it(self):
        self.write("led-back.toml", LED_BACK)
        self.succeed("run", "led-back.toml", "--mode", "wormhole", "--no-memo", "--set", 'phases.wake="data"',
                     "--set", "perturbation=1", "--out", "out", "--quiet")
        self.assertGreater(self.summary("out")["audit"]["audited"], 5)


if __name__ == "__main__":
    unittest.main()

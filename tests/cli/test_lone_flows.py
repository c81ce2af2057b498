# SPDX-License-Identifier: Apache-2.0
"""Flows alone on their ports, as they are run by default: what skips are off by, and that a memo of other runs does not
change it."""
import csv
import json
import unittest

from support import CliTest

NETWORK = """\
name = "lone"
[topology]
type = "leaf-spine"
leaves = 2
spines = 1
hosts_per_leaf = 4
rate = "{rate}"
[congestion]
law = "{law}"
[workload]
type = "flows"
list = [{flows}]
"""


class LoneFlowsTest(CliTest):
    def run_flows(self, law, flows, *words, rate="400Gbps", out="out"):
        """Completion times by flow, picoseconds, and the summary."""
        self.write("flows.toml", NETWORK.format(law=law, rate=rate, flows=", ".join(flows)))
        self.succeed("run", "flows.toml", "--quiet", "--out", out, *words)
        with open(self.folder / out / "flows.csv", newline="", encoding="utf-8") as file:
            times = {int(row["flow"]): int(row["fct_ps"]) for row in csv.DictReader(file)}
        return times, json.loads((self.folder / out / "summary.json").read_text())

    def error(self, law, flows, *words, rate="400Gbps"):
        """Of the first flow's completion time."""
        packets, _ = self.run_flows(law, flows, "--mode", "packet", rate=rate)
        found, summary = self.run_flows(law, flows, *words, rate=rate)
        return found[0] / packets[0] - 1, summary

    def test_a_skip_of_a_flow_alone_is_within_half_a_percent(self):
        for law, rate, size in (("hpcc", "400Gbps", "200MB"), ("hpcc", "100Gbps", "20MB"),
                                ("dctcp", "200Gbps", "50MB"), ("timely", "800Gbps", "100MB")):
            with self.subTest(law=law, rate=rate):
                error, summary = self.error(law, [f'[0, 7, "{size}", "0s"]'], "--no-memo", rate=rate)
                self.assertLess(abs(error), 0.005)
                self.assertGreater(summary["skips"], 0)

    def test_a_law_that_comes_down_to_its_aim_is_waited_for(self):
        """Behind an NVSwitch HPCC sends at line rate for 45 round trips before it has come down to 95% of it."""
        network = ('[topology]\ntype = "rail-optimized"\ngpus = 2\ngpus_per_server = 2\nnvswitches_per_server = 1\n'
                   'nvlink_rate = "400Gbps"\n[congestion]\nlaw = "hpcc"\n[workload]\ntype = "flows"\nlist = [[0, 1, "10MB", "0s"]]\n')
        self.write("nvlink.toml", network)
        times = {}
        for mode in ("packet", "hybrid"):
            self.succeed("run", "nvlink.toml", "--quiet", "--no-memo", "--mode", mode, "--out", mode)
            summary = json.loads((self.folder / mode / "summary.json").read_text())
            times[mode] = summary["fct_s"]["mean"]
        self.assertGreater(summary["skips"], 0)
        self.assertLess(abs(times["hybrid"] / times["packet"] - 1), 0.002)

    def test_a_law_that_recovers_by_itself_is_foreseen(self):
        flows = ['[0, 7, "1GB", "0s"]', '[1, 7, "40MB", "0s"]']
        error, summary = self.error("dcqcn", flows, "--no-memo", rate="100Gbps")
        self.assertLess(abs(error), 0.0005)
        self.assertGreater(summary["skips"], 0)

    def test_what_another_run_has_learned_where_ports_were_crossed_before_is_not_told(self):
        # 100 bytes that have crossed the last port alone set its counter apart from the others', for ever: HPCC is 6%
        # slower there.
        again = [f'[0, 7, "100MB", "{1 + 4 * turn}ms"]' for turn in range(4)]
        taught, _ = self.run_flows("hpcc", ['[6, 7, "100B", "0s"]', *again], "--memo", "memo.sqlite")
        fresh, _ = self.run_flows("hpcc", again, "--mode", "packet")
        self.assertGreater(taught[4] / fresh[3], 1.05)
        error, _ = self.error("hpcc", ['[0, 7, "10MB", "0s"]'], "--memo", "memo.sqlite")
        self.assertLess(abs(error), 0.005)

    def test_a_lone_skip_that_a_memo_tells_is_audited(self):
        again = [f'[0, 7, "100MB", "{1 + 4 * turn}ms"]' for turn in range(4)]
        self.run_flows("hpcc", again, "--memo", "memo.sqlite")
        error, summary = self.error("hpcc", ['[0, 7, "10MB", "0s"]'], "--memo", "memo.sqlite")
        self.assertEqual((summary["skips"], summary["recalled_skips"]), (1, 1))
        audit = summary["audit"]
        self.assertEqual(audit["audited"], 1)
        self.assertLessEqual(abs(audit["fct_error"]["mean"] - error), audit["fct_error"]["half_width"])

    def test_an_audit_of_all_skips_is_of_all(self):
        error, summary = self.error("hpcc", ['[0, 7, "200MB", "0s"]'], "--no-memo", "--audit", "100%")
        audit = summary["audit"]
        self.assertGreater(audit["skips"], 0)
        self.assertEqual((audit["audited"], audit["prefixes"]), (audit["skips"], 0))
        self.assertLessEqual(abs(audit["fct_error"]["mean"] - error), audit["fct_error"]["half_width"])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Hybrid mode as a user types it: exact while nothing is skipped, near packet mode while it skips,
and a timeline that accounts for every moment."""
import csv
import json
import unittest

from support import EXAMPLES, CliTest, model_that_says

# The large examples are cut short: what is compared is every flow that has finished by then.
STOPS = {
    "deepseek-v3-2048gpu": "200us",
    "deepseek-v3-skew": "200us",
    "gpt13b-128gpu": "80ms",
    "gpt175b-1024gpu": "1400us",
    "llama3-405b-16384gpu": "2ms",
    "moe8x13b-128gpu": "16ms",
    "ring-allreduce-1024gpu": "150us",
    "zero-bubble-16gpu": "30ms",
}
# Computation so quick that messages come early, and fewer GPUs.
QUICK = {
    "deepseek-v3-2048gpu": ["topology.gpus=64", "workload.pp=1", "workload.dp=64", "workload.schedule=1f1b",
                            "workload.micro_batches=1", "workload.sequence=8", "workload.peak_flops=1e18"],
    "llama3-405b-16384gpu": ["topology.gpus=128", "workload.pp=4", "workload.dp=4", "workload.micro_batches=4",
                             "workload.sequence=64", "workload.peak_flops=1e18"],
    "deepseek-v3-skew": ["workload.sequence=8", "workload.peak_flops=1e18"],
    "gpt175b-1024gpu": ["workload.forward_time=1ms", "workload.backward_time=2ms"],
}

LONG = """\
name = "long"
[topology]
type = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
[workload]
type = "flows"
list = [[0, 4, "40MB", "0us"], [1, 5, "40MB", "0us"], [2, 3, "20MB", "300us"], [0, 6, "1MB", "2ms"]]
"""

ENDS = """\
[topology]
type = "dumbbell"
left_hosts = 4
right_hosts = 4
[workload]
type = "flows"
list = [[0, 4, "20MB"], [1, 5, "20MB"], [2, 6, "1B", "100us"]]
"""


# A ring whose hops share hosts, and here and there a cable, with the ACKs of others.
RING = """\
[topology]
type = "leaf-spine"
leaves = 4
spines = 2
hosts_per_leaf = 2
[workload]
type = "flows"
list = [[0, 2, "40MB", "0us"], [2, 4, "50MB", "0us"], [4, 6, "60MB", "0us"], [6, 0, "70MB", "0us"],
        [1, 3, "1MB", "3ms"]]
"""

# The same ring of four again and again, out of step with another one.
ROUNDS = """\
[topology]
type = "star"
hosts = 8
[workload]
type = "flows"
list = [""" + ", ".join(
    f'[{base + i}, {base + (i + 1) % 4}, "60MB", "{12000 * turn + 37 * base}us"]'
    for turn in range(6) for base in (0, 4) for i in range(4)) + """]
"""

FAILURE = """
[[link_event]]
at = "1ms"
link = [8, 10]
[[link_event]]
at = "1500us"
link = [8, 10]
up = true
"""

# A pipeline whose messages take turns on queue pairs.
PIPELINE = """\
name = "pipeline"
[topology]
type = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 8
gpus_per_server = 8
rate = "100Gbps"
delay = "2us"
[congestion]
law = "dctcp"
variable_window = false
[network.nic]
ack_every = 300
ack_chunk = 0
retransmit_timeout = "0us"
[workload]
type = "training"
pp = 16
dp = 1
sequence = 16384
micro_batches = 6
forward_time = "20us"
backward_time = "40us"
intra_node = "network"
allow_oom = true
[workload.model]
name = "p"
layers = 16
hidden = 1024
heads = 16
"""


class Hybrid(CliTest):
    def flows(self, folder):
        return (self.folder / folder / "flows.csv").read_bytes()

    def rows(self, path):
        with open(self.folder / path, newline="") as file:
            return list(csv.DictReader(file))

    def summary(self, folder):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def test_examples_without_skipping_are_exact(self):
        for example in sorted(EXAMPLES.glob("*.toml")):
            with self.subTest(example.stem):
                stop = STOPS.get(example.stem)
                sets = ["--set", f'stop="{stop}"'] if stop else []
                for key in QUICK.get(example.stem, []):
                    sets += ["--set", key]
                common = [example, *sets, "--set", "output.trace=false", "--quiet"]
                self.succeed("run", *common, "--mode", "packet", "--out", "packet")
                self.succeed("run", *common, "--mode", "hybrid", "--no-skip", "--out", "hybrid")
                self.assertEqual(self.flows("packet"), self.flows("hybrid"))
                if not stop:
                    self.assertEqual((self.folder / "packet/ports.csv").read_bytes(),
                                     (self.folder / "hybrid/ports.csv").read_bytes())
                self.assertGreater(len(self.rows("packet/flows.csv")), 0)
                self.assertEqual(self.summary("hybrid")["skips"], 0)

    def compare(self, text, *sets):
        self.write("scenario.toml", text)
        self.succeed("compare", "scenario.toml", "--modes", "packet,hybrid", "--json", "table.json",
                     "--out", "out", *sets)
        return json.loads((self.folder / "table.json").read_text())["rows"]

    def test_long_flows_are_skipped_and_right(self):
        packet, hybrid = self.compare(LONG)
        self.assertLess(hybrid["packet_hops"], packet["packet_hops"] / 2)
        self.assertLess(hybrid["fct_error"]["max"], 0.02)
        self.assertLess(hybrid["fct_error"]["mean"], 0.01)
        summary = self.summary("out/hybrid")
        self.assertGreater(summary["skips"], 0)
        self.assertGreater(summary["skip_backs"], 0)  # the flows that start later
        self.assertEqual(summary["flows_completed"], 4)

    def test_a_link_failure_ends_a_steady_phase(self):
        packet, hybrid = self.compare(LONG + FAILURE)
        self.assertLess(hybrid["packet_hops"], packet["packet_hops"])
        ends = {(row["start_ps"], row["ended_by"]) for row in self.rows("out/hybrid/phases.csv")}
        self.assertIn("link event", {why for _, why in ends})
        self.assertLess(hybrid["fct_error"]["mean"], 0.02)

    def test_an_event_wakes_its_radius(self):
        hops = {}
        for wake in ("partition", "data"):
            packet, hybrid = self.compare(RING, "--set", f"phases.wake={wake}")
            hops[wake] = hybrid["packet_hops"]
            self.assertLess(hybrid["fct_error"]["mean"], 0.015)
            self.assertLess(hybrid["fct_error"]["max"], 0.03)
            # ACKs are counted by the ports that they cross, packets or not.
            for row, other in zip(self.rows("out/packet/ports.csv"), self.rows("out/hybrid/ports.csv")):
                sent, told = int(row["tx_bytes"]), int(other["tx_bytes"])
                self.assertLess(abs(sent - told), 0.01 * sent + 2000)
        self.assertLess(hops["data"], hops["partition"] / 2)

    def test_rates_that_are_known_need_no_probes(self):
        hops = {}
        for calibrate in ("false", "true"):
            packet, hybrid = self.compare(ROUNDS, "--set", f"phases.calibrate={calibrate}")
            hops[calibrate] = hybrid["packet_hops"]
            self.assertLess(hybrid["fct_error"]["mean"], 0.01)
            self.assertLess(hybrid["fct_error"]["max"], 0.03)
        self.assertLess(hops["true"], hops["false"])
        for fold in ("false", "true"):
            self.succeed("run", "scenario.toml", "--mode", "hybrid", "--set", f"fold={fold}",
                         "--out", fold, "--quiet")
        self.assertEqual(self.flows("false"), self.flows("true"))
        self.succeed("run", "scenario.toml", "--mode", "hybrid", "--no-skip", "--out", "all", "--quiet")
        self.succeed("run", "scenario.toml", "--mode", "packet", "--out", "packet", "--quiet")
        self.assertEqual(self.flows("all"), self.flows("packet"))

    def test_nothing_is_local_where_nothing_is_skipped(self):
        self.write("scenario.toml", RING)
        self.succeed("run", "scenario.toml", "--mode", "packet", "--out", "packet", "--quiet")
        self.succeed("run", "scenario.toml", "--mode", "hybrid", "--no-skip", "--set",
                     "phases.wake=data", "--out", "hybrid", "--quiet")
        for file in ("flows.csv", "ports.csv"):
            self.assertEqual((self.folder / "packet" / file).read_bytes(),
                             (self.folder / "hybrid" / file).read_bytes())

    def test_local_phases_are_refused_where_acks_must_be_packets(self):
        self.write("scenario.toml", RING)
        for setting, why in (("network.load_balance=spray", "where packets are sprayed"),
                             ("topology.loss=0.001", "where links lose packets"),
                             ("congestion.law=none", 'under law "none"'),
                             ("phases.scope=network", 'with phases.scope = "network"'),
                             ("phases.restore=empty", 'unless phases.restore = "hold"'),
                             ("topology.delay=10ns", "shorter than 10 frames")):
            self.refuse("run", "scenario.toml", "--mode", "hybrid", "--set", "phases.wake=data",
                        "--set", setting, "--quiet", says=[why])

    def test_phases_tell_of_every_moment(self):
        self.write("scenario.toml", LONG)
        self.succeed("run", "scenario.toml", "--mode", "hybrid", "--out", "out", "--quiet")
        flows = self.rows("out/flows.csv")
        phases = self.rows("out/phases.csv")
        skipped = sum(int(row["bytes_skipped"]) for row in phases)
        self.assertEqual(skipped, self.summary("out")["bytes_skipped"])
        self.assertEqual(sum(int(row["hops_saved"]) for row in phases),
                         self.summary("out")["hops_saved"])
        for flow in flows:
            begin, end = int(flow["start_ps"]), int(flow["finish_ps"])
            covered = [(int(row["start_ps"]), int(row["end_ps"])) for row in phases]
            at = begin
            while at < end:  # some partition is in a phase at every moment of a flow
                reach = max((b for a, b in covered if a <= at), default=at)
                self.assertGreater(reach, at)
                at = reach
        for row in phases:
            self.assertLess(int(row["start_ps"]), int(row["end_ps"]))

    def test_runs_are_alike(self):
        self.write("scenario.toml", LONG)
        for folder in ("one", "two"):
            self.succeed("run", "scenario.toml", "--mode", "hybrid", "--out", folder, "--quiet")
        self.assertEqual(self.flows("one"), self.flows("two"))
        self.assertEqual((self.folder / "one/phases.csv").read_bytes(),
                         (self.folder / "two/phases.csv").read_bytes())

    def test_choices_change_what_they_say(self):
        self.write("scenario.toml", LONG)
        results = {}
        for choice in ("rates=measured", "rates=maxmin", "scope=network", "restore=empty",
                       "restore=transformer", "restore=linear", "restore=last_mean",
                       "detector=hygra", "detector=queue", "detector=inflight"):
            key, value = choice.split("=")
            self.succeed("run", "scenario.toml", "--mode", "hybrid", "--quiet", "--out", choice,
                         "--set", f'phases.{key}="{value}"')
            results[choice] = self.summary(choice)
            self.assertEqual(results[choice]["flows_completed"], 4, choice)
            self.assertGreater(results[choice]["skips"], 0, choice)
        self.assertNotEqual(self.flows("rates=measured"), self.flows("rates=maxmin"))

    def test_emptied_queues_are_in_the_phases_too(self):
        self.write("scenario.toml", ENDS)
        self.succeed("run", "scenario.toml", "--mode", "hybrid", "--out", "out", "--quiet",
                     "--set", 'phases.restore="empty"', "--set", 'congestion.law="none"')
        self.assertGreater(self.summary("out")["skips"], 0)
        self.assertEqual(sum(int(row["bytes_skipped"]) for row in self.rows("out/phases.csv")),
                         self.summary("out")["bytes_skipped"])

    def test_a_model_of_queues_is_found_or_refused(self):
        self.write("scenario.toml", LONG)
        transformer = ["--set", 'phases.restore="transformer"']
        for folder in ("one", "two"):
            self.succeed("run", "scenario.toml", "--mode", "hybrid", "--out", folder, "--quiet",
                         *transformer)
        self.assertEqual(self.flows("one"), self.flows("two"))
        self.assertGreater(self.summary("one")["restored_queues"]["ports"], 0)
        self.write("bad.model", "no model")
        for name in ("bad.model", "gone.model"):
            self.refuse("run", "scenario.toml", "--mode", "hybrid", "--quiet", *transformer,
                        "--set", f'phases.restore_model="{name}"', says=[name])
        self.refuse("run", "scenario.toml", "--mode", "hybrid", "--quiet", *transformer,
                    "--set", 'congestion.law="none"', says=["not made for the law none", "hpcc"])

    def test_a_window_filled_by_placed_packets_is_acknowledged(self):
        # ACKs come for what asks for one, and no time-out mends a packet that does not. A packet is
        # more than a 64th of this threshold, so that queues of one are not left as they are.
        self.write("pipeline.toml", PIPELINE)
        (self.folder / "deep.model").write_bytes(model_that_says(1000.0))
        self.succeed("run", "pipeline.toml", "--mode", "hybrid", "--out", "out", "--quiet",
                     "--set", 'phases.restore="linear"', "--set", 'network.ecn.kmin="60KB"',
                     "--set", 'phases.restore_model="deep.model"')
        summary = self.summary("out")
        self.assertGreater(summary["skips"], 0)
        self.assertEqual(summary["retransmitted_bytes"], 0)
        self.assertGreater(summary["restored_queues"]["packets_placed"], 0)

    def test_sprayed_flows_are_not_skipped_whatever_the_rates(self):
        self.write("scenario.toml", LONG)
        for rates in ("measured", "maxmin"):
            self.succeed("run", "scenario.toml", "--mode", "hybrid", "--out", rates, "--quiet",
                         "--set", 'network.load_balance="spray"',
                         "--set", f'phases.rates="{rates}"')
            self.assertEqual(self.summary(rates)["skips"], 0)

    def test_a_cable_that_loses_packets_is_not_skipped(self):
        self.write("scenario.toml", LONG)
        for mode in ("packet", "hybrid"):
            self.succeed("run", "scenario.toml", "--mode", mode, "--out", mode, "--quiet",
                         "--set", "topology.loss=0.0001")
        self.assertEqual(self.flows("packet"), self.flows("hybrid"))

    def test_the_end_of_a_run_is_packet_modes(self):
        # Time-outs of flows that finished long ago are still noted when the last one finishes.
        self.write("scenario.toml", ENDS)
        for stop in (None, "3ms", "3900us"):
            with self.subTest(stop):
                sets = ["--set", f'stop="{stop}"'] if stop else []
                outputs = {}
                for folder, mode in (("packet", ["packet"]), ("hybrid", ["hybrid"]),
                                     ("apart", ["hybrid", "--no-skip"])):
                    outputs[folder] = self.succeed("run", "scenario.toml", "--mode", *mode, "--out",
                                                   folder, *sets).stdout
                packet = self.summary("packet")
                self.assertEqual(self.summary("apart")["simulated_s"], packet["simulated_s"])
                self.assertEqual((self.folder / "packet/ports.csv").read_bytes(),
                                 (self.folder / "apart/ports.csv").read_bytes())
                self.assertLess(abs(self.summary("hybrid")["simulated_s"] - packet["simulated_s"]),
                                0.01 * packet["simulated_s"])
                for text in outputs.values():
                    self.assertEqual("stopped at" in text, stop == "3ms")

    def test_ns3_arithmetic_is_packet_modes_only(self):
        self.write("scenario.toml", LONG + '\n[network]\narithmetic = "ns3"\n')
        result = self.sluice("run", "scenario.toml", "--mode", "hybrid")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        self.assertIn("ns3", result.stderr)


if __name__ == "__main__":
    unittest.main()

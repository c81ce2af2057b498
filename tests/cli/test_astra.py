# SPDX-License-Identifier: Apache-2.0
"""`sluice astra` and `sluice chakra` as a user of ASTRA-sim types them: its regression figure, its
samples, our packet engine under its traces, and the traps of first runs."""
import gzip
import json
import os
import pathlib
import re
import unittest

from support import CliTest

REFERENCE = pathlib.Path(os.environ.get("SLUICE_REFERENCE", "")) / "samples" / "astra-sim"

SYSTEM = {
    "scheduling-policy": "LIFO",
    "endpoint-delay": 10,
    "active-chunks-per-dimension": 1,
    "preferred-dataset-splits": 4,
    "all-reduce-implementation": ["ring"],
    "all-gather-implementation": ["ring"],
    "reduce-scatter-implementation": ["ring"],
    "all-to-all-implementation": ["ring"],
    "collective-optimization": "localBWAware",
    "local-mem-bw": 50,
}
NETWORK = "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n"
NS3 = "TOPOLOGY_FILE ../../scratch/topology/star.txt\nCC_MODE 1\nRATE_AI 50Mb/s\nRATE_HAI 100Mb/s\n"


class AstraTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("system.json", json.dumps(SYSTEM))
        self.write("ring8.yml", NETWORK)

    def generate(self, collective="all_reduce", ranks=8, prefix="ar"):
        self.succeed("chakra", "generate", "--collective", collective, "--ranks", ranks, "-o", prefix)

    def astra(self, *more, workload="ar", network="ring8.yml", system="system.json"):
        return self.sluice(
            "astra",
            f"--workload-configuration={workload}",
            "--system-configuration",
            system,
            f"--network-configuration={network}",
            *more,
        )

    def cycles(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        pattern = r"^sys\[(\d+)\] finished, (\d+) cycles, exposed communication (\d+) cycles\.$"
        found = re.findall(pattern, result.stdout, re.MULTILINE)
        return {int(rank): int(cycles) for rank, cycles, _ in found}

    def refused(self, result, *texts):
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        lines = result.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        for text in texts:
            self.assertIn(text, lines[0])


class Figures(AstraTest):
    def test_regression_figure(self):
        """ASTRA-sim, tests/rt_template/refs: 117780 cycles on every rank."""
        self.generate()
        for more in ([], ["--network-backend", "congestion-unaware"]):
            result = self.astra(*more)
            self.assertEqual(self.cycles(result), dict.fromkeys(range(8), 117780))
        for line in ["sys[3], Wall time: 117780", "sys[3], Comm time: 117780", "sys[3], GPU time: 0"]:
            self.assertIn(line, result.stdout.splitlines())

    def test_scales_and_rendezvous_change_the_result(self):
        self.generate()
        base = self.cycles(self.astra())[0]
        self.assertGreater(self.cycles(self.astra("--comm-scale", 2))[0], base)
        self.assertGreater(self.cycles(self.astra("--injection-scale=3"))[0], base)
        self.assertGreater(self.cycles(self.astra("--rendezvous-protocol", "true"))[0], base)
        self.assertEqual(self.cycles(self.astra("--compute-scale", 2))[0], base)

    def test_ranks_that_block_each_other_run_in_one_order(self):
        """32 NPUs, double binary trees in three dimensions, one queue: ASTRA-sim's own program stops
        with its collective unfinished."""
        self.generate(ranks=32)
        trees = {"all-reduce-implementation": ["doubleBinaryTree"] * 3}
        self.write("system.json", json.dumps({**SYSTEM, **trees}))
        self.write(
            "net.yml",
            "topology: [ Switch, FullyConnected, Switch ]\nnpus_count: [ 2, 4, 4 ]\n"
            "bandwidth: [ 13.7, 13.7, 100.0 ]\nlatency: [ 700.0, 33.5, 500.0 ]\n",
        )
        result = self.astra("--network-backend=congestion-unaware", network="net.yml")
        self.assertEqual(len(self.cycles(result)), 32)
        self.assertIn("block each other here, as in ASTRA-sim", result.stderr)

    def test_our_engines_under_an_ns3_config(self):
        """Eight hosts at one switch: in every mode about what rate and delay allow."""
        self.generate()
        (self.folder / "cfg").mkdir()
        self.succeed("topo", "star", "--hosts", 8, "--rate", "400Gbps", "-o", "cfg/star.txt")
        self.write("cfg/config.txt", NS3)
        self.write("logical.json", '{"logical-dims": ["8"]}')
        results = {}
        for mode in ("packet", "hybrid", "flow"):
            results[mode] = self.cycles(
                self.astra(
                    "--logical-topology-configuration=logical.json",
                    "--mode",
                    mode,
                    network="cfg/config.txt",
                )
            )
            self.assertEqual(len(results[mode]), 8)
        # 4 chunks x 14 steps of 2 x 1 us of links and 32 KiB at 400 Gb/s, and 21 x 655 ns.
        least = 4 * (14 * (2000 + 655 + 10) + 7 * 3 * 655)
        for mode, cycles in results.items():
            self.assertGreater(cycles[0], least, mode)
            self.assertLess(cycles[0], 1.2 * least, mode)
        self.refused(
            self.astra(network="cfg/config.txt"), "--logical-topology-configuration is missing"
        )
        self.write("logical.json", '{"logical-dims": ["8", "2"]}')
        self.refused(
            self.astra("--logical-topology-configuration=logical.json", network="cfg/config.txt"),
            "logical.json: has 16 NPUs; the topology has 8 hosts",
        )

    @unittest.skipUnless(REFERENCE.is_dir(), "no reference samples")
    def test_samples(self):
        networks = {4: "Ring_4npus.yml", 8: "Ring_8npus.yml"}
        ran = 0
        for traces in sorted((REFERENCE / "et").glob("*/*npus_*")):
            ranks = len(list(traces.glob("*.et")))
            for system in ("Ring_4chunks.json", "HGX-H100-validated.json"):
                cycles = self.cycles(
                    self.astra(
                        f"--remote-memory-configuration={REFERENCE}/remote_memory/"
                        "no_memory_expansion.json",
                        workload=traces,
                        system=REFERENCE / "system" / system,
                        network=REFERENCE / "network" / networks[ranks],
                    )
                )
                self.assertEqual(len(cycles), ranks)
                ran += 1
        self.assertGreaterEqual(ran, 6)
        # Their bytes are ours.
        self.generate()
        for rank in range(8):
            theirs = REFERENCE / "et/all_reduce/8npus_1MB" / f"all_reduce.{rank}.et"
            self.assertEqual((self.folder / f"ar.{rank}.et").read_bytes(), theirs.read_bytes())


class Traps(AstraTest):
    def test_missing(self):
        self.refused(self.astra(), "ar.0.et: does not exist")
        self.refused(self.astra(system="none.json"), "none.json: cannot be read: No such file")
        self.generate()
        self.refused(self.astra(network="none.yml"), "none.yml: cannot be read: No such file")
        self.refused(self.sluice("astra"), "--system-configuration is missing")
        (self.folder / "ar.3.et").unlink()
        self.refused(self.astra(), "ar.3.et: does not exist, but there is a trace of rank 7")

    def test_counts_must_agree(self):
        self.generate(ranks=4)
        self.refused(self.astra(), "there are traces of 4 ranks; the dimensions have 8 NPUs")

    def test_damaged_files(self):
        self.generate()
        whole = (self.folder / "ar.2.et").read_bytes()
        packed = gzip.compress(whole)
        for data, text in [
            (b"", "ar.2.et: is empty"),
            (whole[:-3], "ar.2.et:message 2: claims"),
            (packed[:-9], "ar.2.et: its gzip data is cut off"),
            (b"\xff" * 9 + b"\x01", "ar.2.et:message 1: claims"),
            (b"not a trace at all", "ar.2.et:message 1"),
        ]:
            self.write("ar.2.et", data)
            self.refused(self.astra(), text)
        self.write("ar.2.et", packed)
        self.assertEqual(self.cycles(self.astra())[2], 117780)

    def test_options(self):
        self.generate()
        self.refused(self.astra("--rendezvous-protocol=maybe"), "rendezvous-protocol", "true or false")
        self.refused(self.astra("--network-backend=magic"), "congestion-aware")
        self.refused(self.astra("--num-queues-per-dim=0"))
        self.refused(self.astra("--mode=warp"), "--mode")

    def test_check_lists_everything(self):
        nodes = [
            {"id": 1, "type": "COMP_NODE", "dataDeps": [7]},
            {"id": 2, "type": "COMP_NODE", "dataDeps": [3]},
            {"id": 3, "type": "COMP_NODE", "dataDeps": [2]},
        ]
        self.write("bad.0.json", json.dumps(nodes).replace(",", ",\r\n"))
        self.write("ring8.yml", NETWORK.replace("8", "2"))
        self.write("bad.1.json", "[]")
        self.write("system.json", json.dumps({**SYSTEM, "colour": 1}))
        result = self.astra("--check", workload="bad")
        self.assertEqual(result.returncode, 2)
        for line in [
            "bad.0.json:node 1: does not fit: depends on node 7, which is not in the file",
            "bad.0.json:node 2: does not fit: waits for itself: node 2 -> 3 -> 2; "
            "2 nodes can never run",
            "system.json:1: skipped: colour: is not a key of this file",
        ]:
            self.assertIn(line, result.stdout.splitlines())
        self.refused(self.astra(workload="bad"), "bad.0.json:node 1", "--check lists them")
        # What cannot be read at all does not hide the rest.
        self.write("system.json", "{")
        result = self.astra("--check", workload="bad", network="none.yml")
        for line in [
            "system.json:1: does not fit: is not JSON",
            "none.yml: does not fit: cannot be read: No such file or directory",
            "bad.1.json: read: 0 nodes, 0 dependencies",
        ]:
            self.assertIn(line, result.stdout.splitlines())
        lint = self.sluice("chakra", "lint", "bad")
        self.assertEqual(lint.returncode, 2)
        self.assertIn("bad.0.json:node 1: does not fit", lint.stdout)

    def test_check_lists_the_topology_of_an_ns3_config(self):
        """A ring of hosts, 0 switches, one cable listed twice, as an ns-3 user may have it: rings
        run on it, and only what needs other paths is refused."""
        cables = "".join(f"{i} {(i + 1) % 4} 25Gbps 0.005ms 0\n" for i in range(4))
        self.write("topology.txt", "4 0 5\r\n\r\n" + cables + "3 0 25Gbps 0.005ms 0\n")
        self.write("config.txt", "TOPOLOGY_FILE topology.txt\nCC_MODE 1\n")
        self.write("logical.json", '{"logical-dims": ["4"]}')
        self.generate(ranks=4)
        logical = "--logical-topology-configuration=logical.json"
        result = self.astra(logical, "--check", network="config.txt")
        self.assertEqual(result.returncode, 0)
        for line in [
            "topology.txt:1: read: HPCC header: 4 hosts, 0 switches",
            "topology.txt:7: read: link 3-0 is listed again after line 6: all are used, in parallel",
            "topology.txt: doubtful: not connected: no path from host 0 to host 2; packets pass "
            "through no hosts but those of topology.forwarding_hosts",
        ]:
            self.assertIn(line, result.stdout.splitlines())
        self.assertEqual(len(self.cycles(self.astra(logical, network="config.txt"))), 4)
        self.write(
            "system.json", json.dumps({**SYSTEM, "all-reduce-implementation": ["direct"]})
        )
        result = self.astra(logical, "--quiet", network="config.txt")
        self.refused(result, "no path from host 0 to host 2")

    def test_opposite_orders_end_as_a_deadlock(self):
        """Rank 0 sends before it receives what rank 1 sends only after that: each holds its GPU's
        one communication, so with rendezvous nothing moves."""

        def message(kind, peer, number, deps=()):
            return {
                "id": number,
                "type": f"COMM_{kind}_NODE",
                "dataDeps": list(deps),
                "attr": [
                    {"name": "comm_dst" if kind == "SEND" else "comm_src", "int32Val": peer},
                    {"name": "comm_size", "int64Val": "1024"},
                ],
            }

        for rank in (0, 1):
            other = 1 - rank
            self.write(
                f"dl.{rank}.json",
                json.dumps([message("SEND", other, 1), message("RECV", other, 2, [1])]),
            )
        self.write("ring2.yml", NETWORK.replace("8", "2"))
        self.assertEqual(len(self.cycles(self.astra(workload="dl", network="ring2.yml"))), 2)
        result = self.astra("--rendezvous-protocol=true", workload="dl", network="ring2.yml")
        self.refused(result, "the job can never finish", 'rank 0 send "node 1"')

    def test_lost_link_is_work_left(self):
        """LINK_DOWN counts from 2 s on: until then every rank computes."""
        reduce = [{"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": "1048576"}]
        for rank in range(4):
            self.write(
                f"late.{rank}.json",
                json.dumps(
                    [
                        {"id": 1, "type": "COMP_NODE", "durationMicros": "2000000"},
                        {"id": 2, "type": "COMM_COLL_NODE", "dataDeps": [1], "attr": reduce},
                    ]
                ),
            )
        self.succeed("topo", "star", "--hosts", 4, "--rate", "100Gbps", "-o", "topology.txt")
        self.write(
            "config.txt", "TOPOLOGY_FILE topology.txt\nCC_MODE 1\nLINK_DOWN 10 0 4\n"
        )
        self.write("logical.json", '{"logical-dims": ["4"]}')
        for mode in ("packet", "hybrid", "flow"):
            result = self.astra(
                "--logical-topology-configuration=logical.json",
                "--mode",
                mode,
                workload="late",
                network="config.txt",
            )
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertRegex(result.stderr, r"the job stopped with \d+ of \d+ operations")
            self.assertIn('rank 1 recv "node 2"', result.stderr)
            self.assertNotIn("finished", result.stdout)


class Conversion(AstraTest):
    def test_there_and_back(self):
        self.generate("reduce-scatter", 2, "rs")
        self.succeed("chakra", "convert", "rs", "-o", "json")
        nodes = json.loads((self.folder / "json/rs.1.json").read_text())
        self.assertEqual(nodes[0]["attr"][2], {"int64Val": "1048576", "name": "comm_size"})
        self.succeed("chakra", "convert", "json", "-o", "et")
        for rank in (0, 1):
            name = f"rs.{rank}.et"
            self.assertEqual(
                (self.folder / "et" / name).read_bytes(), (self.folder / name).read_bytes()
            )
        self.assertIn("COMM_COLL_NODE REDUCE_SCATTER", self.succeed("chakra", "stat", "et").stdout)
        self.refused(self.sluice("chakra", "convert", "rs"), "-o FOLDER is missing")
        self.refused(self.sluice("chakra", "generate", "--collective=dance", "-o", "x"), "dance")


    def test_a_scenarios_job_as_traces(self):
        """A ring all-reduce over 4 hosts: 6 sends and 6 recvs per rank."""
        self.write(
            "ring.toml",
            '[topology]\ntype = "star"\nhosts = 4\n'
            '[workload]\ntype = "ring-all-reduce"\nsize = "4MB"\n',
        )
        self.succeed("chakra", "export", "ring.toml", "-o", "out")
        stat = self.succeed("chakra", "stat", "out").stdout
        self.assertRegex(stat, r"COMM_SEND_NODE +24 nodes +24000000 bytes")
        self.assertRegex(stat, r"COMM_RECV_NODE +24 nodes +24000000 bytes")
        self.write("ring4.yml", NETWORK.replace("8", "4"))
        # 6 steps of 1 MB at 50 GiB/s and 500 ns.
        step = 500 + int(1_000_000 / (50 * 2**30 / 1e9))
        cycles = self.cycles(self.astra(workload="out", network="ring4.yml"))
        self.assertEqual(cycles, dict.fromkeys(range(4), 6 * step))


class InScenario(AstraTest):
    SCENARIO = """\
name = "chakra"
[topology]
type = "star"
hosts = 8
[workload]
type = "chakra"
traces = "ar"
"""

    def test_runs_in_every_mode(self):
        self.generate()
        self.write("small.toml", self.SCENARIO + 'system = "system.json"\n')
        times = {}
        for mode in ("packet", "hybrid", "flow"):
            self.succeed("run", "small.toml", "--mode", mode, "--quiet", "--out", mode)
            summary = json.loads((self.folder / mode / "summary.json").read_text())
            times[mode] = summary["jct_s"]
        self.assertGreater(times["packet"], 100e-6)
        self.assertAlmostEqual(times["flow"] / times["packet"], 1, delta=0.1)
        self.assertAlmostEqual(times["hybrid"] / times["packet"], 1, delta=0.05)

    def test_defaults_and_mistakes(self):
        self.generate()
        self.write("small.toml", self.SCENARIO)
        self.succeed("run", "small.toml", "--quiet")
        self.write("small.toml", self.SCENARIO + "logical_dims = [4, 4]\n")
        self.refused(
            self.sluice("run", "small.toml"), "small.toml", "the dimensions have 16 NPUs"
        )
        self.write("small.toml", self.SCENARIO.replace('"ar"', '"none"'))
        self.refused(self.sluice("run", "small.toml"), "none.0.et: does not exist")


if __name__ == "__main__":
    unittest.main()

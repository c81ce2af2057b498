# SPDX-License-Identifier: Apache-2.0
"""`sluice collective` and [workload] type = "collective" as a user types them."""
import csv
import json
import re
import unittest

from support import SOURCE, CliTest

STAR = """\
name = "star"
[topology]
type = "star"
hosts = 8
[congestion]
law = "dcqcn"
[workload]
type = "permutation"
"""

SERVERS = """\
name = "servers"
[topology]
type = "rail-optimized"
gpus = 16
gpus_per_server = 4
[congestion]
law = "dcqcn"
[workload]
type = "collective"
"""

ALL_REDUCE = ["ring", "tree", "halving-doubling", "direct", "hierarchical"]
OTHERS = {
    "reduce-scatter": ["ring", "halving-doubling", "direct", "hierarchical"],
    "all-gather": ["ring", "halving-doubling", "direct", "hierarchical"],
    "all-to-all": ["direct", "pairwise", "hierarchical", "pxn"],
    "broadcast": ["ring", "tree"],
    "reduce": ["ring", "tree"],
}


def closed_form(members, size, links, ack):
    """Seconds of a ring all-reduce alone on 100 Gb/s links of 1 us: 2 (n - 1) / n S / B
    + 2 (n - 1) x step latency. B: payload per time on a link that carries data one way and the ACKs
    of the other way's data. Step latency: what a packet takes that is sent when nothing else is: the
    links' delays, and its serialization on each link but the first, where that is in S / B."""
    rate, payload, header, delay = 100e9 / 8, 1000, 48, 1e-6
    bandwidth = rate * payload / (payload + header + ack)
    latency = links * delay + (links - 1) * (payload + header) / rate
    return 2 * (members - 1) / members * size / bandwidth + 2 * (members - 1) * latency


class CollectiveCommand(CliTest):
    def setUp(self):
        super().setUp()
        self.write("star.toml", STAR)
        self.write("servers.toml", SERVERS)

    def rows(self, *arguments):
        self.succeed("collective", *arguments, "--json", "out.json", "--quiet")
        return json.loads((self.folder / "out.json").read_text())["rows"]

    def time(self, *arguments):
        """Of one size, in seconds."""
        (row,) = self.rows(*arguments)
        return row["time_us"] * 1e-6

    def test_groups_are_where_their_ranks_are(self):
        # Rank r on server r % 4: a server's ranks meet inside it, nothing is sent; a rail's send.
        hosts = [4 * (rank % 4) + rank // 4 for rank in range(16)]
        self.write("listed.toml", SERVERS + f'placement = "listed"\nhosts = {hosts}\n')
        for groups, flows in (("server", 0), ("rail", 4 * 2 * 3 * 4)):
            self.succeed("run", "listed.toml", "--mode", "flow", "--out", "out",
                         "--set", f"workload.groups={groups}", "--set", "workload.size=1MB")
            summary = json.loads((self.folder / "out/summary.json").read_text())
            self.assertEqual(summary["flows"], flows)

    def test_table_csv_and_json_agree(self):
        result = self.succeed("collective", "star.toml", "--mode", "flow", "-b", "64K", "-e", "1M",
                              "-f", "4", "--overhead", "0", "--csv", "t.csv", "--json", "t.json")
        lines = [line.split() for line in result.stdout.splitlines() if not line.startswith("#")]
        self.assertEqual([int(line[0]) for line in lines], [65536, 262144, 1048576])
        with open(self.folder / "t.csv", newline="") as file:
            table = list(csv.DictReader(file))
        document = json.loads((self.folder / "t.json").read_text())
        self.assertEqual(document["members"], 8)
        for line, row, item in zip(lines, table, document["rows"]):
            size, count, kind, operation, root, time, algbw, busbw = line
            self.assertEqual((kind, operation, root), ("float", "sum", "-1"))
            self.assertEqual(int(count), int(size) // 4)
            self.assertEqual(int(size), int(row["size_bytes"]))
            # GB/s are 10^3 bytes per microsecond; an all-reduce of 8 puts 14/8 S on each link.
            self.assertAlmostEqual(item["algbw_GBps"], int(size) / item["time_us"] / 1e3, places=9)
            self.assertAlmostEqual(item["busbw_GBps"], item["algbw_GBps"] * 14 / 8, places=9)
            self.assertAlmostEqual(float(time), item["time_us"], delta=0.0051)
            self.assertAlmostEqual(float(algbw), item["algbw_GBps"], delta=0.0051)
            self.assertAlmostEqual(float(busbw), item["busbw_GBps"], delta=0.0051)
            self.assertAlmostEqual(float(row["time_us"]), item["time_us"], delta=1e-6)
            self.assertEqual(item["flows"], 14 * 8)
            self.assertEqual(item["flow_bytes"], 14 * int(size))
        mean = sum(item["busbw_GBps"] for item in document["rows"]) / 3
        self.assertIn(f"# Avg bus bandwidth    : {mean:.4f}", result.stdout)

    def test_ring_all_reduce_is_its_closed_form(self):
        # Within 0.1%, where ACKs take no room: 1 byte each.
        self.write("leaves.toml", STAR.replace("star", "leaf-spine").replace(
            "hosts = 8", "leaves = 8\nhosts_per_leaf = 1"))
        for mode in ("packet", "flow"):
            for scenario, links in (("star.toml", 2), ("leaves.toml", 4)):
                for size in (128_000, 2_048_000, 8_192_000):
                    time = self.time(scenario, "--mode", mode, "--algorithm", "ring", "-b", size,
                                     "-e", size, "--overhead", 0, "--set", "network.packet.ack=1")
                    expected = closed_form(8, size, links, 1)
                    self.assertLess(abs(time / expected - 1), 0.001, (mode, scenario, size))

    def test_acks_of_the_other_direction_take_their_share(self):
        # With ACKs of 60 B: flow mode always; packets where the last ACKs, that nobody waits for,
        # are few beside the rest.
        for mode, size in (("flow", 128_000), ("flow", 8_192_000), ("packet", 16_000_000)):
            time = self.time("star.toml", "--mode", mode, "--algorithm", "ring", "-b", size, "-e",
                             size, "--overhead", 0)
            self.assertLess(abs(time / closed_form(8, size, 2, 60) - 1), 0.001, (mode, size))

    def test_overhead_counts_once(self):
        point = ("star.toml", "--mode", "flow", "-b", "1M", "-e", "1M", "--algorithm", "ring")
        plain = self.time(*point, "--overhead", "0s")
        self.assertAlmostEqual(self.time(*point, "--overhead", "100us"), plain + 1e-4, delta=1e-11)
        self.assertAlmostEqual(self.time(*point), plain + 8.4e-6, delta=1e-11)
        # 14 steps
        self.assertAlmostEqual(self.time(*point, "--overhead", "0s", "--step-overhead", "1us"),
                               plain + 14e-6, delta=1e-11)

    def test_every_kind_and_algorithm_in_every_mode(self):
        pairs = [("all-reduce", name) for name in ALL_REDUCE]
        pairs += [(kind, name) for kind, names in OTHERS.items() for name in names]
        for kind, algorithm in pairs:
            times = {}
            for mode in ("packet", "flow"):
                (row,) = self.rows("servers.toml", "--mode", mode, "--kind", kind, "--algorithm",
                                   algorithm, "-b", "1M", "-e", "1M", "--channels", 2)
                times[mode] = row["time_us"]
            # No bandwidth beyond what 16 NICs of 12.5 GB/s and NVLink can carry together.
            self.assertGreater(min(times.values()), 20)
            self.assertLess(max(times.values()), 3 * min(times.values()), (kind, algorithm, times))

    def test_rings_and_trees_use_all_nics_of_a_server(self):
        # 64 MB over 4 servers of 4: a ring of one channel sends 2 x 15/16 S through one NIC of each
        # server, 9.6 ms at 100 Gb/s and more; four channels a quarter of that through each of four.
        for algorithm, most in (("ring", 0.4), ("tree", 0.5)):
            for mode in ("packet", "flow"):
                point = ("servers.toml", "--mode", mode, "--algorithm", algorithm, "-b", "64M",
                         "-e", "64M")
                one = self.time(*point, "--channels", 1)
                self.assertGreater(one, 9.6e-3)
                self.assertLess(self.time(*point), most * one, (algorithm, mode))
                self.assertEqual(self.time(*point), self.time(*point, "--channels", 4))
        (inside,) = self.rows("servers.toml", "--mode", "flow", "--groups", "server", "-b", "1M",
                              "-e", "1M", "--intra-node", "network", "--algorithm", "ring")
        self.assertEqual(inside["flows"], 4 * 4 * 6)

    def test_rings_keep_their_rails_unless_told_otherwise(self):
        """16 MB over 4 servers: in the given order rings cross rails and meet at spines."""
        def seconds(*words):
            return self.time("servers.toml", "--kind", "all-reduce", "-b", "16M", "-e", "16M", *words)

        self.assertEqual(seconds(), seconds("--ring-order", "rail"))
        self.assertLess(1.15 * seconds(), seconds("--ring-order", "given"))

    def test_rails_that_nothing_joins(self):
        """Three servers of two GPUs, a switch for each rail. An odd number of servers: somewhere a ring has to change rails, which it
        does inside a server."""
        links = "".join(f"{gpu} {6 + gpu % 2} 100Gbps 1us 0\n" for gpu in range(6))
        self.write("rails.topo", "8 2 0 2 6 H100\n6 7\n" + links)
        head = ("[topology]\ntype = \"file\"\npath = \"rails.topo\"\n"
                "[workload]\ntype = \"collective\"\nsize = \"4MB\"\nkind = \"{}\"\n")
        for kind in ("all-reduce", "broadcast", "all-to-all"):
            for mode in ("packet", "flow"):
                with self.subTest(kind=kind, mode=mode):
                    self.write("rails.toml", head.format(kind))
                    self.succeed("run", "rails.toml", "--quiet", "--mode", mode)

    def test_inside_a_server_computed(self):
        # One group per server, nothing crosses the network: 11.8 us + 2 x 3/4 x S / 160 GB/s, which
        # contains the software's time. A800, 8 links x 20 GB/s, without a table of NCCL's choices.
        point = ("servers.toml", "--groups", "server", "-b", "1600000", "-e", "1600000", "--mode",
                 "flow")
        (row,) = self.rows(*point, "--gpu", "A800")
        self.assertEqual(row["flows"], 0)
        self.assertAlmostEqual(row["time_us"], 11.8 + 15, places=5)
        # With one: between what 4 A100 were measured to take for 1 MiB and for 4 MiB.
        (row,) = self.rows(*point, "--gpu", "A100")
        self.assertTrue(30.9 < row["time_us"] < 68.9, row)
        # PCIe is what a GPU without NVLink has.
        (row,) = self.rows(*point, "--gpu", "L40S")
        self.assertTrue(276 < row["time_us"] < 1228, row)
        # In the switches, on a GPU that has NVLink SHARP: 25 us + 2 x 3/4 x S / 475 GB/s.
        (row,) = self.rows("servers.toml", "--groups", "server", "-b", "1900000", "-e", "1900000",
                           "--mode", "flow", "--gpu", "H100", "--algorithm", "nvls")
        self.assertAlmostEqual(row["time_us"], 25 + 6, places=5)

    def test_inside_a_server_as_a_network(self):
        switches = ("--set", "topology.nvswitches_per_server=1", "--set",
                    "topology.nvlink_rate=800Gbps", "--groups", "server", "--overhead", 0, "-b",
                    8_000_000, "-e", 8_000_000, "--mode", "flow")
        ring = self.time("servers.toml", *switches, "--algorithm", "ring")
        in_switch = self.time("servers.toml", *switches, "--algorithm", "nvls")
        # 100 GB/s: 2 x 3/4 x S = 120 us; S (n + 1) / n = 100 us; and headers and ACKs.
        self.assertAlmostEqual(ring * 1e6, 120 * 1.108, delta=2)
        self.assertAlmostEqual(in_switch * 1e6, 100 * 1.108, delta=2)

    def test_sizes(self):
        def sizes(*arguments):
            return [row["size_bytes"] for row in self.rows("star.toml", "--mode", "flow",
                                                           *arguments)]
        self.assertEqual(sizes("-b", "1M", "-e", "3M", "-i", "1M"), [1 << 20, 2 << 20, 3 << 20])
        self.assertEqual(sizes("-b", "1MB", "-e", "1MiB"), [1_000_000])
        self.assertEqual(sizes("-b", 8, "-e", 64), [8, 16, 32, 64])

    def test_one_size_is_the_scenario_type(self):
        self.write("one.toml", SERVERS + """\
kind = "all-gather"
algorithm = "hierarchical"
size = "1MiB"
""")
        self.succeed("run", "one.toml", "--mode", "flow", "--out", "run", "--quiet")
        with open(self.folder / "run" / "collectives.csv", newline="") as file:
            (row,) = list(csv.DictReader(file))
        self.assertIn("all-gather", row.values())
        time = self.time("servers.toml", "--mode", "flow", "--kind", "all-gather", "--algorithm",
                         "hierarchical", "-b", "1M", "-e", "1M")
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        # The job also waits for the last acknowledgements, which are here before the last phase.
        self.assertAlmostEqual(summary["jct_s"], time, delta=5e-6)

    def test_a_collective_of_the_scenario_gives_defaults(self):
        self.write("given.toml", SERVERS + 'kind = "all-gather"\nalgorithm = "hierarchical"\n'
                   'overhead = "1ms"\nsize = "8B"\n')
        point = ("-b", "1M", "-e", "1M", "--mode", "flow")
        plain = self.time("servers.toml", *point, "--kind", "all-gather", "--algorithm",
                          "hierarchical", "--overhead", 0)
        self.assertAlmostEqual(self.time("given.toml", *point), plain + 1e-3, delta=1e-11)
        self.assertAlmostEqual(self.time("given.toml", *point, "--overhead", "2ms"), plain + 2e-3,
                               delta=1e-11)
        result = self.succeed("collective", "given.toml", *point)
        self.assertIn("# all-gather (hierarchical) of 16 ranks, mode flow", result.stdout)
        # A list of workloads is not.
        self.write("list.toml", SERVERS.replace("[workload]", "[[workload]]") + 'kind = "reduce"\n')
        result = self.succeed("collective", "list.toml", *point)
        self.assertIn("# all-reduce (automatic) of 16 ranks", result.stdout)

    def write_holes(self, sizes, header):
        """A topology.txt of servers of these sizes, each with an NVSwitch, on one switch."""
        gpus, lines = 0, []
        for server, size in enumerate(sizes):
            for _ in range(size):
                lines.append(f"{gpus} {sum(sizes) + server} 2400Gbps 0.000025ms 0")
                lines.append(f"{gpus} {sum(sizes) + len(sizes)} 100Gbps 0.001ms 0")
                gpus += 1
        ids = " ".join(str(gpus + i) for i in range(len(sizes) + 1))
        self.write("holes.txt", f"{gpus + len(sizes) + 1} {header} {len(sizes)} 1 {len(lines)} A100\n{ids}\n" +
                   "\n".join(lines) + "\n")

    def test_servers_with_holes(self):
        """6, 4 and 6 GPUs: what inside them is computed meets, what crosses sends, in every algorithm."""
        self.write_holes((6, 4, 6), 6)
        self.write("holes.toml", '[topology]\ntype = "file"\npath = "holes.txt"\n[workload]\n'
                                 'type = "collective"\nkind = "all-reduce"\nsize = "1MB"\n')
        self.assertIn("3 servers of 4 to 6 GPUs", self.succeed("describe", "holes.toml").stdout)
        for kind, algorithms in (("all-reduce", ("ring", "tree", "halving-doubling", "direct", "hierarchical")),
                                 ("all-gather", ("ring", "direct", "halving-doubling")),
                                 ("reduce-scatter", ("ring", "direct")), ("broadcast", ("ring", "tree")),
                                 ("all-to-all", ("direct", "pairwise", "pxn"))):
            for algorithm in algorithms:
                for ranks in (10, 16):
                    if algorithm == "halving-doubling" and kind != "all-reduce" and ranks == 10:
                        continue
                    with self.subTest(kind=kind, algorithm=algorithm, ranks=ranks):
                        self.rows("holes.toml", "--kind", kind, "--algorithm", algorithm, "--ranks", ranks, "-b",
                                  "1M", "-e", "1M", "--mode", "packet")
        for kind in ("all-gather", "reduce-scatter", "all-to-all"):
            self.refuse("collective", "holes.toml", "--kind", kind, "--algorithm", "hierarchical",
                        says=["members on the same rails in each server", "server 1 has 4 members, server 0 has 6"])
        # Ranks 6 to 9 are one server, which the header's runs of six are not.
        self.write("four.toml", (self.folder / "holes.toml").read_text() + 'placement = "listed"\n'
                   'hosts = [6, 7, 8, 9]\nalgorithm = "computed"\n')
        self.succeed("run", "four.toml", "--mode", "packet")

    def test_sizes_of_servers_by_key(self):
        self.write("sizes.toml", '[topology]\ntype = "star"\nhosts = 10\ngpus_per_server = [6, 4]\n[workload]\n'
                                 'type = "training"\nmodel = "gpt-7b"\ntp = 2\nsequence = 128\n'
                                 'allow_oom = true\n')
        for tp, groups in ((1, 10), (2, 5), (4, 2)):
            text = self.succeed("describe", "sizes.toml", "--set", f"workload.tp={tp}").stdout
            self.assertIn(f"(TP{tp} EP1 DP{groups} PP1)", text)
            self.assertIn("2 servers of 4 to 6 GPUs", text)
        self.refuse("describe", "sizes.toml", "--set", "workload.tp=8", says="inside a server of 6 GPUs")
        self.refuse("describe", "sizes.toml", "--set", "topology.gpus_per_server=[6, 5]",
                    says="adds up to 11 GPUs, the topology has 10 hosts")
        # The last server may be short.
        self.assertIn("(TP2 EP1 DP5 PP1)", self.succeed("describe", "sizes.toml", "--set",
                                                         "topology.gpus_per_server=6").stdout)

    def test_nccl_chooses_by_size(self):
        """The choice is shown by size, and what it sends: of LL two bytes for each, on as many channels as fill."""
        self.write("h100.toml", SERVERS + 'gpu = "H100"\n')
        options = ("h100.toml", "--algorithm", "nccl", "--mode", "flow", "-f", "1024")
        small, large = self.rows(*options, "-b", "1K", "-e", "1M")
        self.assertEqual(small["choice"], "tree LL, 1 channel")
        self.assertIn("LL128", large["choice"])
        # 4 servers: two trees of three edges, up and down, of half of the tensor each.
        self.assertEqual(small["flow_bytes"], 2 * 3 * 2 * 1024)
        text = self.succeed("collective", *options, "-b", "1K", "-e", "1K").stdout
        self.assertIn("  tree LL, 1 channel\n", text)
        (ring,) = self.rows(*options, "-b", "1M", "-e", "1M", "--nccl-algorithm", "ring", "--nccl-protocol", "Simple")
        self.assertEqual(ring["choice"].split(",")[0], "ring Simple")
        # Inside a server the GPU type's table says what it is; elsewhere nothing is shown.
        (inside,) = self.rows(*options, "-b", "1K", "-e", "1K", "--ranks", 4)
        self.assertEqual(inside["choice"], "ring LL")
        (plain,) = self.rows("h100.toml", "--mode", "flow", "-b", "1K", "-e", "1K")
        self.assertNotIn("choice", plain)
        self.refuse("collective", "h100.toml", "--algorithm", "nccl", "--nccl-algorithm", "pat", says="allow nothing that NCCL has")

    def test_nccl_in_packets_and_as_flows(self):
        for size in ("64K", "4M"):
            for kind in ("all-reduce", "all-gather"):
                flow, packet = (self.time("servers.toml", "--algorithm", "nccl", "--kind", kind, "-b", size, "-e",
                                          size, "--mode", mode) for mode in ("flow", "packet"))
                self.assertAlmostEqual(flow / packet, 1, delta=0.05)

    def test_documents_list_what_help_lists(self):
        usage = self.succeed("collective", "--help").stdout
        names = re.search(r"--algorithm NAME:\{([^}]*)\}", usage).group(1).split(",")
        keys = (SOURCE / "docs/scenario.md").read_text(encoding="utf-8")
        row = re.search(r"^\| algorithm \| [^|]* \| (.*) \|$", keys, re.M).group(1)
        self.assertEqual(row.split(", "), names)
        page = (SOURCE / "docs/models/collectives.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `([\w-]+)` \|", page, re.M)
        self.assertEqual(sorted(["automatic", "nccl", *rows]), sorted(names))

    def test_refusals(self):
        def refuse(says, *arguments, scenario="star.toml"):
            self.refuse("collective", scenario, *arguments, says=says)
        refuse(["--kind", "all-reduce"], "--kind", "allreduce")
        refuse(["--algorithm", "halving-doubling"], "--algorithm", "rings")
        refuse(["pxn cannot do all-reduce", "ring, tree"], "--algorithm", "pxn")
        refuse(["power of two", "not for 6"], "--algorithm", "halving-doubling", "--kind",
               "all-gather", "--ranks", 6)
        refuse(["--begin", "unknown unit"], "-b", "5x")
        refuse(["--end is less"], "-b", "2M", "-e", "1M")
        refuse(["1000 sizes"], "-b", "1", "-e", "1M", "-i", "1")
        refuse(["cannot be opened"], scenario="none.toml")
        refuse(["9 hosts", "8 of 8 are free"], "--ranks", 9)
        refuse(["at least 2 hosts"], "--ranks", 1)
        refuse(["chunk", "unit missing"], "--chunk", 10)
        refuse(["50000000"], "--chunk", "1B", "-e", "1G")
        refuse(["channels", "1 to 1024"], "--channels", 0)
        refuse(["mode", "hybrid"], "--mode", "fast")
        refuse(["interconnect", "nvlink"], "--interconnect", "infinity")
        refuse(["A100"], "--gpu", "A10O")
        refuse(["nvls", "several members"], "--algorithm", "nvls")
        refuse(["same rails"], "--kind", "all-gather", "--algorithm", "hierarchical", "--ranks", 6, "--placement", "packed",
               scenario="servers.toml")
        refuse(["reaches rank", "at least 1ps"], "--server-hop", "0s", "--algorithm", "ring",
               scenario="servers.toml")


if __name__ == "__main__":
    unittest.main()

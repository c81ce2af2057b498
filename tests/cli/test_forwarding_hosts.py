# SPDX-License-Identifier: Apache-2.0
"""Files of networks whose servers pass packets on: BCube's, and rail-only ones of SimAI's format."""
import csv
import itertools
import json
import unittest

from report_support import ReportTest


def bcube(n):
    """BCube(n, 1) in the format of HPCC ns-3: server 10 i + j on switch i of level 0 and switch j of level 1."""
    hosts = n * n
    cables = [f"{i * n + j} {switch} 100Gbps 0.001ms 0"
              for i, j in itertools.product(range(n), range(n)) for switch in (hosts + i, hosts + n + j)]
    switches = " ".join(str(hosts + i) for i in range(2 * n))
    return f"{hosts + 2 * n} {2 * n} {len(cables)}\n{switches}\n" + "\n".join(cables) + "\n"


def rail_only(servers, gpus):
    """SimAI's header; each server an NVSwitch, each rail a switch, and nothing above the rails."""
    hosts = servers * gpus
    cables = []
    for server, rail in itertools.product(range(servers), range(gpus)):
        cables.append(f"{server * gpus + rail} {hosts + server} 2880Gbps 0.000025ms 0")
        cables.append(f"{server * gpus + rail} {hosts + servers + rail} 400Gbps 0.0005ms 0")
    switches = " ".join(str(hosts + i) for i in range(servers + gpus))
    return (f"{hosts + servers + gpus} {gpus} {servers} {gpus} {len(cables)} H100\n{switches} \n" +
            "\n".join(cables) + "\n")


def scenario(file, workload, more=""):
    return f'name = "net"\n[topology]\ntype = "file"\npath = "{file}"\n{more}\n[workload]\n{workload}\n'


FORWARD = 'forwarding_hosts = "all"'
ALL_TO_ALL = 'type = "all-to-all"\nsize = "16KB"'


class ForwardingHosts(ReportTest):
    def setUp(self):
        super().setUp()
        self.write("bcube.txt", bcube(4))
        self.write("rails.txt", rail_only(2, 4))

    def run_rows(self, name):
        with open(self.folder / "runs" / "net" / name, newline="") as file:
            return list(csv.DictReader(file))

    def lone_flow(self, file, src, dst, more=FORWARD):
        """The completion time in us of 1,000 bytes without congestion control."""
        flow = f'type = "flows"\nlist = [[{src}, {dst}, "1kB"]]'
        self.write("net.toml", scenario(file, flow, more) + '[congestion]\nlaw = "none"\n')
        self.succeed("run", "net.toml", "--mode", "packet")
        row = self.run_rows("flows.csv")[0]
        return (int(row["received_ps"]) - int(row["start_ps"])) / 1e6

    def test_without_the_key_the_message_names_it(self):
        self.write("net.toml", scenario("bcube.txt", 'type = "flows"\nlist = [[0, 5, "1kB"]]'))
        self.refuse("run", "net.toml", says=["no path from host 0 to host 5", "topology.forwarding_hosts"])
        self.assertIn("topology.forwarding_hosts", self.succeed("topo", "--file", "bcube.txt", "--check").stdout)

    def test_all_pairs_of_bcube_in_every_mode(self):
        self.write("net.toml", scenario("bcube.txt", ALL_TO_ALL, FORWARD))
        for mode in ("packet", "hybrid", "wormhole", "flow"):
            with self.subTest(mode):
                self.assertIn("240 of 240 completed",
                              self.succeed("run", "net.toml", "--mode", mode, "--no-memo").stdout)
        self.assertEqual({row["kind"] for row in self.run_rows("ports.csv")}, {"host", "port", "switch"})

    def test_own_packets_take_the_cables_delay_and_passing_ones_the_cost_more(self):
        # 1,048 bytes at 100 Gb/s take 83.84 ns on each link: two cables and one link in each server,
        direct = self.lone_flow("bcube.txt", 0, 1)
        self.assertAlmostEqual(direct, 2 + 4 * 0.08384, places=5)
        # or two such pairs, and a forwarding link in the server between.
        passed = self.lone_flow("bcube.txt", 0, 5, FORWARD + '\nforwarding_delay = "3us"')
        self.assertAlmostEqual(passed, 4 + 3 + 7 * 0.08384, places=5)
        slow = self.lone_flow("bcube.txt", 0, 5, FORWARD + '\nforwarding_delay = "3us"\nforwarding_rate = "10Gbps"')
        self.assertAlmostEqual(slow, passed + 0.8384 - 0.08384, places=5)

    def test_a_rail_is_reached_by_nvlink_first(self):
        # GPU 0 to GPU 5, which is on rail 1: NVLink to GPU 1, and on by rail 1.
        self.lone_flow("rails.txt", 0, 5)
        carried = {(row["node"], row["peer"]): int(row["tx_bytes"]) for row in self.run_rows("ports.csv")}
        names = self.succeed("topo", "file", "--path", "rails.txt", "--forwarding-hosts", "all").stdout
        self.assertIn("port0 to port15: nodes 14 to 29", names)
        # Ports of GPU 1: 16 to its NVSwitch, 17 to the leaf of rail 1, which is node 11.
        self.assertGreater(carried[("16", "17")], 1000)
        self.assertGreater(carried[("17", "11")], 1000)
        self.write("net.toml", scenario("rails.txt", ALL_TO_ALL, FORWARD))
        self.assertIn("56 of 56 completed", self.succeed("run", "net.toml").stdout)

    def test_a_cable_fails_by_the_names_of_its_ends(self):
        event = '[[link_event]]\nat = "0us"\nlink = ["host0", "leaf0"]\n'
        self.write("net.toml", scenario("bcube.txt", 'type = "flows"\nlist = [[0, 1, "1MB"]]', FORWARD) + event)
        self.assertIn("1 of 1 completed", self.succeed("run", "net.toml", "--mode", "packet").stdout)
        summary = json.loads((self.folder / "runs/net/summary.json").read_text())
        self.assertEqual(summary["config"]["topology"]["forwarding_hosts"], "all")
        # Round by level 1 and a server of another level 0 switch.
        carried = {(row["node"], row["peer"]): int(row["tx_bytes"]) for row in self.run_rows("ports.csv")}
        self.assertGreater(carried[("25", "20")], 1_000_000)

    def test_the_page_of_a_run_has_the_names_of_the_run(self):
        self.write("net.toml", scenario("bcube.txt", ALL_TO_ALL, FORWARD))
        self.succeed("run", "net.toml")
        groups = json.dumps(self.report("runs/net")[0])
        self.assertIn('"port"', groups)
        self.assertNotIn('"spine"', groups)

    def test_refusals(self):
        for value, says in (('"some"', "all"), ("[16]", "a switch"), ("[99]", "99"), ("3", "array")):
            self.write("net.toml", scenario("bcube.txt", ALL_TO_ALL, f"forwarding_hosts = {value}"))
            self.refuse("run", "net.toml", says=["forwarding_hosts", says])
        self.write("net.toml", '[topology]\ntype = "star"\nforwarding_hosts = "all"\n[workload]\n' + ALL_TO_ALL)
        self.refuse("run", "net.toml", says=["forwarding_hosts", "no host has two cables"])
        for key in ('forwarding_delay = "1us"', 'forwarding_rate = "10Gbps"'):
            self.write("net.toml", scenario("bcube.txt", ALL_TO_ALL, key))
            self.refuse("run", "net.toml", says=[f"'{key.split()[0]}' is of hosts that forward", "allowed: with forwarding_hosts"])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""SimAI's networks from the command line: against an independent writer of its generator's files,
end to end over NVSwitches, checked and rewritten."""
import csv
import itertools
import unittest

from support import CliTest


def generated(gpus, gps, nsps, npa, psws, rails, dual_tor, dual_plane, rate):
    """The words of the file that SimAI's generator writes, by its rules as counters: GPUs in turn,
    each with its NVSwitches and then its ASW of each set; then every ASW of set 1 with its PSWs,
    then those of set 2. Valid where gps divides gpus."""
    group = gps if rails else 1
    segments = -(-gpus // (npa * group))
    nvswitches = gpus // gps * nsps
    asws = segments * group
    sets = 2 if dual_tor else 1
    first_asw = gpus + nvswitches
    first_psw = first_asw + sets * asws
    links = []
    segment = filled = rail = 0
    for gpu in range(gpus):
        for j in range(nsps):
            links.append((gpu, gpus + gpu // gps * nsps + j, "2880Gbps", "0.000025ms", "0"))
        for k in range(sets):
            links.append((gpu, first_asw + k * asws + segment * group + rail, rate, "0.0005ms", "0"))
        rail = (rail + 1) % group
        filled += 1
        if filled == group * npa:
            segment, filled = segment + 1, 0
    half = (psws + 1) // 2
    planes = [range(half), range(half, psws)] if dual_plane else [range(psws)] * 2
    for k in range(sets):
        for asw, psw in itertools.product(range(asws), planes[k]):
            links.append((first_asw + k * asws + asw, first_psw + psw, "400Gbps", "0.0005ms", "0"))
    header = [first_psw + psws, gps, nvswitches, sets * asws + psws, len(links), "H100"]
    words = header + list(range(gpus, first_psw + psws))
    words += [word for link in links for word in link]
    return [str(word) for word in words]


class SimaiTopology(CliTest):
    def ports(self, run):
        with open(self.folder / run / "ports.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_files_equal_an_independent_writer(self):
        shapes = [("simai", []), ("simai", ["rail_optimized"]),
                  ("simai", ["dual_tor"]), ("simai", ["rail_optimized", "dual_tor"]),
                  ("simai", ["rail_optimized", "dual_tor", "dual_plane"]),
                  ("alibaba-hpn", []), ("alibaba-hpn", ["dual_plane"]),
                  ("dcn-plus", []), ("dcn-plus", ["dual_tor"]), ("spectrum-x", [])]
        sizes = [(32, 8, 1, 64, 8), (48, 4, 2, 3, 5), (16, 16, 0, 1, 2), (12, 1, 1, 4, 3)]
        for (type_, flags), (gpus, gps, nsps, npa, psws) in itertools.product(shapes, sizes):
            with self.subTest(type=type_, flags=flags, gpus=gpus):
                slow = type_ == "alibaba-hpn" or (type_ == "dcn-plus" and "dual_tor" in flags)
                arguments = [f"--{flag.replace('_', '-')}=true" for flag in flags]
                self.succeed("topo", type_, *arguments, "--gpus", gpus, "--gpus-per-server", gps,
                             "--nvswitches-per-server", nsps, "--nics-per-asw", npa, "--psws", psws,
                             "--asws-per-psw", "4096", "--format", "simai", "-o", "t")
                expected = generated(
                    gpus, gps, nsps, npa, psws,
                    rails=type_ in ("alibaba-hpn", "spectrum-x") or "rail_optimized" in flags,
                    dual_tor=type_ == "alibaba-hpn" or "dual_tor" in flags,
                    dual_plane="dual_plane" in flags, rate="200Gbps" if slow else "400Gbps")
                self.assertEqual((self.folder / "t").read_text().split(), expected)

    def test_sample_command_lines(self):
        # (-topo DCN+ -g 64 -psn 4), (--ro -g 32 -gt A100 -bw 200Gbps -psn 8) of the generator.
        self.succeed("topo", "dcn-plus", "--gpus", "64", "--psws", "4", "-o", "t")
        self.assertEqual((self.folder / "t").read_text().split()[:6],
                         ["77", "8", "8", "5", "132", "H100"])
        out = self.succeed("topo", "simai", "--rail-optimized=true", "--gpus", "32", "--gpu-type",
                           "A100", "--rate", "200Gbps", "--psws", "8", "-o", "t").stdout
        self.assertIn("Rail_Opti_SingleToR_32g_8gps_200Gbps_A100", out)
        self.assertEqual((self.folder / "t").read_text().split()[:6],
                         ["52", "8", "4", "16", "128", "A100"])

    def test_rings_inside_servers_use_nvlink_only(self):
        # Two servers of 4 GPUs on one rail segment; ring all-reduce of 8 MB inside each server:
        # every GPU sends 2 (n-1)/n 8 MB = 12 MB over its NVLink, and nothing over a NIC.
        scenario = ("[topology]\ntype = \"spectrum-x\"\ngpus = 8\ngpus_per_server = 4\npsws = 2\n"
                    "[workload]\ntype = \"ring-all-reduce\"\nsize = \"8MB\"\ngroups = \"{}\"\n")
        self.write("inside.toml", scenario.format("server"))
        self.assertIn("48 of 48 completed", self.succeed("run", "inside.toml").stdout)
        for port in self.ports("runs/inside"):
            if port["kind"] == "host" and port["interface"] == "1":  # the NVLink
                self.assertGreater(int(port["tx_bytes"]), 12_000_000)
            elif port["kind"] != "nvswitch":
                self.assertEqual(int(port["tx_bytes"]), 0, port)
        # Along the rails: pairs of GPUs of one index, over their common ASW; no NVSwitch, no PSW.
        self.write("across.toml", scenario.format("rail"))
        self.assertIn("16 of 16 completed", self.succeed("run", "across.toml").stdout)
        for port in self.ports("runs/across"):
            peer = int(port["peer"])
            nvlink = 8 in (peer, int(port["node"])) or 9 in (peer, int(port["node"]))
            psw = peer >= 14 or int(port["node"]) >= 14
            if nvlink or psw:
                self.assertEqual(int(port["tx_bytes"]), 0, port)
            elif port["kind"] == "host":
                self.assertGreater(int(port["tx_bytes"]), 8_000_000)
        # Over all: a ring per GPU of a server, each of which leaves it by another NIC. 14 MB of data
        # to the next GPU, on three of four rings over NVLink and on one over the NIC; ACKs back.
        self.write("ring.toml", scenario.format("all"))
        self.assertIn("448 of 448 completed", self.succeed("run", "ring.toml").stdout)
        sent = {(int(p["node"]), int(p["interface"])): int(p["tx_bytes"])
                for p in self.ports("runs/ring")}
        for gpu in range(8):
            self.assertGreater(sent[gpu, 1], 10_500_000)
            self.assertLess(sent[gpu, 1], 12_500_000)
            self.assertGreater(sent[gpu, 2], 3_500_000)
            self.assertLess(sent[gpu, 2], 5_000_000)

    def test_a_short_last_server_runs(self):
        self.write("odd.toml", "[topology]\ntype = \"simai\"\ngpus = 7\ngpus_per_server = 4\n"
                   "psws = 1\n[workload]\ntype = \"ring-all-reduce\"\nsize = \"1MB\"\n"
                   "groups = \"server\"\n")
        # Rings of 4 and 3 GPUs: 4 x 6 + 3 x 4 messages.
        self.assertIn("36 of 36 completed", self.succeed("run", "odd.toml").stdout)
        self.refuse("run", "odd.toml", "--set", "topology.gpus=5", says="at least 2 hosts")

    def test_several_pods_run(self):
        self.write("pods.toml", "[topology]\ntype = \"alibaba-hpn\"\ndual_plane = true\ngpus = 32\n"
                   "gpus_per_server = 4\nnics_per_asw = 2\npsws = 4\npods = 2\n"
                   "[workload]\ntype = \"permutation\"\nsize = \"100KB\"\n")
        self.assertIn("32 of 32 completed", self.succeed("run", "pods.toml").stdout)

    def test_zero_nvswitches_and_zero_switches(self):
        self.write("plain.topo", "5 1 0 1 4 A800\r\n4\r\n" +
                   "".join(f"{g} 4 400Gbps 0.0005ms 0\r\n" for g in range(4)))
        self.write("box.topo", "9 8 1 0 8 H20\n8\n" +
                   "".join(f"{g} 8 2880Gbps 0.000025ms 0\n" for g in range(8)))
        for name, flows in (("plain", 24), ("box", 112)):
            self.write(f"{name}.toml", f"[topology]\ntype = \"file\"\npath = \"{name}.topo\"\n"
                       "[workload]\ntype = \"ring-all-reduce\"\nsize = \"1MB\"\n")
            self.assertIn(f"{flows} of {flows} completed",
                          self.succeed("run", f"{name}.toml").stdout)
        self.assertIn("4 NVSwitches", self.succeed(
            "topo", "simai", "--psws", "0", "-o", "t").stdout)
        # Two servers without any switch between them.
        self.write("two.topo", "4 1 2 0 2 H100\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n")
        self.write("two.toml", "[topology]\ntype = \"file\"\npath = \"two.topo\"\n"
                   "[workload]\ntype = \"permutation\"\n")
        self.refuse("run", "two.toml", says="no path from host 0 to host 1")

    def test_rails_and_planes_without_a_path_between_them_run_what_has_one(self):
        """Two rails of two servers: GPUs 0, 2 and 1, 3; no spine joins the rails."""
        self.write("rails.topo", "6 2 4\n4 5\n" +
                   "".join(f"{gpu} {4 + gpu % 2} 100Gbps 1us 0\n" for gpu in range(4)))
        check = self.succeed("topo", "--file", "rails.topo", "--check").stdout
        self.assertIn("rails.topo: doubtful: not connected: no path from host 0 to host 1", check)
        head = "[topology]\ntype = \"file\"\npath = \"rails.topo\"\n"
        flow = "[workload]\ntype = \"flows\"\nlist = [[0, {}, \"1MB\"]]\n"
        for to in (2, 1):
            self.write(f"to{to}.toml", head + flow.format(to))
            self.write(f"flow{to}.txt", f"1\n0 {to} 3 100 1000000 2.0\n")
            self.write(f"to{to}.conf", f"TOPOLOGY_FILE rails.topo\nFLOW_FILE flow{to}.txt\n"
                       "CC_MODE 8\nEWMA_GAIN 0.0625\n")
        self.succeed("run", "to2.toml")
        self.succeed("describe", "to2.toml")
        self.succeed("run", "--hpcc", "to2.conf", "--check")
        self.succeed("run", "--hpcc", "to2.conf")
        for command in ("run", "describe"):
            self.refuse(command, "to1.toml", says="no path from host 0 to host 1")
        self.refuse("run", "--hpcc", "to1.conf", says="flow1.txt:2")
        self.assertEqual(self.sluice("run", "--hpcc", "to1.conf", "--check").returncode, 2)

    def test_check_lists_what_a_file_holds(self):
        self.write("bad.topo", "5 4 0 1 3 X1\n4\n0 4 1Gbps 1us 0\n4 0 1Gbps 1us 0\n"
                   "1 4 1Gbps 1us 0\n2 4 1Gbps 1us 0\n")
        result = self.succeed("topo", "--file", "bad.topo", "--check")
        self.assertEqual(result.stderr, "")
        for line in ("bad.topo:1: read: SimAI header: 4 GPUs, 4 a server, 0 NVSwitches, 1 switch, "
                     "GPU type X1\n",
                     "bad.topo:1: skipped: GPU type X1 is none that SimAI knows",
                     "bad.topo:4: read: link 4-0 is listed again after line 3",
                     "bad.topo:5: doubtful: 1 more link follows than the 3 that the header says",
                     "bad.topo: doubtful: host 2 has no link\n",
                     "no path from host 0 to host 2", "3 read, 1 skipped, 4 doubtful, 0 do not fit\n"):
            self.assertIn(line, result.stdout)
        self.write("good.topo", "3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n")
        self.assertIn("2 read, 0 skipped, 0 do not fit",
                      self.succeed("topo", "--file", "good.topo", "--check").stdout)
        # Rewriting in the other family's header and back.
        self.succeed("topo", "--file", "good.topo", "--format", "simai", "-o", "s.topo")
        self.assertTrue((self.folder / "s.topo").read_text().startswith("3 1 0 1 2 NONE\n2\n"))
        self.succeed("topo", "--file", "s.topo", "--format", "hpcc", "-o", "h.topo")
        self.assertEqual((self.folder / "h.topo").read_text(),
                         "3 1 2\n2\n0 2 1Gbps 0.001ms 0\n1 2 1Gbps 0.001ms 0\n")

    def test_refusals(self):
        self.refuse("topo", "--file", "absent", says="absent: no such file")
        self.refuse("topo", "--file", "absent", "--check", says="absent: no such file")
        self.refuse("topo", "star", "--file", "x", says="needs a type, such as fat-tree, or --file")
        self.refuse("topo", "star", "--check", says="--check: needs --file")
        self.refuse("topo", "star", "--format", "simai", says="--format: needs -o")
        self.refuse("topo", "star", "--format", "xml", "-o", "t", says="xml")
        self.refuse("topo", "--file", "x", "--k=4", says="takes no --k")
        self.refuse("topo", "spectrum-x", "--dual-plane=true", says="dual_plane")
        self.refuse("topo", "spectrum-x", "--gpu-type", "8", says="gpu_type")
        self.write("wrong.topo", "3 1 2\n2\n0 2 400Gbs 1us 0\n1 2 1Gbps 1us 0\n")
        self.refuse("topo", "--file", "wrong.topo", "--check",
                    says="wrong.topo:3: link rate \"400Gbs\": unknown unit \"Gbs\"")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""`sluice topo`, `sluice describe`, `sluice --version`, `--help`."""
import re
import unittest

from support import EXAMPLES, SMALL, CliTest


class TopoAndDescribe(CliTest):
    def test_version_and_help(self):
        self.assertRegex(self.succeed("--version").stdout, r"^\d+\.\d+")

    def sub_commands(self, command):
        """`command` and all below it, each with its help."""
        text = self.succeed(*command, "--help").stdout
        yield command, text
        for name in re.findall(r"^  (\w+) ", text.partition("\nSubcommands:\n")[2], re.M):
            yield from self.sub_commands([*command, name])

    def test_every_sub_command_explains_itself_and_refuses_in_one_line(self):
        found = list(self.sub_commands([]))
        names = {" ".join(command) for command, _ in found}
        self.assertLessEqual({"run", "compare", "describe", "topo", "collective", "simai", "astra",
                              "chakra", "chakra export", "goal", "workload aicb"}, names)
        for command, text in found:
            with self.subTest(" ".join(command)):
                # An option's explanation is on its line, two blanks apart, or on the next one.
                for option, same, after in re.findall(
                        r"^  (-\S.*?)(?:  +(\S.*))?\n(?=(.*))", text, re.M):
                    self.assertTrue(same or re.match(r" {6,}\S", after), option)
                self.refuse(*command, "--no-such-option")

    def test_topo_writes_what_run_reads(self):
        result = self.succeed("topo", "fat-tree", "--k", "4", "--rate", "400Gbps", "-o", "t.txt")
        self.assertIn("16 hosts, 20 switches, 48 links", result.stdout)
        # 16 hosts + 20 switches; k^3/4 x 3 links.
        self.assertEqual((self.folder / "t.txt").read_text().split()[:3], ["36", "20", "48"])
        self.write("file.toml", "[topology]\ntype = \"file\"\npath = \"t.txt\"\n"
                   "[workload]\ntype = \"permutation\"\nsize = \"10KB\"\n")
        self.assertIn("16 of 16 completed", self.succeed("run", "file.toml").stdout)

    def test_every_topology_type(self):
        for type_ in ("dumbbell", "star", "leaf-spine", "fat-tree", "rail-optimized",
                      "three-tier", "full-mesh", "torus", "dragonfly", "bcube", "spectrum-x",
                      "alibaba-hpn", "dcn-plus", "simai"):
            with self.subTest(type_):
                self.assertIn("hosts", self.succeed("topo", type_).stdout)

    def test_topo_refusals(self):
        self.refuse("topo", "fattree", says="nearest: fat-tree")
        self.refuse("topo", "fat-tree", "--kk", "4", says="\"k\"")
        self.refuse("topo", "fat-tree", "--k", "3", says="even")
        self.refuse("topo", "fat-tree", "--k")
        self.refuse("topo", "fat-tree", "k", "4")
        self.refuse("topo", "star", "-o", "/proc/nowhere/t.txt", says="/proc/nowhere")
        self.refuse("topo")

    def test_describe_says_what_would_run(self):
        self.write("small.toml", SMALL)
        out = self.succeed("describe", "small.toml", "--set", "topology.hosts=8").stdout
        for text in ("8 hosts, 1 switch, 8 links", "8, 800 kB in all", "3.2 k", "memory", "time"):
            self.assertIn(text, out)
        self.assertFalse((self.folder / "runs").exists())

    def test_describe_says_for_which_mode_its_time_is(self):
        self.write("large.toml", SMALL)

        def time(*arguments):
            out = self.succeed("describe", "large.toml", "--set", "workload.size=1GB",
                               *arguments).stdout
            return re.search(r"^  time +(.*)$", out, re.M).group(1)

        # 4 flows of a million packets over two links, and their ACKs: 16 M hops at 12 M/s.
        self.assertRegex(time("--mode", "packet"), r"^about 1\.33 s in mode packet, at 12 M ")
        # 7 us for each of 4 flows, and 1 ms to begin.
        self.assertRegex(time("--mode", "flow"), r"^about 1 ms in mode flow, ")
        # 16,000 hops of each flow.
        self.assertRegex(time("--mode", "hybrid"), r"^5\.33 ms to 1\.33 s in mode hybrid, ")
        self.assertIn("in mode wormhole", time("--set", "mode=wormhole"))
        self.assertIn("too short", self.succeed("describe", "large.toml", "--mode", "hybrid",
                                                "--set", "workload.size=10KB").stdout)
        self.refuse("describe", "large.toml", "--mode", "hybird", says="nearest: hybrid")

    def test_describe_writes_an_hpcc_experiment(self):
        self.write("s.toml", SMALL.replace('type = "permutation"', 'type = "incast"'))
        out = self.succeed("describe", "s.toml", "--flows", "flow.txt",
                           "--topology", "topology.txt").stdout
        self.assertIn("flows written to flow.txt", out)
        flows = (self.folder / "flow.txt").read_text().splitlines()
        self.assertEqual(int(flows[0]), len(flows) - 1)
        self.assertRegex(flows[1], r"^\d 0 3 200 100000 0\.0{9}$")
        self.write("config.txt", "TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt CC_MODE 8 "
                   "KMAX_MAP 1 100000000000 400 KMIN_MAP 1 100000000000 100 "
                   "PMAX_MAP 1 100000000000 0.2")
        check = self.succeed("run", "--hpcc", "config.txt", "--check").stdout
        self.assertIn(f"flow.txt: read: {flows[0]} flows", check)
        self.assertIn("0 do not fit", check)
        self.assertFalse((self.folder / "runs").exists())
        self.assertIn(f"{flows[0]} of {flows[0]} flows finished",
                      self.succeed("run", "--hpcc", "config.txt").stdout)
        self.write("flow.txt", "1\n0 9 3 100 5 2\n")
        broken = self.sluice("run", "--hpcc", "config.txt", "--check")
        self.assertEqual((broken.returncode, broken.stderr), (2, ""))
        self.assertIn("flow.txt:2: does not fit: the flow's destination 9", broken.stdout)
        # Flows that start when others end have no start time to write.
        self.refuse("describe", EXAMPLES / "gpt13b-128gpu.toml", "--flows", "f",
                    says="start times only")
        self.refuse("describe", "s.toml", "--flows", "/proc/nowhere/f", says="/proc/nowhere")
        self.refuse("run", "s.toml", "--check", says="--check needs --hpcc")

    def test_describe_the_main_job(self):
        out = self.succeed("describe", EXAMPLES / "gpt13b-128gpu.toml").stdout
        # Rings: 4 members x 32 groups x (3 + 3) steps = 768 flows; pipeline: 3 boundaries x 32
        # pairs x 4 micro-batches x 2 directions = 768.
        self.assertIn("1536, 233 GB in all", out)
        self.assertIn("pp         768 flows", out)
        self.assertIn("dp         768 flows", out)
        # 10 us for each of them where they are copies of each other.
        self.assertRegex(out, r"  time +15\.4 ms to .* in mode wormhole, .*: the first if parts are symmetric copies ")
        self.assertRegex(out, r"  likely +about \d+(\.\d+)? ms: its parts are copies ")

    def test_jobs_whose_messages_collide_are_not_called_copies(self):
        for network, law, seconds, why in (
                ("fat-tree", "hpcc", "6", "most messages do as others of their kind "),
                ("leaf-spine", "hpcc", "6", "most messages do as others of their kind "),
                ("leaf-spine", "dcqcn", "17", "messages of different hosts meet between switches ")):
            self.succeed("init", f"{network}.toml", "--network", network, "--defaults", "--force")
            out = self.succeed("describe", f"{network}.toml", "--set", f"congestion.law={law}").stdout
            self.assertRegex(out, rf"  likely +about {seconds}(\.\d+)? s: {why}")
        self.succeed("init", "rails.toml", "--defaults")
        self.assertRegex(self.succeed("describe", "rails.toml").stdout, r"  likely +about \S+ ms: its parts are copies ")

    def test_every_example_can_be_described(self):
        for path in sorted(EXAMPLES.glob("*.toml")):
            with self.subTest(path.name):
                self.succeed("describe", path)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Bad input of every kind: exit code 2 and one line that says where and what is allowed."""
import os
import subprocess
import unittest

from support import BINARY, SMALL, CliTest

STAR = "[topology]\ntype = \"star\"\nhosts = 4\n"
FLOW = "[workload]\ntype = \"flows\"\nlist = [[0, 1, \"1KB\"]]\n"

# (what it is, scenario, what the line must say)
SCENARIOS = [
    ("empty file", "", ["'type' is missing", "topology"]),
    ("malformed", "a = = 1\n", ["bad.toml:1:5", "not valid TOML"]),
    ("cut off", "[topology\n", ["bad.toml:1", "not valid TOML"]),
    ("a key twice", "seed = 1\nseed = 2\n", ["bad.toml:2", "not valid TOML"]),
    ("unknown key", "sead = 1\n" + STAR + FLOW, ["bad.toml:1:1", "sead", "\"seed\""]),
    ("unknown table", STAR + FLOW + "[netwrok]\npfc = true\n", ["bad.toml:7", "\"network\""]),
    ("unknown nested key", STAR + FLOW + "[network.buffer]\nsise = \"1MiB\"\n",
     ["bad.toml:8:1", "[network.buffer]", "\"size\""]),
    ("another type's key", "[topology]\ntype = \"star\"\nhosst = 4\n" + FLOW,
     ["bad.toml:3:1", "\"hosts\""]),
    ("unknown law", STAR + FLOW + "[congestion]\nlaw = \"hpc\"\n", ["bad.toml:8:7", "nearest: hpcc"]),
    ("unknown topology", "[topology]\ntype = \"fattree\"\n" + FLOW,
     ["bad.toml:2:8", "nearest: fat-tree"]),
    ("unknown workload", STAR + "[workload]\ntype = \"posson\"\n", ["nearest: poisson"]),
    ("unknown mode", "mode = \"packets\"\n" + STAR + FLOW, ["bad.toml:1:8", "nearest: packet"]),
    ("wrong type", "seed = \"one\"\n" + STAR + FLOW, ["bad.toml:1:8", "integer"]),
    ("table expected", "topology = 3\n" + FLOW, ["bad.toml:1:12", "table"]),
    ("unit missing", STAR.replace("hosts = 4", "delay = \"1\"") + FLOW,
     ["bad.toml:3:9", "unit missing"]),
    ("bare number", STAR.replace("hosts = 4", "rate = 100") + FLOW,
     ["bad.toml:3:8", "unit missing"]),
    ("wrong unit", STAR + "rate = \"1us\"\n" + FLOW, ["bad.toml:4:8", "unknown unit"]),
    ("negative time", STAR + "delay = \"-1us\"\n" + FLOW, ["bad.toml:4:9", "negative"]),
    ("not a number", STAR + "loss = nan\n" + FLOW, ["bad.toml:4:8", "from 0 to"]),
    ("infinite", STAR + "loss = inf\n" + FLOW, ["bad.toml:4:8"]),
    ("zero rate", STAR + "rate = \"0Gbps\"\n" + FLOW, ["bad.toml:4:8", "1Mbps"]),
    ("no hosts", "[topology]\ntype = \"star\"\nhosts = 0\n" + FLOW, ["bad.toml:3:9"]),
    ("absurd hosts", "[topology]\ntype = \"star\"\nhosts = 99999999999\n" + FLOW, ["bad.toml:3:9"]),
    ("absurd fat-tree", "[topology]\ntype = \"fat-tree\"\nk = 100000\n" + FLOW,
     ["bad.toml:2:8"]),
    ("odd fat-tree", "[topology]\ntype = \"fat-tree\"\nk = 3\n" + FLOW, ["bad.toml:2:8", "even"]),
    ("integer too large", "seed = 99999999999999999999\n" + STAR + FLOW, ["bad.toml:1"]),
    ("absurd time", STAR + FLOW + "[[link_event]]\nat = \"9e300s\"\nlink = 0\n", ["bad.toml:8:6"]),
    ("absurd size", STAR + "[workload]\ntype = \"flows\"\nlist = [[0, 1, \"9e18B\"]]\n",
     ["bad.toml:6:16"]),
    ("zero-size flow", STAR + "[workload]\ntype = \"flows\"\nlist = [[0, 1, \"0B\"]]\n",
     ["bad.toml:6:16", "from 1B"]),
    ("flow to itself", STAR + "[workload]\ntype = \"flows\"\nlist = [[1, 1, \"1KB\"]]\n",
     ["bad.toml:6:9", "itself"]),
    ("unknown host", STAR + "[workload]\ntype = \"flows\"\nlist = [[0, 9, \"1KB\"]]\n",
     ["bad.toml:6:13"]),
    ("a switch as host", STAR + "[workload]\ntype = \"flows\"\nlist = [[0, 4, \"1KB\"]]\n",
     ["bad.toml:6:13", "switch"]),
    ("short flow", STAR + "[workload]\ntype = \"flows\"\nlist = [[0, 1]]\n", ["bad.toml:6:9"]),
    ("no flows", STAR + "[workload]\ntype = \"flows\"\nlist = []\n", ["no flows"]),
    ("neither list nor file", STAR + "[workload]\ntype = \"flows\"\n", ["'list' or 'file'"]),
    ("no workload", STAR, ["'type' is missing", "workload"]),
    ("too many senders", STAR + "[workload]\ntype = \"incast\"\nsenders = 4\n", ["bad.toml:6:11"]),
    ("load above 1", STAR + "[workload]\ntype = \"poisson\"\ncdf = \"WebSearch\"\nload = 1.5\n",
     ["bad.toml:7:8"]),
    ("unknown cdf", STAR + "[workload]\ntype = \"poisson\"\ncdf = \"Nowhere\"\n", ["Nowhere"]),
    ("endless traffic", STAR + "[workload]\ntype = \"poisson\"\ncdf = \"GoogleRPC2008\"\n"
     "duration = \"1000000s\"\n", ["bad.toml:5:8"]),
    ("unknown model", STAR + "[workload]\ntype = \"training\"\nmodel = \"gpt-14b\"\n",
     ["bad.toml:6:9", "nearest: gpt-13b"]),
    ("job does not fit", STAR + "[workload]\ntype = \"training\"\nmodel = \"gpt-13b\"\ntp = 8\n",
     ["bad.toml:5:8", "more GPUs"]),
    ("absurd job", STAR + "[workload]\ntype = \"training\"\nmodel = \"gpt-13b\"\ndp = 4\n"
     "micro_batches = 9999999\n", ["bad.toml"]),
    ("absurd all-to-all", "[topology]\ntype = \"star\"\nhosts = 60000\n"
     "[workload]\ntype = \"all-to-all\"\n", ["bad.toml:5:8", "messages"]),
    ("two jobs", STAR + "[[workload]]\ntype = \"ring-all-reduce\"\n" * 2, ["no host is free"]),
    ("no such link", STAR + FLOW + "[[link_event]]\nat = \"1us\"\nlink = [0, 1]\n",
     ["bad.toml:9:8", "no cable"]),
    ("link index", STAR + FLOW + "[[link_event]]\nat = \"1us\"\nlink = 4\n", ["bad.toml:9:8"]),
    ("link event without time", STAR + FLOW + "[[link_event]]\nlink = 0\n", ["'at' is missing"]),
    ("name with a slash", "name = \"a/b\"\n" + STAR + FLOW, ["bad.toml:1:8", "slashes"]),
    ("name with a line break", "name = \"a\\nb\"\n" + STAR + FLOW, ["bad.toml:1:8"]),
    ("key with a line break", "\"a\\nb\" = 1\n" + STAR + FLOW, ["bad.toml:1:1"]),
    ("buffer below headroom", STAR + FLOW + "[network.buffer]\nsize = \"64KiB\"\n",
     ["bad.toml:8:8", "headroom"]),
    ("kmin above kmax", STAR + FLOW + "[network.ecn]\nkmin = \"2MB\"\nkmax = \"1MB\"\n",
     ["bad.toml:8:8", "kmax"]),
    ("weights", STAR + FLOW + "[network.queues]\nweights = [1, 2]\n", ["bad.toml:8:11", "7"]),
    ("payload", STAR + FLOW + "[network]\npayload = 0\n", ["bad.toml:8:11"]),
    ("missing topology file", "[topology]\ntype = \"file\"\npath = \"none.txt\"\n" + FLOW,
     ["none.txt"]),
]


class Errors(CliTest):
    def test_bad_scenarios(self):
        for what, text, says in SCENARIOS:
            with self.subTest(what):
                self.write("bad.toml", text)
                self.refuse("run", "bad.toml", says=says)
                self.assertFalse((self.folder / "runs").exists(), "left something behind")

    def test_bytes_that_are_no_text(self):
        for data in (b"\x00\x01\x02", b"\xff\xfe", b"a = \"\xff\"", b"[" * 100_000,
                     b"a" * 1_000_000, b"x = " + b"[" * 10_000):
            with self.subTest(data[:8]):
                self.write("bad.toml", data)
                self.refuse("run", "bad.toml", says="bad.toml")

    def test_missing_scenario_and_folder_as_scenario(self):
        self.refuse("run", "none.toml", says="none.toml")
        self.refuse("run", ".", says=".")
        self.refuse("describe", "none.toml", says="none.toml")

    def test_bad_topology_files(self):
        for what, text in {
            "empty": "",
            "absurd counts": "99999999999 1 1\n",
            "more links than lines": "3 1 9\n2\n0 2 100Gbps 1us 0\n",
            "disconnected": "4 2 2\n2 3\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n",
            "link to itself": "3 1 2\n2\n0 0 100Gbps 1us 0\n1 2 100Gbps 1us 0\n",
            "unknown node": "3 1 2\n2\n0 7 100Gbps 1us 0\n1 2 100Gbps 1us 0\n",
            "zero rate": "3 1 2\n2\n0 2 0Gbps 1us 0\n1 2 100Gbps 1us 0\n",
            "negative delay": "3 1 2\n2\n0 2 100Gbps -1us 0\n1 2 100Gbps 1us 0\n",
            "words": "three one two\n",
        }.items():
            with self.subTest(what):
                self.write("topo.txt", text)
                self.write("bad.toml", "[topology]\ntype = \"file\"\npath = \"topo.txt\"\n" + FLOW)
                self.refuse("run", "bad.toml", says="topo.txt")

    def test_bad_flow_and_cdf_files(self):
        for text in ("x\n", "2\n0 1 3 100 1000 0\n", "1\n0 0 3 100 1000 0\n",
                     "1\n0 99 3 100 1000 0\n", "1\n0 1 3 100 0 0\n", "99999999999\n",
                     "1\n0 1 3 100 1000 -1\n", "1\n0 1 9 100 1000 0\n"):
            with self.subTest(flows=text):
                self.write("flow.txt", text)
                self.write("bad.toml", STAR + "[workload]\ntype = \"flows\"\nfile = \"flow.txt\"\n")
                self.refuse("run", "bad.toml", says="flow.txt")
        for text in ("", "x,y\nz,w\n", "0,0\n10,50\n5,100\n", "0,0\n10,99\n", "0,10\n10,100\n"):
            with self.subTest(cdf=text):
                self.write("sizes.csv", text)
                self.write("bad.toml", STAR +
                           "[workload]\ntype = \"poisson\"\ncdf = \"sizes.csv\"\n")
                self.refuse("run", "bad.toml", says="sizes.csv")

    def test_bad_overrides(self):
        self.write("small.toml", SMALL)
        for override, says in {
            "nonsense": "key=value",
            "=1": "key=value",
            "topology.hots=4": "\"hosts\"",
            "topology.hosts=many": "integer",
            "topology.rate=100": "unit missing",
            "name.x=1": "not a table",
            "network..pfc=true": "empty part",
        }.items():
            with self.subTest(override):
                self.refuse("run", "small.toml", "--set", override, says=["--set", says])

    def test_bad_command_lines(self):
        self.write("small.toml", SMALL)
        self.refuse()
        self.refuse("run")
        self.refuse("rnu")
        self.refuse("run", "small.toml", "--nonsense")
        self.refuse("run", "small.toml", "extra.toml")
        self.refuse("run", "small.toml", "--threads", "0")
        self.refuse("run", "small.toml", "--threads", "many")
        self.refuse("run", "small.toml", "--mode", "packets", says="packet")
        self.refuse("run", "small.toml", "--paths", "p.csv", says="p.csv")
        self.refuse("run", "small.toml", "--hpcc", "config.txt")
        self.refuse("run", "--hpcc", "none.txt", says="none.txt")

    def test_too_little_memory_is_told(self):
        self.write("large.toml", "[topology]\ntype = \"fat-tree\"\nk = 40\n"
                   "[workload]\ntype = \"permutation\"\nsize = \"1MB\"\n")
        limited = subprocess.run(
            ["bash", "-c", f"ulimit -v 200000; exec '{BINARY}' run large.toml --mode packet --quiet"],
            cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(limited.returncode, 2, limited.stderr)
        self.assertEqual(limited.stderr, "sluice: out of memory: the experiment is too large\n")

    def test_unwritable_output_folder(self):
        self.write("small.toml", SMALL)
        self.write("file", "in the way")
        self.refuse("run", "small.toml", "--out", "file", says="file")
        self.refuse("run", "small.toml", "--out", "file/below", says="file")
        self.refuse("run", "small.toml", "--out", "/proc/nowhere", says="/proc/nowhere")
        if os.geteuid() != 0:
            (self.folder / "closed").mkdir(mode=0o500)
            self.refuse("run", "small.toml", "--out", "closed/run", says="closed")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Lists of flows: those of HPCC ns-3 and of conweave, and CSV files; starts to the picosecond."""
import unittest

from support import CliTest

TOPOLOGY = "6 1 5\n5\n" + "".join(f"{host} 5 100Gbps 1us 0\n" for host in range(5))
SCENARIO = """[topology]
type = "file"
path = "star.topo"
[workload]
type = "flows"
file = "{}"
"""


class FlowLists(CliTest):
    def starts(self, name, text, *arguments):
        """Starts in ps of the flows that a scenario has of a list, and what was said."""
        self.write("star.topo", TOPOLOGY)
        self.write(name, text)
        self.write("s.toml", SCENARIO.format(name))
        result = self.succeed("run", "s.toml", "--mode", "packet", "--out", "o", *arguments)
        lines = (self.folder / "o" / "flows.csv").read_text().splitlines()
        flows = [dict(zip(lines[0].split(","), line.split(","))) for line in lines[1:]]
        self.flows = {(int(f["src"]), int(f["dst"])): f for f in flows}
        return sorted(int(f["start_ps"]) for f in flows), result

    def test_starts_are_exact_in_a_scenario_and_ns3s_with_its_arithmetic(self):
        text = "2\n0 1 3 100 1000 0.00001\n1 2 3 100 1000 0.000010000001\n"
        starts, result = self.starts("flow.txt", text)
        self.assertEqual(starts, [10_000_000, 10_000_001])
        self.assertIn("(src dst pg dport size start, as of HPCC)", result.stdout)
        self.write("config.txt", "TOPOLOGY_FILE star.topo\nFLOW_FILE flow.txt\nCC_MODE 8\n"
                   "EWMA_GAIN 0.0625\n")
        self.succeed("run", "--hpcc", "config.txt", "--out", "h")
        flows = (self.folder / "h" / "flows.csv").read_text().splitlines()
        column = flows[0].split(",").index("start_ps")
        self.assertEqual([line.split(",")[column] for line in flows[1:]], ["9999000", "10000000"])
        # What no picosecond is, is refused, and not rounded.
        self.write("flow.txt", "1\n0 1 3 100 1000 0.0000100000001\n")
        self.refuse("run", "s.toml", says="flow.txt:2: the flow's start in seconds")

    def test_lists_are_told_apart_by_their_columns(self):
        starts, result = self.starts("cw.txt", "2\n0 1 3 1000 0.5e-5\n2 1 3 1000 0.00001\n")
        self.assertEqual(starts, [5_000_000, 10_000_000])
        self.assertIn("as of conweave: no port, 100 taken", result.stdout)
        self.assertEqual(self.flows[0, 1]["dport"], "100")
        # All on one line, and one word to a line, as the originals read them too.
        for text in ("2 0 1 3 1000 0.5e-5 2 1 3 1000 0.00001\n",
                     "2\n0\n1\n3\n1000\n0.5e-5\n2\n1\n3\n1000\n0.00001\n",
                     "2\n0 1 3 1000\n0.5e-5\n2 1 3 1000\n0.00001\n"):
            self.assertEqual(self.starts("cw.txt", text)[0], [5_000_000, 10_000_000])
        self.write("config.txt", "TOPOLOGY_FILE star.topo\nFLOW_FILE cw.txt\nCC_MODE 8\n")
        self.assertIn("as of conweave", self.succeed("run", "--hpcc", "config.txt",
                                                     "--check").stdout)
        self.write("cw.txt", "2\n0 1 3 7 1000 0.5 1\n0 1 3 7 1000 0.5 1\n")
        self.refuse("run", "s.toml", says="cw.txt:2: a flow of 7 words; allowed are 6, src dst pg")

    def test_a_csv_with_a_header_is_a_list_wherever_one_is(self):
        text = ("# from a script\nDst,src,bytes,start_us,note\n1,0,10kB,0.000001,x\n\n"
                "2,1,5000,12.5,\n3,1,5000,13ns,\n")
        starts, result = self.starts("list.csv", text)
        self.assertEqual(starts, [1, 13_000, 12_500_000])
        self.assertEqual(self.flows[0, 1]["size_bytes"], "10000")
        self.assertIn("(CSV with a header)", result.stdout)
        self.assertIn("list.csv:2: columns without effect: note", result.stderr)
        self.write("config.txt", "TOPOLOGY_FILE star.topo\nFLOW_FILE list.csv\nCC_MODE 8\n")
        self.assertIn("CSV with a header",
                      self.succeed("run", "--hpcc", "config.txt", "--check").stdout)
        # What a run wrote is such a list.
        again, _ = self.starts("again.csv", (self.folder / "o" / "flows.csv").read_text())
        self.assertEqual(again, starts)
        for line, says in (("0,0,1,0", "list.csv:2: the flow goes from host 0 to itself"),
                           ("0,9,1,0", "list.csv:2: dst 9 is not a host"),
                           ("0,1,1", "list.csv:2: has 3 columns, the header 4"),
                           ("0,1,0,0", "list.csv:2: bytes: must be from 1B"),
                           ("0,1,1,7", "list.csv:2: start \"7\": unit missing")):
            self.write("list.csv", f"src,dst,size,start\n{line}\n")
            self.write("s.toml", SCENARIO.format("list.csv"))
            self.refuse("run", "s.toml", says=says)
        self.write("list.csv", "src,bytes\n0,1\n")
        self.refuse("run", "s.toml", says="list.csv:1: the header has no column dst; columns are")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Runs what the patches of tests/extending add, and checks what docs/extending.md says of them.

usage: test_extending.py SLUICE_EXTENDED SLUICE_WITH_ENTRIES SOURCE
"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
SLUICE = sys.argv[2]
SOURCE = pathlib.Path(sys.argv[3])
# Those that are headers: a patch adds two lines to the list, the entry and its #include. All others add the entry.
HEADERS = {"admission", "marking", "rate_source", "restorer", "scheduler"}


def run(text, *classes, hosts=3):
    """The program's JSON for a star of hosts with `text` in its scenario."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scenario.toml"
        path.write_text(f'[topology]\ntype = "star"\nhosts = {hosts}\n[workload]\ntype = "flows"\n'
                        + text, encoding="utf-8")
        done = subprocess.run([PROGRAM, path, *(classes or ("3",))], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout)


class Patches(unittest.TestCase):
    def test_each_is_a_file_and_its_entry(self):
        patches = sorted((SOURCE / "tests/extending").glob("*.patch"))
        self.assertGreater(len(patches), 0)
        for patch in patches:
            text = patch.read_text(encoding="utf-8")
            files = re.split(r"^diff --git.*\n", text, flags=re.M)[1:]
            (entry,) = [file for file in files if not file.startswith("new file")]
            self.assertEqual(len(files), 2, patch.name)
            lines = re.findall(r"^[+-](?![+-])", entry, re.M)
            # What gets a continuation is an old line.
            self.assertEqual(lines.count("+") - lines.count("-"), 1 + (patch.stem in HEADERS), patch.name)

    def test_the_page_shows_them(self):
        page = (SOURCE / "docs/extending.md").read_text(encoding="utf-8")
        for patch in (SOURCE / "tests/extending").glob("*.patch"):
            self.assertIn("```diff\n" + patch.read_text(encoding="utf-8") + "```", page, patch.name)


class Law(unittest.TestCase):
    def with_period(self, period):
        return run('[congestion]\nlaw = "aimd"\n[congestion.aimd]\n'
                   f'period = "{period}"\ncut = 0.8\nstep = "20Gbps"\n[network.ecn]\nkmin = "10KB"\n'
                   'kmax = "20KB"\npmax = 1\n')

    def test_it_reacts_to_marks(self):
        alone = run('[congestion]\nlaw = "aimd"\n[network.ecn]\nenabled = false\n')
        marked = self.with_period("1s")
        self.assertGreater(marked["marks"], 0)
        self.assertGreater(max(marked["received_us"]), 1.1 * max(alone["received_us"]))

    def test_its_timer_comes_up(self):
        # Cut once and never raised again, two flows leave more than half of the line unused.
        never, often = self.with_period("1s"), self.with_period("5us")
        self.assertLess(max(often["received_us"]), 0.7 * max(never["received_us"]))

    def test_its_state_is_moved_and_compared_by_its_roles(self):
        self.assertEqual(self.with_period("5us")["law_moved"], 5)

    def test_its_ranges_are_checked(self):
        with self.assertRaisesRegex(AssertionError, "'cut'.*from 0 to 1"):
            run('[congestion]\nlaw = "aimd"\n[congestion.aimd]\ncut = 2\n')
        with self.assertRaisesRegex(AssertionError, 'did you mean "period"'):
            run('[congestion]\nlaw = "aimd"\n[congestion.aimd]\nperoid = "1us"\n')


class Policies(unittest.TestCase):
    def test_admission(self):
        text = '[congestion]\nlaw = "none"\nwindow = false\n[network.buffer]\nalpha_shift = 9\n'
        self.assertGreater(run(text)["pauses"], 0)
        self.assertEqual(run(text + 'admission = "complete"\n')["pauses"], 0)

    def test_scheduler(self):
        text = ('[congestion]\nlaw = "none"\nwindow = false\n[network.queues]\n'
                'weights = [9, 1, 1, 1, 1, 1, 1]\n')
        weighted = run(text, "1", "2")["received_us"]
        turns = run(text + 'scheduler = "rr"\n', "1", "2")["received_us"]
        self.assertGreater(weighted[1] - weighted[0], 50)
        self.assertLess(abs(turns[1] - turns[0]), 1)

    def test_marking(self):
        text = ('[congestion]\nlaw = "none"\nwindow = false\n[network.ecn]\nkmin = "0B"\n'
                'kmax = "1GB"\npmax = 0.5\n')
        self.assertLess(run(text)["marks"], 20)
        # 2,000 packets and some ACKs, half of them.
        marks = run(text + 'marking = "even"\n')["marks"]
        self.assertGreater(marks, 900)


class Phases(unittest.TestCase):
    def test_detector(self):
        self.assertEqual(run('[phases]\ntheta = 0.1\n')["steady_after"], -1)
        self.assertGreater(run('[phases]\ntheta = 0.1\ndetector = "throughput"\n')["steady_after"],
                           0)

    def test_detector_of_another_kind(self):
        found = run('[phases]\ndetector = "change_point"\n')
        self.assertGreater(found["steady_after"], 0)
        self.assertGreater(run('[phases]\ndetector = "change_point"\nspan = "200us"\n')["steady_after"],
                           found["steady_after"])

    def test_stage(self):
        scenario = '''[topology]
type = "star"
hosts = 3
[workload]
type = "flows"
list = [[0, 2, "5MB", "0s"]]
'''
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "scenario.toml"
            path.write_text(scenario, encoding="utf-8")
            subprocess.run([SLUICE, "run", path, "--mode", "hybrid", "--out", f"{folder}/out", "--quiet"],
                           check=True)
            summary = json.loads((pathlib.Path(folder) / "out/summary.json").read_text(encoding="utf-8"))
        self.assertGreater(summary["skips"], 0)
        # Of 5 MB and of 50.
        small, large = run("")["skips"]
        self.assertEqual(small, 0)
        self.assertGreater(large, 0)

    def test_rate_source(self):
        self.assertEqual(run("")["rate"], 0)
        self.assertNotEqual(run('[phases]\nrates = "maxmin"\n')["rate"], 3)
        self.assertEqual(run('[phases]\nrates = "current"\n')["rate"], 3)

    def test_restorer(self):
        self.assertEqual(run("")["depth"], -1)
        self.assertEqual(run('[phases]\nrestore = "empty"\n')["depth"], 0)
        self.assertEqual(run('[phases]\nrestore = "mean"\n')["depth"], 750)


class Entries(unittest.TestCase):
    def sluice(self, *arguments):
        done = subprocess.run([SLUICE, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def run_scenario(self, text):
        """The lines of finishes.txt, the rows of flows.csv and the ports of ports.csv."""
        with tempfile.TemporaryDirectory() as folder:
            scenario = pathlib.Path(folder) / "scenario.toml"
            scenario.write_text(text, encoding="utf-8")
            out = pathlib.Path(folder) / "out"
            self.sluice("run", scenario, "--out", out, "--quiet")
            read = {name: (out / name).read_text(encoding="utf-8").splitlines()
                    for name in ("finishes.txt", "flows.csv", "ports.csv")}
            return (read["finishes.txt"], list(csv.DictReader(read["flows.csv"])),
                    list(csv.DictReader(read["ports.csv"])))

    def test_topology_workload_and_output(self):
        finishes, flows, ports = self.run_scenario(
            '[topology]\ntype = "line"\nswitches = 5\n[workload]\ntype = "mirror"\n'
            'size = "100KB"\n[output]\nfinishes = true\n')
        # 5 hosts' cables and 4 between the switches.
        self.assertEqual(len(ports), 2 * 9)
        # Host 2 is its own mirror image.
        self.assertEqual(sorted((int(row["src"]), int(row["dst"])) for row in flows),
                         [(0, 4), (1, 3), (3, 1), (4, 0)])
        self.assertEqual(finishes, [row["flow"] for row in flows])

    def test_messages_go_by_the_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario = pathlib.Path(folder) / "scenario.toml"
            for text, said in (('[topology]\ntype = "lime"\n', 'nearest: line'),
                               ('[topology]\ntype = "star"\n[workload]\ntype = "miror"\n',
                                'nearest: mirror'),
                               ('[topology]\ntype = "line"\nswitches = 1\n', "from 2 to"),
                               ('[topology]\ntype = "line"\n[workload]\ntype = "mirror"\n'
                                '[output]\nfinish = true\n', 'did you mean "finishes"')):
                scenario.write_text(text, encoding="utf-8")
                done = subprocess.run([SLUICE, "run", scenario], capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(said, done.stderr)

    def test_collective(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario = pathlib.Path(folder) / "scenario.toml"
            scenario.write_text('[topology]\ntype = "star"\nhosts = 6\n[workload]\ntype = "permutation"\n',
                                encoding="utf-8")
            made = pathlib.Path(folder) / "out.json"

            def measure(algorithm, size):
                self.sluice("collective", scenario, "--kind", "all-gather", "--algorithm", algorithm, "-b", size,
                            "-e", size, "--overhead", "0s", "--mode", "flow", "--json", made, "--quiet")
                (row,) = json.loads(made.read_text(encoding="utf-8"))["rows"]
                return row
            few, many = measure("bruck", "6MB"), measure("ring", "6MB")
            # Three steps and not five; every member receives the other five parts either way.
            self.assertEqual((few["flows"], many["flows"]), (6 * 3, 6 * 5))
            self.assertEqual((few["flow_bytes"], many["flow_bytes"]), (6 * 5_000_000, 6 * 5_000_000))
            self.assertLess(few["time_us"], many["time_us"])
            self.assertAlmostEqual(measure("bruck", "6B")["time_us"] / measure("ring", "6B")["time_us"], 3 / 5,
                                   delta=0.01)
            self.assertRegex(self.sluice("collective", "--help"), r"bruck +ceil\(log2 n\) steps")
            done = subprocess.run([SLUICE, "collective", scenario, "--kind", "all-reduce", "--algorithm", "bruck"],
                                  capture_output=True, text=True, check=False)
            self.assertIn("algorithm bruck cannot do all-reduce; allowed are automatic, nccl, computed, ring", done.stderr)

    def test_command(self):
        lines = self.sluice("outputs").splitlines()
        self.assertIn("flows.csv flows", lines)
        self.assertIn("finishes.txt finishes", lines)
        self.assertRegex(self.sluice("--help"), r"outputs +List the files")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

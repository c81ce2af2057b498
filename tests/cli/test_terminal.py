# SPDX-License-Identifier: Apache-2.0
"""What is printed: descriptors that are closed or full, messages of any input, and the working folder."""
import os
import subprocess
import unittest

from support import BINARY, SMALL, SOURCE, CliTest

LONGEST = 500


class Streams(CliTest):
    def setUp(self):
        super().setUp()
        self.write("small.toml", SMALL)

    def shell(self, line):
        return subprocess.run(["bash", "-c", line], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "S": str(BINARY),
                                   "XDG_CACHE_HOME": str(self.folder / "cache")},
                              timeout=60, check=False)

    def test_closed_descriptors_get_no_file(self):
        self.succeed("run", "small.toml", "--out", "plain")
        plain = (self.folder / "plain" / "flows.csv").read_bytes()
        for closed in ("2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-", "0<&-", "1>&-"):
            with self.subTest(closed):
                # Enough to be told of on the way: progress lines, then a summary.
                result = self.shell(f'"$S" run small.toml --out o {closed}')
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual((self.folder / "o" / "flows.csv").read_bytes(), plain)
                self.assertEqual(self.shell(f'"$S" run none.toml {closed}').returncode, 2)

    def test_full_standard_output(self):
        for command in ("run small.toml", "describe small.toml", "topo star --hosts 4", "--help",
                        "--version", "run --help", "compare small.toml", "collective small.toml",
                        "workload aicb --model gpt-7b --world 8 --global-batch 8"):
            with self.subTest(command):
                result = self.shell(f'"$S" {command} > /dev/full')
                self.assertEqual(result.returncode, 74, result.stderr)
                lines = [line for line in result.stderr.splitlines() if "standard output" in line]
                self.assertEqual(lines, ["sluice: standard output cannot be written: "
                                         "No space left on device"])

    def test_full_standard_error(self):
        for command, code in (("run small.toml", 0), ("run none.toml", 2), ("frobnicate", 2),
                              ("compare small.toml", 0)):
            with self.subTest(command):
                self.assertEqual(self.shell(f'"$S" {command} 2> /dev/full').returncode, code)

    def test_a_reader_that_goes(self):
        result = self.shell('"$S" workload aicb --model gpt-175b --world 64 --pp 8 --global-batch '
                            '512 --micro-batch 1 | head -n 1; echo ${PIPESTATUS[0]}')
        self.assertEqual(result.stderr, "")
        self.assertIn(result.stdout.splitlines()[-1], ("0", "74"))

    def test_a_working_folder_that_was_removed(self):
        for command in ("run small.toml", "run /dev/null", f"run {self.folder}/small.toml",
                        f"run {self.folder}/small.toml --out o",
                        f"compare {self.folder}/small.toml",
                        f"describe {self.folder}/small.toml --topology t", "topo star -o x"):
            with self.subTest(command):
                result = self.shell(f'mkdir gone && cd gone && rmdir ../gone && "$S" {command}')
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn("working folder has been removed", result.stderr)
                self.assertNotIn("internal", result.stderr)


class OnePlace(unittest.TestCase):
    def test_nothing_prints_past_it(self):
        for path in (SOURCE / "cli").rglob("*.cpp"):
            if path.name != "terminal.cpp":
                for past in ("fmt::print", "std::cout", "std::cerr", "printf(", "fputs("):
                    self.assertNotIn(past, path.read_text().replace("snprintf(", ""), path)


class Messages(CliTest):
    STEERS = ("\x1b[31m", "\u009b31m", "\x07", "\u202e", "\x7f", "\u2028")

    def refused_shortly(self, *arguments):
        result = self.sluice(*arguments)
        self.assertEqual(result.returncode, 2, result.stderr[:2000])
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr[:2000])
        self.assertLessEqual(len(result.stderr.encode()), LONGEST)
        self.check_text(result.stderr)
        return result.stderr

    def check_text(self, text):
        for bad in self.STEERS:
            self.assertNotIn(bad, text)

    def inputs(self, long):
        """A name `long` in every place of scenarios and files that echoes one."""
        star = "[topology]\ntype = \"star\"\nhosts = 4\n"
        yield "run", "a.toml", f"\"{long}\" = 1\n" + SMALL
        yield "run", "a.toml", SMALL + f"\"{long}\" = 1\n"
        yield "run", "a.toml", f"[topology]\ntype = \"{long}\"\n"
        yield "run", "a.toml", star + f"[workload]\ntype = \"{long}\"\n"
        yield "run", "a.toml", star + f"[workload]\ntype = \"permutation\"\nsize = \"{long}\"\n"
        yield "run", "a.toml", star + f"[workload]\ntype = \"flows\"\nfile = \"{long}\"\n"
        yield "run", "a.toml", star + f"[workload]\ntype = \"poisson\"\ncdf = \"{long}\"\n"
        yield "run", "a.toml", f"[topology]\ntype = \"file\"\npath = \"{long}\"\n"
        yield "run", "a.toml", f"mode = \"{long}\"\n" + SMALL
        yield "run", "a.toml", f"name = \"a/{long}\"\n" + SMALL
        yield "run", "a.toml", (star + "[[workload]]\ntype = \"training\"\n"
                                f"model = \"{long}\"\n")
        yield "run", "a.toml", star + f"[congestion]\nlaw = \"{long}\"\n"
        yield "run", "a.toml", f"a = {long}\n"
        yield "lint", "a.0.json", f"[{{\"id\": 1, \"name\": \"{long}\", \"type\": \"{long}\"}}]"
        yield "lint", "a.0.json", f"[{long}]"
        yield "goal", "a.goal", f"num_ranks 2\nrank 0 {{\nl1: {long}\n}}\n"

    def test_long_and_hostile_names(self):
        commands = {"run": ("run", "a.toml"), "lint": ("chakra", "lint", "a.0.json"),
                    "goal": ("goal", "a.goal")}
        for long in ("x" * 300_000, "\u009b31m\u202e" * 40_000, "\u009b31m\x7f", "é" * 150_000,
                     "\u2028" * 100):
            for command, name, text in self.inputs(long):
                with self.subTest(text=text[:60]):
                    self.write(name, text)
                    result = self.sluice(*commands[command])
                    self.assertIn(result.returncode, (0, 2), result.stderr[:1000])
                    for line in (result.stderr + result.stdout).splitlines():
                        self.assertLessEqual(len(line.encode()), LONGEST, text[:60])
                    self.check_text(result.stderr + result.stdout)

    def test_command_lines(self):
        self.write("small.toml", SMALL)
        for bad in ("x" * 100_000, "\x1b[31m\u009b", "\u202e", "a\nb"):
            self.refused_shortly(bad)
            self.refused_shortly("run", bad)
            self.refused_shortly("run", "small.toml", bad)
            self.refused_shortly("run", "small.toml", "--mode", bad)
            self.refused_shortly("run", "small.toml", "--set", bad)
            self.refused_shortly("run", "small.toml", "--set", bad + "=1")
            self.refused_shortly("run", "small.toml", "--threads", bad)
            self.refused_shortly("topo", bad)
            self.refused_shortly("memo", "stats", "--memo", bad)
        message = self.refused_shortly("rnu")
        self.assertIn("nearest: run", message)
        self.assertIn("nearest: prune", self.refused_shortly("memo", "prun"))

    def test_what_was_meant(self):
        gpu = ("workload", "aicb", "--model", "gpt-7b", "--world", 8, "--global-batch", 8, "--gpu")
        self.assertIn("nearest: H100", self.refused_shortly(*gpu, "h100"))
        message = self.refused_shortly("topo", "list")
        self.assertIn("'type' is \"list\"", message)
        self.assertNotIn("\"type=\"", message)

    def test_a_run_shows_names_as_text(self):
        for bad in self.STEERS[1:]:
            self.write("a.toml", f"name = \"run{bad}\"\n" + SMALL.replace("name = \"small\"\n", ""))
            result = self.sluice("describe", "a.toml")
            self.check_text(result.stdout + result.stderr)
        (self.folder / "\x1b[31mfolder").mkdir()
        self.write("small.toml", SMALL)
        result = self.succeed("run", "small.toml", "--out", "\x1b[31mfolder")
        self.check_text(result.stdout)
        self.assertIn("\\x1b[31mfolder", result.stdout)

    def test_numbers_beyond_double(self):
        for number in ("1e999", "-1e999", "1" * 400):
            with self.subTest(number[:9]):
                self.write("a.0.json", f"[\n{{\"id\": {number}}}]")
                self.assertIn("a.0.json:2: ", self.refused_shortly("chakra", "stat", "a.0.json"))
                self.write("system.json", f"{{\n\n\"x\": {number}}}")
                self.refused_shortly("astra", "--workload-configuration", "a",
                                     "--system-configuration", "system.json",
                                     "--network-configuration", "system.json",
                                     "--remote-memory-configuration", "system.json")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""`sluice doctor`, `init`, `completion` and `manual`: what a new user meets."""
import itertools
import os
import pty
import re
import shutil
import subprocess
import unittest

from support import BINARY, SMALL, SOURCE, CliTest


def listed(text):
    """Options in a --help."""
    heads = [re.split(r"\s{2,}", line.strip())[0] for line in text.splitlines() if re.match(r"  -", line)]
    return {word for head in heads for word in re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", head)}


def commands(test):
    """All but simai, which has the options of SimAI's own programs, and reads them as these do."""
    names = re.findall(r"(?m)^  ([a-z]+) ", test.succeed("--help").stdout.split("Subcommands:")[1])
    test.assertGreater(len(names), 15)
    return [name for name in names if name != "simai"]


class Doctor(CliTest):
    def test_engines_work(self):
        said = self.succeed("doctor").stdout
        for mode in ("packet", "hybrid", "wormhole", "flow"):
            self.assertRegex(said, rf"(?m)^  {mode} +ok ")
        self.assertRegex(said, r"(?m)^  models +ok   \d+ in /")
        for optional in ("report", "GPU", "train"):
            self.assertRegex(said, rf"(?m)^  {optional} +(ok|no)   \S")

    def test_what_does_not_work_has_advice(self):
        result = self.sluice("doctor", env={"XDG_CACHE_HOME": "/proc/none", "SLUICE_TORCH_PLUGIN": "/none"})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^  train +no ")
        self.assertRegex(result.stdout, r"(?m)^  memo +no .*set XDG_CACHE_HOME")


class Init(CliTest):
    def answered(self, *answers, options=()):
        return subprocess.run([str(BINARY), "init", "s.toml", "--force", *options], cwd=self.folder,
                              input="".join(answer + "\n" for answer in answers), capture_output=True, text=True,
                              check=False)

    def test_every_answer_runs(self):
        networks = ("rail-optimized", "fat-tree", "leaf-spine", "star")
        workloads = ("training", "all-reduce", "permutation", "incast", "websearch")
        for network, workload in itertools.product(networks, workloads):
            for gpus in (16, 24) if workload == "training" or network == "rail-optimized" else (2, 5, 16):
                with self.subTest(network=network, workload=workload, gpus=gpus):
                    self.succeed("init", "a b.toml", "--force", "--network", network, "--workload", workload, "--gpus",
                                 gpus, "--rate", "100Gbps")
                    ran = self.sluice("run", "a b.toml", "--mode", "flow", "--out", "o")
                    self.assertEqual(ran.returncode, 0, ran.stderr + (self.folder / "a b.toml").read_text())

    def test_questions(self):
        asked = self.answered("fat-tree", "", "200Gbps", "incast")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertEqual(len(re.findall(r"\[[^\]]+\] ", asked.stdout)), 4)
        text = (self.folder / "s.toml").read_text()
        for part in ("type = \"fat-tree\"\nk = 8", "rate = \"200Gbps\"", "type = \"incast\"", "senders = 16"):
            self.assertIn(part, text)
        # A wrong answer is asked again, and options are answers.
        asked = self.answered("ring", "12", "16", options=["--rate", "100Gbps", "--workload", "training", "--network", "star"])
        self.assertIn("must be from 2 to 16384", asked.stdout)
        self.assertIn("training needs servers of 8", asked.stdout)
        self.assertIn("hosts = 16", (self.folder / "s.toml").read_text())
        ended = self.answered("star")
        self.assertEqual((ended.returncode, ended.stderr.count("\n")), (2, 1))
        self.assertIn("--defaults asks nothing", ended.stderr)

    def test_refusals(self):
        self.succeed("init", "--defaults")
        before = (self.folder / "scenario.toml").read_text()
        self.refuse("init", "--defaults", says="is there already; allowed: another name, or --force")
        self.assertEqual((self.folder / "scenario.toml").read_text(), before)
        for options, says in ((["--network", "ring"], "must be one of rail-optimized, fat-tree"),
                              (["--workload", "nfs"], "must be one of training"),
                              (["--rate", "fast"], "rate \"fast\""),
                              (["--rate", "0Gbps"], "allowed: 1Mbps to 100Tbps"),
                              (["--gpus", "12"], "needs servers of 8"),
                              (["--gpus", "1"], "--gpus")):
            self.refuse("init", "x.toml", "--defaults", *options, says=says)
        self.assertFalse((self.folder / "x.toml").exists())


class Shells(CliTest):
    def completed(self, *words, shell="bash"):
        """What a shell offers behind these words; the last one is begun."""
        self.write("completion", self.succeed("completion", shell).stdout)
        lines = {"bash": "source ./completion; COMP_WORDS=(sluice \"$@\"); COMP_CWORD=$#; _sluice; "
                         "printf '%s\\n' \"${COMPREPLY[@]}\"",
                 # zsh's own widgets are played: they print what they would offer.
                 "zsh": "compdef() { :; }; compadd() { shift; print -rl -- \"$@\"; }; _files() { print -rl -- *; }; "
                        "source ./completion; words=(sluice \"$@\"); CURRENT=$#words; _sluice"}
        ran = subprocess.run([shell, *(["-f"] if shell == "zsh" else []), "-c", lines[shell], shell, *words],
                             cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return {line for line in ran.stdout.split("\n") if line.startswith(words[-1])} - {""}

    def check_shell(self, shell):
        self.assertEqual(self.completed("ba", shell=shell), {"batch"})
        self.assertEqual(self.completed("batch", "--device", "", shell=shell), {"cpu", "cuda", "auto", "blocks"})
        modes = {"packet", "hybrid", "wormhole", "flow"}
        for command in ("run", "describe", "batch"):
            self.assertEqual(self.completed(command, "--mode", "", shell=shell), modes)
        self.assertEqual(self.completed("init", "--network", "", shell=shell),
                         {"rail-optimized", "fat-tree", "leaf-spine", "star"})
        self.assertEqual(self.completed("init", "--workload", "per", shell=shell), {"permutation"})
        self.assertEqual(self.completed("memo", "li", shell=shell), {"list"})
        self.write("my file.toml", "")
        self.assertEqual(self.completed("run", "my", shell=shell), {"my file.toml"})
        self.assertEqual(self.completed("run", "--out", "my", shell=shell), {"my file.toml"})
        self.assertEqual(self.completed("completion", "z", shell=shell), {"zsh"})

    def test_bash(self):
        self.check_shell("bash")

    @unittest.skipUnless(shutil.which("zsh"), "skipped: no zsh")
    def test_zsh(self):
        self.check_shell("zsh")

    def test_completion_is_in_step_with_help(self):
        script = self.succeed("completion", "bash").stdout
        offered = dict(re.findall(r"(?m)^        '([^'-]*)'\) offered='([^']*)'", script))
        self.assertLessEqual(set(commands(self)), set(offered[""].split()))
        for command in commands(self):
            with self.subTest(command):
                self.assertEqual(listed(self.succeed(command, "--help").stdout),
                                 {word for word in offered[command].split() if word.startswith("-")})

    def test_the_man_page_is_in_step_with_help(self):
        page = self.succeed("manual").stdout
        sections = dict(re.findall(r"(?ms)^\.SS (.*?)\n(.*?)(?=^\.S[SH] |\Z)", page))
        for command in commands(self):
            with self.subTest(command):
                section = sections[f"sluice {command}"].replace("\\-", "-")
                self.assertLessEqual(listed(self.succeed(command, "--help").stdout),
                                     set(re.findall(r"\\fB(-[^\\]*)\\fR", section)))
        for code in (0, 1, 2, 3, 70, 74, 130):
            self.assertIn(f".TP\n.B {code}\n", page)
        if shutil.which("groff"):
            self.write("sluice.1", page)
            ran = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "sluice.1"], cwd=self.folder, capture_output=True,
                                 text=True, check=False)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_exit_codes_are_documented_alike(self):
        page = self.succeed("manual").stdout
        documented = re.findall(r"(?m)^\| (\d+) \| ", (SOURCE / "docs/outputs.md").read_text().split("Exit codes:")[1]
                                .split("\n\n")[1])
        self.assertEqual(re.findall(r"(?m)^\.B (\d+)$", page), sorted(documented + ["1"] * ("1" not in documented), key=int))


class Colours(CliTest):
    def test_a_terminal_gets_none(self):
        """With NO_COLOR or without: nothing that is printed chooses a colour."""
        self.write("small.toml", SMALL)
        for environment in ({}, {"NO_COLOR": "1"}):
            master, slave = pty.openpty()
            with subprocess.Popen([str(BINARY), "run", "small.toml", "--mode", "flow"], cwd=self.folder, stdout=slave,
                                  stderr=slave, env={**os.environ, **environment}) as process:
                process.wait()
            os.close(slave)
            shown = b""
            try:
                while chunk := os.read(master, 65536):
                    shown += chunk
            except OSError:  # Linux's end of a terminal
                pass
            os.close(master)
            self.assertIn(b"completion time", shown)
            self.assertNotRegex(shown, rb"\x1b\[[0-9;]*m")


if __name__ == "__main__":
    unittest.main()

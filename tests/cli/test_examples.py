# SPDX-License-Identifier: Apache-2.0
"""The commands of examples/: those on other projects' files run as printed, and no two of an example
write one folder."""
import re
import shlex
import unittest

from support import EXAMPLES, CliTest

FILES = EXAMPLES / "files"
BATCHES = EXAMPLES / "batches"


def commands(text):
    """Command lines of an example's comment, those continued with a backslash whole."""
    text = re.sub(r"\\\n#\s*", "", text)
    return [line.lstrip("# ") for line in text.splitlines() if re.match(r"#\s+sluice ", line)]


def folder_of(words, path):
    return words[words.index("--out") + 1] if "--out" in words else "runs/" + path.stem


class Examples(CliTest):
    def test_no_two_commands_write_one_folder(self):
        for path in [*EXAMPLES.glob("*.toml"), *FILES.glob("*.toml")]:
            runs = [line.split() for line in commands(path.read_text())]
            folders = [folder_of(words, path) for words in runs if words[1] == "run"]
            self.assertEqual(len(folders), len(set(folders)), (path.name, folders))
            self.assertTrue(runs, path.name)

    def test_files_of_other_projects_run_as_printed(self):
        (self.folder / "examples").symlink_to(EXAMPLES)
        (self.folder / "runs").mkdir()
        page = (EXAMPLES / "README.md").read_text()
        lines = re.findall(r"^    (sluice .*)$", page, re.MULTILINE)
        for path in sorted(FILES.glob("*.toml")):
            lines += commands(path.read_text())
        self.assertGreater(len(lines), 15)
        used = "".join(path.read_text() for path in FILES.glob("*.toml"))
        for line in lines:
            with self.subTest(line=line):
                self.succeed(*shlex.split(line)[1:])
        # Every file is somebody's: a command's, a scenario's, or named by one that is.
        used += page + (FILES / "hpcc-config.txt").read_text()
        for path in FILES.iterdir():
            self.assertIn(re.sub(r"\.[1-9]\.(et|json)$", r".0.\1", path.name), used)

    def test_batches_are_as_their_comments_say(self):
        (self.folder / "examples").symlink_to(EXAMPLES)
        for name, experiments in (("incast-laws", 120), ("priorities-1024gpu", 500), ("topology-128gpu", 10_000)):
            plan = self.succeed("batch", f"examples/batches/{name}.toml", "--plan")
            self.assertIn(f"{experiments} experiments", plan.stdout)
            self.assertNotIn("refused", plan.stdout)
            self.assertNotIn("oom", plan.stdout)
        # Strategies of 8,192 GPUs, 50 by 2: those of the table whose products are other numbers would be refused.
        rows = re.findall(r'\[(\d+), (\d+), (\d+), (\d+), (\d+), "([a-z0-9-]+)", (\d)\],',
                          (BATCHES / "parallel-8192gpu.toml").read_text())
        self.assertEqual(len(set(rows)), 50)
        for *numbers, schedule, chunks in rows:
            tp, dp, pp, micro_batch, micro_batches = map(int, numbers)
            self.assertEqual((tp * dp * pp, dp * micro_batch * micro_batches), (8192, 2048))
            self.assertEqual(int(chunks), 3 if schedule == "interleaved" else 1)
            self.assertTrue(schedule != "interleaved" or micro_batches % pp == 0)
        # Four laws: their plan alone builds 54,000 hosts.
        laws = (BATCHES / "congestion-54000gpu.toml").read_text()
        self.assertIn('values = ["hpcc", "dcqcn", "timely", "dctcp"]', laws)
        self.assertEqual(len(list(BATCHES.iterdir())), 5)
        result = self.succeed("batch", "examples/batches/incast-laws.toml")
        self.assertIn("120 of 120 experiments: 120 done", result.stdout)

    def test_generated_files_are_those_of_today(self):
        self.succeed("goal", FILES / "ping-pong.goal", "--to-binary", "ping-pong.bin")
        self.assertEqual((self.folder / "ping-pong.bin").read_bytes(),
                         (FILES / "ping-pong.bin").read_bytes())
        self.succeed("chakra", "generate", "--collective", "all_reduce", "--ranks", 4, "--size",
                     "1MB", "-o", "chakra")
        for rank in range(4):
            name = f"chakra.{rank}.et"
            self.assertEqual((self.folder / name).read_bytes(), (FILES / name).read_bytes())


if __name__ == "__main__":
    unittest.main()

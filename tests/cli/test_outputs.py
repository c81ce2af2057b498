# SPDX-License-Identifier: Apache-2.0
"""Where results go: what is in the way, what was there before, who else writes, and signals."""
import fcntl
import os
import random
import signal
import stat
import subprocess
import threading
import time
import unittest

from support import BINARY, SMALL, CliTest, catches


class InTheWay(CliTest):
    """Nothing but a regular file is ever replaced, and no link is followed."""

    def setUp(self):
        super().setUp()
        self.write("small.toml", SMALL)
        self.write("precious", "precious\n")

    def commands(self, path):
        """Every command that writes a file whose name the user gives."""
        small = "small.toml"
        return [
            ("describe", small, "--flows", path),
            ("describe", small, "--topology", path),
            ("topo", "star", "--hosts", 4, "-o", path),
            ("workload", "aicb", "--model", "gpt-7b", "--world", 8, "--global-batch", 8,
             "--micro-batch", 1, "-o", path),
            ("chakra", "generate", "--collective", "all_reduce", "--ranks", 1, "--size", "1MB", "-o",
             str(path).removesuffix(".0.et")),
        ]

    def test_links_and_folders_are_refused(self):
        for name, commands in (("out", self.commands("out")[:4]),
                               ("out.0.et", self.commands("out.0.et")[4:])):
            for command in commands:
                for way in ("link", "dangling", "folder", "partial link", "partial fifo",
                            "partial folder", "partial hard link"):
                    with self.subTest(command=command[0:2], way=way):
                        path = self.folder / name
                        partial = self.folder / (name + ".partial")
                        at = partial if "partial" in way else path
                        if "hard" in way:
                            os.link(self.folder / "precious", at)
                        elif way == "dangling":
                            at.symlink_to("nowhere")
                        elif "link" in way:
                            at.symlink_to("precious")
                        elif "fifo" in way:
                            os.mkfifo(at)
                        else:
                            at.mkdir()
                        self.refuse(*command, says=at.name)
                        self.assertEqual((self.folder / "precious").read_text(), "precious\n")
                        self.assertFalse((self.folder / "nowhere").exists())
                        self.assertTrue(at.is_dir() or at.is_symlink() or at.exists())
                        if at.is_dir():
                            at.rmdir()
                        else:
                            at.unlink()
                        self.assertFalse(path.exists() or partial.exists())

    def test_devices_and_fifos_are_written_directly(self):
        for command in self.commands("/dev/null")[:4]:
            self.succeed(*command)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        for command in self.commands("/dev/full")[:4]:
            self.refuse(*command, says=["/dev/full", "No space left"])
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))
        os.mkfifo(self.folder / "fifo")
        self.refuse(*self.commands("fifo")[0], says=["fifo", "nobody reads"])
        read = []
        reader = os.open(self.folder / "fifo", os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(reader, fcntl.F_SETFL, 0)

        def drain():
            while data := os.read(reader, 1 << 16):
                read.append(data)

        self.sluice("describe", "small.toml", "--topology", "plain")
        process = subprocess.Popen([str(BINARY), *map(str, self.commands("fifo")[1])],
                                   cwd=self.folder, stdout=subprocess.DEVNULL)
        time.sleep(0.2)
        thread = threading.Thread(target=drain)
        thread.start()
        self.assertEqual(process.wait(60), 0)
        thread.join(60)
        os.close(reader)
        self.assertEqual(b"".join(read), (self.folder / "plain").read_bytes())
        self.assertTrue(stat.S_ISFIFO(os.stat(self.folder / "fifo").st_mode))

    def test_folders_leave_nothing(self):
        for path in (".", "..", "/", "new/"):
            self.refuse("describe", "small.toml", "--topology", path, says="folder")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["precious", "small.toml"])

    def test_in_a_runs_folder(self):
        for name in ("summary.json", "flows.csv", "flows.csv.partial"):
            with self.subTest(name):
                (self.folder / "out").mkdir()
                (self.folder / "out" / name).symlink_to("../precious")
                self.refuse("run", "small.toml", "--out", "out", says=name)
                self.assertEqual((self.folder / "precious").read_text(), "precious\n")
                (self.folder / "out" / name).unlink()
                (self.folder / "out").rmdir()

    def test_a_memo_follows_no_link(self):
        self.write("memo", "")
        (self.folder / "link").symlink_to("memo")
        run = ("run", "small.toml", "--mode", "wormhole", "--set", "phases.episodes=true", "--memo")
        self.refuse(*run, "link", says=["link", "symbolic"])
        (self.folder / "link").unlink()
        (self.folder / "link").symlink_to("nowhere")
        self.refuse(*run, "link", says=["link", "symbolic"])
        self.assertFalse((self.folder / "nowhere").exists())
        (self.folder / "real").mkdir()
        (self.folder / "folder").symlink_to("real")  # a cache may lie elsewhere
        self.succeed(*run, "folder/memo")
        self.assertTrue((self.folder / "real" / "memo").exists())

    def test_two_options_of_one_file(self):
        (self.folder / "here").symlink_to(".")
        self.refuse("describe", "small.toml", "--flows", "a", "--topology", "./a",
                    says=["--flows", "--topology"])
        self.refuse("describe", "small.toml", "--flows", "a", "--topology", "here/a",
                    says=["--flows", "--topology"])
        self.refuse("describe", "small.toml", "--topology", "./small.toml", says="the scenario")
        self.refuse("collective", "small.toml", "--csv", "a", "--json", "a",
                    says=["--csv", "--json"])
        self.refuse("compare", "small.toml", "--out", "o", "--json", "o/compare.csv",
                    says="--json")
        self.succeed("describe", "small.toml", "--flows", "/dev/null", "--topology", "/dev/null")


class UsedFolders(CliTest):
    def setUp(self):
        super().setUp()
        self.write("small.toml", SMALL)
        self.out = self.folder / "out"

    def names(self):
        return sorted(path.name for path in self.out.iterdir())

    def test_old_results_go(self):
        self.succeed("run", "small.toml", "--out", "out", "--mode", "hybrid", "--set",
                     "output.fct=true", "--set", "output.trace=true")
        self.assertIn("phases.csv", self.names())
        self.write("out/notes.txt", "the user's own")
        self.write("out/trace.json.partial", "of a run that was killed")
        self.succeed("run", "small.toml", "--out", "fresh", "--mode", "flow")
        self.succeed("run", "small.toml", "--out", "out", "--mode", "flow")
        fresh = [path.name for path in (self.folder / "fresh").iterdir()]
        self.assertEqual(self.names(), sorted([*fresh, "notes.txt"]))

    def test_files_of_the_users_stay(self):
        self.write("out/phases.csv", "mine")
        self.succeed("run", "small.toml", "--out", "out", "--mode", "flow")
        self.assertEqual((self.out / "phases.csv").read_text(), "mine")

    def test_a_refused_run_leaves_the_old_results(self):
        self.succeed("run", "small.toml", "--out", "out")
        before = {path.name: path.read_bytes() for path in self.out.iterdir()}
        (self.out / "phases.csv.partial").mkdir()
        self.refuse("run", "small.toml", "--out", "out", "--mode", "flow", says="phases.csv")
        (self.out / "phases.csv.partial").rmdir()
        self.refuse("run", "small.toml", "--out", "out", "--mode", "nonsense")
        self.assertEqual({path.name: path.read_bytes() for path in self.out.iterdir()}, before)

    def test_a_killed_run_leaves_no_summary(self):
        self.succeed("run", "small.toml", "--out", "out")
        process = subprocess.Popen(
            [str(BINARY), "run", "small.toml", "--out", "out", "--mode", "packet", "--set",
             "workload.size=\"100GB\""], cwd=self.folder, stderr=subprocess.DEVNULL)
        while not (self.out / "summary.json.partial").exists():
            time.sleep(0.01)
        time.sleep(0.3)
        process.kill()
        process.wait()
        self.assertTrue(all(name.endswith(".partial") for name in self.names()), self.names())

    def test_runs_of_one_folder_at_once(self):
        """One of them has it, whole; the others are refused."""
        self.succeed("run", "small.toml", "--out", "alone")
        expected = (self.folder / "alone" / "flows.csv").read_bytes()
        for _ in range(10):
            runs = [subprocess.Popen([str(BINARY), "run", "small.toml", "--out", "out", "--quiet",
                                      "--no-memo"],
                                     cwd=self.folder, stderr=subprocess.PIPE) for _ in range(6)]
            codes = []
            for run in runs:
                errors = run.communicate(timeout=60)[1].decode()
                codes.append(run.returncode)
                if run.returncode != 0:
                    self.assertIn("another run is writing", errors)
            self.assertIn(0, codes)
            self.assertLessEqual(set(codes), {0, 2})
            self.assertEqual((self.out / "flows.csv").read_bytes(), expected)
            self.assertFalse(list(self.out.glob("*.partial")))


class Signals(CliTest):
    def test_while_building(self):
        """Exit code 130 and nothing empty left, whatever the instant."""
        self.write("big.toml", SMALL.replace("hosts = 4", "hosts = 4000")
                   .replace("100KB", "10GB"))
        chance = random.Random(1)
        for attempt in range(20):
            number = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)[attempt % 3]
            process = subprocess.Popen(
                [str(BINARY), "run", "big.toml", "--mode", "packet", "--out", "new/out"],
                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                restore_signals=True)
            while not catches(process.pid, number):
                self.assertIsNone(process.poll())
                time.sleep(0.005)
            time.sleep(chance.random() * 0.5)
            process.send_signal(number)
            self.assertEqual(process.wait(60), 130)
            files = [path for path in self.folder.glob("new/out/*") if path.stat().st_size == 0]
            self.assertEqual(files, [])
            self.assertFalse(list(self.folder.glob("new/out/*.partial")))

    def test_an_interrupted_table_is_marked(self):
        self.write("small.toml", SMALL)
        process = subprocess.Popen(
            [str(BINARY), "collective", "small.toml", "-b", "64K", "-e", "64G", "--csv", "t.csv",
             "--json", "t.json"], cwd=self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        while not process.stdout.readline().startswith(b"        "):
            pass
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        names = sorted(path.name for path in self.folder.glob("t.*"))
        self.assertEqual(names, ["t.csv.partial", "t.json.partial"])

    def test_nohup_is_respected(self):
        self.write("small.toml", SMALL)
        process = subprocess.Popen(
            [str(BINARY), "run", "small.toml", "--mode", "packet", "--set",
             "workload.size=\"200MB\""], cwd=self.folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(0.1)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(60), 0)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""`sluice calibrate` as a user types it: from nccl-tests to a file that `sluice collective` reads."""
import csv
import unittest

from support import CliTest

SERVER = """\
name = "server"
[topology]
type = "rail-optimized"
gpus = 8
gpus_per_server = 8
[congestion]
law = "dcqcn"
[workload]
type = "collective"
"""


def microseconds(members, size):
    """A machine with two protocols."""
    steps = 2 * (members - 1)
    return min(6 + steps * (1 + size / members / 8e3), 20 + steps * (4 + size / members / 200e3))


def printed(members):
    lines = ["# Collective test starting: all_reduce_perf",
             f"# nThread 1 nGpus {members} minBytes 1024 maxBytes 268435456 step: 2(factor)"]
    lines += [f"#  Rank {rank:2} Group  0 Pid 7 on h device {rank:2} [0000:1b:00] NVIDIA H100 80GB"
              for rank in range(members)]
    for power in range(10, 29):
        time = microseconds(members, 2 ** power)
        lines.append(f" {2 ** power} {2 ** power // 4} float sum -1 {time:.2f} 1.0 1.0 0")
    return "\n".join(lines) + "\n"


class Calibrate(CliTest):
    def test_what_nccl_tests_prints_becomes_a_gpu_type(self):
        self.write("nccl.txt", "".join(printed(members) for members in (2, 4, 8)))
        self.write("server.toml", SERVER)
        result = self.sluice("calibrate", "nccl.txt", "-o", "mine.toml")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("57 rows", result.stdout)
        text = (self.folder / "mine.toml").read_text()
        self.assertEqual(text.count("[interconnect.nvlink.nccl]"), 1)
        for size in (3 * 1024, 10_000_000):
            result = self.sluice("collective", "server.toml", "--gpu", "./mine.toml", "--begin",
                                 f"{size}", "--end", f"{size}", "--mode", "flow", "--csv", "t.csv",
                                 "--quiet")
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.folder / "t.csv") as file:
                row = next(csv.DictReader(file))
            self.assertAlmostEqual(float(row["time_us"]) / microseconds(8, size), 1, delta=0.08)
        # Of its own file all else stays: calibrated again it is the same file.
        again = self.sluice("calibrate", "nccl.txt", "-o", "again.toml", "--gpu", "./mine.toml",
                            "--quiet")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((self.folder / "again.toml").read_text(), text)

    def test_slips_are_one_line(self):
        self.write("nccl.csv", "system,op,gpus,bytes,us_median\nx1,all_reduce,2,1024,5\n")
        self.write("bad.csv", "op,gpus,bytes,us\nall_reduce,2,1024,fast\n")
        self.write("empty.txt", "")
        for arguments, words in (
            (["nccl.csv"], "--gpu"),
            (["nccl.csv", "--gpu", "H100"], "at least 3"),
            (["nccl.csv", "--gpu", "H1000"], "H100"),
            (["nccl.csv", "--gpu", "H100", "--link", "pci"], "pcie"),
            (["nccl.csv", "--system", "y"], "it has: x1"),
            (["bad.csv", "--gpu", "H100"], "bad.csv:2"),
            (["empty.txt"], "empty"),
            (["missing.csv"], "missing.csv"),
        ):
            with self.subTest(arguments=arguments):
                result = self.sluice("calibrate", *arguments, "-o", "mine.toml")
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
                self.assertIn(words, result.stderr)
                self.assertFalse((self.folder / "mine.toml").exists())


if __name__ == "__main__":
    unittest.main()

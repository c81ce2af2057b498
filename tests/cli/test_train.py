# SPDX-License-Identifier: Apache-2.0
"""sluice run --record-queues and sluice train: from packets to a model and its errors, and what is
refused. What needs libtorch is skipped where the build has none."""
import csv
import re
import shutil
import subprocess
import unittest

from support import BINARY, CliTest

INCAST = """\
name = "{name}"
[topology]
type = "star"
hosts = {hosts}
[congestion]
law = "{law}"
[workload]
type = "incast"
senders = {senders}
size = "4MB"
jitter = "10us"
[output]
trace = false
"""


class Train(CliTest):
    def record(self, name, senders=3, law="dcqcn", hosts=9):
        self.write(f"{name}.toml", INCAST.format(name=name, senders=senders, law=law, hosts=hosts))
        self.succeed("run", f"{name}.toml", "--record-queues", "--quiet", "--out", name)
        return name

    def train(self, *arguments):
        result = self.sluice("train", *arguments)
        if "has no libtorch" in result.stderr:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def read(self, name):
        return (self.folder / name).read_bytes()

    def test_recording_changes_no_result(self):
        for law in ("dcqcn", "hpcc"):
            recorded = self.record(f"with-{law}", law=law)
            self.succeed("run", f"{recorded}.toml", "--mode", "packet", "--quiet", "--out",
                         "without")
            for file in ("flows.csv", "ports.csv"):
                self.assertEqual(self.read(f"{recorded}/{file}"), self.read(f"without/{file}"))
            self.assertFalse((self.folder / "without" / "queues.bin").exists())
            self.assertEqual(self.read(f"{recorded}/queues.bin")[:8], b"SLUICEQT")

    def test_a_job_that_computes_ends_and_is_recorded(self):
        self.write("job.toml", 'name = "job"\n[topology]\ntype = "star"\nhosts = 4\n[workload]\n'
                   'type = "stream"\noperations = 30\nbytes = "200KB"\ncompute = "300us"\n')
        self.succeed("run", "job.toml", "--record-queues", "--quiet", "--out", "job")
        self.assertGreater(len(self.read("job/queues.bin")), 1000)

    def test_from_packets_to_a_model(self):
        folders = [self.record("a", 2), self.record("b", 5), self.record("c", 3, "timely"),
                   self.record("d", 4, "timely")]
        options = ["--epochs", 2, "--cases", 60, "--val-split", 0.5, "--seed"]
        printed = self.train(*folders, "-o", "m.model", "--csv", "errors.csv", *options,
                             4).stdout
        self.assertIn("2 epochs", printed)
        self.assertEqual(self.read("m.model")[:8], b"SLUICEQM")
        self.assertIn(b"<polyline", self.read("m.model.loss.svg"))
        self.assertEqual(self.read("m.model.loss.csv").count(b"\n"), 3)
        rows = list(csv.DictReader(self.read("errors.csv").decode().splitlines()))
        self.assertEqual({row["predictor"] for row in rows},
                         {"hold", "empty", "last_mean", "linear", "transformer"})
        # The same command, the same model; another seed, another one.
        self.train(*folders, "-o", "again.model", *options, 4)
        self.assertEqual(self.read("m.model"), self.read("again.model"))
        self.train(*folders, "-o", "other.model", *options, 5)
        self.assertNotEqual(self.read("m.model"), self.read("other.model"))
        # Where it comes from is in it; a scenario trains or judges.
        text = self.read("m.model").decode(errors="replace")
        learned, judged = re.search(r'"training": \[(.*?)\],\s*"validation": \[(.*?)\]', text,
                                    re.DOTALL).groups()
        self.assertEqual(sorted(re.findall(r'"(\w+)"', learned + judged)), ["a", "b", "c", "d"])
        self.evaluate("m.model", folders)

    def evaluate(self, model, folders):
        for engine in ("plain", "libtorch"):
            self.succeed("train", "--evaluate", model, *folders, "--cases", 50, "--engine", engine,
                         "--csv", f"{engine}.csv")
        tables = [list(csv.DictReader(self.read(f"{engine}.csv").decode().splitlines()))
                  for engine in ("plain", "libtorch")]
        for plain, torch in zip(*tables, strict=True):
            self.assertAlmostEqual(float(plain["mae"]), float(torch["mae"]), delta=5e-4)

    def test_what_cannot_be_trained_is_one_line(self):
        one = self.record("one")
        self.refuse("train", "no-such-folder", "--evaluate", "m.model", says="m.model: does not")
        self.refuse("train", one, says="needs -o MODEL, or --evaluate MODEL")
        self.refuse("train", one, "-o", "no/such/place", says="its folder does not exist")
        self.refuse("train", one, "-o", ".", says="is a folder")
        self.write("m.model", b"\x80\x04pickled")
        self.refuse("train", one, "--evaluate", "m.model", says="is no model of queues")
        self.write("empty/queues.bin", b"")
        result = self.sluice("train", "empty", "-o", "m2.model")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        if "has no libtorch" not in result.stderr:
            self.assertIn("empty/queues.bin: is no record of queues", result.stderr)
            self.refuse("train", one, "-o", "m2.model", says="at least 2 scenarios")
            bad = self.read(f"{one}/queues.bin")
            self.write("cut/queues.bin", bad[: len(bad) // 2])
            self.refuse("train", one, "cut", "-o", "m2.model", says="cut/queues.bin: is damaged")

    def test_without_libtorch_it_says_so(self):
        one = self.record("one")
        result = self.sluice("train", one, "-o", "m.model",
                             env={"SLUICE_TORCH_PLUGIN": "/no/such/module.so"})
        self.assertEqual(result.returncode, 2)
        self.assertIn("this build has no libtorch", result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    @unittest.skipUnless(shutil.which("ldd"), "needs ldd")
    def test_the_program_does_not_link_libtorch(self):
        listed = subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=True).stdout
        self.assertIn("libc", listed)
        for library in ("libtorch", "libc10", "libopenblas"):  # not in addresses
            self.assertNotIn(library, listed)

    def test_only_packet_mode_records(self):
        self.record("one")
        self.refuse("run", "one.toml", "--record-queues", "--mode", "hybrid", says="needs mode packet")
        self.refuse("run", "one.toml", "--record-queues", "--set", "network.load_balance=spray",
                    says="send a flow's packets several ways")
        self.succeed("run", "one.toml", "--mode", "flow", "--set", "output.record_queues=true",
                     "--out", "flow", "--quiet")
        self.assertIn(b"output.record_queues", self.read("flow/summary.json"))
        self.assertFalse((self.folder / "flow" / "queues.bin").exists())


if __name__ == "__main__":
    unittest.main()

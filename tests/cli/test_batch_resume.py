# SPDX-License-Identifier: Apache-2.0
"""`sluice batch` again in a folder: what is found again, what stays beside it, what kills and stops leave."""
import random
import signal
import sqlite3
import subprocess
import time
import unittest

from batch_support import BASE, BatchTest, TRAINING, axis
from support import BINARY


class BatchResume(BatchTest):
    def test_goes_on_and_with_more(self):
        self.write("base.toml", BASE)
        head = "base = \"base.toml\"\nset = { congestion.law = \"hpcc\" }\n"
        self.batch(head + axis("seed", [1, 2, 3]))
        first = self.rows()
        refused = self.batch(head + axis("seed", [1, 2, 3]), code=2)
        self.assertRegex(refused.stderr, "holds 3 results of a batch: --resume continues it, --anew")
        self.assertEqual(self.rows(), first)
        grown = self.batch(head + axis("congestion.law", ["dctcp", "hpcc"]) + axis("seed", [3, 4, 1]), "--resume")
        self.assertIn("known        ", grown.stdout)
        fresh = self.sluice("batch", "batch.toml", "--out", "fresh")
        self.assertEqual(fresh.returncode, 0)
        self.assertEqual(self.settled(), self.settled("fresh"))
        # What was known has the very row that it had, clocks included.
        by_seed = {row["seed"]: row for row in self.rows() if row["congestion.law"] == "hpcc"}
        self.assertNotEqual(by_seed["3"]["wall_s"], "")

    def test_a_range_that_shrinks_and_grows_finds_its_rows_again(self):
        self.write("base.toml", BASE)
        head = "base = \"base.toml\"\nset = { mode = \"flow\" }\n"
        whole, part = head + axis("seed", [1, 2, 3, 4, 5, 6]), head + axis("seed", [5, 2])
        self.batch(whole, "--check", 6)
        rows, checks = self.rows(), (self.folder / "out" / "check.csv").read_text()
        said = self.batch(part, "--resume")
        self.assertIn("  kept         4 results, not of this batch, in batch.db", said.stdout)
        shown = [rows[4], rows[1]]  # clocks and all
        self.assertEqual([{**row, "experiment": ""} for row in self.rows()],
                         [{**row, "experiment": ""} for row in shown])
        self.assertEqual(self.results("SELECT experiment, seed FROM experiments"), [(0, "5"), (1, "2")])
        # What others are of can be read there.
        self.assertEqual(self.results("SELECT varied FROM results ORDER BY varied"), [(f"seed = {i}",) for i in range(1, 7)])
        self.batch(head + "[[axis]]\nkey = \"network.payload\"\nvalues = [2000]\n", "--resume")  # other columns
        said = self.batch(whole, "--resume", "--check", 6)
        self.assertIn("known        6 from an earlier run", said.stdout)
        self.assertEqual(self.rows(), rows)
        self.assertEqual((self.folder / "out" / "check.csv").read_text(), checks)
        self.batch(part, "--anew")
        self.assertEqual(self.results("SELECT count(*) FROM results"), [(2,)])
        self.assertFalse((self.folder / "out" / "check.csv").exists())

    def test_no_folder_of_another_experiment_is_written_over(self):
        self.write("base.toml", BASE)
        head = "base = \"base.toml\"\nset = { mode = \"flow\" }\n"
        self.batch(head + axis("seed", [1, 2]), "--folders")
        flows = (self.folder / "out" / "runs" / "0" / "flows.csv").read_bytes()
        before = self.rows()
        self.write("batch.toml", head + axis("seed", [3, 1, 2]))
        self.refuse("batch", "batch.toml", "--out", "out", "--resume", "--folders",
                    says=["out: runs/0 belongs to an earlier experiment", "allowed: new values at the end"])
        self.assertEqual((self.folder / "out" / "runs" / "0" / "flows.csv").read_bytes(), flows)
        self.assertEqual(self.rows(), before)
        self.batch(head + axis("seed", [2, 1, 3]), "--resume", "--folders")  # what is known moves, and stays where it is
        self.assertEqual(self.results("SELECT seed, folder FROM experiments ORDER BY 1"), [("1", 0), ("2", 1), ("3", 2)])
        self.batch(head + axis("seed", [3, 1, 2, 4]), "--resume")

    def test_results_by_another_version_stay_and_are_not_used(self):
        self.write("base.toml", BASE)
        text = "base = \"base.toml\"\nset = { mode = \"flow\" }\n" + axis("seed", [1, 2, 3])
        self.batch(text, "--check", 3)
        rows = self.rows()
        for table in ("results", "checks"):
            self.results(f"UPDATE {table} SET version = 'another'")
        said = self.batch(text, "--resume", "--check", 3)
        self.assertEqual(said.stderr, "sluice: 3 experiments are known to other versions of the program only: run again; "
                                      "the earlier results stay in batch.db\n")
        self.assertNotIn("known", said.stdout)
        self.assertEqual(self.results("SELECT version = 'another', count(*) FROM results GROUP BY 1"), [(0, 3), (1, 3)])
        self.assertEqual(self.results("SELECT count(*) FROM checks"), [(6,)])
        self.assertEqual(self.results("SELECT count(*) FROM experiments"), [(3,)])
        # That version finds them again.
        (mine,), = self.results("SELECT DISTINCT version FROM results WHERE version <> 'another'")
        for table in ("results", "checks"):
            self.results(f"DELETE FROM {table} WHERE version <> 'another'")
            self.results(f"UPDATE {table} SET version = '{mine}'")
        self.batch(text, "--resume")
        self.assertEqual(self.rows(), rows)

    def test_what_does_not_fit_runs_when_that_is_allowed_and_only_then(self):
        self.write("base.toml", BASE)
        self.write("training.toml", TRAINING)
        text = "[[experiment]]\nbase = \"base.toml\"\n[[experiment]]\nbase = \"training.toml\"\n"
        self.batch(text, code=3)
        small, oom = self.rows()
        self.assertEqual((small["status"], oom["status"]), ("done", "oom"))
        said = self.batch(text, "--resume", "--allow-oom")
        self.assertIn("known        1 from an earlier run", said.stdout)
        allowed = self.rows()
        self.assertEqual((allowed[0], allowed[1]["status"]), (small, "done"))
        self.batch(text, "--resume", code=3)
        self.assertEqual(self.rows(), [small, oom])
        said = self.batch(text, "--resume", "--allow-oom")
        self.assertIn("known        2 from an earlier run", said.stdout)
        self.assertEqual(self.rows(), allowed)

    def test_too_few_threads_are_told(self):
        self.write("base.toml", BASE)
        self.write("batch.toml", "base = \"base.toml\"\n" + axis("seed", [1, 2]))
        self.assertEqual(self.sluice("batch", "batch.toml", "--out", "out").returncode, 0)
        self.write("batch.toml", "base = \"base.toml\"\n[[axis]]\nkey = \"seed\"\nrange = [1, 5000]\n")
        limited = subprocess.run(
            ["bash", "-c", f"ulimit -v 600000; exec '{BINARY}' batch batch.toml --out out --resume --threads 4096"],
            cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(limited.returncode, 2, limited.stderr)
        self.assertRegex(limited.stderr, r"^sluice: the system makes only \d+ of 4096 threads here \(.*\); allowed: fewer "
                                         r"\(--threads, on devices --lanes\)\n$")
        self.assertEqual([row["status"] for row in self.rows()], ["done", "done"])
        self.assertEqual(self.results("SELECT count(*) FROM results WHERE status = 'done'"), [(2,)])

    def test_a_slow_experiment_hides_neither_itself_nor_others(self):
        self.write("base.toml", BASE)
        self.write("batch.toml", "base = \"base.toml\"\nset = { fold = false }\n" + axis("workload.size", ["3GB", "10KB", "20KB", "30KB"]))
        child = subprocess.Popen([str(BINARY), "batch", "batch.toml", "--out", "out", "--threads", "2"], cwd=self.folder,
                                 stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        table = self.folder / "out" / "batch.csv"
        while not table.exists() or len(self.rows()) < 3:
            self.assertIsNone(child.poll())
            time.sleep(0.05)
        self.assertEqual([row["experiment"] for row in self.rows()], ["1", "2", "3"])
        # No terminal: a line after two seconds. 8 hosts that send one flow each.
        line = child.stderr.readline()
        self.assertRegex(line, r"^3 of 4 experiments, 3 done; 0 at [\d.]+ [mu]?s\n$")
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130)
        self.assertEqual([row["experiment"] for row in self.rows()], ["1", "2", "3"])

    def test_one_batch_at_a_time_in_a_folder(self):
        self.write("base.toml", BASE)
        self.write("batch.toml", "base = \"base.toml\"\n[[axis]]\nkey = \"seed\"\nrange = [1, 100000]\n")
        child = subprocess.Popen([str(BINARY), "batch", "batch.toml", "--out", "out", "--quiet"], cwd=self.folder)
        while not (self.folder / "out" / "batch.csv").exists():
            time.sleep(0.01)
        self.refuse("batch", "batch.toml", "--out", "out", "--resume", says="out: another run is writing into this folder")
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(timeout=60), 130)

    def test_nothing_finished_is_lost(self):
        self.write("base.toml", BASE.replace("100KB", "300KB"))
        self.write("batch.toml", "base = \"base.toml\"\n[[axis]]\nkey = \"seed\"\nrange = [1, 400]\n")
        expected = self.sluice("batch", "batch.toml", "--out", "whole", "--threads", "2")
        self.assertEqual(expected.returncode, 0)
        draw = random.Random(1)
        resumed = 0
        for _ in range(8):
            child = subprocess.Popen([str(BINARY), "batch", "batch.toml", "--out", "out", "--resume", "--quiet"],
                                     cwd=self.folder, stderr=subprocess.DEVNULL)
            time.sleep(draw.uniform(0.02, 0.15))
            child.send_signal(signal.SIGKILL)
            child.wait()
            database = self.folder / "out" / "batch.db"
            if not database.exists():
                continue
            opened = sqlite3.connect(database)
            try:
                (there,) = opened.execute("SELECT count(*) FROM sqlite_master").fetchone()
                finished = opened.execute("SELECT count(*) FROM experiments").fetchone()[0] if there else 0
            finally:
                opened.close()
            self.assertGreaterEqual(finished, resumed)
            resumed = finished
        self.assertGreater(resumed, 0)
        last = self.sluice("batch", "batch.toml", "--out", "out", "--resume")
        self.assertEqual(last.returncode, 0, last.stderr)
        self.assertEqual(self.settled(), self.settled("whole"))

    def test_interrupted(self):
        self.write("base.toml", BASE.replace("100KB", "1MB"))
        self.write("batch.toml", "base = \"base.toml\"\n[[axis]]\nkey = \"seed\"\nrange = [1, 100000]\n")
        child = subprocess.Popen([str(BINARY), "batch", "batch.toml", "--out", "out"], cwd=self.folder,
                                 stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        while not (self.folder / "out" / "batch.csv").exists() or len(self.rows()) < 2:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130)
        self.assertIn("use --resume to continue", errors)
        self.assertGreaterEqual(len(self.rows()), 2)
        self.assertFalse(list(self.folder.rglob("*.partial")))

    def test_foreign_and_damaged_databases_are_refused(self):
        self.write("base.toml", BASE)
        self.write("batch.toml", "base = \"base.toml\"\n" + axis("seed", [1, 2]))
        (self.folder / "out").mkdir()
        foreign = sqlite3.connect(self.folder / "out" / "batch.db")
        foreign.execute("CREATE TABLE mine(x)")
        foreign.commit()
        foreign.close()
        for content, said in ((None, "is a database of something else"), (b"no database at all" * 100, "is damaged")):
            if content is not None:
                (self.folder / "out" / "batch.db").write_bytes(content)
            before = (self.folder / "out" / "batch.db").read_bytes()
            result = self.sluice("batch", "batch.toml", "--out", "out", "--anew")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(said, result.stderr)
            self.assertEqual((self.folder / "out" / "batch.db").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()

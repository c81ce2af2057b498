# SPDX-License-Identifier: Apache-2.0
"""`sluice batch --memo`: all experiments begin with one memo, which gets what they learn."""
import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from batch_support import BatchTest, axis
from support import BINARY

NETWORK = """\
name = "lone"
[topology]
type = "leaf-spine"
leaves = 2
spines = 1
hosts_per_leaf = 4
rate = "400Gbps"
[congestion]
law = "hpcc"
[workload]
type = "flows"
list = [[0, 7, "{size}", "1ms"], [0, 7, "{size}", "5ms"], [0, 7, "{size}", "9ms"], [0, 7, "{size}", "13ms"]]
"""
SEEDS = [1, 2, 3, 4, 5]


class BatchMemo(BatchTest):
    def setUp(self):
        super().setUp()
        self.write("base.toml", NETWORK.format(size="100MB"))
        self.text = "base = \"base.toml\"\n" + axis("congestion.law", ["hpcc", "dctcp"]) + axis("seed", SEEDS)
        self.write("batch.toml", self.text)

    def teach(self, name="memo.sqlite"):
        """A memo of one run."""
        self.succeed("run", "base.toml", "--quiet", "--out", "taught", "--memo", name)

    def with_memo(self, out, *options, memo="memo.sqlite", code=0):
        result = self.sluice("batch", "batch.toml", "--out", out, "--memo", memo, *options)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def entries(self, name="memo.sqlite"):
        """All that a memo says, but for when it was saved."""
        with contextlib.closing(sqlite3.connect(self.folder / name)) as database:
            return database.execute("SELECT digest, bytes FROM entries ORDER BY digest").fetchall()

    def in_shards(self, out, order, count, **named):
        for number in order:
            said = self.with_memo(out, "--shard", f"{number}/{count}", **named)
            self.assertIn("what was learned is added by --merge", said.stdout)
        return self.with_memo(out, "--merge", **named)

    def test_rows_depend_on_the_snapshot_alone(self):
        self.teach("start.sqlite")
        tables, memos = [], []
        for name, count, order in (("whole", 0, ()), ("one", 1, (1,)), ("two", 2, (2, 1)), ("five", 5, (3, 1, 5, 2, 4)),
                                   ("reverse", 5, (5, 4, 3, 2, 1))):
            shutil.copy(self.folder / "start.sqlite", self.folder / f"{name}.sqlite")
            if count:
                self.in_shards(name, order, count, memo=f"{name}.sqlite")
            else:
                self.with_memo(name, memo=f"{name}.sqlite")
            tables.append(self.settled(name))
            memos.append(self.entries(f"{name}.sqlite"))
        self.assertEqual(len(tables[0]), 10)
        for table, memo in zip(tables, memos):
            self.assertEqual(table, tables[0])
            self.assertEqual(memo, memos[0])
        self.assertGreater(len(memos[0]), len(self.entries("start.sqlite")))
        # One that runs alone with a copy of the memo has the same times.
        shutil.copy(self.folder / "start.sqlite", self.folder / "copy.sqlite")
        self.succeed("run", "base.toml", "--quiet", "--out", "alone", "--memo", "copy.sqlite", "--set", "seed=2")
        self.with_memo("folders", "--folders", memo="start.sqlite")
        self.assertEqual((self.folder / "alone" / "flows.csv").read_bytes(),
                         (self.folder / "folders" / "runs" / "1" / "flows.csv").read_bytes())

    def test_what_one_batch_has_learned_the_next_one_knows(self):
        said = self.with_memo("cold").stdout
        self.assertRegex(said, r"memo         0 entries at the beginning; [1-9]\d* entr(y|ies) and [1-9]\d* samples? added to")
        said = self.with_memo("warm").stdout
        self.assertRegex(said, r"memo         [1-9]\d* entr(y|ies) at the beginning, used for [1-9]\d* skips; 0 entries and 0")
        hops = [sum(int(row["packet_hops"]) for row in self.rows(name)) for name in ("cold", "warm")]
        self.assertLess(hops[1], 0.9 * hops[0])
        # Nothing of the others is seen: cold rows are those without any memo.
        self.succeed("batch", "batch.toml", "--out", "none")
        self.assertEqual(self.settled("cold"), self.settled("none"))

    def test_a_resumed_batch_begins_with_what_it_began_with(self):
        self.teach()
        self.with_memo("out")
        learned = self.entries()
        known = self.rows()
        self.write("batch.toml", self.text.replace("5]", "5, 6]"))
        said = self.with_memo("out", "--resume").stdout
        self.assertIn("known        10 from an earlier run", said)
        self.assertEqual([row for row in self.rows() if row["seed"] != "6"],
                         [{**row, "experiment": str(int(row["experiment"]) + (int(row["experiment"]) >= 5))} for row in known])
        (digests,) = {tuple(self.results("SELECT DISTINCT memo FROM results"))}
        self.assertEqual([len(digest) for digest, in digests], [32])
        # Anew it begins with what the memo has now, which are other experiments.
        self.with_memo("out", "--anew")
        self.assertNotEqual(tuple(self.results("SELECT DISTINCT memo FROM results")), digests)
        self.assertGreaterEqual(len(self.entries()), len(learned))

    def test_without_the_memo_they_are_other_experiments(self):
        self.teach()
        self.with_memo("out", "--shard", "1/1")
        said = self.sluice("batch", "batch.toml", "--out", "out", "--merge")
        self.assertEqual(said.returncode, 3)
        self.assertIn("10 results, not of this batch", said.stdout)
        self.assertEqual(said.stderr, "sluice: out/memo-start.sqlite is of experiments that began with a memo; without "
                                      "--memo these are not of this batch\n")

    def test_shards_that_began_without_the_memo_are_told(self):
        self.teach()
        for number in (1, 2):
            self.succeed("batch", "batch.toml", "--out", "out", "--shard", f"{number}/2")
        said = self.with_memo("out", "--merge", code=3)
        self.assertEqual(said.stderr, "sluice: 10 results of experiments that began with another memo, or with none, do not "
                                      "count; allowed: the --memo that they had\n")

    def test_another_file_gets_what_is_learned_and_is_told(self):
        self.teach()
        self.with_memo("out")
        self.assertEqual(self.with_memo("out", "--resume").stderr, "")
        self.assertEqual(self.with_memo("out", "--resume", memo=str(self.folder / "." / "memo.sqlite")).stderr, "")
        said = self.with_memo("out", "--resume", memo="second.sqlite")
        self.assertEqual(said.stderr, f"sluice: the batch began with the memo {self.folder}/memo.sqlite; second.sqlite gets "
                                      "what it has learned\n")
        self.assertGreater(len(self.entries("second.sqlite")), 0)
        # The same of shards.
        self.with_memo("parts", "--shard", "1/1")
        said = self.with_memo("parts", "--merge", memo="third.sqlite")
        self.assertIn("the batch began with the memo", said.stderr)
        # Anew it is the batch's memo.
        self.assertEqual(self.with_memo("out", "--anew", memo="second.sqlite").stderr, "")

    def test_a_batch_that_left_no_row_leaves_no_memo(self):
        self.teach("first.sqlite")
        (self.folder / "out").mkdir()
        shutil.copy(self.folder / "first.sqlite", self.folder / "out" / "memo-start.sqlite")
        said = self.with_memo("out", memo="empty.sqlite")
        self.assertIn("0 entries at the beginning", said.stdout)

    def test_the_usual_memo_and_none(self):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}

        def with_cache(*words):
            done = subprocess.run([BINARY, *words], cwd=self.folder, env=environment, capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

        with_cache("run", "base.toml", "--out", "taught")
        (usual,) = (self.folder / "cache/sluice").glob("memo-*.sqlite")
        shutil.rmtree(self.folder / "cache")
        with_cache("batch", "batch.toml", "--out", "out", "--memo", usual)
        self.assertGreater(len(self.entries(usual)), 0)
        self.refuse("batch", "batch.toml", "--memo", "", says=("--memo", "must not be empty"))
        self.refuse("run", "base.toml", "--out", "", says=("--out", "must not be empty"))

    def test_an_older_format_can_be_replaced(self):
        self.succeed("batch", "batch.toml", "--out", "out")
        with contextlib.closing(sqlite3.connect(self.folder / "out/batch.db")) as database, database:
            database.execute("PRAGMA user_version=2")
            database.execute("ALTER TABLE results DROP COLUMN memo")
        before = (self.folder / "out/batch.db").read_bytes()
        for option in ("--resume", "--quiet"):
            self.refuse("batch", "batch.toml", "--out", "out", option, says=("out/batch.db", "--anew replaces it"))
        self.assertEqual((self.folder / "out/batch.db").read_bytes(), before)
        self.succeed("batch", "batch.toml", "--out", "out", "--anew")
        self.assertEqual(len(self.rows()), 10)

    def test_a_killed_shard_loses_nothing_that_finished(self):
        self.write("base.toml", NETWORK.format(size="100MB"))
        self.write("batch.toml", "base = \"base.toml\"\n" + axis("seed", list(range(1, 41))))
        self.teach("start.sqlite")
        for name in ("memo", "whole"):
            shutil.copy(self.folder / "start.sqlite", self.folder / f"{name}.sqlite")
        command = [str(BINARY), "batch", "batch.toml", "--out", "out", "--shard", "1/2", "--threads", "1", "--memo",
                   "memo.sqlite", "--set", "congestion.law=\"dcqcn\""]
        database = self.folder / "out" / "shards" / "1-of-2" / "batch.db"

        def counted(table):
            try:
                with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
                    return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            except sqlite3.OperationalError:
                return 0
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}) as process:
            while counted("results") < 3 and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
        kept = counted("results")
        self.assertGreaterEqual(kept, 3)
        self.assertGreaterEqual(counted("learned"), 1)
        law = ("--set", "congestion.law=\"dcqcn\"")
        said = self.with_memo("out", "--shard", "1/2", "--resume", *law).stdout
        self.assertIn(f"known        {kept} from an earlier run", said)
        self.with_memo("out", "--shard", "2/2", *law)
        self.with_memo("out", "--merge", *law)
        self.with_memo("undivided", *law, memo="whole.sqlite")
        self.assertEqual(self.settled("out"), self.settled("undivided"))
        self.assertEqual(self.entries("memo.sqlite"), self.entries("whole.sqlite"))

    def test_what_is_no_memo(self):
        self.write("text.sqlite", "no database at all\n" * 100)
        for name, says in (("text.sqlite", "is not a memo"), ("nowhere/memo.sqlite", "its folder does not exist"),
                           (".", "regular file")):
            self.refuse("batch", "batch.toml", "--out", "out", "--memo", name, says=(name, says))
            self.assertFalse((self.folder / "out").exists())
        self.teach()
        self.with_memo("out")
        snapshot = self.folder / "out" / "memo-start.sqlite"
        before = snapshot.read_bytes()
        self.assertEqual(snapshot.stat().st_mode & 0o777, 0o444)
        for name in ("out/memo-start.sqlite", "out/batch.db", "out/../out/batch.csv", str(self.folder / "out/check.csv")):
            self.refuse("batch", "batch.toml", "--out", "out", "--memo", name, "--resume",
                        says=(name, "a batch keeps its own in that file"))
        self.refuse("batch", "batch.toml", "--out", "other", "--memo", "out/memo-start.sqlite", says="keeps its own")
        self.assertEqual(snapshot.read_bytes(), before)
        snapshot.chmod(0o644)
        self.write("out/memo-start.sqlite", before[:3000])
        self.refuse("batch", "batch.toml", "--out", "out", "--memo", "memo.sqlite", "--resume",
                    says=("out/memo-start.sqlite", "is damaged"))
        self.with_memo("out", "--anew")
        self.assertEqual(self.succeed("batch", "batch.toml", "--out", "out", "--anew").stderr, "")
        self.assertFalse(snapshot.exists())

    def test_damaged_entries_are_passed_over(self):
        self.teach()
        with contextlib.closing(sqlite3.connect(self.folder / "memo.sqlite")) as database, database:
            database.execute("UPDATE entries SET checksum = checksum + 1")
            (number,), = database.execute("SELECT count(*) FROM entries").fetchall()
        said = self.with_memo("out")
        self.assertIn("memo         0 entries at the beginning;", said.stdout)
        noun = "entry is" if number == 1 else "entries are"
        self.assertEqual(said.stderr, f"sluice: memo.sqlite: {number} {noun} damaged and ignored\n")

    def test_modes_that_remember_nothing(self):
        self.write("batch.toml", "base = \"base.toml\"\n" + axis("mode", ["flow", "wormhole", "hybrid"]))
        self.teach()
        said = self.with_memo("out")
        self.assertEqual([row["status"] for row in self.rows()], ["done"] * 3)
        self.assertIn("at the beginning, used for", said.stdout)
        self.succeed("batch", "batch.toml", "--out", "none")
        with_memo, without = self.settled("out"), self.settled("none")
        self.assertEqual(with_memo[0], without[0])
        self.assertEqual(with_memo[2], without[2])
        self.assertNotEqual(with_memo[1]["packet_hops"], without[1]["packet_hops"])

    def test_the_array_script_names_it(self):
        said = self.succeed("batch", "batch.toml", "--out", "out", "--emit-slurm", 2, "--memo", "my memo.sqlite").stdout
        self.assertEqual(said.count(f"--memo '{self.folder}/my memo.sqlite'"), 2, said)


if __name__ == "__main__":
    unittest.main()

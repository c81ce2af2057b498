# SPDX-License-Identifier: Apache-2.0
"""`sluice batch --shard`, `--merge` and `--emit-slurm`: a batch on several machines."""
import os
import signal
import sqlite3
import subprocess
import time
import unittest

from batch_support import BASE, BatchTest, TRAINING, axis
from support import BINARY

HEAD = "base = \"base.toml\"\nset = { mode = \"flow\" }\n"


class BatchShards(BatchTest):
    def shard(self, number, count, *options, code=0):
        result = self.sluice("batch", "batch.toml", "--out", "out", "--shard", f"{number}/{count}", *options)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def merge(self, *options, code=0):
        result = self.sluice("batch", "batch.toml", "--out", "out", "--merge", *options)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def whole(self):
        result = self.sluice("batch", "batch.toml", "--out", "whole", "--anew")
        self.assertIn(result.returncode, (0, 3))
        return self.settled("whole")

    def prepare(self, text):
        self.write("base.toml", BASE)
        self.write("batch.toml", text)

    def test_merged_shards_are_the_batch(self):
        self.prepare(HEAD + axis("congestion.law", ["hpcc", "dctcp"]) + axis("seed", [1, 2, 3, 4, 5]))
        for number in (3, 1, 2):
            said = self.shard(number, 3).stdout
            self.assertIn(f"{(3, 4, 3)[number % 3]} of {(3, 4, 3)[number % 3]} experiments", said)
            self.assertIn(f"out/shards/{number}-of-3/batch.csv", said)
        said = self.merge().stdout
        self.assertIn("merged       10 new results of shards", said)
        self.assertEqual(self.settled(), self.whole())
        # Again, and with other shards of the same: each result once.
        self.shard(1, 2)
        self.assertNotIn("merged", self.merge().stdout)
        self.assertEqual(self.results("SELECT count(*), count(DISTINCT digest) FROM results"), [(10, 10)])
        self.assertEqual(self.settled(), self.whole())
        # And it goes on as any batch.
        said = self.sluice("batch", "batch.toml", "--out", "out", "--resume", "--check", 2)
        self.assertIn("known        10 from an earlier run", said.stdout)

    def test_what_no_shard_has_is_missing(self):
        self.prepare(HEAD + axis("seed", [1, 2, 3, 4]))
        self.shard(2, 2)
        said = self.merge(code=3).stdout
        self.assertIn("2 of 4 experiments", said)
        self.assertIn("missing      2 experiments of shard 1/2, which has not run\n", said)
        self.assertEqual([row["experiment"] for row in self.rows()], ["1", "3"])
        self.shard(1, 2)
        said = self.merge().stdout
        self.assertIn("merged       2 new results of shards\n  known        2 from an earlier run\n", said)
        self.assertNotIn("missing", said)
        self.assertEqual(self.settled(), self.whole())

    def test_which_shards_are_missing(self):
        self.prepare(HEAD + axis("seed", list(range(1, 24))))
        for number in (2, 5):
            self.shard(number, 11)
        self.shard(1, 2)  # the other division has more shards
        said = self.merge(code=3).stdout
        for number, count in ((2, 1), (4, 1), (6, 1), (8, 1), (10, 1)):
            line = f"missing      {count} experiment of shard {number}/11, which has not run\n"
            self.assertEqual(line in said, number != 2, said)
        # A shard that was cut off.
        database = self.folder / "out" / "shards" / "5-of-11" / "batch.db"
        connection = sqlite3.connect(database)
        connection.execute("DELETE FROM results WHERE varied = 'seed = 16'")
        connection.commit()
        connection.close()
        (self.folder / "out" / "batch.db").unlink()
        self.assertIn("missing      1 experiment of shard 5/11, which is not complete\n", self.merge(code=3).stdout)

    def test_refusals_and_memory_are_merged_too(self):
        self.write("base.toml", TRAINING)
        self.write("batch.toml", HEAD + axis("workload.dp", [8, "none"]).replace("'", "\"") +
                   axis("workload.gpu", ["H100", "A100"]))
        for number in (1, 2):
            self.shard(number, 2, code=3)
        for _ in range(2):
            self.merge(code=3)
            whole = self.whole()
            self.assertEqual([row["status"] for row in whole], ["oom", "oom", "refused", "refused"])
            self.assertEqual(self.settled(), whole)
        # A shard that ran what does not fit: both are kept, and what is asked for is shown.
        self.shard(1, 1, "--allow-oom", code=3)

        self.merge("--allow-oom", code=3)
        self.assertEqual([row["status"] for row in self.rows()], ["done", "done", "refused", "refused"])
        self.merge(code=3)
        self.assertEqual(self.settled(), whole)

    def test_keys_that_do_not_fit_their_base(self):
        self.prepare(HEAD + "[[axis]]\nkey = \"seed.x\"\nvalues = [1, 2]\n")
        self.shard(1, 1, code=3)
        self.shard(1, 2, code=3)
        for _ in range(2):
            self.merge(code=3)
            self.assertEqual(self.settled(), self.whole())
            self.assertEqual(self.results("SELECT count(*) FROM results"), [(2,)])

    def test_a_killed_shard_goes_on(self):
        self.write("base.toml", BASE.replace("100KB", "20MB"))
        self.write("batch.toml", "base = \"base.toml\"\n" + axis("seed", list(range(1, 25))))
        command = [str(BINARY), "batch", "batch.toml", "--out", "out", "--shard", "1/2", "--threads", "1", "--resume"]
        database = self.folder / "out" / "shards" / "1-of-2" / "batch.db"

        def finished():
            try:
                connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
                try:
                    return connection.execute("SELECT count(*) FROM results").fetchone()[0]
                finally:
                    connection.close()
            except sqlite3.OperationalError:
                return 0
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}) as process:
            while finished() < 2 and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        kept = finished()
        self.assertGreaterEqual(kept, 2)
        self.shard(2, 2)
        merged = self.merge(code=3 if kept < 12 else 0).stdout
        self.assertIn(f"merged       {12 + kept} new results", merged)
        self.assertNotIn("known", merged)
        self.assertEqual("missing      " in merged, kept < 12, merged)
        said = self.shard(1, 2, "--resume").stdout
        self.assertIn(f"known        {kept} from an earlier run", said)
        self.merge()
        self.assertEqual(self.settled(), self.whole())

    def test_bad_input(self):
        self.prepare(HEAD + axis("seed", [1, 2]))
        for text in ("0/2", "3/2", "2", "a/b", "1/0", "1/2/3", "-1/2", "1/9999999"):
            self.refuse("batch", "batch.toml", "--shard", text, says=["--shard", "must be I/N"])
        self.refuse("batch", "batch.toml", "--out", "out", "--merge", says="has no shards to merge")
        self.refuse("batch", "batch.toml", "--merge", "--resume", says="--resume excludes --merge")
        self.refuse("batch", "batch.toml", "--merge", "--shard", "1/2", says="excludes")
        self.shard(1, 2)
        refused = self.shard(1, 2, code=2)
        self.assertIn("--resume continues it", refused.stderr)
        alien = self.folder / "out" / "shards" / "2-of-2" / "batch.db"
        alien.parent.mkdir()
        connection = sqlite3.connect(alien)
        connection.execute("CREATE TABLE x(y)")
        connection.close()
        self.refuse("batch", "batch.toml", "--out", "out", "--merge", says="is a database of something else")

    def test_no_task_is_idle(self):
        self.prepare(HEAD + axis("seed", [1, 2, 3]))
        said = self.succeed("batch", "batch.toml", "--emit-slurm", 16)
        self.assertIn("#SBATCH --array=1-3\n", said.stdout)
        self.assertIn("--shard \"$SLURM_ARRAY_TASK_ID/3\"", said.stdout)
        self.assertEqual(said.stderr, "sluice: 3 experiments make 3 shards, not 16\n")

    def test_the_array_script(self):
        self.prepare(HEAD + axis("seed", list(range(1, 8))))
        script = self.succeed("batch", "batch.toml", "--out", "o ut", "--emit-slurm", 3, "--threads", 2,
                              "--set", "congestion.law=\"dctcp\"").stdout
        self.write("job's.sh", script)
        self.assertEqual(subprocess.run(["bash", "-n", "job's.sh"], cwd=self.folder, check=False).returncode, 0)
        for line in ("#SBATCH --array=1-3", "#SBATCH --cpus-per-task=2", "#SBATCH --job-name=batch"):
            self.assertIn(line + "\n", script)
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        environment.pop("SLUICE", None)
        for task in ("1", "2", "3"):
            ran = subprocess.run(["sh", self.folder / "job's.sh"], cwd="/", env={**environment, "SLURM_ARRAY_TASK_ID": task},
                                 capture_output=True, text=True, check=False)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stderr)
        merged = subprocess.run(["sh", self.folder / "job's.sh", "merge"], cwd="/", env=environment, capture_output=True,
                                text=True, check=False)
        self.assertEqual(merged.returncode, 0, merged.stderr)
        self.succeed("batch", "batch.toml", "--out", "whole", "--set", "congestion.law=\"dctcp\"")
        self.assertEqual(self.settled("o ut"), self.settled("whole"))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""What the tests of `sluice batch` share."""
import csv
import sqlite3

from support import CliTest

BASE = """\
name = "base"
mode = "packet"
[topology]
type = "star"
hosts = 8
rate = "100Gbps"
[workload]
type = "permutation"
size = "100KB"
"""
TRAINING = """\
mode = "flow"
[topology]
type = "rail-optimized"
gpus = 64
gpus_per_server = 8
servers_per_segment = 8
[workload]
type = "training"
model = "gpt-175b"
tp = 8
pp = 1
dp = 8
gpu = "H100"
micro_batches = 1
"""
CLOCKS = {"wall_s", "cpu_s"}


def axis(key, values):
    return f"[[axis]]\nkey = \"{key}\"\nvalues = {values}\n"


class BatchTest(CliTest):
    def rows(self, folder="out"):
        with open(self.folder / folder / "batch.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def settled(self, folder="out"):
        """Rows without what a clock measured."""
        return [{key: value for key, value in row.items() if key not in CLOCKS} for row in self.rows(folder)]

    def batch(self, text, *options, code=0):
        self.write("batch.toml", text)
        result = self.sluice("batch", "batch.toml", "--out", "out", *options)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def results(self, query, folder="out"):
        database = sqlite3.connect(self.folder / folder / "batch.db")
        try:
            found = database.execute(query).fetchall()
            database.commit()
        finally:
            database.close()
        return found

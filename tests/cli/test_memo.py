#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sluice memo` from outside, on files written here as docs/memo.md says."""
import contextlib
import os
import pathlib
import sqlite3
import struct
import subprocess
import time
import unittest

from support import BINARY, SMALL, CliTest, mixed

APPLICATION = 0x536C754D  # "SluM"
DAY = 86400


def checksum(data):
    """core/checksum.h's."""
    total = mixed(len(data))
    for at in range(0, len(data), 8):
        total = mixed(total ^ int.from_bytes(data[at:at + 8], "little"))
    return total


def varint(word):
    data = b""
    while word >= 0x80:
        data += bytes([word & 0x7F | 0x80])
        word >>= 7
    return data + bytes([word])


def numbers(values):
    """As differences to zero."""
    zigzag = [2 * value if value >= 0 else -2 * value - 1 for value in values]
    return varint(len(values)) + b"\0" + b"".join(map(varint, zigzag))


def entry_bytes(kind, facts, samples, audits):
    """`samples`: (count, numbers), by content. Not deflated: the first byte."""
    data = bytes([0, kind]) + numbers(facts) + varint(len(samples))
    for count, values in samples:
        data += varint(count) + numbers(values)
    data += varint(len(audits))
    for audit in audits:
        data += varint(len(audit)) + struct.pack(f"<{len(audit)}d", *audit)
    return data


def row(high, low, data, saved):
    key = struct.pack(">QQ", high, low)
    total = checksum(key + struct.pack(">q", saved) + data)
    return key, saved, data, total - (1 << 64 if total >> 63 else 0)


def write_memo(path, rows, results="7", version=1):
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute(f"PRAGMA application_id={APPLICATION}")
        database.execute(f"PRAGMA user_version={version}")
        database.execute("CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
        database.execute("CREATE TABLE entries(digest BLOB PRIMARY KEY, saved INTEGER, bytes BLOB, "
                         "checksum INTEGER)")
        database.execute("INSERT INTO meta VALUES('results', ?)", (results,))
        database.executemany("INSERT INTO entries VALUES(?, ?, ?, ?)", rows)


class MemoTest(CliTest):
    def setUp(self):
        super().setUp()
        now = int(time.time())
        self.rows = [
            row(1, 0xAB, entry_bytes(0, [7, -8, 9], [(2, [1, 2]), (1, [1, 3])], [[0.5, 2.0]]), now),
            row(2, 0xCD, entry_bytes(1, range(10), [(1, [])], []), now - 10 * DAY),
            row(3, 0xEF, entry_bytes(1, [], [(1, [-1 << 63, (1 << 63) - 1])], []), now - 20 * DAY),
        ]
        self.memo = str(self.folder / "memo.sqlite")
        write_memo(self.memo, self.rows)

    def listed(self, *arguments):
        return self.succeed("memo", "list", *arguments).stdout.splitlines()

    def test_stats(self):
        text = self.succeed("memo", "stats", "--memo", self.memo).stdout
        size = pathlib.Path(self.memo).stat().st_size
        self.assertEqual(text.splitlines(), [
            f"memo      {self.memo}",
            "versions  format 1, results 7",
            f"size      {size} bytes",
            "entries   3: 1 episodes, 2 transients, 0 beginnings, 0 trajectories",
            "samples   5, 4 of them different",
            "audits    1",
        ])

    def test_list(self):
        today = time.strftime("%Y-%m-%d", time.gmtime())
        lines = self.listed("--memo", self.memo)
        self.assertEqual(len(lines), 3)
        self.assertEqual(
            lines[0], f"{1:016x}{0xab:016x} episode   {today}  3 samples,  1 audits, 3 facts: 7 -8 9")
        self.assertTrue(lines[1].endswith("10 facts: 0 1 2 3 4 5 ..."), lines[1])
        self.assertTrue(lines[2].endswith("transient " + lines[2][43:53] +
                                          "  1 samples,  0 audits, 0 facts"), lines[2])

    def test_default_file_is_in_the_cache_folder(self):
        folder = self.folder / "cache/sluice"
        folder.mkdir(parents=True)
        pathlib.Path(self.memo).rename(folder / "memo-7.sqlite")
        env = {"XDG_CACHE_HOME": str(self.folder / "cache")}
        result = self.sluice("memo", "stats", env=env)
        self.assertIn(f"memo      {folder}/memo-7.sqlite\n", result.stdout)
        result = self.sluice("memo", "stats", env={"XDG_CACHE_HOME": "", "HOME": ""})
        self.assertEqual(result.returncode, 2)
        self.assertIn("give --memo FILE", result.stderr)

    def test_merge(self):
        other = str(self.folder / "other.sqlite")
        write_memo(other, [
            row(1, 0xAB, entry_bytes(0, [7, -8, 9], [(1, [1, 2]), (1, [1, 4])], []), 1),
            row(9, 9, entry_bytes(0, [1], [(1, [5])], []), 1),
        ])
        text = self.succeed("memo", "merge", other, "--memo", self.memo).stdout
        self.assertIn("1 entries, 2 samples and 0 audits that", text)
        lines = self.listed("--memo", self.memo)
        self.assertEqual(len(lines), 4)
        self.assertIn(" 4 samples,", lines[0])
        self.assertIn("0 entries, 0 samples",
                      self.succeed("memo", "merge", other, "--memo", self.memo).stdout)
        # A new memo of both; none if one is refused.
        new = str(self.folder / "new.sqlite")
        self.refuse("memo", "merge", other, "none.sqlite", "--memo", new, says="none.sqlite: does not")
        self.assertFalse(pathlib.Path(new).exists())
        self.succeed("memo", "merge", other, self.memo, "--memo", new)
        self.assertEqual(len(self.listed("--memo", new)), 4)

    def test_prune(self):
        for wrong, says in (((), "needs --older DAYS, --most N or --all"),
                            (("--all", "--most", "1"), "takes neither"),
                            (("--older", "-1"), "--older"), (("--most", "x"), "--most")):
            self.refuse("memo", "prune", *wrong, "--memo", self.memo, says=says)
        self.assertIn("1 entries removed",
                      self.succeed("memo", "prune", "--older", "15", "--memo", self.memo).stdout)
        self.assertIn("1 entries removed",
                      self.succeed("memo", "prune", "--most", "1", "--memo", self.memo).stdout)
        lines = self.listed("--memo", self.memo)
        self.assertEqual(len(lines), 1)
        self.assertTrue(lines[0].startswith(f"{1:016x}"))
        self.succeed("memo", "prune", "--all", "--memo", self.memo)
        self.assertEqual(self.listed("--memo", self.memo), [])

    def test_other_versions(self):
        for results, version, says in (("0", 1, "has results of version 0 of the engine, not 7"),
                                       ("1", 2, "is a memo of format 2, not 1")):
            other = str(self.folder / f"other-{version}.sqlite")
            write_memo(other, self.rows, results, version)
            self.refuse("memo", "stats", "--memo", other, says=(other, says, "prune --all"))
            self.succeed("memo", "prune", "--all", "--memo", other)
            self.assertIn("entries   0", self.succeed("memo", "stats", "--memo", other).stdout)

    def test_damage(self):
        damaged = [self.rows[0], (*self.rows[1][:3], 12345), self.rows[2]]
        memo = str(self.folder / "damaged.sqlite")
        write_memo(memo, damaged)
        self.assertIn("damaged   1 entries", self.succeed("memo", "stats", "--memo", memo).stdout)
        self.assertIn("1 entries removed",
                      self.succeed("memo", "prune", "--most", "100", "--memo", memo).stdout)
        self.assertNotIn("\ndamaged", self.succeed("memo", "stats", "--memo", memo).stdout)
        content = bytearray(pathlib.Path(memo).read_bytes())
        content[200:5000] = bytes(4800)
        pathlib.Path(memo).write_bytes(content)
        self.refuse("memo", "stats", "--memo", memo, says="is damaged")

    def test_what_is_no_memo(self):
        self.write("scenario.toml", "name = 1\n")
        os.mkfifo(self.folder / "pipe")
        for name, says in (("scenario.toml", "is not a memo of sluice"), (".", "regular file"),
                           ("/dev/null", "regular file"), ("pipe", "regular file"),
                           ("none", "does not exist")):
            for command in (("stats",), ("list",), ("prune", "--all"), ("merge", self.memo)):
                if (name, command[0]) == ("none", "merge"):
                    continue
                self.refuse("memo", *command, "--memo", name, says=(name, says))

    def test_a_run_harms_nothing_that_is_no_memo(self):
        self.write("small.toml", SMALL)
        run = ("run", "small.toml", "--mode", "wormhole", "--set", "phases.episodes=true", "--quiet",
               "--out", "out", "--memo")
        self.succeed(*run, "good")
        whole = (self.folder / "good").read_bytes()
        os.symlink("good", self.folder / "link")
        os.symlink("nowhere", self.folder / "dangling")
        os.symlink("/dev/full", self.folder / "full")
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        for name, content in (("half", whole[:5000]), ("page", whole[:50]),
                              ("text", b"hello world\n" * 1000), ("beside", whole),
                              ("both", b"hello world\n" * 1000),
                              ("beside-journal", b"my diary\n"), ("both-wal", b"my diary\n"),
                              ("new-journal", b"my diary\n" * 100)):
            (self.folder / name).write_bytes(content)
        with contextlib.closing(sqlite3.connect(self.folder / "theirs")) as database, database:
            database.execute("CREATE TABLE diary(day)")
        (self.folder / "theirs-journal").write_bytes(b"my diary\n")

        def there():
            return {path.name: (path.lstat().st_mode,
                                path.read_bytes() if path.is_file() else None)
                    for path in self.folder.iterdir() if path.name != "out"}

        before = there()
        for name, says in (("link", "symbolic link"), ("dangling", "symbolic link"),
                           ("full", "symbolic link"), ("folder", "regular file"),
                           ("pipe", "regular file"), ("/dev/full", "regular file"),
                           ("half", "is damaged"), ("page", "is not a memo"),
                           ("text", "is not a memo"), ("beside", "beside-journal: is not SQLite's"),
                           ("both", "both-wal: is not SQLite's"),
                           ("new", "new-journal: is not SQLite's"),
                           ("theirs", "theirs-journal: is not SQLite's")):
            self.refuse(*run, name, says=(name, says))
            self.assertEqual(there(), before, name)

    def test_a_file_that_may_only_be_read(self):
        os.chmod(self.folder, 0o755)
        os.chmod(self.memo, 0o444)
        root = os.geteuid() == 0
        user = {"user": 65534, "group": 65534, "extra_groups": []} if root else {}

        def run(*arguments):
            return subprocess.run([str(BINARY), *arguments, "--memo", self.memo], text=True,
                                  capture_output=True, timeout=60, check=False, **user)

        try:
            result = run("memo", "stats")
        except PermissionError:
            self.skipTest("the program is not everybody's to run")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("entries   3", result.stdout)
        other = str(self.folder / "other.sqlite")
        write_memo(other, [row(9, 9, entry_bytes(0, [1], [(1, [5])], []), 1)])
        os.chmod(other, 0o444)
        before = pathlib.Path(self.memo).read_bytes()
        result = run("memo", "merge", other)
        self.assertEqual(result.returncode, 2)
        self.assertIn("cannot be used as a database", result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertEqual(pathlib.Path(self.memo).read_bytes(), before)


if __name__ == "__main__":
    unittest.main()

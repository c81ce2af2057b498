# SPDX-License-Identifier: Apache-2.0
"""What the command-line tests share: running the program as a user does.

The program is $SLUICE_BIN (default: build/release/cli/sluice of the source tree)."""
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = SOURCE / "examples"
BINARY = pathlib.Path(
    os.environ.get("SLUICE_BIN", SOURCE / "build" / "release" / "cli" / "sluice")
).resolve()

SMALL = """\
name = "small"
[topology]
type = "star"
hosts = 4
[workload]
type = "permutation"
size = "100KB"
"""


def mixed(x):
    """core/random.h's step, of which core/checksum.h is made."""
    x = (x + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ x >> shift) * factor & 0xFFFFFFFFFFFFFFFF
    return x ^ x >> 31


def model_that_says(units):
    """The shipped model, but that its linear part says one depth for every queue."""
    shipped = (SOURCE / "restore/models/queues.model").read_bytes()
    header_size = struct.unpack("<I", shipped[12:16])[0]
    header = json.loads(shipped[16:16 + header_size])
    begin = 16 + header_size + 4 * header["weights"]
    rows = sum(header["linear"])
    inputs = (len(shipped) - 8 - begin) // 4 // rows
    made = shipped[:begin] + struct.pack(f"<{inputs}f", *[0.0] * (inputs - 1), units) * rows
    checksum = mixed(len(made))
    for at in range(0, len(made), 8):
        checksum = mixed(checksum ^ int.from_bytes(made[at:at + 8], "little"))
    return made + checksum.to_bytes(8, "little")


def catches(process_id, number):
    """Whether a process has a handler for a signal."""
    status = pathlib.Path(f"/proc/{process_id}/status").read_text()
    return bool(int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> (number - 1) & 1)


class CliTest(unittest.TestCase):
    """Each test has an empty working directory of its own."""

    def setUp(self):
        if not BINARY.exists():
            self.fail(f"no program at {BINARY}: set SLUICE_BIN")
        folder = tempfile.TemporaryDirectory(prefix="sluice-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text)
        return name

    def sluice(self, *arguments, timeout=120, env=()):
        return subprocess.run(
            [str(BINARY), *map(str, arguments)],
            cwd=self.folder,
            # Never the cache of who runs the tests.
            env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), **dict(env)},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )

    def succeed(self, *arguments, timeout=120):
        result = self.sluice(*arguments, timeout=timeout)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def refuse(self, *arguments, says=(), timeout=60):
        """Exit code 2 and exactly one line on standard error, holding every text of `says`."""
        result = self.sluice(*arguments, timeout=timeout)
        self.assertEqual(result.returncode, 2, (arguments, result.stdout, result.stderr))
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("sluice: "), result.stderr)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, result.stderr)
        return result

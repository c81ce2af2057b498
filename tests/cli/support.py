# SPDX-License-Identifier: Apache-2.0
"""What the command-line tests share: running the program as a user does.

The program is $SLUICE_BIN (default: build/release/cli/sluice of the source tree)."""
import os
import pathlib
import subprocess
import tempfile
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
            env={**os.environ, **dict(env)},
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

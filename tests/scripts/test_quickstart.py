#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ./quickstart installs and builds, by stand-ins for dpkg, apt and cmake."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
STUBS = {"dpkg-query": "exit 1", "apt-get": 'echo "apt-get $*" >> "$CALLS"', "cmake": 'echo "cmake $*" >> "$CALLS"', "id": "echo 0"}


class Quickstart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tree = self.folder / "tree"
        shutil.copytree(SOURCE / "scripts", self.tree / "scripts")
        shutil.copy(SOURCE / "quickstart", self.tree)
        (self.tree / "build/charts").mkdir(parents=True)
        (self.tree / "build/charts/echarts.min.js").write_text("there")
        (self.folder / "bin").mkdir()
        for name, text in STUBS.items():
            stub = self.folder / "bin" / name
            stub.write_text(f"#!/bin/sh\n{text}\n")
            stub.chmod(0o755)

    def quickstart(self, *arguments):
        """Its exit code, and the calls of apt-get and cmake."""
        calls = self.folder / "calls"
        calls.write_text("")
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run([str(self.tree / "quickstart"), *arguments], cwd=self.folder, text=True, capture_output=True,
                              check=False, env={**os.environ, "PATH": path, "CALLS": str(calls)})
        return done.returncode, calls.read_text()

    def test_libtorch_only_for_training(self):
        code, calls = self.quickstart("--build-only")
        self.assertEqual(code, 0)
        self.assertIn("install --no-install-recommends g++ cmake ", calls)
        self.assertNotIn("torch", calls)
        self.assertIn("-DSLUICE_CUDA=OFF", calls)
        code, calls = self.quickstart("--build-only", "--train")
        self.assertEqual(code, 0)
        self.assertIn(" libtorch-dev ", calls)
        self.assertIn("--target sluice_torch ", calls)

    def test_the_libraries_only_to_be_installed(self):
        _, calls = self.quickstart("--build-only")
        self.assertIn("--target sluice ", calls)
        self.assertNotIn("sluice_installed", calls)
        for wrong in (["--install"], ["--install", "--train"], ["--install", "/proc/nowhere"]):
            code, calls = self.quickstart(*wrong)
            self.assertNotEqual(code, 0)
            self.assertEqual(calls, "")
        code, calls = self.quickstart("--install", "some/where")
        self.assertEqual(code, 0)
        built, installed = calls.splitlines()[-2:]
        self.assertIn("--target sluice_installed ", built)
        self.assertEqual(installed, f"cmake --install {self.tree}/build/release --prefix some/where")

    def test_unknown_options(self):
        for arguments in (["--instal", "x"], ["--install"], ["--install", ""]):
            code, calls = self.quickstart(*arguments)
            self.assertEqual((code, calls), (2, ""), arguments)


if __name__ == "__main__":
    unittest.main()

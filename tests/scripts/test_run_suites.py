#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ./run-tests says of tests that pass, fail and are skipped, and its exit code."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "run_suites.py"
TESTS = """
add_test(unit.a.one "/bin/sh" "-c" "echo one of a")
add_test(unit.a.two "/bin/sh" "-c" "true")
add_test(unit.b.may_skip "/bin/sh" "-c" "echo 'skipped: no moon'")
set_tests_properties(unit.b.may_skip PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
add_test(cli.part "/bin/sh" "-c" "echo \\"test_x ... skipped 'no sun'\\"; echo 'OK (skipped=1)'")
"""
SPACES = """
add_test("Shop: a name with, what names may have" "/bin/sh" "-c" "true")
add_test("Shop: and a bad one" "/bin/sh" "-c" "false")
"""
FAILS = 'add_test(cli.bad "/bin/sh" "-c" "echo why it fails; exit 1")\n'


class RunSuites(unittest.TestCase):
    def run_script(self, tests, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "CTestTestfile.cmake").write_text(tests, encoding="utf-8")
            return subprocess.run([sys.executable, "-B", str(SCRIPT), *arguments], cwd=folder, text=True,
                                  capture_output=True, check=False)

    def test_a_line_per_suite(self):
        result = self.run_script(TESTS)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        lines = [" ".join(line.split()[:3]) for line in result.stdout.splitlines()]
        self.assertIn("unit.a 2 passed,", lines)
        self.assertIn("unit.b 0 passed,", lines)
        self.assertIn("skipped, unit.b.may_skip: no moon", result.stdout)
        self.assertIn("skipped, cli.part: no sun", result.stdout)
        self.assertIn("3 passed, 0 failed, 1 skipped", result.stdout)
        self.assertNotIn("one of a", result.stdout)

    def test_what_fails_is_shown(self):
        result = self.run_script(TESTS + FAILS)
        self.assertEqual(result.returncode, 8)
        self.assertIn("why it fails", result.stdout)
        self.assertIn("3 passed, 1 failed, 1 skipped", result.stdout)

    def test_names_with_spaces(self):
        result = self.run_script(SPACES)
        self.assertEqual(result.returncode, 8)
        self.assertIn("Shop: and a bad one: ***Failed", result.stdout)
        self.assertIn("1 passed, 1 failed, 0 skipped", result.stdout)

    def test_ctest_is_asked_for_other_things(self):
        result = self.run_script(TESTS, "-N")
        self.assertIn("Total Tests: 4", result.stdout)


if __name__ == "__main__":
    unittest.main()

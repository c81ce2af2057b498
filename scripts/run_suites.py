#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ctest in the current build folder and says a line per suite, not per test.

    cd build/release && ../../scripts/run_suites.py [ARGUMENTS OF CTEST]

What failed is shown whole, what was skipped with its reason; Testing/suites.log keeps ctest's own output. Ends with
ctest's exit code. With an argument that asks ctest for something else (-N, -V, --help, ...), ctest has the terminal."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

# 12/1162 Test  #12: unit.link.delay ......   Passed    0.01 sec
#  9/1162 Test #9: Snapshot: goes on ....***Failed    1.20 sec
ENDED = re.compile(r"^\s*(\d+)/(\d+) Test\s+#\d+: (\S.*?) \.+\s*(\**)([A-Za-z].*?)\s+([\d.]+) sec\s*$")
BEGUN = re.compile(r"^\s+Start\s+\d+: ")
REASON = re.compile(r"skipped:? *['\"]?([^'\"\n]+)")
OF_CTEST = {"-N", "-V", "-VV", "-Q", "--help", "--version", "--show-only", "--print-labels", "--verbose",
            "--extra-verbose", "--quiet"}
EVERY = 30  # seconds between two lines on how far it is, where it is no terminal


class Suite:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.seconds = 0, [], [], 0.0


def suite_of(test):
    """unit.topology.star_has_one_switch: unit.topology; cli.memo: cli."""
    parts = test.split(".")
    return ".".join(parts[:2]) if parts[0] == "unit" else parts[0].rstrip(":")


def watch(lines, log, suites):
    terminal, told = sys.stdout.isatty(), time.monotonic()
    shown = 0
    for line in lines:
        log.write(line)
        ended = ENDED.match(line)
        if terminal and shown:
            print("\r" + " " * shown + "\r", end="")
            shown = 0
        if not ended:
            # Output of what failed, and ctest's list of that; what begins and empty headers are of no use here.
            if not BEGUN.match(line) and not line.startswith(("Test project ", "    Start ")):
                print(line, end="", flush=True)
            continue
        number, total, test, stars, result, seconds = ended.groups()
        suite = suites[suite_of(test)]
        suite.seconds += float(seconds)
        if result == "Passed":
            suite.passed += 1
        elif result in ("Skipped", "Not Run (Disabled)"):
            suite.skipped.append(test)
        else:
            suite.failed.append(test)
            print(f"{test}: {stars}{result}", flush=True)
        if terminal:
            text = f"{number} of {total} tests, {test}"[:100]
            print(text, end="", flush=True)
            shown = len(text)
        elif time.monotonic() - told > EVERY:
            print(f"{number} of {total} tests", flush=True)
            told = time.monotonic()


def reasons(results):
    """By test, of a JUnit file."""
    found = {}
    try:
        cases = xml.etree.ElementTree.parse(results).getroot().iter("testcase")
    except (OSError, xml.etree.ElementTree.ParseError):
        return found
    for case in cases:
        text = case.findtext("system-out") or ""
        named = sorted({reason.strip() for reason in REASON.findall(text)
                        if not reason.startswith(("=", ")"))})
        if named and (case.get("status") != "run" or "OK (skipped=" in text):
            found[case.get("name")] = "; ".join(named)
    return found


def main():
    arguments = sys.argv[1:]
    command = ["ctest", "--output-on-failure", "-j", str(os.cpu_count() or 1)]
    if any(argument.split("=")[0] in OF_CTEST for argument in arguments):
        os.execvp("ctest", command + arguments)
    pathlib.Path("Testing").mkdir(exist_ok=True)
    results = pathlib.Path("Testing/suites.xml").resolve()
    results.unlink(missing_ok=True)
    suites = collections.defaultdict(Suite)
    begun = time.monotonic()
    with (open("Testing/suites.log", "w", encoding="utf-8") as log,
          subprocess.Popen(command + ["--output-junit", str(results)] + arguments, stdout=subprocess.PIPE,
                           text=True, errors="replace") as ctest):
        watch(ctest.stdout, log, suites)
    for name in sorted(suites):
        suite = suites[name]
        extra = "".join(f", {len(tests)} {word}" for tests, word in
                        ((suite.failed, "FAILED"), (suite.skipped, "skipped")) if tests)
        print(f"{name:28} {suite.passed:4} passed{extra}, {suite.seconds:.1f} s")
    for test, reason in sorted(reasons(results).items()):
        print(f"skipped, {test}: {reason}")
    print(f"{sum(suite.passed for suite in suites.values())} passed, "
          f"{sum(len(suite.failed) for suite in suites.values())} failed, "
          f"{sum(len(suite.skipped) for suite in suites.values())} skipped, "
          f"in {time.monotonic() - begun:.0f} s")
    sys.exit(ctest.returncode)


if __name__ == "__main__":
    main()

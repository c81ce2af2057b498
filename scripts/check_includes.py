#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a source file includes what its folder may not know.

The arrows are those of docs/architecture.md: dependencies point downwards only, siblings never
include siblings, and the composition root (cli/) alone sees all parts. Also checks that every
source file starts with the licence line and every header with #pragma once.

usage: check_includes.py [ROOT]
"""

import pathlib
import re
import sys

SPDX = "// SPDX-License-Identifier: Apache-2.0"
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}

# Folder -> the folders that its files may include. The longest matching folder counts.
FOLDERS = {
    "core": ["core"],
    "flowlevel": ["flowlevel", "core"],
    "workloads/job": ["workloads/job", "core"],
    "workloads/model": ["workloads/model", "core"],
    "workloads/traffic": ["workloads/traffic", "core"],
    "workloads/goal": ["workloads/goal", "workloads/job", "core"],
    "workloads/collective": ["workloads/collective", "workloads/job", "workloads/model", "core"],
    "workloads/chakra": ["workloads/chakra", "workloads/job", "core"],
    "workloads/training": [
        "workloads/training", "workloads/collective", "workloads/job", "workloads/model", "core",
    ],
    "workloads/aicb": [
        "workloads/aicb", "workloads/training", "workloads/collective", "workloads/job",
        "workloads/model", "core",
    ],
    "models": ["models", "core"],
    "cli": ["cli", "workloads", "models", "flowlevel", "core"],
    "bench": ["bench", "cli", "workloads", "flowlevel", "core"],
    "tests": ["tests", "cli", "workloads", "models", "flowlevel", "core"],
    "tests/cuda": ["core"],
}

# Devices meet only at sockets.
STRANGERS = [("models/switch", "models/nic"), ("models/nic", "models/switch")]

# Projects of their own, built outside the main build, with includes of their own kind.
OWN_PROJECTS = ["bench/peers", "tests/consumer"]
# Written by the build.
GENERATED = {"sluice_version.h": "cli/version.cpp"}

# Third-party headers -> the folders whose .cpp files may include them, and whether headers may too.
LIBRARIES = [
    (r"systemc|systemc\.h|tlm|tlm\.h|(sysc|tlm_core|tlm_utils)/.*", ["models", "tests"], True),
    (r"systemc|systemc\.h", ["cli", "bench"], False),
    (r"toml\+\+/.*", ["core/config"], False),
    (
        r"nlohmann/.*",
        ["core/config", "core/results", "workloads/chakra", "cli", "tests", "bench"],
        False,
    ),
    (r"zlib\.h", ["workloads/chakra", "tests"], False),
    (r"yaml-cpp/.*", ["workloads/chakra"], False),
    (r"fmt/.*", ["core", "workloads", "models", "cli", "tests", "bench"], False),
    (r"CLI/.*", ["cli"], False),
    (r"doctest/.*", ["tests"], True),
]
SYSTEM = re.compile(r"(sys/\w+|unistd|fcntl|poll|signal|pthread|sched|dirent|csignal)\.h")
STANDARD = re.compile(r"[a-z_0-9]+")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def allowed_folders(path):
    matches = [folder for folder in FOLDERS if inside(path, folder)]
    return FOLDERS[max(matches, key=len)] if matches else None


def check_library(path, header):
    known = False
    for pattern, folders, in_headers in LIBRARIES:
        if not re.fullmatch(pattern, header):
            continue
        known = True
        if any(inside(path, folder) for folder in folders) and (in_headers or path.endswith(".cpp")):
            return None
    if known:
        return f"<{header}> may not be included here"
    if STANDARD.fullmatch(header) or (SYSTEM.fullmatch(header) and path.endswith(".cpp")):
        return None
    return f"<{header}> is not a header that the project knows"


def check_file(root, path):
    lines = (root / path).read_text(encoding="utf-8").splitlines()
    if not lines or lines[0] != SPDX:
        yield 1, f"must start with '{SPDX}'"
    if path.endswith(".h") and "#pragma once" not in lines:
        yield 1, "a header needs #pragma once"
    if any(inside(path, project) for project in OWN_PROJECTS):
        return
    folders = allowed_folders(path)
    for number, line in enumerate(lines, start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        kind, header = match.groups()
        if kind == "<":
            problem = check_library(path, header)
        elif GENERATED.get(header) == path:
            problem = None
        elif not (root / header).is_file():
            problem = f'"{header}" does not exist (includes are relative to the root of the tree)'
        elif not any(inside(header, folder) for folder in folders):
            problem = f'"{header}" may not be included here (allowed: {", ".join(folders)})'
        elif any(inside(path, a) and inside(header, b) for a, b in STRANGERS):
            problem = f'"{header}" may not be included here: devices meet only at sockets'
        else:
            problem = None
        if problem:
            yield number, problem


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parent.parent
    problems = files = 0
    for top in sorted({folder.split("/")[0] for folder in FOLDERS}):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SUFFIXES:
                continue
            files += 1
            path = file.relative_to(root).as_posix()
            for number, problem in check_file(root, path):
                problems += 1
                print(f"{path}:{number}: {problem}")
    if files == 0:
        print(f"{root}: no source files found")
        return 1
    print(f"{files} files, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

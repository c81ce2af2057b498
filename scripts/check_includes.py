#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a source file includes what its folder may not know.

The arrows are those of docs/architecture.md: dependencies point downwards only, inside core/, too.
The build has one target a folder along the same lines. Also checks that every
source file starts with the licence line and every header with #pragma once.

usage: check_includes.py [ROOT]
"""

import pathlib
import re
import sys

SPDX = "// SPDX-License-Identifier: Apache-2.0"
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}

# The parts, from the bottom up: each may include itself, what it names, and what those may include.
# "core" alone is the files that lie in core/ itself.
PARTS = {
    "core": [],
    "core/text": ["core"],
    "core/database": ["core"],
    "core/fit": ["core"],
    "core/flow": ["core"],
    "core/topology": ["core/text"],
    "core/routing": ["core/topology", "core/flow"],
    "core/congestion": ["core"],
    "core/packet": ["core/congestion", "core/flow"],
    "core/results": ["core/topology", "core/flow"],
    "core/partition": ["core/topology", "core/flow"],
    "core/world": ["core/packet", "core/routing", "core/results"],
    "core/clocks": ["core/world", "core/partition"],
    "core/fold": ["core/clocks"],
    "core/ns3": ["core/clocks"],
    "core/steady": ["core/congestion"],
    "core/memo": ["core/database"],
    "core/calibration": ["core/clocks", "core/memo", "core/steady"],
    "core/hybrid": ["core/calibration", "core/fold"],
    "core/engine": ["core/hybrid", "core/ns3"],
    "core/episodes": ["core/hybrid"],
    "core/audit": ["core/episodes"],
    "core/job": ["core/flow", "core/topology"],
    "eval/intervals": ["core/results"],
    "eval/tail": ["eval/intervals"],
    "eval/stopping": ["eval/intervals"],
    "eval/comparison": ["eval/intervals"],
    "eval/importance": ["eval/intervals", "core/fit"],
    "eval/warmup": ["core"],
    "eval/trials": ["eval/intervals", "core/database"],
    "eval/executor": ["eval/trials", "experiment"],
    "eval/evaluation": ["eval/executor", "eval/comparison", "eval/importance", "eval/stopping", "eval/tail", "eval/warmup"],
    "eval/model_based": ["eval/evaluation", "eval/importance"],
    "eval/figure": ["eval/trials"],
    "eval/report": ["eval/evaluation", "eval/figure", "eval/model_based"],
    "report": ["core/database", "core/results", "core/routing"],
    "restore": ["core/hybrid", "core/results"],
    "flowlevel": ["core/packet", "core/routing", "core/results", "core/hybrid"],
    "models": ["core/engine", "core/database"],
    "models/tlm": ["models"],
    "workloads/model": ["core/flow", "core/topology"],
    "workloads/nccl_fit": ["workloads/model", "core/fit"],
    "workloads/traffic": ["core/flow", "core/topology"],
    "workloads/generated": ["core/job"],
    "workloads/goal": ["core/job"],
    "workloads/collective": ["core/job", "workloads/model"],
    "workloads/chakra": ["core/job", "core/results"],
    "workloads/training": ["workloads/collective"],
    "workloads/aicb": ["workloads/training"],
    "workloads/hpcc": ["core/packet", "core/routing"],
    "scenario": ["core/hybrid", "core/results", "flowlevel", "restore"],
    "scenario/workload": [
        "scenario", "workloads/aicb", "workloads/chakra", "workloads/generated", "workloads/goal",
        "workloads/hpcc", "workloads/traffic",
    ],
    "experiment": ["scenario/workload", "flowlevel", "models", "core/engine", "core/audit", "core/database"],
    "gpu/program": ["core/job", "core/packet"],
    "gpu/lane": ["gpu/program", "core/world"],
    "gpu/blocks": ["gpu/lane", "core/clocks"],
    "gpu/cuda": ["gpu/lane"],
    "gpu": ["gpu/blocks", "gpu/cuda", "experiment"],
    "cli": ["gpu", "restore", "core/memo", "eval/report", "report", "workloads/nccl_fit"],
    "capi": ["experiment"],
    "bench": ["capi", "gpu", "restore", "core/memo", "eval/report", "models/tlm"],
    "tests": ["capi", "cli", "models/tlm"],
}
# Folders that are part of the one that they lie in.
WITHIN = ["capi", "cli", "core/job", "core/hybrid", "core/packet", "core/results", "core/steady", "models", "restore", "scenario", "experiment", "bench", "tests"]


def closure(part):
    """The parts that files of `part` may include."""
    seen = {part}
    for below in PARTS[part]:
        seen |= closure(below)
    return seen


FOLDERS = {part: closure(part) for part in PARTS}

# Devices meet only at sockets.
STRANGERS = [("models/switch", "models/nic"), ("models/nic", "models/switch")]

# Projects of their own, built outside the main build, with includes of their own kind.
OWN_PROJECTS = ["bench/peers", "examples", "tests/consumer"]
# Written by the build.
GENERATED = {"sluice_version.h": "experiment/version.cpp"}

# Third-party headers -> the folders whose .cpp files may include them, and whether headers may too.
LIBRARIES = [
    (r"systemc|systemc\.h|tlm|tlm\.h|(sysc|tlm_core|tlm_utils)/.*", ["models", "tests"], True),
    (r"systemc|systemc\.h", ["experiment", "bench"], False),
    (r"toml\+\+/.*", ["core/text"], False),
    (
        r"nlohmann/.*",
        ["core/text", "core/results", "restore", "scenario", "experiment", "eval/report", "workloads/chakra", "workloads/hpcc", "cli", "tests", "bench"],
        False,
    ),
    (r"nlohmann/.*", ["report"], True),
    (r"zlib\.h", ["core/memo", "workloads/chakra", "tests"], False),
    (r"yaml-cpp/.*", ["workloads/chakra"], False),
    (r"fmt/.*", ["core", "eval", "report", "restore", "workloads", "models", "scenario", "experiment", "cli", "tests", "bench"], False),
    (r"fmt/core\.h", ["cli/output"], True),
    (r"nauty/.*", ["core/memo"], False),
    (r"unsupported/Eigen/\w+", ["core/fit"], False),
    (r"cci_configuration", ["experiment/testbench"], True),
    (r"sqlite3\.h", ["core/database", "tests/core/memo"], False),
    (r"torch/.*", ["restore/torch"], False),
    (r"CLI/.*", ["cli"], False),
    (r"doctest/.*", ["tests"], True),
    (r"stdint\.h", ["capi/include"], True),  # for C
]
SYSTEM = re.compile(r"(sys/\w+|unistd|fcntl|poll|signal|pthread|sched|dirent|csignal|dlfcn|malloc)\.h")
STANDARD = re.compile(r"[a-z_0-9]+")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def part_of(path):
    """The part that a file belongs to, None for one in a folder that is no part."""
    folder = path.rpartition("/")[0]
    matches = [part for part in PARTS if inside(folder, part)]
    part = max(matches, key=len, default=None)
    return part if part == folder or any(inside(folder, top) for top in WITHIN) else None


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
    part = part_of(path)
    if part is None:
        yield 1, "lies in a folder that scripts/check_includes.py does not know"
        return
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
        elif part_of(header) not in FOLDERS[part]:
            problem = f'"{header}" may not be included here (allowed: {", ".join(sorted(FOLDERS[part]))})'
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
    for top in sorted({part.split("/")[0] for part in PARTS}):
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

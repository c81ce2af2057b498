#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy 14 with the checks of .clang-tidy. Without arguments on every source file that
# the release build compiles; with arguments on those whose path contains one of them, e.g.
# scripts/tidy.sh core/topology
set -eu
cd "$(dirname -- "$0")/.."

build=${SLUICE_BUILD:-build/tidy}
if [ ! -f "$build/compile_commands.json" ]; then
    # Each file by itself: ./quickstart compiles several at once.
    cmake --preset release -B "$build" -DSLUICE_UNITY=OFF >/dev/null
    cmake --build "$build" --target sluice_version >/dev/null
fi
command -v clang-tidy >/dev/null 2>&1 || {
    echo "clang-tidy is not installed (apt-get install clang-tidy)" >&2
    exit 1
}

python3 - "$PWD" "$build/compile_commands.json" "$@" <<'PY' |
import json, os, sys
root, commands, *wanted = sys.argv[1:]
for entry in json.load(open(commands)):
    path = os.path.relpath(entry["file"], root)
    if path.endswith(".cpp") and (not wanted or any(part in path for part in wanted)):
        print(path)
PY
    sort -u | xargs -r -P "$(nproc)" -n 1 clang-tidy --quiet -p "$build"

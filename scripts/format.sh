#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the layout of all source files with clang-format 14 (Debian 12's); other versions lay out
# differently. --fix rewrites the files. Exit code 77 (skipped) without that version.
set -eu
cd "$(dirname -- "$0")/.."

formatter=
for candidate in clang-format-14 clang-format; do
    if command -v "$candidate" >/dev/null 2>&1 &&
        "$candidate" --version | grep -q 'version 14\.'; then
        formatter=$candidate
        break
    fi
done
if [ -z "$formatter" ]; then
    echo "skipped: clang-format 14 is not installed (apt-get install clang-format)"
    exit 77
fi

case ${1:-} in
    --fix | '') ;;
    *)
        echo "usage: scripts/format.sh [--fix]" >&2
        exit 2
        ;;
esac

# All but what is made.
list() {
    find . \( -path ./build -o -path ./runs -o -name '.?*' \) -prune -o \
        -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0
}
if [ "${1:-}" = --fix ]; then
    list | xargs -0 "$formatter" --style=file -i
    exit
fi
wrong=$(list | xargs -0 "$formatter" --style=file --dry-run 2>&1 |
    sed -n 's/^\([^: ]*\):[0-9].*clang-format-violations.*/\1/p' | sort -u)
if [ -n "$wrong" ]; then
    echo "not laid out as .clang-format says (scripts/format.sh --fix rewrites them):"
    echo "$wrong"
    exit 1
fi

# SPDX-License-Identifier: Apache-2.0
"""The program of a study's cases: writes one scenario file each, and the list of them."""

import pathlib
import sys


def main(usage, cases):
    """`cases` yields (name, half, kind, law, text). To the folder that the command line names: NAME.toml of
    each case, and cases.csv with the rest."""
    if len(sys.argv) != 2:
        sys.exit(usage)
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "cases.csv", "w", encoding="ascii") as index:
        index.write("case,half,kind,law\n")
        for name, half, kind, law, text in cases:
            (out / f"{name}.toml").write_text(text, encoding="ascii")
            index.write(f"{name},{half},{kind},{law}\n")

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A field that is missing from the table of its struct does not compile, whichever it is.

usage: test_state_fields.py SOURCE_DIR [CXX]"""

import pathlib
import re
import subprocess
import sys
import tempfile

TABLE = re.compile(r"#define (SLUICE_FIELDS_OF_\w+)\(FIRST, NEXT\) ((?:.*\\\n)*.*)\n"
                   r"SLUICE_DESCRIBE(?:_READ_ONLY)?\((\w+), \1\)")
ENTRY = re.compile(r"(?:FIRST|NEXT)\((\w+), (\w+)\)")
HEADERS = ["core/packet/state_fields.h", "core/congestion/types.h", "core/congestion/hpcc.h",
           "core/congestion/dcqcn.h", "core/congestion/timely.h", "core/congestion/dctcp.h",
           "core/congestion/swift.h", "core/congestion/nscc.h"]


def tables(root):
    """(struct with its namespace, its entries) of every description."""
    for header in HEADERS:
        text = (root / header).read_text(encoding="utf-8")
        space = re.search(r"^namespace (sluice[\w:]*) \{", text, re.MULTILINE).group(1)
        for _, body, struct in TABLE.findall(text):
            yield f"{space}::{struct}", ENTRY.findall(body)


def described(struct, entries, name):
    """One line that describes `struct` by some of its fields."""
    fields = " ".join(f"{'NEXT' if place else 'FIRST'}({field}, {role})" for place, (field, role) in enumerate(entries))
    return f"#define {name}(FIRST, NEXT) {fields}\nnamespace of_{name} {{ SLUICE_DESCRIBE_READ_ONLY({struct}, {name}) }}\n"


def main():
    root = pathlib.Path(sys.argv[1])
    compiler = sys.argv[2] if len(sys.argv) > 2 else "c++"
    source = '#include "core/packet/state_fields.h"\nusing namespace sluice;\n'
    missing = {}
    whole = []
    for struct, entries in tables(root):
        whole.append(f"WHOLE_{len(whole)}")
        source += described(struct, entries, whole[-1])
        for place, (field, _) in enumerate(entries):
            if len(entries) > 1:
                name = f"LESS_{len(missing)}"
                missing[name] = f"{struct}::{field}"
                source += described(struct, entries[:place] + entries[place + 1:], name)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "less.cpp"
        file.write_text(source, encoding="utf-8")
        done = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", "-fmax-errors=0", f"-I{root}", file],
                              capture_output=True, text=True, check=False)
    refused = {name for name in [*missing, *whole] if re.search(rf"\b(of_)?{name}\b", done.stderr)}
    if refused & set(whole):
        print(f"whole tables do not compile:\n{done.stderr[-2000:]}")
        return 1
    compiled = sorted(missing[name] for name in missing if name not in refused)
    if compiled or not missing:
        print(f"{len(missing)} fields left out, and these were not missed: {', '.join(compiled)}")
        print(done.stderr[-2000:])
        return 1
    print(f"each of {len(missing)} fields, left out of its table, is missed by the compiler")
    return 0


if __name__ == "__main__":
    sys.exit(main())

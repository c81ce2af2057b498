#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when the documentation and the tree say different things.

Checked are: every relative link of a .md file leads to a file, and to a heading where it names one;
every key that the code reads from a scenario, a model or a GPU file is in docs/scenario.md, and
every key in a table there is read somewhere; docs/map.md names every folder that
check_includes.py knows, with what it builds on; examples/README.md lists every example.

usage: check_docs.py [ROOT]
"""

import pathlib
import re
import sys

import check_includes

# Readers of configuration. A key is the first argument of one of ConfigSection's readers, or of a
# helper that has the same names.
READERS = ["cli/*.cpp", "scenario/*.cpp", "scenario/*/*.cpp", "workloads/model/gpu.cpp",
           "workloads/model/model_file.cpp"]
# Laws describe their keys to whoever visits them, with the same names.
LAWS = ["core/congestion/*.h"]
# .cpp files with readers of the same names for other tools' files.
OTHER_FORMATS = ["workloads/hpcc/hpcc_config.cpp", "cli/goal_merge.cpp", "cli/simai_options.cpp"]
READ = re.compile(
    r"\b\w+\.(?:integer|integers|number|text|texts|time|rate|bytes|flag|choice|table|tables|raw|"
    r'ratio|latent)\(\s*"([a-z_0-9]+)"')
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
CODE_BLOCK = re.compile(r"```.*?```", re.S)


def headings(text):
    """Anchors as GitHub makes them."""
    anchors = set()
    for line in CODE_BLOCK.sub("", text).splitlines():
        if line.startswith("#"):
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip().lower())
            anchors.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return anchors


def check_links(root, pages):
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for target in LINK.findall(CODE_BLOCK.sub("", text)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            where = page.relative_to(root)
            if not there.exists():
                yield f"{where}: {target} does not exist"
            elif anchor and anchor not in headings(there.read_text(encoding="utf-8")):
                yield f"{where}: {target}: there is no such heading"


def code_of(root, patterns):
    for pattern in patterns:
        for file in sorted(root.glob(pattern)):
            path = file.relative_to(root).as_posix()
            if path not in OTHER_FORMATS:
                yield path, file.read_text(encoding="utf-8")


def documented_keys(text):
    """The first cells of tables whose head is `key`."""
    in_table = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            in_table = False
        elif cells[0] == "key":
            in_table = True
        elif in_table and not set(cells[0]) <= set("- "):
            names = re.sub(r"\[[^\]]*\]", "", cells[0]).replace("`", "")
            yield from (name.strip() for name in names.split(","))


def check_keys(root):
    text = (root / "docs/scenario.md").read_text(encoding="utf-8")
    words = set(re.findall(r"[a-z_0-9]+", text))
    everything = ""
    for path, code in code_of(root, READERS + LAWS):
        everything += code
        for key in sorted(set(READ.findall(code))):
            if key not in words:
                yield f"docs/scenario.md: {path} reads the key {key}, which is not there"
    for _, code in code_of(root, ["workloads/*/*.cpp", "scenario/*.cpp", "core/*/*.cpp",
                                "core/results/outputs/*.cpp"]):
        everything += code
    for key in documented_keys(text):
        # A cable's keys are read by their prefix.
        prefix = re.sub(r"(rate|delay|loss)$", "", key)
        if f'"{key}"' not in everything and (prefix == key or f'"{prefix}"' not in everything):
            yield f"docs/scenario.md: nothing reads the key {key}"


def check_map(root):
    rows = {}
    for line in (root / "docs/map.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3:
            for folder in re.findall(r"`([\w/]+)/`", cells[0]):
                rows[folder] = re.findall(r"`([\w/]+)/`", cells[2])
    for folder, below in check_includes.PARTS.items():
        if folder not in rows:
            yield f"docs/map.md: {folder}/ is not there"
        elif sorted(rows[folder]) != sorted(below):
            yield f"docs/map.md: {folder}/ builds on {', '.join(below) or 'nothing'}"


def check_examples(root):
    listed = (root / "examples/README.md").read_text(encoding="utf-8")
    for example in sorted((root / "examples").glob("*.toml")):
        if f"({example.name})" not in listed:
            yield f"examples/README.md: {example.name} is not there"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parent.parent
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md")),
             *sorted((root / "examples").glob("*.md"))]
    problems = [*check_links(root, pages), *check_keys(root), *check_map(root),
                *check_examples(root)]
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

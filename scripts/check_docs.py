#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when the documentation and the tree say different things.

Checked are: every relative link of a .md file leads to a file, and to a heading where it names one;
every key that the code reads from a scenario, a model or a GPU file is in docs/scenario.md, and
every key in a table there is read somewhere; docs/map.md names every folder that
check_includes.py knows, with what it builds on; examples/README.md lists every example; every file
that a page names with its folder exists; the code of docs/embedding.md and of README.md is in the
tests; README.md is short; no sentence of a page in PLAIN_PAGES is long; docs/glossary.md is sorted
and has each term once.

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
README_LINES = 150
# `folder/file.ext`, with or without wildcards, in backticks.
NAMED_FILE = re.compile(r"(?<![\w./<~$-])(?:[\w*-]+/)+[\w.*-]+\.(?:cpp|cu|csv|h|json|md|patch|png|py|sh|svg|toml|txt)\b")
# What pages name and no tree holds: files of runs, and of other projects.
NOT_OURS = re.compile(r"(?:build|runs|results|mix|graph|SCENARIO)/|.*\bNAME\b")
# Where the code of a page, C++ or C, must stand, word for word but for white space.
COMPILED = {
    "README.md": ["tests/consumer/*.cpp"],
    "docs/embedding.md": ["tests/consumer/*.cpp", "tests/models/*.cpp", "tests/models/*.h",
                          "models/foreign/*.h"],
    "docs/testbench-examples.md": ["examples/*/main.cpp"],
    "docs/c-abi.md": ["tests/capi/*.c"],
    "docs/waves.md": ["tests/models/*.cpp"],
    "docs/link-protocol.md": ["tests/models/*.cpp"],
}
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
CODE_BLOCK = re.compile(r"```.*?```", re.S)
# Pages whose sentences have at most so many words.
GLOSSARY = "docs/glossary.md"
PLAIN_PAGES = [
    GLOSSARY, "README.md", "docs/getting-started.md", "docs/architecture.md",
    "docs/models/phases.md", "docs/memo.md", "docs/audit.md", "docs/batch.md",
    "docs/performance.md", "docs/fidelity.md", "docs/models/switch.md", "docs/models/nic.md",
    "docs/scenario.md", "docs/outputs.md", "docs/embedding.md", "docs/extending.md",
    "docs/evaluation.md", "docs/wormhole.md", "docs/map.md", "docs/models/link.md",
    "docs/measured.md", "docs/restoration.md", "docs/models/workload.md",
    "docs/models/collectives.md", "docs/models/congestion.md", "docs/models/chakra.md",
    "docs/models/flow_level.md", "docs/models/goal.md", "docs/models/hpcc_import.md",
    "docs/models/partitions.md", "docs/models/topologies.md", "docs/models/aicb.md",
    "docs/steady-study.md", "docs/testbench-examples.md", "docs/codesign.md", "docs/waves.md", "docs/link-protocol.md", "docs/host-ports.md", "docs/tlm.md", "docs/c-abi.md", "docs/combinations.md", "examples/README.md",
]
SENTENCE_WORDS = 35
COMMENT = re.compile(r"<!--.*?-->", re.S)
# The first line of a text of its own: a heading, an item of a list, a row of a table, a quotation.
BEGINS = re.compile(r"\s*(?:#|[-*+] |\d+[.)] |\||>)")
# A text without its markup. Code is one word, a link its text, an address nothing.
MARKUP = [(re.compile(r"(`+).+?\1"), "code"), (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
          (re.compile(r"<?https?://\S*[\w/]>?"), ""), (re.compile(r"[*>]"), "")]


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


def check_files(root, pages):
    for page in pages:
        if page.parent.name == "history":
            continue  # names what there was
        text = CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))
        for code in re.findall(r"`([^`\n]+)`", text):
            for name in NAMED_FILE.findall(code):
                if not NOT_OURS.match(name) and not any(root.glob(name)):
                    yield f"{page.relative_to(root)}: there is no {name}"


def check_code(root):
    for page, patterns in COMPILED.items():
        compiled = ["".join(file.read_text(encoding="utf-8").split())
                    for pattern in patterns for file in sorted(root.glob(pattern))]
        text = (root / page).read_text(encoding="utf-8")
        for block in re.findall(r"```(?:cpp|c)\n(.*?)```", text, re.S):
            if not any("".join(block.split()) in code for code in compiled):
                yield f"{page}: no test compiles the code that begins with {block.splitlines()[0]}"


def check_length(root):
    lines = len((root / "README.md").read_text(encoding="utf-8").splitlines())
    if lines > README_LINES:
        yield f"README.md: {lines} lines; at most {README_LINES}, the rest belongs in docs/"


def texts(page):
    """(line, text) of every heading, paragraph, list item and row of a table, without code."""
    for block in (CODE_BLOCK, COMMENT):
        page = block.sub(lambda match: "\n" * match.group().count("\n"), page)
    first, text = 0, ""
    for number, line in enumerate(page.splitlines(), 1):
        begins = not line.strip() or BEGINS.match(line) or text.startswith(("#", "|"))
        is_code = line.startswith("    ") and not text
        if text and begins:
            yield first, text
            text = ""
        if not is_code:
            first = first if text else number
            text = f"{text} {line.strip()}".strip()
    if text:
        yield first, text


def long_sentences(page):
    """(line, number of words, first words) of each; each cell of a table is a text of its own."""
    for line, text in texts(page):
        for markup, plain in MARKUP:
            text = markup.sub(plain, text)
        for cell in text.split(" | ") if text.startswith("|") else [text]:
            for sentence in re.split(r"(?<=[.!?:])\s+", cell):
                words = [word for word in sentence.split() if re.search(r"\w", word)]
                if len(words) > SENTENCE_WORDS:
                    yield line, len(words), " ".join(words[:6])


def check_sentences(root):
    for page in PLAIN_PAGES:
        if not (root / page).exists():
            yield f"scripts/check_docs.py: PLAIN_PAGES: there is no {page}"
            continue
        for line, words, begin in long_sentences((root / page).read_text(encoding="utf-8")):
            yield (f"{page}:{line}: a sentence of {words} words, at most {SENTENCE_WORDS}: "
                   f"{begin} ...")


def check_glossary(root):
    """The first cells of each of its tables are sorted, whatever their case, and differ."""
    terms = {}
    lines = (root / GLOSSARY).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        term = line.strip("|").split(" | ")[0].strip()
        if not line.startswith("|") or set(term) <= set("-: "):
            terms = {}  # outside of tables, or below a table's head
            continue
        key = term.casefold().replace("-", " ")
        last = max(terms, default="")
        if key in terms:
            yield f"{GLOSSARY}:{number}: {term} is there twice"
        elif key < last:
            yield f"{GLOSSARY}:{number}: {term} belongs before {terms[last]}"
        terms[key] = term


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
                *check_examples(root), *check_files(root, pages), *check_code(root),
                *check_length(root), *check_sentences(root), *check_glossary(root)]
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

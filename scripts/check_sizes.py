#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where the tree has grown out of hand: a function of more than 60 lines, a file of more than
450, a folder of more than 25 kinds of source files (NAME.h and NAME.cpp are one kind), or folders side
by side that include each other in a circle, at any level.

usage: check_sizes.py [ROOT]
"""

import ast
import collections
import pathlib
import re
import sys

FUNCTION_LINES = 60
FILE_LINES = 450
FOLDER_KINDS = 25

# Folders at the top that hold what is made, not what people write.
MADE = ["build", "runs"]
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".py"}
# Folders of tests hold cases, not parts of the program.
CASES = ["tests"]
# What may be larger, each with its reason.
CASES_OF_ONE_THING = "cases of one thing"
LARGE_FILES = {
    "tests/experiment/hpcc/hpcc_import.cpp": CASES_OF_ONE_THING,
    "tests/flowlevel/flow_run.cpp": CASES_OF_ONE_THING,
    "tests/workloads/chakra/graph.cpp": CASES_OF_ONE_THING,
    "tests/workloads/collective/collective_library.cpp": CASES_OF_ONE_THING,
    "tests/workloads/training/memory.cpp": CASES_OF_ONE_THING,
    "tests/workloads/training/schedule.cpp": CASES_OF_ONE_THING,
    "tests/workloads/training/strategy.cpp": CASES_OF_ONE_THING,
}
LONG_FUNCTIONS = {
    ("cli/simai_options.cpp", "options_list"): "a table",
    ("scenario/unused_keys.cpp", "rules"): "a table",
    ("tests/core/congestion/dcqcn.cpp", "TEST_CASE"): CASES_OF_ONE_THING,
    ("tests/experiment/hpcc/hpcc_import.cpp", "TEST_CASE"): CASES_OF_ONE_THING,
    ("tests/flowlevel/max_min.cpp", "random_changes"): CASES_OF_ONE_THING,
    ("tests/support/hybrid_support.h", "run_hybrid"): CASES_OF_ONE_THING,
    ("tests/workloads/collective/collective_library.cpp", "check_data"): CASES_OF_ONE_THING,
}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# Comments, texts and preprocessor lines, which hold braces that open nothing.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
                   r'|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|\bextern\s*$")
NOT_A_HEAD = re.compile(r"=\s*$|\breturn\b|,\s*$")


def blank(match):
    """As many lines, and nothing on them; a number's ' is no quote, but does no harm."""
    return "\n" * match.group().count("\n") or " "


def cpp_functions(text):
    """(first line, last line, head) of every function that is defined in a scope."""
    text = NOISE.sub(blank, text)
    line = first = 1
    head = ""
    scopes = []  # what each open brace is: "scope", "function" or "other"
    begins = []
    for letter in text:
        if letter == "\n":
            line += 1
        if letter == "{":
            outside = all(scope == "scope" for scope in scopes)
            if outside and "(" in head and not NOT_A_HEAD.search(head) \
                    and not re.match(r"\s*(enum|class|struct|union|namespace)\b(?!.*\))", head, re.DOTALL):
                kind = "function"
            elif outside and SCOPE.search(head):
                kind = "scope"
            else:
                kind = "other"
            scopes.append(kind)
            begins.append((first, " ".join(head.split())))
            if kind != "other":
                head = ""
        elif letter == "}":
            if not scopes:
                return
            kind = scopes.pop()
            begin, name = begins.pop()
            if kind == "function":
                yield begin, line, name
            if kind != "other":
                head = ""
        elif letter == ";" and all(scope == "scope" for scope in scopes):
            head = ""
        elif all(scope == "scope" for scope in scopes):
            if not head.strip():
                first = line
                head = ""
            head += letter


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno, node.name


def source_files(root):
    """Path -> text, of what people write."""
    files = {}
    for top in sorted(root.iterdir()):
        if not top.is_dir() or top.name in MADE or top.name.startswith("."):
            continue
        for file in sorted(top.rglob("*")):
            if file.suffix in SUFFIXES and file.is_file():
                files[file.relative_to(root).as_posix()] = file.read_text(encoding="utf-8")
    return files


def long_functions(path, text):
    """(first line, lines, name) of each."""
    functions = python_functions(text) if path.endswith(".py") else cpp_functions(text)
    for first, last, head in functions:
        if last - first + 1 > FUNCTION_LINES:
            name = re.sub(r".*?([\w~:]+(?:<[^>]*>)?)\s*\(.*", r"\1", head)
            yield first, last - first + 1, name


def check_file(path, text):
    lines = text.count("\n")
    if lines > FILE_LINES and path not in LARGE_FILES:
        yield f"{path}: {lines} lines; at most {FILE_LINES}"
    for first, count, name in long_functions(path, text):
        if (path, name) not in LONG_FUNCTIONS:
            yield f"{path}:{first}: {name} has {count} lines; at most {FUNCTION_LINES}"


def check_folders(files):
    kinds = collections.defaultdict(set)
    for path in files:
        folder, _, name = path.rpartition("/")
        if not any(folder == top or folder.startswith(top + "/") for top in CASES):
            kinds[folder].add(name.rpartition(".")[0])
    for folder, names in sorted(kinds.items()):
        if len(names) > FOLDER_KINDS:
            yield f"{folder}/: {len(names)} kinds of source files; at most {FOLDER_KINDS}"


def siblings_of(a, b):
    """Where two folders part: their common folder, and the one below it that each lies in. None if one
    lies in the other."""
    a, b = a.split("/"), b.split("/")
    common = 0
    while common < min(len(a), len(b)) and a[common] == b[common]:
        common += 1
    if common == len(a) or common == len(b):
        return None
    return "/".join(a[:common]), "/".join(a[:common + 1]), "/".join(b[:common + 1])


def find_circle(edges):
    done, path = set(), []

    def visit(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return None
        path.append(folder)
        for below in sorted(edges[folder]):
            if circle := visit(below):
                return circle
        path.pop()
        done.add(folder)
        return None

    for folder in sorted(edges):
        if circle := visit(folder):
            return circle
    return None


def check_circles(files):
    levels = collections.defaultdict(lambda: collections.defaultdict(set))
    for path, text in files.items():
        folder = path.rpartition("/")[0]
        for header in INCLUDE.findall(text):
            parting = header in files and siblings_of(folder, header.rpartition("/")[0])
            if parting:
                common, one, other = parting
                levels[common][one].add(other)
                levels[common].setdefault(other, levels[common][other])
    for edges in levels.values():
        if circle := find_circle(edges):
            yield "a circle of folders: " + " -> ".join(circle)


def stale_exceptions(files):
    """Exceptions that nothing needs any more."""
    for path in LARGE_FILES:
        if files.get(path, "").count("\n") <= FILE_LINES:
            yield f"scripts/check_sizes.py: {path} is no exception any more"
    for path, name in LONG_FUNCTIONS:
        if all(long != name for _, _, long in long_functions(path, files.get(path, ""))):
            yield f"scripts/check_sizes.py: {name} of {path} is no exception any more"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parent.parent
    files = source_files(root)
    problems = [problem for path, text in files.items() for problem in check_file(path, text)]
    problems += [*check_folders(files), *check_circles(files), *stale_exceptions(files)]
    for problem in problems:
        print(problem)
    if not files:
        print(f"{root}: no source files found")
        return 1
    print(f"{len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

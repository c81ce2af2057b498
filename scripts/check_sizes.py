#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where the tree has grown out of hand: a function of more than 60 lines, a file of more than
450, a folder of more than 25 kinds of source files (NAME.h and NAME.cpp are one kind), a class of more
than 40 methods or 20 fields, its friends in the folder counted with it, folders side by side that include
each other in a circle, at any level, or tests in a folder that mirrors none.

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
CLASS_METHODS = 40
CLASS_FIELDS = 20
RECORD_METHODS = 5  # with no more a class is a record, whose fields are not counted

# Folders at the top that hold what is made, not what people write.
MADE = ["build", "runs"]
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".py"}
# Folders of tests hold cases, not parts of the program.
CASES = ["tests"]
# What may be larger, each with its reason.
CASES_OF_ONE_THING = "cases of one thing"
LARGE_FILES = {
    "scenario/combinations/rules.cpp": "a table",
    "tests/experiment/hpcc/hpcc_import.cpp": CASES_OF_ONE_THING,
    "tests/flowlevel/flow_run.cpp": CASES_OF_ONE_THING,
    "tests/workloads/chakra/graph.cpp": CASES_OF_ONE_THING,
    "tests/workloads/collective/collective_library.cpp": CASES_OF_ONE_THING,
    "tests/workloads/training/memory.cpp": CASES_OF_ONE_THING,
    "tests/workloads/training/schedule.cpp": CASES_OF_ONE_THING,
    "tests/workloads/training/strategy.cpp": CASES_OF_ONE_THING,
}
# Classes that are to be taken apart: methods and fields that they have and may not exceed.
LARGE_CLASSES = {}
# Folders below tests/ that mirror none of the program's.
OWN_TESTS = {"consumer", "data", "extending", "fuzz", "scripts", "support"}
LONG_FUNCTIONS = {
    ("cli/simai_options.cpp", "options_list"): "a table",
    ("scenario/combinations/rules.cpp", "all_rules"): "a table",
    ("tests/core/congestion/dcqcn.cpp", "TEST_CASE"): CASES_OF_ONE_THING,
    ("tests/experiment/hpcc/hpcc_import.cpp", "TEST_CASE"): CASES_OF_ONE_THING,
    ("tests/flowlevel/max_min.cpp", "random_changes"): CASES_OF_ONE_THING,
    ("tests/scenario/combinations/rules.cpp", "examples"): "a table",
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


ACCESS = re.compile(r"^\s*(public|protected|private)\s*:")
NO_MEMBER = re.compile(r"^(using|typedef|friend|static_assert|enum|union|template\s*<[^>]*>\s*(class|struct)|"
                       r"(class|struct)\s+\w+\s*$|#)")
CLASS = re.compile(r"\b(?:class|struct)\s+(?:alignas\([^)]*\)\s*)?(\w+)(?:\s+final)?\s*(?::[^:].*)?$", re.DOTALL)
FRIEND = re.compile(r"\bfriend\s+(?:class|struct)?\s*([\w:]+)\s*;")


class Scope:
    """What is open while a file is read: a class, or something else."""

    def __init__(self, line, head):
        named = None if "(" in re.sub(r"alignas\([^)]*\)", "", head) else CLASS.search(head)
        self.name = named.group(1) if named and not re.search(r"\benum\b", head) else None
        self.line = line
        self.methods = self.fields = 0
        self.friends = set()
        self.head = ""

    def end_member(self, has_body):
        """A declaration of the class is over."""
        head = self.head
        while match := ACCESS.match(head):
            head = head[match.end():]
        head = " ".join(head.split())
        self.head = ""
        if friend := FRIEND.search(head + ";"):
            self.friends.add(friend.group(1).rpartition("::")[2])
        if self.name is None or not head or NO_MEMBER.match(head):
            return
        declared = re.split(r"=(?!=)|\{", re.sub(r"alignas\([^)]*\)|<[^<>]*\([^<>]*\)[^<>]*>", "", head))[0]
        if "(" in declared or "operator" in head:
            self.methods += 1
        elif not has_body or "=" in head or re.search(r"\w\s*$", head):
            self.fields += 0 if re.match(r"(static\s+)?constexpr|inline constexpr", head) else 1


def cpp_classes(text):
    """Every class that a file defines, with its direct members."""
    text = NOISE.sub(blank, text)
    line = 1
    scopes = [Scope(0, "")]
    for letter in text:
        line += letter == "\n"
        top = scopes[-1]
        if letter == "{":
            scopes.append(Scope(line, top.head))
        elif letter == "}" and len(scopes) > 1:
            done = scopes.pop()
            if done.name:
                yield done
            outer = scopes[-1]
            if done.name or "(" in re.split(r"=(?!=)", outer.head)[0] or outer.name is None:
                if done.name:
                    outer.head = ""
                else:
                    outer.end_member(True)
            else:
                outer.head += "{}"
        elif letter == ";":
            top.end_member(False)
        else:
            top.head += letter


def check_classes(files):
    classes = {}
    for path, text in files.items():
        if not path.endswith(".py") and not path.startswith("tests/"):
            folder = path.rpartition("/")[0]
            for found in cpp_classes(text):
                classes[folder, found.name] = (path, found)
    for (folder, name), (path, found) in sorted(classes.items()):
        companions = [classes[folder, friend][1] for friend in found.friends if (folder, friend) in classes]
        methods = found.methods + sum(other.methods for other in companions)
        fields = found.fields + sum(other.fields for other in companions)
        most_methods, most_fields = LARGE_CLASSES.get((path, name), (CLASS_METHODS, CLASS_FIELDS))
        if methods > most_methods or (fields > most_fields and methods > RECORD_METHODS):
            with_others = f" with {', '.join(sorted(other.name for other in companions))}" if companions else ""
            yield (f"{path}:{found.line}: {name}{with_others} has {methods} methods and {fields} fields; "
                   f"at most {most_methods} and {most_fields}")


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


def check_mirrors(files):
    folders = {path.rpartition("/")[0] for path in files}
    with_parents = {"/".join(folder.split("/")[:depth + 1]) for folder in folders for depth in range(folder.count("/") + 1)}
    for folder in sorted(folders):
        top, _, mirrored = folder.partition("/")
        if top == "tests" and mirrored and mirrored.partition("/")[0] not in OWN_TESTS and mirrored not in with_parents:
            yield f"{folder}/: mirrors no folder of the program"


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
    for path, name in LARGE_CLASSES:
        found = [one for one in cpp_classes(files.get(path, "")) if one.name == name]
        if not found or (found[0].methods <= CLASS_METHODS and found[0].fields <= CLASS_FIELDS and not found[0].friends):
            yield f"scripts/check_sizes.py: {name} of {path} is no exception any more"
    for path, name in LONG_FUNCTIONS:
        if all(long != name for _, _, long in long_functions(path, files.get(path, ""))):
            yield f"scripts/check_sizes.py: {name} of {path} is no exception any more"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parent.parent
    files = source_files(root)
    problems = [problem for path, text in files.items() for problem in check_file(path, text)]
    problems += [*check_folders(files), *check_classes(files), *check_circles(files), *check_mirrors(files),
                 *stale_exceptions(files)]
    for problem in problems:
        print(problem)
    if not files:
        print(f"{root}: no source files found")
        return 1
    print(f"{len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

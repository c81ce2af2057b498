# SPDX-License-Identifier: Apache-2.0
"""What scripts/check_sizes.py finds in a tree that breaks each of its rules once, and what it lets
pass: exactly the limits.

usage: test_check_sizes.py SOURCE
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])


def function(name, lines):
    return f"void {name}() {{\n" + "    work();\n" * (lines - 2) + "}\n"


class CheckSizes(unittest.TestCase):
    def problems(self, files):
        """What is said of a tree of `files`, but for exceptions that it does not have."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                file = pathlib.Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, "-B", SOURCE / "scripts/check_sizes.py", folder],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            lines = done.stdout.splitlines()
            self.assertEqual(done.returncode, 0 if " 0 problems" in lines[-1] else 1)
            return [line for line in lines[:-1] if "no exception any more" not in line]

    def test_a_long_file(self):
        self.assertEqual(self.problems({"core/a.cpp": "\n" * 450, "cli/b.py": "\n" * 451}),
                         ["cli/b.py: 451 lines; at most 450"])

    def test_every_folder_but_what_is_made(self):
        long = "\n" * 451
        self.assertEqual(self.problems({"new/kernel.cuh": long, "build/a.cpp": long, "runs/a.py": long, ".x/a.h": long}),
                         ["new/kernel.cuh: 451 lines; at most 450"])

    def test_a_long_function(self):
        text = ("namespace sluice {\nclass Part {\n"
                + function("fits", 60) + function("grows", 61) + "};\n"
                + 'const char* brace = "{";  // {\n' + function("Part::also", 62) + "}\n")
        self.assertEqual(self.problems({"core/a.cpp": text}),
                         ["core/a.cpp:63: grows has 61 lines; at most 60",
                          "core/a.cpp:126: Part::also has 62 lines; at most 60"])

    def test_a_long_function_in_python(self):
        text = "def fits():\n" + "    work()\n" * 59 + "def grows():\n" + "    work()\n" * 60
        self.assertEqual(self.problems({"bench/a.py": text}),
                         ["bench/a.py:61: grows has 61 lines; at most 60"])

    def test_a_large_class(self):
        methods = "    int get() const { return field_; }\n"
        fits = "class Fits {\n  public:\n" + methods * 40 + "  private:\n" + "    int field_ = 0;\n" * 20 + "};\n"
        grows = "class Grows : Base {\n" + "    void act();\n" * 41 + "};\n"
        wide = "class Wide {\n" + methods * 6 + "    std::vector<int> field_{1, 2};\n" * 21 + "};\n"
        record = "struct Record {\n" + "    int field = 0;\n" * 30 + "};\n"
        self.assertEqual(self.problems({"core/a.h": fits + grows + wide + record}),
                         ["core/a.h:65: Grows has 41 methods and 0 fields; at most 40 and 20",
                          "core/a.h:108: Wide has 6 methods and 21 fields; at most 40 and 20"])

    def test_friends_count_with_a_class(self):
        text = "class Other {\n" + "    void act();\n" * 30 + "};\nclass Part {\n    friend class Other;\n" + "    void act();\n" * 11 + "};\n"
        self.assertEqual(self.problems({"core/a.h": text}),
                         ["core/a.h:33: Part with Other has 41 methods and 0 fields; at most 40 and 20"])

    def test_tests_mirror_the_program(self):
        self.assertEqual(self.problems({"core/a/a.cpp": "", "tests/core/a/a.cpp": "", "tests/core/b/b.cpp": "",
                                        "tests/support/c.h": ""}),
                         ["tests/core/b/: mirrors no folder of the program"])

    def test_a_full_folder(self):
        files = {f"core/a/{i}{end}": "" for i in range(26) for end in (".h", ".cpp")}
        cases = {f"tests/core/{i}.cpp": "" for i in range(26)}
        self.assertEqual(self.problems({**files, **cases}),
                         ["core/a/: 26 kinds of source files; at most 25"])
        del files["core/a/0.h"], files["core/a/0.cpp"]
        self.assertEqual(self.problems(files), [])

    def test_circles(self):
        one = {"core/a/x.h": '#include "core/b/y.h"\n', "core/b/y.h": "", "core/a/z.h": ""}
        self.assertEqual(self.problems(one), [])
        # Not between two files, but between their folders.
        two = {**one, "core/b/w.h": '#include "core/a/z.h"\n'}
        self.assertEqual(self.problems(two), ["a circle of folders: core/a -> core/b -> core/a"])
        # A folder and one inside it are one part.
        self.assertEqual(self.problems({"core/x.h": '#include "core/a/y.h"\n',
                                        "core/a/y.h": '#include "core/z.h"\n', "core/z.h": ""}), [])

    def test_an_exception_that_nothing_needs(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "scenario/combinations/rules.cpp"
            file.parent.mkdir(parents=True)
            stale = "all_rules of scenario/combinations/rules.cpp is no exception any more"
            for lines, said in ((61, False), (60, True)):
                file.write_text(function("all_rules", lines), encoding="utf-8")
                done = subprocess.run(
                    [sys.executable, "-B", SOURCE / "scripts/check_sizes.py", folder],
                    capture_output=True, text=True, check=False)
                self.assertEqual(stale in done.stdout, said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

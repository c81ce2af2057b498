# SPDX-License-Identifier: Apache-2.0
"""What scripts/check_docs.py says of long sentences on its PLAIN_PAGES and of docs/glossary.md, and
what it lets pass: exactly the limit.

usage: test_check_docs.py SOURCE
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))

import check_docs  # noqa: E402
import check_includes  # noqa: E402

LIMIT = check_docs.SENTENCE_WORDS
PAGE = "docs/memo.md"


def words(count, end="."):
    return "word " * (count - 1) + "last" + end


def table(*terms):
    return "| term | meaning |\n| --- | --- |\n" + "".join(f"| {term} | text |\n" for term in terms)


def code_list(folders):
    return ", ".join(f"`{folder}/`" for folder in folders)


def clean_tree():
    """The least that the other checks are content with."""
    folders = "".join(f"| `{folder}/` | text | {code_list(below)} |\n"
                      for folder, below in check_includes.PARTS.items())
    pages = {page: "Text.\n" for page in check_docs.PLAIN_PAGES}
    return {**pages, "docs/map.md": folders, "docs/scenario.md": "", "docs/embedding.md": "",
            "examples/README.md": ""}


class CheckDocs(unittest.TestCase):
    def problems(self, files):
        """What is said of a clean tree with `files` in it; None: without this one."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**clean_tree(), **files}.items():
                file = pathlib.Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                if text is not None:
                    file.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, "-B", SOURCE / "scripts/check_docs.py", folder],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            lines = done.stdout.splitlines()
            self.assertEqual(done.returncode, 0 if " 0 problems" in lines[-1] else 1)
            return lines[:-1]

    def long_sentences(self, text):
        """The lines and numbers of words of those on a page with this text."""
        said = self.problems({PAGE: text})
        for problem in said:
            self.assertRegex(problem, rf"^{PAGE}:\d+: a sentence of \d+ words, at most {LIMIT}: ")
        return [(int(problem.split(":")[1]), int(problem.split()[4])) for problem in said]

    def test_a_long_sentence(self):
        self.assertEqual(self.problems({PAGE: f"A title\n\n{words(LIMIT + 1)}\n"}),
                         [f"{PAGE}:3: a sentence of 36 words, at most 35: "
                          "word word word word word word ..."])
        self.assertEqual(self.problems({PAGE: words(LIMIT) + " " + words(LIMIT)}), [])

    def test_pages_that_are_not_listed(self):
        self.assertEqual(self.problems({"docs/other.md": words(100)}), [])

    def test_a_page_that_is_gone(self):
        self.assertEqual(self.problems({PAGE: None}),
                         [f"scripts/check_docs.py: PLAIN_PAGES: there is no {PAGE}"])

    def test_where_sentences_end(self):
        for end in ".!?:":
            self.assertEqual(self.long_sentences(words(LIMIT, end) + "\n" + words(LIMIT, end)), [])
        for end in (",", ";", ".5"):
            self.assertEqual(self.long_sentences(words(LIMIT, end) + " more."), [(1, LIMIT + 1)])

    def test_lines_of_a_paragraph_are_one_text(self):
        half = words(20, "")
        self.assertEqual(self.long_sentences(f"Short.\n\n{half}\n{half}.\n"), [(3, 40)])
        self.assertEqual(self.long_sentences(f"{half}\n\n{half}.\n"), [])
        self.assertEqual(self.long_sentences(f"# {half}\n{half}.\n"), [])

    def test_items_of_lists(self):
        half = words(20, "")
        self.assertEqual(self.long_sentences(f"- {half}\n- {half}\n  - {half}\n1. {half}\n"), [])
        self.assertEqual(self.long_sentences(f"- {half}\n  {half}\n"), [(1, 40)])

    def test_cells_of_tables(self):
        half = words(20, "")
        row = f"| {half} | {half} |\n"
        self.assertEqual(self.long_sentences("| a | b |\n| --- | --- |\n" + row + row), [])
        self.assertEqual(self.long_sentences(f"| a | b |\n| --- | --- |\n| {half} {half} | c |\n"),
                         [(3, 40)])

    def test_code(self):
        block = words(100)
        self.assertEqual(self.long_sentences(f"Text:\n\n    {block}\n\n    {block}\n"), [])
        self.assertEqual(self.long_sentences(f"```\n{block}\n```\n{words(36)}\n"), [(4, 36)])
        self.assertEqual(self.long_sentences(f"`{words(10)}` {words(LIMIT - 1)}"), [])
        self.assertEqual(self.long_sentences(f"`{words(10)}` {words(LIMIT)}"), [(1, LIMIT + 1)])
        self.assertEqual(self.long_sentences(f"| `a | b` {words(LIMIT - 1)} | c |\n"), [])

    def test_links_and_addresses(self):
        self.assertEqual(self.long_sentences(f"[two words](memo.md) {words(LIMIT - 2)}"), [])
        self.assertEqual(self.long_sentences(f"[two words](memo.md) {words(LIMIT - 1)}"),
                         [(1, LIMIT + 1)])
        self.assertEqual(self.long_sentences(f"At <https://a.test/b?c=d> {words(LIMIT - 1)}"), [])

    def test_signs_are_no_words(self):
        self.assertEqual(self.long_sentences(f"1 + 2 = 3 -> 4 | {words(LIMIT - 4)}"), [])
        self.assertEqual(self.long_sentences(f"<!-- {words(100)} -->\n"), [])

    def test_a_glossary(self):
        page = check_docs.GLOSSARY
        self.assertEqual(self.problems({page: table("ACK", "all-to-all", "lane", "Lane 2")}), [])
        self.assertEqual(self.problems({page: "Text.\n\n" + table("lane", "cell", "memo")}),
                         [f"{page}:6: cell belongs before lane"])
        self.assertEqual(self.problems({page: table("lane", "memo", "Lane")}),
                         [f"{page}:5: Lane is there twice"])
        # Each table by itself.
        two = table("lane", "memo") + "\n" + table("cell", "lane")
        self.assertEqual(self.problems({page: two}), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

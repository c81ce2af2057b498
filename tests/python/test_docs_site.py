# SPDX-License-Identifier: Apache-2.0
"""The site of docs/."""
import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import SOURCE

SCRIPT = "scripts/docs_site"


def build(source, out):
    return subprocess.run([sys.executable, source / SCRIPT, out], capture_output=True, text=True, check=False,
                          env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})


@pytest.fixture(autouse=True)
def needs_mkdocs():
    pytest.importorskip("mkdocs")


def test_it_has_every_page_and_finds_its_words(tmp_path):
    built = build(SOURCE, tmp_path)
    assert built.returncode == 0, built.stderr
    found = json.loads((tmp_path / "search" / "search_index.json").read_text())["docs"]
    pages = {entry["location"].split("#")[0] for entry in found}
    wanted = {str(page.relative_to(SOURCE / "docs").with_suffix(".html")) for page in (SOURCE / "docs").rglob("*.md")}
    assert wanted | {"index.html"} <= pages
    assert any("successive halving" in entry["text"].lower() for entry in found)
    # Nothing is loaded from elsewhere.
    assert "https://fonts." not in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("link", ["nowhere.md", "glossary.md#no-such-heading"])
def test_a_link_that_leads_nowhere_is_an_error(tmp_path, link):
    copy = tmp_path / "copy"
    shutil.copytree(SOURCE / "docs", copy / "docs")
    (copy / "scripts").mkdir()
    shutil.copy(SOURCE / SCRIPT, copy / SCRIPT)
    shutil.copy(SOURCE / "README.md", copy)
    (copy / "build").mkdir()
    (copy / "build" / "python").symlink_to(SOURCE / "build" / "python")
    with open(copy / "docs" / "audit.md", "a", encoding="utf-8") as page:
        page.write(f"\n[planted]({link})\n")
    built = build(copy, tmp_path / "site")
    assert built.returncode != 0
    assert link.split("#")[-1] in built.stdout + built.stderr

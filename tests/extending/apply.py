# SPDX-License-Identifier: Apache-2.0
"""Copies FOLDERS of SOURCE to TREE with every PATCH applied; if TREE holds just that already,
nothing is touched and nothing compiled again.

usage: apply.py SOURCE TREE FOLDER,FOLDER... PATCH...
"""
import filecmp
import pathlib
import shutil
import subprocess
import sys
import tempfile


def main():
    source, tree = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        fresh = pathlib.Path(folder)
        for name in sys.argv[3].split(","):
            shutil.copytree(source / name, fresh / name)
        for patch in sys.argv[4:]:
            with open(patch, encoding="utf-8") as text:
                # Exactly: a patch that fits only with fuzz is one that the page shows wrongly.
                subprocess.run(["patch", "-p1", "--fuzz=0", "--silent", "--directory", fresh],
                               stdin=text, check=True)
        changed = False
        for path in fresh.rglob("*"):
            if path.suffix not in {".h", ".cpp"}:
                continue
            copy = tree / path.relative_to(fresh)
            if not copy.exists() or not filecmp.cmp(path, copy, shallow=False):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
                changed = True
        for copy in tree.rglob("*.*"):
            if copy.is_file() and not (fresh / copy.relative_to(tree)).exists():
                copy.unlink()
                changed = True
        # The build looked at the headers before they changed: it goes by the sources alone.
        for copy in tree.rglob("*.cpp"):
            if changed:
                copy.touch()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of python/ in build/python, the environment that scripts/python.sh makes.

    in_environment.py package|cluster|notebooks|types

SLUICE is the program, SLUICE_BUILD a folder for what tools remember. Without the environment it says "skipped: WHY"."""
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PYTHON = SOURCE / "build" / "python" / "bin" / "python"
CLUSTER = ["test_dask.py", "test_slurm.py"]
NOTEBOOKS = ["test_notebooks.py"]


def main():
    suite = sys.argv[1]
    if not (SOURCE / "build" / "python" / "packages").is_file():
        print("skipped: no packages in build/python; ./run-tests fetches them from PyPI")
        return 0
    build = pathlib.Path(os.environ["SLUICE_BUILD"]).resolve()
    if suite == "types":
        return subprocess.run([PYTHON, "-m", "mypy", "--cache-dir", build / "mypy"], cwd=SOURCE / "python",
                              check=False).returncode
    here = pathlib.Path(__file__).resolve().parent
    files = sorted(path.name for path in here.glob("test_*.py"))
    chosen = {"cluster": CLUSTER, "notebooks": NOTEBOOKS,
              "package": [name for name in files if name not in CLUSTER + NOTEBOOKS]}[suite]
    return subprocess.run(
        [PYTHON, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *(here / name for name in chosen)], cwd=build,
        env={**os.environ, "PYTHONPATH": str(SOURCE / "python" / "src"), "MPLBACKEND": "agg",
             # Never the cache of who runs the tests.
             "XDG_CACHE_HOME": str(build / "cache")}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

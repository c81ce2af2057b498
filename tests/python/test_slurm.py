# SPDX-License-Identifier: Apache-2.0
"""A study by Slurm. Its sbatch is played by a script that runs the array's tasks one after the other, as Slurm would
start them; with a real Slurm on PATH (and a queue that runs), SLUICE_SLURM=1 takes that."""
import os
import shutil
import subprocess

import pytest

import sluice
from conftest import contents

CLOCKS = ["wall_s", "cpu_s"]
SBATCH = """\
#!/bin/bash
set -eu
[ "$1" = --wait ]
range=$(sed -n 's/^#SBATCH --array=1-//p' "$2")
for task in $(seq "$range"); do
    SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=1 sh "$2"
done
"""


@pytest.fixture
def sbatch(tmp_path, monkeypatch):
    if os.environ.get("SLUICE_SLURM"):
        return
    path = tmp_path / "bin" / "sbatch"
    path.parent.mkdir()
    path.write_text(SBATCH)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")


def test_the_same_table(small, tmp_path, sbatch):
    axes = {"congestion.law": ["hpcc", "dcqcn"], "seed": range(5)}
    here = sluice.Study(small, axes, mode="flow", folder=tmp_path / "here").run()
    there = sluice.Study(small, axes, mode="flow", folder=tmp_path / "there").run("slurm", shards=3)
    assert there.frame().drop(CLOCKS).equals(here.frame().drop(CLOCKS))
    assert subprocess.run(["bash", "-n", there.folder / "small-study.sbatch"], check=False).returncode == 0
    assert len(list(there.folder.glob("shards/*-of-3/batch.db"))) == 3


def test_one_memo(lone, tmp_path, sbatch):
    memos = [tmp_path / f"{name}.sqlite" for name in ("here", "there")]
    sluice.Study(lone, {"seed": [7]}, folder=tmp_path / "before", memo=memos[0]).run()
    shutil.copy(*memos)
    here = sluice.Study(lone, {"seed": range(5)}, folder=tmp_path / "here", memo=memos[0]).run()
    there = sluice.Study(lone, {"seed": range(5)}, folder=tmp_path / "there", memo=memos[1]).run("slurm", shards=3)
    assert there.frame().drop(CLOCKS).equals(here.frame().drop(CLOCKS))
    assert contents(memos[0]) == contents(memos[1]) != []


def test_without_slurm_it_says_where_the_script_is(small, tmp_path, monkeypatch):
    for folder in ("/usr/bin/sbatch", "/bin/sbatch"):
        if os.path.exists(folder):
            pytest.skip("there is a Slurm")
    study = sluice.Study(small, {"seed": [1]}, folder=tmp_path / "s")
    with pytest.raises(sluice.Error, match="no sbatch on PATH; .*small-study.sbatch is the script"):
        study.run("slurm")
    assert "#SBATCH --array=1-1\n" in (study.folder / "small-study.sbatch").read_text()

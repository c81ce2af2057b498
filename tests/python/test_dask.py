# SPDX-License-Identifier: Apache-2.0
"""A study on a Dask cluster of two workers, one of which is killed."""
import os
import shutil
import signal
import threading
import time

import pytest

import sluice
from conftest import contents

distributed = pytest.importorskip("distributed")
CLOCKS = ["wall_s", "cpu_s"]
SEEDS = range(1, 41)


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as made:
            yield made


def test_the_same_table_though_a_worker_is_killed(small, tmp_path, client):
    axes = {"congestion.law": ["hpcc", "dcqcn"], "seed": SEEDS}
    sizes = {"workload.size": "1MB", "mode": "packet"}
    here = sluice.Study(small, axes, set=sizes, folder=tmp_path / "here").run()
    there = sluice.Study(small, axes, set=sizes, folder=tmp_path / "there")
    victim = list(client.run(os.getpid).values())[0]
    killer = threading.Thread(target=_kill_when_something_is_done, args=(there.folder, victim))
    killer.start()
    there.run(client, shards=4)
    killer.join()
    assert there.frame().drop(CLOCKS).equals(here.frame().drop(CLOCKS))
    assert there.best("jct_s") == here.best("jct_s")
    without = [_without_clocks(study.folder / "batch.csv") for study in (here, there)]
    assert without[0] == without[1]


def test_one_memo(lone, tmp_path, client):
    memos = [tmp_path / f"{name}.sqlite" for name in ("here", "there")]
    sluice.Study(lone, {"seed": [7]}, folder=tmp_path / "before", memo=memos[0]).run()
    shutil.copy(*memos)
    axes = {"congestion.law": ["hpcc", "dctcp"], "seed": range(4)}
    here = sluice.Study(lone, axes, folder=tmp_path / "here", memo=memos[0]).run()
    there = sluice.Study(lone, axes, folder=tmp_path / "there", memo=memos[1]).run(client, shards=5)
    assert there.frame().drop(CLOCKS).equals(here.frame().drop(CLOCKS))
    assert contents(memos[0]) == contents(memos[1]) != []


def _kill_when_something_is_done(folder, victim):
    while not any(path.stat().st_size > 300 for path in folder.glob("shards/*/batch.csv")):
        time.sleep(0.01)
    os.kill(victim, signal.SIGKILL)


def _without_clocks(path):
    """The file's own bytes, but for the two columns that a clock measured."""
    lines = [line.split(",") for line in path.read_text().splitlines()]
    clocks = [lines[0].index(name) for name in CLOCKS]
    return [[field for at, field in enumerate(line) if at not in clocks] for line in lines]

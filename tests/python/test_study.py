# SPDX-License-Identifier: Apache-2.0
"""sluice.Study on this machine."""
import tomllib

import polars
import pytest

import sluice


def test_a_grid_with_repetitions(examples, tmp_path):
    study = sluice.Study(examples / "incast.toml",
                         {"congestion.law": ["hpcc", "dcqcn"], ("workload.senders", "workload.size"): [(4, "100KB"),
                                                                                                    (8, "50KB")],
                          "seed": range(1, 4)}, mode="packet", folder=tmp_path / "study", name="laws")
    assert "12 experiments" in study.plan()
    frame = study.run(threads=2).frame()
    assert frame["experiment"].to_list() == list(range(12))
    assert set(frame["status"]) == {"done"}
    ranking = study.ranking("fct_p99_s")
    assert ranking["repetitions"].to_list() == [3] * 4
    assert ranking["fct_p99_s"].is_sorted()
    best = study.best("fct_p99_s")
    mine = frame.filter(polars.col("congestion.law") == best["congestion.law"],
                        polars.col("workload.senders") == best["workload.senders"])["fct_p99_s"]
    assert best["fct_p99_s"] == pytest.approx(mine.mean())
    # 4.303: the 97.5% quantile of Student's t with 2 degrees of freedom, by any table.
    assert best["fct_p99_s_half"] == pytest.approx(4.303 * mine.std() / 3 ** 0.5, rel=1e-3)


def test_it_goes_on_where_it_was(small, tmp_path):
    first = sluice.Study(small, {"seed": [1, 2]}, mode="packet", folder=tmp_path / "s").run().frame()
    more = sluice.Study(small, {"seed": [1, 2, 3]}, mode="packet", folder=tmp_path / "s").run().frame()
    assert more.head(2).equals(first)  # clocks and all: they did not run again
    assert len(more) == 3


def test_tables_and_failures(small, tmp_path):
    study = sluice.Study(small, {"topology": [{"type": "star", "hosts": 4}, {"type": "stra", "hosts": 4}]},
                         mode="flow", folder=tmp_path / "s")
    assert study.run().frame()["status"].to_list() == ["done", "refused"]
    assert study.best("jct_s")["experiment"] == 0
    assert tomllib.loads(study.file.read_text())["axis"][0]["values"][1]["type"] == "stra"


def test_refusals(small, tmp_path):
    with pytest.raises(sluice.Error, match="nonsense.toml"):
        sluice.Study(tmp_path / "nonsense.toml", {"seed": [1]}, folder=tmp_path / "s").run()
    with pytest.raises(sluice.Error, match="must be a list of values"):
        sluice.Study(small, {"congestion.law": "hpcc"})
    with pytest.raises(sluice.Error, match="every experiment is refused"):
        sluice.Study(small, {"topology.spokes": [1, 2]}, mode="flow", folder=tmp_path / "r").run()
    study = sluice.Study(small, {"seed": [1]}, mode="flow", folder=tmp_path / "s")
    with pytest.raises(sluice.Error, match="must be \"local\", \"slurm\""):
        study.run("cloud")
    study.run()
    with pytest.raises(sluice.Error, match="no column of batch.csv"):
        study.best("speed")


def test_what_a_study_has_learned_the_next_one_knows(lone, tmp_path):
    axes = {"seed": range(1, 4)}
    cold = sluice.Study(lone, axes, folder=tmp_path / "cold", memo=tmp_path / "memo.sqlite").run().frame()
    assert (tmp_path / "memo.sqlite").is_file()
    warm = sluice.Study(lone, axes, folder=tmp_path / "warm", memo=tmp_path / "memo.sqlite").run().frame()
    assert warm["packet_hops"].sum() < cold["packet_hops"].sum()
    with pytest.raises(sluice.Error, match="is not a memo"):
        sluice.Study(lone, axes, folder=tmp_path / "no", memo=lone).run()
    with pytest.raises(sluice.Error, match="memo 3 must be a path"):
        sluice.Study(lone, axes, memo=3)

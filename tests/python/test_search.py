# SPDX-License-Identifier: Apache-2.0
"""Sampled axes, successive halving and Optuna."""
import polars
import pytest

import sluice

pytest.importorskip("scipy")
SPACE = {"topology.hosts": (4, 19), "congestion.law": ["hpcc", "dcqcn"], "network.ecn.pmax": (0.1, 0.5)}


@pytest.mark.parametrize("sample", [sluice.latin_hypercube, sluice.sobol])
def test_samples_fill_the_space(sample):
    (keys, points), = sample(SPACE, 16, seed=3).items()
    assert keys == tuple(SPACE)
    # One in each sixteenth of every range.
    assert sorted(point[0] for point in points) == list(range(4, 20))
    assert [point[1] for point in points].count("hpcc") == 8
    assert sorted(int((point[2] - 0.1) / 0.4 * 16) for point in points) == list(range(16))
    assert sample(SPACE, 16, seed=3) == {keys: points} != sample(SPACE, 16, seed=4)


def test_a_sampled_study(examples, tmp_path):
    axes = {**sluice.latin_hypercube({"workload.senders": [4, 8, 16], "network.buffer.size": ["2MiB", "8MiB"]}, 9),
            "seed": [1, 2]}
    study = sluice.Study(examples / "incast.toml", axes, mode="flow", folder=tmp_path / "s").run()
    assert len(study.frame()) == 2 * len(next(iter(axes.values())))
    with pytest.raises(sluice.Error, match="is no range"):
        sluice.sobol({"seed": (3, 1)}, 2)


def test_halving_finds_the_exhaustive_best(examples, tmp_path):
    axes = {"congestion.law": ["hpcc", "dcqcn", "timely", "dctcp"], "workload.senders": [4, 6, 8, 10],
            "seed": [1, 2, 3]}
    study = sluice.Study(examples / "incast.toml", axes, set={"workload.size": "100KB"}, folder=tmp_path / "s")
    found = sluice.successive_halving(study, "fct_p99_s", modes=("flow", "packet"), keep=0.25)
    every = sluice.Study(examples / "incast.toml", axes, set={"workload.size": "100KB"}, mode="packet",
                         folder=tmp_path / "e").run()
    best = every.best("fct_p99_s")
    assert found.best["fct_p99_s"] <= 1.01 * best["fct_p99_s"]
    rungs = found.promotions.partition_by("rung")
    assert [len(rung) for rung in rungs] == [16, rungs[0]["promoted"].sum()]
    assert rungs[1]["promoted"].sum() == 1
    for rung in rungs:
        assert rung["fct_p99_s"].is_sorted()
        assert (rung["why"].str.len_chars() > 0).all()
    # Whoever was left behind is surely worse than the last that went on.
    behind = rungs[0].filter(~polars.col("promoted"))
    cut = rungs[0].row(3, named=True)
    assert (behind["fct_p99_s"] - behind["fct_p99_s_half"] > cut["fct_p99_s"] + cut["fct_p99_s_half"]).all()


def test_halving_ends_where_the_first_mode_allows_no_more(examples, tmp_path):
    axes = {"congestion.law": ["hpcc", "dcqcn", "timely", "dctcp"], "workload.senders": [4, 6, 8, 10]}
    base = {"set": {"workload.size": "100KB"}, "mode": None}
    whole = sluice.successive_halving(sluice.Study(examples / "incast.toml", axes, **base, folder=tmp_path / "w"),
                                      "fct_p99_s", modes=("flow", "packet"), keep=0.9)
    first, packet = whole.promotions.partition_by("rung")
    gap = packet["fct_p99_s"][0] / first["fct_p99_s"][0] - 1
    study = sluice.Study(examples / "incast.toml", axes, **base, folder=tmp_path / "s")
    # Wider than the gap: one wave. Narrower: nothing comes near enough, and all run.
    early = sluice.successive_halving(study, "fct_p99_s", modes=("flow", "packet"), keep=0.9, tolerance=max(gap, 0) + 0.02)
    rungs = early.promotions.partition_by("rung")
    assert len(rungs[1]) == rungs[0]["promoted"].sum() < len(packet)
    assert early.best["fct_p99_s"] <= (1.02 + max(gap, 0)) * first["fct_p99_s"][0]
    assert rungs[0].filter(polars.col("why").str.contains("not needed"))["promoted"].sum() == 0
    if gap > 0.002:
        late = sluice.successive_halving(study, "fct_p99_s", modes=("flow", "packet"), keep=0.9, tolerance=gap / 2)
        assert late.best["fct_p99_s"] == whole.best["fct_p99_s"]
        assert len(late.promotions.partition_by("rung")[1]) == len(packet)
    with pytest.raises(sluice.Error, match="tolerance"):
        sluice.successive_halving(study, tolerance=1)


def test_halving_refuses_nothing_to_choose(small, tmp_path):
    with pytest.raises(sluice.Error, match="varies nothing but seeds"):
        sluice.successive_halving(sluice.Study(small, {"seed": [1, 2]}, folder=tmp_path))


def test_optuna_proposes_and_batches_evaluate(examples, tmp_path):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    search = sluice.tune(examples / "incast.toml", {"workload.senders": (2, 16), "congestion.law": ["hpcc", "cubic"]},
                         12, at_a_time=4, mode="flow", folder=tmp_path / "t")
    states = {trial.params["congestion.law"]: trial.state.name for trial in search.trials}
    assert states.get("cubic", "FAIL") == "FAIL"
    assert len(search.trials) == 12
    done = [trial for trial in search.trials if trial.value is not None]
    assert search.best_value == min(trial.value for trial in done)
    assert search.best_trial.params["workload.senders"] == min(trial.params["workload.senders"] for trial in done)

# SPDX-License-Identifier: Apache-2.0
"""sluice.run() and what a Run reads."""
import csv
import json
import os

import polars
import pytest

import sluice
from sluice import toml


def test_frames_hold_what_the_files_hold(small, tmp_path):
    run = sluice.run(small, {"congestion.law": "dcqcn"}, mode="packet", out=tmp_path / "out")
    written = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert run.summary == written
    assert run.summary["config"]["congestion"]["law"] == "dcqcn"
    assert run.complete
    flows = run.flows()
    with open(tmp_path / "out" / "flows.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert flows.columns == list(rows[0])
    assert flows["finish_ps"].to_list() == [int(row["finish_ps"]) for row in rows]
    assert flows.schema["finish_ps"] == polars.Int64
    assert flows["fct_ps"].max() / 1e12 == pytest.approx(run.summary["fct_s"]["max"], rel=1e-9)
    assert run.ports()["tx_bytes"].sum() > flows["size_bytes"].sum()
    assert "written to" in run.text


def test_what_a_mode_does_not_have_is_null(small):
    ports = sluice.run(small, mode="flow").ports()
    assert ports["max_queue_bytes"].null_count() == len(ports)
    assert ports.schema["max_queue_bytes"] == polars.Int64
    assert ports["tx_bytes"].null_count() == 0


def test_a_job(examples):
    run = sluice.run(examples / "gpt13b-128gpu.toml", {"output.trace": False}, options=["--no-memo"])
    assert run.summary["jobs"][0]["jct_s"] == pytest.approx(run.summary["jct_s"])
    collectives = run.collectives()
    assert (collectives["finish_ps"] - collectives["start_ps"] == collectives["duration_ps"]).all()
    assert set(run.phases()["phase"]) <= {"unsteady", "steady", "memoized"}


def test_pictures_show_the_run(examples):
    run = sluice.run(examples / "zero-bubble-16gpu.toml", mode="flow")
    timeline = run.plot.timeline(rows=4)
    assert [label.get_text().split(":")[0] for label in timeline.get_yticklabels()] == ["host 0", "host 4", "host 8",
                                                                                       "host 12"]
    end = timeline.get_xlim()[1]
    assert end >= 1e3 * run.summary["jct_s"] > end / 2
    assert "compute" in [text.get_text() for text in timeline.get_legend().get_texts()]
    links = run.plot.links(top=5)
    busiest = sorted(run.ports()["utilization"], reverse=True)[:5]
    assert [bar.get_width() for bar in links.patches] == [pytest.approx(100 * share) for share in busiest]


def test_errors_are_one_line(small, tmp_path):
    with pytest.raises(sluice.Error, match="must be one of hpcc, dcqcn") as wrong:
        sluice.run(small, {"congestion.law": "dcqcm"})
    assert wrong.value.code == 2
    assert "\n" not in str(wrong.value)
    with pytest.raises(sluice.Error, match="holds no finished run"):
        sluice.Run(tmp_path)
    with pytest.raises(sluice.Error, match="output.trace = true"):
        sluice.run(small, {"output.trace": False}).trace()




def test_a_temporary_folder_goes_with_its_run(small):
    run = sluice.run(small, mode="flow")
    folder = run.folder
    assert folder.is_dir()
    del run
    assert not folder.exists()


def test_where_the_program_is(monkeypatch, tmp_path):
    named = os.environ["SLUICE"]
    assert str(sluice.program()) == os.path.realpath(named)
    monkeypatch.setenv("SLUICE", str(tmp_path / "none"))
    with pytest.raises(sluice.Error, match="is no program"):
        sluice.program()
    monkeypatch.delenv("SLUICE")
    monkeypatch.setenv("PATH", os.path.dirname(named))
    assert str(sluice.program()) == os.path.realpath(named)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(sluice.Error, match="no program sluice"):
        sluice.program()


def test_values_as_toml():
    assert toml.value({"type": "star", "hosts": 4, "up": True, "list": [1, 2.5, "a\"\x7f\n"]}) == \
        '{type = "star", hosts = 4, up = true, list = [1, 2.5, "a\\"\\u007f\\n"]}'
    import tomllib
    for held in (1e300, float("inf"), -3, "ü\t\\", {"a b": [{"c.d": 1}]}, [], False):
        assert tomllib.loads(f"x = {toml.value(held)}")["x"] == (held if held != {"a b": [{"c.d": 1}]}
                                                                else {"a b": [{"c": {"d": 1}}]})
    with pytest.raises(sluice.Error, match="is no value of a scenario"):
        toml.value(object())


def test_a_run_that_does_not_come_to_its_end_is_returned(small):
    run = sluice.run(small, {"stop": "3us"}, mode="packet")
    assert not run.complete
    assert run.summary["flows_completed"] < run.summary["flows"]

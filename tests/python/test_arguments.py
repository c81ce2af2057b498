# SPDX-License-Identifier: Apache-2.0
"""Values of the wrong kind: each is an Error of one line that names what is wrong."""
import pytest
import sluice

WRONG = [None, 5, 1.5, object(), b"\xff", "a\0b", "\ud800", ["x"], {1: 2}, {"a": 1}, ("a", 1)]


def refused(call, *args, says=None, **kwargs):
    with pytest.raises(sluice.Error, match=says) as wrong:
        call(*args, **kwargs)
    assert str(wrong.value) and "\n" not in str(wrong.value)


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_arguments_of_a_run(small, tmp_path, value):
    refused(sluice.run, value)
    refused(sluice.Run, value)
    if value is not None:
        refused(sluice.run, small, mode=value)
        refused(sluice.run, small, out=value if not isinstance(value, bytes) else 3)
        refused(sluice.run, small, options=value)
    if value not in (None, 5):
        refused(sluice.run, small, threads=value, says="threads")
    if value is not None:
        refused(sluice.run, small, value)
    refused(sluice.run, small, {"seed": value} if value != 5 else {"seed": object()})


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_arguments_of_a_study(small, tmp_path, value):
    refused(sluice.Study, value if value is None or not isinstance(value, bytes) else 7)
    refused(sluice.Study, small, {"seed": value if not isinstance(value, (list, tuple)) else None}, says="axis 'seed'")
    if value is not None:
        refused(sluice.Study, small, value if not isinstance(value, dict) else [1], says="axes|axis")
        refused(sluice.Study, small, name=value, says="name")
    study = sluice.Study(small, {"seed": [1]}, folder=tmp_path / "study")
    refused(study.run, value, says="executor|must be \"local\"")
    if value != 5 and value is not None:
        refused(study.run, threads=value, says="threads")
        refused(study.run, shards=value, says="shards")
    if value is not None:
        refused(study.run, options=value if value != ["x"] else 1, says="options")


def test_axes_that_do_not_fit_their_keys(small):
    refused(sluice.Study, small, {("seed", "mode"): [(1, "flow"), (2,)]}, says="a value for each of 2 keys")
    refused(sluice.Study, small, {("seed", 3): [(1, 2)]}, says="axis .*3 must be a text")
    refused(sluice.Study, small, {(): [()]}, says="a key, or a tuple of keys")
    refused(sluice.Study, small, {"seed": {"a": 1}}, says="must be a list of values")
    refused(sluice.Study, small, name="a/b", says="a file's name")


def test_studies_that_no_file_can_hold(small, tmp_path):
    for base, axes, more, says in ((tmp_path / "\udcff.toml", {"seed": [1]}, {}, "must be UTF-8"),
                                   (small, {"seed": [1]}, {"set": {"a.\udcff": 1}}, "must be UTF-8"),
                                   (small, {"seed": [1]}, {"name": "n" * 300}, "File name too long")):
        refused(sluice.Study(base, axes, folder=tmp_path / "study", **more).run, says=says)


def test_spaces_and_searches(small, tmp_path):
    for space in (None, 5, {}, {"seed": 5}, {"seed": (2, 1)}, {"seed": "ab"}, {3: [1]}):
        refused(sluice.latin_hypercube, space, 4)
        refused(sluice.sobol, space, 4)
    refused(sluice.sobol, {"seed": (1, 4)}, "four", says="points")
    refused(sluice.sobol, {"seed": (1, 4)}, 4, "seed", says="seed")
    study = sluice.Study(small, {"workload.size": ["1KB"]}, folder=tmp_path / "study")
    refused(sluice.successive_halving, small, says="must be a sluice.Study")
    refused(sluice.successive_halving, study, keep="half", says="keep")
    refused(sluice.successive_halving, study, modes="flow", says="modes")
    refused(sluice.successive_halving, study, modes=[], says="modes")


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_arguments_of_a_network(small, value):
    refused(sluice.open, value if value is None or not isinstance(value, bytes) else 7)
    refused(sluice.open_text, value)
    refused(sluice.open_text, "", value)
    if value is not None:
        refused(sluice.open, small, value)
    with sluice.open(small) as net:
        for name in ("queue_pair", "priority", "tag", "not_before"):
            refused(net.send, 0, 1, 1, says=name, **{name: value if value != 5 else -5})
        refused(net.run_until, value if value != 5 else -5)
        refused(lambda: list(net.completions(value if value != 5 else -5)))


def test_more_than_anybody_can_mean(small, tmp_path):
    refused(sluice.Study, small, {"seed": range(1 << 40)}, says="has more than 1000000 values")
    refused(sluice.run, small, {"seed": range(1 << 40)}, says="has more than 1000000 values")
    refused(sluice.run, small, options=("x" for _ in range(1 << 40)), says="has more than")
    refused(sluice.latin_hypercube, {"seed": range(1 << 40)}, 4, says="has more than")
    refused(sluice.Run, "x" * 5000, says="holds no finished run")
    run = sluice.run(small, mode="flow", out=tmp_path / "out")
    refused(run.table, "x" * 5000, says="is not there")
    refused(run.table, "a\nb", says="is not there")


def test_more_words_than_the_system_takes(small):
    refused(sluice.run, small, {"name": "x" * (1 << 18)}, says="cannot be started: Argument list too long")


def test_arrays_are_values(small):
    numpy = pytest.importorskip("numpy")
    from sluice import toml
    assert toml.value(numpy.array([1, 2])) == "[1, 2]"
    assert toml.value(numpy.float64(0.5)) == "0.5"
    assert toml.value([numpy.int64(3), numpy.bool_(True)]) == "[3, true]"

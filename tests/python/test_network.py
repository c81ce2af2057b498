# SPDX-License-Identifier: Apache-2.0
"""sluice.open(): a network in this process, by libsluice.so."""
import pytest

import sluice
from sluice.network import _library

STAR = """\
[topology]
type = "star"
hosts = 4
rate = "100Gbps"
delay = "1us"
"""


@pytest.fixture(autouse=True)
def library():
    try:
        _library()
    except sluice.Error as error:
        pytest.skip(str(error))


def test_messages_come_back_in_order():
    with sluice.open_text(STAR, "star.toml") as net:
        assert (net.hosts, net.now) == (4, 0)
        first = net.send(0, 1, 1 << 20, tag=7)
        later = net.send(2, 3, 1000, tag=8, not_before=500_000_000)
        done = net.run_until(first)
        assert done is not None
        assert (done.tag, done.source, done.destination, done.bytes) == (7, 0, 1, 1 << 20)
        # Two cables each way, and a megabyte at 100 Gb/s.
        assert 4_000_000 + (8 << 20) * 10 < done.finished_ps < 110_000_000
        assert net.now == done.finished_ps
        net.run_until(200_000_000)
        assert net.now == 200_000_000
        assert [completion.tag for completion in net.completions()] == [8]
        with pytest.raises(sluice.Error, match="cannot complete"):
            net.run_until(later)


def test_what_completes_meanwhile_is_kept():
    with sluice.open_text(STAR) as net:
        short, long = net.send(0, 1, 1000), net.send(2, 3, 1 << 20)
        assert net.run_until(long).id == long.id
        assert net.run_until(short).id == short.id
        assert list(net.completions()) == []


def test_the_network_is_the_programs(small, tmp_path):
    """One flow alone takes as long as in a run of its own."""
    flows = tmp_path / "flows.csv"
    flows.write_text("src,dst,size,start\n0,1,1MB,0us\n")
    scenario = tmp_path / "one.toml"
    scenario.write_text(STAR + f"[workload]\ntype = \"flows\"\nfile = \"{flows}\"\n")
    row = sluice.run(scenario, mode="packet").flows().row(0, named=True)
    with sluice.open_text(STAR) as net:
        assert net.run_until(net.send(0, 1, 1_000_000)).finished_ps == row["finish_ps"]


def test_messages_are_of_one_network():
    with sluice.open_text(STAR) as one, sluice.open_text(STAR) as other:
        message = one.send(0, 1, 1000)
        other.send(2, 3, 5)
        with pytest.raises(sluice.Error, match="in another network"):
            other.run_until(message)
        assert one.run_until(message).source == 0


def test_errors_are_one_line(small):
    with pytest.raises(sluice.Error, match="star.toml:2"):
        sluice.open_text(STAR.replace("star", "stra"), "star.toml")
    with pytest.raises(sluice.Error, match="none.toml"):
        sluice.open("none.toml")
    with sluice.open(small, {"topology.hosts": 6}) as net:
        assert net.hosts == 6
        with pytest.raises(sluice.Error):
            net.send(0, 99, 1000)
        with pytest.raises(sluice.Error, match="source -1 must be from 0"):
            net.send(-1, 1, 1000)
        with pytest.raises(sluice.Error, match="size 1.5 must be a whole number"):
            net.send(0, 1, 1.5)
        with pytest.raises(sluice.Error, match="time .* must be from 0"):
            net.run_until(1 << 64)
    with pytest.raises(sluice.Error, match="is closed"):
        net.send(0, 1, 1)
    net.close()

# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package share."""
import contextlib
import pathlib
import sqlite3

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SMALL = """\
name = "small"
[topology]
type = "star"
hosts = 8
rate = "100Gbps"
[workload]
type = "permutation"
size = "100KB"
"""
LONE = """\
name = "lone"
[topology]
type = "star"
hosts = 4
rate = "400Gbps"
[workload]
type = "flows"
list = [[0, 1, "100MB", "1ms"], [0, 1, "100MB", "5ms"], [0, 1, "100MB", "9ms"], [0, 1, "100MB", "13ms"]]
"""


def contents(memo):
    """All that a memo says, but for when it was saved."""
    with contextlib.closing(sqlite3.connect(memo)) as database:
        return database.execute("SELECT digest, bytes FROM entries ORDER BY digest").fetchall()


@pytest.fixture
def small(tmp_path):
    """A scenario of microseconds."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def lone(tmp_path):
    """A scenario of flows alone, which teaches a memo something."""
    path = tmp_path / "lone.toml"
    path.write_text(LONE)
    return path


@pytest.fixture
def examples():
    return SOURCE / "examples"

# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package share."""
import pathlib

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


@pytest.fixture
def small(tmp_path):
    """A scenario of microseconds."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def examples():
    return SOURCE / "examples"

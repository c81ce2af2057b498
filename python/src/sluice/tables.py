# SPDX-License-Identifier: Apache-2.0
"""CSV files of the program as polars frames."""
from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING

from sluice.error import Error

if TYPE_CHECKING:
    import polars

# By the end of a column's name, as docs/outputs.md has them; the rest is inferred. What a mode does not have is null, and a
# column of nulls would have no type otherwise.
_WHOLE = ("_ps", "_bytes", "_bps", "_packets", "_skipped", "_saved", "ecn_marks", "drops", "pauses_sent", "packet_hops",
          "pfc_pauses", "bytes", "flows", "flows_completed")
_REAL = ("_s", "utilization", "slowdown", "jct_error", "jct_error_half")
_TEXT = ("label", "reason", "status", "kind", "group", "ended_by", "name", "job")


def read(path: pathlib.Path) -> polars.DataFrame:
    """A file with a header. Picoseconds and bytes are 64-bit integers, empty fields null."""
    import polars

    if not os.path.isfile(path):  # unlike pathlib's, false of names that no system takes
        raise Error(f"{path}: is not there; docs/outputs.md says what makes a run write it")
    with path.open(encoding="utf-8") as file:
        columns = file.readline().rstrip("\r\n").split(",")
    types: dict[str, type[polars.DataType]] = {}
    for column in columns:
        name = column.strip('"')
        if name in _TEXT:
            types[name] = polars.String
        elif name.endswith(_WHOLE):
            types[name] = polars.Int64
        elif name.endswith(_REAL):
            types[name] = polars.Float64
    return polars.read_csv(path, schema_overrides=types, infer_schema_length=None)

# SPDX-License-Identifier: Apache-2.0
"""Values as TOML, each on one line: as --set and batch files take them."""
from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from sluice import arguments
from sluice.error import Error


def value(of: Any) -> str:
    """A value as TOML. Texts, numbers, booleans, paths, lists and tables (mappings), and NumPy's scalars and arrays."""
    if hasattr(of, "tolist"):
        of = of.tolist()  # NumPy's
    if isinstance(of, bool):
        return "true" if of else "false"
    if isinstance(of, int):
        return str(of)
    if isinstance(of, float):
        return _number(of)
    if isinstance(of, (str, os.PathLike)):
        # JSON's escapes are TOML's, but for DEL, which TOML wants escaped.
        return json.dumps(arguments.utf8("the value", of), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(of, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {value(held)}" for key, held in of.items()) + "}"
    if isinstance(of, Iterable) and not isinstance(of, (bytes, bytearray)):
        return "[" + ", ".join(value(held) for held in arguments.values("a list", of)) + "]"
    raise Error(f"a {type(of).__name__} is no value of a scenario; allowed: text, number, boolean, list, table")


def _number(of: float) -> str:
    if math.isnan(of):
        return "nan"
    if math.isinf(of):
        return "inf" if of > 0 else "-inf"
    return repr(of)


def _key(name: Any) -> str:
    name = arguments.utf8("the key", arguments.text("the key", name))
    plain = all(part and part.replace("_", "").replace("-", "").isalnum() and part.isascii()
                for part in name.split("."))
    return name if plain else json.dumps(name, ensure_ascii=False)


def assignments(keys: Mapping[str, Any] | None) -> list[str]:
    """"key=value", as --set takes it."""
    return [f"{key}={value(held)}" for key, held in arguments.table("overrides", keys).items()]

# SPDX-License-Identifier: Apache-2.0
"""What callers pass: a value of the wrong kind is an Error of one line that names the argument."""
from __future__ import annotations

import itertools
import operator
import os
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

from sluice.error import Error


#: Of a list.
MOST_VALUES = 1_000_000


def shown(value: Any) -> str:
    """A value as messages show it: short, on one line."""
    return " ".join(reprlib.repr(value).split())


def path(name: str, value: Any) -> str:
    """A path."""
    try:
        return _whole_text(name, os.fsdecode(value))
    except TypeError:
        raise Error(f"{name} {shown(value)} must be a path") from None


def utf8(name: str, value: Any) -> str:
    """A path or text that a file of UTF-8 can hold: a file's name may be any bytes."""
    held = path(name, value)
    try:
        held.encode("utf-8")
    except UnicodeEncodeError:
        raise Error(f"{name} {shown(held)} must be UTF-8") from None
    return held


def text(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise Error(f"{name} {shown(value)} must be a text")
    return _whole_text(name, value)


def texts(name: str, value: Any) -> list[str]:
    """Several texts or paths, but not one."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise Error(f"{name} {shown(value)} must be a list of texts")
    return [path(name, word) for word in values(name, value)]


def values(name: str, value: Any) -> list[Any]:
    """Several of anything, as many as a batch has experiments at most."""
    if isinstance(value, (str, bytes, bytearray, Mapping)) or not isinstance(value, Iterable):
        raise Error(f"{name}: {shown(value)} must be a list of values")
    held = list(itertools.islice(value, MOST_VALUES + 1))
    if len(held) > MOST_VALUES:
        raise Error(f"{name}: {shown(value)} has more than {MOST_VALUES} values")
    return held


def table(name: str, value: Any) -> dict[str, Any]:
    """Keys and their values; None: no keys."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Error(f"{name} {shown(value)} must be keys and their values, such as {{\"seed\": 2}}")
    return {text(f"a key of {name}", key): held for key, held in value.items()}


def whole(name: str, value: Any, least: int = 1, most: int = (1 << 31) - 1) -> int:
    """A whole number of these."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Error(f"{name} {shown(value)} must be a whole number") from None
    if not least <= number <= most:
        raise Error(f"{name} {number} must be from {least} to {most}")
    return number


def _whole_text(name: str, value: str) -> str:
    if "\0" in value:
        raise Error(f"{name} {shown(value)} must not hold a NUL character")
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise Error(f"{name} {shown(value)} must be Unicode text") from None
    return value

# SPDX-License-Identifier: Apache-2.0
"""A network in this process, event by event, by Sluice's C interface (sluice.h, libsluice.so)."""
from __future__ import annotations

import ctypes
import ctypes.util
import functools
import itertools
import operator
import os
import pathlib
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from sluice import arguments, executable, toml
from sluice.error import Error

_FOREVER = (1 << 63) - 1
#: As queue_pair: one of this message's own.
OWN_QUEUE_PAIR = (1 << 32) - 1


class _Transfer(ctypes.Structure):
    _fields_ = [("source", ctypes.c_uint32), ("destination", ctypes.c_uint32), ("bytes", ctypes.c_uint64),
                ("queue_pair", ctypes.c_uint32), ("priority", ctypes.c_uint32), ("tag", ctypes.c_uint64),
                ("not_before_ps", ctypes.c_int64)]


class _Completion(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int64), ("tag", ctypes.c_uint64), ("source", ctypes.c_uint32),
                ("destination", ctypes.c_uint32), ("bytes", ctypes.c_uint64), ("posted_ps", ctypes.c_int64),
                ("started_ps", ctypes.c_int64), ("finished_ps", ctypes.c_int64)]


class Transfer(NamedTuple):
    """A message that was posted."""

    id: int
    network: int  #: which of this process's networks carries it


class Completion(NamedTuple):
    """A message that has arrived, acknowledged to its last byte. Times are picoseconds."""

    id: int
    tag: int
    source: int
    destination: int
    bytes: int
    posted_ps: int
    started_ps: int
    finished_ps: int


def _whole(name: str, value: Any, bits: int) -> int:
    """`value`, a whole number of so many bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Error(f"{name} {arguments.shown(value)} must be a whole number") from None
    if not 0 <= number < 1 << bits:
        raise Error(f"{name} {arguments.shown(number)} must be from 0 to 2^{bits} - 1")
    return number


def _library_path() -> str:
    named = os.environ.get("SLUICE_LIBRARY")
    if named:
        return named
    candidates = [pathlib.Path(__file__).resolve().parent / "lib" / "libsluice.so"]
    try:
        found = executable.program()
        candidates += [found.parent.parent / "lib" / "libsluice.so", found.parent.parent / "capi" / "libsluice.so",
                       found.parent / "build" / "release" / "capi" / "libsluice.so"]  # of the launcher
    except Error:
        pass
    for candidate in candidates:
        if candidate.is_file():
            return str(candidate)
    installed = ctypes.util.find_library("sluice")
    if installed is None:
        raise Error(f"no libsluice.so in {', '.join(str(path.parent) for path in candidates)}: build it, and set "
                    "SLUICE_LIBRARY to its path")
    return installed


@functools.cache
def _library() -> Any:
    path = _library_path()
    try:
        library = ctypes.CDLL(path)
        texts = ctypes.POINTER(ctypes.c_char_p)
        handle = ctypes.c_void_p
        for name, result, arguments in (
                ("sluice_open", handle, [ctypes.c_char_p, texts]),
                ("sluice_open_text", handle, [ctypes.c_char_p, ctypes.c_char_p, texts]),
                ("sluice_close", None, [handle]),
                ("sluice_last_error", ctypes.c_char_p, []),
                ("sluice_hosts", ctypes.c_uint32, [handle]),
                ("sluice_now", ctypes.c_int64, [handle]),
                ("sluice_post", ctypes.c_int64, [handle, ctypes.POINTER(_Transfer)]),
                ("sluice_advance", ctypes.c_int, [handle, ctypes.c_int64]),
                ("sluice_next_completion", ctypes.c_int, [handle, ctypes.c_int64, ctypes.POINTER(_Completion)])):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise Error(f"{path}: is no libsluice of this version: {error}") from error
    return library


def _texts(overrides: Mapping[str, Any] | None) -> Any:
    words = [text.encode(errors="surrogateescape") for text in toml.assignments(overrides)]
    return (ctypes.c_char_p * (len(words) + 1))(*words, None)


def _last_error() -> Error:
    text: bytes | None = _library().sluice_last_error()
    return Error((text or b"the library gave no reason").decode(errors="replace").removeprefix("sluice: "))


def open_network(path: str | os.PathLike[str], overrides: Mapping[str, Any] | None = None) -> Network:
    """A scenario's network at time 0, which carries the messages that you post; every packet is simulated. [workload] may
    be left out; if there is one, it runs beside them and is not reported."""
    return Network(_library().sluice_open(os.fsencode(arguments.path("path", path)), _texts(overrides)))


def open_text(text: str, name: str = "text", overrides: Mapping[str, Any] | None = None) -> Network:
    """The same of a scenario in a text; `name` stands for its file in messages."""
    words = [arguments.text(what, word).encode(errors="surrogateescape") for what, word in (("text", text), ("name", name))]
    return Network(_library().sluice_open_text(*words, _texts(overrides)))


_numbers = itertools.count()


class Network:
    """Hosts are numbered from 0, times are picoseconds since the beginning. Errors of the library are Error with its one
    line. Not for several threads at a time. Close it, or use it in a `with` statement."""

    def __init__(self, handle: int | None) -> None:
        if not handle:
            raise _last_error()
        self._handle: int | None = handle
        self._ended: dict[int, Completion] = {}
        self._number = next(_numbers)

    def __enter__(self) -> Network:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends it. Once is enough."""
        if self._handle is not None:
            _library().sluice_close(self._handle)
            self._handle = None

    def _open(self) -> int:
        if self._handle is None:
            raise Error("the network is closed")
        return self._handle

    @property
    def hosts(self) -> int:
        """How many there are."""
        return int(_library().sluice_hosts(self._open()))

    @property
    def now(self) -> int:
        """Simulated time, ps."""
        return int(_library().sluice_now(self._open()))

    def send(self, source: int, destination: int, size: int, *, queue_pair: int = 0, priority: int = 0, tag: int = 0,
             not_before: int = 0) -> Transfer:
        """Posts a message of `size` bytes, which takes effect now or at `not_before` (ps). Messages of one queue pair
        between two hosts leave in order and share its congestion state; OWN_QUEUE_PAIR: of this message alone.
        priority: traffic class 1 to 7; 0: class 3."""
        transfer = _Transfer(_whole("source", source, 32), _whole("destination", destination, 32),
                             _whole("size", size, 64), _whole("queue_pair", queue_pair, 32),
                             _whole("priority", priority, 32), _whole("tag", tag, 64),
                             _whole("not_before", not_before, 63))
        number = int(_library().sluice_post(self._open(), ctypes.byref(transfer)))
        if number < 0:
            raise _last_error()
        return Transfer(number, self._number)

    def run_until(self, what: int | Transfer) -> Completion | None:
        """Until a time (ps), or until a message has arrived, which is returned. Error if nothing is left that could
        bring it."""
        if not isinstance(what, Transfer):
            if _library().sluice_advance(self._open(), _whole("time", what, 63)) < 0:
                raise _last_error()
            return None
        if what.network != self._number:
            raise Error(f"transfer {what.id} was posted in another network")
        while what.id not in self._ended:
            completion = self._next(_FOREVER)
            if completion is None:
                raise Error(f"transfer {what.id} cannot complete: nothing is in progress any more, or it was taken already")
            self._ended[completion.id] = completion
        return self._ended.pop(what.id)

    def completions(self, until: int = _FOREVER) -> Iterator[Completion]:
        """Messages in the order in which they arrive, up to a time (ps). Time goes on as they are taken."""
        while self._ended:
            yield self._ended.pop(next(iter(self._ended)))
        while (completion := self._next(_whole("time", until, 63))) is not None:
            yield completion

    def _next(self, until: int) -> Completion | None:
        found = _Completion()
        result = _library().sluice_next_completion(self._open(), until, ctypes.byref(found))
        if result < 0:
            raise _last_error()
        return Completion(*(getattr(found, name) for name in Completion._fields)) if result else None

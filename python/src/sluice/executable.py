# SPDX-License-Identifier: Apache-2.0
"""The program `sluice`: where it is, and how it is called."""
from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

from sluice import arguments as given
from sluice.error import Error

DONE, WORK_LEFT, INTERRUPTED = 0, 3, 130
_PACKED = pathlib.Path(__file__).resolve().parent / "bin" / "sluice"


def program() -> pathlib.Path:
    """The program that this package uses: the wheel's own, else what the environment variable SLUICE names, else
    `sluice` on PATH. Error if there is none."""
    if _PACKED.is_file():
        return _PACKED
    named = os.environ.get("SLUICE")
    if named:
        if not os.access(named, os.X_OK):
            raise Error(f"SLUICE={named}: is no program; allowed: the path of a built sluice")
        return pathlib.Path(named).resolve()
    found = shutil.which("sluice")
    if found is None:
        raise Error("no program sluice: install the wheel, set SLUICE to its path, or add its folder to PATH")
    return pathlib.Path(found).resolve()


def version() -> str:
    """Of the program, as its results name it."""
    return call(["--version"]).stdout.strip()


def call(arguments: Sequence[str | os.PathLike[str]],
         allowed: Sequence[int] = (DONE,)) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end. An exit code that is not `allowed` is an Error with the last line of its standard
    error. It dies with this process. An interrupt reaches it, too: it leaves what it has, and KeyboardInterrupt goes
    on."""
    words = [str(program()), *(given.path("the argument", argument) for argument in arguments)]
    # A killed worker's program would go on, and keep its folder from the worker that is to continue.
    guard = shutil.which("setpriv")
    if guard is not None:
        words = [guard, "--pdeathsig", "KILL", *words]
    try:
        started = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, errors="replace", start_new_session=True)
    except OSError as error:  # more or longer words than the system takes, among others
        raise Error(f"{program()}: cannot be started: {error.strerror}") from error
    with started as process:
        try:
            out, err = process.communicate()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    if process.returncode not in allowed:
        lines = [line for line in err.splitlines() if line.strip()] or [f"ended with exit code {process.returncode}"]
        raise Error(lines[-1].removeprefix("sluice: "), process.returncode)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def main() -> NoReturn:
    """The command `sluice` of the environment that the wheel is installed in."""
    if not _PACKED.is_file():
        sys.exit(f"sluice: {_PACKED} is not there: this package was installed without its program")
    os.execv(_PACKED, [str(_PACKED), *sys.argv[1:]])

# SPDX-License-Identifier: Apache-2.0
"""What goes wrong."""
from __future__ import annotations


class Error(Exception):
    """One line: what is wrong, where, and what is allowed. `code` is the program's exit code, if it ended with one
    (docs/outputs.md)."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code

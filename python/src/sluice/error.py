# SPDX-License-Identifier: Apache-2.0
"""What goes wrong."""
from __future__ import annotations


class Error(Exception):
    """One line: what is wrong, where, and what is allowed. `code` is the program's exit code, if it ended with one
    (docs/outputs.md)."""

    def __init__(self, message: str, code: int | None = None) -> None:
        # A file's name may have more lines.
        super().__init__(" ".join(message.splitlines()))
        self.code = code

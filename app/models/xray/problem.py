"""Errors and warnings of the compiler, as an editor lists them. No widgets."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """A message of the compiler: file, line and column count from 1, 0 where they are unknown; `severity` is "warning",
    "error" or worse."""

    file: str
    line: int
    column: int
    severity: str
    text: str

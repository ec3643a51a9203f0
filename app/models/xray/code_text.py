"""What an editor of CUDA C++ does to text: indentation, comments, matching brackets, search. No widgets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

STEP = 4
"""Blanks of one level of indentation."""
COMMENT = "//"


def indent_of(line: str) -> str:
    """The blanks at the beginning of a line."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def first_kernel(text: str) -> int:
    """The line of the first kernel; 1 without one."""
    lines = enumerate(text.split("\n"), 1)
    return next((n for n, line in lines if "__global__" in line.split("//")[0]), 1)


def indent_after(before: str) -> str:
    """The indentation of a new line after this text of a line: one more level after an opening bracket."""
    opened = before.rstrip()[-1:] in ("{", "(", "[")
    return indent_of(before) + " " * STEP * opened


def to_next_stop(column: int) -> int:
    """The blanks from a column to the next level of indentation."""
    return STEP - column % STEP


def to_previous_stop(before: str) -> int:
    """How many letters backspace removes after this text of a line: blanks back to the previous level of indentation,
    else one letter."""
    if not before or before.strip(" "):
        return 1
    return (len(before) - 1) % STEP + 1


def shifted(lines: Sequence[str], right: bool) -> list[str]:
    """Lines one level of indentation further to the right or left; empty lines stay."""
    if right:
        return [" " * STEP + line if line.strip() else line for line in lines]
    return [line[min(STEP, len(indent_of(line))) :] for line in lines]


def comment_toggled(lines: Sequence[str]) -> list[str]:
    """Lines made comments at their common indentation or, where all of them are comments, code again."""
    full = [line for line in lines if line.strip()]
    if full and all(line.lstrip().startswith(COMMENT) for line in full):
        return [re.sub(rf"^(\s*){COMMENT} ?", r"\1", line) for line in lines]
    place = min((len(indent_of(line)) for line in full), default=0)
    return [f"{line[:place]}{COMMENT} {line[place:]}" if line.strip() else line for line in lines]


MOST_HITS = 5000


def hits(text: str, wanted: str, case: bool) -> list[tuple[int, int]]:
    """Where `wanted` occurs, (start, end) of each hit, without overlaps, at most MOST_HITS."""
    if not wanted:
        return []
    pattern = re.compile(re.escape(wanted), 0 if case else re.IGNORECASE)
    return [match.span() for match in islice(pattern.finditer(text), MOST_HITS)]


def moved_lines(before: Sequence[str], after: Sequence[str]) -> tuple[int, int, int]:
    """Which lines an edit left as they were: so many at the beginning, so many at the end, and how many lines there
    are more than before."""
    least = min(len(before), len(after))
    first = next((n for n in range(least) if before[n] != after[n]), least)
    last = next((n for n in range(least - first) if before[-1 - n] != after[-1 - n]), least - first)
    return first, last, len(after) - len(before)

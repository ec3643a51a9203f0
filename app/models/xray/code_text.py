"""What an editor of CUDA C++ does to text: indentation, comments, matching brackets, search. No widgets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

STEP = 4
"""Blanks of one level of indentation."""
COMMENT = "//"
PAIRS = {"(": ")", "[": "]", "{": "}"}
_CLOSING = {closing: opening for opening, closing in PAIRS.items()}
_SKIPPED = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|(?<!\w)\'(?:\\.|[^\'\\\n])*\'?', re.S)
"""Comments, texts and characters, in which brackets mean nothing; 1'000 is a number."""
FARTHEST = 200_000
"""Letters on either side of a bracket in which its partner is searched, so that a large file stays quick to edit."""


def indent_of(line: str) -> str:
    """The blanks at the beginning of a line."""
    return line[: len(line) - len(line.lstrip(" \t"))]


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


def partner(text: str, place: int) -> int | None:
    """The place of the bracket that belongs to the one at `place`; -1 where it has none, None where there is no
    bracket, or only one in a comment or a text."""
    if text[place : place + 1] not in (*PAIRS, *_CLOSING):
        return None
    last = min(place + FARTHEST, len(text))
    end = first = text.rfind("\n", 0, max(place - FARTHEST, 0)) + 1
    open_places: list[int] = []
    for skipped in _SKIPPED.finditer(text, first, last):
        if skipped.start() <= place < skipped.end():
            return None
        if (found := _partner_in(text, end, skipped.start(), place, open_places)) is not None:
            return found
        end = skipped.end()
    found = _partner_in(text, end, last, place, open_places)
    return -1 if found is None else found


def _partner_in(text: str, start: int, stop: int, place: int, open_places: list[int]) -> int | None:
    """The same in a part of the text without comments; `open_places` are the brackets that are open before it."""
    for match in re.compile(r"[()\[\]{}]").finditer(text, start, stop):
        at, letter = match.start(), match[0]
        if letter in PAIRS:
            open_places.append(at)
            continue
        opening = open_places.pop() if open_places else -1
        fits = opening >= 0 and text[opening] == _CLOSING[letter]
        if at == place:
            return opening if fits else -1
        if opening == place:
            return at if fits else -1
    return None


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

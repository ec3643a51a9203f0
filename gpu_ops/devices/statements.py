"""Which lines of a kernel file are in the body of an if or a loop."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate

from gpu_ops.devices.kernel_source import tokens

WITH_CONDITION = ("if", "for", "while", "switch")
PAIRS = {"(": ")", "[": "]", "{": "}"}


Words = tuple[tuple[str, int], ...]


@lru_cache(maxsize=16)
def _words(text: str) -> Words:
    """The tokens without comments and directives, and the line of each."""
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
    words: list[tuple[str, int]] = []
    directive = 0
    for token, blank, at in tokens(text):
        line = bisect_right(starts, at)
        if token.strip() == "#" and (not words or words[-1][1] != line):
            directive = line
        if not blank and token.strip() and line != directive:
            words.append((token.strip(), line))
    return tuple(words)


def encloses(text: str, line: int, inner: int) -> bool:
    """Whether an if or a loop that begins in `line` has the line `inner`, which waits at a barrier, in its body. Lines
    count from 1."""
    words = _words(text)
    for place, (word, at) in enumerate(words):
        if word in WITH_CONDITION and at == line:
            body = words[place : _end(words, place)]
            if any(where == inner and (where > line or "sync" in name) for name, where in body):
                return True
    return False


def _end(words: Words, place: int) -> int:
    """The index after the statement that begins at `place`, including what belongs to it as else."""
    place = _body_end(words, place)
    while place < len(words) and words[place][0] == "else":
        place = _body_end(words, place + 1)
    return place


def _body_end(words: Words, place: int) -> int:
    """The index after the body of a statement."""
    while place < len(words) and words[place][0] in (*WITH_CONDITION, "constexpr", "do", "("):
        place = _closed(words, place)
    if place < len(words) and words[place][0] == "{":
        return _closed(words, place)
    while place < len(words) and words[place][0] != ";":
        place = _closed(words, place)
    return place + 1


def _closed(words: Words, place: int) -> int:
    """The index after the bracket that closes the one at `place`; the next index where there is none."""
    depth = 0
    for at in range(place, len(words)):
        depth += (words[at][0] in PAIRS) - (words[at][0] in PAIRS.values())
        if depth <= 0:
            return at + 1
    return len(words)

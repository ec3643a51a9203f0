"""A template of a new kernel: a kernel file without the bodies of its kernels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gpu_ops.devices.kernel_source import compiled_with, header_fields, included_headers, read_source

WIDTH = 114
"""The letters of a line of comments."""
HEAD = ("What", "Shapes", "Launch")
"""The fields of a kernel file that hold for every kernel with its parameters."""
_KERNEL = re.compile(r"__global__[^;{]*?\b\w+\s*\(")


PAIRS = {"(": ")", "[": "]", "{": "}"}
_CLOSING = {closing: opening for opening, closing in PAIRS.items()}
_SKIPPED = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|(?<!\w)\'(?:\\.|[^\'\\\n])*\'?', re.S)
"""Comments, texts and characters, in which brackets mean nothing; 1'000 is a number."""
FARTHEST = 200_000
"""Letters on either side of a bracket in which its partner is searched, so that a large file stays quick to edit."""


def template_text(file: str, sets: Sequence[Mapping[str, Any]] = (), headers: str = "in a tab of its own") -> str:
    """The text of a kernel file without the bodies of its kernels. `sets` are the defines of its compilations,
    `headers` says where those that it includes can be read."""
    text = read_source(file)
    fields = header_fields(text)
    lines = [line for name in HEAD if name in fields for line in _field(name, fields[name])]
    lines += _field("Idea", "what this variant does, and why it should be faster")
    for defines in compiled_with(sets)[:1]:
        lines += _field("Given", f"compiled with {defines}")
    for name in included_headers(file):
        lines += _field("Given", f"{name}, {headers}")
    body = text[next((m.start() for m in re.finditer(r"^(?!//)", text, re.M)), 0) :]
    return "\n".join(lines) + "\n" + _without_bodies(body).lstrip("\n")


def _field(name: str, text: str) -> list[str]:
    """A field of the leading comment, on as many lines as it needs."""
    lines, line = [], f"// {name + ':':<9}"
    for word in text.split():
        if len(line) + len(word) >= WIDTH:
            lines.append(line.rstrip())
            line = "//" + " " * 10
        line += f"{word} "
    return [*lines, line.rstrip()]


def _without_bodies(code: str) -> str:
    """Code whose kernels have only a comment between their braces."""
    place = 0
    while found := _KERNEL.search(code, place):
        closing = partner(code, found.end() - 1)
        opening = code.find("{", closing) if closing else -1
        end = partner(code, opening) if opening >= 0 else None
        if not end or end < 0:
            break
        body = "\n    // Write every element of the output once; a thread beyond the end of the data does nothing.\n"
        code, place = code[: opening + 1] + body + code[end:], opening + len(body)
    return code


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

"""The guide: its pages as Markdown, with their headings. No widgets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "guide"
INDEX = "index.md"
_LINK = re.compile(r"\]\(([\w-]+\.md)\)")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_HEADING = re.compile(r"(#{1,6}) +(.+?) *$")


@dataclass(frozen=True)
class Heading:
    """A heading: `level` 1 is the title of its page, `path` the headings above it, without the title, and itself."""

    text: str
    level: int
    anchor: str
    path: tuple[str, ...]


@dataclass(frozen=True)
class GuidePage:
    """A page: its file's name, its title, and its Markdown without comments."""

    name: str
    title: str
    text: str
    headings: tuple[Heading, ...]


@cache
def guide_pages() -> tuple[GuidePage, ...]:
    """All pages: the index, then those that it links, in its order."""
    index = _read(INDEX)
    names = dict.fromkeys(_LINK.findall(index.text))
    return (index, *(_read(name) for name in names))


def guide_page(name: str) -> GuidePage:
    """The page of this file name; the index where there is none."""
    return next((page for page in guide_pages() if page.name == name), guide_pages()[0])


def anchors(texts: list[str]) -> list[str]:
    """The anchors of these headings of one page, as Markdown links name them: "3×3 convolution" is #33-convolution, and
    a second one of equal text ends in -1."""
    seen: Counter[str] = Counter()
    found = []
    for text in texts:
        plain = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.append(f"{plain}-{seen[plain]}" if seen[plain] else plain)
        seen[plain] += 1
    return found


def _read(name: str) -> GuidePage:
    text = _COMMENT.sub("", (FOLDER / name).read_text(encoding="utf-8"))
    levels = list(_headings(text))
    above: dict[int, str] = {}
    headings = []
    for (level, words), anchor in zip(levels, anchors([words for _, words in levels]), strict=True):
        above = {depth: value for depth, value in above.items() if depth < level} | {level: words}
        path = tuple(value for depth, value in above.items() if depth > 1)
        headings.append(Heading(words, level, anchor, path))
    return GuidePage(name, headings[0].text, text, tuple(headings))


def _headings(text: str) -> Iterator[tuple[int, str]]:
    """Level and plain text of every heading outside of code."""
    code = False
    for line in text.splitlines():
        code ^= line.startswith("```")
        found = None if code else _HEADING.match(line)
        if found:
            yield len(found[1]), found[2].replace("`", "")

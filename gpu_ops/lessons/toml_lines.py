"""Where tables and entries stand in a TOML text: tomllib does not say it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

HEADER = re.compile(r"\s*\[(?P<list>\[)?\s*(?P<names>[\w.-]+)\s*\]")
ENTRY = re.compile(r"\s*(?P<name>[\w-]+)(\s*\.\s*[\w-]+)*\s*=")
QUOTES = ('"""', "'''")
Place = tuple[str | int, ...]
"""The names of the tables around an entry and its own; the place in a list of tables is a number from 0."""


def lines_of(text: str) -> Mapping[Place, int]:
    """The lines, from 1, of the tables and entries in a TOML text; those inside a table on one line are left out."""
    found: dict[Place, int] = {(): 1}
    lists, table, quotes = Counter[Place](), Place(), ""
    for number, line in enumerate(text.split("\n"), 1):
        if not quotes and (header := HEADER.match(line)):
            table = ()
            for name in header["names"].split("."):
                table = (*table, lists[table] - 1, name) if table in lists else (*table, name)
            if header["list"]:
                lists[table] += 1
                table = (*table, lists[table] - 1)
            found[table] = number
        elif not quotes and (entry := ENTRY.match(line)):
            found.setdefault((*table, entry["name"]), number)
        quotes = _open_quotes(line, quotes)
    return found


def line_at(lines: Mapping[Place, int], place: Place) -> int:
    """The line of an entry, or of the closest table around it that has one."""
    while place not in lines:
        place = place[:-1]
    return lines[place]


def _open_quotes(line: str, quotes: str) -> str:
    """The quotes of a text that goes on after this line; "" for none. `quotes` are those before it."""
    for each in (quotes,) if quotes else QUOTES:
        if line.count(each) % 2:
            return "" if quotes else each
    return quotes

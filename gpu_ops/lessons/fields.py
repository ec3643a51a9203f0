"""Reads files in TOML that a person has written. A fault names the file, the place, the line and the allowed names."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_ops.errors import InputError, plain

LARGEST = 1 << 20
"""The largest file, in bytes."""
HEADER = re.compile(r"\s*\[(?P<list>\[)?\s*(?P<names>[\w.-]+)\s*\]")
ENTRY = re.compile(r"\s*(?P<name>[\w-]+)(\s*\.\s*[\w-]+)*\s*=")
QUOTES = ('"""', "'''")
Place = tuple[str | int, ...]
"""The names of the tables around an entry and its own; the place in a list of tables is a number from 0."""


@dataclass
class File:
    """The file that tables are read from: its lines, and the faults found so far, unless the first one is raised."""

    lines: Mapping[Place, int]
    faults: list[str] = field(default_factory=list)
    collects: bool = False


def read_fields(path: Path, what: str, collects: bool = False) -> Fields:
    """The entries of a file that is `what`, such as "a lesson"; `collects` as in Fields. Raises InputError where it is
    no TOML in UTF-8."""
    shown = plain(path.name, 80)
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{shown} has more than {LARGEST >> 20} MiB; {what} is one file of text.")
        text = path.read_text(encoding="utf-8")
        return Fields(tomllib.loads(text), shown, File(lines_of(text), collects=collects))
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{shown} is not UTF-8; save it as UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{shown} is not TOML: {plain(error)}.") from None


class Fields:
    """The entries of a table, each read once. Where its file `collects` faults, an entry with a fault has a value of
    its type that means nothing, and `finish` of the file raises InputError with all faults, one on each line; else the
    first fault is raised."""

    def __init__(self, table: Mapping[str, Any], name: str, file: File, place: Place = ()) -> None:
        self._table, self._name, self._file, self._place = table, name, file, place
        self._read, self._asked = set[str](), set[str]()
        self._before = len(file.faults)

    @property
    def line(self) -> int:
        """The line where the table begins, from 1."""
        return line_at(self._file.lines, self._place)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._table)

    @property
    def fine(self) -> bool:
        """Whether no fault was found since this table was begun."""
        return len(self._file.faults) == self._before

    def has(self, name: str) -> bool:
        self._asked.add(name)
        return name in self._table

    def text(self, name: str, default: str | None = None) -> str:
        def fits(value: Any) -> bool:
            return isinstance(value, str) and (default is not None or bool(value.strip()))

        return str(self._value(name, default, "a text", fits, "")).strip("\n")

    def integer(self, name: str, default: int | None = None) -> int:
        def fits(value: Any) -> bool:
            return isinstance(value, int) and not isinstance(value, bool) and value >= 0

        return int(self._value(name, default, "a whole number", fits, 0))

    def number(self, name: str, default: float | None = None) -> float:
        def fits(value: Any) -> bool:
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return number and value == value and abs(value) <= 1e300

        return self._value(name, default, "a number", fits, 0.0)  # type: ignore[no-any-return]

    def texts(self, name: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of texts, or one text."""

        def fits(value: Any) -> bool:
            found = (value,) if isinstance(value, str) else value
            return isinstance(found, list | tuple) and all(isinstance(t, str) and t.strip() for t in found)

        value = self._value(name, default, "a list of texts", fits, ())
        return (value,) if isinstance(value, str) else tuple(value)

    def values(self, name: str, default: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        return dict(self._value(name, default, "a table, such as {window = 5}", _is_table, {}))

    def one_of(self, name: str, allowed: Iterable[str], default: str | None = None) -> str:
        allowed = tuple(allowed)
        return str(self._value(name, default, f"one of {', '.join(allowed)}", lambda value: value in allowed, ""))

    def table(self, name: str) -> Fields:
        value = self._value(name, None, "a table", _is_table, None)
        return self._inner(value, name, (name,))

    def tables(self, name: str) -> list[Fields]:
        def fits(value: Any) -> bool:
            return isinstance(value, list) and bool(value) and all(map(_is_table, value))

        found = self._value(name, None, f"one or more tables [[{name}]]", fits, ())
        return [self._inner(value, f"{name} {n}", (name, n - 1)) for n, value in enumerate(found, 1)]

    def _inner(self, value: Mapping[str, Any] | None, name: str, place: Place) -> Fields:
        """A table in this one; for None, which has its fault already, one whose faults nobody hears of."""
        file = self._file if value is not None else File(self._file.lines, collects=True)
        return Fields(value or {}, f"{self._name}, {name}", file, (*self._place, *place))

    def refuse(self, text: str, name: str = "") -> None:
        """Note or raise a fault of the table, or of the entry with this name: `text` goes on after the place."""
        line = line_at(self._file.lines, (*self._place, name))
        fault = f"{self._name} (line {line}){text}"
        if not self._file.collects:
            raise InputError(fault)
        self._file.faults.append(fault)

    def finish(self) -> None:
        """Refuse entries that nobody has read. Raises InputError with all faults of the file if this is the whole
        file."""
        unknown = [plain(name, 40) for name in self._table if name not in self._read]
        if unknown:
            known = ", ".join(sorted(self._read | self._asked))
            text = f" has {', '.join(unknown)}, which is not known; it may have {known}."
            self.refuse(text, next(name for name in self._table if name not in self._read))
        if not self._place and self._file.faults:
            raise InputError("\n".join(self._file.faults))

    def _value(self, name: str, default: Any, wanted: str, fits: Callable[[Any], bool], nothing: Any) -> Any:
        """The entry, or its default; `nothing` where it is missing or does not fit."""
        self._read.add(name)
        if name not in self._table and default is None:
            self.refuse(f" has no {name}; add it.")
            return nothing
        value = self._table.get(name, default)
        if fits(value):
            return value
        self.refuse(f": {name} is {plain(repr(value), 60)}; it must be {wanted}.", name)
        return nothing


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


# Lines, which tomllib does not tell


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

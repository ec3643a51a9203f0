"""How the lines of a table are split into cells: by the user's choices, else as detected from the first lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.inputs import Array
from gpu_ops.io.opening import Opening
from gpu_ops.io.signals.cells import MOMENT, Moments, common_unit, is_missing, moments_of, number, reader
from gpu_ops.io.signals.stamps import is_count
from gpu_ops.io.signals.table_heading import Columns, Heading, find_heading, text

HEAD = 1 << 18
"""Bytes at the start of a file that are used to detect its layout."""
MOST_LINES = 1200
"""The most lines that are used."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SEPARATORS = {"tab": b"\t", "semicolon": b";", "pipe": b"|", "comma": b",", "space": b" "}
"""In the order in which they are tried."""
QUOTE = b'"'
EXCEL = re.compile(rb"\s*\"?sep=(.)\"?\s*", re.IGNORECASE)
"""The line in which a spreadsheet names the separator of the columns below."""
MARKS = b'\t;,| "'
PIECES = re.compile(rb"[" + MARKS + rb"]+")
COUNTED = 5
"""From this many lines on, integers that number the lines are a column, not parts of decimals."""
SAMPLED, NEAR = 60, 0.3
"""The lines that preselect the ways to split them, and how much worse than the best a way may fit."""
COMPARED = 50
"""The lines in which two ways are compared."""


@dataclass(frozen=True)
class Layout:
    """How lines are split. `separator` is "none" where a line is one cell; `grouped` says that the other decimal mark
    separates thousands; `heading` has the lines before the values, `found` the content of the columns. `rows` are the
    first lines of values as cells. `doubt` describes another way to read the lines, and `flags` select it."""

    separator: str
    decimal: str
    grouped: bool
    heading: Heading
    found: Columns
    rows: tuple[tuple[bytes, ...], ...]
    doubt: str = ""
    flags: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each column, empty where there is no line of names."""
        return self.heading.names

    @property
    def header(self) -> int:
        """The number of lines before the values."""
        return self.heading.lines

    @property
    def columns(self) -> int:
        return len(self.names)

    @property
    def numeric(self) -> tuple[int, ...]:
        """The indices of the columns of numbers."""
        return self.found.numeric

    @property
    def moments(self) -> Mapping[int, Moments]:
        """The indices of the columns of times of day and dates, and how those are read."""
        return self.found.moments

    @property
    def values(self) -> tuple[int, ...]:
        """The indices of all columns that can be read."""
        return self.found.values

    @property
    def plain(self) -> bool:
        """Whether the table has one number per line and nothing else."""
        simple = self.columns == 1 and not self.header and not self.moments and not self.found.suffixes
        return simple and self.decimal == "point" and not self.grouped

    @property
    def readers(self) -> Sequence[Callable[[bytes], float | None]]:
        """The function that reads the cells of each column."""
        return self.found.readers

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each column, from its heading or its cells, empty without one."""
        own = self.found.suffixes
        return tuple(unit or text(own.get(k, b"")) for k, unit in enumerate(self.heading.units))

    def titles(self) -> tuple[str, ...]:
        """A name for each column, its number if it has none."""
        return tuple(name or str(place + 1) for place, name in enumerate(self.names))

    def labels(self, places: Sequence[int]) -> tuple[str, ...]:
        """The names of some columns with their units, empty where they have none."""
        units = self.units
        named = ((self.names[k], units[k]) for k in places)
        return tuple(f"{name} ({unit})" if name and unit and unit not in name else name for name, unit in named)

    def first(self, column: int) -> str:
        """The first cell of a column that is not empty, as text."""
        cells = (row[column] for row in self.rows if len(row) == self.columns and not is_missing(row[column]))
        return plain(text(next(cells, b"")), 40)

    def read(self, column: int, rows: int | None = None) -> Array:
        """The first values of a column, NaN for empty cells."""
        read = self.readers[column]
        cells = [read(row[column]) for row in self.rows[:rows] if len(row) == self.columns]
        return np.array([np.nan if cell is None else cell for cell in cells])


class Way(NamedTuple):
    """One way to split and read the lines of a table."""

    separator: str
    decimal: str
    grouped: bool


class Fit(NamedTuple):
    """How well a way fits, the most important first: the share of the lines' text in cells with values, whether the
    line of names has as many cells as the others, whether no mark separates thousands, and how likely its separator
    is."""

    share: float
    named: bool
    simple: bool
    rank: int


def split(line: bytes, separator: str) -> list[bytes]:
    """The cells of a line without the blanks and quotes around them. Consecutive blanks are one separator."""
    if separator == "none":
        cells = [line]
    elif QUOTE in line:
        cells = list(_quoted(line.strip() if separator == "space" else line, separator))
    elif separator == "space":
        return line.split()
    else:
        cells = line.split(SEPARATORS[separator])
    return [unquoted(cell.strip()) for cell in cells]


def unquoted(cell: bytes) -> bytes:
    """A cell without the quotes around it."""
    if len(cell) > 1 and cell.startswith(QUOTE) and cell.endswith(QUOTE):
        return cell[1:-1].replace(QUOTE * 2, QUOTE).strip()
    return cell


def _quoted(line: bytes, separator: str) -> Iterator[bytes]:
    """The cells of a line, ignoring separators inside quotes."""
    marks, start, inside, i = b" \t" if separator == "space" else SEPARATORS[separator], 0, False, 0
    while i < len(line):
        if line[i : i + 1] == QUOTE:
            inside = not inside
        elif line[i] in marks and not inside:
            yield line[start:i]
            while separator == "space" and i + 1 < len(line) and line[i + 1] in marks:
                i += 1
            start = i + 1
        i += 1
    yield line[start:]


def first_lines(path: Path, name: str) -> list[bytes]:
    """The first complete lines. Raises InputError where the first one has no end."""
    with open(path, "rb") as file:
        data = file.read(HEAD)
        whole = not file.read(1)
    lines = data.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if not whole and len(lines) == 1:
        raise InputError(
            f"{name} has a first line of over {HEAD:,} bytes; put each sample on a line of its own, with a column "
            "for each channel."
        )
    last = lines.pop()
    if whole and last.strip():
        lines.append(last)
    return [line.rstrip(b"\r") for line in lines[:MOST_LINES]]


def find_layout(opening: Opening) -> Layout | None:
    """The layout of a table from the choices and its first lines; None where no line has a value. Raises InputError."""
    lines, choices = first_lines(opening.path, opening.name), opening.choices
    separator, decimal = str(choices.get("separator", "auto")), str(choices.get("decimal", "auto"))
    while lines and not lines[-1].strip():
        lines.pop()
    named = EXCEL.fullmatch(lines[0]) if lines else None
    if named is not None:
        lines[0] = b""
        of_mark = {mark: name for name, mark in SEPARATORS.items()}
        separator = of_mark.get(named[1], separator) if separator == "auto" else separator
    header = int(choices.get("header", -1))
    begin = header if header >= 0 else _body(lines)
    ways = _fitting(_ways(lines[begin:], separator, decimal), lines[begin:])
    tried = [found for way in ways if (found := _try(lines, way, header, begin)) is not None]
    if not tried:
        return None
    fit, best = max(tried, key=lambda pair: pair[0])
    others = [
        other
        for near, other in tried
        if other is not best and near[:2] >= fit[:2] and _likely(best, other) and _differ(best, other)
    ]
    return replace(best, doubt=_doubt(best, others[0]), flags=_flags(best, others[0])) if others else best


def _ways(lines: Sequence[bytes], separator: str, decimal: str) -> list[Way]:
    """All ways that the choices and the characters in the lines of values allow, the likely ones first."""
    present = [name for name, mark in SEPARATORS.items() if any(mark in line.strip() for line in lines)]
    quoted = any(QUOTE in line for line in lines)
    ways = []
    for name in (*present, "none") if separator == "auto" else (separator,):
        # Commas that separate columns are not marks inside numbers, except in quotes.
        orders = [("point", False), ("comma", False), ("point", True), ("comma", True)]
        if name == "comma":
            orders = [("point", False), *([("point", True), ("comma", False), ("comma", True)] if quoted else ())]
        ways += [Way(name, mark, grouped) for mark, grouped in orders if decimal in ("auto", mark)]
    return ways


def _fitting(ways: Sequence[Way], lines: Sequence[bytes]) -> list[Way]:
    """The ways that a few of the lines do not exclude; trying each on all lines takes long."""
    some = [line for line in lines[:: max(1, len(lines) // SAMPLED)] if line.strip()]
    shares = []
    for way in ways:
        cells = [cell for line in some for cell in split(line, way.separator) if not is_missing(cell)]
        good = [c for c in cells if number(c, way.decimal, way.grouped) is not None or _is_moment(c)]
        shares.append(sum(map(_parts, good)) / max(1, sum(map(_parts, cells))))
    return [way for way, share in zip(ways, shares, strict=True) if share and share >= max(shares) - NEAR]


def _try(lines: Sequence[bytes], way: Way, header: int, begin: int) -> tuple[Fit, Layout] | None:
    """How well a way fits the lines from `begin` on, and its layout. None where there are no values."""
    rows = [split(line, way.separator) for line in lines]
    body = [row for row in rows[begin:] if any(row)]
    if not body:
        return None
    columns = Counter(map(len, body[len(body) // 2 :])).most_common(1)[0][0]
    found = _columns(body[len(body) // 2 :], columns, way)
    if not found.values:
        return None
    heading = find_heading(rows, found, header, begin)
    even = [row for row in body if len(row) == columns]
    hits = sum(_parts(row[k]) for row in even for k in found.values if found.readers[k](row[k]) is not None)
    share = round(hits / max(1, sum(_parts(cell) for row in body for cell in row)), 6)
    shown = tuple(tuple(row) for row in rows[heading.lines :])
    kind = "none" if columns == 1 else way.separator
    layout = Layout(kind, way.decimal, way.grouped, heading, found, shown)
    last = bool(heading.names[-1]) or columns - 1 in found.blank
    whole = any(heading.names) and last and not any(sign in name for name in heading.names for sign in ";\t|,")
    simple = way.decimal == "point" if way.separator == "comma" else not way.grouped
    return Fit(share, whole, simple, _rank(layout)), layout


def _parts(cell: bytes) -> int:
    """The number of parts of a cell between all possible separators: a line has as many in any way."""
    if is_missing(cell):
        return 0
    return 1 if len(cell.translate(None, MARKS)) == len(cell) else sum(map(bool, PIECES.split(cell)))


def _columns(body: Sequence[list[bytes]], count: int, way: Way) -> Columns:
    """The content of the columns, by the majority of their cells in these lines."""
    numeric, moments, suffixes, blank = [], {}, {}, []
    for k in range(count):
        cells = [row[k] for row in body if len(row) == count and not is_missing(row[k])]
        if not cells:
            blank.append(k)
        elif 2 * sum(number(cell, way.decimal, way.grouped) is not None for cell in cells) > len(cells):
            numeric.append(k)
        elif (times := moments_of(cells)) is not None:
            moments[k] = times
        elif suffix := common_unit(cells, way.decimal):
            numeric.append(k)
            suffixes[k] = suffix
    readers = tuple(reader(way.decimal, way.grouped, moments.get(k), suffixes.get(k, b"")) for k in range(count))
    return Columns(count, tuple(numeric), moments, suffixes, tuple(blank), readers, way.decimal)


def _body(lines: Sequence[bytes]) -> int:
    """The index of the first line that is likely to have values: below the last line of texts, or the second half."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    last = next((k for k in reversed(filled) if not any(map(_is_value, PIECES.split(lines[k])))), -1)
    return last + 1 if sum(k > last for k in filled) > 1 else len(lines) // 2


def _is_value(piece: bytes) -> bool:
    """Whether a part of a line is a number or a time in any notation."""
    return bool(piece) and (number(piece, "point") is not None or _is_moment(piece))


def _is_moment(cell: bytes) -> bool:
    return any(pattern.fullmatch(cell) for pattern in MOMENT.values())


def _rank(layout: Layout) -> int:
    """How likely a separator is, where several fit: blanks are less likely than other characters; a comma between two
    integers, without names above, is more likely a decimal mark, unless the first integers number the lines."""
    if layout.columns == 1:
        return 1
    pairs = [row for row in layout.rows if len(row) == layout.columns == 2]
    whole = all(a.lstrip(b"+-").isdigit() and b.isdigit() for a, b in pairs)
    if layout.separator == "comma" and layout.columns == 2 and whole and not any(layout.names):
        return 3 if len(pairs) >= COUNTED and is_count(layout.read(0)) else 0
    return 2 if layout.separator == "space" else 3


def _likely(best: Layout, other: Layout) -> bool:
    """Whether another layout is plausible enough to ask. Decimal points may separate thousands in files of
    spreadsheets: with names, or with semicolons because the decimal mark is a comma."""
    thousands = other.grouped and other.decimal == "comma" and best.decimal == "point"
    return not thousands or any(best.names) or best.separator not in ("none", "tab", "space")


def _differ(one: Layout, other: Layout) -> bool:
    """Whether two layouts read different values from the same lines."""
    return one.header != other.header or any(_first(one, k) != _first(other, k) for k in _compared(one, other))


def _compared(one: Layout, other: Layout) -> range:
    """The numbers of the first lines that have values in one of two layouts, whose headings may differ in length."""
    first = min(one.header, other.header)
    return range(first, min(first + COMPARED, one.header + len(one.rows)))


def _first(layout: Layout, line: int) -> list[str]:
    """The values of one of the first lines; none for a line above the values."""
    row = layout.rows[line - layout.header] if layout.header <= line else ()
    if len(row) != layout.columns:
        return []
    return [f"{layout.readers[k](row[k]):.10g}" for k in layout.values if layout.readers[k](row[k]) is not None]


def _doubt(best: Layout, other: Layout) -> str:
    """Two ways in a sentence: "'1,5' is read as 1.5 (decimal comma); it may be 1 and 5 (comma between columns)"."""
    lines = {k: _line(best if k >= best.header else other, k) for k in _compared(best, other)}
    apart = [k for k in lines if _first(best, k) != _first(other, k)]
    # A line that is numbers both ways is more informative than a line that is numbers only one way.
    place = max(apart or lines, key=lambda k: (bool(_first(best, k) and _first(other, k)), len(lines[k][:12])))
    line = text(lines[place])[:40].replace("\t", " ")
    one, two = (f"{' and '.join(_first(way, place)) or 'no number'} ({_how(way)})" for way in (best, other))
    return f"{plain(line, 40)!r} is read as {one}; it may be {two}"


def _line(layout: Layout, line: int) -> bytes:
    """One of the first lines, reassembled from its cells."""
    mark = SEPARATORS.get(layout.separator, b"")
    return mark.join(b'"%s"' % c if mark and mark in c else c for c in layout.rows[line - layout.header])


def _how(layout: Layout) -> str:
    """A way in words."""
    between = "point" if layout.decimal == "comma" else "comma"
    words = [] if layout.columns == 1 else [f"{layout.separator} between columns"]
    words += [f"decimal {layout.decimal}"] if layout.decimal == "comma" or layout.columns == 1 else []
    return ", ".join([*words, *([f"{between} between thousands"] if layout.grouped else [])])


def _flags(best: Layout, other: Layout) -> str:
    """The flags that choose the other way."""
    flags = [] if other.decimal == best.decimal else [f"--decimal {other.decimal}"]
    if other.separator != best.separator and not (flags and other.decimal == "comma" and other.columns == 1):
        absent = next(name for name in SEPARATORS if name != "comma" and name != best.separator)
        flags.append(f"--separator {absent if other.separator == 'none' else other.separator}")
    return " ".join(flags)

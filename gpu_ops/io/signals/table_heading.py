"""The lines above the numbers of a table: the names and the units of its columns, and an instrument's facts about its
samples."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gpu_ops.io.signals.cells import Moments, is_damaged, is_missing, number
from gpu_ops.io.signals.units import BRACKETS, RATES, TIME_NAMES, TIMES, cut_unit, in_brackets, is_unit

COMMENTS = "#%;!/*"
RULE = re.compile(r"[-=_+|:.*\s]*")
"""A line that only separates other lines."""
NAMED = re.compile(
    r"(?:x([ _-]?(axis|value|achse))?|source|(ch|chan|channel|kanal|voie|canal|analog)[ _-]?[a-z0-9]{1,3})"
)
"""Words, in lower case, that identify a line of names, as opposed to facts about the instrument."""
STARTS, STEPS = (
    ("start", "x0", "t0", "xorigin", "xorg", "hoffset"),
    ("increment", "xincrement", "xincr", "xinc", "tinc", "deltax", "hresolution"),
)
"""Names of columns, in lower case and without blanks, whose only value is in the line below: the time of the first
sample, and the sample interval."""
REMARKS = ("comment", "comments", "remark", "bemerkung", "kommentar")
"""Names, in lower case, of columns with optional remarks."""
INTERVALS = ("sampleinterval", "samplinginterval", "sampleperiod", "samplingperiod", "sampletime", "samplingtime",
             "tdelta", "deltat", "dt", "abtastintervall", "abtastzeit", *STEPS)  # fmt: skip
RATE_NAMES = ("samplerate", "samplingrate", "samplefrequency", "samplingfrequency", "samplesrate", "fs", "abtastrate",
              "abtastfrequenz")  # fmt: skip
FACT = re.compile(r"\s*[#%;!/*]*\s*([^=:,;\t|]{1,40}?)\s*[=:,;\t|]\s*[\"']?(.{1,80})")
QUANTITY = re.compile(
    r"(?:[^\d\s,;:]+:)?\s*([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*[\"']?\s*[,;\t]?\s*((?![\d+-])[^\s,;\"']*)"
)
COUNTS = ([[b"0"], [b"1"]], [[b"1"], [b"2"]])
"""The first cells of two lines that are numbered."""
DIGITS = tuple(b"+ - . 0 1 2 3 4 5 6 7 8 9".split())
LOOKED_AT = 20
"""The number of lines below a line that decide whether it has numbers or names."""
MOST_SKIPPED = 3
"""The most lines of one cell between the names and the numbers."""


@dataclass(frozen=True)
class Heading:
    """The lines above the numbers: how many there are, the names and the units of the columns, the sample interval and
    the time of the first sample in seconds if an instrument gives them, and remarks for the user."""

    lines: int
    names: tuple[str, ...]
    units: tuple[str, ...]
    interval: float | None = None
    start: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Columns:
    """The columns of a table: their number, which have numbers, which have times, which numbers are followed by a unit,
    which columns are empty, and the reader of each column's cells."""

    count: int
    numeric: tuple[int, ...]
    moments: Mapping[int, Moments]
    suffixes: Mapping[int, bytes]
    blank: tuple[int, ...]
    readers: Sequence[Callable[[bytes], float | None]]
    decimal: str

    @property
    def values(self) -> tuple[int, ...]:
        """The columns that can be read."""
        return tuple(sorted((*self.numeric, *self.moments)))

    def texts(self, row: Sequence[bytes]) -> list[bytes]:
        """The cells of a row that are in a column of values but are not values."""
        return [row[k] for k in self.values if self.readers[k](row[k]) is None]

    def filled(self, row: Sequence[bytes]) -> list[bytes]:
        """The cells of a row that are values."""
        return [row[k] for k in self.values if not is_missing(row[k]) and self.readers[k](row[k]) is not None]


def text(cell: bytes) -> str:
    """A cell as text. Instruments may write µ and ° in one byte."""
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return cell.decode("cp1252", "replace")


def find_heading(rows: Sequence[list[bytes]], columns: Columns, header: int, begin: int) -> Heading:
    """The heading above the first row of values; `header` is its number of lines, negative to detect it. The lines from
    `begin` on are likely to be values."""
    start = header if header >= 0 else _first_values(rows, columns, begin)
    place, skipped = start, 0
    units_row: list[str] = []
    names: list[str] = []
    counted = 0 <= start < len(rows) - 1 and [row[:1] for row in rows[start : start + 2]] in COUNTS
    while place and not names and skipped <= MOST_SKIPPED:
        place -= 1
        row = _fitted(rows[place], columns, counted)
        line = text(b"".join(rows[place]))
        if RULE.fullmatch(line) or (line.startswith(tuple(COMMENTS)) and FACT.fullmatch(line)):
            continue
        if row is None:
            skipped += 1
            if len([cell for cell in rows[place] if cell]) > 1 and not text(rows[place][0]).startswith(tuple(COMMENTS)):
                break
        elif not units_row and _is_units(row, columns) and _names_above(rows[:place], row, columns):
            units_row = [text(cell) for cell in row]
        elif columns.texts(row) or (header < 0 and place == start - 1 and _is_numbered(rows, place, columns)):
            names = [_unquoted(text(cell)) for cell in row]
    notes: list[str] = []
    if names and header < 0 and not units_row:
        row = _fitted(rows[place], columns, counted) or []
        found = columns.filled(row)
        if found and place and _is_names(_fitted(rows[place - 1], columns), columns):
            return find_heading(rows, columns, place, begin)  # a damaged line of values, below the names
        odd = [*found, *(cell for cell in columns.texts(row) if cell.startswith(DIGITS))]
        if odd:
            shown = ", ".join(repr(text(cell)[:20]) for cell in odd[:3])
            notes.append(f"line {place + 1}, with {shown}, is taken as the names of the columns")
    interval, first = _facts(rows[:start], place if names else start)
    units = [in_brackets(unit) or unit for unit in units_row] or [cut_unit(name)[1] for name in names]
    blank = ("",) * columns.count
    return Heading(start, tuple(names) or blank, tuple(units) or blank, interval, first, tuple(notes))


def _first_values(rows: Sequence[list[bytes]], columns: Columns, begin: int) -> int:
    """The first line whose cells are values or damaged ones; else the first that has values in most places."""
    most = None
    for place, row in enumerate(rows):
        if len(row) != columns.count or (place < begin and any(row[k] for k in columns.blank)):
            continue  # of another table, or facts next to empty columns
        wrong, good = columns.texts(row), columns.filled(row)
        if (good or wrong) and all(is_damaged(cell, columns.decimal) for cell in wrong):
            return place + _is_numbered(rows, place, columns)
        if most is None and len(good) > len(wrong):
            most = place
    return most or 0


def _fitted(row: Sequence[bytes], columns: Columns, counted: bool = False) -> list[bytes] | None:
    """A line above the numbers as a cell for each column, without the comment sign; None if their number differs. A
    first column that numbers the rows (`counted`) may have no name."""
    cells = [*row]
    if not any(cells):
        return None
    bare = cells[0].lstrip(COMMENTS.encode()).strip()
    if len(cells) == columns.count + 1 and not bare:
        return cells[1:]  # "# a b" is split into three cells
    cells[0] = bare
    extra = cells[columns.count :]
    if all(not c or number(c, "point") is not None or _key(text(c)) in (*STARTS, *STEPS, *REMARKS) for c in extra):
        cells = cells[: columns.count]
    missing = columns.count - len(cells)
    if missing > 0 and not any(k in columns.values for k in range(len(cells), columns.count)):
        cells += [b""] * missing
    elif missing == 1 and counted and columns.count > 2 and number(cells[0], "point") is None:
        cells = [b"", *cells]
    return cells if len(cells) == columns.count and any(cells) else None


def _unquoted(name: str) -> str:
    return name[1:-1].strip() if len(name) > 1 and name[0] == name[-1] == "'" else name


def _is_numbered(rows: Sequence[list[bytes]], place: int, columns: Columns) -> bool:
    """Whether a line of numbers has the names of the columns: it has a number above a column of words, or evenly
    increasing integers above fractions."""
    row = rows[place]
    below = [other for other in rows[place + 1 : place + 1 + LOOKED_AT] if len(other) == len(row) == columns.count]
    if len(below) < 2:
        return False
    words = [k for k in range(columns.count) if k not in columns.values and any(other[k] for other in below)]
    if any(row[k].isdigit() and not any(other[k][:1].isdigit() for other in below) for k in words):
        return True
    numbers = [int(row[k]) for k in columns.numeric if row[k].isdigit()]
    gaps = {b - a for a, b in zip(numbers, numbers[1:], strict=False)}
    empty = any(not row[k] for k in columns.values)
    if len(gaps) != 1 or min(gaps) < 1 or len(numbers) + empty < len(columns.values) or len(numbers) < 2:
        return False
    return not any(other[k].isdigit() for other in below for k in columns.numeric if row[k])


def _is_units(row: Sequence[bytes], columns: Columns) -> bool:
    """Whether all cells of a line are units, either in brackets or known."""
    cells = [text(row[k]) for k in columns.values if row[k]]
    rest = [row[k] for k in range(columns.count) if k not in columns.values and row[k]]
    units = all(in_brackets(cell) is not None or is_unit(cell) for cell in cells)
    return bool(cells) and units and all(number(c, "point") is not None or is_unit(text(c)) for c in rest)


def _names_above(rows: Sequence[list[bytes]], units: Sequence[bytes], columns: Columns) -> bool:
    """Whether a line of names comes before a line of units. Units without brackets may be the names themselves, below
    facts about an instrument: then the line before must look like names."""
    above = [place for place, row in enumerate(rows) if any(row)]
    if not above:
        return False
    row = _fitted(rows[above[-1]], columns)
    if row is None or not columns.texts(row):
        return False
    filled = [cell for cell in units if cell]
    sure = any(in_brackets(text(cell)) is not None for cell in filled) or len(set(filled)) < len(filled)
    sure = sure or (columns.count > 2 and all(row[k] for k in columns.values))
    words = [text(cell).strip("'\" ").casefold() for cell in row]
    return sure or len(above) == 1 or any(NAMED.fullmatch(word) or word in TIME_NAMES for word in words)


def _is_names(row: Sequence[bytes] | None, columns: Columns) -> bool:
    """Whether a line has texts and no values."""
    return row is not None and bool(columns.texts(row)) and not columns.filled(row)


def _key(name: str) -> str:
    return re.sub(r"[\s_\-.]", "", name.strip("'\"")).casefold()


def _facts(rows: Sequence[list[bytes]], names: int) -> tuple[float | None, float | None]:
    """The sample interval and the time of the first sample in seconds, from columns with one value, below their name in
    line `names`, or from lines of a name and a value."""
    interval, start = None, None
    if names + 1 < len(rows):
        for name, cell in zip(rows[names], rows[names + 1], strict=False):
            value, key = number(cell, "point") if cell else None, _key(text(name))
            interval = value if key in STEPS and value else interval
            start = value if key in STARTS and value is not None else start
    for row in rows:
        for line in ("\t".join(text(cell) for cell in row), *(text(cell) for cell in row[1:])):
            match = FACT.match(line)
            if match is not None:
                interval = _interval(match[1], match[2]) if interval is None else interval
                named = _key(match[1]) in STARTS[1:]  # a start without an interval may belong to anything
                start = _amount(match[2])[0] if named else start
    return interval if interval and interval > 0 else None, start


def _interval(name: str, value: str) -> float | None:
    """The sample interval in seconds that a line gives: "Sample Interval,4e-08" or "Rate (kHz): 25"."""
    own = BRACKETS.search(name)
    stem, unit = _key(BRACKETS.sub("", name)), next((g for g in own.groups() if g), "") if own else ""
    amount, behind = _amount(value)
    unit = (unit or behind).strip("()[]").casefold()
    if amount is not None and stem in INTERVALS and (not unit or unit in TIMES):
        return amount * TIMES.get(unit, 1.0)
    if amount and stem in RATE_NAMES and (not unit or unit in RATES):
        return 1 / (amount * RATES.get(unit, 1.0))
    return None


def _amount(value: str) -> tuple[float | None, str]:
    """The number and the unit at the start of a text; None without a number."""
    quantity = QUANTITY.match(value)
    try:
        return (float(quantity[1]), quantity[2]) if quantity is not None else (None, "")
    except ValueError:
        return None, ""

"""The content of a table's cell: a number, nothing, or a time of day or of a date."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache

import numpy as np

from gpu_ops.io.inputs import Array
from gpu_ops.io.signals.stamps import even_step
from gpu_ops.io.signals.units import is_unit

MISSING = frozenset(
    (b"", b"na", b"n/a", b"#n/a", b"#nv", b"null", b"none", b"nil", b"-", b"--", b"\xe2\x80\x93", b"\xe2\x80\x94", b".",
     b"?", b"missing", b"nan()", b"-nan(ind)", b"1.#qnan", b"-1.#ind", b"1.#ind", b"#div/0!", b"#value!", b"#num!")
)  # fmt: skip
"""The text of a cell without a value, in lower case: NaN, as float() reads "nan"."""
INFINITE = frozenset((b"\xe2\x88\x9e", b"-\xe2\x88\x9e", b"1.#inf", b"-1.#inf"))
"""Infinity as instruments and compilers write it, in addition to the forms that float() accepts."""
MINUS = b"\xe2\x88\x92"
GROUP_MARKS = re.compile(rb"(?<=\d)(?:[' ]|\xe2\x80[\x99\xaf]|\xc2\xa0|[\xa0\x92])(?=\d{3})")
"""Separators of thousands that are a decimal mark in no country: an apostrophe and blanks."""
GROUPED = {
    mark: re.compile(rb"[+-]?[1-9]\d{0,2}(?:'\d{3})+(?:D\d*)?(?:[eE][+-]?\d+)?".replace(b"D", re.escape(mark)))
    for mark in (b".", b",")
}
DAMAGED = re.compile(rb"[+\-.,]*(?:\d|[OolI][.,])[\dOolI.,'+\-eE]*")
"""A cell that looks like a number with a typing error, such as "1O" and "--1"."""
MONTHS = b"jan feb mar apr may jun jul aug sep oct nov dec".split()
CLOCK = (
    rb"(?P<h>\d{1,4}):(?P<m>\d{2})(?::(?P<s>\d{2})(?:[.,:](?P<f>\d{1,12}))?|(?P<short>[.,]\d{1,12}))?"
    rb"(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?"
)
DATE = (
    rb"(?:(?P<y>\d{4})[-/.](?P<mo>\d{1,2})[-/.](?P<d>\d{1,2})|(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<c>\d{4}|\d{2})"
    rb"|(?P<day>\d{1,2})[- ](?P<word>[A-Za-z]{3})[- ](?P<year>\d{4}))"
)
ZONE = rb"\s*(?:(?P<zone>[Zz]|UTC|GMT)|(?P<offset>[+-]\d{2}:?\d{2}|[+-]\d{2}))?"
BASIC = re.compile(rb"^(\d{4})(\d{2})(\d{2})[Tt](\d{2})(\d{2})(\d{2})")
MOMENT = {
    "clock": re.compile(CLOCK + ZONE),
    "stamp": re.compile(DATE + rb"(?:[Tt]|[\s,]+)" + CLOCK + ZONE),
    "date": re.compile(DATE),
}
MICROSECONDS = {"clock": len("12:00:00.000000"), "stamp": len("2026-11-23 12:00:00.000000")}
"""The most characters of a number of seconds with microseconds."""
SECOND, DAY = 10**9, 86400 * 10**9


def number(cell: bytes, decimal: str, grouped: bool = False) -> float | None:
    """The value of a cell, NaN for an empty one; None where it is not a number. `grouped` says that the other decimal
    mark separates thousands; it is not needed for cells that show this, such as "1.234,5"."""
    mark = b"," if decimal == "comma" else b"."
    other = b"." if mark == b"," else b","
    if other not in cell and b"_" not in cell:  # Python accepts _ between digits, a file may not have it
        try:
            return float(cell.replace(b",", b"."))
        except ValueError:
            pass
    if MINUS in cell:
        return number(cell.replace(MINUS, b"-"), decimal, grouped)
    if cell.strip().lower() in MISSING:
        return float("nan")
    if cell.strip().lower() in INFINITE:
        return float("-inf" if cell.strip().startswith(b"-") else "inf")
    bare = GROUP_MARKS.sub(b"'", cell)
    if other in bare:
        certain = grouped or mark in bare or bare.count(other) > 1
        bare = bare.replace(other, b"'") if certain and b"'" not in bare else b""
    if not GROUPED[mark].fullmatch(bare):
        return None
    return float(bare.replace(b"'", b"").replace(b",", b"."))


def is_missing(cell: bytes) -> bool:
    """Whether a cell has no value."""
    return cell.lower() in MISSING or cell.lower() == b"nan"


def is_damaged(cell: bytes, decimal: str) -> bool:
    """Whether a cell is not a number, but looks like a damaged one."""
    return DAMAGED.fullmatch(cell) is not None and number(cell, decimal) is None


@dataclass(frozen=True)
class Moments:
    """How the cells of a column of times are read: its `kind`, one of MOMENT, whether the day comes before the month
    in dates such as 03/04/2026, and the nanoseconds that correspond to 0."""

    kind: str
    day_first: bool = True
    base: int = 0

    def seconds(self, cell: bytes) -> float | None:
        """The seconds since the base, NaN for an empty cell; None where it is not a time."""
        at = moment(cell, self.kind, self.day_first)
        if at is None:
            return float("nan") if is_missing(cell) else None
        return (at - self.base) / SECOND


def moment(cell: bytes, kind: str, day_first: bool = True) -> int | None:
    """The nanoseconds of a cell of this kind, since midnight or since the start of the calendar in UTC."""
    if kind != "date" and len(cell) <= MICROSECONDS[kind] and (found := _iso(cell, kind)) is not None:
        return found
    match = MOMENT[kind].fullmatch(BASIC.sub(rb"\1-\2-\3T\4:\5:\6", cell) if kind == "stamp" else cell)
    if match is None:
        return None
    parts = match.groupdict()
    days: int | None = 0 if kind == "clock" else _day_of(parts, day_first)
    clock: int | None = 0 if kind == "date" else _clock(parts)
    return None if days is None or clock is None else days + clock - _zone(parts.get("offset"))


def _iso(cell: bytes, kind: str) -> int | None:
    """The same for the usual notations of times, which Python reads much faster; None for others."""
    try:
        words = cell.decode("ascii")
        if kind == "clock":
            at, days = time.fromisoformat(words), 0
        else:
            at, days = (stamp := datetime.fromisoformat(words)).timetz(), stamp.toordinal()
    except ValueError:
        return None
    if cell.count(b":") < 2 or at.tzinfo is not None:  # Python reads "12:30.5" as hours and minutes
        return None
    return days * DAY + ((at.hour * 60 + at.minute) * 60 + at.second) * SECOND + at.microsecond * 1000


def _clock(parts: dict[str, bytes | None]) -> int | None:
    """The nanoseconds of a time of day. "12:30.5" are minutes and seconds."""
    hours, minutes = int(parts["h"] or 0), int(parts["m"] or 0)
    if parts["short"]:
        return (hours * 60) * SECOND + _nanoseconds(b"%d%s" % (minutes, parts["short"])) if minutes < 60 else None
    seconds = int(parts["s"] or 0)
    if minutes > 59 or seconds > 60 or (parts["half"] and not 1 <= hours <= 12):
        return None
    if parts["half"]:
        hours = hours % 12 + (12 if parts["half"] in b"Pp" else 0)
    return (hours * 3600 + minutes * 60 + seconds) * SECOND + _nanoseconds(b"0." + (parts["f"] or b"0"))


def _nanoseconds(seconds: bytes) -> int:
    whole, _, rest = seconds.replace(b",", b".").partition(b".")
    return int(whole) * SECOND + int(rest[:9].ljust(9, b"0") or 0)


def _day_of(parts: dict[str, bytes | None], day_first: bool) -> int | None:
    """The nanoseconds from the start of the calendar to a date."""
    if parts["y"]:
        return _days(int(parts["y"]), int(parts["mo"] or 0), int(parts["d"] or 0))
    if parts["word"]:
        word = parts["word"].lower()
        month = MONTHS.index(word) + 1 if word in MONTHS else 0
        return _days(int(parts["year"] or 0), month, int(parts["day"] or 0))
    first, second, year = int(parts["a"] or 0), int(parts["b"] or 0), int(parts["c"] or 0)
    day, month = (first, second) if day_first else (second, first)
    return _days(year + 2000 if year < 100 else year, month, day)


@lru_cache(1024)
def _days(year: int, month: int, day: int) -> int | None:
    try:
        return date(year, month, day).toordinal() * DAY
    except ValueError:
        return None


def _zone(offset: bytes | None) -> int:
    """The nanoseconds that a zone such as "+01:00" is ahead of UTC."""
    if not offset:
        return 0
    digits = offset[1:].replace(b":", b"")
    ahead = (int(digits[:2]) * 60 + int(digits[2:] or 0)) * 60 * SECOND
    return -ahead if offset.startswith(b"-") else ahead


def moments_of(cells: Sequence[bytes]) -> Moments | None:
    """How a column of times is read, by its first cells that are not empty; None where most of them are not times."""
    for kind in MOMENT:
        if cells and 2 * sum(_is_like(c, kind) for c in cells) > len(cells):
            ways = [Moments(kind, first) for first in _orders(cells)]
            best = max(ways, key=lambda way: _evenness(cells, way))
            start = next((at for c in cells if (at := moment(c, kind, best.day_first)) is not None), None)
            return None if start is None else Moments(kind, best.day_first, start)
    return None


def _is_like(cell: bytes, kind: str) -> bool:
    return MOMENT[kind].fullmatch(cell) is not None or (kind == "stamp" and BASIC.match(cell) is not None)


def _orders(cells: Sequence[bytes]) -> tuple[bool, ...]:
    """The possible values of "day first": months come first only in some dates with slashes."""
    return (False, True) if b"/" in cells[0] else (True,)


def _evenness(cells: Sequence[bytes], way: Moments) -> tuple[int, bool]:
    """How many cells are times when read this way, and whether they are evenly spaced."""
    times = [at for cell in cells if (at := moment(cell, way.kind, way.day_first)) is not None]
    return len(times), bool(times) and even_step(np.array([(at - times[0]) / SECOND for at in times])) is not None


def common_unit(cells: Sequence[bytes], decimal: str) -> bytes:
    """The unit after the number in each of these cells, such as "V" in "1.5 V"; empty where they differ."""
    units = {cell.lstrip(b"+-.,0123456789eE' ").strip() for cell in cells}
    unit = units.pop() if len(units) == 1 else b""
    if not unit or not is_unit(unit.decode("utf-8", "replace")):
        return b""
    bare = [cell.removesuffix(unit).strip() for cell in cells]
    return unit if all(not is_missing(cell) and number(cell, decimal) is not None for cell in bare) else b""


def reader(decimal: str, grouped: bool, moments: Moments | None, suffix: bytes) -> Callable[[bytes], float | None]:
    """The function that reads the cells of one column, which may have a unit after each number."""
    if moments is not None:
        return moments.seconds
    if suffix:
        return lambda cell: number(cell.removesuffix(suffix).strip(), decimal, grouped)
    return lambda cell: number(cell, decimal, grouped)


def unwrap_midnight(times: Array) -> Array:
    """Times of day (N,) in seconds, which continue to increase past midnight."""
    steps = np.diff(times, prepend=times[:1])
    return np.asarray(times + 86400.0 * np.cumsum(steps < -43200.0))

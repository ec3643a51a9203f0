"""How the lines of a table are cut into cells: the user's choices, and what the first lines show where he left them
open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpu_ops.errors import InputError
from gpu_ops.io.opening import Opening

HEAD = 1 << 18
"""Bytes at the start of a file that show its layout."""
MOST_LINES = 1200
"""Lines that show it."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SEPARATORS = {"tab": b"\t", "semicolon": b";", "comma": b",", "space": b" "}
"""In the order in which they are tried."""
QUOTE, COMMENTS = b'"', b"#%"


@dataclass(frozen=True)
class Layout:
    """How lines are cut. `separator` is "none" where a line is one number; `header` counts the lines before the
    numbers; `names` has a name for each column, empty where there is no line of names; `numeric` are the places of the
    columns that hold numbers. `rows` are the first lines of numbers as cells. `close` says that another layout fits as
    well."""

    separator: str
    decimal: str
    header: int
    names: tuple[str, ...]
    numeric: tuple[int, ...]
    rows: tuple[tuple[bytes, ...], ...]
    close: bool = False

    @property
    def columns(self) -> int:
        return len(self.names)

    @property
    def plain(self) -> bool:
        """Whether it is one number a line and nothing else."""
        return self.columns == 1 and not self.header and self.decimal == "point"

    def titles(self) -> tuple[str, ...]:
        """A name for each column, its number where it has none."""
        return tuple(name or str(place + 1) for place, name in enumerate(self.names))


def split(line: bytes, separator: str) -> list[bytes]:
    """The cells of a line without the blanks and quotes around them. Blanks in a row are one separator."""
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
    """The cells of a line in which separators inside quotes do not count."""
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


def number(cell: bytes, decimal: str) -> float | None:
    """The value of a cell, NaN where it is empty; None where it is no number."""
    if not cell:
        return float("nan")
    if decimal == "comma":
        if b"." in cell:
            return None
        cell = cell.replace(b",", b".")
    try:
        return None if b"_" in cell else float(cell)  # Python takes _ between digits, a file may not have it
    except ValueError:
        return None


def first_lines(path: Path, name: str) -> list[bytes]:
    """The first whole lines. Raises InputError where the first one has no end."""
    with open(path, "rb") as file:
        data = file.read(HEAD)
        whole = not file.read(1)
    lines = data.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if not whole and len(lines) == 1:
        raise InputError(
            f"{name} has a first line of over {HEAD} bytes; put each sample on a line of its own, with a column "
            "for each channel."
        )
    last = lines.pop()
    if whole and last.strip():
        lines.append(last)
    return [line.rstrip(b"\r") for line in lines[:MOST_LINES]]


def find_layout(opening: Opening) -> Layout | None:
    """The layout of a table by the choices and its first lines; None where no line holds a number. Raises
    InputError."""
    lines, choices = first_lines(opening.path, opening.name), opening.choices
    separator, decimal = str(choices.get("separator", "auto")), str(choices.get("decimal", "auto"))
    while lines and not lines[-1].strip():
        lines.pop()
    tried = [
        layout
        for sep in (SEPARATORS if separator == "auto" else (separator,))
        for mark in (("point", "comma") if decimal == "auto" else (decimal,))
        if (sep, mark) != ("comma", "comma") and (layout := _try(lines, sep, mark, int(choices.get("header", -1))))
    ]
    if not tried:
        return None
    score, best = max(tried, key=lambda pair: pair[0])
    one = any(layout.columns == 1 and fit[0] == score[0] for fit, layout in tried)  # "1,5" is one number or two
    return replace(best, close=one and best.columns == 2 and not any(best.names))


def _try(lines: Sequence[bytes], separator: str, decimal: str, header: int) -> tuple[tuple[float, int], Layout] | None:
    """The layout for one separator and one decimal mark, and how well it fits: the share of cells that are numbers, and
    the number of columns with numbers. None where there are no numbers."""
    rows = [split(line, separator) for line in lines]
    body = rows[header:] if header >= 0 else rows[len(rows) // 2 :]
    full = [row for row in body if any(row)]
    if not full:
        return None
    columns = Counter(map(len, full)).most_common(1)[0][0]
    even = [row for row in full if len(row) == columns]
    hits = [sum(bool(row[k]) and number(row[k], decimal) is not None for row in even) for k in range(columns)]
    filled = [sum(bool(row[k]) for row in even) for k in range(columns)]
    numeric = tuple(k for k in range(columns) if filled[k] and 2 * hits[k] > filled[k])
    if not numeric:
        return None
    start = header if header >= 0 else _start(rows, columns, numeric, decimal)
    names = _names(rows[:start], columns, numeric, decimal)
    share = sum(hits) / sum(bool(cell) for row in full for cell in row)
    kind = "none" if columns == 1 else separator
    shown = tuple(tuple(row) for row in rows[start:])
    return (share, len(numeric)), Layout(kind, decimal, start, names, numeric, shown)


def _start(rows: Sequence[list[bytes]], columns: int, numeric: tuple[int, ...], decimal: str) -> int:
    """The first line that most of the columns of numbers have numbers in, so that one bad cell there is found."""
    for start, row in enumerate(rows):
        if len(row) == columns:
            cells = [row[k] for k in numeric]
            good = sum(bool(cell) and number(cell, decimal) is not None for cell in cells)
            filled = sum(map(bool, cells))
            if good and 2 * good > filled:
                return start
    return 0


def _names(header: Sequence[list[bytes]], columns: int, numeric: tuple[int, ...], decimal: str) -> tuple[str, ...]:
    """The first line before the numbers that has a cell for each column, as text; empty names where there is none."""
    for row in header:
        cells = [*row]
        if cells:
            cells[0] = cells[0].lstrip(COMMENTS).strip()
        if len(cells) == columns + 1 and not cells[0]:
            cells = cells[1:]  # "# a b" is cut into three
        if len(cells) == columns and any(cells[k] and number(cells[k], decimal) is None for k in numeric):
            return tuple(cell.decode("utf-8", "replace").strip().strip("'") for cell in cells)
    return ("",) * columns

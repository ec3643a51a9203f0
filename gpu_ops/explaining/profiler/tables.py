"""Reads what `ncu --csv` prints: the pages "raw" and "source", and the list of metrics that `ncu --metrics` makes.

A table may come from another place than a plain shell: with lines of ncu or of the program around it, as UTF-16 from a
Windows shell, with other separators from a spreadsheet, and with the marks of another language in its numbers.
"""

from __future__ import annotations

import csv
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from gpu_ops.errors import ReportError, plain
from gpu_ops.explaining.profiler.launches import METRICS, Place, ProfiledLaunch
from gpu_ops.io.signals import cells

LINES = "ncu --import REPORT --csv --page source --print-source cuda,sass"
UTF_16 = b"\xff\xfe", b"\xfe\xff"
FROM_NCU = re.compile(r"==\w+== ")
"""The start of a line in which ncu says what it does."""
FIRST = re.compile(r'"?(?:ID|File Path|Function Name|Line No)"?([,;\t])')
"""The start of a table, and what separates its cells."""
SCALED = re.compile(r"[KMGT][a-z]")
"""The start of a unit that is a thousand or more of another one."""
VALUE = "Metric Value"
CARD = "device__attribute_display_name"
KEPT = {*METRICS, CARD, "Kernel Name", "CC", "Grid Size", "Block Size"}
"""The columns that are read; a page "raw" has hundreds more."""
SAMPLED = 20_000
"""The most cells from which the decimal mark is found."""
Row = Sequence[str]


def read_table(file: Path) -> list[ProfiledLaunch]:
    """The launches of a table. Raises ReportError where it is none, or has none."""
    with open(file, "rb") as start:
        encoding = "utf-16" if start.read(2) in UTF_16 else "utf-8-sig"
    try:
        with open(file, encoding=encoding, errors="replace", newline="") as text:
            found = _of_rows(file, _rows(text))
    except csv.Error as error:
        raise ReportError(f"{plain(file)} is no table ({plain(str(error))}); print one by {LINES}.") from None
    if not found:
        raise ReportError(
            f"{plain(file)} is no table with a line of source or a launch in each row; print one by {LINES}, or by "
            "--page raw."
        )
    return found


def _of_rows(file: Path, rows: Iterator[Row]) -> list[ProfiledLaunch]:
    names = next(rows, [])
    if "Kernel Name" in names and names[0] == "ID":
        return _of_list(file, names, rows) if VALUE in names else _of_raw(file, names, rows)
    return _of_lines(chain([names], rows))


def _rows(text: Iterable[str]) -> Iterator[list[str]]:
    """The rows of the table in a text."""
    lines = (line.replace("\0", "") for line in text if not FROM_NCU.match(line))
    for line in lines:
        if start := FIRST.match(line):
            yield from filter(None, csv.reader(chain([line], lines), delimiter=start[1]))


class _Numbers:
    """Reads the numbers of a table. Its decimal mark is the one with which more of its cells are numbers."""

    def __init__(self) -> None:
        self._cells: list[bytes] = []
        self._decimal = ""

    def take(self, row: Row) -> None:
        """Take a row as a sample."""
        if len(self._cells) < SAMPLED:
            self._cells += [cell.encode() for cell in row]

    def read(self, text: str) -> float | None:
        """The number in a cell; None for "nan", "n/a" and other words."""
        if not self._decimal:
            self._decimal = max(
                ("point", "comma"), key=lambda mark: sum(cells.number(c, mark, True) is not None for c in self._cells)
            )
        value = cells.number(text.strip().encode(), self._decimal, True)
        return value if value is not None and math.isfinite(value) else None


def _of_raw(file: Path, names: Row, rows: Iterable[Row]) -> list[ProfiledLaunch]:
    """A page "raw": a launch in each row, with totals alone."""
    launches, units, numbers = [], dict[str, str](), _Numbers()
    for row in rows:
        if row[0].isdigit():
            _check_whole(file, names, row)
            numbers.take(row)
            launches.append({name: cell for name, cell in zip(names, row, strict=False) if name in KEPT})
        elif not row[0] and not launches:
            units = dict(zip(names, row, strict=False))
    return _launches(file, launches, units, numbers)


def _of_list(file: Path, names: Row, rows: Iterable[Row]) -> list[ProfiledLaunch]:
    """A metric in each row."""
    launches, units, numbers = defaultdict[str, dict[str, str]](dict), dict[str, str](), _Numbers()
    for row in rows:
        if row[0].isdigit():
            _check_whole(file, names, row)
            cell = dict(zip(names, row, strict=False))
            numbers.take(row)
            launches[row[0]] |= cell | {cell["Metric Name"]: cell[VALUE]}
            units[cell["Metric Name"]] = cell.get("Metric Unit", "")
    if not any(name in units for name in METRICS):
        raise ReportError(
            f"{plain(file)} has the page details, which has no counter that follows from addresses; print one by "
            "ncu --import REPORT --csv --page raw."
        )
    return _launches(file, launches.values(), units, numbers)


def _check_whole(file: Path, names: Row, row: Row) -> None:
    """Raises ReportError for a row that ends before its last column."""
    if len(row) < len(names):
        raise ReportError(f"{plain(file)} ends within the launch {row[0]}; copy or print it once more.")


def _launches(
    file: Path, launches: Iterable[Mapping[str, str]], units: Mapping[str, str], numbers: _Numbers
) -> list[ProfiledLaunch]:
    """The launches with these cells by the name of the column. Raises ReportError for counters in thousands, which are
    rounded."""
    if rounded := [units[name] for name in METRICS if SCALED.match(units.get(name, ""))]:
        raise ReportError(f"{plain(file)} has rounded counters, in {rounded[0]}; print it with ncu --print-units base.")
    found = []
    for cell in launches:
        totals = {n: number for n in METRICS if (number := numbers.read(cell.get(n, ""))) is not None}
        card, version = cell.get(CARD, ""), re.findall(r"\d+", cell.get("CC", ""))
        architecture = f"sm_{''.join(version)}" if version else ""
        grid, block = (_extents(cell.get(f"{what} Size", ""), numbers) for what in ("Grid", "Block"))
        found.append(ProfiledLaunch(cell["Kernel Name"], card, architecture, grid, block, totals))
    return found


def _extents(text: str, numbers: _Numbers) -> tuple[int, ...]:
    """The numbers of a text such as "(1,024, 1, 1)"; () where one is none."""
    found = [numbers.read(part) for part in re.split(r"[,;]\s+", text.strip(" ()"))]
    return tuple(int(number) for number in found if number is not None) if None not in found else ()


def _of_lines(rows: Iterable[Row]) -> list[ProfiledLaunch]:
    """A page "source" with the lines of each file, and below each its instructions, which have no number. It has no
    launches where a table has no line."""
    kept: dict[str, dict[tuple[str, str], dict[str, str]]] = defaultdict(dict)
    file, kernel, columns, numbers = "", "", dict[str, int](), _Numbers()
    for row in rows:
        if len(row) == 2 and row[0].startswith("File"):
            file = row[1]
        elif len(row) == 2 and row[0] in ("Function Name", "Kernel Name"):
            kernel = row[1]
        elif row and row[0] == "Line No":
            columns = {n: row.index(column) for n, column in METRICS.items() if column in row and "Address" in row}
        elif row and row[0][:1].isdigit() and columns:
            numbers.take(row)
            filled = {n: row[place] for n, place in columns.items() if place < len(row)}
            kept[kernel][file, row[0]] = {n: cell for n, cell in filled.items() if cell not in ("", "-")}
    found = []
    for kernel, texts in kept.items():
        lines: dict[Place, dict[str, float]] = {}
        for (file, line), cell in texts.items():
            place = file, int(numbers.read(line) or 0)
            read = {n: numbers.read(text) for n, text in cell.items()}
            lines[place] = {n: math.nan if number is None else number for n, number in read.items()}
        found.append(ProfiledLaunch(kernel, totals=_summed(lines), lines=lines))
    return found


def _summed(lines: Mapping[Place, Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for metrics in lines.values():
        for name, value in metrics.items():
            total[name] += value
    return {name: value for name, value in total.items() if math.isfinite(value)}

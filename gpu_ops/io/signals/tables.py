"""Text with numbers: one per line, or a table with columns. Numbers are bit-equal to Python's float().

A table of one column without a heading is read by the reader for one number per line. Other long tables are parsed by
compiled functions, which leave uncertain lines to Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NoReturn

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.inputs import Array, check_limit
from gpu_ops.io.opening import DECIMAL, HEADER, SEPARATOR, Decoded, Opening, Survey, note
from gpu_ops.io.signals import text
from gpu_ops.io.signals.columns import chosen_columns, chosen_rate, labels_of, listed
from gpu_ops.io.signals.table_layout import SEPARATORS, Layout, find_layout, first_lines, split
from gpu_ops.io.signals.table_times import TablePlan, doubts, find_times, left_out, make_plan
from gpu_ops.params import Value
from gpu_ops.progress import advance, collect, finite, stage
from gpu_ops.types import Facts

CUTS = (HEADER, SEPARATOR, DECIMAL)
SHOWN_ROWS = 20
POINT_FROM_COMMA = bytes.maketrans(b",.", b".?")


def read_table(opening: Opening) -> Decoded:
    """The numbers as (N,) or (N, C) float64, NaN where a cell is empty, with the rate from a column of times.

    A column of times or of sample numbers is not a channel unless it is chosen. The steps have a note about everything
    that was left out, and about lines that can be read in two ways. Raises InputError that quotes the line and the cell
    that is not a number, for lines of another number of columns, blank lines, and times that are not even; ParamError
    for a missing column.
    """
    layout = find_layout(opening)
    if layout is None and any(opening.choices.get(p.name, p.default) != p.default for p in CUTS):
        raise InputError(
            f"{opening.name} has no line of numbers as it is cut: choose fewer --header lines, or another --separator "
            "or --decimal."
        )
    if layout is None or layout.plain:
        if layout is not None:
            chosen_columns(opening, layout.titles())
        steps = () if layout is None else tuple(map(note, doubts(layout)))
        return Decoded(text.read_text(opening).array, chosen_rate(opening), steps)
    plan = make_plan(opening, layout)
    wanted = list(dict.fromkeys([*plan.channels, *(() if plan.times is None else (plan.times,))]))
    values = _read_cells(opening, layout, wanted, list(pairwise(_cut(opening.path))))
    return _decoded(opening, layout, plan, wanted, values)


def _cut(path: Path) -> list[int]:
    """Offsets of pieces of whole lines. The last line keeps its trailing blanks: tabs may separate empty cells."""
    *cuts, stop = text.cut(path)
    with open(path, "rb") as file:
        file.seek(stop)
        return [*cuts, stop + len(file.readline().rstrip(b"\r\n"))]


def _decoded(opening: Opening, layout: Layout, plan: TablePlan, wanted: Sequence[int], values: Array) -> Decoded:
    """The channels of the columns that were read, with their names and the rate."""
    times = None if plan.times is None else values[:, wanted.index(plan.times)]
    found = find_times(opening, layout, plan, times)
    channels = list(found.channels)
    labels = labels_of(layout.labels(channels))
    every = layout.units
    units = tuple(every[k] for k in channels)
    picked = values[:, [wanted.index(k) for k in channels]] if len(channels) < len(wanted) else values
    array = np.ascontiguousarray(picked)
    steps = (*found.steps, *map(note, (*doubts(layout), *left_out(layout, plan, found))))
    facts = Facts(labels=labels, units=units if any(units) else (), start=found.start)
    return Decoded(array[:, 0] if array.shape[1] == 1 else array, found.rate, steps, facts)


def _read_cells(opening: Opening, layout: Layout, wanted: list[int], pieces: list[tuple[int, int]]) -> Array:
    """The requested columns as (N, columns)."""
    path, name = opening.path, opening.name
    # The compiled functions do not support times, nor a comma in two roles.
    odd = layout.separator == layout.decimal or any(k in layout.moments for k in wanted)
    short = odd or not pieces or pieces[-1][1] <= text.SHORT_BYTES
    with ThreadPoolExecutor(text.WORKERS) as pool:
        with stage(0, 2):
            counts = collect(pool.map(lambda p: text.count_lines(text.read_piece(path, p)), pieces), len(pieces))
        ends = list(accumulate(counts, initial=0))
        rows = ends[-1] - layout.header
        if rows < 1:
            raise InputError(
                f"{name} has {ends[-1]:,} lines, and {layout.header:,} of them are no numbers; choose fewer."
            )
        check_limit(name, rows * len(wanted), opening.limit)
        values = np.empty((rows, len(wanted)))
        target = np.full(layout.columns, -1)
        target[wanted] = range(len(wanted))
        parser = _Parser(layout, target, name, short, layout.readers)

        def parse(piece: tuple[int, int], first: int, last: int) -> None:
            data, skipped = text.read_piece(path, piece), max(0, min(last, layout.header) - first)
            lines = data.split(b"\n", skipped)[-1] if skipped else data
            if last > layout.header:
                row = first + skipped
                parser.parse(lines, values[row - layout.header : last - layout.header], row)

        with stage(1, 2):
            collect(pool.map(parse, pieces, ends[:-1], ends[1:]), len(pieces))
    return values


@dataclass(frozen=True)
class _Parser:
    """Parses lines into rows of numbers. `target` has the index of each column in a row, negative for none."""

    layout: Layout
    target: Array
    name: str
    short: bool
    readers: Sequence[Callable[[bytes], float | None]]

    def parse(self, data: bytes, values: Array, row: int) -> None:
        """Fill `values` with the lines of `data`, of which the first is line `row` of the file, from 0."""
        if self.short:
            for i, line in zip(range(len(values)), data.split(b"\n"), strict=False):
                if i % 4096 == 0:
                    advance(i, len(values))
                self._line(line, values[i], row + i)
            return
        from gpu_ops.io.signals.table_numba import NOTHING, parse_rows

        mark = SEPARATORS.get(self.layout.separator)
        pointed = data.translate(POINT_FROM_COMMA) if self.layout.decimal == "comma" else data
        bits, doubtful = values.view(np.uint64), np.empty(len(values), np.bool_)
        with finite():  # compiles when first called
            parse_rows(np.frombuffer(pointed, np.uint8), mark[0] if mark else NOTHING, self.target, bits, doubtful)
        for i in np.flatnonzero(doubtful).tolist():
            begin = int(bits[i, 0])
            end = data.find(b"\n", begin)
            self._line(data[begin : end if end >= 0 else len(data)], values[i], row + i)

    def _line(self, line: bytes, values: Array, row: int) -> None:
        cells = split(line, self.layout.separator)
        if len(cells) != len(self.target) or not line.strip():
            self._refuse_row(line, cells, row)
        for column, place in enumerate(self.target.tolist()):
            if place >= 0:
                value = self.readers[column](cells[column])
                if value is None:
                    self._refuse_cell(cells[column], column, row)
                values[place] = value

    def _refuse_row(self, line: bytes, cells: list[bytes], row: int) -> NoReturn:
        if not line.strip():
            raise InputError(f"{self.name}, line {row + 1}: the line is blank; take it out, or end the file there.")
        shown = plain(line[:1000].decode("utf-8", "replace").strip(), 60)
        raise InputError(
            f"{self.name}, line {row + 1}: {len(cells):,} columns where others have {len(self.target):,}, in "
            f"{shown!r}; write the same number of cells in each line, or choose another --separator or --header."
        )

    def _refuse_cell(self, cell: bytes, column: int, row: int) -> NoReturn:
        shown = plain(cell[:1000].decode("utf-8", "replace"), 40)
        title = plain(self.layout.titles()[column], 40)
        where = f"column {title}" if title == str(column + 1) else f"column {column + 1}, {title!r}"
        what, such = "number", "0.5 or -2e-3"
        if column in self.layout.moments:
            what, such = "time", self.layout.first(column)
        heading = f", add --header {row + 1} where it is a heading" if row == self.layout.header else ""
        raise InputError(
            f"{self.name}, line {row + 1}, {where}: '{shown}' is not a {what}; write one such as {such}{heading}, or "
            "leave the column out with --columns."
        )


def look_table(opening: Opening) -> Survey:
    """The layout from the choices and the first lines, with its first rows; asks where there are no numbers, or
    where a comma may be a decimal mark or a separator."""
    layout = find_layout(opening)
    if layout is None:
        lines = [line.decode("utf-8", "replace") for line in first_lines(opening.path, opening.name)[:SHOWN_ROWS]]
        shown = tuple((plain(line, 200),) for line in lines)
        return Survey("text", (("numbers", "none found"),), asks=True, heading=("text",), rows=shown)
    rows = tuple(tuple(plain(c.decode("utf-8", "replace"), 40) for c in row) for row in layout.rows[:SHOWN_ROWS])
    found: dict[str, Value] = {"decimal": layout.decimal, "header": layout.header}
    if layout.separator != "none":
        found["separator"] = layout.separator
    asks = bool(layout.doubt)
    doubt = (("two ways", layout.doubt),) if asks else ()
    if layout.columns == 1:
        words = listed(layout.titles()) if any(layout.names) else "one number a line"
        facts: tuple[tuple[str, str], ...] = (*doubt, ("columns", words))
        return Survey("text", facts, found=found, asks=asks, heading=layout.titles(), rows=rows)
    plan = make_plan(opening, layout)
    channels, facts, rate = _facts_of(opening, layout, plan)
    found |= {"columns": ",".join(str(k + 1) for k in channels)} | ({"rate": rate} if rate else {})
    allowed = {"columns": tuple(layout.titles()[k] for k in layout.values)}
    return Survey("a table", (*doubt, *facts), 1, allowed, found, asks, layout.titles(), rows)


def _facts_of(
    opening: Opening, layout: Layout, plan: TablePlan
) -> tuple[tuple[int, ...], tuple[tuple[str, str], ...], float | None]:
    """The channels, remarks about the columns, and the rate, from the first rows."""
    titles = layout.titles()
    facts = [("columns", f"{layout.columns}: {listed(titles)}")]
    if len(layout.values) < layout.columns:
        facts.append(("not numbers", listed([t for k, t in enumerate(titles) if k not in layout.values])))
    times = None if plan.times is None else layout.read(plan.times)
    try:
        found = find_times(opening, layout, plan, times)
    except InputError:  # the first rows already show that they are not even
        assert plan.times is not None
        facts.append(("times", f"column {titles[plan.times]}: not even"))
        own = chosen_rate(opening)
        return plan.data_channels, (*facts, ("channels", listed([titles[k] for k in plan.data_channels]))), own
    if found.words:
        facts.append(("times", found.words))
    channels = [label or titles[k] for k, label in zip(found.channels, layout.labels(found.channels), strict=True)]
    return found.channels, (*facts, ("channels", listed(channels))), found.rate

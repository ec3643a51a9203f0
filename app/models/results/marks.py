"""Marks over an output, from the table of the same run. No Qt."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from app.models.results.view_data import OutputData
from gpu_ops.output_kinds import Marks


class Mark(NamedTuple):
    """A position on a curve or a picture, the number shown next to it, and its channel."""

    x: float
    y: float
    label: float
    channel: int = 0


class Marked(NamedTuple):
    """The marks over a result, and the unit of their labels."""

    marks: tuple[Mark, ...]
    unit: str


def marks_of(table: OutputData, declared: Marks) -> tuple[Mark, ...]:
    """The marks of all channels, row by row."""
    rows, columns = table.array.reshape(len(table.array), -1).tolist(), declared.columns(table.result.form)
    found = (Mark(row[x], row[y], row[label], k) for row in rows for k, (x, y, label) in enumerate(columns))
    return tuple(mark for mark in found if any(mark[:3]) and all(map(isfinite, mark[:3])))

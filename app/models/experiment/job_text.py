"""A job in words: "Mean (image), window 5, of 512 × 512 uint8"."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.base.numbers import shown
from gpu_ops import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.report.rows import Row
from gpu_ops.types import Filter

NEAR = 2
"""How many recorded jobs a message names."""


def value_text(value: Any) -> str:
    """A parameter's value as the user's locale writes it; a matrix in its rows' order."""
    if isinstance(value, list | tuple):
        return " ".join(value_text(v) for v in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return shown(value) if isinstance(value, int) else shown(value, "g", 7)


def params_text(params: Mapping[str, Any]) -> str:
    """Every parameter with its value: "window 5, border reflect"."""
    return ", ".join(f"{name.replace('_', ' ')} {value_text(value)}" for name, value in params.items())


def size_text(filter: Filter, shape: Sequence[int], dtype: str) -> str:
    """The size of an input of the filter, the width first, and its type: "640 × 480 uint8"."""
    extents = INPUT_KINDS[filter.accepts].width_first(tuple(shape))
    return f"{' × '.join(shown(n) for n in extents)} {dtype}"


def job_text(filter: Filter, params: Mapping[str, Any], shape: Sequence[int], dtype: str) -> str:
    """The filter, its parameters and the array it ran on."""
    text = QCoreApplication.translate("Jobs", "{filter}, {params}, of {array}")
    return text.format(filter=filter.title, params=params_text(params), array=size_text(filter, shape, dtype))


def row_job_text(row: Row) -> str:
    """What a row was of: "window 5, 4096 × 4096 uint8"."""
    return f"{params_text(row.params)}, {size_text(FILTERS.find(row.filter), row.shape, row.dtype)}"


def nearest_jobs(
    rows: Sequence[Row], params: Mapping[str, Any], shape: Sequence[int], dtype: str
) -> tuple[tuple[str, Row], ...]:
    """The jobs among a filter's rows that are nearest to these parameters and an array, each in words and with one of
    its rows: of the nearest size, of these first those with its type and with most of the parameters."""

    def distance(row: Row) -> tuple[float, bool, int]:
        ratio = abs(math.log2(max(math.prod(row.shape), 1) / max(math.prod(shape), 1)))
        others = sum(params.get(name) != value for name, value in row.params.items())
        return ratio if len(row.shape) == len(shape) else ratio + 1, row.dtype != dtype, others

    ordered = sorted(rows, key=distance)
    return tuple({row_job_text(row): row for row in reversed(ordered)}.items())[::-1][:NEAR]

"""Results as text in columns: where each row lies, then its values, under a line of names. Numbers in the C locale."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import IO, Any

from gpu_ops.errors import InputError
from gpu_ops.io.inputs import Array
from gpu_ops.output_kinds import CHANNEL, Axis, Form
from gpu_ops.progress import advance

TABLES = (".csv", ".txt")
"""Endings of files that hold columns."""
ROWS = 4096
"""Written at a time."""


def write_columns(file: IO[bytes], array: Array, form: Form, unit: str, name: str) -> None:
    """Writes (), (N,), (N, C) or (C, N) of any numbers; complex ones take two columns each. Channels stand side by
    side, whichever axis they lie along. Raises InputError for more axes."""
    if array.ndim > 2:
        raise InputError(f"{name} cannot hold {array.ndim} axes in columns; save as .npy.")
    axes = list(form.axes) or [Axis("value")]
    values = array.reshape(1) if array.ndim == 0 else array
    if values.ndim == 2 and axes[0].name == CHANNEL:
        values, axes = values.T, axes[::-1]
    places = _places(axes[0], len(values)) if form.axes else ([], [])
    heads = _heads(axes[1] if values.ndim == 2 else None, values, unit)
    _write(file, [places[0] + heads])
    rows = values.reshape(len(values), -1)
    for begin in range(0, len(rows), ROWS):
        advance(begin, len(rows))
        part = range(begin, min(begin + ROWS, len(rows)))
        _write(file, ([column[k] for column in places[1]] + list(_cells(rows[k])) for k in part))


def _places(axis: Axis, count: int) -> tuple[list[str], list[list[Any]]]:
    """Names and content of the columns that say where a row lies."""
    if axis.labels:
        return [axis.name], [list(axis.labels)]
    return [_with_unit(axis.name, axis.unit)], [[_digits(axis.at(k)) for k in range(count)]]


def _heads(axis: Axis | None, values: Array, unit: str) -> list[str]:
    """Names of the columns of values."""
    if axis is None:
        names = [_with_unit("value", unit)]
    elif axis.labels:
        names = [_with_unit(label, unit) for label in axis.labels]
    else:
        names = [_with_unit(f"{axis.name} {_digits(axis.at(k))}", unit) for k in range(values.shape[1])]
    if values.dtype.kind != "c":
        return names
    return [f"{name} {part}" for name in names for part in ("real", "imaginary")]


def _cells(row: Array) -> Iterator[str]:
    for value in row.tolist():
        yield from (map(_digits, (value.real, value.imag)) if isinstance(value, complex) else (_digits(value),))


def _digits(value: float) -> str:
    """As many digits as bring the number back."""
    return str(value) if isinstance(value, int) else repr(float(value))


def _with_unit(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name


def _write(file: IO[bytes], rows: Any) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    file.write(text.getvalue().encode())

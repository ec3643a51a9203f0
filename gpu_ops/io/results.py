"""Saves outputs of any kind to the formats of the kind, with axes and units where the format has room for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.input_kinds import SIGNAL
from gpu_ops.io.files import replacing, save
from gpu_ops.output_kinds import OUTPUT_KINDS, Array, Axis, Form, ViewKind
from gpu_ops.progress import advance

ROWS = 1 << 12
"""Rows that are written at a time."""


def save_result(
    path: str | os.PathLike[str],
    kind: ViewKind,
    array: Array,
    form: Form,
    unit: str = "",
    rate: float | None = None,
    overwrite: bool = True,
) -> None:
    """Write an output by the name's ending, one of its kind's `formats`; `rate` is that of a signal, in hertz.

    A table of comma-separated values begins with a line of axes and units. It has the start and the end of each bar,
    and the real and the imaginary part of complex values. Raises InputError when the file cannot be written so.
    """
    of_kind, suffix = OUTPUT_KINDS[kind], Path(path).suffix.lower()
    if suffix not in of_kind.formats:
        name, allowed = plain(os.fspath(path)), " ".join(of_kind.formats)
        raise InputError(f"{name} cannot hold {of_kind.title} as '{plain(suffix, 20)}'; choose one of {allowed}.")
    if kind == SIGNAL.view or suffix not in (".csv", ".txt"):
        save(path, array, rate=rate, overwrite=overwrite)
        return
    with replacing(path, overwrite) as file:
        _write_table(file, kind, np.asarray(array), form, unit)


def _write_table(file: IO[bytes], kind: ViewKind, array: Array, form: Form, unit: str) -> None:
    """A heading, and a row for each element of one axis: the last axis of bars, the first of other kinds."""
    if array.ndim == 0:
        file.write(f"{_cell(array[()])}\n".encode())
        return
    bars = kind == "bars"
    columns = array.reshape(-1, array.shape[-1]).T if bars else array.reshape(len(array), -1)
    axis = form.axes[-1] if bars else form.axes[0]
    across = (form.axes[0] if bars else form.axes[1]) if array.ndim == 2 else None
    heading = [_title("from", axis), _title("to", axis)] if bars else [_title(axis.name, axis)]
    for k in range(columns.shape[1]):
        name = (across.labels[k] if across.labels else f"{across.name} {k + 1}") if across else "value"
        own = f"{name} ({unit})" if unit else name
        heading += [f"{own} real", f"{own} imaginary"] if array.dtype.kind == "c" else [own]
    file.write((",".join(map(_quote, heading)) + "\n").encode())
    for line in _lines(columns, axis, bars):
        file.write(line)


def _lines(columns: Array, axis: Axis, bars: bool) -> Iterator[bytes]:
    for first in range(0, len(columns), ROWS):
        advance(first, len(columns))
        rows = []
        for k, row in enumerate(columns[first : first + ROWS], start=first):
            places = [axis.at(k), axis.at(k + 1)] if bars else [axis.labels[k] if axis.labels else axis.at(k)]
            rows.append(",".join((*map(_cell, places), *(_cell(part) for v in row for part in _parts(v)))))
        yield ("\n".join(rows) + "\n").encode()


def _parts(value: Any) -> tuple[Any, ...]:
    """The one or two real numbers of a value."""
    return (value.real, value.imag) if isinstance(value, np.complexfloating) else (value,)


def _title(name: str, axis: Axis) -> str:
    return f"{name} ({axis.unit})" if axis.unit else name


def _cell(value: Any) -> str:
    """A name unchanged, a number with the digits that give the same number when read."""
    if isinstance(value, str):
        return _quote(value)
    return repr(value) if type(value) is float else str(value)


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n') else text

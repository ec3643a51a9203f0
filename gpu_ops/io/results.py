"""Saves outputs of any kind to the formats of the kind, with axes and units where the format has space for them."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from gpu_ops.errors import InputError, either, plain
from gpu_ops.input_kinds import SIGNAL
from gpu_ops.io.files import replacing, save
from gpu_ops.io.images.pixel_size import pixel_of
from gpu_ops.io.notes import comment_lines, lines_of
from gpu_ops.io.signals.units import cut_unit
from gpu_ops.io.steps.mapping import Levels, map_values, maps_for, writes_exactly
from gpu_ops.output_kinds import OUTPUT_KINDS, Array, Axis, Form, ViewKind
from gpu_ops.progress import advance
from gpu_ops.types import Output, Pixel

TABLES = (".csv", ".txt", ".json")
ROWS = 1 << 12
"""Rows that are written at a time."""


@dataclass(frozen=True)
class Saving:
    """How a result is saved: the mapping of its values (one of gpu_ops.io.steps.mapping.MAPS), the levels that "levels"
    maps to black and white, the facts that the file stores, see gpu_ops.report.about, and the size of the `pixel` of
    its input, if known."""

    map: str = "none"
    levels: Levels | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    pixel: Pixel | None = None


PLAIN = Saving()


def save_result(
    path: str | os.PathLike[str],
    kind: ViewKind,
    array: Array,
    form: Form,
    unit: str = "",
    rate: float | None = None,
    overwrite: bool = True,
    saving: Saving = PLAIN,
) -> str:
    """Write an output in the format of the name's suffix, one of its kind's `formats`. Returns how its values were
    converted, in words, "" where they are unchanged; `rate` is that of a signal, in hertz.

    A table of comma-separated values begins with the facts of `saving`, each in a line after "#", and a line of axes
    and units. It has the start and the end of each bar, and the real and the imaginary part of complex values. PNG,
    TIFF, WAV and FLAC store the facts and the mapping as well, and PNG and TIFF the pixel size of outputs on the grid
    of their input. Raises InputError when the file cannot be written, ParamError for a mapping that the format does not
    allow.
    """
    of_kind, suffix = OUTPUT_KINDS[kind], Path(path).suffix.lower()
    name = plain(os.fspath(path))
    if suffix not in of_kind.formats:
        allowed = " ".join(of_kind.formats)
        raise InputError(f"{name} cannot hold {of_kind.title} as '{plain(suffix, 20)}'; choose one of {allowed}.")
    array = np.asarray(array)
    if _as_table(kind, suffix, array):
        map_values(np.empty(0), suffix, saving.map, saving.levels, name)  # a table needs no mapping: raises
        with replacing(path, overwrite) as file:
            if suffix == ".json":
                _write_json(file, kind, array, form, unit, saving.about)
            else:
                if suffix == ".csv":
                    file.write(comment_lines(saving.about).encode("utf-8", "replace"))
                _write_table(file, kind, array, form, unit)
        return ""
    mapped = map_values(array, suffix, saving.map, saving.levels, name)
    about = {**saving.about, **(_meaning(form, unit) if kind == SIGNAL.view else {}), "values": mapped.text}
    how: dict[str, Any] = {"rate": rate, "pixel": pixel_of(saving.pixel, form), "note": "\n".join(lines_of(about))}
    save(path, mapped.array, overwrite=overwrite, **how)
    return mapped.text


def save_output(
    path: str | os.PathLike[str], output: Output, array: Array, form: Form, rate: float | None, saving: Saving
) -> str:
    """As save_result() for an output of a filter. Where the format cannot store the values unchanged, raises
    InputError, which names the mappings, and the formats that can."""
    suffix, dtype = Path(path).suffix.lower(), array.dtype.name
    ends = (float(array.min()), float(array.max())) if suffix == ".flac" else (0.0, 0.0)
    if saving.map == "none" and suffix in output.of_kind.formats and (maps := maps_for(suffix, dtype, *ends)):
        shown, ways = plain(os.fspath(path)), " or ".join(f"--map {name}" for name in maps)
        others = either([other for other in output.of_kind.formats if writes_exactly(other, dtype, *ends)])
        raise InputError(f"{shown} cannot hold all values of this {dtype}; say how with {ways}, or save as {others}.")
    return save_result(path, output.kind, array, form, output.unit, rate, saving=saving)


def _meaning(form: Form, unit: str) -> dict[str, str]:
    """The facts that a sound file has no other space for: the names of channels, the unit of the values, and the
    start."""
    names = next((axis.labels for axis in form.axes if axis.labels), (form.label,))
    time = form.axes[0]
    start = f"{time.start:.12g} {time.unit}" if time.unit and time.start else ""
    facts = {"channels": ", ".join(filter(None, names)), "unit": form.unit_of("signal", unit), "start": start}
    return {name: words for name, words in facts.items() if words}


def _as_table(kind: ViewKind, suffix: str, array: Array) -> bool:
    """Whether the file has a heading and several columns. A signal in .txt has one number per line."""
    return suffix in TABLES and (kind != SIGNAL.view or suffix == ".csv")


def _write_table(file: IO[bytes], kind: ViewKind, array: Array, form: Form, unit: str) -> None:
    """A heading, and a row for each element of one axis: the last axis of bars, the first of other kinds."""
    if array.ndim == 0:
        file.write(f"{array[()]!s}\n".encode())
        return
    heading, columns, axis, bars = _table(kind, array, form, unit)
    file.write(_lines([heading]))
    for first in range(0, len(columns), ROWS):
        advance(first, len(columns))
        rows = enumerate(columns[first : first + ROWS], start=first)
        file.write(_lines((*_places(axis, k, bars), *(p for v in row for p in _parts(v))) for k, row in rows))


def _write_json(file: IO[bytes], kind: ViewKind, array: Array, form: Form, unit: str, about: Mapping[str, Any]) -> None:
    """The facts under "about"; a "value" with its "unit", or "columns" and "rows" as in a table. NaN is written as
    null, and infinity as a word, because JSON has neither."""
    if array.ndim == 0:
        parts = [_plain_number(part) for part in _parts(array[()])]
        content: dict[str, Any] = {"value": parts[0] if len(parts) == 1 else parts, "unit": unit}
    else:
        heading, columns, axis, bars = _table(kind, array, form, unit)
        rows = [
            [*_places(axis, k, bars), *(_plain_number(part) for value in row for part in _parts(value))]
            for k, row in enumerate(columns)
        ]
        content = {"columns": heading, "rows": rows}
    text = json.dumps({"about": dict(about), **content}, indent=1, allow_nan=False, default=str)
    file.write(f"{text}\n".encode())


def _plain_number(value: Any) -> float | int | str | None:
    number: float | int = value.item()
    if math.isfinite(number):
        return number
    return None if math.isnan(number) else "infinite" if number > 0 else "-infinite"


def _table(kind: ViewKind, array: Array, form: Form, unit: str) -> tuple[list[str], Array, Axis, bool]:
    """The heading, the columns of values as (rows, columns), the axis along the rows, and whether the rows are bars."""
    bars = kind == "bars"
    columns = array.reshape(-1, array.shape[-1]).T if bars else array.reshape(len(array), -1)
    axis = form.axes[-1] if bars else form.axes[0]
    across = (form.axes[0] if bars else form.axes[1]) if array.ndim == 2 else None
    heading = [_title("from", axis), _title("to", axis)] if bars else [_title(axis.name, axis)]
    for k in range(columns.shape[1]):
        name = (across.labels[k] if across.labels else f"{across.name} {k + 1}") if across else form.label or "value"
        stem, own_unit = cut_unit(name)
        of_values = form.unit_of(kind, unit, own_unit)
        own = f"{stem} ({of_values})" if of_values else name
        heading += [f"{own} real", f"{own} imaginary"] if array.dtype.kind == "c" else [own]
    return heading, columns, axis, bars


def _lines(rows: Iterable[Iterable[Any]]) -> bytes:
    """Rows of a table; a number has enough digits to be read back exactly."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _places(axis: Axis, k: int, bars: bool) -> list[Any]:
    """The coordinate of a row: both ends of a bar, else its name or its position."""
    return [axis.at(k), axis.at(k + 1)] if bars else [axis.labels[k] if axis.labels else axis.at(k)]


def _parts(value: Any) -> tuple[Any, ...]:
    """The one or two real numbers of a value."""
    return (value.real, value.imag) if isinstance(value, np.complexfloating) else (value,)


def _title(name: str, axis: Axis) -> str:
    return f"{name} ({axis.unit})" if axis.unit else name

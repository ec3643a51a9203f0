"""HTML representations of inputs, runs and reports for notebooks: small tables and pictures without external files."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from gpu_ops.errors import in_python, plain

Array = np.ndarray[Any, Any]
SIDE = 256
"""The maximum number of pixels of a picture along an axis."""
VERDICTS = {None: "not verified", True: "right", False: "WRONG"}
SPECTRAL = ("spectrum", "pyramid")
"""The kinds of output with values over frequencies."""
LEAST = 1e-6
"""The smallest magnitude that is drawn of them, relative to the largest: −120 dB."""
MOST_ROWS = 200
"""The maximum number of table rows."""


def html_of_input(input: Any) -> str:
    """A picture of an Input, and its properties."""
    steps = (str(step.get("step", "")) for step in input.origin.get("steps", ()))
    known = {
        "kind": input.kind,
        "shape": _extent(input.array),
        "type": input.array.dtype.name,
        "rate": f"{input.rate:g} Hz" if input.rate else "",
        "channels": ", ".join(input.facts.labels),
        "steps": ", ".join(steps),
    }
    return facts(input.name, known, drawn(input.array, input.meta.of_kind.rank))


def html_of_run(run: Any) -> str:
    """The status of a Run, and pictures of its outputs."""
    known: dict[str, object] = {"device": run.pick.device, **run.params, **run.pick.knobs}
    known["result"] = in_python(run.failure) or VERDICTS[run.ok]
    known |= {f"error of {id}": f"{e.relative:.2g}, {e.tolerance:.2g} allowed" for id, e in run.errors.items()}
    known |= {f"{stage} time": f"{t.median * 1e3:.4g} ms ({t.clock})" for stage, t in run.timings.items()}
    known |= {f"note {place}": note for place, note in enumerate(run.notes, start=1)}
    known |= {id: f"{_extent(array)} {array.dtype}" for id, array in run.outputs.items()}
    pictures = (drawn(run.forms[id].channels_last(array), run.forms[id].rank) for id, array in run.outputs.items())
    return facts(f"{run.filter} {run.pick.variant}", known, "".join(pictures))


def facts(title: str, known: Mapping[str, object], picture: str = "") -> str:
    """A title, a list of named properties, and a picture under it. All texts are escaped."""
    pairs = ((name, value) for name, value in known.items() if value != "")
    rows = "".join(f"<tr><th style='text-align:left'>{_text(a)}</th><td>{_text(b)}</td></tr>" for a, b in pairs)
    return f"<div><b>{_text(title)}</b><table>{rows}</table>{picture}</div>"


def page(title: str, about: str, *parts: str) -> str:
    """A whole page: a title and a paragraph, which are escaped, and parts in HTML."""
    style = (
        ":root{color-scheme:light dark}body{font:14px sans-serif;margin:2em}p{max-width:60em}div{overflow-x:auto}"
        "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #888;padding:4px 8px;text-align:left;"
        "vertical-align:top}.number{text-align:right;font-variant-numeric:tabular-nums}"
    )
    head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head += f"<title>{escape(title)}</title><style>{style}</style>"
    return (
        f"{head}<h1>{escape(title)}</h1><p>{escape(about)}</p>{''.join(f'<div>{part}</div>' for part in parts)}</html>"
    )


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], most: int = MOST_ROWS) -> str:
    """A table with headings; if there are more than `most` rows, the first ones and the number of the others. Columns
    of numbers are at the right."""
    columns = [_cells([_text(row[n]) for row in rows[:most]]) for n in range(len(headings))]
    cells = [f"<tr>{''.join(row)}</tr>" for row in zip(*columns, strict=True)]
    more = f"<p>{len(rows) - most} more rows</p>" if len(rows) > most else ""
    head = "".join(f"<th>{_text(heading)}</th>" for heading in headings)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(cells)}</tbody></table>{more}"


def _cells(texts: Sequence[str]) -> list[str]:
    """The cells of a column."""
    numbers = any(texts) and all(text.strip("0123456789.,") in ("", "–") for text in texts) and set(texts) != {"–"}
    return [f'<td class="number">{text}</td>' if numbers else f"<td>{text}</td>" for text in texts]


def drawn(array: Array, rank: int) -> str:
    """A picture of an image (H, W) or (H, W, C) of rank 2, or of the first channel of a signal (N,) or (N, C) of rank
    1; "" for complex values and for fewer than two samples."""
    if array.dtype.kind == "c" or array.size < 2 or rank not in (1, 2):
        return ""
    return _image(array) if rank == 2 else _curve(array.reshape(len(array), -1)[:, 0])


def drawn_output(array: Array, form: Any, output: Any) -> str:
    """A picture of an Output whose array has this Form, as `drawn`. Spectra and pyramids are in decibels below their
    largest magnitude, with frequency zero in the middle."""
    values = form.channels_last(array)
    return drawn(in_decibels(values, form, output.unit) if output.kind in SPECTRAL else values, form.rank)


def in_decibels(values: Array, form: Any, unit: str) -> Array:
    """A spectrum or pyramid with its channels last, in decibels below its largest magnitude, at least −120, with
    frequency zero in the middle. One whose unit is dB keeps its values."""
    axes = [axis for axis in form.axes if axis.name != "channel"]
    shifted = np.fft.fftshift(values, [k for k, axis in enumerate(axes) if axis.period])
    if unit == "dB":
        return shifted
    magnitudes = np.abs(shifted)
    finite = magnitudes[np.isfinite(magnitudes)]
    peak = float(finite.max()) if finite.any() else 1.0
    return np.asarray(20 * np.log10(np.maximum(magnitudes / peak, LEAST)))


def _extent(array: Array) -> str:
    return " × ".join(map(str, array.shape))


def _text(value: object) -> str:
    return escape(plain(value))


def _image(array: Array) -> str:
    """A PNG of every n-th pixel, in grey or colour; types other than uint8 are scaled from their minimum to their
    maximum."""
    step = -(-max(array.shape[:2]) // SIDE)
    part = array[::step, ::step]
    shown = part if part.ndim == 2 else part[..., :3] if part.shape[2] >= 3 else part[..., 0]
    if shown.dtype != np.uint8:
        low, high = _limits(shown)
        with np.errstate(invalid="ignore", over="ignore"):
            shown = np.nan_to_num((shown.astype(np.float64) - low) * (255 / (high - low))).clip(0, 255).astype(np.uint8)
    return f'<img src="data:image/png;base64,{base64.b64encode(png(shown)).decode()}"/>'


def png(pixels: Array) -> bytes:
    """A PNG of uint8 pixels, grey (H, W) or in colour (H, W, 3)."""
    lines = np.zeros((len(pixels), 1 + pixels[0].size), np.uint8)  # each row begins with its filter type: none
    lines[:, 1:] = pixels.reshape(len(pixels), -1)
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _curve(samples: Array) -> str:
    """An SVG line through the minimum and maximum of every few samples."""
    low, high = _limits(samples)
    count = max(1, -(-len(samples) // SIDE))
    groups = (samples[k : k + count] for k in range(0, len(samples), count))
    ends = [(group.min(), group.max()) for group in groups]
    values = np.nan_to_num((np.asarray(ends, np.float64).reshape(-1) - low) / (high - low))
    points = " ".join(f"{k / 2:.1f},{64 - 60 * float(np.clip(v, 0, 1)) - 2:.1f}" for k, v in enumerate(values))
    line = f'<polyline points="{points}" fill="none" stroke="currentColor"/>'
    return (
        f'<svg width="{SIDE}" height="64" viewBox="0 0 {max(len(ends), 1)} 64" preserveAspectRatio="none">{line}</svg>'
    )


def _limits(values: Array) -> tuple[float, float]:
    """The minimum and maximum finite value, made unequal if they are the same."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return low, high if high > low else low + 1.0

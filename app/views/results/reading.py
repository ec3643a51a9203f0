"""The text of the value under a cursor: its position, on axes with names and units, and its value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QCoreApplication

from app.base.numbers import shown
from app.models.curves.marked import ends, shares
from app.models.pictures.layer import Layer
from app.models.pictures.nonfinite import value_word
from app.models.pictures.scale_bar import suitable_unit
from app.models.results.view_data import ViewData
from app.models.ticks import scaled
from app.views.parts import number
from gpu_ops.output_kinds import CHANNEL, Axis, Band
from gpu_ops.types import Pixel

PIXELS = "px"
"""The unit that texts omit."""
PLAIN = Axis("x", PIXELS), Axis("y", PIXELS)
translate = QCoreApplication.translate


def name_of(axis: Axis) -> str:
    """The name of an axis."""
    return translate("Axes", axis.name)


def with_unit(value: str, unit: str) -> str:
    """A number and its unit."""
    return value if unit in ("", PIXELS) else translate("Reading", "{value} {unit}").format(value=value, unit=unit)


def quantity(value: float, unit: str, size: float | None = None) -> str:
    """A number with its unit and a prefix that suits it, or that suits `size`."""
    factor, prefixed = scaled(unit, abs(value) if size is None else size)
    return with_unit(number(value / factor), prefixed)


def place_text(axis: Axis, index: float) -> str:
    """An element's position: "frequency 12.5 Hz", or its name."""
    if axis.labels:
        return axis.labels[int(index)]
    text = with_unit(number(axis.at(index)), axis.unit)
    return translate("Reading", "{name} {value}").format(name=name_of(axis), value=text)


def values_text(values: Any, unit: str) -> str:
    """One value, or one for each channel: "3.1 dB", "12, 40, 8"."""
    words = [_word(value) for value in np.atleast_1d(values).reshape(-1).tolist()]
    return with_unit(", ".join(words), unit)


def _word(value: complex | float) -> str:
    if isinstance(value, complex):
        sign = "−" if value.imag < 0 else "+"
        return translate("Reading", "{real} {sign} {imaginary}i").format(
            real=_word(value.real), sign=sign, imaginary=_word(abs(value.imag))
        )
    if np.isfinite(value):
        return number(value)
    return value_word(value)


def drawn_text(drawn: ViewData | None, values: Any) -> str:
    """The values under the cursor in a result, and their levels in dB if the output declares one: "3.1 mV (9.83
    dB)"."""
    if drawn is None:
        return values_text(values, "")
    text = values_text(values, drawn.values_unit)
    if not drawn.decade:
        return text
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = drawn.decade * np.log10(np.atleast_1d(values).astype(np.float64))
    words = ", ".join(decibel_word(level) for level in levels.reshape(-1).tolist())
    return translate("Reading", "{values} ({decibels} dB)").format(values=text, decibels=words)


def decibel_word(level: float) -> str:
    """A level in hundredths of a dB; zero is −∞ dB."""
    if np.isinf(level):
        return "−∞" if level < 0 else "∞"
    return _word(level) if level != level else shown(round(level, 2) + 0.0, "f", 2)


def reading_text(place: str, value: str) -> str:
    """A position and its value: "x 5, y 7: 12"."""
    return translate("Reading", "{place}: {value}").format(place=place, value=value)


def pixel_text(layer: Layer, x: float, y: float, size: Pixel | None = None) -> str:
    """The position and value at a point of a picture: "x 5, y 7: 12"; empty outside it. With the `size` of a pixel the
    position is also given in its unit."""
    value = layer.value(x, y)
    if value is None:
        return ""
    return reading_text(sized_place(layer, x, y, size), drawn_text(layer.drawn, value))


def sized_place(layer: Layer, x: float, y: float, size: Pixel | None) -> str:
    """The position of a point of a picture, and if pixels have a `size` the distances of the pixel's centre from the
    picture's edges: "x 5, y 7 (2.75 µm, 3.75 µm)"."""
    place = pixel_place(layer, x, y)
    if size is None:
        return place
    lengths = ((int(x) + 0.5) * size.x, (int(y) + 0.5) * size.y)
    words = ", ".join(length_text(value, size.unit) for value in lengths)
    return translate("Reading", "{place} ({lengths})").format(place=place, lengths=words)


def length_text(value: float, unit: str) -> str:
    """A length in a unit that needs few digits: "2.75 µm"."""
    factor, shown = suitable_unit(value, unit)
    return with_unit(number(float(f"{value / factor:.5g}")), shown)


def pixel_place(layer: Layer, x: float, y: float) -> str:
    """The position of a point of a picture, on its own axes, or within its band if it has bands."""
    drawn, pixel = layer.drawn, layer.pixel(x, y)
    if drawn is None or pixel is None or len(drawn.form.axes) < 2:
        return ", ".join(place_text(axis, int(index)) for axis, index in zip(PLAIN, (x, y), strict=True))
    axes = drawn.form.axes[1::-1]
    band = band_at(drawn, pixel)
    if band is None and axes[0].unit == axes[1].unit and not any(axis.labels for axis in axes):
        places = (f"{name_of(axis)} {number(axis.at(i))}" for axis, i in zip(axes, pixel[::-1], strict=True))
        return with_unit(", ".join(places), axes[0].unit)
    if band is None:
        return ", ".join(place_text(axis, index) for axis, index in zip(axes, pixel[::-1], strict=True))
    inside = (number(index - start) for index, start in zip(pixel[::-1], band.start[1::-1], strict=True))
    return ", ".join([band_name(band), *(f"{name_of(a)} {index}" for a, index in zip(axes, inside, strict=True))])


def band_at(drawn: ViewData, index: Sequence[int]) -> Band | None:
    """The band of a pyramid that contains an element."""
    for band in drawn.form.bands:
        if all(a <= i < a + n for i, a, n in zip(index, band.start, band.shape, strict=False)):
            return band
    return None


def band_name(band: Band) -> str:
    """ "detail 3" """
    titles = {
        "approximation": translate("Bands", "approximation {level}"),
        "detail": translate("Bands", "detail {level}"),
        "horizontal": translate("Bands", "horizontal {level}"),
        "vertical": translate("Bands", "vertical {level}"),
        "diagonal": translate("Bands", "diagonal {level}"),
    }
    return titles.get(band.orientation, f"{band.orientation} {{level}}").format(level=band.level)


def short_band_name(band: Band) -> str:
    """The short name of a band: "D3"."""
    letters = {
        "approximation": translate("Bands", "A{level}"),
        "detail": translate("Bands", "D{level}"),
        "horizontal": translate("Bands", "H{level}"),
        "vertical": translate("Bands", "V{level}"),
        "diagonal": translate("Bands", "D{level}"),
    }
    return letters.get(band.orientation, "{level}").format(level=band.level)


def channel_names(drawn: ViewData) -> list[str]:
    """The names of a result's channels; one empty name if it has none."""
    for axis, count in zip(drawn.form.axes, drawn.array.shape, strict=True):
        if axis.name == CHANNEL:
            return list(axis.labels) or [f"{name_of(axis)} {number(place + 1)}" for place in range(count)]
    return [""]


def range_text(drawn: ViewData, bars: tuple[int, int], element: str) -> str:
    """What is marked, as text: "pixels from 34 to 57: 12.3 %"; `element` is an element of the input, or ""."""
    counts, names = drawn.values, channel_names(drawn)
    axis, whole = drawn.form.axes[-1], float(drawn.form.axes[-1].step).is_integer()
    low, high = ends(axis, bars, counts.shape[-1], whole and float(axis.start).is_integer())
    parts = [
        " ".join(t for t in (name, translate("Bars", "{share} %").format(share=number(float(f"{share:.3g}")))) if t)
        for name, share in zip(names, shares(counts, bars), strict=True)
    ]
    words = {
        "": translate("Bars", "from {low} to {high}: {share}"),
        "pixel": translate("Bars", "pixels from {low} to {high}: {share}"),
        "sample": translate("Bars", "samples from {low} to {high}: {share}"),
    }
    low_text, high_text = (number(float(f"{end:.5g}") if end % 1 else end) for end in (low, high))
    return words[element].format(low=low_text, high=high_text, share=", ".join(parts))

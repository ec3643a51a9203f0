"""The size of a pixel in TIFF files – in their tags, in OME's XML, or in ImageJ's notes – and in PNG files."""

from __future__ import annotations

import html
import math
import re
import struct
from typing import Any

from gpu_ops.output_kinds import Form
from gpu_ops.types import Pixel

INCH, CENTIMETRE = 2, 3
MILLIMETRES = {
    "nm": 1e-6, "µm": 1e-3, "mm": 1.0, "cm": 10.0, "m": 1000.0, "inch": 25.4, "Å": 1e-7, "pm": 1e-9, "km": 1e6,
}  # fmt: skip
"""Units of length in millimetres."""
OTHER_NAMES = {
    "micron": "µm", "microns": "µm", "um": "µm", "\u03bcm": "µm", "\\u00B5m": "µm", "in": "inch", "angstrom": "Å",
}  # fmt: skip
SCREEN = (72.0, 96.0)
"""Dots per inch that programs write as a default: a size on the screen, not of the pictured object."""
METRE = 1
"""The unit of a PNG's pixel size: pixels per metre."""
PIXELS = re.compile(r"<(?:\w+:)?Pixels\b([^<>]*)>")
ATTRIBUTE = re.compile(r"([\w:]+)\s*=\s*[\"']([^\"']*)[\"']")


def millimetres(size: float, unit: str) -> float:
    """A size in a unit of length in millimetres; 0 for an unknown unit."""
    found = size * MILLIMETRES.get(OTHER_NAMES.get(unit, unit), 0.0)
    return found if 0 < found < math.inf else 0.0


def make_pixel(y: float, x: float, unit: str) -> Pixel | None:
    """A size in a unit of length, as millimetres or, below a tenth, micrometres; None where it is not a length."""
    scale = MILLIMETRES.get(OTHER_NAMES.get(unit, unit))
    if scale is None or not all(0 < side * scale < math.inf for side in (y, x)):
        return None
    fine = float(f"{max(y, x) * scale:.9g}") < 0.1
    y, x = (float(f"{side * scale * (1000 if fine else 1):.9g}") for side in (y, x))
    return Pixel(y, x, "µm" if fine else "mm")


def ome_attributes(xml: str) -> dict[str, str]:
    """The attributes of the first <Pixels> of OME's XML."""
    tag = PIXELS.search(xml)
    return {key: html.unescape(value) for key, value in ATTRIBUTE.findall(tag[1])} if tag else {}


def ome_pixel(xml: str) -> Pixel | None:
    """The size in OME's XML, whose default unit is µm."""
    known = ome_attributes(xml)
    try:
        x = float(known["PhysicalSizeX"])
        y = float(known.get("PhysicalSizeY", x))
    except (KeyError, ValueError):
        return None
    return _of_two(y, known.get("PhysicalSizeYUnit", "µm"), x, known.get("PhysicalSizeXUnit", "µm"))


def _of_two(y: float, y_unit: str, x: float, x_unit: str) -> Pixel | None:
    """A size whose sides may have different units."""
    scales = [MILLIMETRES.get(OTHER_NAMES.get(unit, unit)) for unit in (y_unit, x_unit)]
    return None if None in scales else make_pixel(y * (scales[0] or 0), x * (scales[1] or 0), "mm")


def tag_pixel(page: Any, imagej_unit: str) -> Pixel | None:
    """The size in the resolution tags of a page of tifffile, in ImageJ's unit if there is one."""
    x, y = _ratio(page.tags.valueof(282)), _ratio(page.tags.valueof(283))
    if not x or not y:
        return None
    if imagej_unit:
        return make_pixel(1 / y, 1 / x, imagej_unit)
    unit = page.tags.valueof(296, INCH)
    if unit == CENTIMETRE:
        return make_pixel(1 / y, 1 / x, "cm")
    return make_pixel(1 / y, 1 / x, "inch") if unit == INCH and not (x == y and x in SCREEN) else None


def png_pixel(chunk: bytes, turned: bool) -> Pixel | None:
    """The size in a PNG's chunk pHYs, which has pixels per metre as integers; None without one, or for that of a
    screen. It has as many digits as the integers. `turned` exchanges both sides."""
    if len(chunk) != 9 or chunk[8] != METRE:
        return None
    across, down = struct.unpack(">II", chunk[:8])
    if not across or not down or (across == down and round(across * 0.0254) in (*SCREEN, *(2 * dpi for dpi in SCREEN))):
        return None
    x, y = (float(f"{1000 / n:.{len(str(n))}g}") for n in (across, down))
    return make_pixel(x, y, "mm") if turned else make_pixel(y, x, "mm")


def png_size(pixel: Pixel | None) -> bytes:
    """The content of a chunk pHYs for a pixel of that size; b"" where it cannot represent the size to a thousandth."""
    scale = MILLIMETRES.get(pixel.unit) if pixel else None
    if pixel is None or scale is None:
        return b""
    exact = [1000 / (side * scale) for side in (pixel.x, pixel.y) if side > 0]
    counts = [round(n) for n in exact if 0.5 <= n < 2**31]
    if len(counts) < 2 or any(abs(n - count) > 1e-3 * n for n, count in zip(exact, counts, strict=True)):
        return b""
    return struct.pack(">IIB", *counts, METRE)


def pixel_of(pixel: Pixel | None, form: Form) -> Pixel | None:
    """The pixel size of an output whose input has pixels of that size: the input's, times the step of the output's
    axes. None where its axes are not in pixels of the input, as those of a spectrum."""
    if pixel is None or [axis.unit for axis in form.axes[:2]] != ["px", "px"]:
        return None
    y, x = form.axes[:2]
    return Pixel(pixel.y * abs(y.step), pixel.x * abs(x.step), pixel.unit)


def _ratio(value: object) -> float:
    """Pixels per unit, as two integers; 0 for an invalid fraction."""
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, int) for part in value) and value[1]:
        return float(value[0] / value[1])
    return 0.0

"""PNG pictures of arrays, no larger than a pane shows: images reduced by their means, curves by their extremes."""

from __future__ import annotations

import io
import math
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.errors import plain

Array = np.ndarray[Any, Any]

CURVES = ((0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233))
"""The colours of channels: those of Okabe and Ito, https://jfly.uni-koeln.de/color/, which colour-blind people tell
apart, without black and yellow, which are lost on a dark or a light page."""
HEAT = ((0, 0, 4), (87, 16, 110), (188, 55, 84), (249, 142, 9), (252, 255, 164))
"""Colours of a magnitude from 0 to the largest, which grow brighter throughout: five of Matplotlib's map inferno."""
REDUCED = ("uint8", "uint16", "float32", "float64")
"""Types of which OpenCV computes means."""


class Ends(NamedTuple):
    """The values that are drawn as black and as white, or at the bottom and at the top of a curve."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Array) -> Ends:
        """The lowest and the highest finite value, made unequal if they are the same."""
        finite = values if values.dtype.kind in "bui" else values[np.isfinite(values)]
        return cls(float(finite.min()), float(finite.max())).apart() if finite.size else cls(0.0, 1.0)

    def apart(self) -> Ends:
        """The same where they differ, else one unit more for the upper one."""
        return self if self.high > self.low else Ends(self.low, self.low + 1.0)

    def share(self, values: Array) -> Array:
        """Where the values are between the ends, from 0 to 1; what is not a number is 0."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.nan_to_num((values.astype(np.float64) - self.low) / (self.high - self.low), posinf=1.0).clip(0, 1)


class Window(NamedTuple):
    """The part of a picture that is looked at, as shares of its width and height."""

    x0: float = 0.0
    y0: float = 0.0
    x1: float = 1.0
    y1: float = 1.0

    def columns(self, width: int) -> slice:
        return _inner(self.x0, self.x1, width)

    def rows(self, height: int) -> slice:
        return _inner(self.y0, self.y1, height)

    def shares(self, height: int, width: int) -> list[float]:
        """The part in whole pixels of a picture of that size: left, top, width and height as shares of it."""
        rows, columns = self.rows(height), self.columns(width)
        spans = ((columns, width), (rows, height))
        return [s.start / n for s, n in spans] + [(s.stop - s.start) / n for s, n in spans]


WHOLE = Window()


def _inner(start: float, stop: float, size: int) -> slice:
    """The whole elements between two shares, at least one."""
    first = min(max(math.floor(start * size), 0), size - 1)
    return slice(first, max(min(math.ceil(stop * size), size), first + 1))


def image_png(values: Array, ends: Ends, most: int, heat: bool = False) -> bytes:
    """A PNG of an image (H, W) in grey, or (H, W, 3 or 4) in colour, with at most `most` pixels along an axis. With
    `heat` the picture is of magnitudes: what is largest in a group of pixels is shown."""
    small = _largest(values, most) if heat else _means(values, most)
    levels = np.rint(255 * ends.share(small[..., :3] if small.ndim == 3 else small)).astype(np.uint8)
    return _png(_heat_table()[levels] if heat else levels)


def _means(values: Array, most: int) -> Array:
    height, width = values.shape[:2]
    factor = max(height, width) / most
    if factor <= 1:
        return values
    import cv2

    given = np.ascontiguousarray(values if values.dtype.name in REDUCED else values.astype(np.float64))
    size = (max(round(width / factor), 1), max(round(height / factor), 1))
    return np.asarray(cv2.resize(given, size, interpolation=cv2.INTER_AREA))


def _largest(values: Array, most: int) -> Array:
    """The largest magnitude of all channels of each group of pixels."""
    sizes = np.nan_to_num(np.abs(values), nan=0.0, posinf=np.inf)
    sizes = sizes.max(axis=2) if sizes.ndim == 3 else sizes
    step = -(-max(sizes.shape) // most)
    for axis in (0, 1) if step > 1 else ():
        sizes = np.maximum.reduceat(sizes, np.arange(0, sizes.shape[axis], step), axis=axis)
    return np.asarray(sizes)


def _heat_table() -> Array:
    """256 colours (256, 3)."""
    places = np.linspace(0, 1, len(HEAT))
    table = [np.interp(np.linspace(0, 1, 256), places, channel) for channel in zip(*HEAT, strict=True)]
    return np.stack(table, axis=1).round().astype(np.uint8)


def curve_png(values: Array, ends: Ends, width: int, height: int, bars: bool = False) -> bytes:
    """A PNG of channels (N, C), at most `width` × `height` pixels, on a transparent ground: in each column the line
    from the lowest to the highest sample there, and to the first of the next column; `bars` are filled from zero."""
    canvas = np.zeros((height, width, 4), np.uint8)
    rows = np.arange(height)[:, None]
    for channel in range(values.shape[1]):
        low, high = _extremes(values[:, channel], width)
        if bars:
            low, high = np.minimum(low, 0), np.maximum(high, 0)
        bottom, top = ((height - 2) * (1 - ends.share(end)) for end in (low, high))
        drawn = np.isfinite(low) & np.isfinite(high)
        inside = (rows >= np.floor(top)) & (rows <= np.ceil(bottom) + 1) & drawn
        inside[:, 1:] |= inside[:, :-1]  # two pixels wide, so that a steep line stays where a page draws it smaller
        canvas[inside] = (*CURVES[channel % len(CURVES)], 255)
    return _png(canvas)


def _extremes(samples: Array, width: int) -> tuple[Array, Array]:
    """The lowest and the highest value of the samples in each of `width` columns, with the first of the next column;
    NaN where no sample is finite."""
    places = np.linspace(0, len(samples) - 1, width + 1)
    values = samples.astype(np.float64)
    if len(samples) <= 2 * width:
        line = np.interp(places, np.arange(len(samples)), values)
        low, high = np.minimum(line[:-1], line[1:]), np.maximum(line[:-1], line[1:])
        inside = np.minimum(np.arange(len(samples)) * width // max(len(samples) - 1, 1), width - 1)
        np.fmin.at(low, inside, values)
        np.fmax.at(high, inside, values)

        return low, high
    starts = places[:-1].astype(np.int64)
    low, high = (f.reduceat(values, starts) for f in (np.fmin, np.fmax))
    low[:-1], high[:-1] = np.fmin(low[:-1], values[starts[1:]]), np.fmax(high[:-1], values[starts[1:]])
    return low, high


def _png(pixels: Array) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=3)
    return file.getvalue()


def mosaic(parts: list[tuple[str, bytes]], lines: list[str], across: int = 3, side: int = 300) -> bytes:
    """A PNG of titled pictures in rows of `across`, each within a square of `side` pixels, and lines of text below."""
    from PIL import Image, ImageDraw, ImageFont

    font, gap, head = ImageFont.load_default(size=13), 12, 20
    rooms = max(min(across, len(parts)), 2 if lines else 1)
    pictures = [Image.open(io.BytesIO(png)).convert("RGBA") for _, png in parts]
    for picture in pictures:
        picture.thumbnail((side, side))
    rows = [range(k, min(k + across, len(parts))) for k in range(0, len(parts), across)]
    heights = [head + max(pictures[k].height for k in row) + gap for row in rows]
    size = (gap + rooms * (side + gap), gap + sum(heights) + 17 * len(lines) + (gap if lines else 0))
    page = Image.new("RGB", size, "white")
    draw, top = ImageDraw.Draw(page), gap
    for row, height in zip(rows, heights, strict=True):
        for place, k in enumerate(row):
            left = gap + place * (side + gap)
            draw.text((left, top), _fitting(draw, parts[k][0], font, side), "black", font)
            page.paste(pictures[k], (left, top + head), pictures[k])
        top += height
    for line in lines:
        draw.text((gap, top), _fitting(draw, line, font, size[0] - 2 * gap), "black", font)
        top += 17
    file = io.BytesIO()
    page.save(file, "PNG", optimize=True)
    return file.getvalue()


def _fitting(draw: Any, text: str, font: Any, width: int) -> str:
    """The text on one line, cut where it is wider than `width` pixels, without signs that Pillow's font lacks."""
    text = plain(text).translate({ord("−"): "-", ord("µ"): "u"})
    while text and draw.textlength(text, font) > width:
        text = text.removesuffix("…")[:-1] + "…" if len(text) > 1 else ""
    return text

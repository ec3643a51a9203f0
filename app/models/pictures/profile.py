"""Values along a line through a picture. No widgets."""

from __future__ import annotations

import math

import numpy as np

from app.models.pictures.probe import Line
from app.models.pictures.region_figures import Sampled
from app.models.results.view_data import Array
from gpu_ops.output_kinds import Axis
from gpu_ops.types import Pixel

DISTANCE = "distance"
"""The name of the axis."""
PIXELS = "px"


def steps(line: Line) -> int:
    """How many points a profile has: about one for each pixel of the line's length, and at least two."""
    return max(2, round(line.length) + 1)


def length(line: Line, pixel: Pixel | None) -> tuple[float, str]:
    """The length of a line and its unit: that of the pixel size where it is known, else pixels."""
    if pixel is None:
        return line.length, PIXELS
    return math.hypot((line.y1 - line.y0) * pixel.y, (line.x1 - line.x0) * pixel.x), pixel.unit


def axis_of(line: Line, pixel: Pixel | None) -> Axis:
    """The axis of a profile: the distance from the line's first end."""
    whole, unit = length(line, pixel)
    return Axis(DISTANCE, unit, 0.0, max(whole, 1e-300) / (steps(line) - 1))


def profile(source: Sampled, line: Line) -> Array:
    """The values (n, C) of a picture at `steps(line)` equally spaced points from one end to the other, in float64.

    Values are interpolated bilinearly between the centres of pixels; in the half pixel at the edge they are those of
    the edge, and NaN beyond it. A NaN or infinite pixel counts only where its weight is not 0.
    """
    count = steps(line)
    (top, left), values = source.start, source.values
    height, width = values.shape[:2]
    x = np.linspace(line.x0, line.x1, count) - left
    y = np.linspace(line.y0, line.y1, count) - top
    inside = (x >= 0) & (x <= width) & (y >= 0) & (y <= height)
    column, right, fx = _neighbours(x, width)
    row, below, fy = _neighbours(y, height)
    columns = values[..., None] if values.ndim == 2 else values
    with np.errstate(invalid="ignore", over="ignore"):
        upper = _between(columns[row, column], columns[row, right], fx)
        lower = _between(columns[below, column], columns[below, right], fx)
        found = _between(upper, lower, fy)
    found[~inside] = np.nan
    return found


def _neighbours(places: Array, count: int) -> tuple[Array, Array, Array]:
    """The cell whose centre is before each position, the next one, and the weight of the next one (n, 1)."""
    middle = np.clip(places - 0.5, 0, count - 1)
    first = np.floor(middle).astype(np.int64)
    return first, np.minimum(first + 1, count - 1), (middle - first)[:, None]


def _between(one: Array, other: Array, share: Array) -> Array:
    """Linear interpolation between two values, in float64."""
    one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
    return np.where(share == 0, one, one * (1 - share) + other * share)

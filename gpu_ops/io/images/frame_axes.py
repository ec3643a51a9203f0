"""The axes of a stack's frames, and the time or the distance between neighbours: read from ImageJ's notes and OME's
XML, and written as ImageJ's notes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from gpu_ops.io.images.pixel_size import MILLIMETRES, millimetres, ome_attributes
from gpu_ops.io.signals.units import TIMES
from gpu_ops.types import FrameAxes, Pixel

NAMES = {"T": "frames", "Z": "slices", "C": "channels"}
"""ImageJ's names of the axes, in the order of its frames: the slowest first."""
Steps = tuple[float, float]
"""The time between two frames in seconds and the distance of two planes in millimetres, 0 where unknown."""


def imagej_steps(notes: Mapping[str, Any]) -> Steps:
    """The steps of ImageJ's notes: the interval, else the frames per second; the spacing in the unit of its pixels."""
    interval = _number(notes.get("finterval")) * TIMES.get(str(notes.get("tunit", "s")), 0.0)
    rate = _number(notes.get("fps"))
    distance = millimetres(_number(notes.get("spacing")), str(notes.get("unit", "")))
    return interval or (1 / rate if rate else 0.0), distance


def ome_steps(xml: str) -> Steps:
    """The steps in OME's XML, whose default units are s and µm."""
    known = ome_attributes(xml)
    unit = TIMES.get(known.get("TimeIncrementUnit", "s"), 0.0)
    distance = millimetres(_number(known.get("PhysicalSizeZ")), known.get("PhysicalSizeZUnit", "µm"))
    return _number(known.get("TimeIncrement")) * unit, distance


def _number(value: object) -> float:
    """A number above 0; 0 for anything else."""
    with suppress(TypeError, ValueError, OverflowError):
        found = float(value)  # type: ignore[arg-type]
        return found if 0 < found < math.inf else 0.0
    return 0.0


def of_series(leading: Sequence[tuple[str, int]], frames: int, steps: Steps) -> FrameAxes:
    """The axes of a series whose axes and extents are `leading`, rows, columns and samples among them. Unknown where
    they do not match the number of `frames`."""
    found = [(axis, int(n)) for axis, n in leading if axis not in "YXS" and n > 1]
    letters, counts = "".join(axis for axis, _ in found), tuple(n for _, n in found)
    if not found or not set(letters) <= NAMES.keys() or math.prod(counts) != frames:
        return FrameAxes()
    return FrameAxes(letters, counts, steps[0] if "T" in letters else 0.0, steps[1] if "Z" in letters else 0.0)


def step_facts(axes: FrameAxes) -> list[tuple[str, str]]:
    """The interval and the distance in words, as a survey names them."""
    interval = [("interval", f"{axes.interval:g} s")] if axes.interval else []
    return [*interval, *([("distance", f"{axes.distance:g} mm")] if axes.distance else [])]


def imagej_lines(axes: FrameAxes, count: int, pixel: Pixel | None) -> Iterator[str]:
    """The description of `count` frames along these axes as ImageJ writes it, with the resolution in centimetres; empty
    where the axes are unknown."""
    if not axes.letters or math.prod(axes.counts) != count:
        return
    yield "ImageJ=1.54f"
    yield f"images={count}"
    for letter, n in zip(axes.letters, axes.counts, strict=True):
        yield f"{NAMES[letter]}={n}"
    if len(axes.letters) > 1:
        yield "hyperstack=true"
        yield "mode=grayscale"
    whole = "".join(letter for letter in NAMES if letter not in axes.letters) + axes.letters
    if [letter for letter in NAMES if letter in axes.letters] != list(axes.letters):
        yield f"order={whole[::-1].lower()}"
    if axes.interval:
        yield f"finterval={axes.interval!r}"
    if pixel is not None and pixel.unit in MILLIMETRES:
        yield "unit=cm"
        if axes.distance:
            yield f"spacing={axes.distance / MILLIMETRES['cm']!r}"

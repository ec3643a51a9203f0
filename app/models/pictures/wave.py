"""A plane wave in a picture: what one point of the spectrum represents. No Qt."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.models.results.view_data import Array
from gpu_ops.output_kinds import Axis


@dataclass(frozen=True)
class Wave:
    """A wave of `fy` and `fx` cycles per pixel, downward and to the right. `turn` is its phase at the centre of the
    first pixel, in cycles: 0 at a crest."""

    fy: float
    fx: float
    turn: float = 0.0

    @property
    def frequency(self) -> float:
        """Cycles per pixel along the wave's own direction."""
        return math.hypot(self.fy, self.fx)

    @property
    def length(self) -> float:
        """Pixels from crest to crest; infinite for a constant."""
        return 1 / self.frequency if self.frequency else math.inf

    @property
    def direction(self) -> float:
        """The direction of the wave in degrees, from 0 to below 180, counterclockwise from the right. A wave and its
        opposite have the same stripes."""
        return math.degrees(math.atan2(-self.fy, self.fx)) % 180.0

    def crest(self) -> tuple[float, float]:
        """The point (x, y) in pixels on a crest that is nearest to the centre of the first pixel."""
        back = -self.turn * self.length
        return 0.5 + back * self.fx * self.length, 0.5 + back * self.fy * self.length

    def next_crest(self) -> tuple[float, float]:
        """The point one wavelength further, across the stripes."""
        x, y = self.crest()
        return x + self.fx * self.length**2, y + self.fy * self.length**2


def in_place(wave: Wave, spectrum: Array, axes: Sequence[Axis], start: Sequence[int]) -> Wave:
    """The wave with the phase that a complex spectrum (H, W) or (H, W, C) has there, of the first channel: its crests
    are where they are in the picture. `start` is the first row and column that were transformed."""
    places = ((f, axis, n) for f, axis, n in zip((wave.fy, wave.fx), axes, spectrum.shape, strict=False))
    row, column = (round(axis.index(f)) % n for f, axis, n in places)
    value = complex(np.atleast_1d(spectrum[row, column])[0])
    shift = wave.fy * start[0] + wave.fx * start[1] if start else 0.0
    return replace(wave, turn=cmath.phase(value) / (2 * math.pi) - shift)


def wave_at(axes: Sequence[Axis], row: int, column: int) -> Wave:
    """The wave that an element of a spectrum (H, W) represents; frequencies above half a cycle per pixel are negative
    ones."""
    fy, fx = (axis.at(index) for axis, index in zip(axes, (row, column), strict=False))
    return Wave(*(f - round(f) if axis.period else f for f, axis in zip((fy, fx), axes, strict=False)))

"""The noise that a window adds to its input. No widgets."""

from __future__ import annotations

from typing import Any, NamedTuple

SHARE = 1 / 12
"""Noise of this share of the values' span is seen at once and hides little."""


class Noise(NamedTuple):
    """Normal noise: its standard deviation, above 0 and in the input's unit, and its seed."""

    sigma: float
    seed: int


def span_of(shared: Any) -> float:
    """The span that noise is relative to: the range of an integer type, the input's own range of floats, 1 where that
    is 0."""
    largest = {"uint8": 255.0, "uint16": 65535.0}.get(shared.array.dtype)
    return largest or (shared.statistics.maximum - shared.statistics.minimum) or 1.0


def usual_sigma(span: float) -> float:
    """A sigma to begin with, rounded to one digit."""
    return float(f"{span * SHARE:.1g}")

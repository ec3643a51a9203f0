"""The noise that a window adds to its input. No widgets."""

from __future__ import annotations

from typing import Any, NamedTuple

from PySide6.QtCore import QCoreApplication, QLocale

SHARE = 1 / 12
"""Noise of this share of the values' span is seen at once and hides little."""


class Noise(NamedTuple):
    """Normal noise: its standard deviation, above 0 and in the input's unit, and its seed."""

    sigma: float
    seed: int


def noise_text(shared: Any) -> str:
    """The noise that was added to an input: "noise σ 20"; "" for none."""
    sigmas = [step["sigma"] for step in shared.origin.get("steps", ()) if step.get("step") == "noise"]
    text = QCoreApplication.translate("Noise", "noise σ {sigma}")
    return " + ".join(text.format(sigma=QLocale().toString(float(sigma), "g", 4)) for sigma in sigmas)


def title_with_noise(shared: Any) -> str:
    """An input's name with the noise that was added to it: "camera + noise σ 20"."""
    return " + ".join(text for text in (shared.name, noise_text(shared)) if text)


def span_of(shared: Any) -> float:
    """What noise is measured by: the range of an integer type, the input's own range of floats, 1 where that is 0."""
    largest = {"uint8": 255.0, "uint16": 65535.0}.get(shared.array.dtype)
    return largest or (shared.statistics.maximum - shared.statistics.minimum) or 1.0


def usual_sigma(span: float) -> float:
    """A sigma to begin with, of one digit."""
    return float(f"{span * SHARE:.1g}")

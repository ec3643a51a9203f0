"""The length of a scale bar, and lengths in words of round units. No Qt."""

from __future__ import annotations

import math
from typing import NamedTuple

METRES = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "µm": 1e-6, "μm": 1e-6, "um": 1e-6, "nm": 1e-9, "pm": 1e-12}
"""Units of length with a prefix; Unicode has two characters for "µ", and "u" is also used."""
STEPS = ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"), (1e-12, "pm"))
ROUND = (5, 2, 1)


class Bar(NamedTuple):
    """A scale bar: its width in screen pixels, and its length in a unit."""

    width: float
    length: float
    unit: str


def scale_bar(pixel: float, unit: str, scale: float, widest: float) -> Bar | None:
    """The longest bar of a round length (1, 2 or 5 times a power of ten) that is at most `widest` screen pixels wide.
    `pixel` is the size of an image pixel in `unit`, `scale` image pixels per screen pixel. None where the sizes are not
    above zero."""
    most = pixel * scale * widest
    if not (math.isfinite(most) and most > 0):
        return None
    factor, shown = suitable_unit(most, unit)
    most /= factor
    power = 10.0 ** math.floor(math.log10(most) + 1e-12)
    length = next((k * power for k in ROUND if k * power <= most * (1 + 1e-12)), power)
    return Bar(length * factor / (pixel * scale), float(f"{length:.6g}"), shown)


def suitable_unit(value: float, unit: str) -> tuple[float, str]:
    """The divisor of a length and its new unit, so that few digits are left; other units stay as they are."""
    if unit not in METRES or not value:
        return 1.0, unit
    metres = abs(value) * METRES[unit]
    size, name = next((step for step in STEPS if metres >= step[0] * (1 - 1e-12)), STEPS[-1])
    return size / METRES[unit], name

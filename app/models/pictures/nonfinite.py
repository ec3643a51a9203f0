"""How NaN and infinity are drawn, counted and named. No Qt but its translations."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QCoreApplication

from app.base.numbers import shown

Array = np.ndarray[Any, Any]
NAN_COLOR = (255, 0, 255)
INFINITE_COLOR = (0, 255, 255)
"""Magenta and cyan are in none of the colour maps."""


def painted(colors: Array, values: Array) -> None:
    """Paint the pixels (h, w, 4) of NaN and infinity in values (h, w) or (h, w, C) in their own colours, in place. A
    pixel with NaN in one channel and infinity in another counts as NaN."""
    for found, color in ((np.isinf(values), INFINITE_COLOR), (np.isnan(values), NAN_COLOR)):
        pixels = found.any(axis=2) if found.ndim == 3 else found
        if pixels.any():
            colors[pixels] = (*color, 255)


def count_words(nan: int, infinite: int) -> tuple[str, str]:
    """ "12 NaN" and "3 infinite"; empty where there are none."""
    translate = QCoreApplication.translate
    texts = translate("NonFinite", "{count} NaN"), translate("NonFinite", "{count} infinite")
    counts = nan, infinite
    first, second = (t.format(count=shown(n)) if n else "" for t, n in zip(texts, counts, strict=True))
    return first, second


def drawn_words() -> str:
    """What the colours mean, for tooltips."""
    return QCoreApplication.translate(
        "NonFinite", "Pictures show NaN in magenta and infinite values in cyan; curves leave a gap and a mark below it."
    )


def value_word(value: float) -> str:
    """The name of a value that is not finite."""
    return "NaN" if value != value else "−∞" if value < 0 else "∞"

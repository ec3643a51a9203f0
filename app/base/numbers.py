"""Numbers in the user's language, with units, digits and signs for the screen. Files use the C locale instead."""

from __future__ import annotations

import re
from math import isinf
from numbers import Integral

from PySide6.QtCore import QLocale

NONE = "–"
"""The text in place of a missing value."""
MINUS = "−"
"""The minus sign, as wide as the plus; the hyphen of most locales is lost before a digit."""


def shown(value: float, style: str = "g", digits: int = 4) -> str:
    """A number as the user's locale writes it, with the minus sign: an int in full, a float in a style of
    QLocale.toString with that many digits."""
    locale = QLocale()
    text = locale.toString(int(value)) if isinstance(value, Integral) else locale.toString(float(value), style, digits)
    return text.replace(locale.negativeSign(), MINUS)


def copied(text: str) -> str:
    """A text for the clipboard: its negative numbers have the hyphen, which spreadsheets and programs read."""
    return re.sub(rf"{MINUS}(?=[\d.,∞])", "-", text)


def number(value: float, digits: int = 4) -> str:
    """A number with that many significant digits."""
    return shown(float(value), "g", digits)


def seconds(value: float | None, digits: int = 4) -> str:
    """A time with a suitable unit."""
    if value is None:
        return NONE
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{number(value / scale, digits)} {unit}"
    return f"{number(value / 1e-9, digits)} ns"


def count(value: float) -> str:
    """A whole number in full, with the locale's group separators."""
    return shown(round(value))


def short_count(value: float) -> str:
    """A count with at most four digits: 250, 1.5 k, 1.746 M."""
    for unit, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{number(value / scale)} {unit}"
    return number(value)


def percent(share: float | None) -> str:
    """A share of one as a percentage."""
    if share is None:
        return NONE
    value = share * 100
    return f"{shown(float(value), 'f', 0 if value >= 9.95 else 1)} %"


def times(ratio: float | None) -> str:
    """A speed-up: ×17.3."""
    return NONE if ratio is None else f"×{number(ratio, 3 if ratio < 1000 else 4)}"


def relative_error(value: float | None) -> str:
    """A relative error, which may be infinite."""
    if value is None:
        return NONE
    return "∞" if isinf(value) else number(value, 2)

"""Numbers as people type them."""

from __future__ import annotations

import re

from PySide6.QtCore import QLocale

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
_SPACES = "\u00a0\u202f\u2009"
"""What some languages put between groups of digits, beside the plain space."""


def typed_number(text: str, locale: QLocale) -> float | None:
    """The number, or None where there is none or it can be read in two ways.

    A point and a comma both begin decimals, in every language; but one that the language puts between groups of digits,
    with three digits behind it, may be either: "1,000" in English is None.
    """
    text = text.strip().replace("−", "-").lower()
    for space in _SPACES:
        text = text.replace(space, " ")
    if re.fullmatch(r"[+-]?\d{1,3}( \d{3})+", text):
        text = text.replace(" ", "")
    if re.fullmatch(rf"[+-]?\d{{1,3}}({re.escape(locale.groupSeparator())}\d{{3}})+", text):
        return None
    text = text.replace(",", ".")
    return float(text) if _NUMBER.fullmatch(text) else None

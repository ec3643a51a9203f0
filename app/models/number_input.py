"""Numbers as people type them."""

from __future__ import annotations

import re

from PySide6.QtCore import QLocale

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
_SPACES = "\u00a0\u202f\u2009"
"""Spaces that some languages put between groups of digits, in addition to the plain one."""


def parse_number(text: str, locale: QLocale) -> float | None:
    """The number in the text, or None where there is none or two readings are possible.

    A point and a comma both start the decimals, in every language. The language's own separator of digit groups,
    followed by three digits, could mean either: "1,000" in English is None.
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

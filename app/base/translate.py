"""Marks texts in data for translation."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6 import QtCore

QT_TRANSLATE_NOOP = cast(Callable[[str, str], str], QtCore.QT_TRANSLATE_NOOP)
"""Marks a text for translation and returns it; Qt's tools look for this name."""

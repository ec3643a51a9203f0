"""Marks texts that stand in data for the translators."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6 import QtCore

QT_TRANSLATE_NOOP = cast(Callable[[str, str], str], QtCore.QT_TRANSLATE_NOOP)
"""Marks a text for the translators, who find it by this name, and gives it back."""

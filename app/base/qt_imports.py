"""Faster imports after PySide6."""

from __future__ import annotations

import sys
from typing import Any

from PySide6 import QtCore  # noqa: F401  # the first import of a Qt module creates the one below


def skip_source_search() -> None:
    """PySide6 reads the source of every module imported after it, to learn whether that uses PySide6 and with which of
    its optional features. At the start of this program these are 300 files and a twentieth of the time. It uses no
    optional feature, so the answer is that of a module that uses PySide6 without any. Where a version of PySide6 has no
    such function, nothing changes."""
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda module: True

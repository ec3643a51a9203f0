"""Controls in pages that scroll: the wheel changes their values only while they have the focus."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QSlider, QSpinBox


class FocusWheel:
    """Before a class of Qt in the bases of a control: where the control has no focus, the wheel scrolls the page."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # type: ignore[attr-defined]

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        if self.hasFocus():  # type: ignore[attr-defined]
            super().wheelEvent(event)  # type: ignore[misc]
        else:
            event.ignore()


class Slider(FocusWheel, QSlider):
    """A slider of a page that scrolls."""


class CountSpin(FocusWheel, QSpinBox):
    """A box for a whole number on a page that scrolls."""

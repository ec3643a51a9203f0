"""A button of a group in which one is checked."""

from __future__ import annotations

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QStyle, QStyleOptionToolButton, QStylePainter, QToolButton, QWidget

from app.base.theme import chosen


class ChoiceButton(QToolButton):
    """Checkable. The checked button is highlighted in both schemes; Fusion only makes it a shade darker, which is
    invisible in the dark scheme."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter, option = QStylePainter(self), QStyleOptionToolButton()
        self.initStyleOption(option)
        if self.isChecked():
            option.palette = chosen(option.palette)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)
        painter.end()

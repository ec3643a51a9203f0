"""A panel at the window's edge whose title grows with the font."""

from __future__ import annotations

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QDockWidget, QStyle, QStyleOptionDockWidget, QStyleOptionFrame, QStylePainter


class Dock(QDockWidget):
    """Qt's dock with another title: Qt would keep painting it in the font of the first time."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QStylePainter(self)
        if self.isFloating():
            frame = QStyleOptionFrame()
            frame.initFrom(self)
            painter.drawPrimitive(QStyle.PrimitiveElement.PE_FrameDockWidget, frame)
        title = QStyleOptionDockWidget()
        self.initStyleOption(title)
        painter.drawControl(QStyle.ControlElement.CE_DockWidgetTitle, title)
        painter.end()

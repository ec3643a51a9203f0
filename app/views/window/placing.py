"""Places the window on the available screens."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStyle, QWidget


def fit_to_screens(place: QRect, screens: Sequence[QRect], title: int) -> QRect:
    """The rectangle for a window at `place`: moved, and shrunk where necessary, so that all of it and its title bar
    (`title` pixels high) are on the screen that shows most of it, else on the first. `screens` are their free areas."""

    def shared(screen: QRect) -> int:
        both = screen.intersected(place)
        return both.width() * both.height()

    room = max(screens, key=shared).adjusted(0, title, 0, 0)
    width, height = min(place.width(), room.width()), min(place.height(), room.height())
    left = min(max(place.left(), room.left()), room.left() + room.width() - width)
    top = min(max(place.top(), room.top()), room.top() + room.height() - height)
    return QRect(left, top, width, height)


def put_on_screen(window: QWidget) -> None:
    """Make the whole window visible. Where it has no position yet, the desktop chooses one."""
    if window.isMaximized() or window.isFullScreen():
        return
    main = QGuiApplication.primaryScreen()
    screens = [screen.availableGeometry() for screen in sorted(QGuiApplication.screens(), key=lambda s: s is not main)]
    title = window.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight, None, window)
    rect = fit_to_screens(window.geometry(), screens, title)
    if window.testAttribute(Qt.WidgetAttribute.WA_Moved):
        window.setGeometry(rect)
    else:
        window.resize(rect.size())

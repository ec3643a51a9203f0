"""The window on the screens that there are."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStyle, QWidget


def fit_to_screens(place: QRect, screens: Sequence[QRect], title: int) -> QRect:
    """Where a window lies that was to lie at `place`: moved, and made smaller where it must be, so that all of it and
    its title, so many pixels high, are on the screen that has most of it, else on the first. Screens are what is free
    of each."""

    def shared(screen: QRect) -> int:
        both = screen.intersected(place)
        return both.width() * both.height()

    room = max(screens, key=shared).adjusted(0, title, 0, 0)
    width, height = min(place.width(), room.width()), min(place.height(), room.height())
    left = min(max(place.left(), room.left()), room.left() + room.width() - width)
    top = min(max(place.top(), room.top()), room.top() + room.height() - height)
    return QRect(left, top, width, height)


def put_on_screen(window: QWidget) -> None:
    """See to it that all of a window can be seen. Where it has no place yet the desktop finds one for it."""
    if window.isMaximized() or window.isFullScreen():
        return
    main = QGuiApplication.primaryScreen()
    screens = [screen.availableGeometry() for screen in sorted(QGuiApplication.screens(), key=lambda s: s is not main)]
    title = window.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight, None, window)
    found = fit_to_screens(window.geometry(), screens, title)
    if window.testAttribute(Qt.WidgetAttribute.WA_Moved):
        window.setGeometry(found)
    else:
        window.resize(found.size())

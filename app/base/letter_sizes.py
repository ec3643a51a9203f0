"""Margins, gaps and minimum sizes that depend on the font: they are computed when a widget is created, and computed
again when the font of the application, or of a part of a window, changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from PySide6.QtCore import QMargins, QObject
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QDockWidget,
    QFormLayout,
    QGridLayout,
    QLayout,
    QMainWindow,
    QStyle,
    QToolBar,
    QWidget,
)

SIDES = ("Left", "Top", "Right", "Bottom")


class Size(NamedTuple):
    """A size of an object in pixels: how it is read and written, whether it is a height, and Qt's default."""

    owner: QObject
    name: str
    read: Callable[[], int]
    write: Callable[[int], object]
    high: bool = False
    usual: int = 0


class LetterSizes:
    """The sizes of all that is in these `parts` before their `font` changes. `follow` scales those that widgets have
    not updated themselves."""

    def __init__(self, parts: Iterable[QWidget], font: QFont) -> None:
        self._letters = _letters(font)
        self._before = [(size, size.read()) for part in parts for size in sizes(part)]

    def follow(self, font: QFont) -> None:
        """Scale the sizes to the present font."""
        now = _letters(font)
        for size, before in self._before:
            if before > 0 and size.read() == before:
                _scale(size, before, self._letters[size.high], now[size.high])


def _letters(font: QFont) -> tuple[int, int]:
    """Width and height of a letter."""
    metrics = QFontMetrics(font)
    return metrics.averageCharWidth(), metrics.height()


def _scale(size: Size, before: int, old: int, new: int) -> None:
    """Scale from the value that the widget has set, and the font it was set for, so that rounding errors do not add
    up."""
    key = f"letters.{size.name}"
    value, letter, written = size.owner.property(key) or (0, 0, 0)
    if written != before:
        if before == size.usual and new < old:
            return
        value, letter = before, old
    size.write(round(value * new / letter))
    size.owner.setProperty(key, [value, letter, size.read()])


def sizes(window: QWidget) -> Iterator[Size]:
    """All sizes in a window, or in a part of one, that may have been computed from the font."""
    for widget in window.findChildren(QWidget):
        if widget.isWindow() or isinstance(widget, QDockWidget | QAbstractItemView):
            continue  # its minimum size follows from its content
        fixed = widget.minimumHeight() == widget.maximumHeight()
        set_height = widget.setFixedHeight if fixed else widget.setMinimumHeight
        yield Size(widget, "width", widget.minimumWidth, widget.setMinimumWidth)
        yield Size(widget, "height", widget.minimumHeight, set_height, True)
        yield from _margins(widget)
    for layout in window.findChildren(QLayout):
        if isinstance(layout.parent(), QMainWindow | QToolBar):
            continue  # Qt's own
        style = (layout.parentWidget() or window).style()
        usual = style.pixelMetric(QStyle.PixelMetric.PM_LayoutLeftMargin)
        if layout.contentsMargins() != QMargins(usual, usual, usual, usual):
            yield from _margins(layout)
        yield from _gaps(layout, style.pixelMetric(QStyle.PixelMetric.PM_LayoutHorizontalSpacing))


def _margins(owner: QWidget | QLayout) -> Iterator[Size]:
    for side in SIDES:

        def read(side: str = side) -> int:
            return int(getattr(owner.contentsMargins(), side.lower())())

        def write(size: int, side: str = side) -> None:
            margins = owner.contentsMargins()
            getattr(margins, f"set{side}")(size)
            owner.setContentsMargins(margins)

        yield Size(owner, side, read, write)


def _gaps(layout: QLayout, usual: int) -> Iterator[Size]:
    if isinstance(layout, QGridLayout | QFormLayout):
        yield Size(layout, "across", layout.horizontalSpacing, layout.setHorizontalSpacing, usual=usual)
        yield Size(layout, "down", layout.verticalSpacing, layout.setVerticalSpacing, usual=usual)
    elif isinstance(layout, QBoxLayout):
        yield Size(layout, "gap", layout.spacing, layout.setSpacing, usual=usual)
    elif hasattr(layout, "gap"):
        yield Size(layout, "gap", lambda: layout.gap, lambda size: setattr(layout, "gap", size))

"""The frame of every plot: axes with units, colours, gestures, marks, and a hint in place of a missing result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPalette,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from app.base.nesting import bounded
from app.base.numbers import MINUS
from app.base.theme import colours_of
from app.base.tips import show_tip
from app.models.pictures.plane import Plane
from app.models.ticks import with_room
from app.views.charts.frame import Frame, Side
from app.views.strokes import line_ink

ZOOM, PAN = 1.25, 0.1
MARGIN = 0.06
"""The margin at both ends of an axis, as a share of its range."""
NEAR = 1.5
"""The largest distance, in letters, between the cursor and the point that it describes."""
KEYS = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, 1), Qt.Key.Key_Down: (0, -1)}


class Numbers(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis whose first and last number may extend beyond its ends."""

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:  # noqa: N802
        return [text.replace("-", MINUS) for text in super().tickStrings(values, scale, spacing)]

    def boundingRect(self) -> QRectF:  # noqa: N802
        reach = 60 if self.orientation == "bottom" else 0
        return QRectF(super().boundingRect()).adjusted(-reach, reach - 60, reach, 60 - reach)


class Drawn:
    """The items of one line, created once and reused, because pyqtgraph never frees its items."""

    def __init__(self, item: pg.PlotItem) -> None:
        self.band, self.line = pg.PlotCurveItem(), pg.PlotCurveItem()
        self.dots, self.rings = (pg.ScatterPlotItem(useCache=False) for _ in range(2))  # a cache is pixels in an SVG
        self.items = self.band, self.line, self.dots, self.rings
        for depth, one in enumerate(self.items):
            one.setZValue(depth)
            item.addItem(one, ignoreBounds=True)

    def show(self, visible: bool) -> None:
        for item in self.items:
            item.setVisible(visible)


class Chart(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """A plot of `plane`. Mouse: the wheel zooms – with Ctrl or over the numbers below only across, with Shift or over
    those at the left only upward –, drag pans. Keys while focused: + − 0 1; T and Y zoom across and
    upward, with Shift out; arrows pan, Shift+arrows move the cursor.

    A subclass defines the axes and draws items, or paints. A `hint` replaces the whole chart.
    """

    takes_letters = True
    least = 16, 9
    """The smallest width and height, in letters."""
    hint = missing = ""
    drawn: Any = None

    def __init__(self, plane: Plane, parent: QWidget | None = None, name: str = "", title: str = "") -> None:
        super().__init__(parent, axisItems={side: Numbers(side) for side in ("left", "bottom")})
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.plane, self.current = plane, True
        if plane.parent() is None:
            plane.setParent(self)
        self.tags: Sequence[tuple[float, float, str]] = ()
        self._lines: list[Drawn] = []
        self._dragged: QPointF | None = None
        self._left = 0.0
        self._titles: dict[str, tuple[str, str]] = {}
        self.item = self.getPlotItem()
        self.box = self.item.getViewBox()
        self.item.setMenuEnabled(False)
        self.item.hideButtons()
        self.item.showGrid(x=True, y=True, alpha=0.2)
        self.setCacheMode(self.CacheModeFlag.CacheNone)  # a cached background would be pixels in an SVG
        self.box.setMouseEnabled(x=False, y=False)
        self.box.disableAutoRange()
        self.box.setDefaultPadding(0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.CrossCursor)
        keys = self.tr("Plus and minus zoom, T and Y zoom into either axis and with Shift out of it, 0 fits, 1 shows ")
        self.setAccessibleDescription(keys + self.tr("value by value, arrows pan, Shift+arrows move the cursor"))
        plane.changed.connect(self._follow)
        plane.cursor_moved.connect(self.viewport().update)

    # Overridden by every kind of chart

    def left(self, frame: Frame) -> Side:
        """The y axis."""
        return Side(())

    def bottom(self, frame: Frame) -> Side:
        """The x axis."""
        return Side(())

    def draw(self, frame: Frame) -> None:
        """Update the items' points, and the plane's limits."""

    def paint(self, painter: QPainter, frame: Frame) -> None:
        """Paint over the items."""

    def words_at(self, position: QPoint) -> str | None:
        """The text for a position of the viewport; None for the usual tip."""
        return None

    def next(self, axis: int, place: float, steps: int) -> float:
        """The position so many values from another along x (0) or y (1)."""
        return (self.plane.x, self.plane.y)[axis].next(place, steps)

    def margins(self) -> tuple[float, float]:
        """The margins above the plot and at its right."""
        unit = self.fontMetrics().averageCharWidth()
        return unit, 2 * unit

    # Used by kinds of charts

    def pool(self, count: int) -> list[Drawn]:
        """Items for so many lines; the remaining ones are hidden."""
        while len(self._lines) < count:
            self._lines.append(Drawn(self.item))
        for place, drawn in enumerate(self._lines):
            drawn.show(place < count)
        return self._lines[:count]

    def spaced(self, marks: Iterable[tuple[float, str]], frame: Frame) -> list[tuple[float, str]]:
        """The marks of the x axis that fit."""
        return with_room(marks, frame.across, frame.box.width(), self.fontMetrics().horizontalAdvance)

    def near(self, position: QPoint, places: Iterable[tuple[float, float, str]]) -> list[str]:
        """The texts of positions in the plane that are near one of the viewport, the nearest first."""
        frame, reach, found = self.frame(), NEAR * self.fontMetrics().averageCharWidth(), []
        for x, y, text in places:
            apart = frame.point(x, y) - position
            found.append((math.hypot(apart.x(), apart.y()), text))
        return [text for far, text in sorted(found, key=lambda one: one[0]) if far <= reach]

    def show_tags(self, tags: Sequence[tuple[float, float, str]]) -> None:
        """Mark positions with a text each, the most important first."""
        self.tags = tuple(tags)
        self.viewport().update()

    def set_hint(self, text: str) -> None:
        """Show a text in place of the plot; "" shows the plot."""
        self.hint = text
        self.item.setVisible(not text)
        self.viewport().update()

    def set_missing(self, text: str) -> None:
        """Set why there is no result; "" where none has arrived yet."""
        self.missing = text
        self.set_hint("" if self.drawn is not None else text or self.tr("No result yet"))

    def frame(self) -> Frame:
        """The present geometry, in coordinates of the viewport."""
        return Frame(self.box.sceneBoundingRect(), self.plane, self.palette(), QFontMetricsF(self.font()))

    def refresh(self) -> None:
        """Draw again, in the present colours and font."""
        self._left = 0.0
        self._follow()

    def _follow(self) -> None:
        """Draw what is visible now. The numbers at the left keep their width, so that positions stay under the
        mouse."""
        for _ in range(2):  # the numbers at the left take some of the width that points are drawn for
            width = self.box.width()
            self.draw(self.frame())
            self._set_up_axes()
            if self.box.width() == width:
                break
        self.scene().prepareForPaint()  # otherwise the first paint moves the curves, which causes a second one
        self.viewport().update()

    def _set_up_axes(self) -> None:
        """Set ranges, ticks and titles."""
        frame, metrics = self.frame(), self.fontMetrics()
        left, bottom = self.left(frame), self.bottom(frame)
        for name, side, room in (("left", left, frame.box.height()), ("bottom", bottom, frame.box.width())):
            self.item.getAxis(name).setTicks([list(side.marks), []])
            self._place_title(name, side.title, room)
        lines = 1 + self._titles["left"][0].count("<br>") if left.title else 0
        widest = max((metrics.horizontalAdvance(text) for _, text in left.marks), default=0)
        width = (0.2 + lines) * metrics.height() + widest + 2 * metrics.averageCharWidth()
        self._left = max(width, self._left, self.least_left())
        self.item.getAxis("left").setWidth(self._left)
        self.item.getAxis("bottom").setHeight((2.5 if bottom.title else 1.5) * metrics.height())
        top, right = self.margins()
        half = max((metrics.horizontalAdvance(text) for _, text in bottom.marks), default=0) / 2
        self.item.layout.setContentsMargins(
            0.5 * metrics.averageCharWidth(), top, max(right, half), 0.2 * metrics.height()
        )
        self.item.layout.activate()
        (start, stop), (low, high) = frame.across, frame.upward
        self.box.setRange(xRange=(start, stop), yRange=(low, high), padding=0)
        self.plane.x.set_width(self.box.width())
        self.plane.y.set_width(self.box.height())

    def least_left(self) -> float:
        """The smallest width of the y axis with its numbers."""
        return 0.0

    def _place_title(self, name: str, title: str, room: float) -> None:
        """Set a title, in two lines where one is too short."""
        text = escape(title, quote=False)  # pyqtgraph interprets it as HTML
        if name == "left" and self.fontMetrics().horizontalAdvance(title) > room:
            text = text.replace(", ", ",<br>", 1)
        look = text, f"{self.font().pointSizeF():g}pt {self.palette().color(QPalette.ColorRole.Text).name()}"
        if self._titles.get(name) == look:
            return
        self._titles[name] = look
        axis, ink = self.item.getAxis(name), self.palette().color(QPalette.ColorRole.Text)
        self.setBackground(self.palette().color(QPalette.ColorRole.Base))
        axis.setPen(ink)
        axis.setTextPen(ink)
        axis.setStyle(tickFont=self.font(), hideOverlappingLabels=False, maxTickLevel=0)
        axis.enableAutoSIPrefix(False)  # the unit is on the numbers
        axis.setLabel(text, **{"font-size": look[1].partition(" ")[0], "color": ink.name()})
        axis.showLabel(bool(text))

    # Painting

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:  # noqa: N802
        painter.save()
        painter.setFont(self.font())
        if self.hint:
            painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.viewport().rect(), int(flags), self.hint)
        else:
            self.paint(painter, self.frame())
            self._paint_tags(painter)
        painter.restore()
        if self.hasFocus():
            painter.setPen(QPen(line_ink(self.palette()), 0))
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))

    def named(self) -> list[tuple[QPointF, QRectF | None, str]]:
        """The point of every visible mark, and the box of its text where that overlaps no other."""
        letters, found, boxes, frame = self.fontMetrics(), [], list[QRectF](), self.frame()
        size, gap, area = 0.4 * letters.height(), letters.averageCharWidth(), frame.box
        for x, y, text in self.tags:
            at = frame.point(x, y)
            if not area.adjusted(-1, -1, 1, 1).contains(at):
                continue
            width = letters.horizontalAdvance(text) + gap
            left = min(max(at.x() - width / 2, area.left()), area.right() - width)
            top = at.y() - 1.6 * size - letters.height()
            box = QRectF(left, max(top, area.top()), width, letters.height())
            free = not any(box.intersects(other) for other in boxes)
            boxes += [box] if free else []
            found.append((at, box if free else None, text))
        return found

    def _paint_tags(self, painter: QPainter) -> None:
        """Paint a small triangle at each mark, and its label where it fits."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        size, colour = 0.4 * self.fontMetrics().height(), colours_of(self.palette()).error.colour
        for at, box, text in self.named():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            tip = at - QPointF(0, 2)
            painter.drawPolygon(QPolygonF([tip, tip + QPointF(-size, -1.4 * size), tip + QPointF(size, -1.4 * size)]))
            if box is not None:
                ground = self.palette().color(QPalette.ColorRole.Base)
                ground.setAlpha(190)
                painter.fillRect(box, ground)
                painter.setPen(colour)
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)

    # Events

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        frame, point, keys = self.frame(), event.position(), event.modifiers()
        factor = ZOOM ** ((event.angleDelta().y() or event.angleDelta().x()) / 120)
        only_up = bool(keys & Qt.KeyboardModifier.ShiftModifier) or point.x() < frame.box.left()
        only_across = bool(keys & Qt.KeyboardModifier.ControlModifier) or point.y() > frame.box.bottom()
        across = 1.0 if only_up and self.plane.upward else factor
        self.plane.zoom_at(across, 1.0 if only_across else factor, *frame.place(point))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() != Qt.MouseButton.RightButton:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self._dragged = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        frame, point = self.frame(), event.position()
        if self._dragged is not None:
            (x, y), (was_x, was_y) = frame.place(point), frame.place(self._dragged)
            self._dragged = point
            self.plane.pan(was_x - x, was_y - y)
        self.plane.set_cursor(None if self.hint else self.frame().place(point))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._dragged = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        event.ignore()  # the window shows it on the whole screen

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        self.plane.set_cursor(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key, plane = event.key(), self.plane
        factor = 1 / ZOOM if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else ZOOM
        if key in KEYS:
            across, up = KEYS[Qt.Key(key)]
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self._move_cursor(across, up)
            else:
                plane.pan(across * PAN * (plane.x.stop - plane.x.start), up * PAN * (plane.y.stop - plane.y.start))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            plane.zoom(1 / ZOOM if key == Qt.Key.Key_Minus else ZOOM)
        elif key == Qt.Key.Key_T:
            plane.x.zoom(factor)
        elif key == Qt.Key.Key_Y and plane.upward:
            plane.y.zoom(factor)
        elif key == Qt.Key.Key_0:
            plane.fit()
        elif key == Qt.Key.Key_1:
            plane.one_to_one()
        else:
            event.ignore()

    def _move_cursor(self, across: int, up: int) -> None:
        """Move to a neighbouring value, at first from the middle."""
        plane = self.plane
        x, y = plane.cursor or ((plane.x.start + plane.x.stop) / 2, (plane.y.start + plane.y.stop) / 2)
        plane.set_cursor((self.next(0, x, across) if across else x, self.next(1, y, up) if up else y))

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            words = self.words_at(event.pos())
            if words is not None:
                show_tip(event.globalPos(), words, self)
                return True
        return bool(super().viewportEvent(event))

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        self.viewport().update()

    focusOutEvent = focusInEvent  # noqa: N815

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if hasattr(self, "_titles"):
            self.refresh()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_titles"):
            self.refresh()

    def sizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 40, unit * 24)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * self.least[0], unit * self.least[1])


def padded(numbers: Sequence[float], share: float = MARGIN) -> tuple[float, float, float]:
    """The limits of an axis with a margin around these numbers, and its step; a single number has half a unit on either
    side."""
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    margin = share * (high - low) if high > low else 0.5
    return low - margin, high + margin, (high - low or 1.0) / 200

"""A plane of values in colours over two axes of different units, such as time and frequency. It fills its area."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Slot
from PySide6.QtGui import (
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.models.background import Background
from app.models.curves.span import AxisView
from app.models.pictures.display import Display
from app.models.pictures.heat import Heat
from app.models.pictures.layer import LARGE, Tone
from app.models.pictures.plane import Plane, Range
from app.models.pictures.pyramid import to_uint8
from app.models.results.view_data import TIMES, Array, ViewData
from app.models.ticks import PREFIXED
from app.views.charts.heat_paint import PlaneFrame, axis_ticks, draw_colour_scale, draw_plane_axes, scale_marks
from app.views.charts.plot_area import FAINT, PAN, ZOOM
from app.views.parts import draw_tag, number
from app.views.pictures.canvas_paint import DARK_AND_LIGHT
from app.views.results.reading import drawn_text, place_text, quantity, reading_text
from gpu_ops.output_kinds import CHANNEL, Axis


def lies_across(drawn: ViewData) -> int:
    """The place of the axis that lies across: time where there is one, else the second."""
    return next((place for place, axis in enumerate(drawn.form.axes[:2]) if axis.name in TIMES), 1)


def limits(drawn: ViewData) -> tuple[Range, Range]:
    """What the axes across and upward cover, from the edge of the first value to that of the last, and their steps."""
    across = lies_across(drawn)
    ranges = []
    for place in (across, 1 - across):
        axis, count = drawn.form.axes[place], drawn.array.shape[place]
        ranges.append((axis.at(-0.5), axis.at(count - 0.5), axis.step))
    return ranges[0], ranges[1]


class HeatArea(QWidget):
    """Paints one plane; both ranges and the cursor are those of its Plane, levels and colours those of its Display.
    Mouse: wheel zooms both axes – with Ctrl or over the numbers below, only the one across; with Shift or over the
    numbers at the left, only the one upward –, drag pans, double-click fits. Keys while focused: + − 0 1; T and F zoom
    into time or frequency, with Shift out of it; arrows pan, Shift+arrows move the cursor."""

    takes_letters = True

    def __init__(self, plane: Plane, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("heatArea")
        self.plane, self.display = plane, display
        self.drawn: ViewData | None = None
        self.heat: Heat | None = None
        self.current, self.missing = True, ""
        self.image: QImage | None = None
        self._key: tuple[Any, ...] = ()
        self._dragged: QPointF | None = None
        self._background = Background(self)
        self._background.finished.connect(self._on_built)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleDescription(
            self.tr(
                "Plus and minus zoom, T and F zoom into time or frequency and with Shift out of it, 0 fits, "
                "1 shows value by value, arrows pan, Shift+arrows move the cursor"
            )
        )
        for signal in (plane.changed, plane.cursor_moved, display.levels_changed, display.colormap_changed):
            signal.connect(self.update)

    def sizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 40, unit * 24)

    def minimumSizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 24, unit * 11)

    # What is shown

    def show_drawn(self, drawn: ViewData | None, scale: str, current: bool) -> None:
        """Paint this; `current` says whether it fits the present choice."""
        self.current = current
        if drawn is not self.drawn:
            self._background.cancel()
            self.drawn, self.heat = drawn, None
            if drawn is not None:
                self.heat = heat = Heat(_upright(drawn))
                if heat.values.size <= LARGE:
                    heat.build()
                else:
                    self._background.start(lambda stop: heat if heat.build(stop) else None)
        self.update()

    def set_missing(self, text: str) -> None:
        self.missing = text
        self.update()

    @Slot(object)
    def _on_built(self, _heat: object) -> None:
        self.update()

    def _axes(self) -> tuple[Axis, Axis]:
        """The axes across and upward."""
        assert self.drawn is not None
        across = lies_across(self.drawn)
        return self.drawn.form.axes[across], self.drawn.form.axes[1 - across]

    def value_text(self) -> str:
        """The value at the group's cursor, with its time and its frequency."""
        if self.drawn is None or self.plane.cursor is None:
            return ""
        axes, across = self._axes(), lies_across(self.drawn)
        index = tuple(math.floor(a.index(p) + 0.5) for a, p in zip(axes, self.plane.cursor, strict=True))
        place = index if across == 0 else index[::-1]
        if not all(0 <= i < n for i, n in zip(place, self.drawn.values.shape, strict=False)):
            return ""
        places = ", ".join(_place(axis, i) for axis, i in zip(axes, index, strict=True))
        return reading_text(places, drawn_text(self.drawn, self.drawn.values[place]))

    # Geometry

    def tone(self) -> Tone:
        return Tone(self.display.low, self.display.high, self.display.lut)

    def _marks(self, height: float) -> list[tuple[float, str]]:
        """The numbers beside the scale of colours."""
        figures = self.drawn.statistics if self.drawn is not None else None
        lowest, highest = (figures.minimum, figures.maximum) if figures else (self.display.low, self.display.high)
        return scale_marks(self.tone(), lowest, highest, int(height / (2.2 * self.fontMetrics().height())))

    def frame(self) -> PlaneFrame:
        """The present geometry."""
        letters = QFontMetricsF(self.font())
        pad, line = letters.averageCharWidth(), letters.height()
        height = max(1.0, self.height() - 3.8 * line)
        left = right = 2 * pad
        if self.drawn is not None:
            up, span = self._axes()[1], self.plane.y
            words = [word for _, word in axis_ticks(up, span.start, span.stop, int(height / (2.2 * line)))[0]]
            left += max((letters.horizontalAdvance(word) for word in words), default=0.0)
            beside = max(letters.horizontalAdvance(word) for _, word in self._marks(height))
            right += beside + 3.5 * pad
        box = QRectF(left, 1.4 * line, max(1.0, self.width() - left - right), height)
        return PlaneFrame(box, QRectF(box.right() + 1.5 * pad, box.top(), 2 * pad, height), self.plane)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), self.palette()
        painter.setFont(self.font())
        painter.fillRect(self.rect(), palette.color(QPalette.ColorRole.Base))
        if self.drawn is None:
            painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect(), int(flags), self.missing or self.tr("No result yet"))
        else:
            self._paint_plane(painter, self.drawn)
        if self.hasFocus():
            painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 0))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _paint_plane(self, painter: QPainter, drawn: ViewData) -> None:
        frame = self.frame()
        self.plane.x.set_width(frame.box.width())
        self.plane.y.set_width(frame.box.height())
        self._render(frame.box)
        if self.image is not None:
            painter.setOpacity(1.0 if self.current else FAINT)
            painter.drawImage(frame.box.topLeft(), self.image)
            painter.setOpacity(1.0)
        draw_plane_axes(painter, frame, *self._axes(), self.palette())
        marks = self._marks(frame.box.height())
        draw_colour_scale(painter, frame, self.tone(), marks, drawn.unit, self.palette())
        self._paint_notes(painter, frame, drawn)

    def _paint_notes(self, painter: QPainter, frame: PlaneFrame, drawn: ViewData) -> None:
        """Paint the cursor, which of several channels this is, and whether all values are in."""
        box, pad = frame.box, self.fontMetrics().averageCharWidth()
        if self.plane.cursor is not None:
            painter.setClipRect(box)
            at = frame.point(*self.plane.cursor)
            for colour, wide in DARK_AND_LIGHT:
                painter.setPen(QPen(colour, wide))
                painter.drawLine(QPointF(at.x(), box.top()), QPointF(at.x(), box.bottom()))
                painter.drawLine(QPointF(box.left(), at.y()), QPointF(box.right(), at.y()))
            painter.setClipping(False)
        channels = _channels(drawn)
        if channels > 1:
            text = self.tr("channel 1 of {count}").format(count=number(channels))
            draw_tag(painter, box.topLeft() + QPointF(pad, pad), text, box.width() - 2 * pad)
        if self.heat is not None and not self.heat.complete:
            corner = QPointF(box.right() - pad, box.top() + pad)
            draw_tag(painter, corner, self.tr("Sharpening…"), box.width() - 2 * pad, right=True)

    def _render(self, box: QRectF) -> None:
        """Compute the picture of the visible part, unless it is the last one."""
        assert self.heat is not None
        ratio = self.devicePixelRatioF()
        size = max(1, round(box.width() * ratio)), max(1, round(box.height() * ratio))
        spans = [(span.start, span.stop) for span in (self.plane.x, self.plane.y)]
        tone = self.tone()
        key = (self.heat, self.heat.complete, size, *spans, tone.low, tone.high, self.display.colormap)
        if key == self._key and self.image is not None:
            return
        across, up = (
            _edges(axis, span, count)
            for axis, span, count in zip(self._axes(), (self.plane.x, self.plane.y), size, strict=True)
        )
        pixels = np.ascontiguousarray(to_uint8(self.heat.sample(up, across)[::-1], tone.low, tone.high, tone.lut))
        kind = QImage.Format.Format_Grayscale8 if pixels.ndim == 2 else QImage.Format.Format_RGBX8888
        self.image = QImage(pixels.data, size[0], size[1], pixels.strides[0], kind)
        self.image.setDevicePixelRatio(ratio)
        self.image.pixels = pixels  # type: ignore[attr-defined]  # the QImage does not own its bytes
        self._key = key

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        frame, point, keys = self.frame(), event.position(), event.modifiers()
        notches = (event.angleDelta().y() or event.angleDelta().x()) / 120
        only_up = bool(keys & Qt.KeyboardModifier.ShiftModifier) or point.x() < frame.box.left()
        only_across = bool(keys & Qt.KeyboardModifier.ControlModifier) or point.y() > frame.box.bottom()
        factor = ZOOM**notches
        self.plane.zoom_at(1.0 if only_up else factor, 1.0 if only_across else factor, *frame.place(point))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._dragged = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        frame, point = self.frame(), event.position()
        if self._dragged is not None:
            (x, y), (was_x, was_y) = frame.place(point), frame.place(self._dragged)
            self._dragged = point
            self.plane.pan(was_x - x, was_y - y)
        self.plane.set_cursor(self.frame().place(point) if frame.box.contains(point) else None)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.plane.fit()

    def leaveEvent(self, event: QEvent) -> None:
        self.plane.set_cursor(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, plane = event.key(), self.plane
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        sides = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, 1), Qt.Key.Key_Down: (0, -1)}
        if key in sides:
            across, up = sides[Qt.Key(key)]
            if shift:
                plane.set_cursor((self._next(plane.x, 0, across), self._next(plane.y, 1, up)))
            else:
                plane.pan(across * PAN * (plane.x.stop - plane.x.start), up * PAN * (plane.y.stop - plane.y.start))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            plane.zoom(ZOOM)
        elif key == Qt.Key.Key_Minus:
            plane.zoom(1 / ZOOM)
        elif key == Qt.Key.Key_T:
            plane.x.zoom(1 / ZOOM if shift else ZOOM)
        elif key == Qt.Key.Key_F:
            plane.y.zoom(1 / ZOOM if shift else ZOOM)
        elif key == Qt.Key.Key_0:
            plane.fit()
        elif key == Qt.Key.Key_1:
            plane.one_to_one()
        else:
            super().keyPressEvent(event)

    def _next(self, span: AxisView, place: int, steps: int) -> float:
        """The middle of the value so many steps from the cursor, or from the middle of the view, along an axis."""
        cursor = self.plane.cursor
        now = cursor[place] if cursor is not None else (span.start + span.stop) / 2
        step = (math.floor((now - span.low) / span.step) + steps + 0.5) * span.step + span.low
        return min(max(step, span.low + span.step / 2), span.high - span.step / 2)


def _place(axis: Axis, index: int) -> str:
    """A place along an axis: its unit says which axis it is, else its name does."""
    return quantity(axis.at(index), axis.unit) if axis.unit in PREFIXED else place_text(axis, index)


def _channels(drawn: ViewData) -> int:
    """How many channels a plane has."""
    counts = (n for axis, n in zip(drawn.form.axes, drawn.values.shape, strict=True) if axis.name == CHANNEL)
    return next(counts, 1)


def _upright(drawn: ViewData) -> Array:
    """The values (H, W) of the first channel, with the axis that lies across as their second."""
    values = drawn.array if drawn.array.ndim == 2 else drawn.array[:, :, 0]
    return values if lies_across(drawn) == 1 else values.T


def _edges(axis: Axis, span: AxisView, count: int) -> Array:
    """The edges of so many pixels in a span, counted in values. They lie on a grid that is fixed to the axis, so that a
    pan changes no pixel but moves them all, at most half a pixel off."""
    pixel = (span.stop - span.start) / count
    places = (round(span.start / pixel) + np.arange(count + 1)) * pixel
    return np.asarray((places - axis.start) / axis.step + 0.5)

"""The traffic of a signal: one row of colours for each variant, over all samples."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.models.pictures.pyramid import Array
from app.models.traffic.recorded import OfVariant, Recorded, by_pixel, runs, tinted
from app.models.traffic.warp_rows import read_with
from app.views.parts import number
from app.views.pictures.canvas_paint import rgba_image
from app.views.traffic.marks import MADE, SECTOR_LINE, draw_element, draw_passed
from gpu_ops.explaining.traffic.content import SECTOR, Measure

MOST = 2048
"""Columns of colours; each is the largest of its samples."""
DIMMED = 0.4
"""The opacity of what belongs to an earlier choice."""


class TrafficStrip(QWidget):
    """Shows the counts of all samples of the recorded part. `chosen(sample, variant)`: the user clicked on it in the
    row of the variant."""

    chosen = Signal(int, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("trafficStrip")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Traffic of each variant over the samples"))
        self.rows: list[tuple[OfVariant, QImage]] = []
        self._first = self._count = 0
        self._place: tuple[int, ...] = ()

    def show_recorded(
        self, recorded: Recorded | None, measure: Measure, line: tuple[str, int] | None, place: tuple[int, ...]
    ) -> None:
        """Show the traffic of a signal. None: it is being recorded, and the last one stays, dimmed, so that the curves
        do not move."""
        self.setEnabled(recorded is not None)
        if recorded is not None:
            self.rows, self._place, top = [], place, recorded.top(measure, line, 1)
            for one in recorded.variants:
                if one.traffic is not None:
                    counts = by_pixel(one.counts(measure, line), 1)
                    self._first, self._count = (recorded.start or (0,))[0], len(counts)
                    self.rows.append((one, rgba_image(tinted(_reduced(counts), top)[None])))
        self.updateGeometry()
        self.update()

    @property
    def _line(self) -> int:
        return self.fontMetrics().height() + 4

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(40 * self.fontMetrics().averageCharWidth(), self._line * (len(self.rows) + 1))

    def _names(self) -> float:
        """The width of the variants' names."""
        return max((self.fontMetrics().horizontalAdvance(one.title) for one, _ in self.rows), default=0) + 8.0

    def _x(self, sample: float) -> float:
        left = self._names()
        return left + (sample - self._first) / max(self._count, 1) * (self.width() - left)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter, line, left = QPainter(self), self._line, self._names()
        painter.setOpacity(1.0 if self.isEnabled() else DIMMED)
        ink = self.palette().windowText().color()
        for n, (one, image) in enumerate(self.rows):
            box = QRectF(left, n * line + 1, self.width() - left, line - 3)
            painter.setPen(ink)
            painter.drawText(QRectF(0, n * line, left - 8, line), Qt.AlignmentFlag.AlignVCenter, one.title)
            painter.fillRect(box, QColor(0, 0, 0, 40))
            painter.drawImage(box, image, QRectF(image.rect()))
            self._draw_footprint(painter, one, box)
        below = QRectF(left, len(self.rows) * line, self.width() - left, line)
        painter.setPen(ink)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, self.tr("sample {first}").format(first=number(self._first)))
        last = self.tr("{last}").format(last=number(self._first + max(self._count, 1) - 1))
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, last)
        painter.end()

    def _draw_footprint(self, painter: QPainter, one: OfVariant, box: QRectF) -> None:
        """The chosen sample with what made it, or what its warp reads with it where it has no footprint."""
        if not self._place or one.traffic is None:
            return
        channels, print_ = int(np.prod(one.traffic.shape[1:], dtype=np.int64)), one.footprint
        each = SECTOR // one.traffic.itemsize / channels
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for sector in {sector for sectors in print_.sectors.values() for sector in sectors} if print_ else ():
            first = self._first + sector * each
            painter.setPen(QPen(SECTOR_LINE, 2))
            painter.drawLine(QPointF(self._x(first), box.bottom()), QPointF(self._x(first + each), box.bottom()))
        made_of = print_.elements if print_ else read_with(one.warps)
        samples = sorted({element // channels + self._first for element in made_of})
        without = print_.passed if print_ else ()
        passed = sorted({element // channels + self._first for element in without} - set(samples))
        for found, draw in ((passed, draw_passed), (samples, draw_element)):
            for first, last in runs(found):
                left = self._x(first)
                draw(painter, QRectF(left, box.top(), max(self._x(last + 1) - left, 3), box.height()))
        if made_of or print_:
            painter.setPen(QPen(MADE, 2))
            middle = self._x(self._place[0] + 0.5)
            painter.drawLine(int(middle), int(box.top()), int(middle), int(box.bottom()))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        left = self._names()
        share = (event.position().x() - left) / max(self.width() - left, 1)
        if self._count and 0 <= share < 1:
            row = min(int(event.position().y() // self._line), len(self.rows) - 1)
            self.chosen.emit(self._first + int(share * self._count), self.rows[row][0].id)


def _reduced(counts: Array) -> Array:
    """At most MOST columns, each the largest of its counts."""
    if len(counts) <= MOST:
        return counts
    starts = np.linspace(0, len(counts), MOST, endpoint=False).astype(np.int64)
    return np.asarray(np.maximum.reduceat(counts, starts))

"""A timeline: spans in rows, one row for each stream of a device."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QPainter, QPalette, QPen

from app.models.results.view_data import Array, ViewData
from app.views.charts.frame import Frame
from app.views.charts.plot_area import Plot
from app.views.parts import number
from app.views.results.reading import quantity, reading_text
from gpu_ops.output_kinds import Axis

translate = QCoreApplication.translate
START, END, STREAM, BYTES = range(4)


class SpansPlot(Plot):
    """A timeline (S, 4) of start and end in seconds, stream and bytes. Spans that move bytes are hatched."""

    aspect = 2.5

    def axis(self, drawn: ViewData) -> Axis:
        return Axis("time", "s")

    def extent(self, drawn: ViewData) -> tuple[float, float, float]:
        spans = drawn.array
        if not len(spans):
            return 0.0, 1.0, 1.0
        lengths = spans[:, END] - spans[:, START]
        shortest = float(lengths.min(initial=np.inf, where=lengths > 0))
        low, high = float(spans[:, START].min()), float(spans[:, END].max())
        return low, high, min(shortest, high - low or 1.0)

    def _streams(self, drawn: ViewData) -> list[int]:
        return sorted({int(stream) for stream in drawn.array[:, STREAM]})

    def rows(self, drawn: ViewData) -> list[str]:
        names = [translate("Spans", "stream {number}").format(number=number(s)) for s in self._streams(drawn)]
        return names or [translate("Spans", "no activity")]

    def paint(self, painter: QPainter, frame: Frame, drawn: ViewData, scale: str) -> None:
        streams = self._streams(drawn)
        seen = (drawn.array[:, END] >= frame.across[0]) & (drawn.array[:, START] <= frame.across[1])
        for span in _told_apart(frame, drawn.array[seen]):
            box = self._box(frame, span, streams)
            series = frame.colours.series[streams.index(int(span[STREAM])) % len(frame.colours.series)]
            painter.setPen(QPen(series.colour, 1))
            painter.setBrush(series.colour)
            painter.drawRect(box)
            if span[BYTES] > 0 and box.width() > 3:
                painter.setBrush(Qt.BrushStyle.BDiagPattern)
                painter.setPen(QPen(frame.palette.color(QPalette.ColorRole.Base), 1))
                painter.fillRect(box, painter.brush())
        painter.setPen(QPen(frame.colours.grid, 1))
        for row in range(1, len(streams)):
            y = frame.box.top() + row * frame.box.height() / len(streams)
            painter.drawLine(int(frame.box.left()), round(y), int(frame.box.right()), round(y))

    def _box(self, frame: Frame, span: Array, streams: list[int]) -> QRectF:
        tall = frame.box.height() / len(streams)
        thick = min(0.6 * tall, 2.5 * frame.letters.height())
        middle = frame.box.top() + (streams.index(int(span[STREAM])) + 0.5) * tall
        left, right = frame.x(float(span[START])), frame.x(float(span[END]))
        return QRectF(left, middle - thick / 2, max(1.0, right - left), thick)

    def _at(self, drawn: ViewData, place: float, row: float) -> Array | None:
        """The span under the cursor; where several overlap, the one that began last."""
        streams = self._streams(drawn)
        if not 0 <= int(row) < len(streams):
            return None
        spans = drawn.array[drawn.array[:, STREAM] == streams[int(row)]]
        found = spans[(spans[:, START] <= place) & (place <= spans[:, END])]
        return found[np.argmax(found[:, START])] if len(found) else None

    def spot(self, drawn: ViewData, place: float, row: float) -> tuple[float, float] | None:
        span = self._at(drawn, place, row)
        return (place, place) if span is None else (float(span[START]), float(span[END]))

    def text(self, drawn: ViewData, place: float, row: float) -> str:
        span, streams = self._at(drawn, place, row), self._streams(drawn)
        if not streams:
            return ""
        stream = translate("Spans", "stream {number}").format(number=number(streams[int(row)]))
        if span is None:
            nothing = translate("Spans", "idle")
            return reading_text(f"{stream}, {quantity(place, 's')}", nothing)
        largest, length = abs(float(span[END])), float(span[END] - span[START])
        first, last = (quantity(float(v), "s", largest) for v in (span[START], span[END]))
        words = [quantity(length, "s")]
        if span[BYTES] > 0:
            words.append(quantity(float(span[BYTES]), "B"))
            if length > 0:
                words.append(f"{quantity(float(span[BYTES]) / length, 'B')}/s")
        return reading_text(f"{stream}, {first} … {last}", ", ".join(words))


def _told_apart(frame: Frame, spans: Array) -> Array:
    """The spans to draw: one of those that share the pixels of a row."""
    scale = frame.box.width() / (frame.across[1] - frame.across[0])
    pixels = np.floor(np.stack([spans[:, START], spans[:, END]], axis=1) * scale)
    keys = np.column_stack([pixels, spans[:, STREAM], spans[:, BYTES] > 0])
    kept: Array = np.unique(keys, axis=0, return_index=True)[1]
    return spans[kept]

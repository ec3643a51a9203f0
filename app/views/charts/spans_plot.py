"""A timeline: spans in lanes, one for the host and one for each stream of a device."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QFontMetricsF, QPainter, QPalette, QPen

from app.base.theme import Colours, contrast, mix
from app.models.results.view_data import ViewData
from app.models.timing.timelines import Lane, Lanes, Look, Piece
from app.views.charts.frame import Frame
from app.views.charts.plot_area import Plot
from app.views.eliding import elided_text
from app.views.parts import number
from app.views.results.reading import quantity, reading_text, with_unit
from gpu_ops.output_kinds import Axis

translate = QCoreApplication.translate
STRIP = 0.08
"""The share of the text's colour in the background of a heading."""
PATTERNS: dict[Look, Qt.BrushStyle] = {
    "host": Qt.BrushStyle.HorPattern,
    "upload": Qt.BrushStyle.BDiagPattern,
    "kernel": Qt.BrushStyle.SolidPattern,
    "device": Qt.BrushStyle.DiagCrossPattern,
    "download": Qt.BrushStyle.FDiagPattern,
}
"""Patterns that distinguish the looks without their colours."""


def look_colour(look: Look, colours: Colours) -> QColor:
    """The colour of the unit that executes a piece."""
    own = {"host": colours.cpu, "upload": colours.upload, "kernel": colours.kernel, "download": colours.download}
    return own.get(look, colours.inside)


def lanes_of(drawn: ViewData | Lanes) -> Lanes:
    """The lanes of a result (S, 4) of start and end in seconds, stream and bytes."""
    if isinstance(drawn, Lanes):
        return drawn
    if drawn not in _found:
        _found[drawn] = _streams(drawn)
    return _found[drawn]


_found: WeakKeyDictionary[ViewData, Lanes] = WeakKeyDictionary()


def _streams(drawn: ViewData) -> Lanes:
    spans = drawn.array
    rows = []
    for stream in sorted({int(stream) for stream in spans[:, 2]}):
        own = spans[spans[:, 2] == stream]
        title = translate("Spans", "stream {number}").format(number=number(stream))
        rows.append(Lane(title, tuple(Piece(float(s[0]), float(s[1]), int(s[3]), _of_bytes(s[3])) for s in own)))
    return Lanes(tuple(rows or [Lane(translate("Spans", "no activity"))]))


def _of_bytes(nbytes: float) -> Look:
    return "device" if nbytes > 0 else "kernel"


class SpansPlot(Plot):
    """Lanes with pieces in the colour and the pattern of the unit that executes them, with their names where they
    fit."""

    aspect = 2.5

    def axis(self, drawn: ViewData | Lanes) -> Axis:
        return Axis("time", lanes_of(drawn).unit)

    def extent(self, drawn: ViewData | Lanes) -> tuple[float, float, float]:
        pieces = list(lanes_of(drawn).pieces)
        if not pieces:
            return 0.0, 1.0, 1.0
        low, high = min(p.start for p in pieces), max(p.end for p in pieces)
        shortest = min((p.end - p.start for p in pieces if p.end > p.start), default=np.inf)
        return low, high, min(shortest, high - low or 1.0)

    def rows(self, drawn: ViewData | Lanes) -> list[str]:
        return ["" if row.heading else row.title for row in lanes_of(drawn).rows]

    def paint(self, painter: QPainter, frame: Frame, drawn: ViewData | Lanes, scale: str) -> None:
        rows = lanes_of(drawn).rows
        tall = frame.box.height() / len(rows)
        for place, row in enumerate(rows):
            box = QRectF(frame.box.left(), frame.box.top() + place * tall, frame.box.width(), tall)
            if row.heading:
                _paint_heading(painter, frame, box, row)
                continue
            if place:
                painter.setPen(QPen(frame.colours.grid, 1))
                painter.drawLine(box.topLeft(), box.topRight())
            for piece in _pieces_to_draw(frame, row.pieces):
                _paint_piece(painter, frame, _box(frame, piece, box), piece)

    def _at(self, drawn: ViewData | Lanes, place: float, row: float) -> tuple[Lane | None, Piece | None]:
        """The lane at a row, and the piece there."""
        rows = lanes_of(drawn).rows
        lane = rows[int(row)] if 0 <= int(row) < len(rows) else None
        return lane, lane.at(place) if lane else None

    def spot(self, drawn: ViewData | Lanes, place: float, row: float) -> tuple[float, float] | None:
        _, piece = self._at(drawn, place, row)
        return (place, place) if piece is None else (piece.start, piece.end)

    def text(self, drawn: ViewData | Lanes, place: float, row: float) -> str:
        lanes = lanes_of(drawn)
        (lane, piece), unit = self._at(drawn, place, row), lanes.unit
        if lane is None or not (lane.pieces or lane.heading):
            return ""
        if lane.heading:
            return lane.text
        if piece is None:
            return reading_text(f"{lane.title}, {_time(place, unit)}", translate("Spans", "idle"))
        largest, length = abs(piece.end), piece.end - piece.start
        first, last = (_time(end, unit, largest) for end in (piece.start, piece.end))
        words = [_time(length, unit)]
        if piece.nbytes > 0:
            words.append(quantity(float(piece.nbytes), "B"))
            if length > 0 and unit == "s":
                words.append(f"{quantity(piece.nbytes / length, 'B')}/s")
        name = f"{piece.name}, " if piece.name else ""
        return reading_text(f"{name}{lane.title}, {first} … {last}", ", ".join(words))


def _time(value: float, unit: str, size: float | None = None) -> str:
    """A time, or a number of steps, in few digits."""
    if unit != "s":
        return with_unit(number(round(value, 2)), unit)
    return quantity(float(f"{value:.6g}"), unit, size)


def _paint_heading(painter: QPainter, frame: Frame, box: QRectF, row: Lane) -> None:
    """The title in bold and as much of its notes as fits, on a strip that extends over the names of the lanes."""
    ink, base = (frame.palette.color(role) for role in (QPalette.ColorRole.Text, QPalette.ColorRole.Base))
    pad = frame.letters.averageCharWidth()
    top = 0.0 if box.top() == frame.box.top() else box.top()
    strip = QRectF(QPointF(0, top), box.bottomRight())
    bold = painter.font()
    bold.setBold(True)
    inner = box.adjusted(pad - box.left(), 0, -pad, 0)
    title, note = heading_texts(row, QFontMetrics(bold), frame.letters, inner.width())
    painter.save()
    painter.setClipRect(strip)
    painter.fillRect(strip, mix(base, ink, STRIP))
    painter.setPen(ink)
    painter.drawText(inner, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), note)
    painter.setFont(bold)
    painter.drawText(inner, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), title)
    painter.restore()


def heading_texts(row: Lane, bold: QFontMetrics, plain: QFontMetricsF, width: float) -> tuple[str, str]:
    """The title of a heading, cut only where it is alone, and the longest of its notes that fits next to the whole
    title; what is left out is in the text under the mouse."""
    room = width - 2 * plain.averageCharWidth() - bold.horizontalAdvance(row.title)
    note = next((note for note in row.notes if plain.horizontalAdvance(note) <= room), "")
    return elided_text(row.title, bold, int(width)), note


def _box(frame: Frame, piece: Piece, lane: QRectF) -> QRectF:
    thick = min(0.8 * lane.height(), 2.5 * frame.letters.height())
    left, right = frame.x(piece.start), frame.x(piece.end)
    return QRectF(left, lane.center().y() - thick / 2, max(1.0, right - left), thick)


def _paint_piece(painter: QPainter, frame: Frame, box: QRectF, piece: Piece) -> None:
    colour, base = look_colour(piece.look, frame.colours), frame.palette.color(QPalette.ColorRole.Base)
    named = bool(piece.name) and frame.letters.horizontalAdvance(f"  {piece.name}") <= box.width()
    fill_look(painter, box, piece.look, colour, base, plain=named)
    if named:
        ink = max((base, frame.palette.color(QPalette.ColorRole.Text)), key=lambda one: contrast(one, colour))
        painter.setPen(ink)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), piece.name)


def fill_look(painter: QPainter, box: QRectF, look: Look, colour: QColor, base: QColor, plain: bool = False) -> None:
    """Fill a box in the colour and, unless it is `plain` below a text, with the pattern of a look."""
    painter.setPen(QPen(base, 1) if box.width() > 3 else Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRect(box)
    pattern = PATTERNS.get(look, Qt.BrushStyle.SolidPattern)
    if pattern != Qt.BrushStyle.SolidPattern and not plain and box.width() > 3:
        painter.fillRect(box, QBrush(base, pattern))


def _pieces_to_draw(frame: Frame, pieces: tuple[Piece, ...]) -> list[Piece]:
    """The visible pieces to draw: one of those that share the pixels of a lane."""
    start, stop = frame.across
    scale = frame.box.width() / (stop - start)
    seen = {(int(p.start * scale), int(p.end * scale), p.look): p for p in pieces if p.end >= start and p.start <= stop}
    return list(seen.values())

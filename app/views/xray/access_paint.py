"""Paints the layout of an access."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPalette, QPen

from app.base.theme import TEXT_CONTRAST, colours_of, contrast, mix
from app.models.xray.access_trace import TracedAccess
from app.views.eliding import elided_text
from app.views.xray.access_layout import Layout, Sign, Spot

CENTRE = Qt.AlignmentFlag.AlignCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
SERIES = 7
"""The number of the theme's colours to cycle through; the eighth is the colour of text."""
TINY = 0.85
"""The size of numbers in narrow cells, relative to the small font."""
FULL = 0.5
"""The share of its colour in the background of used bytes."""


class AccessPainter:
    """Draws a layout with a palette. `current` is the lane under the mouse, -1 for none."""

    def __init__(self, painter: QPainter, layout: Layout, access: TracedAccess, palette: QPalette, font: QFont) -> None:
        self.p, self.layout, self.access, self.font = painter, layout, access, font
        self.metrics = QFontMetricsF(font)
        self.tiny = QFont(font)
        self.tiny.setPointSizeF(TINY * font.pointSizeF())
        self.letter = self.metrics.averageCharWidth()
        self.colours = colours_of(palette)
        self.base, self.text = (palette.color(role) for role in (QPalette.ColorRole.Base, QPalette.ColorRole.Text))
        self.current = -1
        self.shared = access.space == "shared"
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font)

    def paint(self, current: int) -> None:
        """Paint everything."""
        self.current = current
        self.p.fillRect(QRectF(0, 0, self.layout.width, self.layout.height), self.base)
        for lane in self.layout.lines:
            self._line(lane)
        if current in self.layout.lines:
            self._line(current)
        for spot in self.layout.of("lane"):
            self._lane(spot)
        if self.shared:
            self._banks()
        else:
            self._pieces()
        self._texts()

    # Colours

    def _colour(self, lane: int) -> QColor:
        """One colour for each sector, or for each wavefront."""
        access = self.access
        turn = access.banks.lane_wavefront[lane] if self.shared else access.pieces.of_lane(lane) or 0
        return self.colours.series[turn % SERIES].colour

    def _ground(self, colour: QColor) -> QColor:
        """A light version of a colour, on which text is readable."""
        share = FULL
        ground = mix(self.base, colour, share)
        while contrast(ground, self.text) < TEXT_CONTRAST and share > 0:
            share -= 0.02
            ground = mix(self.base, colour, max(share, 0.0))
        return ground

    def _pen(self, colour: QColor, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
        return QPen(colour, width, style)

    def _box(self, rect: QRectF, pen: QPen, brush: QBrush | QColor | Qt.BrushStyle) -> None:
        """Draw a rectangle with its edge inside."""
        inset = pen.widthF() / 2
        self.p.setPen(pen)
        self.p.setBrush(brush)
        self.p.drawRect(rect.adjusted(inset, inset, -inset, -inset))

    # Lanes

    def _line(self, lane: int) -> None:
        colour = QColor(self._colour(lane))
        chosen = lane == self.current
        if self.current >= 0 and not chosen:
            colour.setAlpha(70)
        width = 0.35 * self.letter if chosen else 0.14 * self.letter
        self.p.setPen(self._pen(self.text if chosen else colour, max(width, 1.0)))
        self.p.drawLine(self.layout.lines[lane])

    def _lane(self, spot: Spot) -> None:
        gap = 0.1 * self.letter
        rect = spot.rect.adjusted(gap, 0, -gap, 0)
        if spot.number in self.layout.lines:
            colour = self._colour(spot.number)
            self._box(rect, self._pen(colour), self._ground(colour))
        else:
            self._resting(rect)
        if spot.number == self.current:
            self._box(rect, self._pen(self.text, 0.35 * self.letter), Qt.BrushStyle.NoBrush)

    def _resting(self, rect: QRectF) -> None:
        self._box(rect, self._pen(self.colours.muted, 1.0, Qt.PenStyle.DotLine), Qt.BrushStyle.NoBrush)

    # Memory

    def _pieces(self) -> None:
        for spot in self.layout.of("piece"):
            self._box(spot.rect, QPen(Qt.PenStyle.NoPen), self._hatch())
        self._used()
        for spot in self.layout.of("piece"):
            self._box(spot.rect, self._pen(self.text), Qt.BrushStyle.NoBrush)
        for spot in self.layout.of("gap"):
            self._gap(spot.rect)

    def _banks(self) -> None:
        conflicts, gap = self.access.banks.conflicts, 0.1 * self.letter
        for bank, place in enumerate(self.layout.banks):
            rect = place.adjusted(gap, 0, -gap, 0)
            if bank in conflicts:
                self._conflict(rect, hatched=self._fitting(place) is None)
                self._number(place, len(conflicts[bank]))
            else:
                self._box(rect, self._pen(self.colours.muted), Qt.BrushStyle.NoBrush)
        self._used()

    def _used(self) -> None:
        """Draw the bytes that lanes use, with lane numbers where they fit and a double frame where lanes share them."""
        for part in self.layout.used:
            colour = self._colour(part.lanes[0])
            self._box(part.rect, self._pen(colour), self._ground(colour))
            if self.current in part.lanes:
                self._box(part.rect, self._pen(self.text, 0.3 * self.letter), Qt.BrushStyle.NoBrush)
            if len(part.lanes) > 1:
                self._twice(part.rect, colour)
            else:
                self._number(part.rect, part.lanes[0])

    def _twice(self, rect: QRectF, colour: QColor) -> None:
        inset = 0.3 * self.letter
        if min(rect.width(), rect.height()) > 3 * inset:
            self._box(rect.adjusted(inset, inset, -inset, -inset), self._pen(colour), Qt.BrushStyle.NoBrush)

    def _hatch(self) -> QBrush:
        return QBrush(self.colours.muted, Qt.BrushStyle.BDiagPattern)

    def _conflict(self, rect: QRectF, hatched: bool = False) -> None:
        """Draw a thick edge around the number of words, or around hatching where the number does not fit."""
        error = self.colours.error.colour
        ground = QBrush(error, Qt.BrushStyle.DiagCrossPattern) if hatched else QBrush(mix(self.base, error, 0.2))
        self._box(rect, self._pen(error, max(0.25 * self.letter, 1.5)), ground)

    def _gap(self, rect: QRectF) -> None:
        """Draw the mark of a gap: two strokes, or one where space is short."""
        strokes = (-0.3, 0.3) if rect.width() > self.letter else (0.0,)
        rise, lean = 0.25 * rect.height(), min(0.3 * self.letter, 0.25 * rect.width())
        self.p.setPen(self._pen(self.colours.muted, max(0.14 * self.letter, 1.0)))
        for stroke in strokes:
            middle = rect.center() + QPointF(stroke * self.letter, 0)
            self.p.drawLine(QLineF(middle.x() - lean, middle.y() + rise, middle.x() + lean, middle.y() - rise))

    # Texts

    def _fitting(self, rect: QRectF) -> QFont | None:
        """The font in which a number fits into a cell; None for a cell too small for two digits, so that either all
        numbers are shown or none."""
        for font, room in ((self.font, 0.3 * self.letter), (self.tiny, 0.0)):
            metrics = QFontMetricsF(font)
            if metrics.horizontalAdvance("00") + room <= rect.width() and 0.85 * metrics.height() <= rect.height():
                return font
        return None

    def _number(self, rect: QRectF, number: int) -> None:
        """Draw a number of a lane or of words, where there is space for it."""
        font = self._fitting(rect)
        if font is not None:
            self.p.setFont(font)
            self.p.setPen(self.text)
            self.p.drawText(rect, CENTRE | Qt.TextFlag.TextDontClip, str(number))
            self.p.setFont(self.font)

    def _texts(self) -> None:
        self.p.setPen(self.colours.muted)
        for one in self.layout.numbers:
            self.p.drawText(one.rect, CENTRE | Qt.TextFlag.TextDontClip, one.text)
        for one in self.layout.titles:
            self._elided(one.rect, one.text)
        side = 1.1 * self.metrics.height()
        for sign, rect, text in self.layout.legend:
            self._sign(sign, QRectF(rect.left(), rect.top() + 0.15 * rect.height(), side, 0.7 * rect.height()))
            self.p.setPen(self.colours.muted)
            self._elided(rect.adjusted(1.3 * self.metrics.height(), 0, 0, 0), text)

    def _elided(self, rect: QRectF, text: str) -> None:
        fitted = elided_text(text, self.metrics, rect.width() + 0.5)
        self.p.drawText(rect, LEFT | Qt.TextFlag.TextSingleLine, fitted)

    def _sign(self, sign: Sign, rect: QRectF) -> None:
        colour = self.colours.series[0].colour
        if sign == "unused":
            self._box(rect, self._pen(self.text), self._hatch())
        elif sign == "gap":
            self._gap(rect)
        elif sign == "rest":
            self._resting(rect)
        elif sign == "conflict":
            self._conflict(rect)
        else:
            self._box(rect, self._pen(colour), self._ground(colour))
            if sign == "shared":
                self._twice(rect, colour)

"""What the painted parts of the panel have in common: the reader and the step that they show, cells of a size that
follows the font, and a tool tip for the cell under the mouse."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.base.nesting import bounded
from app.base.theme import TEXT_CONTRAST, colours_of, contrast, mix
from app.base.tips import show_tip
from app.models.xray.block_reader import BlockReader

SERIES = 7
"""The number of the theme's colours to cycle through; the eighth is the colour of text."""


class CellsView(QWidget):
    """Paints cells of a block after a step."""

    def __init__(self, name: str, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.reader: BlockReader | None = None
        self.step = 0
        self.adapt()

    def show_step(self, reader: BlockReader | None, step: int) -> None:
        """Show this step; None: nothing."""
        other = reader is not self.reader
        self.reader, self.step = reader, step
        self.prepare()
        if other:
            self.updateGeometry()
            self.setMinimumSize(self.minimumSizeHint())
        self.update()

    # Overridden by every view

    def prepare(self) -> None:
        """Look up what is painted."""

    def paint(self, painter: QPainter) -> None:
        """Paint everything."""
        raise NotImplementedError

    def tip(self, at: QPointF) -> str:
        """What is known about the place under the mouse."""
        return ""

    # Shared

    def adapt(self) -> None:
        """Take the font and the palette; painting thousands of cells has no time to look them up for each."""
        metrics = QFontMetricsF(self.font())
        self.letter, self.row_height = metrics.averageCharWidth(), float(round(1.25 * metrics.height()))
        self.colours = colours_of(self.palette())
        self.text, self.base = (
            self.palette().color(role) for role in (QPalette.ColorRole.Text, QPalette.ColorRole.Base)
        )
        self._grounds: dict[tuple[int, float], QColor] = {}

    def ground(self, colour: QColor, share: float = 0.5) -> QColor:
        """A light version of a colour, on which text is readable."""
        key = colour.rgba(), share
        if key not in self._grounds:
            ground = mix(self.base, colour, share)
            while contrast(ground, self.text) < TEXT_CONTRAST and share > 0:
                share -= 0.02
                ground = mix(self.base, colour, max(share, 0.0))
            self._grounds[key] = ground
        return self._grounds[key]

    def series(self, number: int) -> QColor:
        return self.colours.series[number % SERIES].colour

    def box(
        self, painter: QPainter, rect: QRectF, edge: QColor, fill: QColor | Qt.BrushStyle, width: float = 1.0
    ) -> None:
        """Draw a rectangle with its edge inside."""
        painter.setPen(QPen(edge, width))
        painter.setBrush(fill)
        painter.drawRect(rect.adjusted(width / 2, width / 2, -width / 2, -width / 2))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    @bounded
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setClipRect(event.rect())
        painter.fillRect(event.rect(), self.base)
        if self.reader is not None:
            self.paint(painter)
        painter.end()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange):
            self.adapt()
            self.setMinimumSize(self.minimumSizeHint())
            self.update()

    @bounded
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.tip(QPointF(event.pos())) if self.reader is not None else ""
            show_tip(event.globalPos(), text, self)
            return True
        return super().event(event)

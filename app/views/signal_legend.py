"""The legend of curves: how each is drawn, what it is called, and the mark of what is simulated."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.models.curve import Curve
from app.models.origin import Origin
from app.views.parts import ElidedLabel, MarkChip, StateChip, is_dark, mark_size, mark_texts

# Okabe and Ito's colours, darker on white and lighter on black, each with a dash of its own.
LIGHT = ((0, 0, 0), (0, 114, 178), (190, 80, 0), (0, 130, 95), (180, 80, 140), (140, 110, 0))
DARK = ((240, 240, 240), (86, 180, 233), (255, 150, 50), (0, 200, 140), (225, 140, 190), (240, 228, 66))
DASHES: tuple[tuple[float, ...], ...] = ((), (8, 4), (2, 3), (10, 3, 2, 3), (16, 4), (6, 3, 2, 3, 2, 3))

FAINT = 90


def pen(index: int, dark: bool, dashed: bool = True, faint: bool = False) -> QPen:
    """The pen of the curve at `index`: cosmetic, one pixel; `faint` for what is of an earlier choice."""
    colour = QColor(*(DARK if dark else LIGHT)[index % len(LIGHT)])
    colour.setAlpha(FAINT if faint else 255)
    made = QPen(colour, 1)
    made.setCosmetic(True)
    dash = DASHES[index % len(DASHES)]
    if dash and dashed:
        made.setDashPattern(list(dash))
    return made


class LegendEntry(QWidget):
    """A sample of the line, the name, elided where it does not fit, and the mark of what is simulated."""

    def __init__(self, index: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.index = index
        self._faint = False
        self.label = ElidedLabel(parent=self)
        self.chip = MarkChip(self)
        self.verdict = StateChip(self)
        unit = self.fontMetrics().averageCharWidth()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(unit * 6, 0, 0, 0)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.chip)
        layout.addWidget(self.verdict)
        layout.addStretch(0)

    def show_curve(self, curve: Curve) -> None:
        """Its name and mark; hidden with it."""
        self.label.setText(curve.name)
        self.chip.show_texts(mark_texts(Origin(True), None)[0] if curve.mark else "", curve.mark)
        self.verdict.show_state(curve.state if curve.visible else None, curve.verdict)
        self._faint = not curve.current
        self.setAccessibleName(" · ".join(t for t in (curve.name, curve.mark, self.verdict.text) if t))
        self._fit_mark()
        sides = QSizePolicy.Policy  # the mark stands beside the name, not at the end of the column
        beside = bool(curve.mark or curve.state)
        self.label.setSizePolicy(sides.Maximum if beside else sides.Expanding, sides.Fixed)
        self.setVisible(curve.visible)

    def least_width(self) -> int:
        """The width at which the beginning of the name can be read beside the shortest mark."""
        mark = self.chip.minimumSizeHint().width() if self.chip.text else 0
        return self.fontMetrics().averageCharWidth() * 22 + mark + self.verdict.least_width()

    def _fit_mark(self) -> None:
        """All of the mark only where it leaves the name whole."""
        self.chip.set_compact(self.width() < self.sizeHint().width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_mark()

    def sizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        mark = mark_size(self.chip, self.chip.text) if self.chip.text else QSize(0, 0)
        width = unit * 8 + self.fontMetrics().horizontalAdvance(self.label.text()) + mark.width()
        width += self.verdict.least_width()
        return QSize(width, max(self.fontMetrics().height(), mark.height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        line = pen(self.index, is_dark(self.palette()), faint=self._faint)
        line.setWidth(2)
        if DASHES[self.index]:
            line.setDashPattern([d / 2 for d in DASHES[self.index]])  # in pen widths
        painter.setPen(line)
        middle = self.height() / 2
        painter.drawLine(QPointF(0, middle), QPointF(self.fontMetrics().averageCharWidth() * 5, middle))
        painter.end()

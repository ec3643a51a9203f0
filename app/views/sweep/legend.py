"""The legend of a plot: names and strokes of lines under headings, such as one for each device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, QPointF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.models.timing.sweep import Sweep
from app.views.parts import ElidedLabel
from app.views.sweep.plot import LineStyle, look
from app.views.sweep.text import group_title, line_title
from gpu_ops.report.sweeps import Line

STROKE = 6
"""The length of a line's sample, in letters."""
LETTERS = 24
"""The number of letters of a name that are always readable."""


class LegendLine(ElidedLabel):
    """A sample of the line with its symbol, and the name, shortened if it does not fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.look: LineStyle | None = None
        self.setIndent(0)
        self.setContentsMargins((STROKE + 1) * self.fontMetrics().averageCharWidth(), 0, 0, 0)

    def sizeHint(self) -> QSize:  # noqa: N802
        hint, unit = super().sizeHint(), self.fontMetrics().averageCharWidth()
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + (STROKE + 3) * unit, hint.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Wide enough for most names."""
        hint = self.sizeHint()
        return QSize(min(hint.width(), (STROKE + LETTERS) * self.fontMetrics().averageCharWidth()), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        unit = self.fontMetrics().averageCharWidth()
        self.setContentsMargins((STROKE + 1) * unit, 0, 0, 0)
        super().paintEvent(event)
        if self.look is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self.look.pen())
        middle = self.height() / 2
        if self.look.joined:
            painter.drawLine(QPointF(0, middle), QPointF(STROKE * unit, middle))
        if self.look.symbol:
            painter.translate(STROKE * unit / 2, middle)
            painter.scale(1.3 * unit, 1.3 * unit)
            painter.setPen(self.look.outline())
            painter.setBrush(self.look.filling)
            painter.drawPath(pg.graphicsItems.ScatterPlotItem.Symbols[self.look.symbol])
        painter.end()


Groups = Sequence[tuple[str, Sequence[tuple[str, LineStyle]]]]
"""Headings, each with names and looks of lines."""


class Legend(QWidget):
    """One column next to the plot, or as many as fit below it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        unit = self.fontMetrics().averageCharWidth()
        self._grid.setContentsMargins(unit, unit, unit, unit)
        self._grid.setVerticalSpacing(unit // 2)
        self._headings: list[ElidedLabel] = []
        self._entries: list[LegendLine] = []
        self._groups: Groups = ()
        self._columns = 1

    def texts(self) -> list[str]:
        """Headings and names, in order."""
        return [text for title, lines in self._groups for text in (title, *(name for name, _ in lines))]

    def show_groups(self, groups: Groups) -> None:
        """Name these lines."""
        self._groups = groups
        self._arrange()

    def set_columns(self, columns: int) -> None:
        """The number of columns of names."""
        if columns != self._columns:
            self._columns = columns
            self._arrange()

    def _arrange(self) -> None:
        while len(self._headings) < len(self._groups):
            self._headings.append(ElidedLabel(parent=self))
        count = sum(len(lines) for _, lines in self._groups)
        while len(self._entries) < count:
            self._entries.append(LegendLine(self))
        for widget in (*self._headings, *self._entries):
            self._grid.removeWidget(widget)
            widget.hide()
        row, place = 0, 0
        for heading, (title, lines) in zip(self._headings, self._groups, strict=False):
            heading.setText(title)
            heading.show()
            self._grid.addWidget(heading, row, 0, 1, self._columns)
            row += 1
            for at, (name, shown) in enumerate(lines):
                entry = self._entries[place]
                self._fill(entry, name, shown)
                self._grid.addWidget(entry, row + at // self._columns, at % self._columns)
                place += 1
            row += -(-len(lines) // self._columns)
        for at in range(self._grid.rowCount()):
            self._grid.setRowStretch(at, 0)
        self._grid.setRowStretch(row, 1)
        self.setVisible(bool(self._groups))

    def _fill(self, entry: LegendLine, name: str, look: LineStyle) -> None:
        entry.look = look
        entry.setText(name)
        entry.setAccessibleName(name)
        entry.show()
        entry.update()


class SweepLegend(Legend):
    """The lines of a sweep under a heading for each device."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sweepLegend")
        self._sweep: Sweep | None = None

    def show_sweep(self, sweep: Sweep | None) -> None:
        """Name the lines of this sweep."""
        self._sweep = sweep
        groups: dict[str, list[tuple[str, LineStyle]]] = {}
        for title, line in _titled(sweep) if sweep else ():
            assert sweep is not None
            shown = line_title(sweep, line), look(sweep, line, self.palette())
            groups.setdefault(title, []).append(shown)
        self.show_groups(list(groups.items()))

    def refresh(self) -> None:
        """Update colours and letters."""
        self.show_sweep(self._sweep)


def _titled(sweep: Sweep) -> Iterator[tuple[str, Line]]:
    """Every line with its heading: lines of times, and those with only an occupancy."""
    timed = sweep.lines()
    yield from ((group_title(line), line) for line in timed)
    there = {line.variant for line in timed if not line.cpu}
    text = QCoreApplication.translate("Sweep", "occupancy on {gpu}, no times").format(gpu=sweep.occupied.architecture)
    yield from ((text, line) for line in sweep.occupied_lines() if line.variant not in there)

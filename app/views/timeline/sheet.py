"""The exported picture of timelines: the meaning of the times, the legend, and the lanes of all variants."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of
from app.controllers.timeline import Timelines
from app.models.pictures.plane import Plane
from app.models.timing.timelines import Look
from app.views.boxes import in_column, in_row
from app.views.charts.plot_area import PlotArea, ranges
from app.views.charts.spans_plot import SpansPlot, fill_look, look_colour
from app.views.flow import FlowLayout
from app.views.labels import sentence_label
from app.views.picture_file import NO_FACTS, Facts, export_sheet
from app.views.scrolled import Squeezed
from app.views.timeline.text import basis_text, lanes_of, look_names

ROW, TALLEST = 1.35, 2.5
"""The minimum and the maximum height of a lane, in lines."""
AXIS = 3.5
"""The height of the time axis, in lines."""


class Swatch(QWidget):
    """The colour and the pattern of each engine that executes steps."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self) -> QSize:  # noqa: N802
        height = self.fontMetrics().height()
        return QSize(round(1.6 * height), round(0.8 * height))

    minimumSizeHint = sizeHint  # noqa: N815

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter, height = QPainter(self), self.sizeHint().height()
        box = QRectF(0, (self.height() - height) / 2, self.width() - 1, height - 1)
        colours, base = colours_of(self.palette()), self.palette().color(QPalette.ColorRole.Base)
        fill_look(painter, box, self._look, look_colour(self._look, colours), base)
        painter.end()


class TimelineSheet(Squeezed):
    """Shows the lanes of timelines; the chart grows with their number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timelineSheet")
        self.setAutoFillBackground(True)
        self.plot = SpansPlot()
        self.plane = Plane(self, upward=False)
        self.basis, self.notes = (sentence_label(name, self, True) for name in ("timelineBasis", "timelineNotes"))
        self.chart = PlotArea(self.plot, self.plane, self)
        self.chart.setAccessibleName(self.tr("Timelines"))
        gap = self.fontMetrics().averageCharWidth()
        legend = FlowLayout(gap=2 * gap)
        self.legend: dict[Look, QWidget] = {}
        for look, name in look_names().items():
            pair = self.legend[look] = QWidget(self)
            in_row(Swatch(look, pair), QLabel(name, pair), on=pair, gap=gap // 2)
            legend.addWidget(pair)
        in_column(self.basis, legend, (self.chart, 1), self.notes, 0, on=self, margins=(gap, gap // 2, gap, gap // 2))
        self._facts: dict[str, str] = {}
        self._input: object = None
        self.show_timelines(None, "", True)

    def show_timelines(self, shown: Timelines | None, notes: str, current: bool) -> None:
        """Show these timelines; if they are of another input, or in another unit, reset the range. `current` tells
        whether they match the current settings."""
        before, basis = self.chart.drawn, basis_text(shown) if shown else ""
        lanes, input = lanes_of(shown) if shown else None, shown.input if shown else None
        fresh, self._input = input is not self._input, input
        one = next(iter(shown.found.values()), None) if shown else None
        self._facts = {"filter": one.filter, "device": one.device} if one else {}
        for label, text in ((self.basis, basis), (self.notes, notes)):
            label.setText(text)
            label.setVisible(bool(text))
        filled = lanes if lanes is not None and lanes.rows else None
        self.chart.setVisible(filled is not None)
        if filled is not None and (fresh or filled != before):
            self.plane.set_limits(*ranges(self.plot, [filled], ""))
            if fresh or before is None or before.unit != filled.unit:
                self.plane.fit()
        self.chart.show_drawn(filled, "", current)
        used = {piece.look for piece in filled.pieces} if filled else set()
        for look, pair in self.legend.items():
            pair.setVisible(look in used)
        texts = [row.text for row in filled.rows if row.heading] if filled else []
        self.chart.setAccessibleDescription("\n".join([basis, *texts]))
        self._fit()

    def export(self, path: str, facts: Facts = NO_FACTS) -> None:
        """Write the picture, as SVG if the name ends so and else as PNG, with metadata. Raises InputError if the file
        cannot be written."""
        export_sheet(self, path, self.tr("Timelines"), facts or self._facts)

    def _fit(self) -> None:
        rows = len(self.chart.drawn.rows) if self.chart.drawn is not None else 0
        line = self.fontMetrics().height()
        self.chart.setMinimumHeight(round((ROW * rows + AXIS) * line))
        self.chart.setMaximumHeight(round((TALLEST * rows + AXIS) * line))

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "chart"):
            self._fit()

"""The values along a line as curves, in the colours of the results."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from app.models.curves.curve import Trace
from app.models.curves.stroke import input_stroke, variant_stroke
from app.models.experiment.shown import variant_of
from app.models.pictures.probe import Line
from app.models.pictures.profile import axis_of, profile, steps
from app.models.pictures.region_figures import Sampled
from app.models.results.view_data import INPUT, Array
from app.views.boxes import in_column
from app.views.curves.signal_pane import SignalPane
from app.views.scrolled import Scrolled
from gpu_ops.output_kinds import Axis
from gpu_ops.types import Filter, Pixel

LEAST = 6
"""The minimum height of the plot in lines of text; with less space it scrolls."""


class ProfilePlot(QWidget):
    """A SignalPane with a curve for the input and each result, and for each channel of a colour picture. Zoom and
    cursor work as with signals; another line resets the zoom.

    `pointed(place)`: the cursor reads the values at (x, y) of the picture, or None.
    """

    pointed = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("profilePlot")
        self.pane = SignalPane(self)
        self.pane.plot.setAccessibleName(self.tr("Values along the line"))
        self.names: list[str] = []
        self.values: Array = np.zeros((0, 0))
        self.axis = Axis("")
        self._line: Line | None = None
        self.pane.plane.cursor_moved.connect(self._point)
        self.pane.plot.setMinimumHeight(LEAST * self.fontMetrics().height())
        in_column(Scrolled(self.pane, self), on=self)

    def show_line(self, sources: Sequence[Sampled], line: Line, pixel: Pixel | None, filter: Filter) -> None:
        """Show the values of each source along a line."""
        known = {variant.id for variant in filter.all_variants}
        shown = [source for source in sources if source.key == INPUT or variant_of(source.key) in known]
        self.axis = axis_of(line, pixel)
        self.names, columns, traces = [], [], []
        for source in shown:
            values = profile(source, line)
            for place, channel in enumerate(source.channels):
                name = f"{source.title}, {channel}" if channel else source.title
                own = source.key == INPUT
                stroke = input_stroke(place) if own else variant_stroke(filter, source.key, place)
                column = np.ascontiguousarray(values[:, place])
                self.names.append(name)
                columns.append(column)
                traces.append(Trace(name, column, self.axis, stroke=stroke, key=source.key, unit=source.unit))
        self.values = np.stack(columns, axis=1) if columns else np.zeros((steps(line), 0))
        self.pane.set_curves(traces)
        for source in shown:
            self.pane.set_state(source.key, None, "", source.current)
        if line != self._line:
            self._line = line
            self.pane.set_cursor(None)  # the cursor read another position
            self.pane.fit()

    @Slot()
    def _point(self) -> None:
        """Report the cursor's new position, or that it has left."""
        line, x = self._line, self.pane.cursor_x
        if line is None or x is None:
            self.pointed.emit(None)
            return
        share = min(max(x / (self.axis.step * (steps(line) - 1)), 0.0), 1.0)
        self.pointed.emit((line.x0 + share * (line.x1 - line.x0), line.y0 + share * (line.y1 - line.y0)))

    def clear(self) -> None:
        """Release the curves."""
        self.pane.set_cursor(None)
        self.names, self.values, self._line = [], np.zeros((0, 0)), None
        self.pane.set_curves([])

    def as_text(self, separator: str) -> str:
        """The distances and the values in full, a column for each curve; empty cells where a result has no value."""
        out = io.StringIO()
        writer = csv.writer(out, delimiter=separator, lineterminator="\n")
        writer.writerow([f"distance [{self.axis.unit}]", *self.names])
        for place, row in enumerate(self.values.tolist()):
            words = ["" if value != value else repr(value) for value in row]
            writer.writerow([f"{self.axis.at(place):.10g}", *words])
        return out.getvalue()

"""The theoretical occupancy over what varies, below the times and on the same axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QBrush, QHelpEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.base.numbers import count, percent
from app.base.tips import show_tip
from app.models.timing.occupancy import limiter_name
from app.models.timing.sweep import Sweep
from app.views.sweep.plot import NEAR, WIDEST_SHARE, Axis, look
from app.views.sweep.text import axis_title, value_text
from gpu_ops.devices.occupancy import LaunchOccupancy
from gpu_ops.report.sweeps import Line

SHARES = ((0.0, "0 %"), (0.5, "50 %"), (1.0, WIDEST_SHARE))
LOW, HIGH = -0.08, 1.12
"""The range of shares, with space for the symbols at both ends."""


class _Drawn:
    """The items of one variant, reused because pyqtgraph never frees its items."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self.curve, self.gaps = pg.PlotCurveItem(), pg.PlotCurveItem(connect="pairs")
        self.dots, self.threads = pg.ScatterPlotItem(useCache=False), pg.ScatterPlotItem(useCache=False)
        for item in (self.gaps, self.curve, self.dots, self.threads):
            plot.addItem(item, ignoreBounds=True)

    def show(self, there: bool) -> None:
        for item in (self.gaps, self.curve, self.dots, self.threads):
            item.setVisible(there)


class SweepOccupancy(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """The share of warps that a multiprocessor holds, and below it the share of threads where it is less."""

    def __init__(self, axis: Callable[[int], Axis], parent: QWidget | None = None) -> None:
        """`axis(width)` is what it has in common with the plot of times above."""
        super().__init__(parent)
        self.setObjectName("sweepOccupancy")
        self.setAccessibleName(self.tr("Theoretical occupancy over the varied quantity"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the table of rows has the same content for the keyboard
        self.item = self.getPlotItem()
        self.item.setMenuEnabled(False)
        self.item.hideButtons()
        self.item.showGrid(x=True, y=True, alpha=0.2)
        self.setCacheMode(pg.QtWidgets.QGraphicsView.CacheModeFlag.CacheNone)  # as in the plot of times
        box = self.item.getViewBox()
        box.setMouseEnabled(x=False, y=False)
        box.disableAutoRange()
        box.setDefaultPadding(0)
        self.sweep: Sweep | None = None
        self.lines: tuple[Line, ...] = ()
        self._axis = axis
        self._drawn: list[_Drawn] = []
        self.viewport().setMouseTracking(True)

    def show_sweep(self, sweep: Sweep | None) -> None:
        """Show the occupancy of this sweep as far as it is known."""
        self.sweep = sweep
        self.lines = sweep.occupied_lines() if sweep else ()
        self.refresh()

    def points(self) -> Iterator[tuple[Line, int, LaunchOccupancy]]:
        """All points: whose, at which value, and how full."""
        assert self.sweep is not None
        for line in self.lines:
            for value, held in self.sweep.occupied.points(line.variant):
                yield line, value, held

    def refresh(self) -> None:
        """Draw again."""
        while len(self._drawn) < len(self.lines):
            self._drawn.append(_Drawn(self.item))
        for place, drawn in enumerate(self._drawn):
            drawn.show(place < len(self.lines))
            if place < len(self.lines):
                self._draw(drawn, self.lines[place])
        axis = self._axis(self.width())
        self.item.getViewBox().setRange(xRange=axis.span, yRange=(LOW, HIGH), padding=0)
        self._dress(axis)

    def _draw(self, drawn: _Drawn, line: Line) -> None:
        assert self.sweep is not None
        points, own = self.sweep.occupied.points(line.variant), look(self.sweep, line, self.palette())
        x = np.log10([value for value, _ in points])
        warps = np.array([held.occupancy.share for _, held in points])
        threads = np.array([held.share for _, held in points])
        size, less = 1.3 * self.fontMetrics().averageCharWidth(), threads < warps
        drawn.curve.setData(x, warps, pen=own.pen())
        drawn.dots.setData(x, warps, symbol=own.symbol, size=size, pen=own.outline(), brush=QBrush(own.filling))
        drawn.threads.setData(x[less], threads[less], symbol="o", size=size, pen=own.outline(), brush=None)
        ends = np.column_stack([warps[less], threads[less]]).ravel()
        drawn.gaps.setData(np.repeat(x[less], 2), ends, connect="pairs", pen=_dotted(own.outline()))

    def _dress(self, axis: Axis) -> None:
        """Set ticks and titles in the present font and colours."""
        self.setBackground(self.palette().base())
        text, size = self.palette().text().color(), f"{self.font().pointSizeF():g}pt"
        titles = {"left": self.tr("occupancy"), "bottom": axis_title(self.sweep) if self.sweep else ""}
        ticks: dict[str, Sequence[tuple[float, str]]] = {"left": SHARES, "bottom": axis.ticks}
        for side, title in titles.items():
            one = self.item.getAxis(side)
            one.setPen(text)
            one.setTextPen(text)
            one.setStyle(tickFont=self.font(), hideOverlappingLabels=False)
            one.enableAutoSIPrefix(False)  # places are logarithms, of which the label would name a factor
            one.setTicks([ticks[side]])
            one.setLabel(title, **{"font-size": size})
        self.item.getAxis("left").setWidth(axis.left)
        self.item.getAxis("bottom").setHeight(2.6 * self.fontMetrics().height())

    def words_at(self, position: QPoint) -> str:
        """The points near a place of the viewport, in words: variants often share one."""
        if self.sweep is None:
            return ""
        box, reach = self.item.getViewBox(), NEAR * self.fontMetrics().averageCharWidth()
        texts = []
        for line, value, held in self.points():
            for share in {held.occupancy.share, held.share}:
                apart = box.mapViewToScene(QPointF(math.log10(value), share)) - self.mapToScene(position)
                if math.hypot(apart.x(), apart.y()) <= reach:
                    texts.append(self._words(line, value, held))
        return "\n".join(dict.fromkeys(texts))

    def _words(self, line: Line, value: int, held: LaunchOccupancy) -> str:
        assert self.sweep is not None
        o = held.occupancy
        text = self.tr(
            "{title}, {value}: {share} – {warps} of {most} warps, {threads} of {all} threads, limited by {limiter}"
        )
        figures = {"warps": o.warps, "most": o.most, "threads": held.resident, "all": held.most}
        numbers = {name: count(number) for name, number in figures.items()}
        words = {"title": self.sweep.title(line.variant), "value": value_text(self.sweep, value)}
        return str(text.format(share=percent(o.share), limiter=limiter_name(o.limiter), **words, **numbers))

    # Events

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            show_tip(event.globalPos(), self.words_at(event.pos()), self)
            return True
        return bool(super().viewportEvent(event))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if hasattr(self, "_drawn"):
            self.refresh()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_drawn"):
            self.refresh()

    def sizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().height()
        return QSize(24 * unit, 9 * unit)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().height()
        return QSize(12 * unit, 8 * unit)


def _dotted(pen: QPen) -> QPen:
    pen.setStyle(Qt.PenStyle.DotLine)
    return pen

"""Every kind of chart has the same gestures: wheel, drag, double-click and keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from test_occupancy_view import kernel
from test_sweep import crossing_sweep, held

from app.models.curves.curve import Trace
from app.models.pictures.display import Display
from app.models.pictures.plane import Plane
from app.models.results.marks import Mark, Marked
from app.models.timing.laws import law_pictures
from app.views.charts.bars_plot import BarsPlot
from app.views.charts.chart import ZOOM, Chart
from app.views.charts.heat_area import HeatArea
from app.views.charts.levels_plot import LevelsPlot
from app.views.charts.plot_area import PlotArea
from app.views.charts.spans_plot import SpansPlot
from app.views.curves.signal_pane import SignalPane
from app.views.sweep.figure_plot import FigurePlot
from app.views.sweep.law_sheet import LawSheet
from app.views.sweep.occupancy_plot import SweepOccupancy
from app.views.sweep.panel import SweepSheet
from app.views.sweep.plot import SweepPlot
from app.views.xray.occupancy_view import BlockSizes
from gpu_ops import draw_figures, find_filter, recorded_steps
from gpu_ops.input_kinds import time_axis


def curves() -> tuple[QWidget, Chart]:
    pane = SignalPane()
    pane.set_curves([Trace("a", np.sin(np.arange(1000.0)), time_axis(100.0))])
    return pane, pane.plot


def sweep(kind: type[Chart]) -> tuple[QWidget, Chart]:
    sheet, found = SweepSheet(), crossing_sweep()
    for threads in (16, 1024):
        found.occupied.put(threads, {"naive": held(threads, 1024 // threads)})
    sheet.show_sweep(found)
    return sheet, sheet.findChild(kind)


def laws() -> tuple[QWidget, Chart]:
    sheet = LawSheet()
    sheet.show_picture(law_pictures(find_filter("reduce1d"), recorded_steps(), ())[0])
    return sheet, sheet.speedup


def figure() -> tuple[QWidget, Chart]:
    plot = FigurePlot()
    plot.show_figure(draw_figures({})[0])
    return plot, plot


def blocks() -> tuple[QWidget, Chart]:
    view = BlockSizes()
    view.show_kernel(kernel("sm_90", 128, 40, 20000), "sm_90")
    return view, view.plot


def area(plot: Any) -> tuple[QWidget, Chart]:
    plane = Plane(upward=False)
    plane.set_limits((0.0, 100.0, 1.0), (0.0, 1.0, 1.0))
    chart = PlotArea(plot, plane)
    return chart, chart


def colours() -> tuple[QWidget, Chart]:
    plane = Plane()
    plane.set_limits((0.0, 100.0, 1.0), (0.0, 50.0, 1.0))
    chart = HeatArea(plane, Display())
    return chart, chart


KINDS: dict[str, Callable[[], tuple[QWidget, Chart]]] = {
    "curves": curves,
    "sweep": lambda: sweep(SweepPlot),
    "occupancy of a sweep": lambda: sweep(SweepOccupancy),
    "laws": laws,
    "figure": figure,
    "block sizes": blocks,
    "bars": lambda: area(BarsPlot()),
    "levels": lambda: area(LevelsPlot()),
    "spans": lambda: area(SpansPlot()),
    "plane": colours,
}


@pytest.fixture(params=KINDS)
def chart(qtbot: Any, request: pytest.FixtureRequest) -> Iterator[Chart]:
    part, chart = KINDS[request.param]()
    around = QWidget()
    QVBoxLayout(around).addWidget(part)
    qtbot.addWidget(around)
    around.resize(800, 500)
    around.show()
    qtbot.waitExposed(around)
    chart.show()
    qtbot.wait(1)
    yield chart


def seen(chart: Chart) -> tuple[float, ...]:
    return *chart.frame().across, *chart.frame().upward


def wheel(chart: Chart, at: QPointF, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    none, up = Qt.MouseButton.NoButton, QPoint(0, 120)
    event = QWheelEvent(at, at, QPoint(), up, none, keys, Qt.ScrollPhase.NoScrollPhase, False)
    QApplication.sendEvent(chart.viewport(), event)


def test_gestures_are_the_same_in_every_chart(chart: Chart, qtbot: Any) -> None:
    whole, middle = seen(chart), chart.frame().box.center()
    place = chart.frame().place(middle)
    wheel(chart, middle)
    start, stop = chart.frame().across
    assert stop - start == pytest.approx((whole[1] - whole[0]) / ZOOM)
    assert chart.frame().place(middle)[0] == pytest.approx(place[0], abs=0.01 * (whole[1] - whole[0]))
    QTest.mousePress(chart.viewport(), Qt.MouseButton.LeftButton, pos=middle.toPoint())
    QTest.mouseMove(chart.viewport(), middle.toPoint() + QPoint(20, 0))
    qtbot.waitUntil(lambda: chart.frame().across[0] < start)
    QTest.mouseRelease(chart.viewport(), Qt.MouseButton.LeftButton, pos=middle.toPoint() + QPoint(20, 0))
    QTest.keyClick(chart, Qt.Key.Key_0)
    assert seen(chart) == pytest.approx(whole)
    for key in (Qt.Key.Key_Plus, Qt.Key.Key_T):
        QTest.keyClick(chart, key)
        assert seen(chart)[1] - seen(chart)[0] < whole[1] - whole[0]
        QTest.keyClick(chart, Qt.Key.Key_0)
        assert seen(chart) == pytest.approx(whole)
    wheel(chart, middle, Qt.KeyboardModifier.ShiftModifier)
    high = seen(chart)[3] - seen(chart)[2]
    assert (high < whole[3] - whole[2]) == chart.plane.upward
    QApplication.sendEvent(chart, QEvent(QEvent.Type.Leave))
    assert chart.plane.cursor is None


def test_places_are_marked_over_any_chart(chart: Chart) -> None:
    (start, stop), (low, high) = chart.frame().across, chart.frame().upward
    middle = (start + stop) / 2, (low + high) / 2
    chart.show_tags([(*middle, "first"), (*middle, "beneath"), (2 * stop - start, high, "out of view")])
    assert [(box is not None, text) for _, box, text in chart.named()] == [(True, "first"), (False, "beneath")]
    assert chart.named()[0][0] == chart.frame().box.center()


def test_peaks_of_a_plane_lie_at_their_time_and_frequency(qtbot: Any) -> None:
    around, area = QWidget(), colours()[1]
    area.setParent(around)
    qtbot.addWidget(around)
    assert isinstance(area, HeatArea)
    area.show_marks(Marked((Mark(10.0, 20.0, 5.0), Mark(30.0, 40.0, 7.0)), "Hz"))
    assert area.tags == ((30.0, 40.0, "7 Hz"), (10.0, 20.0, "5 Hz"))

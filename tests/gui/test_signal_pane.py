"""Signals: what is checked are the points handed to the curves."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from lanes import few
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.models.curves.curve import LARGE, Curve, Trace
from app.views.curves.signal_pane import SignalPane
from gpu_ops.input_kinds import time_axis


def shown(qtbot: QtBot, *curves: tuple[str, np.ndarray[Any, Any], float | None, bool]) -> SignalPane:
    pane = SignalPane()
    qtbot.addWidget(pane)
    pane.resize(600, 400)
    pane.show()
    qtbot.waitExposed(pane)
    pane.set_curves([Trace(name, array, time_axis(rate), visible) for name, array, rate, visible in curves])
    settle()
    return pane


def settle() -> None:
    for _ in range(4):
        QApplication.processEvents()


def test_all_is_shown_in_seconds(qtbot: QtBot) -> None:
    y = np.sin(np.arange(500) / 10)
    pane = shown(qtbot, ("sine", y, 100.0, True))
    assert pane.view_range() == pytest.approx((0, 4.99))
    assert np.array_equal(pane.items[0].yData, y)
    assert pane.items[0].xData[-1] == pytest.approx(4.99)
    assert "time (s)" in pane.plot.item.getAxis("bottom").labelString()
    pane.set_range(0, 0.05)
    assert "time (ms)" in pane.plot.item.getAxis("bottom").labelString()
    pane.fit()
    low, high = pane.plot.box.viewRange()[1]
    assert low < -0.99 and high > 0.99


def test_without_a_rate_samples_count(qtbot: QtBot) -> None:
    pane = shown(qtbot, ("a", np.arange(50, dtype=np.uint8), None, True))
    assert pane.view_range() == (0, 49) and "sample" in pane.plot.item.getAxis("bottom").labelText


def test_ten_million_samples(qtbot: QtBot) -> None:
    y = np.random.default_rng(0).standard_normal(10_000_000).astype(np.float32)
    y[7_654_321] = 50
    pane = shown(qtbot, ("long", y, 1000.0, True))
    assert len(pane.items[0].xData) <= 2 * pane.plot.box.width() + 2
    qtbot.waitUntil(lambda: pane.items[0].yData.max() == 50)
    assert pane.curves[0].sharp and len(pane.items[0].xData) <= 2 * pane.plot.box.width() + 2
    pane.set_range(7654.0, 7655.0)
    settle()
    assert pane.items[0].yData.max() == 50 and pane.items[0].xData[0] >= 7653.9


class Paintings(QObject):
    """Counts the paintings of a widget, and whether the pane had the right points each time."""

    def __init__(self, pane: SignalPane) -> None:
        super().__init__(pane)
        self.count, self.settled, self._pane = 0, True, pane
        pane.plot.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.count, self.settled = self.count + 1, self.settled and self._pane.plot.settled
        return False


def test_a_move_is_painted_once_with_the_points_it_shows(qtbot: QtBot) -> None:
    y = np.tile(np.array([-1.0, 1.0], np.float32), 500_000)  # the y range stays, so the axis keeps its width
    pane = shown(qtbot, ("a", y, 1000.0, True))
    pane.set_range(100, 200)
    settle()
    watched = Paintings(pane)
    for turn in range(1, 6):
        pane.plane.pan(2.0, 0.0)
        assert pane.items[0].xData[0] == pytest.approx(100 + 2 * turn, abs=0.2)
        settle()
        assert watched.count == turn
    assert watched.settled


def test_a_plot_that_changes_its_size_gets_new_points(qtbot: QtBot) -> None:
    pane = shown(qtbot, ("a", np.sin(np.arange(100_000.0)), None, True))
    before = len(pane.items[0].xData)
    pane.resize(900, 400)
    settle()
    assert pane.plot.settled and len(pane.items[0].xData) > before + 400


def test_buckets_are_kept_while_the_samples_are_the_same(qtbot: QtBot) -> None:
    whole = np.random.default_rng(0).standard_normal((LARGE + 1, 2)).astype(np.float32)
    curve = Curve()
    with qtbot.waitSignal(curve.changed):
        curve.set_signal("a", whole[:, 1], time_axis(10.0), True)
    first = curve.pyramid
    assert curve.sharp and first is not None
    curve.set_signal("b", whole[:, 1], time_axis(10.0), True)
    assert curve.pyramid is first and curve.sharp and curve.name == "b"
    for other in (whole[:, 0], whole.copy()[:, 1]):
        with qtbot.waitSignal(curve.changed):
            curve.set_signal("c", other, time_axis(10.0), True)
            assert curve.pyramid is not first and not curve.sharp


def test_each_pixel_of_a_logarithmic_axis_has_its_least_and_greatest_sample(qtbot: QtBot) -> None:
    curve = Curve()
    curve.set_signal("a", np.arange(20_001.0), time_axis(1.0), True)
    x, y = curve.points(10.0, 10_000.0, 30, log=True)
    inside = (x >= 10) & (x < 10_000)
    assert np.allclose(
        np.unique(np.floor(10 * np.log10(x[inside]) + 1e-9), return_counts=True), [range(10, 40), [2] * 30]
    )


def test_memory_given_to_another_array_is_not_taken_for_the_same_samples(qtbot: QtBot) -> None:
    memory = bytearray(8 * 5000)
    curve = Curve()
    for cut in (lambda a: a, lambda a: a.reshape(5000, 1)[:, 0]):
        curve.set_signal("a", cut(np.ndarray(5000, np.float64, memory)), time_axis(None), True)
        before = curve.pyramid
        curve.set_signal("a", cut(np.ndarray(5000, np.float64, memory)), time_axis(None), True)
        assert curve.pyramid is not before


def test_not_finite_samples_leave_gaps(qtbot: QtBot) -> None:
    y = np.ones(100)
    y[40:50] = np.nan
    pane = shown(qtbot, ("a", y, None, True))
    assert pane.items[0].opts["connect"] == "finite" and not pane.items[0].opts["skipFiniteCheck"]
    pane.set_curves([Trace("a", np.ones(100), time_axis(None))])
    assert pane.items[0].opts["connect"] == "all" and pane.items[0].opts["skipFiniteCheck"]


def test_the_place_that_is_heard(qtbot: QtBot) -> None:
    pane = shown(qtbot, ("a", np.zeros(1000), 10.0, True))
    assert not pane.plot.heard.isVisible()
    pane.set_heard(12.5)
    assert pane.plot.heard.isVisible() and pane.plot.heard.value() == 12.5 and pane.cursor_x is None
    assert min(pane.plot.heard.zValue(), pane.plot.line.zValue()) > max(item.zValue() for item in pane.items)
    pane.set_heard(None)
    assert not pane.plot.heard.isVisible()


def test_the_wheel_zooms_time_at_the_cursor(qtbot: QtBot) -> None:
    pane = shown(qtbot, ("a", np.arange(1000.0), None, True))
    at = QPointF(200, 100)
    before = pane.x_at(at)
    view = pane.plot.viewport()
    none = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    QApplication.sendEvent(view, QWheelEvent(at, view.mapToGlobal(at), QPoint(), QPoint(0, 240), *none, False))
    start, stop = pane.view_range()
    assert stop - start == pytest.approx(999 / 1.25**2) and pane.x_at(at) == pytest.approx(before)
    settle()
    low, high = pane.plot.box.viewRange()[1]
    assert high - low < 999 / 1.25  # y follows what is visible


def test_drag_and_keys(qtbot: QtBot) -> None:
    pane = shown(qtbot, ("a", np.arange(1000.0), None, True))
    view = pane.plot.viewport()
    pane.set_range(0, 500)
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(300, 100))
    qtbot.mouseMove(view, QPoint(250, 100))
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=QPoint(250, 100))
    assert pane.view_range()[0] > 20
    qtbot.keyClick(pane.plot, Qt.Key.Key_0)
    assert pane.view_range() == (0, 999)
    qtbot.keyClick(pane.plot, Qt.Key.Key_Plus)
    start, stop = pane.view_range()
    assert stop - start == pytest.approx(999 / 1.25)
    qtbot.keyClick(pane.plot, Qt.Key.Key_Right)
    assert pane.view_range()[0] == pytest.approx(start + 0.1 * (stop - start))
    qtbot.keyClick(pane.plot, Qt.Key.Key_1)
    start, stop = pane.view_range()
    assert stop - start == pytest.approx(pane.plot.box.width())
    qtbot.keyClick(pane.plot, Qt.Key.Key_0)
    assert pane.view_range() == (0, 999)


def test_values_under_the_cursor(qtbot: QtBot) -> None:
    pane = shown(
        qtbot,
        ("one", np.arange(100.0), 10.0, True),
        ("two", -np.arange(100.0), 10.0, True),
        ("hidden", np.ones(9), 10.0, False),
    )
    pane.set_cursor(1.2)
    assert pane.status.text() == "time 1.2 s   one 12   two −12"
    qtbot.keyClick(pane.plot, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert "one 13" in pane.status.text()
    qtbot.mouseMove(pane.plot.viewport(), QPoint(200, 100))
    qtbot.waitUntil(lambda: pane.cursor_x == pytest.approx(pane.x_at(QPointF(200, 100)), abs=0.05))
    pane.set_cursor(None)
    assert pane.status.text() == "100 samples"


def test_the_time_that_is_told_is_that_of_the_sample_that_is_told(qtbot: QtBot) -> None:
    pane = shown(qtbot, ("a", np.arange(100.0), 10.0, True))
    for x, time, value in ((1.24, 1.2, 12), (1.26, 1.3, 13), (-3, 0, 0), (1e6, 9.9, 99)):
        pane.set_cursor(x)
        assert pane.status.text() == f"time {time:g} s   a {value}"
        assert pane.plot.line.value() == pane.cursor_x == pytest.approx(time)
    pane.set_curves([Trace("a", np.arange(100.0), time_axis(None))])
    pane.set_cursor(41.7)
    assert pane.status.text() == "sample 42   a 42" and pane.plot.line.value() == 42


def test_late_times_tell_neighbours_apart(qtbot: QtBot) -> None:
    start = 48_000_000
    pane = shown(qtbot)
    pane.set_curves([Trace("a", np.zeros(10), time_axis(48000.0).cut(start))])
    events = set()
    for sample in range(3):
        pane.set_cursor((start + sample) / 48000)
        events.add(pane.status.text())
    assert len(events) == 3


def test_the_range_survives_new_results(qtbot: QtBot) -> None:
    pane = shown(qtbot, ("a", np.zeros(1000), 10.0, True))
    pane.set_range(20, 30)
    pane.fix_y((-3, 3))
    pane.set_curves([Trace("a", np.ones(1000), time_axis(10.0)), Trace("b", np.ones(1000), time_axis(10.0))])
    settle()
    assert pane.view_range() == (20, 30) and pane.plot.box.viewRange()[1] == [-3, 3]
    pane.set_curves([Trace("a", np.ones(1000), time_axis(None))])
    assert pane.view_range() == (0, 999)  # another unit: the old range means nothing


@pytest.mark.parametrize(
    "y",
    [np.full(100, np.nan), np.full(100, 5.0), np.array([3], np.uint16), np.array([np.inf, 1.0, np.nan, 2.0, -np.inf])],
)
def test_odd_signals(qtbot: QtBot, y: np.ndarray[Any, Any]) -> None:
    pane = shown(qtbot, ("odd", y, None, True))
    pane.grab()
    low, high = pane.plot.box.viewRange()[1]
    assert np.isfinite([low, high]).all() and high > low
    pane.set_cursor(0)


def test_the_legend_names_visible_curves(qtbot: QtBot) -> None:
    pane = shown(qtbot, ("first", np.ones(9), None, True), ("second", np.ones(9), None, False))
    assert [e.isVisible() for e in pane._entries] == [True, False]
    assert pane._entries[0].accessibleName() == "first"


@pytest.mark.parametrize("width", [700, 1000, 1400])
def test_names_in_the_legend_are_whole_where_three_lines_have_room(qtbot: QtBot, width: int) -> None:
    names = ["input", "CPU, one core, lead I", "CPU, one core, lead II", "constant memory, with a long name", "naive"]
    pane = shown(qtbot, *((name, np.ones(9), None, True) for name in names))
    for curve in pane.curves:
        pane.set_state(curve.key, "fresh", "", True)
    pane.resize(width, 400)
    settle()
    labels = [entry.label for entry in pane._entries]
    assert [label.shown_text() for label in labels] == names
    assert len({label.mapTo(pane, QPoint()).y() for label in labels}) <= 3


def test_a_mark_shrinks_before_the_name_is_cut(qtbot: QtBot) -> None:
    axis = time_axis(None)
    names = [f"{k} recomputed per block" for k in range(1, 10)]
    pane = shown(qtbot)
    mark = "simulated · of the middle 256 × 256"  # noqa: RUF001 - the sign of times
    pane.set_curves([Trace(name, np.ones(9), axis, True, mark, key=name) for name in names])
    for name in names:
        pane.set_state(name, "fresh", "", True)
    marks = set()
    for width in (1600, 900, 760, 640):
        pane.resize(width, 400)
        settle()
        found = [entry for entry in pane._entries if entry.isVisible()]
        assert [entry.label.shown_text() for entry in found] == names, width
        marks |= {entry.chip.shown_text() for entry in found}
    assert marks == {mark, "simulated", ""}


@pytest.mark.parametrize("count", few((12, 300), 12))
def test_results_leave_nothing_behind(qtbot: QtBot, count: int) -> None:
    y = [np.random.default_rng(i).standard_normal(300) for i in range(2)]
    pane = shown(qtbot, ("a", y[0], 10.0, True), ("b", y[1], 10.0, True))

    def objects() -> tuple[int, int, int, int]:
        gc.collect()
        alive = sum(issubclass(type(o), QObject) for o in gc.get_objects())
        return alive, len(QApplication.topLevelWidgets()), len(pane.findChildren(QWidget)), len(pane.plot.items())

    def results(count: int) -> None:
        for index in range(count):
            rate = time_axis(10.0)
            both = [Trace("a", y[index % 2], rate), Trace("b", y[1 - index % 2], rate, index % 3 > 0)]
            pane.set_curves(both[: 1 + index % 2])
            settle()
        pane.set_curves([Trace("a", y[0], time_axis(10.0)), Trace("b", y[1], time_axis(10.0))])
        pane.grab()

    results(10)  # what is made once
    objects()  # looking makes Python objects too
    before = objects()
    results(count)
    assert objects() == before

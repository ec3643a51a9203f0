"""Channels of signals: over each other, in lanes, or one by one, with their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from result_rows import row
from test_belonging import engine, finish, run, verify

from app.models.curves.lanes import ChannelChoice, Lanes
from app.models.results.marks import marks_of
from app.models.results.view_data import INPUT, OutputData
from app.views.curves.channel_bar import ChannelBar
from app.views.curves.curve_view import CurveView
from app.views.window.main_window import MainWindow
from gpu_ops.engine.messages import ResultRequest, RunUpdate
from gpu_ops.engine.shared import SharedArray, SharedResult, Statistics
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.output_kinds import Axis, Form, Marks
from gpu_ops.types import Facts, Input

PICKS = ("serial", "parallel")
LEADS = ("I", "II", "V5")


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    made = make(qtbot, FakeEngine())
    made.controller.session.set_filter("mean1d")
    made.controller.session.set_picks(PICKS)
    return made


def settle() -> None:
    for _ in range(4):
        QApplication.processEvents()


def waves(channels: int, samples: int = 200) -> np.ndarray[Any, Any]:
    """Channel c is between 10^c and 3·10^c."""
    phases = np.sin(np.arange(samples)[:, None] / 5 + np.arange(channels))
    return np.asarray(10.0 ** np.arange(channels) * (2 + phases))


def show(window: MainWindow, array: np.ndarray[Any, Any], labels: tuple[str, ...] = (), rate: float = 100.0) -> None:
    axes = "tc" if array.ndim == 2 else "t"
    origin = {"generator": "made", "steps": []}
    engine(window).show(Input("signal", array, axes, "record", origin, rate, facts=Facts(labels=labels)))
    settle()


def bring(window: MainWindow, variant: str, array: np.ndarray[Any, Any]) -> None:
    """A verified result of a pick."""
    request, name = run(window), f"result{len(engine(window).arrays)}"
    engine(window).arrays[name] = array
    low, high = float(array.min()), float(array.max())
    figures = Statistics(low, high, low, {0.1: low, 1: low, 50: low, 99: high, 99.9: high}, (1,) * 256, 0, 0)
    form = Form(array.shape, array.dtype.name, INPUT_KINDS["signal"].axes_of(array.shape, 100.0))
    result = SharedResult("signal", SharedArray(name, array.shape, array.dtype.name), form, "", "", figures)
    news = row(variant, "cpu", None, filter=request.filter, params=dict(request.params), shape=array.shape)
    update = RunUpdate(request.job, request.generation, "computed", news, {"signal": result})
    engine(window).answered.emit(update)
    verify(window, request, variant)
    settle()


def view(window: MainWindow) -> CurveView:
    found = window.stack.view
    assert isinstance(found, CurveView)
    return found


def bar(window: MainWindow) -> ChannelBar:
    return view(window).channels


def names(window: MainWindow) -> list[str]:
    return [curve.name for curve in view(window).pane.curves if curve.visible]


def legend(window: MainWindow) -> list[str]:
    return [entry.label.text() for entry in view(window).pane._entries if entry.isVisible()]


def drawn(window: MainWindow) -> list[np.ndarray[Any, Any]]:
    pane = view(window).pane
    return [item.yData for item, c in zip(pane.items, pane.curves, strict=True) if c.visible and len(item.yData)]


def test_channels_have_the_names_of_the_file(window: MainWindow, qtbot: QtBot) -> None:
    show(window, waves(3), LEADS)
    bring(window, "serial", waves(3))
    title = window.stack.titles()["serial"]
    assert names(window) == [f"{who}, {lead}" for who in ("input", title) for lead in LEADS]
    assert [bar(window).list.itemText(k) for k in range(4)] == ["All 3", *LEADS]
    view(window).pane.set_cursor(0.5)
    assert f"{title}, V5" in view(window).pane.status.text()
    shown = window.stack.shown("serial", "signal")
    assert shown is not None and shown.result.form.axes[1].labels == LEADS


def test_channels_without_names_are_numbered(window: MainWindow) -> None:
    show(window, waves(2))
    assert names(window) == ["input, channel 1", "input, channel 2"]
    assert bar(window).list.itemText(1) == "channel 1"


def test_one_channel_has_no_bar(window: MainWindow) -> None:
    show(window, waves(1)[:, 0])
    assert not bar(window).isVisible() and names(window) == ["input"]
    show(window, waves(2))
    assert bar(window).isVisible()
    show(window, waves(1)[:, 0])
    assert not bar(window).isVisible()


def test_stacked_channels_fill_their_own_lanes(window: MainWindow, qtbot: QtBot) -> None:
    show(window, waves(3), LEADS)
    bring(window, "serial", waves(3))
    before = view(window).pane.view_range()
    qtbot.mouseClick(bar(window).stacked, Qt.MouseButton.LeftButton)
    settle()
    for k, y in enumerate(drawn(window)):
        bottom = 2 - k % 3
        assert bottom < y.min() < bottom + 0.1 and bottom + 0.9 < y.max() < bottom + 1
    pane = view(window).pane
    assert pane.view_range() == before and pane.plot.box.viewRange()[1] == [0, 3]
    assert legend(window) == ["input", window.stack.titles()["serial"]]
    assert [name for name, _ in pane.plot.lane_names()] == list(LEADS)
    ticks = pane.plot.item.getAxis("left")._tickLevels[0]
    assert all(pane.lanes.place(c, float(text.replace(",", ""))) == pytest.approx(y)
               for y, text in ticks for c in [2 - int(y)])  # fmt: skip
    assert {int(y) for y, _ in ticks} == {0, 1, 2}
    pane.set_cursor(1.0)
    assert f"{waves(3)[100, 2]:.4g}"[:3] in pane.status.text().replace(",", "").replace("\u202f", "")
    qtbot.mouseClick(bar(window).overlaid, Qt.MouseButton.LeftButton)
    settle()
    assert max(y.max() for y in drawn(window)) > 200 and (200.0, "200") in pane.plot.item.getAxis("left")._tickLevels[0]
    assert not pane.plot.lane_names()


def test_channels_are_shown_one_by_one_with_keys(window: MainWindow, qtbot: QtBot) -> None:
    show(window, waves(3), LEADS)
    bring(window, "serial", waves(3))
    plot, title = view(window).pane.plot, window.stack.titles()["serial"]
    plot.setFocus()
    seen = []
    for _ in range(4):
        qtbot.keyClick(plot, Qt.Key.Key_Down)
        seen.append(names(window))
    assert seen[:3] == [[f"input, {lead}", f"{title}, {lead}"] for lead in LEADS] and len(seen[3]) == 6
    qtbot.keyClick(plot, Qt.Key.Key_Up)
    assert bar(window).list.currentText() == "V5" and not bar(window).stacked.isChecked()
    assert [c.state for c in view(window).pane.curves if c.visible] == [None, "fresh"]
    qtbot.keyClick(plot, Qt.Key.Key_S)
    assert len(names(window)) == 6 and bar(window).stacked.isChecked() and bar(window).list.currentText() == "All 3"
    qtbot.keyClick(plot, Qt.Key.Key_S)
    assert bar(window).overlaid.isChecked()


def test_the_choice_stays_while_the_channels_do(window: MainWindow) -> None:
    show(window, waves(3), LEADS)
    bar(window).choice.show_all(True)
    bar(window).list.setCurrentIndex(2)
    bar(window).list.activated.emit(2)
    assert names(window) == ["input, II"]
    show(window, waves(3, 500), LEADS)
    assert names(window) == ["input, II"]
    bring(window, "serial", waves(3, 500))
    window.controller.session.set_picks(("parallel",))
    settle()
    assert names(window) == ["input, II"]
    show(window, waves(2))
    assert len(names(window)) == 2 and view(window).pane.lanes.order == (0, 1)  # other channels, still stacked


def test_another_record_comes_while_results_are_awaited(window: MainWindow) -> None:
    show(window, waves(3), LEADS)
    bar(window).choice.show_only(2)
    request = run(window)
    show(window, waves(2))
    finish(window, request)
    settle()
    assert names(window) == ["input, channel 1", "input, channel 2"]


@pytest.mark.parametrize("dark", [False, True])
def test_many_channels(window: MainWindow, dark: bool) -> None:
    show(window, np.tile(waves(3), 86)[:, :256])
    assert legend(window) == ["input, 32 channels"], "as many as are drawn without a wait beside two results"
    assert [bar(window).list.itemText(k) for k in (0, 7, 8)] == ["1 to 32 of 256", "225 to 256 of 256", "channel 1"]
    assert "32 at a time" in bar(window).words.text()
    if dark:
        palette = QPalette(window.palette())
        palette.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.black)
        palette.setColor(QPalette.ColorRole.Text, Qt.GlobalColor.white)
        view(window).pane.setPalette(palette)
    bar(window).choice.show_all(True)
    settle()
    pane = view(window).pane
    assert pane.lanes.order == tuple(range(64)) and not pane.plot.lane_names()
    bar(window).list.activated.emit(3)
    assert pane.lanes.order == tuple(range(192, 256))
    bar(window).choice.step(1)
    assert names(window) == ["input, channel 1"]
    bar(window).choice.step(-2)
    assert pane.lanes.order == tuple(range(128, 192)) and bar(window).list.currentText() == "129 to 192 of 256"
    window.controller.session.set_picks(())
    settle()
    assert pane.lanes.order == tuple(range(256)) and not bar(window).words.text()
    ticks = pane.plot.item.getAxis("left")._tickLevels[0]
    assert ticks[0][1] == "channel 1" and 5 < len(ticks) < 80
    corner = pane.plot.mapTo(pane, QPoint(3, 3))
    assert (pane.grab().toImage().pixelColor(corner).lightness() < 50) == dark
    assert pane.plot.height() > pane.height() / 2  # the legend leaves room


def test_lanes_of_constant_and_missing_values() -> None:
    lanes = Lanes()
    lanes.set_order((4, 7), ("a", "b"))
    lanes.fit({4: [(3.0, 3.0)]})
    assert lanes.place(4, 3.0) == 1.5 and lanes.place(7, 0.0) == 0.5
    assert [value for _, value in lanes.marks(400, 16)][:1] and lanes.marks(50, 16) == []
    assert lanes.names_at(20, 16) == [(1.5, "a")]
    lanes.set_order((4,), ("a",))
    assert not lanes and lanes.place(4, 3.0) == 3.0


def test_a_number_that_just_fits_into_its_lane_is_written() -> None:
    lanes = Lanes()
    lanes.set_order((0, 1), ("a", "b"))
    lanes.limits = {0: (6.0, 22.0), 1: (-22.0, -6.0)}  # half a number is 4 tall
    assert lanes.marks(64, 16) == [(1.25, 10.0), (0.75, -10.0)]


def test_other_channels_are_shown_from_the_first_on(qapp) -> None:
    choice = ChannelChoice()
    assert choice.first == 0
    choice.set_names([f"channel {k}" for k in range(256)])
    choice.show_from(64)
    choice.set_names([f"lead {k}" for k in range(256)])
    assert choice.first == 0 and choice.only is None


def test_a_result_as_the_input_keeps_the_names_of_its_channels(window: MainWindow) -> None:
    show(window, waves(3), LEADS)
    bring(window, "serial", waves(3))
    act(window, "use_result")
    (request,) = (r for r in engine(window).asked if isinstance(r, ResultRequest))
    assert request.facts.labels == LEADS


def test_names_of_channels_belong_to_as_many() -> None:
    form = Form((9, 3), "float64", INPUT_KINDS["signal"].axes_of((9, 3)))
    assert form.named(LEADS).axes[1].labels == LEADS
    assert form.named(LEADS[:2]) is form and form.named(()) is form
    own = Form((9, 3), "float64", (Axis("sample"), Axis("channel", labels=("x", "y", "z"))))
    assert own.named(LEADS) is own


def test_peaks_know_their_channel() -> None:
    table = np.array([[1.0, 5.0, 0.0, 0.0], [3.0, 4.0, 6.0, 7.0]])
    names = ("frequency 0", "height 0", "frequency 1", "height 1")
    form = Form(table.shape, "float64", (Axis("peak"), Axis("column", labels=names)))
    result = SharedResult("table", SharedArray("x", table.shape, "float64"), form, "", "", None)
    found = marks_of(OutputData(result, table), Marks(("spectrum",), "frequency", "height"))
    assert [tuple(mark) for mark in found] == [(1, 5, 1, 0), (3, 4, 3, 0), (6, 7, 6, 1)]


def test_the_input_is_marked_in_its_lane(window: MainWindow) -> None:
    show(window, waves(3), LEADS)
    bar(window).choice.show_all(True)
    samples = np.full((200, 3), np.nan)
    samples[50:60] = waves(3)[50:60]
    view(window).mark("marked", samples)
    marked = [c for c in view(window).pane.curves if c.visible and c.key != INPUT]
    assert [c.channel for c in marked] == [0, 1, 2] and legend(window) == ["input", "marked"]


def test_lost_samples_are_marked_in_the_lane_of_their_channel(window: MainWindow) -> None:
    array = waves(3)
    array[50, 1], array[120, 2] = np.nan, np.inf
    show(window, array, LEADS)
    gaps = view(window).pane.plot.gaps
    assert sorted(gaps.places) == [0.5, 1.2]
    bar(window).choice.show_all(True)
    settle()
    x, y = gaps._item.getData()
    marks = {round(float(x[k]), 3): tuple(y[k : k + 2]) for k in range(0, len(x), 2)}
    assert marks[0.5][0] == 1.0 and marks[1.2][0] == 0.0 and all(0.03 < b - a < 0.5 for a, b in marks.values())
    assert "lane" in view(window).pane.plot.toolTip()
    bar(window).choice.show_only(0)
    assert not len(gaps.places)


def test_the_name_of_a_single_channel_is_in_the_legend(window: MainWindow) -> None:
    show(window, waves(1)[:, 0], ("Voltage [mV]",))
    assert legend(window) == ["input · Voltage [mV]"]
    show(window, waves(1)[:, 0])
    assert legend(window) == ["input"]

"""The timeline panel: when timelines are requested, what it shows, and how they are saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QFontMetricsF, QImage
from PySide6.QtTest import QTest
from xray_answers import window_with

from app.base.theme import SHAPE_CONTRAST, colours, contrast, palette
from app.controllers.engine_log import describe
from app.main import main
from app.models.files.json_text import Fields
from app.models.timing.timelines import Lane, QueueModel, read_queue_model
from app.views.charts.spans_plot import PATTERNS, heading_texts, look_colour
from app.views.timeline.text import look_names
from app.views.window.main_window import MainWindow
from app.views.window.panels import TIMELINE
from gpu_ops import from_array
from gpu_ops.cli import main as engine_main
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.messages import Failed, Finished, RunRequest, TimelinesAnswer, TimelinesRequest
from gpu_ops.explaining.spans import Rates, Timeline
from gpu_ops.plan import Span

SIM = DeviceStatus("sim", "simulated GPU", True)
GPU = DeviceStatus("cuda:0", "H200", True, architecture="sm_90")
PICKS = ("serial", "pinned", "streams")


@pytest.fixture
def engine(qapp: object) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot: Any, engine: FakeEngine) -> MainWindow:
    """A window with transfers on a simulated GPU, whose runs have ended."""
    return opened(qtbot, engine, SIM)


def opened(qtbot: Any, engine: FakeEngine, device: DeviceStatus) -> MainWindow:
    window = window_with(qtbot, engine, (device,))
    session = window.controller.session
    session.set_filter("transfer2d")
    session.set_picks(PICKS)
    engine.end()
    return window


def asked(engine: FakeEngine) -> list[TimelinesRequest]:
    return [r for r in engine.asked if isinstance(r, TimelinesRequest)]


def span(name: str, start: float, engine: Any, stream: int = 1, nbytes: int = 0) -> Span:
    return Span(name, start, start + 1, stream, nbytes, engine)


def made(variant: str, basis: Any = "order", scale: float = 1.0, runs: int = 0) -> Timeline:
    """Two chunks in two streams, and the host at the end."""
    spans = []
    for chunk in range(2):
        place = (chunk, 1 + chunk, 2 + chunk)
        spans += [span(f"upload {chunk + 1}", place[0], "upload", chunk + 1, 4096)]
        spans += [span(f"convolve {chunk + 1}", place[1], "kernel", chunk + 1)]
        spans += [span(f"download {chunk + 1}", place[2], "download", chunk + 1, 4096)]
    spans.append(span("host reads result", 4, "host"))
    scaled = (Span(s.name, s.start * scale, s.end * scale, s.stream, s.nbytes, s.engine) for s in spans)
    rates = Rates(12.5e9, 25e9, 1e12) if basis == "predicted" else None
    return Timeline("transfer2d", variant, "sim", basis, tuple(scaled), 5 * scale, runs, rates)


def answer(engine: FakeEngine, reasons: dict[str, str] | None = None, **how: Any) -> None:
    """Answer the last request."""
    request = asked(engine)[-1]
    found = {p.variant: made(p.variant, **how) for p in request.picks if p.variant not in (reasons or {})}
    engine.answered.emit(TimelinesAnswer(request.job, found, reasons or {}))
    engine.answered.emit(Finished(request.job))


def show(qtbot: Any, window: MainWindow, engine: FakeEngine, **how: Any) -> None:
    """Open the panel and answer what it asks."""
    window.docks.turn_to(TIMELINE)
    qtbot.waitUntil(lambda: bool(asked(engine)))
    answer(engine, **how)


def rows(window: MainWindow) -> list[str]:
    return [row.text for row in window.timeline.sheet.chart.drawn.rows]


def reading(window: MainWindow, place: float, row: int) -> str:
    """What the chart says at a place in a row."""
    chart = window.timeline.sheet.chart
    chart.plane.set_cursor((place, 1 - (row + 0.5) / len(chart.drawn.rows)))
    return str(chart.value_text()).replace("\u00a0", " ")


def test_nothing_is_asked_for_until_the_panel_is_visible(qtbot, window, engine) -> None:
    qtbot.wait(20)
    assert asked(engine) == []
    window.docks.turn_to(TIMELINE)
    qtbot.waitUntil(lambda: len(asked(engine)) == 1)
    request = asked(engine)[0]
    assert [p.variant for p in request.picks] == ["pinned", "streams"], "those that the GPU runs"
    assert (request.filter, request.copy_engines, request.in_order, request.rates) == ("transfer2d", 2, False, None)
    assert describe(request).startswith("timelines of transfer2d") and describe(request).endswith("2 copy engines")


def test_variants_lie_one_under_the_other_on_one_axis_of_steps(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    lanes = ["host", "stream 1", "stream 2"]
    assert rows(window) == [
        "3 pinned: 5 steps, overlap 0.40",
        *lanes,
        "7 chunks in streams: 5 steps, overlap 0.40",
        *lanes,
    ]
    sheet, chart = window.timeline.sheet, window.timeline.sheet.chart
    assert "Order alone" in sheet.basis.text() and chart.isVisible()
    assert "CPU, one core" in sheet.notes.text() and "the CPU runs them" in sheet.notes.text()
    assert chart.bottom(chart.frame()).title == "time (steps)" and chart.frame().across == (0, 5)
    shown = {look for look, pair in sheet.legend.items() if not pair.isHidden()}
    assert shown == {"host", "upload", "kernel", "download"}, "copies in the device are not there"
    assert "7 chunks in streams: 5 steps" in chart.accessibleDescription()


def test_the_cursor_reads_a_step(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    assert reading(window, 1.5, 3) == "upload 2, stream 2, 1 steps … 2 steps: 1 steps, 4.096 kB"
    assert reading(window, 4.5, 2) == "stream 1, 4.5 steps: idle"
    assert reading(window, 4.5, 0) == "3 pinned: 5 steps, overlap 0.40"


def test_measured_steps_have_times_and_rates(qtbot, engine) -> None:
    window = opened(qtbot, engine, GPU)
    show(qtbot, window, engine, basis="measured", scale=1e-6, runs=7)
    panel = window.timeline
    assert "Measured by events around each step, in the median of 7 runs" in panel.sheet.basis.text()
    assert rows(window)[0] == "3 pinned: 5 µs, overlap 0.40"
    assert reading(window, 0.5e-6, 2) == "upload 1, stream 1, 0 µs … 1 µs: 1 µs, 4.096 kB, 4.096 GB/s"
    assert (
        panel.controls.engines.isHidden() is False
        and not panel.controls.in_order.isVisible()
        and not panel.controls.engines.isVisible()
    )
    answer(engine, basis="measured", scale=1.0, runs=1)
    QTest.mouseClick(panel.controls.again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    answer(engine, basis="measured", scale=1.0, runs=1)
    assert "in a single run, because a run takes long" in panel.sheet.basis.text()
    window.controller.cancel()


def test_the_queues_of_a_simulated_gpu_are_chosen(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    panel = window.timeline
    panel.controls.engines.setFocus()
    QTest.keyClick(panel.controls.engines, Qt.Key.Key_Up)
    assert asked(engine)[-1].copy_engines == 1
    answer(engine)
    assert not any(spin.isVisible() for spin in panel.controls.spins.values())
    panel.controls.in_order.click()
    assert asked(engine)[-1].in_order
    answer(engine)
    panel.controls.predicted.click()
    rates = asked(engine)[-1].rates
    assert (
        rates is not None
        and (rates.upload, rates.kernel) == (25e9, 1000e9)
        and panel.controls.spins["upload"].isVisible()
    )
    answer(engine, basis="predicted", scale=1e-6)
    panel.controls.spins["upload"].setValue(12.5)
    assert asked(engine)[-1].rates.upload == 12.5e9
    assert "earlier setting" in panel.state.text() and not panel.sheet.chart.current
    answer(engine, basis="predicted", scale=1e-6)
    assert "from 12.5 GB/s to the device" in panel.sheet.basis.text() and panel.sheet.chart.current
    assert not panel.state.isVisible()


def test_the_answer_to_an_earlier_choice_is_dropped(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    cancelled: list[int] = []
    engine.cancel = lambda job, kill=True: cancelled.append(job)  # the engine's answer comes later
    panel, before = window.timeline, window.timeline._controller.content
    panel.controls.in_order.click()
    late = asked(engine)[-1]
    window.controller.session.set_knobs("streams", {"chunks": 4})
    qtbot.wait(20)
    assert late.job in cancelled
    engine.answered.emit(TimelinesAnswer(late.job, {"streams": made("streams", "predicted")}, {}))
    assert panel._controller.content is before and "earlier setting" in panel.state.text()
    del engine.cancel
    engine.end()
    qtbot.waitUntil(lambda: asked(engine)[-1] is not late)
    assert {p.variant: p.knobs.get("chunks") for p in asked(engine)[-1].picks} == {"pinned": None, "streams": 4}
    answer(engine)
    assert panel._controller.content is not before and not panel.state.isVisible()


def test_timelines_come_before_what_a_simulated_gpu_runs_and_after_other_runs(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    session = window.controller.session
    session.set_params({**session.params, "repeats": 2})
    qtbot.wait(20)
    fast = engine.asked[-1]
    assert isinstance(fast, RunRequest) and fast.picks[0].variant == "serial" and len(asked(engine)) == 1
    assert "Waiting for the run to end" in window.timeline.state.text()
    engine.answered.emit(Finished(fast.job))
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    answer(engine)
    qtbot.wait(20)
    last = engine.asked[-1]
    assert isinstance(last, RunRequest) and last.picks[0].device == "sim", "the simulated run continues"
    assert not window.timeline.state.isVisible()


def test_a_failure_is_said_in_place_and_one_variant_leaves_the_others(qtbot, window, engine) -> None:
    show(qtbot, window, engine, reasons={"streams": "8 chunks need as many rows."})
    panel = window.timeline
    assert (
        len(rows(window)) == 4
        and "7 chunks in streams is left out: 8 chunks need as many rows." in panel.sheet.notes.text()
    )
    panel.controls.in_order.click()
    engine.answered.emit(Failed(asked(engine)[-1].job, "The engine has gone."))
    qtbot.wait(20)
    assert "There are no timelines: The engine has gone." in panel.state.text()
    before = len(asked(engine))
    QTest.mouseClick(panel.controls.again, Qt.MouseButton.LeftButton)
    assert len(asked(engine)) == before + 1, "only when asked to"


def test_what_is_missing_is_said(qtbot, engine) -> None:
    window = make(qtbot, engine)
    window.docks.turn_to(TIMELINE)
    panel = window.timeline
    assert "Open an input" in panel.state.text()
    window.controller.queue.timed_after_pause = False
    engine.show(from_array(np.zeros((64, 64), np.uint8)))
    qtbot.wait(5)
    assert "neither a GPU here nor a simulated one" in panel.state.text()
    window.controller._take_devices((SIM,))
    window.controller.session.set_picks(("serial",))
    qtbot.wait(5)
    assert "Tick a variant that runs on the GPU" in panel.state.text() and not panel.sheet.chart.isVisible()
    engine.end()


def test_a_new_answer_keeps_the_zoom_and_another_unit_shows_all(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    panel, plane = window.timeline, window.timeline.sheet.plane
    plane.zoom_at(2, 1, 0.0, 0.5)
    seen = plane.x.start, plane.x.stop
    assert seen != (0, 5)
    panel.controls.in_order.click()
    answer(engine)
    assert (plane.x.start, plane.x.stop) == seen
    panel.controls.predicted.click()
    answer(engine, basis="predicted", scale=1e-6)
    assert (plane.x.start, plane.x.stop) == pytest.approx((0, 5e-6))
    plane.zoom_at(2, 1, 0.0, 0.5)
    engine.show(from_array(np.ones((512, 600), np.uint8)))
    engine.end()
    qtbot.waitUntil(lambda: panel._controller.state == "running")
    answer(engine, basis="predicted", scale=2e-6)
    assert (plane.x.start, plane.x.stop) == pytest.approx((0, 10e-6)), "another input is shown from its beginning"


def test_names_and_headings_are_painted_where_they_fit(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    qtbot.wait(20)
    chart = window.timeline.sheet.chart
    frame = chart.frame()
    colour = look_colour("upload", frame.colours)
    image = chart.grab().toImage()
    at = frame.point(0.02, 1 - 2.5 / 8)
    near = {image.pixelColor((at + QPointF(dx, 0)).toPoint()).name() for dx in range(0, 30)}
    assert colour.name() in near, "the first upload lies at the beginning of the third row"
    assert look_colour("kernel", frame.colours).name() not in near


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
def test_what_carries_out_a_step_differs_in_colour_and_pattern(scheme) -> None:
    own, ground = colours(scheme), palette(scheme)
    looks = list(look_names())
    shades = [look_colour(look, own) for look in looks]
    assert len({shade.name() for shade in shades}) == len({PATTERNS[look] for look in looks}) == 5
    assert all(contrast(shade, ground.base().color()) >= SHAPE_CONTRAST for shade in shades)


def test_timelines_are_saved_with_their_facts(qtbot, window, engine, tmp_path: Path) -> None:
    act(window, "export_timeline_trace")
    assert "There are no timelines to save yet" in window.messages.current().text
    show(qtbot, window, engine)
    for id, name in (("trace", "t.json"), ("json", "all.json"), ("picture", "p.png"), ("picture", "p.svg")):
        window.files.target = lambda *_, name=name: str(tmp_path / name)
        act(window, f"export_timeline_{id}")
        assert f"Saved {name}" in window.messages.current().text
    trace = json.loads((tmp_path / "t.json").read_text())
    steps = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert len(steps) == 14 and {e["pid"] for e in steps} == {1, 2} and trace["otherData"]["filter"] == "transfer2d"
    events = json.loads((tmp_path / "all.json").read_text())
    assert [one["variant"] for one in events["timelines"]] == ["pinned", "streams"] and events["about"][
        "input"
    ] == "array"
    assert events["schema"] == "kernelscope-timelines/1"
    assert "filter: transfer2d" in QImage(str(tmp_path / "p.png")).text("Description")
    assert "7 chunks in streams" in (tmp_path / "p.svg").read_text()


def test_the_queues_are_kept_in_a_session() -> None:
    model = QueueModel(1, True, True, 12.0, 13.0, 900.0)
    assert read_queue_model(Fields(model.as_json())) == model
    assert read_queue_model(Fields({})) == QueueModel()
    assert read_queue_model(Fields({"upload": -3})).upload > 0


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_command_draws_the_same_picture(qapp: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["timeline", "transfer", "streams", "--sample", "noise", "--size", "48x64", "--device", "sim"]
    assert main([*words, "--picture", str(tmp_path / "t.svg")]) == 0
    drawn = (tmp_path / "t.svg").read_text()
    assert "7 chunks in streams" in drawn and "copy to device" in drawn and "stream 2" in drawn
    for run, name, sentence in (
        (main, "t.gif", "must end in .png or .svg"),
        (engine_main, "t.png", "The engine alone draws no pictures"),
    ):
        assert run([*words, "--picture", str(tmp_path / name)]) == 2
        assert sentence in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["t.svg"]


def test_a_heading_keeps_its_title_before_its_notes(window) -> None:
    window.docks.turn_to(TIMELINE)
    font = window.font()
    bold = QFont(font)
    bold.setBold(True)
    row = Lane("7 chunks in streams", (), True, ("10 steps, overlap 0.80", "10 steps"))
    for wide in range(60, 600, 7):
        title, note = heading_texts(row, QFontMetrics(bold), QFontMetricsF(font), wide)
        assert title == row.title or not note, wide
        whole = QFontMetrics(bold).horizontalAdvance(row.title)
        assert title == row.title if whole <= wide else title.endswith("…"), wide
    assert (title, note) == (row.title, row.notes[0])


def test_lanes_are_no_taller_than_their_words_need(qtbot, window, engine) -> None:
    window.resize(1200, 1000)
    show(qtbot, window, engine, reasons={"pinned": "left out"})
    qtbot.wait(50)
    sheet = window.timeline.sheet
    line, count = sheet.fontMetrics().height(), len(sheet.chart.drawn.rows)
    assert sheet.height() > 30 * line, "there is more room than four lanes need"
    assert count * line < sheet.chart.height() <= (2.5 * count + 3.5) * line + 1
    assert sheet.notes.y() - sheet.chart.geometry().bottom() < line, "the notes follow the chart"

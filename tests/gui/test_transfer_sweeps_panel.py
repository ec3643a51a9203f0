"""Sweeps of transfers in the Timeline tab: what is asked for, the grid and the figures, and how they are saved."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from xray_answers import window_with

from app.controllers.engine_log import describe
from app.main import main
from app.models.pictures.display import colors
from app.models.timing.timelines import QueueModel
from app.views.window.main_window import MainWindow
from app.views.window.panels import TIMELINE
from gpu_ops import from_array
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine import panel_jobs
from gpu_ops.engine.about import activity, segments_of_request
from gpu_ops.engine.messages import (
    Finished,
    SampleRequest,
    TimelinesAnswer,
    TimelinesRequest,
    TransfersAnswer,
    TransfersRequest,
)
from gpu_ops.explaining.transfers import of_input
from gpu_ops.explaining.transfers.making import sweep
from gpu_ops.explaining.transfers.rates import recorded_rates
from gpu_ops.explaining.transfers.subject import Subject
from gpu_ops.explaining.transfers.sweep import TransferSweep

SIM = DeviceStatus("sim", "simulated GPU", True)
STREAMS, CHUNKS = (1, 2, 3), (1, 2, 4)


def grid(basis: Any = "order") -> TransferSweep:
    """Times of 3 steps without an overlap, and less with more streams and chunks."""
    scale = 1.0 if basis == "order" else 1e-3
    times = {(s, c): (3 - 2 * (min(s, c) - 1) / 3) * scale for s in STREAMS for c in CHUNKS}
    points = ({"streams": s, "chunks": c, "time": t, "overlap": scale / t} for (s, c), t in times.items())
    rates = recorded_rates()["h100"] if basis == "predicted" else None
    return TransferSweep("streams", basis, "sim", "", "conv3x3-rows on array", tuple(points), (), rates)


@pytest.fixture
def engine(qapp: object) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot: Any, engine: FakeEngine) -> MainWindow:
    """A window with transfers on a simulated GPU and the Timeline tab in front, whose runs have ended."""
    window = window_with(qtbot, engine, (SIM,))
    window.controller.session.set_filter("transfer2d")
    window.controller.session.set_picks(("serial", "pinned"))
    engine.end()
    window.docks.turn_to(TIMELINE)
    qtbot.waitUntil(lambda: bool(timelines(engine)))
    answer_timelines(engine)
    return window


def timelines(engine: FakeEngine) -> list[TimelinesRequest]:
    return [r for r in engine.asked if isinstance(r, TimelinesRequest)]


def answer_timelines(engine: FakeEngine) -> None:
    """The last request for timelines has none."""
    job = timelines(engine)[-1].job
    engine.answered.emit(TimelinesAnswer(job, {}, {}))
    engine.answered.emit(Finished(job))


def asked(engine: FakeEngine) -> list[TransfersRequest]:
    return [r for r in engine.asked if isinstance(r, TransfersRequest)]


def show(window: MainWindow, view: str) -> None:
    """Choose a view as a person does."""
    views = window.timeline.controls.views
    views.setCurrentIndex(views.findData(view))
    views.activated.emit(views.currentIndex())


def answer(engine: FakeEngine, content: TransferSweep) -> None:
    job = asked(engine)[-1].job
    engine.answered.emit(TransfersAnswer(job, content))
    engine.answered.emit(Finished(job))


def test_a_sweep_is_asked_for_with_the_input_and_the_queues(window: MainWindow, engine: FakeEngine) -> None:
    show(window, "streams")
    request = asked(engine)[-1]
    assert (request.sweep, request.device, request.filter) == ("streams", "sim", "transfer2d") and request.rates is None
    assert request.params["work"] == "conv3x3-rows" and list(segments_of_request(request)) == list(
        request.input.segments
    )
    assert describe(request).startswith("streams of transfers of") and activity(request) == "swept transfers (streams)"
    controls = window.timeline.controls
    assert [controls.parts.itemData(k) for k in range(2)] == ["time", "overlap"] and not controls.blocking.isVisible()
    answer(engine, grid())
    show(window, "memory")
    request = asked(engine)[-1]
    assert request.input is None and request.rates is not None, "it says nothing without seconds"
    assert controls.predicted.isChecked() and not controls.predicted.isEnabled()
    assert not window.timeline._controller.model.predicted, "the choice for timelines stays"
    engine.end()
    window.controller.session.set_filter("mean2d")
    engine.end()
    show(window, "residency")
    request = asked(engine)[-1]
    assert (request.sweep, request.filter, request.params) == ("residency", "", {}), "other parameters are not of it"


def test_the_grid_shows_the_best_cell_and_each_under_the_mouse(window: MainWindow, engine: FakeEngine) -> None:
    show(window, "streams")
    answer(engine, grid())
    panel, plot = window.timeline, window.timeline.grid.plot
    assert panel.pages.currentIndex() == 1 and "Order alone" not in panel.state.text() and not panel.state.isVisible()
    assert panel.grid.best.text() == "Shortest: 1.67 steps with 3 streams and 4 chunks."
    frame = plot.frame()
    assert (
        plot.words_at(frame.point(0.5, 0.5).toPoint()).replace("\u00a0", " ") == "3.00 steps with 1 stream and 1 chunk"
    )
    assert plot.words_at(QPoint(1, 1)) == ""
    assert [text for _, text in plot.left(frame).marks] == ["1", "2", "3"] and plot.bottom(frame).title == "chunks"
    image = plot.grab().toImage()
    shades = [image.pixelColor(frame.point(x, y).toPoint()).getRgb()[:3] for x, y in ((0.15, 0.15), (2.15, 2.2))]
    assert shades == [tuple(map(int, colors("viridis")[k])) for k in (0, 255)], "brighter is better"
    plot.plane.set_cursor((2.5, 2.5))
    assert "3 streams and 4 chunks" in plot.value_text()
    QTest.keyClick(plot, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert "3 streams and 2 chunks" in plot.value_text()
    parts = panel.controls.parts
    parts.setCurrentIndex(1)
    parts.activated.emit(1)
    assert (
        panel.grid.best.text() == "Most overlap: 0.60 with 3 streams and 4 chunks."
        and "overlap more" in panel.grid.text.text()
    )


def test_predicted_sweeps_are_figures_with_hollow_points(window: MainWindow, engine: FakeEngine) -> None:
    window.timeline._controller.set_model(QueueModel(predicted=True, machine="h100"))
    answer_timelines(engine)
    show(window, "registering")
    request = asked(engine)[-1]
    assert request.rates == recorded_rates()["h100"]
    slow = replace(request.rates, locking=5e9)  # the recorded machine locks so fast that the first copy pays
    answer(engine, sweep("registering", "sim", None, slow))
    sheet, upload = window.timeline.figure, request.rates.upload / 1e9
    assert window.timeline.pages.currentIndex() == 2 and f"predicted from {upload:.4g} GB/s" in sheet.origin.text()
    assert not sheet.missing.isVisible() and "predicted" in sheet.legend.texts()
    assert [text for _, _, text in sheet.plot.tags] == ["break-even, 2.2 copies"]
    assert "Registering pays: 64 KiB from 48 on" in sheet.words.text()


def test_the_model_of_timelines_is_chosen(window: MainWindow, engine: FakeEngine) -> None:
    controls = window.timeline.controls
    controls.predicted.click()
    own = timelines(engine)[-1].rates
    assert own.upload == 25e9 and controls.spins["upload"].isVisible()
    answer_timelines(engine)
    place = controls.machines.findData("h100")
    assert controls.machines.itemText(place) == "H100, recorded"
    controls.machines.setCurrentIndex(place)
    controls.machines.activated.emit(place)
    assert timelines(engine)[-1].rates == recorded_rates()["h100"] and not controls.spins["upload"].isVisible()
    assert window.timeline._controller.model.upload == 25.0, "one's own rates are kept"
    answer_timelines(engine)
    controls.blocking.click()
    request = timelines(engine)[-1]
    assert request.launch_blocking and describe(request).endswith("launch blocking")


def test_the_exercise_is_one_click(window: MainWindow, engine: FakeEngine) -> None:
    window.controller.session.set_filter("mean2d")
    act(window, "streams_exercise")
    session, timeline = window.controller.session, window.context.timeline
    request = next(r for r in reversed(engine.asked) if isinstance(r, SampleRequest))
    assert (request.id, request.options["size"], request.options["channels"]) == ("noise", "4096x4096", 3)
    assert (session.filter.id, session.params["work"]) == ("transfer2d", "conv3x3-rows")
    assert set(session.choice.picks) == {"pinned", "streams", "default_stream"}
    assert timeline.view == "timelines" and timeline.model.predicted and timeline.model.machine == "h100"
    assert window.timeline.isVisible() and len(session.filter.outputs) == 2
    assert not window.stack.bar.outputs.isVisible(), "the work is a parameter, which a choice of outputs would change"


def test_a_sweep_is_saved_as_picture_and_json_and_not_as_a_trace(
    window: MainWindow, engine: FakeEngine, tmp_path: Path
) -> None:
    show(window, "streams")
    act(window, "export_timeline_json")
    assert "There are no timelines to save yet" in window.messages.current().text
    answer(engine, grid())
    for id, name in (("json", "s.json"), ("picture", "s.png"), ("trace", "t.json")):
        window.files.target = lambda *_, name=name: str(tmp_path / name)
        act(window, f"export_timeline_{id}")
    assert "choose Timelines under Show" in window.messages.current().text and not (tmp_path / "t.json").exists()
    content = json.loads((tmp_path / "s.json").read_text())
    assert content["schema"] == "kernelscope-transfers/1" and len(content["points"]) == 9 and "about" in content
    assert not QImage(str(tmp_path / "s.png")).isNull()


class Channel:
    """What a job needs of the engine, without a process."""

    def __init__(self) -> None:
        self.answers: list[Any] = []

    def input(self, shared: Any) -> Any:
        return from_array(np.zeros((16, 20), np.uint8))

    def announce(self, text: str) -> None: ...

    def send(self, answer: Any) -> None:
        self.answers.append(answer)


def test_the_engine_makes_the_sweep_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_input, "CHUNKS", (1, 2))
    channel = Channel()
    request = TransfersRequest(7, "streams", "sim", object(), "mean2d", {"window": 5}, 1)  # type: ignore[arg-type]
    panel_jobs._transfers(channel, request)  # type: ignore[arg-type]
    ((found),) = channel.answers
    assert found.job == 7 and len(found.content.points) == 16
    wanted = sweep("streams", "sim", Subject.of(channel.input(None)), queues=panel_jobs.Queues(1))
    assert found.content.points == wanted.points, "another filter's parameters are not those of transfers"


def test_the_command_draws_the_grid(qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_input, "CHUNKS", (1, 2))
    words = ["transfers", "streams", "--sample", "noise", "--size", "64x48", "--device", "sim", "--only", "time"]
    assert main([*words, "--picture", str(tmp_path / "g.svg")]) == 0
    drawn = (tmp_path / "g.svg").read_text()
    assert "Streams × chunks" in drawn and "Shortest: 2.00" in drawn

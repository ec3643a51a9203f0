"""A large picture is painted before its statistics have come; they change no pixel and release no memory twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from pixels import rgb
from pytestqt.qtbot import QtBot
from result_rows import row
from simulated_rows import shared_result

from app.models.pictures.layer import LARGE, LEVELS_AFTER_MS, Layer
from app.views.window.main_window import MainWindow
from gpu_ops import from_array
from gpu_ops.engine.messages import RunRequest, RunUpdate
from gpu_ops.engine.statistics import statistics

SIDE = 1 + int(LARGE**0.5)


class Engine(FakeEngine):
    """Keeps what was released."""

    def __init__(self) -> None:
        super().__init__()
        self.released: list[str] = []

    def release(self, segment: str) -> None:
        self.released.append(segment)

    def array(self, shared: object) -> np.ndarray:
        return super().array(shared).view()  # type: ignore[arg-type]  # a new object each time, as from the real one


@pytest.fixture
def engine(qtbot: QtBot) -> Engine:
    return Engine()


@pytest.fixture
def window(qtbot: QtBot, engine: Engine) -> MainWindow:
    made = make(qtbot, engine)
    made.controller.session.set_filter("mean2d")
    made.controller.session.set_picks(("serial",))
    engine.show(from_array(picture(0), kind="image"))
    return made


def picture(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((SIDE, SIDE), np.float32)


def pair(window: MainWindow, engine: Engine, seed: int) -> tuple[RunUpdate, RunUpdate]:
    """The two answers with one result of the newest run: the pixels, and the same with statistics."""
    request = [asked for asked in engine.asked if isinstance(asked, RunRequest)][-1]
    array, name = picture(seed), f"result{seed}"
    engine.arrays[name] = array
    late = shared_result("image", name, array, statistics(array))
    early = replace(late, statistics=None, summarised=False)
    news = row("serial", "cpu", None, filter="mean2d", params=dict(request.params), shape=array.shape, ok=None)
    both = (RunUpdate(request.job, request.generation, "computed", news, {"image": one}) for one in (early, late))
    return next(both), next(both)


def layer(window: MainWindow) -> Layer:
    return window.panes.pane("serial").layer


def test_the_pixels_are_painted_and_the_levels_wait(qtbot: QtBot, window: MainWindow, engine: Engine) -> None:
    early, late = pair(window, engine, 1)
    levels, name = (window.display.low, window.display.high), window.controller.session.output.id
    engine.answered.emit(early)
    shown = layer(window).pyramid
    assert shown is not None and np.array_equal(shown.array, picture(1))
    canvas = window.panes.pane("serial").canvas
    qtbot.wait(3 * LEVELS_AFTER_MS)
    first = rgb(canvas.grab().toImage())
    assert len(shown.levels) == 1 and not layer(window).sharp, "levels need the statistics"
    assert window.controller.queue.unseen, "the run goes on"

    engine.answered.emit(late)
    assert layer(window).pyramid is shown, "no other picture"
    assert np.array_equal(rgb(canvas.grab().toImage()), first) and (window.display.low, window.display.high) == levels
    assert layer(window).statistics == late.outputs[name].statistics
    qtbot.waitUntil(lambda: layer(window).sharp)
    low, middle, high = (late.outputs[name].statistics.percentiles[p] for p in (0.1, 50, 99.9))
    assert (shown.centre, shown.threshold) == (middle, pytest.approx(0.9 * (high - low)))
    assert window.controller.result_to_save("serial") is not None and not window.controller.queue.unseen
    assert engine.released == []


def test_each_segment_is_released_once(window: MainWindow, engine: Engine) -> None:
    for seed in (1, 2):
        early, late = pair(window, engine, seed)
        engine.answered.emit(early)
        assert window.controller.result_to_save("serial") is None, "how it is saved depends on its statistics"
        engine.answered.emit(late)
    assert engine.released == ["result1"]
    early, late = pair(window, engine, 3)
    engine.answered.emit(early)
    window.controller.session.set_picks(())
    assert engine.released == ["result1", "result2", "result3"]
    engine.answered.emit(late)
    assert engine.released == ["result1", "result2", "result3"], "unticked before its statistics came"
    early, late = pair(window, engine, 4)
    engine.answered.emit(early)
    engine.answered.emit(late)
    assert engine.released[3:] == ["result4"], "nobody asks for it any more"


def test_a_segment_that_is_used_again_has_another_result(window: MainWindow, engine: Engine) -> None:
    """The engine ended between two answers with a result that nobody asked for; the next one uses the memory."""
    session, (early, _) = window.controller.session, pair(window, engine, 1)
    session.set_picks(())
    engine.answered.emit(early)
    assert engine.released == ["result1"]
    session.set_picks(("serial",))
    _, whole = pair(window, engine, 1)
    engine.answered.emit(replace(whole, job=early.job + 1))
    assert layer(window).statistics == whole.outputs["image"].statistics and engine.released == ["result1"]

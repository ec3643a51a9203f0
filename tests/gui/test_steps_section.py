"""Steps of the input in the window: what is asked of the engine, undo and redo, another input, a result as input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from live import live_window, real_engine, settle
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from test_belonging import bring, engine, finish, image, picture, run, signal

from app.models.experiment.noise import Noise
from app.models.pictures.viewport import Rect
from app.views.results.pictures import INPUT
from app.views.window.main_window import MainWindow
from gpu_ops import apply_steps, from_origin, sample, save
from gpu_ops.engine.messages import Failed, Finished, ResultRequest, Stepped, StepsRequest
from gpu_ops.engine.shared import SharedArray
from gpu_ops.types import Input

CROP = {"step": "crop", "start": [2, 3], "shape": [5, 4]}
FLIP = {"step": "flip", "axis": "left-right"}
INVERT = {"step": "invert"}


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    made = make(qtbot, FakeEngine())
    made.controller.session.set_filter("mean2d")
    made.controller.session.set_picks(("serial",))
    made.released = []
    engine(made).release = made.released.append
    return made


def opened(window: MainWindow) -> None:
    show(window, image(picture(200)))


def show(window: MainWindow, input: Input) -> None:
    engine(window).show(input)
    finish(window, run(window))
    window.controller.queue._quiet.stop()


def asked(window: MainWindow) -> list[StepsRequest]:
    return [r for r in engine(window).asked if isinstance(r, StepsRequest)]


def wanted(window: MainWindow) -> list[str]:
    return [step["step"] for step in window.controller.session.steps]


def answer(window: MainWindow) -> Any:
    """The engine's answer to the last request for steps, and the end of the run that follows."""
    request = asked(window)[-1]
    shared = request.input
    before = Input(
        shared.kind, engine(window).array(shared.array), shared.axes, shared.name, shared.origin, shared.rate
    )
    after = apply_steps(before, request.steps)
    name = f"steps{len(engine(window).arrays)}"
    engine(window).arrays[name] = after.array
    array = SharedArray(name, after.array.shape, after.array.dtype.name)
    made = type(shared)(**{**vars(shared), "array": array, "axes": after.axes, "origin": after.origin})
    engine(window).answered.emit(Stepped(request.job, made, (name,)))
    engine(window).answered.emit(Finished(request.job))
    return made


def add(window: MainWindow, id: str) -> None:
    """Choose a step in the menu."""
    action = next(a for a in window.panel.steps.menu.actions() if a.objectName() == f"addStep.{id}")
    action.trigger()


def test_a_step_of_the_menu_is_asked_for_and_shown(window: MainWindow, qtbot: QtBot) -> None:
    assert not window.panel.steps.isEnabled()
    opened(window)
    add(window, "rotate")
    (request,) = asked(window)
    assert request.steps[0]["angle"] == 90 and request.input is window.controller.session.original
    made = answer(window)
    session = window.controller.session
    assert session.input is made and not session.lacks_steps and run(window).input is made
    (row,) = window.panel.steps.rows
    assert row.words.text() == "rotate 90°" and row.form is not None
    qtbot.waitUntil(row.form.isVisible)
    row.edit.click()
    assert not row.form.isVisible()
    assert "one + rotate 90°" in window.panel.input_label.text() and window.windowTitle().startswith("one + rotate 90°")


def test_another_shape_is_shown_and_the_panel_says_it(window: MainWindow) -> None:
    opened(window)
    height, width = window.controller.session.input.array.shape[:2]
    window.controller.session.set_steps([CROP])
    answer(window)
    assert window.panes.pane(INPUT).layer.pyramid.array.shape[:2] == (5, 4)
    assert "4 × 5, uint8" in window.panel.input_label.text()
    window.controller.session.set_steps([])
    assert window.panes.pane(INPUT).layer.pyramid.array.shape[:2] == (height, width)
    assert window.controller.session.input is window.controller.session.original


def test_undo_and_redo_go_through_steps_noise_and_parameters(window: MainWindow) -> None:
    opened(window)
    session = window.controller.session
    for change in (
        lambda: session.set_steps([FLIP]),
        lambda: session.set_noise(Noise(20, 1)),
        lambda: session.set_params({**session.params, "window": 9}),
        lambda: session.set_noise(None),
    ):
        change()
        answer(window) if session.lacks_steps else None
        finish(window, run(window))
    seen = []
    while session.can_undo and len(seen) < 4:
        session.undo()
        answer(window) if session.lacks_steps else None
        finish(window, run(window))
        seen.append((wanted(window), session.params["window"], window.panel.noise.tick.isChecked()))
        assert [s["step"] for s in session.input_steps] == wanted(window)
    assert seen[0] == (["flip", "noise"], 9, True)
    assert seen[1] == (["flip", "noise"], seen[3][1], True)
    assert seen[2] == (["flip"], seen[3][1], False) and seen[3][0] == []
    assert session.input is session.original
    session.redo()
    session.redo()
    assert wanted(window) == ["flip", "noise"] and session.noise == Noise(20, 1)
    assert window.panel.noise.tick.isChecked() and len(window.panel.steps.rows) == 1


def test_a_drag_is_one_step_of_undo(window: MainWindow) -> None:
    opened(window)
    session, noise = window.controller.session, window.panel.noise
    noise.tick.click()
    noise.slider.setSliderDown(True)
    for place in (40, 50, 60):
        noise.slider.setValue(place)
    noise.slider.setSliderDown(False)
    noise.slider.setValue(70)
    sigmas = []
    while session.noise is not None:
        sigmas.append(session.noise.sigma)
        session.undo()
    assert len(sigmas) == 3, "the place after the drag, the whole drag, the tick"


def test_a_step_that_changes_while_a_run_is_on_waits_for_it(window: MainWindow) -> None:
    opened(window)
    session = window.controller.session
    session.set_params({**session.params, "window": 9})
    old = run(window)
    session.set_steps([FLIP])
    session.set_steps([INVERT])
    assert asked(window) == []
    finish(window, old)
    assert [s["step"] for r in asked(window) for s in r.steps] == ["invert"]
    made = answer(window)
    assert run(window).input is made and run(window).params["window"] == 9
    bring(window, old, "serial", picture(13), ok=None)
    assert window.stack.shown("serial", "image") is None, "a late result of the input before"
    bring(window, run(window), "serial", picture(14), ok=None)
    assert window.stack.shown("serial", "image") is not None


def test_rows_are_ticked_moved_and_removed(window: MainWindow, qtbot: QtBot) -> None:
    opened(window)
    section, session = window.panel.steps, window.controller.session
    session.set_steps([FLIP, INVERT, {"step": "noise", "sigma": 3, "seed": 0}])
    answer(window)
    assert [row.words.text() for row in section.rows] == ["flip left-right", "invert"]
    assert window.panel.noise.tick.isChecked()
    section.rows[1].up.click()
    assert wanted(window) == ["invert", "flip", "noise"]
    assert not section.rows[0].up.isEnabled() and not section.rows[1].down.isEnabled()
    qtbot.keyClick(section.rows[0].tick, Qt.Key.Key_Space)
    finish(window, run(window))
    assert session.steps[0] == {"step": "invert", "off": True}
    assert [s["step"] for s in asked(window)[-1].steps] == ["flip", "noise"]
    section.rows[0].remove.click()
    assert wanted(window) == ["flip", "noise"] and [row.step["step"] for row in section.rows] == ["flip"]
    add(window, "invert")
    assert wanted(window) == ["flip", "invert", "noise"], "the noise stays last"


def test_a_crop_is_kept_inside_while_it_is_typed(window: MainWindow) -> None:
    opened(window)
    height = window.controller.session.input.array.shape[0]
    add(window, "crop")
    form = window.panel.steps.rows[0].form
    form.editor("start").spins[0].setValue(height - 3)
    assert window.controller.session.steps[0]["shape"][0] == 3
    assert form.editor("shape").spins[0].value() == 3
    form.editor("shape").spins[0].setValue(10)
    assert window.controller.session.steps[0]["shape"][0] == 3 and form.editor("shape").spins[0].value() == 3


def test_places_and_sizes_are_edited_in_the_order_in_which_they_are_read(window: MainWindow) -> None:
    opened(window)
    add(window, "crop")
    form = window.panel.steps.rows[0].form
    for name, axes in (("start", ("y", "x")), ("shape", ("height", "width"))):
        down, across = form.editor(name).spins
        assert across.geometry().right() < down.geometry().left()
        assert [spin.accessibleName().rpartition(", ")[2] for spin in (down, across)] == list(axes)
    form.editor("shape").spins[1].setValue(5)
    assert window.controller.session.steps[0]["shape"][1] == 5
    assert "crop 5 × " in window.panel.steps.rows[0].words.text()


def test_steps_that_fail_are_taken_back_with_a_sentence(window: MainWindow) -> None:
    opened(window)
    session = window.controller.session
    session.set_steps([FLIP])
    made = answer(window)
    finish(window, run(window))
    session.set_steps([FLIP, {"step": "gray"}])
    engine(window).answered.emit(Failed(asked(window)[-1].job, "one is gray already; leave the step gray out."))
    assert wanted(window) == ["flip"] and session.input is made and len(window.panel.steps.rows) == 1
    assert "gray already" in window.messages.current().text
    session.undo()
    assert wanted(window) == []


def test_another_file_goes_through_the_same_steps_but_noise(window: MainWindow, tmp_path: Path) -> None:
    opened(window)
    session = window.controller.session
    session.set_steps([CROP, {"step": "noise", "sigma": 3}])
    answer(window)
    finish(window, run(window))
    save(tmp_path / "b.npy", picture(9))
    window.controller.open_file(str(tmp_path / "b.npy"))
    assert wanted(window) == ["crop"] and asked(window)[-1].input is session.original
    made = answer(window)
    assert run(window).input is made and made.array.shape[:2] == (5, 4) and "b.npy + crop" in window.windowTitle()


def test_steps_that_do_not_fit_another_file_are_left_out_and_said(window: MainWindow, tmp_path: Path) -> None:
    opened(window)
    session = window.controller.session
    session.set_steps([CROP])
    answer(window)
    finish(window, run(window))
    save(tmp_path / "b.npy", picture(9)[:3, :3])
    window.controller.open_file(str(tmp_path / "b.npy"))
    engine(window).answered.emit(Failed(asked(window)[-1].job, "No part of b.npy; choose a part inside."))
    assert wanted(window) == [] and run(window).input is session.original and session.input is session.original
    text = window.messages.current().text
    assert text == "No part of b.npy; choose a part inside. The steps of the previous input are left out."


@pytest.mark.parametrize("step", [{"step": "rotate", "angle": 90}, {"step": "resize", "factor": 0.5}])
def test_steps_of_pictures_are_no_steps_of_signals(window: MainWindow, step: dict[str, Any]) -> None:
    opened(window)
    window.controller.session.set_steps([FLIP, step])
    answer(window)
    engine(window).show(signal(np.sin(np.arange(50.0)), 10.0))
    assert wanted(window) == [] and not window.panel.steps.rows
    assert "do not suit a signal" in window.messages.current().text
    ids = [a.objectName() for a in window.panel.steps.menu.actions()]
    assert "addStep.rotate" not in ids and "addStep.resize" in ids and "addStep.noise" not in ids


def test_a_region_becomes_a_crop_before_the_noise(window: MainWindow) -> None:
    opened(window)
    session = window.controller.session
    session.set_noise(Noise(3, 0))
    answer(window)
    finish(window, run(window))
    assert not window.actions_by_id["crop_region"].isEnabled()
    offered = window.panel.steps.menu.actions()
    assert offered[0].objectName() == "addStep.crop" and offered[1] is window.actions_by_id["crop_region"]
    window.parts.probe.set_region(Rect(3, 2, 8, 9))
    act(window, "crop_region")
    assert session.steps[0] == {"step": "crop", "start": [2, 3], "shape": [7, 5]} and wanted(window)[1:] == ["noise"]
    assert answer(window).array.shape[:2] == (7, 5)
    session.undo()
    assert wanted(window) == ["noise"]


def test_steps_survive_another_filter(window: MainWindow) -> None:
    opened(window)
    window.controller.session.set_steps([FLIP])
    made = answer(window)
    finish(window, run(window))
    window.controller.session.set_filter("box")
    assert wanted(window) == ["flip"] and run(window).filter == "box" and run(window).input is made


def test_without_a_result_there_is_nothing_to_use(window: MainWindow) -> None:
    opened(window)
    act(window, "use_result")
    assert "There is no result to use yet" in window.messages.current().text
    assert not window.actions_by_id["original"].isEnabled()
    assert not [r for r in engine(window).asked if isinstance(r, ResultRequest)]


# A real engine

SMALL = {"size": "64x48", "dtype": "uint8"}


@pytest.fixture(scope="module")
def real(qapp: Any) -> Any:
    with real_engine() as made:
        yield made


@pytest.fixture
def live(qtbot: QtBot, real: Any) -> Any:
    with live_window(qtbot, real, picks=("serial",)) as made:
        made.controller.queue.timed_after_pause = False
        yield made


def held(real: Any) -> int:
    """How many segments somebody holds."""
    return sum(bool(s.holders) for s in real.client.pool._segments.values())


def test_a_result_as_the_input_and_back(qtbot: QtBot, live: MainWindow, real: Any) -> None:
    controller, session = live.controller, live.controller.session
    settle(qtbot, controller, lambda: controller.open_sample("chart", SMALL))
    settle(qtbot, controller, lambda: session.set_steps([{"step": "crop", "start": [4, 4], "shape": [40, 50]}]))
    before, steps = held(real), session.steps
    result = np.array(live.panes.pane("serial").layer.pyramid.array)
    source = dict(session.input.origin)
    for _ in range(2):
        settle(qtbot, controller, lambda: act(live, "use_result"))
    np.testing.assert_array_equal(session.input.array.shape, (40, 50))
    assert session.input.name.startswith("mean2d of mean2d of chart + crop") and session.steps == ()
    origin = session.input.origin
    assert (origin["result"], origin["variant"]) == ("mean2d", "serial") and origin["params"] == session.params
    assert origin["of"]["of"] == source
    np.testing.assert_array_equal(from_origin(origin).array, live.panes.pane(INPUT).layer.pyramid.array)
    assert not np.array_equal(live.panes.pane(INPUT).layer.pyramid.array, result), "filtered once more"
    settle(qtbot, controller, lambda: act(live, "original"))
    np.testing.assert_array_equal(live.panes.pane("serial").layer.pyramid.array, result)
    assert session.steps == steps and session.input.name == "chart" and held(real) == before + 2
    assert not live.actions_by_id["original"].isEnabled()
    for name, steps_then in (("mean2d of mean2d of", ()), ("mean2d of chart", ()), ("chart", steps)):
        settle(qtbot, controller, lambda: act(live, "undo"))
        assert session.input.name.startswith(name) and session.steps == steps_then
    np.testing.assert_array_equal(live.panes.pane("serial").layer.pyramid.array, result)
    settle(qtbot, controller, lambda: controller.open_sample("chart", SMALL))
    assert held(real) == before and len(session.originals) == 1


def test_steps_in_the_window_are_those_of_the_engine(qtbot: QtBot, live: MainWindow, real: Any) -> None:
    controller, session = live.controller, live.controller.session
    settle(qtbot, controller, lambda: controller.open_sample("chart", SMALL))
    before = held(real)
    steps = [{"step": "resize", "factor": 0.5}, {"step": "convert", "dtype": "float32"}, {"step": "noise", "sigma": 2}]
    settle(qtbot, controller, lambda: session.set_steps(steps))
    expected = apply_steps(sample("chart", **SMALL), steps)
    np.testing.assert_array_equal(live.panes.pane(INPUT).layer.pyramid.array, expected.array)
    assert live.panes.pane("serial").status.text().startswith("PSNR")
    settle(qtbot, controller, lambda: session.set_steps([]))
    assert held(real) == before and session.input is session.original

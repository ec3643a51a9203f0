"""Pinned results: two settings of a parameter side by side, verified and timed like any other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fake_engine import act
from live import live_window, real_engine, settle
from pytestqt.qtbot import QtBot
from result_rows import row
from simulated_rows import shared_result
from tasks import right
from test_session import shared

from app.base.worker import Engine
from app.controllers.outputs import Outputs
from app.controllers.queue import RunQueue
from app.models.curves.stroke import DASHES, variant_stroke
from app.models.experiment.experiment_text import command_text, python_text
from app.models.experiment.pin import MOST_PINS, Pin
from app.models.experiment.session import Session
from app.models.experiment.shown import variant_of
from app.models.files.session_file import parse_session, saved_of, session_text
from app.models.files.session_view import Offered, View
from app.models.results.results import Results
from app.views.window.main_window import INPUT, MainWindow
from gpu_ops import ParamError, find_filter, load
from gpu_ops.engine.messages import RunUpdate
from gpu_ops.engine.shared import SharedArray
from gpu_ops.types import REFERENCE, Pick


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with real_engine() as made:
        yield made


@pytest.fixture
def window(qtbot: QtBot, engine: Engine) -> Iterator[MainWindow]:
    """Noise, with the parallel mean of window 3."""
    with live_window(qtbot, engine, picks=("parallel",)) as made:
        controller = made.controller
        settle(qtbot, controller, lambda: controller.open_sample("noise_image", {"size": "128x96"}))
        yield made


def pin(qtbot: QtBot, window: MainWindow, value: int) -> str:
    """Pin the present result by the menu, and choose another window size. Returns the id of the pinned one."""
    session = window.controller.session
    ticked = session.choice.picks[-1]
    before = entries(window)[ticked]
    act(window, "pin")
    (id, *_) = reversed(session.shown.pins)
    assert entries(window)[id] == before and not window.controller.busy, "it has row and picture at once"
    settle(qtbot, window.controller, lambda: session.set_param("window", value))
    return id


def entries(window: MainWindow) -> dict[str, tuple[str, object, bool]]:
    """(state, window size, whether it is timed) of the rows by the ids of their results."""
    results, shown = window.controller.results, window.controller.session.shown
    found = {id: results.entry(shown.slot(id)) for id in shown.ids}
    return {id: (e.state, e.row and e.row.params["window"], e.seconds("kernel") is not None) for id, e in found.items()}


def pixels(window: MainWindow, id: str) -> np.ndarray:
    shown = window.stack.shown(id, "image")
    assert shown is not None
    return np.array(shown.array)


def mean(window: MainWindow, size: int) -> np.ndarray:
    """The parallel mean of the window's input."""
    shared = window.controller.session.input
    assert shared is not None
    filter, x = find_filter("mean2d"), window.controller._engine.array(shared.array)
    return right(filter, np.array(x), window=size, border="reflect")


def test_two_settings_stand_side_by_side(qtbot: QtBot, window: MainWindow) -> None:
    session, grid = window.controller.session, window.panes
    other = pin(qtbot, window, 9)
    assert variant_of(other) == "parallel" and session.choice.picks == ("parallel",)
    assert grid.keys == [INPUT, "parallel", other]
    assert [grid.pane(key).layer.title for key in ("parallel", other)] == [
        "window 9",
        "window 3 · pinned",
    ]
    assert {grid.pane(key).layer.state for key in ("parallel", other)} == {"fresh"}
    assert entries(window) == {"parallel": ("fresh", 9, True), other: ("fresh", 3, True)}
    for id, size in (("parallel", 9), (other, 3)):
        assert np.abs(pixels(window, id).astype(int) - mean(window, size)).max() <= 1, "the picture is of its settings"


def test_a_change_runs_the_ticked_variant_alone(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(qtbot, window, 9)
    asked: list[tuple[Pick, ...]] = []
    submit = window.controller._engine.submit

    def note(request: object) -> None:
        asked.append(getattr(request, "picks", ()))
        submit(request)

    monkeypatch.setattr(window.controller._engine, "submit", note)
    session = window.controller.session
    settle(qtbot, window.controller, lambda: session.set_param("window", 11))
    assert asked and all(len(picks) == 1 and not picks[0].params for picks in asked), "a live run and its timing"
    asked.clear()
    settle(qtbot, window.controller, window.controller.measure)
    assert {len(picks) for picks in asked} == {2}, "a careful measurement takes both"


def test_another_input_runs_pinned_results_again(qtbot: QtBot, window: MainWindow) -> None:
    other, controller = pin(qtbot, window, 9), window.controller
    settle(qtbot, controller, lambda: controller.open_sample("chart", {"size": "80x64", "dtype": "uint8"}))
    assert entries(window) == {"parallel": ("fresh", 9, True), other: ("fresh", 3, True)}
    assert pixels(window, other).shape == (64, 80)
    assert np.abs(pixels(window, other).astype(float) - mean(window, 3)).max() <= 1


def test_undo_brings_back_what_was_unpinned(qtbot: QtBot, window: MainWindow) -> None:
    other, session = pin(qtbot, window, 9), window.controller.session
    before = pixels(window, other)
    act(window, "unpin")
    assert session.shown.ids == ("parallel",) and other not in window.panes.keys
    settle(qtbot, window.controller, session.undo)
    assert entries(window)[other] == ("fresh", 3, True) and np.array_equal(pixels(window, other), before)
    settle(qtbot, window.controller, session.undo)
    assert session.params["window"] == 3
    assert [window.panes.pane(k).layer.title for k in ("parallel", other)] == [
        "CPU, all cores",
        "pinned",
    ]
    session.undo()
    assert not session.choice.pins


def test_another_filter_has_none(qtbot: QtBot, window: MainWindow) -> None:
    other, session = pin(qtbot, window, 9), window.controller.session
    session.set_filter("conv3x3")
    assert not session.choice.pins and other not in window.panes.keys
    settle(qtbot, window.controller, session.undo)
    assert entries(window)[other] == ("fresh", 3, True)


def test_a_pinned_result_is_kept_where_its_variant_is_unticked(qtbot: QtBot, window: MainWindow) -> None:
    other, session = pin(qtbot, window, 9), window.controller.session
    session.set_picks(())
    assert window.panes.keys == [INPUT, other] and entries(window) == {other: ("fresh", 3, True)}


def test_the_one_looked_at_is_saved(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    other, controller, path = pin(qtbot, window, 9), window.controller, tmp_path / "pinned.npy"
    proposed: list[str] = []

    def target(_parent: object, _title: str, name: str, _kinds: str) -> str:
        proposed.append(Path(name).name)
        return str(path)

    window.files.target = target
    with qtbot.waitSignal(controller.saved):
        window.files.save_result(other)
    qtbot.waitUntil(lambda: not controller.busy)
    assert np.array_equal(load(path).array, pixels(window, other))
    assert proposed == ["noise_image-mean-window3-parallel.png"], "by the settings of the pinned result"


class Segments:
    """An engine that notes which segments are released."""

    def __init__(self) -> None:
        self.released: list[str] = []

    def array(self, shared: SharedArray) -> np.ndarray:
        return np.zeros(shared.shape, shared.dtype)

    def step(self, segment: str) -> int:
        return 1

    def look(self, shared: SharedArray, view: object, pixels: int) -> None:
        """All values are there."""

    def release(self, segment: str) -> None:
        self.released.append(segment)


def test_a_segment_is_released_with_the_last_result_that_shows_it(qapp: object) -> None:
    session, engine = Session(), Segments()
    session.set_input(shared("image"))
    session.set_filter("mean2d")
    queue = RunQueue(engine, session, Results())  # type: ignore[arg-type]
    outputs, made = Outputs(engine, session, queue, lambda *_: None), np.zeros((4, 4), np.uint8)  # type: ignore[arg-type]
    pinned = session.pin("serial")

    def update(segment: str) -> RunUpdate:
        news = row("serial", "cpu", None, filter="mean2d", params=session.params)
        return RunUpdate(1, 1, "computed", news, {"image": shared_result("image", segment, made, None)})

    outputs.take(update("both"), ["serial", pinned])
    outputs.take(update("one"), ["serial"])
    assert engine.released == [] and outputs.results.keys() == {("serial", "image"), (pinned, "image")}
    outputs.keep(["serial"])
    assert engine.released == ["both"]
    outputs.take(update("nobody"), [])
    outputs.keep([])
    assert engine.released == ["both", "nobody", "one"] and not outputs.results


def test_there_are_no_more_than_the_most(window: MainWindow) -> None:
    session = window.controller.session
    for number in range(MOST_PINS):
        session.set_param("window", 3 + 2 * number)
        session.pin("parallel")
    session.set_param("window", 63)
    with pytest.raises(ParamError, match="8 results are pinned, the maximum; unpin one of them first"):
        session.pin("parallel")
    act(window, "pin")
    assert any("8 results are pinned" in message.text for message in window.messages.messages())


def test_the_menu_of_a_picture_unpins(qtbot: QtBot, window: MainWindow) -> None:
    other, menus = pin(qtbot, window, 9), window.context_menus
    menus._fill_picture(window.panes.pane(other).canvas, None)
    assert menus.key == other and menus.hide_variant.text() == "U&npin window 3 · pinned"
    menus.hide_variant.trigger()
    assert not window.controller.session.choice.pins


def test_a_session_has_them(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    other, controller, path = pin(qtbot, window, 9), window.controller, tmp_path / "two.kernelscope"
    window.files.target = lambda *_: str(path)
    act(window, "save_session_as")
    qtbot.waitUntil(path.exists)
    act(window, "unpin")
    settle(qtbot, controller, lambda: window.context.importing.open(str(path)))
    assert entries(window) == {"parallel": ("fresh", 9, True), other: ("fresh", 3, True)}
    content = json.loads(path.read_text())
    for wrong, sentence in (
        ({"baseline": other}, f"not '{other}'"),
        ({"pinned": [content["pinned"][0] | {"device": "cuda:0"}]}, "parallel is of 'cuda:0', which does not run it."),
        ({"pinned": content["pinned"] * (MOST_PINS + 1)}, "It has 9 pinned results; the maximum is 8."),
    ):
        path.write_text(json.dumps(content | wrong))
        window.context.importing.open(str(path))
        said = [message.text for message in window.messages.messages()]
        assert any(sentence in text for text in said), said


def test_outputs_that_parameters_ask_for_are_those_of_pinned_results_too(qtbot: QtBot, window: MainWindow) -> None:
    session = window.controller.session
    session.set_filter("wavelet2d", {"rule": "manual", "value": 9.0, "levels": 2})
    settle(qtbot, window.controller, lambda: session.set_picks(("serial",)))
    act(window, "pin")
    settle(qtbot, window.controller, lambda: session.set_param("value", 40.0))
    settle(qtbot, window.controller, lambda: session.set_output("noise"))
    (other,) = session.shown.pins
    for id in ("serial", other):
        shown = window.stack.shown(id, "noise")
        assert shown is not None and shown.origin.subject == session.shown.subject(id), "asked for and brought"
    assert session.shown.titles()[other] == "value 9 · pinned", "its result is that of the others"


def test_a_command_for_each(qtbot: QtBot, window: MainWindow) -> None:
    pin(qtbot, window, 9)
    lines = command_text(window.controller.session).splitlines()
    assert ["--window=9" in lines[0], "--window=3" in lines[1], len(lines)] == [True, True, 2]
    assert lines[1].replace("--window=3", "--window=9") == lines[0]


def test_a_pinned_result_is_pinned_once(qtbot: QtBot, window: MainWindow) -> None:
    other, session = pin(qtbot, window, 9), window.controller.session
    window.stack.looked_at._clicked = other
    act(window, "pin")
    assert list(session.shown.pins) == [other]
    said = window.messages.current()
    assert said is not None and said.text.startswith(
        "The result of CPU, all cores · window 3 · pinned is pinned already"
    )


def test_the_menu_of_curves_unpins_each(qtbot: QtBot, window: MainWindow) -> None:
    session, menus = window.controller.session, window.context_menus
    window.controller.open_sample("blocks", {"length": 256})
    qtbot.waitUntil(lambda: session.filter.accepts == "signal")
    settle(qtbot, window.controller, lambda: session.set_picks(("serial",)))
    first = session.params["window"]
    for size in (first + 2, first + 4):
        pin(qtbot, window, size)
    menus._fill_curves(window.stack.signal_pane)
    offered = {action.text(): action for action in menus.menu.actions() if action.text().startswith("Unpin")}
    assert list(offered) == [f"Unpin window {size} · pinned" for size in (first, first + 2)]
    offered[f"Unpin window {first} · pinned"].trigger()
    assert [key.params["window"] for key in map(session.shown.key, session.shown.pins)] == [first + 2]


def test_the_program_has_them(qtbot: QtBot, window: MainWindow) -> None:
    pin(qtbot, window, 9)
    text = python_text(window.controller.session)
    names: dict[str, object] = {}
    exec(compile(text.replace('"quick"', '"none"'), "copied", "exec"), names)
    assert sorted(key.params["window"] for key in names["runs"]) == [3, 9]  # type: ignore[attr-defined]


def test_strokes_are_unlike_that_of_the_variant() -> None:
    filter = find_filter("mean2d")
    plain = variant_stroke(filter, "parallel")
    for size in (3, 5, 7):
        id = Pin.of(filter, Pick("parallel", "cpu", {}, {}, {"window": size})).id
        stroke = variant_stroke(filter, id)
        assert stroke.hue != plain.hue and stroke.dash != plain.dash and 0 <= stroke.dash < DASHES


def test_the_reference_is_a_result_like_others_without_a_verdict(qtbot: QtBot, window: MainWindow) -> None:
    """It can be compared with any of them, is undone, kept in session files, and never timed."""
    controller, session, grid = window.controller, window.controller.session, window.panes
    settle(qtbot, controller, lambda: session.set_picks(("parallel", REFERENCE)))
    assert grid.keys == [INPUT, "parallel", REFERENCE]
    assert [grid.pane(key).layer.state for key in ("parallel", REFERENCE)] == ["fresh", None]
    assert np.array_equal(pixels(window, REFERENCE), mean(window, 3))
    assert entries(window)[REFERENCE][2] is False and entries(window)["parallel"][2] is True
    settle(qtbot, controller, controller.measure)
    assert entries(window)[REFERENCE][2] is False
    text = session_text(saved_of(session, View()))
    assert parse_session(text.encode(), "", Offered()).choice.picks == ("parallel", REFERENCE)
    settle(qtbot, controller, lambda: session.set_param("window", 5))
    assert np.array_equal(pixels(window, REFERENCE), mean(window, 5))
    session.undo()
    session.undo()
    assert session.choice.picks == ("parallel",)


def test_a_pinned_reference_is_never_timed(qtbot: QtBot, window: MainWindow) -> None:
    controller, session = window.controller, window.controller.session
    settle(qtbot, controller, lambda: session.set_picks(("parallel", REFERENCE)))
    pinned = session.pin(REFERENCE)
    settle(qtbot, controller, lambda: session.set_param("window", 5))
    settle(qtbot, controller, controller.measure)
    assert entries(window)[pinned] == ("fresh", 3, False) and np.array_equal(pixels(window, pinned), mean(window, 3))
    assert entries(window)["parallel"] == ("fresh", 5, True)

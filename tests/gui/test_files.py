"""Files that are dropped, gone through, named and written; what is said of it, and what of that is taken back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from simulated_rows import shared_result

from app.models.files.file_list import FileList
from app.models.files.file_names import open_kinds, proposed_name, save_suffix
from app.models.results.origin import Origin
from app.models.settings import Settings
from app.views.window.panels import TABLE
from gpu_ops import FORMATS, find_filter, from_array, save
from gpu_ops.engine.messages import Failed, Finished, LoadRequest, RunUpdate, SaveRequest
from gpu_ops.report.rows import Row


class Refusing(FakeEngine):
    """Says why a file cannot be loaded, as the engine does."""

    def submit(self, request: Any) -> None:
        if isinstance(request, LoadRequest) and "bad" in request.path:
            self.asked.append(request)
            self.answered.emit(Failed(request.job, f"{Path(request.path).name} is empty."))
        else:
            super().submit(request)


@pytest.fixture
def engine() -> FakeEngine:
    return Refusing()


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [str(tmp_path / f"{name}.png") for name in ("a", "b", "c", "d")]
    for place, path in enumerate(paths):
        save(path, np.full((6, 7 + place), 9 * place, np.uint8))
    return paths


def dropped(paths: list[str]) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    return data


def drop(window, paths: list[str], actions=Qt.DropAction.CopyAction | Qt.DropAction.MoveAction) -> QDropEvent:
    data = dropped(paths)
    where, left = QPointF(50, 50), Qt.MouseButton.LeftButton
    event = QDropEvent(where, actions, data, left, Qt.KeyboardModifier.ShiftModifier)
    window.dropEvent(event)
    return event


def shown(window) -> str:
    return window.windowTitle().partition(" ")[0]


def said(window) -> list[str]:
    return [m.text for m in window.messages.messages()]


# Dropping


@pytest.mark.parametrize("kind", [QDragEnterEvent, QDragMoveEvent, QDropEvent])
def test_what_is_dropped_is_copied_whatever_is_proposed(window, files: list[str], kind: type) -> None:
    data, both = dropped(files[:1]), Qt.DropAction.CopyAction | Qt.DropAction.MoveAction
    where = QPointF(50, 50) if kind is QDropEvent else QPoint(50, 50)
    event = kind(where, both, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier)
    event.setDropAction(Qt.DropAction.MoveAction)
    event.ignore()
    {QDragEnterEvent: window.dragEnterEvent, QDragMoveEvent: window.dragMoveEvent, QDropEvent: window.dropEvent}[kind](
        event
    )
    assert event.isAccepted() and event.dropAction() == Qt.DropAction.CopyAction


def test_dropped_files_follow_one_another(qtbot, engine, window, files: list[str]) -> None:
    actions = window.actions_by_id
    assert not actions["next_file"].isEnabled() and not actions["previous_file"].isEnabled()
    drop(window, files[:3])
    assert shown(window) == "a.png"
    assert said(window) == ["You dropped 3 files. This is the first; Page Down opens the next."]
    assert actions["next_file"].isEnabled() and not actions["previous_file"].isEnabled()
    with qtbot.waitActive(window):
        window.activateWindow()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_PageDown)
    assert shown(window) == "b.png" and said(window) == ["File 2 of 3: b.png."]
    act(window, "next_file")
    assert shown(window) == "c.png" and not actions["next_file"].isEnabled()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_PageUp)
    assert shown(window) == "b.png"
    window.controller.open_file(files[3])
    assert not actions["next_file"].isEnabled() and not actions["previous_file"].isEnabled()


def test_a_file_that_cannot_be_opened_is_left_out_with_its_message(qtbot, window, files, tmp_path) -> None:
    drop(window, [files[0], str(tmp_path / "bad.png"), str(tmp_path / "bad2.png"), files[1]])
    act(window, "next_file")
    qtbot.waitUntil(lambda: shown(window) == "b.png")
    left_out = [m.text for m in window.messages.messages() if m.subject == "left out"]
    assert [text.partition(" ")[0] for text in left_out] == ["bad.png", "bad2.png"]
    assert window.files.list.paths == (files[0], files[1])
    act(window, "previous_file")
    assert shown(window) == "a.png"


def test_where_no_other_file_can_be_opened_the_input_stays(qtbot, window, files, tmp_path) -> None:
    drop(window, [files[0], str(tmp_path / "bad.png")])
    act(window, "next_file")
    assert shown(window) == "a.png" and said(window)[-1] == "bad.png is empty."
    assert not window.actions_by_id["next_file"].isEnabled()


def test_a_list_goes_on_in_the_direction_it_went() -> None:
    files = FileList()
    assert files.start(["a", "x", "b", "y"]) == "a"
    files.opened("a")
    assert files.go(-1) == "" and files.go(1) == "x" and files.go(1) == "b"
    files.opened("b")
    assert files.place == 2 and files.go(1) == "y" and files.failed() == ""
    assert files.place == 2 and files.go(-1) == "x" and files.failed() == "a"
    files.opened("a")
    assert files.paths == ("a", "b") and files.place == 0 and files.can_go(1) and not files.can_go(-1)


# Messages and what takes them back


def test_an_input_that_opens_takes_back_that_others_could_not(window, files, tmp_path) -> None:
    for number in range(15):
        window.controller.open_file(str(tmp_path / f"bad{number}.png"))
    assert len(said(window)) == 15 and window.messages.more_button.text() == "and 12 more"
    window.controller.open_file(files[0])
    assert said(window) == [] and not window.messages.isVisible()


def news(window, failure: str = "") -> RunUpdate:
    key = window.controller.session.shown.key("serial")
    row = Row(key.filter, key.variant, key.device, key.params, key.knobs, (8, 9), "uint8", "stream")
    row = replace(row, ok=not failure or None, failure=failure, failure_kind="kernel" if failure else "")
    return RunUpdate(1, window.controller.queue.generation, "verified", row)


def test_a_variant_that_runs_takes_back_that_it_did_not(engine, window, files) -> None:
    window.controller.open_file(files[0])
    for _ in range(3):
        engine.answered.emit(news(window, "It does not compile."))
    message = window.messages.current()
    assert (message.subject, message.count) == ("run/serial", 3) and len(said(window)) == 1
    engine.answered.emit(news(window))
    assert said(window) == []
    engine.answered.emit(news(window, "It does not compile."))
    window.controller.session.set_filter("box")
    assert said(window) == [], "no variant of another filter can take it back"


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_more_messages_are_in_the_log(qtbot, window, tmp_path) -> None:
    for number in range(5):
        window.controller.open_file(str(tmp_path / f"bad{number}.png"))
    window.messages.more_button.click()
    page = window.parts.pages["diagnostics"].page
    assert page.tabs.currentWidget() is page.log and "bad0.png is empty." in page.log.toPlainText()
    page.window().close()


# Writing


def test_every_export_says_what_was_written_where(engine, window, files, tmp_path) -> None:
    window.controller.open_file(files[0])
    asked: list[tuple[str, str]] = []

    def target(parent, title: str, proposed: str, kinds: str) -> str:
        asked.append((Path(proposed).name, kinds))
        return str(tmp_path / Path(proposed).name)

    window.files.target = target
    for id in ("export_csv", "export_json", "export_png"):
        act(window, id)
        name = asked[-1][0]
        size = (tmp_path / name).stat().st_size
        message = window.messages.current()
        assert message.passing and message.kind == "info"
        assert message.text.startswith(f"Saved {name} (") and message.text.endswith(f"in {tmp_path}.")
        assert size > 0
    assert [name for name, _ in asked] == [f"a-mean-window3-{x}" for x in ("results.csv", "results.json", "ladder.png")]
    assert "(*.csv)" in asked[0][1] and "(*.json)" in asked[1][1] and "(*.png)" in asked[2][1]
    window.docks[TABLE].csv_action.trigger()
    assert asked[-1][0] == "a-mean-window3-results.csv", "the table's own menu asks the same"


def test_a_failure_to_write_goes_when_it_was_written(window, files, tmp_path) -> None:
    window.controller.open_file(files[0])
    window.files.target = lambda *_: str(tmp_path / "nowhere" / "a.png")
    act(window, "export_png")
    act(window, "export_csv")
    assert "cannot be written (No such file or directory)" in said(window)[0] and window.messages.current().count == 2
    window.files.target = lambda *_: str(tmp_path / "a.csv")
    act(window, "export_csv")
    assert [" ".join(text.split()[:2]) for text in said(window)] == ["Saved a.csv"]


def test_a_saved_result_is_said_and_its_name_proposed(engine, window, files, tmp_path) -> None:
    window.controller.open_file(files[0])
    act(window, "save")
    assert "no result to save" in said(window)[0]
    engine.arrays["result"] = np.zeros((6, 7), np.uint8)
    made = shared_result("image", "result", engine.arrays["result"], None)
    window.controller._outputs.results["parallel", window.controller.session.output.id] = made
    window.controller._outputs.origins["parallel", window.controller.session.output.id] = Origin()
    asked: list[tuple[str, ...]] = []

    def target(parent, title: str, proposed: str, kinds: str) -> str:
        asked.append((Path(proposed).name, kinds))
        return str(tmp_path / "out.png")

    window.files.target = target
    act(window, "save")
    assert asked[0][0] == "a-mean-window3-parallel.png" and asked[0][1].startswith("A PNG image (*.png);;")
    (tmp_path / "out.png").write_bytes(b"12345")
    job = next(r.job for r in engine.asked if isinstance(r, SaveRequest))
    engine.answered.emit(Finished(job))
    assert len(said(window)) == 1 and said(window)[0].startswith("Saved out.png (5 bytes)")


def test_dialogs_begin_where_the_last_one_ended(qtbot, engine, files, tmp_path) -> None:
    settings = Settings()
    window = make(qtbot, engine, settings)
    asked: list[str] = []

    def choose(parent, title: str, folder: str, kinds: str) -> str:
        asked.append(folder)
        assert kinds == open_kinds()
        return files[0]

    window.files.chooser = choose
    act(window, "open")
    act(window, "open")
    assert asked == [str(Path.home()), str(tmp_path)]
    window.files.target = lambda parent, title, proposed, kinds: asked.append(proposed) or str(tmp_path / "x.csv")
    act(window, "export_csv")
    act(window, "export_csv")
    assert [str(Path(p).parent) for p in asked[2:]] == [str(Path.home()), str(tmp_path)]
    engine.end()
    window.controller.cancel()


def test_the_kinds_are_those_that_the_engine_reads() -> None:
    every, images, signals, stacks, rest = open_kinds().split(";;")
    assert all(f"*{suffix}" in every for format in FORMATS for suffix in format.suffixes)
    assert "*.jpg" in images and "*.npy" in images and "*.wav" not in images
    assert "*.wav" in signals and "*.csv" in signals and "*.png" not in signals
    assert "*.npy" in stacks and "*.mp4" in stacks and "*.png" not in stacks
    assert rest == "All files (*)"


def test_names_tell_what_was_done() -> None:
    mean, conv = find_filter("mean2d"), find_filter("conv3x3")
    defaults = {p.name: p.default for p in conv.params}
    sobel = next(name for name in conv.presets if "sobel" in name.lower())
    events = proposed_name("camera", mean, {"window": 5, "border": "reflect"}, "shared", ".png")
    assert events == "camera-mean-window5-shared.png"
    events = proposed_name("photo.of.me.jpeg", mean, {"window": 7, "border": "zero"}, "x/y", ".png")
    assert events == "photo.of.me-mean-window7-border_zero-x_y.png"
    events = proposed_name("a.png", conv, {**defaults, **conv.presets[sobel]}, "results", ".csv")
    assert events.startswith(f"a-conv3x3-{sobel}-passes1")
    assert [save_suffix("image", dtype, None) for dtype in ("uint8", "float32")] == [".png", ".npy"]
    assert [save_suffix("signal", "float32", rate) for rate in (8e3, None)] == [".wav", ".npy"]


def test_what_becomes_of_nan_is_chosen_in_the_message(qtbot, window, engine: FakeEngine, tmp_path: Path) -> None:
    holed = np.ones((6, 7), np.float32)
    holed[2, 3] = np.nan
    save(tmp_path / "holed.npy", holed)
    engine.show(from_array(np.zeros((4, 4), np.uint8)))
    window.controller.open_file(str(tmp_path / "holed.npy"))
    assert window.controller.session.input.name == "array", "the input before stays"
    message = window.messages.current()
    assert "holed.npy" in message.text and "--nonfinite" not in message.text
    buttons = {b.text(): b for b in window.messages.rows[0].choice_buttons}
    assert list(buttons) == ["Keep them", "Replace them with 0"] and all(b.isVisible() for b in buttons.values())
    qtbot.mouseClick(buttons["Replace them with 0"], Qt.MouseButton.LeftButton)
    assert window.controller.session.input.name == "holed.npy"
    assert window.panes.pane("input").layer.pyramid.array[2, 3] == 0
    assert window.messages.current() is None
    window.controller.open_file(str(tmp_path / "holed.npy"))
    qtbot.mouseClick(window.messages.rows[0].choice_buttons[0], Qt.MouseButton.LeftButton)
    assert np.isnan(window.panes.pane("input").layer.pyramid.array[2, 3])


def test_a_stack_opens_and_the_window_keeps_its_size(window, engine: FakeEngine, tmp_path: Path) -> None:
    np.save(tmp_path / "stack.npy", np.zeros((51, 38, 57), np.float32))
    engine.show(from_array(np.zeros((4, 4), np.uint8)))
    size, least = window.size(), window.minimumSizeHint()
    window.controller.open_file(str(tmp_path / "stack.npy"))
    assert window.controller.session.input.name == "stack.npy"
    assert (window.size(), window.minimumSizeHint().height() <= least.height() * 1.2) == (size, True)

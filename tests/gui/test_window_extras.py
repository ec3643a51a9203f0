"""What makes the window pleasant: it remembers, opens recent files, takes pictures, finds actions, and says its state.

The engine is a fake that loads at once and computes nothing.
"""

from __future__ import annotations

import argparse
import csv
import gc
import io
import math
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from lanes import daily_subset
from PySide6.QtCore import SIGNAL, QCoreApplication, QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QImage
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.controllers.look import Appearance
from app.models.settings import MOST_RECENT, Settings
from app.shell.window import settings_for
from app.views.dialogs.offers import palette_offers
from app.views.timing.row_text import recorded_text
from app.views.window.main_window import INPUT, ORDER_MS, MainWindow
from gpu_ops import from_array, save
from gpu_ops.devices.kernel_source import source_hash
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.report.rows import Report, Row
from gpu_ops.types import Timing

REPORT = Report({"cpu": "Xeon", "devices": {"cuda:0": {"model": "NVIDIA H200"}}}, ())


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> MainWindow:
    return make(qtbot, engine)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [str(tmp_path / f"picture{i:02}.png") for i in range(MOST_RECENT + 2)]
    for i, path in enumerate(paths):
        save(path, np.full((8, 9), i, np.uint8))
    return paths


def shown(window: MainWindow, key: str = INPUT) -> np.ndarray:
    return np.asarray(window.panes.pane(key).layer.pyramid.array)


# What is remembered.


def test_the_window_comes_back_as_it_was_left(qtbot, engine, tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    first = make(qtbot, engine, Settings(path))
    first.resize(790, 640)
    first.timing_dock.hide()
    act(first, "scheme_dark")
    first.close()
    kept = Settings(path)
    assert (kept.scheme, kept.presenter) == ("dark", False)
    second = make(qtbot, engine, kept)
    assert second.size() == first.size() and not second.timing_dock.isVisible()
    assert second.controller.session.input is None
    act(second, "reset_layout")
    assert second.timing_dock.isVisible()


def test_the_size_for_a_room_is_kept(qtbot, engine, tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    window = make(qtbot, engine, Settings(path))
    act(window, "presenter")
    window.close()
    assert Settings(path).presenter
    window.look.set_presenter(False)
    assert not window.actions_by_id["presenter"].isChecked()


def test_settings_that_are_broken_are_passed_over(qtbot, engine, tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    path.write_text("[window]\ngeometry=nonsense\nlayout=7\n[look]\nscheme=pink\npresenter=\n[files]\nrecent=a.png\n")
    kept = Settings(path)
    window = make(qtbot, engine, kept)
    assert window.experiment_dock.isVisible() and window.timing_dock.isVisible()
    assert (kept.scheme, kept.presenter, kept.recent) == ("system", False, ("a.png",))


@pytest.mark.parametrize("events", [{"size": "900x600"}, {"scheme": "dark"}, {"screenshot": "x.png"}, {}])
def test_a_look_given_on_the_command_line_leaves_settings_alone(events, tmp_path, monkeypatch) -> None:
    path = tmp_path / "window.ini"
    monkeypatch.setattr("app.shell.window.settings_file", lambda: path)
    args = argparse.Namespace(**{"size": None, "scheme": None, "presenter": False, "screenshot": None, **events})
    settings = settings_for(args)
    settings.set_look("dark", False)
    settings.save()
    assert path.exists() == (not events)


# Recent files.


def test_recent_files_are_the_ten_newest_whatever_opened_them(qtbot, engine, window, files: list[str]) -> None:
    for path in files[:-2]:
        window.controller.open_file(path)
        engine.end()
    window.files.chooser = lambda *_: files[-2]
    act(window, "open")
    drop(window, files[-1])
    window.controller.open_file(files[5])
    expected = [files[5], *(p for p in reversed(files) if p != files[5])][:MOST_RECENT]
    assert list(window.context.settings.recent) == expected
    assert [a.data() for a in window.parts.recent.actions] == expected
    Path(expected[3]).unlink()
    window.parts.menus["file/recent"].aboutToShow.emit()
    gone = window.parts.recent.actions[3]
    assert not gone.isEnabled() and "no longer exists" in gone.text()
    window.parts.recent.actions[1].trigger()
    assert window.windowTitle().startswith(Path(expected[1]).name)
    act(window, "clear_recent")
    assert window.context.settings.recent == () and window.parts.recent.actions == []
    assert not window.actions_by_id["clear_recent"].isEnabled()


def test_what_cannot_be_opened_is_not_remembered(window, tmp_path: Path) -> None:
    window.controller.open_file(str(tmp_path / "missing.png"))
    assert window.context.settings.recent == ()


# Pictures in and out.


def drop(window: MainWindow, path: str) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(path)])
    keys, buttons = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    event = QDropEvent(QPointF(300, 300), Qt.DropAction.CopyAction, mime, buttons, keys)
    window.dropEvent(event)
    assert event.isAccepted()


def test_a_copied_picture_can_be_pasted(engine, window) -> None:
    rows = np.arange(60, dtype=np.uint8).reshape(6, 10) * 4
    rows[-1, -1] = 255
    engine.show(from_array(rows))
    act(window, "copy_image")
    image = QApplication.clipboard().image()
    assert (image.width(), image.height()) == (10, 6)
    assert [image.pixelColor(x, 2).red() for x in range(10)] == rows[2].tolist()
    result = np.flipud(rows).copy()
    window.panes.set_array("serial", result, None, "result")
    act(window, "copy_image")
    act(window, "paste_image")
    np.testing.assert_array_equal(shown(window), result)
    assert window.windowTitle().startswith("pasted")
    assert window.context.settings.recent == ()


def test_the_picture_with_the_focus_is_copied(qtbot, engine, window) -> None:
    engine.show(from_array(np.array([[0, 255, 0]], np.uint8)))
    window.panes.set_array("serial", np.full((1, 5), 255, np.uint8), None, "result")
    window.panes.pane(INPUT).canvas.setFocus()
    qtbot.waitUntil(lambda: window.panes.pane(INPUT).canvas.hasFocus())
    act(window, "copy_image")
    assert QApplication.clipboard().image().width() == 3


def test_pasted_colours_stay_and_an_empty_clipboard_is_said(window) -> None:
    QApplication.clipboard().clear()
    act(window, "paste_image")
    assert "no picture on the clipboard" in window.messages.current().text
    image = QImage(4, 3, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    QApplication.clipboard().setImage(image)
    act(window, "paste_image")
    assert shown(window).shape == (3, 4, 3) and shown(window)[1, 1].tolist() == [255, 0, 0]


def test_nothing_to_copy_is_said(window) -> None:
    act(window, "copy_image")
    assert "no picture to copy" in window.messages.current().text


# Actions by name.


def test_the_palette_finds_and_does(qtbot, window) -> None:
    qtbot.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    palette = window.parts.palette
    qtbot.waitUntil(palette.isVisible)
    able = [name for name, action, *_ in palette_offers(window.parts) if action.isEnabled() and action.isVisible()]
    assert palette.texts() == able and "Cancel" not in able and "Preferences…" in able
    qtbot.keyClicks(palette.line, "colour map")
    names = palette.texts()
    assert names and all(name.startswith("Colour map: ") for name in names)
    qtbot.keyClick(palette.line, Qt.Key.Key_Down)
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    assert not palette.isVisible() and window.display.colormap == "viridis"
    assert window.actions_by_id["map_viridis"].isChecked()
    act(window, "palette")
    qtbot.keyClicks(palette.line, "no such thing")
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    assert palette.texts() == [] and palette.isVisible()
    qtbot.keyClick(palette.line, Qt.Key.Key_Escape)
    assert not palette.isVisible()


# Marks and pairs.


def test_marks_follow_the_models(engine, window) -> None:
    actions = window.actions_by_id
    engine.show(from_array(np.eye(9, dtype=np.uint8)))
    assert actions["scheme_light"].isChecked() and not actions["swap"].isEnabled()
    window.panes.set_mode("swipe")
    window.display.set_colormap("magma")
    window.look.choose("dark")
    assert all(actions[id].isChecked() for id in ("compare_swipe", "map_magma", "scheme_dark"))
    window.panes.set_pair(INPUT, "parallel")
    act(window, "swap")
    assert (window.panes.first.currentData(), window.panes.second.currentData()) == ("parallel", INPUT)
    engine.show(from_array(np.arange(50.0)))
    assert not actions["swap"].isEnabled() and not actions["compare_swipe"].isEnabled()


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
@pytest.mark.parametrize("kind", daily_subset(["image", "signal"], 1, str))
def test_whatever_is_offered_can_be_done(qtbot, engine, window, kind: str) -> None:
    """One after the other in the order of the menus; whoever is asked for a file takes none."""
    array = np.eye(9, dtype=np.uint8) if kind == "image" else np.arange(50.0)
    window.files.chooser = window.files.target = window.files.folder_chooser = lambda *asked: ""
    engine.show(from_array(array))
    done = []
    for id, action in window.actions_by_id.items():
        if id not in ("quit", "paste_image") and action.isEnabled():  # what is pasted would be another input
            action.trigger()
            if id == "edit_kernel":
                window.stack.setFocus()  # otherwise the full screen would show the editor's panel
            done.append(id)
    assert {"open", "export_csv", "find_variant", "sweep", "recorded", "fit", "zoom_in", "xray", "claims"} <= set(done)
    assert ("compare_swipe" in done) == ("levels_auto" in done) == (array.ndim == 2)
    assert window.parts.pages["claims"].isVisible()
    assert window.xray_dock.isVisible(), "the exercise opens the timeline after the layout was reset"
    act(window, "reset_layout")
    assert not window.xray_dock.isVisible()
    act(window, "presenter")
    act(window, "scheme_light")
    act(window, "quit")
    assert not window.isVisible()


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_a_look_holds_nothing_of_windows_that_are_gone(qtbot, engine, qapp: QApplication) -> None:
    look = Appearance(qapp, "light")
    listeners = [look.receivers(SIGNAL("changed()"))]
    stays, goes = make(qtbot, engine, look=look), make(qtbot, engine, look=look)
    act(goes, "preferences")
    listeners.append(look.receivers(SIGNAL("changed()")))
    kept = [weakref.ref(goes), *(weakref.ref(action) for action in goes.actions_by_id.values())]
    goes.close()
    goes.deleteLater()
    del goes
    for _ in range(3):
        qapp.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
    assert listeners == [0, 5] and look.receivers(SIGNAL("changed()")) == 2
    assert not any(ref() for ref in kept)
    look.choose("dark")
    assert stays.actions_by_id["scheme_dark"].isChecked()
    look.choose("light")


# Runs of other machines.


def recorded_row(variant: str, device: str, median: float, **more: Any) -> Row:
    kernel = Timing("kernel", "wall", median, median, median, median, 9, "", "stream")
    job = {"filter": "mean2d", "params": {"border": "reflect", "window": 3}, "shape": (8, 9), "dtype": "uint8"}
    events = {"knobs": {}, "stages": {"kernel": kernel}, "ok": True, "mode": "stream", "protocol": "careful"}
    return Row(variant=variant, device=device, **job | events | more)


def test_recorded_runs_of_the_same_job_stand_beside_own_ones(engine, window, files: list[str]) -> None:
    results, session = window.controller.results, window.controller.session
    runs = [
        recorded_row("serial", "cpu", 1e-4, protocol="quick"),
        recorded_row("serial", "cpu", 2e-4),
        recorded_row("naive", "cuda:0", 1e-6),
        recorded_row("shared", "cuda:0", 1e-6, shape=(9, 9)),
    ]
    window.context.recorded._read = lambda: {"one.json": replace(REPORT, rows=tuple(runs))}
    window.controller.open_file(files[0])
    own = results.slots()
    act(window, "recorded")
    found = [e for e in results.entries() if e.recorded]
    assert results.slots()[: len(own)] == own
    assert [(e.variant, e.device, e.machine) for e in found] == [
        ("serial", "cpu", "NVIDIA H200"),
        ("naive", "cuda:0", "NVIDIA H200"),
    ]
    assert math.isclose(found[0].seconds("kernel"), 2e-4) and found[0].name == "CPU, one core"
    session.set_params({"window": 5, "border": "reflect"})
    assert not any(e.recorded for e in results.entries())
    session.undo()
    assert [e.state for e in results.entries() if e.recorded] == ["fresh", "fresh"]
    act(window, "recorded")
    assert results.slots() == own


def test_a_recorded_run_of_a_kernel_that_changed_since_says_so(window, files: list[str]) -> None:
    today = source_hash("mean2d/1_naive.cu")
    runs = [
        recorded_row("naive", "cuda:0", 1e-6, source_hash="0" * 16),
        recorded_row("constant", "cuda:0", 3e-6, source_hash="0" * 16),
        recorded_row("naive", "cuda:0", 2e-6, source_hash=today, protocol="quick"),
    ]
    window.context.recorded._read = lambda: {"one.json": replace(REPORT, rows=tuple(runs))}
    window.controller.open_file(files[0])
    act(window, "recorded")
    naive, constant = (e for e in window.controller.results.entries() if e.recorded)
    assert math.isclose(naive.seconds("kernel"), 2e-6) and recorded_text(naive) == "recorded · NVIDIA H200"
    assert recorded_text(constant) == "recorded · NVIDIA H200 · older kernel"
    results = window.controller.results
    events = {r["variant"]: r.get("age") for r in results.to_report_rows() if r.get("recorded")}
    assert events == {"naive": None, "constant": "older kernel"}
    notes = {r["variant"]: r["notes"] for r in csv.DictReader(io.StringIO(results.to_csv())) if r["recorded"] == "True"}
    assert notes == {"naive": "", "constant": "older kernel"}


def test_without_a_recorded_run_of_the_job_it_is_said(window, files: list[str]) -> None:
    window.controller.open_file(files[0])
    act(window, "recorded")
    said = window.messages.current().text
    assert said.startswith("There is no recorded run of Mean (image), window 3, border reflect, of 9 × 8 uint8.")
    assert "nearest recorded runs: window 3, border reflect, 256 × 256 float32" in said and "mean2d" not in said
    results = window.controller.results
    assert not any(entry.recorded for entry in results.entries())
    buttons = [b for b in window.messages.findChildren(QPushButton) if b.text().startswith("Show window 3, border re")]
    button = buttons[0]
    button.click()
    shown = [entry for entry in results.entries() if entry.recorded]
    assert shown and window.messages.messages() == ()
    of = {recorded_text(entry).removesuffix(" · older kernel") for entry in shown}
    assert of == {"recorded · NVIDIA H200 · window 3, border reflect, 256 × 256 float32"}, (
        "none can be taken for one's own"
    )
    assert all("256 × 256 float32" in line for line in results.to_csv().splitlines() if ",True," in line)
    window.controller.session.set_params({"window": 5, "border": "reflect"})
    assert not any(entry.recorded for entry in results.entries()), "another job was asked for"
    act(window, "recorded")
    act(window, "recorded")
    assert window.messages.current().subject == "recorded"
    act(window, "recorded")
    assert window.messages.messages() == (), "who hides recorded runs misses none"


def test_recorded_runs_that_appear_take_back_that_there_are_none(window, files: list[str]) -> None:
    runs = [recorded_row("serial", "cpu", 2e-4, params={"window": 5, "border": "reflect"})]
    window.context.recorded._read = lambda: {"one.json": replace(REPORT, rows=tuple(runs))}
    window.actions_by_id["recorded"].trigger()
    assert window.messages.messages() == (), "before there is an input nothing can be missing"
    window.controller.open_file(files[0])
    assert window.messages.current().subject == "recorded"
    window.controller.session.set_params({"window": 5, "border": "reflect"})
    assert [e.recorded for e in window.controller.results.entries()].count(True) == 1
    assert window.messages.messages() == ()


# State and keys.


def test_cancel_and_the_bar_show_only_what_takes_its_time(qtbot, engine, window, files: list[str]) -> None:
    cancel, bar = window.actions_by_id["cancel"], window.status.progress
    assert not cancel.isEnabled()
    window.controller.open_file(files[0])
    assert cancel.isEnabled() and not bar.isVisible()
    engine.end()
    assert not cancel.isEnabled()
    window.controller.run_live()
    assert not bar.isVisible()
    qtbot.waitUntil(bar.isVisible)
    act(window, "cancel")
    assert not bar.isVisible() and not cancel.isEnabled()


def test_the_status_bar_says_where_the_engine_runs(window) -> None:
    devices = (DeviceStatus("cpu", "Xeon", True), DeviceStatus("cuda:0", "H200", True))
    assert window.status.state.text() == "0 results · engine starting"
    window.controller.devices_changed.emit(devices)
    assert window.status.state.text() == "0 results · engine ready on cpu, cuda:0"
    window.controller.results.put(recorded_row("serial", "cpu", 1e-3))
    assert window.status.state.text().startswith("1 result · ")


def test_tab_walks_from_the_panel_over_the_pictures_to_the_timing(qtbot, engine, window, files: list[str]) -> None:
    window.controller.open_file(files[0])
    qtbot.wait(2 * ORDER_MS)
    regions = (window.panel, window.panes, window.tabs)
    window.panel.filters.setFocus()
    way: list[int] = []
    for _ in range(200):
        widget: QWidget = QApplication.focusWidget()
        place = [i for i, region in enumerate(regions) if region is widget or region.isAncestorOf(widget)]
        if place and way[-1:] != place:
            way += place
        qtbot.keyClick(widget, Qt.Key.Key_Tab)
        if QApplication.focusWidget() is window.panel.filters:
            break
    assert way[:3] == [0, 1, 2], way


def test_panels_have_names(window) -> None:
    for widget in (window.stack, window.tabs, window.experiment_dock, window.timing_dock):
        assert widget.accessibleName()

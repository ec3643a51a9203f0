"""Preferences: chosen by clicks, applied at once, and there again after a new start."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QStyle, QStyleOptionButton

from app.base import theme
from app.controllers.look import Appearance
from app.models.settings import MOST_RECENT, Settings
from app.views.dialogs.preferences import PreferencesPage
from app.views.window.main_window import MainWindow
from gpu_ops import from_array, save

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def engine(plain_look: None) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "window.ini"


@pytest.fixture
def window(qtbot, engine: FakeEngine, path: Path) -> MainWindow:
    return make(qtbot, engine, Settings(path), Appearance(QApplication.instance()))


def opened(qtbot, window: MainWindow) -> PreferencesPage:
    """The page, called by its key."""
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    dialog = window.parts.pages["preferences"]
    qtbot.waitUntil(dialog.isVisible)
    assert not dialog.isModal()
    return dialog.page


def pick(qtbot, box: QComboBox, text: str) -> None:
    """Choose an entry with keys, as the mouse's list cannot be shown without a screen."""
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Home)
    while box.currentText() != text:
        before = box.currentIndex()
        qtbot.keyClick(box, Qt.Key.Key_Down)
        assert box.currentIndex() > before, text


def click(qtbot, box: QCheckBox) -> None:
    """On the box itself."""
    option = QStyleOptionButton()
    box.initStyleOption(option)
    place = box.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, box).center()
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=place)


def test_the_look_is_applied_and_kept_at_once(qtbot, window, path: Path) -> None:
    page = opened(qtbot, window)
    assert page.schemes.currentData() == "system" and not page.presenter.isChecked()
    pick(qtbot, page.schemes, "Dark")
    qtbot.waitUntil(lambda: page.schemes.palette() == theme.palette(Qt.ColorScheme.Dark))
    assert window.actions_by_id["scheme_dark"].isChecked()
    plain = page.height()
    click(qtbot, page.presenter)
    assert window.look.presenter and window.actions_by_id["presenter"].isChecked()
    qtbot.waitUntil(lambda: page.height() > 1.2 * plain)
    kept = Settings(path)
    assert (kept.scheme, kept.presenter) == ("dark", True)


def test_the_page_follows_what_is_chosen_elsewhere(qtbot, window) -> None:
    page = opened(qtbot, window)
    act(window, "scheme_light")
    act(window, "presenter")
    assert page.schemes.currentData() == "light" and page.presenter.isChecked()


def test_the_colour_map_of_this_and_every_start(qtbot, engine, window, path: Path) -> None:
    page = opened(qtbot, window)
    pick(qtbot, page.maps, "Cividis")
    assert window.display.colormap == "cividis" and window.actions_by_id["map_cividis"].isChecked()
    act(window, "map_magma")
    assert page.maps.currentData() == "cividis"
    act(window, "presenter")
    assert window.display.colormap == "magma"
    assert make(qtbot, engine, Settings(path)).display.colormap == "cividis"


def test_the_layout_comes_back_only_if_it_is_wanted(qtbot, engine, window, path: Path) -> None:
    page = opened(qtbot, window)
    click(qtbot, page.restored)
    assert not page.restored.isChecked()
    window.timing_dock.hide()
    window.close()
    kept = Settings(path)
    assert make(qtbot, engine, kept).timing_dock.isVisible()
    kept.set_restored(True)
    assert not make(qtbot, engine, kept).timing_dock.isVisible()


def test_timing_after_a_pause_can_be_left_out(qtbot, engine, window) -> None:
    page, controller = opened(qtbot, window), window.controller
    click(qtbot, page.timed)
    with qtbot.waitSignal(controller.settled):
        engine.show(from_array(np.eye(9, dtype=np.uint8)))
        engine.end()
    assert not controller.busy
    assert {r.protocol for r in engine.asked} == {"none"}
    click(qtbot, page.timed)
    controller.run_live()
    engine.end()
    assert controller.busy
    qtbot.waitUntil(lambda: engine.asked[-1].protocol == "quick")


def test_recent_files_are_as_many_as_is_said(qtbot, engine, window, path: Path, tmp_path: Path) -> None:
    page = opened(qtbot, window)
    assert page.most.value() == MOST_RECENT and not page.clear_button.isEnabled()
    for number in range(5):
        file = str(tmp_path / f"{number}.png")
        save(file, np.full((8, 9), number, np.uint8))
        window.controller.open_file(file)
    page.most.setFocus()
    page.most.selectAll()
    qtbot.keyClicks(page.most, "3")
    assert len(window.parts.recent.actions) == 5, "a number counts when it is complete"
    qtbot.keyClick(page.most, Qt.Key.Key_Return)
    assert window.parts.pages["preferences"].isVisible() and page.most.value() == 3
    assert [Path(a.data()).stem for a in window.parts.recent.actions] == ["4", "3", "2"]
    assert len(Settings(path).recent) == 3
    qtbot.mouseClick(page.clear_button, Qt.MouseButton.LeftButton)
    assert window.parts.recent.actions == [] and Settings(path).recent == () and not page.clear_button.isEnabled()


def test_defaults_come_back(qtbot, engine, window, path: Path, tmp_path: Path) -> None:
    page = opened(qtbot, window)
    file = str(tmp_path / "a.png")
    save(file, np.zeros((8, 9), np.uint8))
    window.controller.open_file(file)
    pick(qtbot, page.schemes, "Dark")
    pick(qtbot, page.maps, "Magma")
    for box in (page.presenter, page.restored, page.timed):
        click(qtbot, box)
    page.most.stepBy(5)
    qtbot.mouseClick(page.reset_button, Qt.MouseButton.LeftButton)
    for kept in (window.context.settings, Settings(path)):
        events = (kept.scheme, kept.presenter, kept.colormap, kept.restored, kept.timed, kept.most_recent)
        assert events == ("system", False, "gray", True, True, MOST_RECENT)
        assert kept.recent == (file,)
    assert (window.look.choice, window.look.presenter, window.display.colormap) == ("system", False, "gray")
    assert window.controller.queue.timed_after_pause
    assert page.schemes.currentData() == "system" and page.maps.currentData() == "gray"
    assert page.restored.isChecked() and page.timed.isChecked() and not page.presenter.isChecked()
    assert page.most.value() == MOST_RECENT


@pytest.mark.parametrize("most", ["-3", "many", "1e3", ""])
def test_a_broken_number_of_files_is_the_usual_one(path: Path, most: str) -> None:
    path.write_text(f"[files]\nmost={most}\n[look]\ncolormap=pink\n[window]\nrestored=perhaps\n[run]\ntimed=\n")
    kept = Settings(path)
    assert (kept.most_recent, kept.colormap, kept.restored, kept.timed) == (MOST_RECENT, "gray", True, True)

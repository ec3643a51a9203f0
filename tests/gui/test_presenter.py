"""Light, dark and large type in the whole window: what grows, what comes back, and what must not be cut off."""

from __future__ import annotations

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QToolBar

from app import theme
from app.controllers.look import Look
from app.views.experiment.panel import LONGEST_WORD
from app.views.upright import Upright
from app.views.window.main_window import MainWindow
from app.views.window.panels import TABLE
from gpu_ops import from_array

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def engine(qapp) -> FakeEngine:
    yield FakeEngine()
    theme.apply(qapp, Qt.ColorScheme.Light)


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> MainWindow:
    window = make(qtbot, engine, look=Look(QApplication.instance(), "light"))
    window.resize(1280, 800)
    qtbot.wait(50)
    return window


def test_icons_have_the_colour_of_the_new_scheme_at_once(window: MainWindow) -> None:
    act(window, "scheme_dark")
    image = window.actions_by_id["open"].icon().pixmap(48, 48).toImage()
    inks = {
        image.pixelColor(x, y).name() for x in range(48) for y in range(48) if image.pixelColor(x, y).alpha() == 255
    }
    assert inks == {theme.palette(Qt.ColorScheme.Dark).color(QPalette.ColorRole.ButtonText).name()}


def test_panels_and_icons_grow_and_come_back(qtbot, window: MainWindow) -> None:
    toolbar = window.findChild(QToolBar)
    window.resize(2200, 900)
    qtbot.wait(300)

    def sizes() -> tuple[int, int, int]:
        return window.experiment_dock.width(), window.timing_dock.width(), toolbar.iconSize().width()

    plain = sizes()
    for _ in range(2):
        act(window, "presenter")
        qtbot.waitUntil(lambda: all(a > 1.3 * b for a, b in zip(sizes(), plain, strict=True)))
        qtbot.wait(300)
        act(window, "presenter")
        qtbot.waitUntil(lambda: sizes() == plain)
        qtbot.wait(300)


def test_a_docks_title_grows_and_comes_back(qtbot, window: MainWindow) -> None:
    dock = window.experiment_dock

    def height() -> int:
        """That of what is written above the panel's content, in pixels."""
        title = dock.grab().toImage().copy(0, 0, dock.width() // 2, dock.widget().geometry().top())
        ground = title.pixelColor(0, 0)
        inked = (
            any(theme.contrast(title.pixelColor(x, y), ground) > 3 for x in range(2, title.width()))
            for y in range(title.height())
        )
        return sum(inked)

    plain = height()
    assert plain > 5
    act(window, "presenter")
    qtbot.waitUntil(lambda: height() > 1.3 * plain)
    act(window, "presenter")
    qtbot.waitUntil(lambda: height() == plain)


def test_a_page_grows_and_comes_back(qtbot, window: MainWindow) -> None:
    page = window.desk.pages["shortcuts"]
    page.present()
    page.resize(500, 300)
    plain = page.size()
    act(window, "presenter")
    qtbot.waitUntil(lambda: page.width() > 1.3 * plain.width() and page.height() > 1.3 * plain.height())
    act(window, "presenter")
    qtbot.waitUntil(lambda: page.size() == plain)


def test_the_panel_is_never_narrower_than_what_is_in_it(qtbot, engine: FakeEngine, window: MainWindow) -> None:
    name = "x" * 90 + ".png and more"
    engine.show(from_array(np.eye(9, dtype=np.uint8), name=name))
    columns = window.panel.findChildren(Upright)
    for large in (False, True):
        window.look.set_presenter(large)
        window.resizeDocks([window.experiment_dock], [1], Qt.Orientation.Horizontal)
        qtbot.wait(300)
        assert len(columns) == 2
        for column in columns:
            assert column.viewport().width() >= column.widget().minimumSizeHint().width()
        assert window.experiment_dock.width() < window.width() / 2
    label = window.panel.input_label
    assert label.toolTip() == name and "….png" not in label.text() and "xxx.png and more" in label.text()
    assert max(map(len, label.text().replace("<b>", "").split("<br>")[0].split(" "))) <= LONGEST_WORD + len("</b>")


def test_a_panel_with_room_does_not_scroll_twice(qtbot, engine: FakeEngine, window: MainWindow) -> None:
    window.resize(900, 600)
    engine.show(from_array(np.eye(9, dtype=np.uint8), name="a very long name of a file as microscopes write them.png"))
    outer, inner = window.panel.findChildren(Upright)
    qtbot.waitUntil(lambda: inner.verticalScrollBar().maximum() > 0)
    qtbot.waitUntil(lambda: outer.verticalScrollBar().maximum() == 0)


def test_headings_of_the_table_are_explained(window: MainWindow) -> None:
    model = window.docks[TABLE].model()
    tips = {
        model.headerData(c, Qt.Orientation.Horizontal): model.headerData(
            c, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
        )
        for c in range(model.columnCount())
    }
    assert all(tips[name] for name in ("kernel", "quartile 1", "n", "GB/s", "of roof", "pinned", "error", "verdict"))
    assert tips["variant"] is None

"""One result or one panel on the whole screen, and the keys that walk through all of them."""

from __future__ import annotations

import numpy as np
import pytest
from fake_engine import act
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from test_belonging import bring, engine, finish, image, picture, run, signal, verified, window  # noqa: F401

from app.views.curves.signal_legend import LegendEntry
from app.views.window.main_window import INPUT, MainWindow
from app.views.window.panels import LADDER, XRAY

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def shown(window: MainWindow) -> MainWindow:  # noqa: F811
    verified(window, picture(255))
    QApplication.processEvents()
    return window


def seen(window: MainWindow) -> list[str]:  # noqa: F811
    return [key for key, pane in window.panes.every.items() if pane.isVisible()]


def others(window: MainWindow) -> list[bool]:  # noqa: F811
    """Whether parts of the window that are no result are visible."""
    parts = window.menuBar(), window.statusBar(), window.experiment_dock, window.timing_dock, window.panes.bar
    return [part.isVisible() for part in parts]


def test_f_shows_a_result_alone_and_escape_the_window_again(qtbot: QtBot, shown: MainWindow) -> None:
    before, letters = seen(shown), shown.panes.pane("serial").fontMetrics().height()
    shown.panes.pane("parallel").canvas.setFocus()
    qtbot.keyClick(shown.panes.pane("parallel").canvas, Qt.Key.Key_F)
    assert shown.isFullScreen() and seen(shown) == ["parallel"] and not any(others(shown))
    pane = shown.panes.pane("parallel")
    assert pane.title.text() == "CPU, all cores" and pane.chip.isVisible()
    assert pane.title.fontMetrics().height() >= shown.height() / 30
    assert shown.full_screen.hint.isVisible() and shown.full_screen.hint.text.startswith("3 of 3 ")
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Escape)
    assert not shown.isFullScreen() and seen(shown) == before and all(others(shown))
    assert shown.panes.pane("serial").fontMetrics().height() == letters
    assert not shown.full_screen.hint.isVisible()


def test_arrows_and_digits_walk_and_space_shows_the_input(qtbot: QtBot, shown: MainWindow) -> None:
    act(shown, "full_screen")
    assert seen(shown) == ["serial"], "results come before the input"

    def press(key: Qt.Key) -> list[str]:
        qtbot.keyClick(shown, key)
        return seen(shown)

    assert press(Qt.Key.Key_Right) == ["parallel"] and press(Qt.Key.Key_Down) == [INPUT]
    assert press(Qt.Key.Key_Left) == ["parallel"] and press(Qt.Key.Key_2) == ["serial"]
    assert press(Qt.Key.Key_9) == ["serial"], "there are no nine"
    qtbot.keyPress(shown, Qt.Key.Key_Space)
    assert seen(shown) == [INPUT]
    qtbot.keyRelease(shown, Qt.Key.Key_Space)
    assert seen(shown) == ["serial"]
    shown.controller.session.add_reference()
    qtbot.keyPress(shown, Qt.Key.Key_Space)
    assert seen(shown) == ["reference"]
    qtbot.keyRelease(shown, Qt.Key.Key_Space)


def test_a_result_that_arrives_brings_no_controls_back(shown: MainWindow) -> None:
    act(shown, "full_screen")
    shown.controller.session.set_params({"window": 5})
    request = run(shown)
    bring(shown, request, "serial", picture(200), ok=None)
    shown.stack.bar.show()
    QApplication.processEvents()
    assert not shown.stack.bar.isVisible() and not any(others(shown)) and seen(shown) == ["serial"]


def test_two_in_one_place_stay_so_and_the_first_changes(qtbot: QtBot, shown: MainWindow) -> None:
    act(shown, "compare_flicker")
    shown.panes.set_pair("serial", "parallel")
    act(shown, "full_screen")
    canvas = shown.panes.compare
    assert canvas.isVisible() and not any(others(shown)) and canvas.shown_name() == "CPU, one core"
    qtbot.keyPress(canvas, Qt.Key.Key_Space)
    assert canvas.shown_name() == "CPU, all cores"
    qtbot.keyRelease(canvas, Qt.Key.Key_Space)
    qtbot.keyClick(canvas, Qt.Key.Key_1)
    assert canvas.shown_name() == "one" and shown.isFullScreen()
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert shown.panes.mode == "flicker" and all(others(shown))


def test_a_double_click_shows_what_it_is_on(qtbot: QtBot, shown: MainWindow) -> None:
    canvas = shown.panes.pane("parallel").canvas
    for expected in (["parallel"], [INPUT, "serial", "parallel"]):
        qtbot.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(20, 20))
        assert seen(shown) == expected
    ladder = shown.docks[LADDER]
    qtbot.mouseDClick(ladder, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert shown.isFullScreen() and ladder.isVisible() and not shown.stack.isVisible()
    assert not shown.tabs.tabBar().isVisible() and ladder.fontMetrics().height() > shown.fontMetrics().height()
    qtbot.keyClick(ladder, Qt.Key.Key_Escape)
    assert shown.stack.isVisible() and shown.tabs.tabBar().isVisible() and all(others(shown))


def test_a_panel_that_is_closed_brings_the_window_back(shown: MainWindow) -> None:
    act(shown, "xray")
    shown.full_screen.show_only(shown.docks[XRAY])
    assert shown.isFullScreen() and not shown.stack.isVisible()
    act(shown, "xray")
    assert not shown.full_screen.active and shown.stack.isVisible() and not shown.docks.is_open("xray")


def test_curves_are_shown_together_and_then_one_by_one(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    samples = np.sin(np.arange(500.0))
    window.controller.session.set_filter("mean1d")
    engine(window).show(signal(samples, 100.0))
    request = run(window)
    first, *rest = window.controller.session.choice.picks
    for variant in (first, *rest):
        bring(window, request, variant, samples, ok=None)
    finish(window, request)
    pane = window.signal_pane

    def drawn() -> set[str]:
        return {curve.key for curve in pane.curves if curve.visible}

    def captions() -> list[tuple[str, bool]]:
        """The names in the legend, and whether they are bold, as titles of pictures are."""
        found = [entry.label for entry in pane.findChildren(LegendEntry) if entry.isVisible()]
        return [(label.shown_text(), label.font().bold()) for label in found]

    every = drawn()
    act(window, "full_screen")
    assert captions()[0] == ("input", False), "one word is enough beside results"
    assert drawn() == every and pane.isVisible() and not window.menuBar().isVisible()
    entry = next(e for e in pane.findChildren(LegendEntry) if e.isVisible())
    assert entry.label.x() > 5 * entry.fontMetrics().averageCharWidth(), "the name is beside its line, not on it"
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert drawn() == {INPUT} and captions() == [(window.stack.input_name, True)]
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert drawn() == {first} and captions() == [(window.stack.titles()[first], True)]
    qtbot.keyPress(window, Qt.Key.Key_Space)
    assert drawn() == {INPUT}
    qtbot.keyRelease(window, Qt.Key.Key_Space)
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert drawn() == every and window.menuBar().isVisible()
    assert entry.layout().contentsMargins().left() == 6 * entry.fontMetrics().averageCharWidth()


def test_the_layout_that_is_stored_is_that_of_the_window(shown: MainWindow) -> None:
    act(shown, "full_screen")
    shown.close()
    assert not shown.full_screen.active and not shown.isFullScreen()


class Requests(QObject):
    """Counts requests of layouts."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def settle() -> None:
    for _ in range(30):
        QApplication.processEvents()


@pytest.mark.parametrize("part", ["results", "ladder", "xray"])
def test_it_comes_to_rest(shown: MainWindow, part: str) -> None:
    """Scroll areas and docks show again what is hidden of them, and lay out the window each time."""
    if part == "results":
        shown.full_screen.present()
    elif part == "ladder":
        QTest.mouseDClick(shown.docks[LADDER], Qt.MouseButton.LeftButton)
    else:
        shown.docks.toggle(XRAY.dock)
        QTest.mouseDClick(shown.docks[XRAY], Qt.MouseButton.LeftButton)
    settle()
    assert shown.full_screen.active
    requests = Requests()
    app = QApplication.instance()
    assert app is not None
    app.installEventFilter(requests)
    settle()
    app.removeEventFilter(requests)
    assert requests.count == 0

"""Where the parts of the window stand: every row of the ladder in view, and nothing ever larger than its screen."""

from __future__ import annotations

import argparse
from types import SimpleNamespace

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import QByteArray, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QCheckBox, QPushButton, QWidget
from result_rows import row, show_rows
from simulated_rows import SIM, simulated
from xray_answers import show, window_with

from app.controllers.look import Appearance
from app.models.settings import Settings
from app.shell import window as program
from app.views.window.docks import LAYOUT_VERSION
from app.views.window.main_window import MainWindow
from app.views.window.placing import fit_to_screens
from gpu_ops import from_array
from gpu_ops.report.rows import Row

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
FILE = "an experiment of last week, the one with the long name, " * 3 + "x" * 120 + ".png"
SENTENCE = "What went wrong is said in a sentence that is rather long, as such sentences are. " * 8
SCREEN = (960, 600)


@pytest.fixture
def engine(plain_look: None) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> MainWindow:
    return make(qtbot, engine, look=Appearance(QApplication.instance(), "light"))


def image(side: int = 90) -> np.ndarray:
    return np.arange(side * side, dtype=np.uint8).reshape(side, side)


def settle(qtbot, window: MainWindow) -> None:
    """Wait until the panels have the sizes that they get."""
    sizes = window.docks.sizes
    qtbot.wait(20)
    qtbot.waitUntil(lambda: not sizes._later.isActive() and not sizes._settled.isActive())


def fill(window: MainWindow, engine: FakeEngine) -> None:
    """All that can be shown at once, and all of it long: names, picks, rows, messages."""
    engine.show(from_array(image(), name=FILE))
    session = window.controller.session
    session.set_picks(tuple(v.id for v in session.filter.variants))
    names = {f"variant{i}": f"a variant whose name is long {i}" for i in range(40)}
    show_rows(window.controller.results, [row(id, "cpu", 1e-3) for id in names], names)
    tell_much(window)


def tell_much(window: MainWindow) -> None:
    """More messages than anybody reads, with their details open."""
    for number in range(15):
        window.messages.show_message("error", f"{number}. {SENTENCE}", "a line of details\n" * 40)
    for button in window.messages.findChildren(QPushButton):
        if button.isCheckable():
            button.setChecked(True)


# No arrangement is larger than its screen.


@pytest.mark.parametrize(("presenter", "most"), [(False, (900, 560)), (True, (1280, 700))])
def test_the_window_fits_its_screen_whatever_it_shows(
    qtbot, engine: FakeEngine, presenter: bool, most: tuple[int, int]
) -> None:
    window = window_with(qtbot, engine, (SIM,))
    window.look.set_presenter(presenter)
    show(qtbot, window, engine)
    fill(window, engine)
    window.sweep  # noqa: B018 - it is made when it is first asked for
    window.resize(*most)

    def least() -> tuple[int, int]:
        return window.minimumSizeHint().width(), window.minimumSizeHint().height()

    for tab in range(window.tabs.count()):
        window.tabs.setCurrentIndex(tab)
        window.xray_panel.tabs.setCurrentIndex(tab)
        qtbot.wait(20)
        assert least()[0] <= most[0] and least()[1] <= most[1], (tab, least())
    for dock in (window.xray_dock, window.timing_dock):  # all beside one another, none behind another
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    window.splitDockWidget(window.timing_dock, window.xray_dock, Qt.Orientation.Horizontal)
    qtbot.wait(250)
    assert least()[0] <= most[0] and least()[1] <= most[1], least()
    assert window.size().toTuple() == most


def test_run_and_measure_stay_in_view(qtbot, engine: FakeEngine, window: MainWindow) -> None:
    window.resize(900, 560)
    fill(window, engine)
    for filter in ("conv3x3", "box"):
        window.controller.session.set_filter(filter)
        qtbot.wait(50)
        for button in (window.panel.run_button, window.panel.measure_button):
            box = QRect(button.mapTo(window, button.rect().topLeft()), button.size())
            assert window.rect().contains(box) and box.height() >= button.minimumSizeHint().height()
            assert button.visibleRegion().boundingRect() == button.rect()


def test_messages_take_their_own_height_and_leave_the_pictures_theirs(qtbot, window: MainWindow) -> None:
    window.resize(1280, 800)
    bar = window.messages
    around = bar.parentWidget().parentWidget()
    assert not around.isVisible()
    bar.show_message("error", "A short sentence.")
    qtbot.waitUntil(lambda: around.isVisible() and around.height() == bar.sizeHint().height())
    assert around.height() < 80
    tell_much(window)
    qtbot.waitUntil(lambda: around.height() > 150)
    assert around.height() < 400 and window.stack.height() > 300
    bar.clear()
    qtbot.waitUntil(lambda: not around.isVisible())


def test_the_controls_of_a_comparison_fold_where_there_is_no_room(
    qtbot, engine: FakeEngine, window: MainWindow
) -> None:
    engine.show(from_array(image(), name="eye"))
    act(window, "compare_swipe")

    def below() -> bool:
        first = window.panes.first
        return (
            first.mapTo(window, first.rect().topLeft()).y()
            > window.panes._modes.button(0).mapTo(window, window.panes._modes.button(0).rect().bottomLeft()).y()
        )

    for width, folded in ((1600, False), (900, True), (1600, False)):
        window.resize(width, 600)
        qtbot.waitUntil(lambda folded=folded: below() == folded)
        viewport = window.stack.parentWidget()
        qtbot.waitUntil(lambda viewport=viewport: window.stack.width() <= viewport.width())


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (QRect(100, 100, 800, 400), QRect(100, 100, 800, 400)),  # fits
        (QRect(0, 0, 1280, 800), QRect(0, 30, 960, 570)),  # larger than the screen
        (QRect(700, 400, 800, 400), QRect(160, 200, 800, 400)),  # half outside
        (QRect(3000, 2000, 800, 400), QRect(160, 200, 800, 400)),  # on a screen that is gone
        (QRect(-500, 700, 400, 300), QRect(-500, 700, 400, 300)),  # on the other screen
        (QRect(-1700, 900, 1500, 1500), QRect(-1600, 530, 1500, 570 + 500)),
    ],
)
def test_a_place_is_fitted_into_the_screens_there_are(place: QRect, expected: QRect) -> None:
    screens = [QRect(0, 0, *SCREEN), QRect(-1600, 500, 1600, 1100)]
    assert fit_to_screens(place, screens, 30) == expected


def test_the_first_start_is_no_larger_than_the_screen(qtbot, qapp, monkeypatch, tmp_path) -> None:
    free = QGuiApplication.primaryScreen().availableGeometry()
    assert free.width() < 1280, "the test needs a small screen"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(program, "settings_for", lambda args: Settings())
    monkeypatch.setattr(program, "Engine", type("Engine", (FakeEngine,), {"close": lambda self: None}))
    monkeypatch.setattr(program, "EngineLog", lambda *parts: None)
    monkeypatch.setattr(program, "Script", lambda *parts: SimpleNamespace(start=lambda: None, code=0))
    seen: list[QRect] = []

    def run() -> int:
        (window,) = (w for w in qapp.topLevelWidgets() if isinstance(w, MainWindow) and w.isVisible())
        seen.append(window.geometry())
        window.close()
        window.deleteLater()
        return 0

    monkeypatch.setattr(program, "_application", lambda: qapp)
    monkeypatch.setattr(qapp, "exec", run, raising=False)
    for size in (None, "1000x900"):
        events = argparse.Namespace(size=size, scheme=None, presenter=False, screenshot=None)
        assert program.show(events) == 0
    first, asked = seen
    assert first.width() == free.width() and free.height() - 60 < first.height() < free.height()
    assert (asked.width(), asked.height()) == (1000, 900)  # whoever says a size has it


def test_a_place_that_was_kept_is_fitted_into_the_screen(qtbot, engine: FakeEngine) -> None:
    free = QGuiApplication.primaryScreen().availableGeometry()
    kept, left = Settings(), QWidget()
    qtbot.addWidget(left)
    left.setGeometry(500, 600, 700, 500)
    left.show()
    kept.set_window(left.saveGeometry(), QByteArray())
    window = make(qtbot, engine, kept)
    assert free.contains(window.geometry()) and (window.width(), window.height()) == (700, 500)
    left.setGeometry(0, 0, 1600, 1200)
    kept.set_window(left.saveGeometry(), QByteArray())
    assert free.contains(make(qtbot, engine, kept).geometry())


# Every row is in view.


def times(variant: str, **more: object) -> Row:
    return row(variant, "cuda:0", 5e-5, knobs={"block": 128, "outputs": 2}, filter="mean2d", **more)


def rows_of(kind: str) -> list[Row]:
    host = [row("serial", "cpu", 4e-3), row("parallel", "cpu", 4e-4)]
    make = simulated if kind == "simulated" else times
    return [*host, *(make(variant) for variant in ("naive", "constant", "shared"))]


@pytest.mark.parametrize("kind", ["simulated", "timed"])
@pytest.mark.parametrize("signal", [False, True])
def test_the_whole_ladder_stands_beside_the_pictures(
    qtbot, engine: FakeEngine, window: MainWindow, signal: bool, kind: str
) -> None:
    window.resize(1280, 800)
    engine.show(from_array(np.zeros(900, np.float32) if signal else image(), name="input"))
    titles = {v.id: v.title for v in window.controller.session.filter.variants}
    show_rows(window.controller.results, rows_of(kind), titles)
    canvas = window.ladder.canvas
    fair = 6
    assert len(canvas.ladder().lines) == 5 + fair
    qtbot.waitUntil(lambda: canvas.visibleRegion().boundingRect() == canvas.rect())
    pictures = window.stack.parentWidget().rect()
    assert pictures.width() > 0.45 * 1280 and pictures.height() > 0.85 * 800


def test_the_ladder_beside_the_pictures_is_told_in_full(qtbot, engine: FakeEngine, window: MainWindow) -> None:
    window.resize(1280, 800)
    show_rows(window.controller.results, rows_of("timed"))
    qtbot.waitUntil(lambda: window.timing_dock.width() > 300)
    geometry, small = window.ladder.canvas.ladder(), window.ladder.canvas.fontMetrics()
    assert geometry.narrow
    for line in geometry.sections[0].lines:
        text, box = line.texts["summary"], line.cells["summary"]
        assert text.count("·") >= 2 and box.width() >= 0.8 * small.horizontalAdvance(text)
        assert line.bars.top() >= max(box.bottom(), line.sub.bottom())


def test_reset_brings_the_first_layout_back(qtbot, engine: FakeEngine, window: MainWindow) -> None:
    window.resize(1280, 800)
    docks = (window.experiment_dock, window.timing_dock)

    def places() -> list[QRect]:
        return [dock.geometry() for dock in docks]

    settle(qtbot, window)
    first = places()
    assert first[1].left() > window.width() / 2 and first[1].height() > 600
    window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, window.timing_dock)
    window.experiment_dock.hide()
    act(window, "xray")
    settle(qtbot, window)
    assert places() != first
    act(window, "reset_layout")
    qtbot.waitUntil(lambda: places() == first)
    assert not window.xray_dock.isVisible()


def test_a_layout_of_before_is_left_alone(qtbot, engine: FakeEngine, window: MainWindow) -> None:
    window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, window.timing_dock)
    for version, area in (
        (LAYOUT_VERSION - 1, Qt.DockWidgetArea.RightDockWidgetArea),
        (LAYOUT_VERSION, Qt.DockWidgetArea.BottomDockWidgetArea),
    ):
        kept = Settings()
        kept.set_window(QByteArray(), window.saveState(version))
        another = make(qtbot, engine, kept)
        assert another.dockWidgetArea(another.timing_dock) == area
    assert LAYOUT_VERSION > 2


def test_the_x_ray_comes_to_the_front_and_goes_again(qtbot, window: MainWindow) -> None:
    window.resize(1280, 800)
    settle(qtbot, window)
    narrow = window.timing_dock.width()
    act(window, "xray")
    qtbot.waitUntil(lambda: window.xray_dock.width() > narrow and not window.xray_dock.visibleRegion().isEmpty())
    assert window.timing_dock.visibleRegion().isEmpty()
    act(window, "xray")
    qtbot.waitUntil(lambda: window.timing_dock.width() == narrow and not window.timing_dock.visibleRegion().isEmpty())


def test_panels_have_their_sizes_again_when_there_is_room(qtbot, window: MainWindow) -> None:
    window.resize(1280, 800)
    settle(qtbot, window)
    before = window.timing_dock.width()
    window.resize(800, 600)
    qtbot.waitUntil(lambda: window.timing_dock.width() < before)
    settle(qtbot, window)
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: window.timing_dock.width() == before)
    settle(qtbot, window)
    window.resizeDocks([window.timing_dock], [500], Qt.Orientation.Horizontal)  # as a person does
    qtbot.waitUntil(lambda: window.timing_dock.width() == 500)
    window.resize(2000, 800)
    settle(qtbot, window)
    assert window.timing_dock.width() == 500


def test_controls_above_the_ladder_wrap(qtbot, window: MainWindow) -> None:
    window.resize(900, 600)
    show_rows(window.controller.results, rows_of("simulated"))
    box = window.ladder.findChild(QCheckBox, "ladder_log")
    for large in (False, True):
        window.look.set_presenter(large)
        qtbot.waitUntil(lambda: box.visibleRegion().boundingRect() == box.rect())

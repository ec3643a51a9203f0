"""The window at many sizes: every view comes to rest at each, and looks the same whichever size was before."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine
from lanes import daily_subset
from made_results import RATE, Made, bring, filter_for, giving, made, picture, wave
from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QWidget
from result_rows import row, show_rows

from app.base import theme
from app.base.theme import Scheme
from app.controllers.look import Appearance
from app.controllers.session import SessionController
from app.models.experiment.session import Session
from app.models.results.results import Results
from app.views.window import dock_sizes
from app.views.window.main_window import MainWindow
from gpu_ops.output_kinds import Axis
from gpu_ops.types import Input

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
SIZES = [
    (width, height)
    for width in (900, 1024, 1152, 1280, 1366, 1440, 1536, 1680, 1920, 2560)
    for height in (560, 600, 720, 749, 900, 1080)
]
PARTS = 5
"""Of the sizes: ten widths each, and each height twice."""
SHARES = [(presenter, part) for part in range(PARTS) for presenter in (False, True)]
"""Looks and parts of the sizes, each pair with its own day."""
FEW = [(1280, 560), (900, 900), (1366, 600)]
MOST_EVENTS = 3000
"""A window with all its parts comes to rest after a few hundred sizes and requests for layout."""
DEEPEST = 150
"""Python's frames in a handler of events: Qt calls Python, which calls Qt. PySide6 6.11 crashes at 1000, where Python
raises RecursionError; the deepest that has been seen is 45."""
PICKS = 6
"""The most results on one page."""


def is_deep() -> bool:
    """Whether so many Python functions wait for each other that it looks endless."""
    try:
        sys._getframe(DEEPEST)
    except ValueError:
        return False
    return True


class Watchdog(QObject):
    """Counts events of layouts and hides the window where they do not end, which ends them; so where handlers call
    each other too deeply."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__()
        self.count, self.window, self.deep = 0, window, False
        self.busiest: Counter[str] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self.count += 1
            self.busiest[f"{type(watched).__name__} {watched.objectName()}"] += 1
            if self.count == MOST_EVENTS:
                self.window.hide()
        if is_deep():
            self.deep = True
            self.window.hide()
        return self.deep

    def rest(self) -> None:
        """Handle events until nothing is laid out any more."""
        self.count, before = 0, -1
        self.busiest.clear()
        while self.count != before and self.count < MOST_EVENTS:
            before = self.count
            QApplication.processEvents()
        assert not self.deep, "handlers of events call each other without end"
        assert self.count < MOST_EVENTS, f"the layout does not come to rest: {self.busiest.most_common(6)}"


def results_of(signal: bool) -> dict[str, Made]:
    """Results of every kind that an image, or a signal, can have; one table needs much room."""
    figures = Axis("figure", labels=("mean", "deviation", "kept", "removed", "energy"))
    bands = Axis("of", labels=tuple(f"detail {level}" for level in range(6)))
    wide = Made("table", np.arange(30.0).reshape(6, 5), (bands, figures), image=False)
    found = {name.replace(" ", "_"): result for name, result in made().items()}
    both = {"mean": found["mean"], "figures": wide, "spans": found["spans"], "histogram": found["histogram"]}
    return {name: result for name, result in found.items() if result.image != signal} | both


def no_files(*_: object) -> tuple[str, ...]:
    return ()


def no_path(*_: object) -> str:
    return ""


class Stage:
    """A window with results of all kinds, and every size of it."""

    def __init__(self, window: MainWindow, app: QApplication) -> None:
        self.window, self.watchdog = window, Watchdog(window)
        self.stack = ExitStack()
        # Nobody answers a dialog that a click anywhere may open.
        window.files.chooser, window.files.target, window.files.folder_chooser = no_files, no_path, no_path
        window.controller.queue.timed_after_pause = False
        app.installEventFilter(self.watchdog)

    def open(self, signal: bool, output: str) -> None:
        """Show an input with this result of several variants."""
        self.stack.close()
        results, session = results_of(signal), self.window.controller.session
        own = results["signal" if signal else "image"]
        results = {name: result for name, result in results.items() if result is own or name == output}
        outputs = [(name, result.kind) for name, result in results.items()]
        filter = self.stack.enter_context(giving(filter_for(own), *outputs))
        shown = (
            Input("signal", wave(), "t", "wave", {"generator": "wave"}, RATE)
            if signal
            else Input("image", picture(), "yx", "waves", {"generator": "waves"})
        )
        engine: Any = self.window.controller._engine
        engine.show(shown)
        session.set_filter(filter.id)
        session.set_picks(tuple(v.id for v in filter.variants)[:PICKS])
        for variant in session.choice.picks:
            bring(self.window, variant, results)
        rows = [row(v, "cpu", 1e-3, filter=filter.id) for v in session.choice.picks]
        show_rows(self.window.controller.results, rows, self.window.stack.titles())
        session.set_output(output)
        engine.end()  # the bar of a run that goes on comes some time later

    def resize(self, size: tuple[int, int]) -> list[tuple[str, tuple[int, int, int, int]]]:
        """Give the window a size; returns the places of all parts once it is at rest."""
        window = self.window
        window.resize(*size)
        self.watchdog.rest()
        window.docks.sizes.reset()  # what a user has set would stay
        self.watchdog.rest()
        parts = [part for part in window.findChildren(QWidget) if part.isVisible()]
        return sorted((f"{type(part).__name__} {part.objectName()}", part.geometry().getRect()) for part in parts)

    def visit(self, sizes: list[tuple[int, int]], again: int) -> None:
        """Give the window these sizes in turn, then some of them in another order: each looks the same both times."""
        looks = {size: self.resize(size) for size in sizes}
        for size in random.Random(len(sizes)).sample(sizes, again):
            now = self.resize(size)
            other = [pair for pair in zip(looks[size], now, strict=False) if pair[0] != pair[1]]
            assert now == looks[size], f"{size} depends on the size before: {other[:4]}"


@pytest.fixture(scope="module")
def stage(qapp: QApplication) -> Iterator[Stage]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dock_sizes, "SETTLED_MS", 0)  # panels are sized at once
        controller = SessionController(FakeEngine(), Session(), Results())
        window = MainWindow(controller, Appearance(qapp, "light"))
        window.show()
        stage = Stage(window, qapp)
        yield stage
        stage.stack.close()
        qapp.removeEventFilter(stage.watchdog)
        window.close()
        window.deleteLater()
        theme.apply(qapp, Scheme.Light)


def test_a_view_that_needs_much_room_comes_to_rest(stage: Stage) -> None:
    stage.window.look.set_presenter(False)
    stage.open(False, "figures")
    stage.visit(FEW, again=1)


OUTPUTS = [(signal, output) for signal in (False, True) for output in results_of(signal)]


@pytest.mark.parametrize("presenter, part", daily_subset(SHARES, 0, "{0[0]}-part {0[1]}".format, 1))
@pytest.mark.parametrize(("signal", "output"), OUTPUTS)
def test_every_view_comes_to_rest_at_every_size(
    stage: Stage, signal: bool, output: str, presenter: bool, part: int
) -> None:
    stage.window.look.set_presenter(presenter)
    stage.open(signal, output)
    stage.visit(SIZES[part::PARTS], again=3)


@pytest.mark.thorough
@pytest.mark.parametrize("presenter", [False, True])
def test_panels_and_messages_come_to_rest_at_every_size(stage: Stage, presenter: bool) -> None:
    window = stage.window
    window.look.set_presenter(presenter)
    stage.open(False, "image")
    for number in range(3):
        window.messages.show_message("error", f"{number}. {'What went wrong is said in words. ' * 5}", "details\n" * 9)
    window.parts.probe.set_tool("region")
    for tab in range(window.tabs.count()):
        window.tabs.setCurrentIndex(tab)
        stage.visit(SIZES[tab::4], again=3)
    window.messages.clear()
    window.parts.probe.remove_all()


UNATTENDED = (
    *("quit", "open", "save", "export", "session", "paste"),
    *("report", "help", "about", "folder", "copy", "import"),
)
"""Parts of the names of actions that need files, a clipboard or another program."""


def anything(stage: Stage, chance: random.Random) -> None:
    """One of the things that a person can do."""
    window, app = stage.window, QApplication.instance()
    assert isinstance(app, QApplication)
    parts = [p for p in window.findChildren(QWidget) if p.isVisible() and p.isEnabled() and p.width() and p.height()]
    part = chance.choice(parts)
    places = [QPoint(chance.randrange(part.width()), chance.randrange(part.height())) for _ in range(2)]
    doing = chance.choice(("action", "size", "output", "drag", "key", "panel"))
    closing = QTimer()  # a button whose menu opens at once waits for its end
    closing.timeout.connect(close_popups)
    closing.start(20)
    if doing == "action":
        named = {name: a for name, a in window.actions_by_id.items() if not any(word in name for word in UNATTENDED)}
        chance.choice([action for action in named.values() if action.isEnabled()]).trigger()
    elif doing == "size":
        window.resize(chance.randint(700, 2000), chance.randint(450, 1200))
    elif doing == "output":
        window.controller.session.set_output(chance.choice(window.controller.session.filter.outputs).id)
    elif doing == "drag":
        QTest.mousePress(part, Qt.MouseButton.LeftButton, pos=places[0])
        QTest.mouseMove(part, places[1])
        QTest.mouseRelease(part, Qt.MouseButton.LeftButton, pos=places[1])
    elif doing == "key":
        keys = (Qt.Key.Key_Tab, Qt.Key.Key_Space, Qt.Key.Key_Down, Qt.Key.Key_Plus, Qt.Key.Key_F, Qt.Key.Key_Escape)
        QTest.keyClick(app.focusWidget() or window, chance.choice(keys))
    else:
        dock = chance.choice(window.findChildren(QDockWidget))
        chance.choice((lambda: dock.setFloating(not dock.isFloating()), lambda: dock.setVisible(dock.isHidden())))()
    closing.stop()
    close_popups()


def close_popups() -> None:
    """Close the menus and lists that are open."""
    for popup in iter(QApplication.activePopupWidget, None):
        popup.close()


@pytest.mark.thorough
@pytest.mark.parametrize("signal", [False, True])
def test_whatever_one_does_comes_to_rest(stage: Stage, signal: bool) -> None:
    chance = random.Random(7 + signal)
    for output in chance.sample(list(results_of(signal)), 3):
        stage.open(signal, output)
        for _ in range(40):
            anything(stage, chance)
            stage.watchdog.rest()
    stage.window.docks.reset()

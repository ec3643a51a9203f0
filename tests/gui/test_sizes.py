"""The window at many sizes: every view comes to rest at each, and looks the same whichever size was before."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine
from made_results import RATE, Made, bring, filter_for, giving, made, picture, wave
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget
from result_rows import row, show_rows

from app import theme
from app.controllers.look import Look
from app.controllers.session import SessionController
from app.models.results import Results
from app.models.session import Session
from app.theme import Scheme
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
FEW = [(1280, 560), (1366, 600), (1366, 768), (900, 900), (1280, 740), (1366, 749)]
MOST_EVENTS = 3000
"""A window with all its parts comes to rest after a few hundred sizes and requests for layout."""
PICKS = 6
"""The most results on one page."""


class Watchdog(QObject):
    """Counts events of layouts and hides the window where they do not end, which ends them."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__()
        self.count, self.window = 0, window
        self.busiest: Counter[str] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self.count += 1
            self.busiest[f"{type(watched).__name__} {watched.objectName()}"] += 1
            if self.count == MOST_EVENTS:
                self.window.hide()
        return False

    def rest(self) -> None:
        """Handle events until nothing is laid out any more."""
        self.count, before = 0, -1
        self.busiest.clear()
        while self.count != before and self.count < MOST_EVENTS:
            before = self.count
            QApplication.processEvents()
        assert self.count < MOST_EVENTS, f"the layout does not come to rest: {self.busiest.most_common(6)}"


def results_of(signal: bool) -> dict[str, Made]:
    """Results of every kind that an image, or a signal, can have; one table needs much room."""
    figures = Axis("figure", labels=("mean", "deviation", "kept", "removed", "energy"))
    bands = Axis("of", labels=tuple(f"detail {level}" for level in range(6)))
    wide = Made("table", np.arange(30.0).reshape(6, 5), (bands, figures), image=False)
    found = {name.replace(" ", "_"): result for name, result in made().items()}
    both = {"mean": found["mean"], "figures": wide, "spans": found["spans"], "histogram": found["histogram"]}
    return {name: result for name, result in found.items() if result.image != signal} | both


class Stage:
    """A window with results of all kinds, and every size of it."""

    def __init__(self, window: MainWindow, app: QApplication) -> None:
        self.window, self.watchdog = window, Watchdog(window)
        self.stack = ExitStack()
        app.installEventFilter(self.watchdog)

    def open(self, signal: bool) -> list[str]:
        """Show an input with its results; returns the names of its outputs."""
        self.stack.close()
        results, session = results_of(signal), self.window.controller.session
        own = results["signal" if signal else "image"]
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
        return list(results)

    def resize(self, size: tuple[int, int]) -> list[tuple[str, tuple[int, int, int, int]]]:
        """Give the window a size; returns the places of all parts once it is at rest."""
        window = self.window
        window.resize(*size)
        self.watchdog.rest()
        parts = [part for part in window.findChildren(QWidget) if part.isVisible()]
        return sorted((f"{type(part).__name__} {part.objectName()}", part.geometry().getRect()) for part in parts)

    def visit(self, sizes: list[tuple[int, int]], seed: str) -> None:
        """Give the window these sizes in turn and then in another order: each looks the same both times."""
        looks = {size: self.resize(size) for size in sizes}
        for size in random.Random(seed).sample(sizes, len(sizes)):
            again = self.resize(size)
            other = [pair for pair in zip(looks[size], again, strict=False) if pair[0] != pair[1]]
            assert again == looks[size], f"{size} depends on the size before: {other[:4]}"


@pytest.fixture(scope="module")
def stage(qapp: QApplication) -> Iterator[Stage]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dock_sizes, "SETTLED_MS", 0)  # panels are sized at once
        controller = SessionController(FakeEngine(), Session(), Results())
        window = MainWindow(controller, Look(qapp, "light"))
        window.show()
        stage = Stage(window, qapp)
        yield stage
        stage.stack.close()
        qapp.removeEventFilter(stage.watchdog)
        window.close()
        window.deleteLater()
        theme.apply(qapp, Scheme.Light)


@pytest.mark.parametrize("signal", [False, True])
def test_views_come_to_rest(stage: Stage, signal: bool) -> None:
    stage.window.look.set_presenter(False)
    names = stage.open(signal)
    for output in ("figures", names[0]):
        stage.window.controller.session.set_output(output)
        stage.visit(FEW, output)


@pytest.mark.thorough
@pytest.mark.parametrize("presenter", [False, True])
@pytest.mark.parametrize("signal", [False, True])
def test_every_view_comes_to_rest_at_every_size(stage: Stage, signal: bool, presenter: bool) -> None:
    stage.window.look.set_presenter(presenter)
    for output in stage.open(signal):
        stage.window.controller.session.set_output(output)
        stage.visit(SIZES, output)

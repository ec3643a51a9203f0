"""What is repeated gives back what it took: memory, objects, segments and processes."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from live import real_engine
from live import settle as drive
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from app.base.worker import Engine
from app.controllers.look import Appearance
from app.controllers.session import SessionController
from app.models.experiment.session import Session
from app.models.pictures.display import Display
from app.models.results.results import Results
from app.views.pictures.image_pane import ImagePane
from app.views.window.main_window import MainWindow
from gpu_ops.engine.segments import directories

PATIENCE = 60_000
GROWTH = 1.05
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def settle() -> None:
    """Deliver what waits, deletions too, and collect what is lost."""
    for _ in range(3):
        QApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()


def resident() -> int:
    """Bytes of this process in memory, those of segments aside, which are reused."""
    fields = Path("/proc/self/status").read_text().split()
    return sum(int(fields[fields.index(name) + 1]) for name in ("RssAnon:", "RssFile:")) * 1024


def qobjects() -> int:
    """Live QObjects that Python knows, and all widgets."""
    known = [o for o in gc.get_objects() if isinstance(o, QObject) and isValid(o)]
    return len(known) + len(QApplication.allWidgets())


def dead() -> int:
    """What Python still has of QObjects that are gone."""
    return sum(isinstance(o, QObject) and not isValid(o) for o in gc.get_objects())


def segments() -> int:
    """Files of this process in the memory directories."""
    return sum(len(list(d.glob(f"kernelscope-{os.getpid()}-*"))) for d in directories())


@contextmanager
def nothing_left(segments_too: bool = True) -> Iterator[None]:
    """The block leaves as many objects, segments and processes as it found, and at most 5 % more memory."""
    settle()
    before = resident(), qobjects(), segments(), len(multiprocessing.active_children()), dead()
    yield
    settle()
    after = resident(), qobjects(), segments(), len(multiprocessing.active_children()), dead()
    assert after[1] == before[1], "QObjects"
    assert after[2] == before[2] or not segments_too, "segments"
    assert after[3] == before[3], "child processes"
    assert after[4] == before[4], "QObjects that are gone"
    assert after[0] <= GROWTH * before[0], f"{before[0] >> 20} MiB became {after[0] >> 20} MiB"


@pytest.fixture(scope="module")
def engine(qapp: QApplication) -> Iterator[Engine]:
    with real_engine() as engine:
        yield engine


def pick_one(qtbot, controller: SessionController) -> None:
    """The engine's devices bring picks of their own; after that one variant of the mean is enough here."""
    controller.start()
    qtbot.waitUntil(lambda: bool(controller.session.device), timeout=PATIENCE)
    controller.session.set_filter("mean2d")
    controller.session.set_picks(("parallel",))


@pytest.fixture
def stage(qtbot, engine: Engine) -> Iterator[tuple[MainWindow, SessionController]]:
    """A window with a picture and its results."""
    controller = SessionController(engine, Session(), Results())
    window = MainWindow(controller, Appearance(QApplication.instance(), "light"))
    qtbot.addWidget(window)
    window.resize(1200, 800)
    window.show()
    qtbot.waitExposed(window)
    pick_one(qtbot, controller)
    drive(qtbot, controller, lambda: controller.open_sample("noise", {"size": "128x128"}))
    yield window, controller
    engine.answered.disconnect(controller._take_answer)


@pytest.mark.thorough
def test_repaints_of_a_picture(qtbot) -> None:
    pane = ImagePane(Display())
    qtbot.addWidget(pane)
    pane.resize(240, 180)
    pane.show()
    pane.set_array(np.random.default_rng(0).random((500, 700), dtype=np.float32), None, "noise")

    def paint(count: int) -> None:
        for turn in range(count):
            pane.display.pan(1 if turn % 2 else -1, 0)
            pane.canvas.repaint()

    paint(300)
    with nothing_left():
        paint(3000)


@pytest.mark.thorough
def test_repaints_of_the_whole_window(stage: tuple[MainWindow, SessionController]) -> None:
    window, _ = stage

    def paint(count: int) -> None:
        for _ in range(count):
            window.update()
            window.panes.update()
            window.repaint()
            QApplication.processEvents()

    paint(20)
    with nothing_left():
        paint(150)


@pytest.mark.parametrize(
    "runs", [pytest.param(20, marks=pytest.mark.thorough), pytest.param(200, marks=pytest.mark.full)]
)
def test_live_runs(qtbot, stage: tuple[MainWindow, SessionController], runs: int) -> None:
    _, controller = stage

    def live(count: int) -> None:
        for turn in range(count):
            width = 5 + 2 * (turn % 15)
            with qtbot.waitSignal(controller.outputs_changed, timeout=PATIENCE):
                controller.session.set_params({**controller.session.choice.params, "window": width})
        qtbot.waitUntil(lambda: not controller.busy, timeout=PATIENCE)

    live(10)
    with nothing_left():
        live(runs)


@pytest.mark.thorough
def test_filters_come_and_go(qtbot, stage: tuple[MainWindow, SessionController]) -> None:
    _, controller = stage

    def choose(filter: str) -> None:
        controller.session.set_filter(filter)
        controller.session.set_picks(("parallel",))
        qtbot.waitUntil(lambda: not controller.busy, timeout=PATIENCE)
        settle()

    for filter in 3 * ("conv3x3", "box", "mean2d"):  # canvases get the layer of their marks when they first need it
        choose(filter)
    with nothing_left(segments_too=False):
        for filter in ("conv3x3", "box", "mean2d"):
            choose(filter)


@pytest.mark.parametrize(
    "cycles", [pytest.param(4, marks=pytest.mark.thorough), pytest.param(50, marks=pytest.mark.full)]
)
def test_windows_open_and_close(qtbot, qapp: QApplication, cycles: int) -> None:
    def cycle() -> None:
        engine, look = Engine(), Appearance(qapp, "light")
        controller = SessionController(engine, Session(), Results())
        window = MainWindow(controller, look)
        window.show()
        pick_one(qtbot, controller)
        with qtbot.waitSignal(controller.outputs_changed, timeout=PATIENCE):
            controller.open_sample("camera")
        window.close()
        engine.close()
        window.deleteLater()
        for model in (controller, controller.session, controller.results, engine, look):
            model.deleteLater()

    cycle()
    cycle()
    with nothing_left():
        for _ in range(cycles):
            cycle()
            settle()

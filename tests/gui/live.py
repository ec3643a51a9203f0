"""A whole window with a real engine, for tests that drive it as a person would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from app.base.worker import Engine
from app.controllers.look import Appearance
from app.controllers.session import SessionController
from app.models.experiment.session import Session
from app.models.results.results import Results
from app.views.window.main_window import MainWindow

PATIENCE = 120_000
"""Milliseconds until a test gives up on the engine."""
ROUNDS = 5
"""Turns of Qt's loop after which what a change of size or content leads to has come, however long each turn takes."""


@contextmanager
def real_engine() -> Iterator[Engine]:
    """An engine whose child process ends with the block."""
    engine = Engine()
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def live_window(qtbot, engine: Engine, device: str = "", picks: tuple[str, ...] = ()) -> Iterator[MainWindow]:
    """A shown window that has begun to work, on `device` where one is named, whatever else there is; with `picks` of
    the mean of an image where they are named, so that nothing runs that no test looks at."""
    controller = SessionController(engine, Session(), Results())
    window = MainWindow(controller, Appearance(QApplication.instance(), "light"))
    qtbot.addWidget(window)
    window.resize(1200, 800)
    window.show()
    qtbot.waitExposed(window)
    controller.start()
    if device or picks:
        qtbot.waitUntil(lambda: bool(controller.session.device), timeout=PATIENCE)
    if device:
        controller.session.set_device(device)
    if picks:
        controller.session.set_filter("mean2d")
        controller.session.set_picks(picks)
    try:
        yield window
        controller.cancel()
        qtbot.waitUntil(lambda: not controller.busy, timeout=PATIENCE)
    finally:
        engine.answered.disconnect(controller._take_answer)


def settle(qtbot, controller: SessionController, do: Callable[[], object]) -> None:
    """Do something and wait until everything that follows from it is done."""
    with qtbot.waitSignal(controller.settled, timeout=PATIENCE):
        do()
    qtbot.waitUntil(lambda: not controller.busy, timeout=PATIENCE)


def pause(ms: int = 30) -> None:
    """Wait so long, and for what a change leads to. The other threads go on meanwhile: QTest.qWait would keep Python's
    lock, and no answer of an engine would come."""
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()
    for _ in range(ROUNDS):
        QApplication.processEvents()

"""A window on an engine that loads at once and computes nothing."""

from __future__ import annotations

import shutil
import weakref
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.controllers.look import Appearance
from app.controllers.session import SessionController
from app.models.experiment.session import Session
from app.models.results.results import Results
from app.models.settings import Settings
from app.views.window.main_window import MainWindow
from gpu_ops import Input, load
from gpu_ops.engine.messages import (
    Failed,
    Finished,
    Loaded,
    LoadRequest,
    NonFinite,
)
from gpu_ops.engine.shared import SharedArray, SharedInput, Statistics
from gpu_ops.errors import KernelscopeError, NonFiniteError


class FakeEngine(QObject):
    """Loads files in place; everything else waits until the test says that it has ended."""

    answered = Signal(object)
    link_changed = Signal(object)
    arrived = Signal(object)
    question = Signal(object)

    def __init__(self, parent: None = None, client: None = None, early: None = None) -> None:
        super().__init__()
        self.jobs, self.arrays, self.asked, self.devices = 0, {}, [], ()
        self.held, self.looked, self.folder = [], [], Path(mkdtemp())
        weakref.finalize(self, shutil.rmtree, self.folder, True)

    def next_job(self) -> int:
        self.jobs += 1
        return self.jobs

    def submit(self, request: Any) -> None:
        self.asked.append(request)
        if isinstance(request, LoadRequest):
            try:
                self.show(load(request.path, **request.options), request.job)
            except NonFiniteError as error:
                found = NonFinite(error.nan, error.infinite, error.choices)
                self.answered.emit(Failed(request.job, f"{error.problem}.", nonfinite=found))
            except KernelscopeError:
                self.answered.emit(Finished(request.job))

    def show(self, input: Input, job: int = 0) -> None:
        a = input.array
        name = f"segment{len(self.arrays)}"
        self.arrays[name] = a
        real = a[np.isfinite(a)]
        low, high = float(real.min()), float(real.max())
        percentiles = {0.1: low, 1: low, 50: (low + high) / 2, 99: high, 99.9: high}
        statistics = Statistics(low, high, (low + high) / 2, percentiles, (1,) * 256, 0, 0)
        shared = SharedArray(name, a.shape, a.dtype.name)
        origin, facts = input.origin, input.facts
        made = SharedInput(
            input.kind, shared, input.axes, input.name, origin, input.rate, True, statistics, facts=facts
        )
        self.answered.emit(Loaded(job, made))
        self.answered.emit(Finished(job))

    def array(self, shared: SharedArray) -> np.ndarray:
        return self.arrays[shared.segment]

    def path(self, shared: SharedArray) -> str:
        file = self.folder / shared.segment
        self.arrays[shared.segment].tofile(file)
        return str(file)

    def step(self, shared: SharedArray) -> int:
        return 0

    def look(self, shared: SharedArray, view: object, pixels: int) -> None:
        self.looked.append((shared.segment, view, pixels))

    def fetch(self, shared: SharedArray) -> None:
        pass

    def hold(self, segment: str) -> None:
        self.held.append(segment)

    def release(self, segment: str) -> None:
        if segment in self.held:
            self.held.remove(segment)

    def cancel(self, job: int, kill: bool = True) -> None:
        self.answered.emit(Finished(job, cancelled=True))

    def end(self) -> None:
        """All that was asked for is done, and what followed from it."""
        job = 0
        while job < self.jobs:
            job += 1
            self.answered.emit(Finished(job))


def make(qtbot, engine: FakeEngine, settings: Settings | None = None, look: Appearance | None = None) -> MainWindow:
    """A window that is shown."""
    controller = SessionController(engine, Session(), Results())
    window = MainWindow(controller, look or Appearance(QApplication.instance(), "light"), settings=settings)
    qtbot.addWidget(window)
    window.resize(1100, 750)
    window.restore()
    window.show()
    qtbot.waitExposed(window)
    return window


def act(window: MainWindow, id: str) -> None:
    """Trigger an action that is offered."""
    assert window.actions_by_id[id].isEnabled() and window.actions_by_id[id].isVisible()
    window.actions_by_id[id].trigger()

"""The base of the window's benchmarks: a window with its engine, and clocks for its event loop and its painting."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from app.base.nesting import bounded
from app.base.worker import Engine
from app.controllers.look import Appearance
from app.controllers.session import SessionController
from app.models.experiment.session import Session
from app.models.results.results import Results
from app.views.window.main_window import MainWindow
from gpu_ops.engine.messages import Loaded, Progress, RunUpdate

PATIENCE = 60.0
LATE_MS = 16.0


class PaintWatch(QObject):
    """`at` is when the widget was first painted while `ready()` was true; None until then, and `then` is called. A
    picture that still shows the image before does not count."""

    def __init__(
        self, widget: QWidget, ready: Callable[[], bool] = lambda: True, then: Callable[[], object] = lambda: None
    ) -> None:
        super().__init__(widget)
        self.at: float | None = None
        self._widget, self._ready, self._then, self._due = widget, ready, then, False
        widget.installEventFilter(self)

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Paint and not self._due and self._ready():
            self._due = True
            QTimer.singleShot(0, self._done)  # the event filter runs before the painting, this after it
        return False

    def _done(self) -> None:
        if getattr(self._widget, "behind", False):
            self._due = False
            return
        self.at = time.perf_counter()
        self._widget.removeEventFilter(self)
        self._then()


class Heartbeat:
    """Measures the time between two turns of the event loop during the `with` block, by a timer of 1 ms."""

    def __enter__(self) -> Heartbeat:
        self.beats = [time.perf_counter()]
        self._timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=1)
        self._timer.timeout.connect(lambda: self.beats.append(time.perf_counter()))
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.stop()

    def figures(self) -> dict[str, Any]:
        """The gaps in milliseconds; `late_share` is the part of all time spent in gaps longer than a frame."""
        gaps = np.diff(self.beats) * 1000
        late = float(gaps[gaps > LATE_MS].sum() / gaps.sum())
        p99, longest = float(np.percentile(gaps, 99)), float(gaps.max())
        longest_ten = [round(float(gap), 1) for gap in np.sort(gaps)[:-11:-1]]
        return {"p99": p99, "max": longest, "late_share": late, "beats": len(gaps), "longest_ms": longest_ten}


class BenchWindow:
    """The window as the program opens it, with an engine that is ready. `parts` are the milliseconds from the last
    action of `until_drawn` to the first message about each part of the work."""

    def __init__(self) -> None:
        app = QApplication.instance() or QApplication([])
        assert isinstance(app, QApplication)
        self.engine = Engine()
        self.arrived = 0.0
        self.parts: dict[str, float] = {}
        self._begin = 0.0
        self.engine.asked.connect(lambda request: self._note_part(f"asked for {type(request).__name__}"))
        self.engine.answered.connect(self._note_arrival)  # before the controller, so that the clock starts first
        self.controller = SessionController(self.engine, Session(), Results())
        self.window = MainWindow(self.controller, Appearance(app, "light"))
        self.window.resize(1280, 800)
        self._ready = False
        self.controller.devices_changed.connect(self._note_ready)

    def __enter__(self) -> BenchWindow:
        self.window.show()
        self.controller.start()
        self.run_until(lambda: self._ready)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.window.close()
        self.engine.close()

    def _note_ready(self, _devices: object) -> None:
        self._ready = True

    def _note_arrival(self, answer: object) -> None:
        if isinstance(answer, Loaded):
            self.arrived = time.perf_counter()
        elif isinstance(answer, Progress):
            self._note_part(answer.text)
        elif isinstance(answer, RunUpdate) and answer.outputs:
            self._note_part("result arrived")

    def _note_part(self, text: str) -> None:
        self.parts.setdefault(text, round((time.perf_counter() - self._begin) * 1000, 1))

    # User actions

    def choose(self, filter: str, picks: tuple[str, ...]) -> None:
        """Choose a filter and exactly these variants."""
        self.controller.session.set_filter(filter)
        self.controller.session.set_picks(picks)
        self.run_for(0.1)

    def open_noise(self, wait: bool = True, **options: Any) -> None:
        """Have the engine generate noise; with `wait`, wait until all its results have arrived."""
        self.controller.open_sample("noise", options)
        if wait:
            self.settle()

    def turn_to(self, page: QWidget) -> None:
        """Show an empty page before its data arrive, so that only the data are timed."""
        self.window.stack.sides.main.setCurrentWidget(page)
        self.run_for(0.2)

    def count_outputs(self) -> list[str]:
        """A list to which the variant of every new result is added."""
        variants: list[str] = []
        self.controller.outputs_changed.connect(lambda variant, _name, _shown: variants.append(variant))
        return variants

    # Time

    def run_until(self, done: Callable[[], bool]) -> None:
        """Run the event loop until `done()`. Raises TimeoutError."""
        loop, end = QEventLoop(), time.perf_counter() + PATIENCE
        poll = QTimer(interval=5)
        poll.timeout.connect(lambda: loop.quit() if done() or time.perf_counter() > end else None)
        poll.start()
        loop.exec()
        poll.stop()
        if not done():
            raise TimeoutError(f"nothing within {PATIENCE:g} s")

    def run_for(self, seconds: float) -> None:
        loop = QEventLoop()
        QTimer.singleShot(round(seconds * 1000), loop.quit)
        loop.exec()

    def settle(self) -> None:
        """Wait for all runs to end and the last pictures to be painted."""
        self.run_until(lambda: not self.controller.busy)
        self.run_for(0.1)

    def ms_since_arrival(self, painted: PaintWatch) -> float:
        """Milliseconds from the input's arrival in the window's process."""
        assert painted.at is not None
        return (painted.at - self.arrived) * 1000

    def frame(self, widget: QWidget, do: Callable[[], object], ready: Callable[[], bool] = lambda: True) -> float:
        """Milliseconds from `do()` until the widget has painted the effect."""
        self.run_for(0.002)
        painted, end = PaintWatch(widget, ready), time.perf_counter() + PATIENCE
        begin = time.perf_counter()
        do()
        while painted.at is None:
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            if time.perf_counter() > end:
                raise TimeoutError("nothing was painted")
        return (painted.at - begin) * 1000

    def until_drawn(self, variant: str, do: Callable[[], object]) -> float:
        """Milliseconds from `do()` until another result of the variant has been painted, in any view."""
        before, end = self._drawn(variant)[1], time.perf_counter() + PATIENCE
        self.parts, self._begin = {}, time.perf_counter()
        do()
        painted: PaintWatch | None = None
        while painted is None or painted.at is None:
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 20)
            widget, shown = self._drawn(variant)
            if painted is None and shown is not None and shown is not before:
                painted = PaintWatch(widget)
                widget.update()
            if time.perf_counter() > end:
                raise TimeoutError("no result was painted")
        return (painted.at - self._begin) * 1000

    def _drawn(self, variant: str) -> tuple[QWidget, object]:
        """The widget that paints a result of the variant, and a value that differs for every result; None without a
        result."""
        view: Any = self.window.stack.view
        if view.grid is not None:
            pane = view.grid.pane(variant)
            return pane.canvas, pane.layer.pyramid
        if not hasattr(view, "cells"):  # curves have no widgets of their own
            return view.widget, None
        cell = view.cells[variant]
        heat = getattr(cell.area, "heat", None)
        area: Any = cell.area
        painted = area.viewport() if isinstance(area, QAbstractScrollArea) else area  # the viewport covers the area
        return painted, cell.drawn if heat is None or heat.complete else None


def private_mb() -> float:
    """Private_Clean + Private_Dirty of every mapping but the segments shared with the engine, from /proc/self/smaps.

    The kernel calls a page of a segment private while only one process has touched it, so segments go by their name."""
    total, counts = 0, True
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            counts = "/kernelscope-" not in line
        elif counts and line.startswith(("Private_Clean:", "Private_Dirty:")):
            total += int(line.split()[1]) * 1024
    return total / 1e6

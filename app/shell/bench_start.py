"""From the start of the program to its first paint and its first verified picture, for `kernelscope window-bench`; each
next to a bare window of PySide6 and pyqtgraph, because hosts differ by a factor of 2.5."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpu_ops import processes

Figures = dict[str, Any]
Command = Callable[[Sequence[str], Callable[[Any, Any], None]], int]
"""A function that opens the window, given the command line and what to call with the application and its window before
that is shown."""
HEAVY = ("cupy", "cv2", "numba", "scipy")
PATIENCE = 300.0
STARTED, VERIFIED = "started", "verified"
BARE = """
import json, sys, time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
import numpy, pyqtgraph

app = QApplication([])

class Window(pyqtgraph.GraphicsLayoutWidget):
    def paintEvent(self, event):
        super().paintEvent(event)
        QTimer.singleShot(0, self.painted)

    def painted(self):
        print(json.dumps({"paint": (time.monotonic_ns() - int(sys.argv[1])) / 1e6}), flush=True)
        app.quit()

window = Window(size=(1280, 800))
window.addPlot().addItem(pyqtgraph.ImageItem(numpy.zeros((512, 512))))
window.show()
app.exec()
"""
"""A window with an image, and nothing else."""


def first_paint(quick: bool) -> Figures:
    """Start the program several times; each run reports when its window was first painted and what it had imported."""
    with _installed() as environment:
        runs = [_program(environment, STARTED) for _ in range(3 if quick else 6)][1:]
    heavy = sorted({name for run in runs for name in run["imported"]})
    times = [run["paint"] for run in runs]
    return {"median": statistics.median(times), "runs": times, "heavy_modules_imported": heavy}


def starts(quick: bool) -> Figures:
    """The time to the first verified picture of a CPU variant, as a multiple of the first paint of a bare window: at
    the very first start, without compiled loops and bytecode of the program's own, and at later ones."""
    with _installed() as environment:
        bare = [_bare(environment)]  # brings the libraries into the system's cache of files
        first = _program(environment, VERIFIED)
        later = []
        for _ in range(2 if quick else 5):
            bare.append(_bare(environment))
            later.append(_program(environment, VERIFIED))
    unit, times = statistics.median(bare[1:]), [run["verified"] for run in later]
    details = {"bare_ms": bare[1:], "first_ms": first, "later_ms": later}
    return {"verified": statistics.median(times) / unit, "first": first["verified"] / unit, **details}


@contextmanager
def _installed() -> Iterator[dict[str, str]]:
    """A copy of the program that has never run, for a person without caches and settings: its environment."""
    root = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory(prefix="kernelscope-start-", ignore_cleanup_errors=True) as folder:
        for package in ("app", "gpu_ops", "resources"):
            kept = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
            shutil.copytree(root / package, Path(folder, package), ignore=kept)
        own = {name: str(Path(folder, name)) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
        outer = processes.environment()
        outer = {
            name: value for name, value in outer.items() if name not in ("PYTHONDONTWRITEBYTECODE", "NUMBA_CACHE_DIR")
        }
        path = {"PYTHONPATH": f"{folder}:{outer['PYTHONPATH']}"}
        yield {"QT_QPA_PLATFORM": "offscreen", **outer, **own, **path}


def _program(environment: Mapping[str, str], until: str) -> Figures:
    return _timed(["-m", "app", "window-bench", "--one", until, "--since"], environment)


def _bare(environment: Mapping[str, str]) -> float:
    return float(_timed(["-c", BARE], environment)["paint"])


def _timed(arguments: Sequence[str], environment: Mapping[str, str]) -> Figures:
    """Run Python with these arguments and the time of its start. Raises RuntimeError with its last line of output when
    it fails."""
    command = [sys.executable, *arguments, str(time.monotonic_ns())]
    how = {"capture_output": True, "text": True, "timeout": PATIENCE, "cwd": processes.FOLDER, "env": dict(environment)}
    done = subprocess.run(command, **how)  # type: ignore[call-overload]
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def start_window(since: int, command: Command, until: str) -> Figures:
    """Open the program's window, in this process, in the program's own order: the engine is started before Qt is
    imported. Returns the milliseconds since `since` (of `time.monotonic_ns`) until it was painted, and until a picture
    was verified if that is asked for."""
    figures, watches = Figures(), list[Any]()
    command(["--sample", "camera"], lambda app, window: watches.append(_StartWatch(app, window, since, until, figures)))
    return figures


class _StartWatch:
    """Notes in `figures` when the window is painted and a picture is verified, then closes the window. It looks when
    outputs and rows change and no more often, so that it takes no time of what it measures."""

    def __init__(self, app: Any, window: Any, since: int, until: str, figures: Figures) -> None:
        from PySide6.QtCore import QTimer

        from app.shell.bench_stage import PaintWatch

        self._app, self._window, self._since, self._until, self._figures = app, window, since, until, figures
        self._look_soon = QTimer(singleShot=True, interval=0)
        self._look_soon.timeout.connect(self._look)
        self._watch: PaintWatch | None = None
        self._first = PaintWatch(window, then=self._painted)

    def _note(self, name: str) -> None:
        self._figures[name] = (time.monotonic_ns() - self._since) / 1e6

    def _painted(self) -> None:
        self._note("paint")
        self._figures["imported"] = [name for name in HEAVY if name in sys.modules]
        if self._until == STARTED:
            self._end()
            return
        controller = self._window.controller
        for changed in (controller.outputs_changed, controller.results.row_changed, controller.settled):
            changed.connect(lambda *_: self._look_soon.start())
        self._look_soon.start()

    def _end(self) -> None:
        self._app.closeAllWindows()
        self._app.quit()

    def _look(self) -> None:
        from app.shell.bench_stage import PaintWatch

        canvas = _verified(self._window)
        if self._watch is None and canvas is not None:
            self._watch = PaintWatch(canvas, then=self._shown)
            canvas.update()

    def _shown(self) -> None:
        self._note("verified")
        self._end()


def _verified(window: Any) -> Any:
    """The canvas of a verified picture of a CPU variant; None without one."""
    cpu = {v.id for v in window.controller.session.filter.variants if v.device == "cpu"}
    panes = window.panes.panes.items() if window.panes is not None else ()
    return next((pane.canvas for key, pane in panes if key in cpu and pane.layer.state == "fresh"), None)

"""Handlers of events that cause each other without end: the log names them, and the window lives on."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sources import nodes

ROOT = Path(__file__).parents[2]
HANDLERS = {"resizeEvent", "moveEvent", "showEvent", "hideEvent", "changeEvent", "eventFilter", "event"}
"""Handlers of events that may cause further events before they return. Qt itself never nests paintEvent."""
LOOPS = """
import sys
from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from app.base.nesting import bounded
from app.models.log import Log
from app.shell.faults import log_faults

def another(widget):
    widget.resize(widget.width() % 700 + 100, widget.height())

class Itself(QWidget):
    @bounded
    def resizeEvent(self, event):
        super().resizeEvent(event)
        another(self)

class Watched(QObject):
    @bounded
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Resize:
            another(watched)
        return False

class Both(QWidget):
    @bounded
    def resizeEvent(self, event):
        for widget in self.both:
            another(widget)

class Told(QWidget):
    told = Signal()
    @bounded
    def resizeEvent(self, event):
        self.told.emit()

app = QApplication([])
log = Log(app)
with log_faults(log):
    kind = sys.argv[1]
    if kind == "itself":
        widget = Itself()
    elif kind == "both":
        widget, other = Both(), Both()
        Both.both = widget, other
        other.show()
    elif kind == "slot":
        widget = Told()
        widget.told.connect(lambda: another(widget))
    else:
        widget, watched = QLabel("text"), Watched()
        widget.installEventFilter(watched)
    widget.show()
    for width in (300, 310):
        another(widget)
        app.processEvents()
    lines = [line for line in log.text().splitlines() if "without end" in line]
    print(len(lines), lines[0].partition("the last first: ")[2])
"""


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("itself", "Itself.resizeEvent, another"),
        ("watched", "Watched.eventFilter, another"),
        ("both", "Both.resizeEvent, another"),
        ("slot", "another, Told.resizeEvent"),
    ],
)
def test_an_endless_loop_of_handlers_is_ended_and_logged(tmp_path: Path, kind: str, names: str) -> None:
    """With PySide6 6.11 and Python 3.11 the process ends with a segmentation fault without `bounded`."""
    done = subprocess.run(
        [sys.executable, "-c", LOOPS, kind],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    count, _, said = done.stdout.strip().partition(" ")
    assert int(count) >= 1 and all(name in said for name in names.split(", ")), said


def test_every_handler_that_may_be_nested_is_bounded() -> None:
    missing = []
    for path in sorted((ROOT / "app").rglob("*.py")):
        for node in nodes(path):
            for method in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(method, ast.FunctionDef) and method.name in HANDLERS:
                    decorators = [d.id for d in method.decorator_list if isinstance(d, ast.Name)]
                    missing += [] if "bounded" in decorators else [f"{path.name}: {node.name}.{method.name}"]
    assert missing == [], "app.base.nesting bounds them"

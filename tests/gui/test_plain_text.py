"""Names of files, headings and units come from strangers: the window shows their letters and never takes them for
HTML, which would open the files that it names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import sources
from fake_engine import FakeEngine
from PySide6.QtGui import QAction, Qt, QTextDocument
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.base.tips import set_tip, tip_text
from app.models.curves.curve import Trace
from app.views.curves.signal_pane import SignalPane
from gpu_ops.output_kinds import Axis

ROOT = Path(__file__).parent.parent.parent
TIPS = ROOT / "app" / "base" / "tips.py"
NASTY = "<b>x<img src=secret.png>"


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            if name == (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")):
                yield node


def _is_own_text(text: ast.expr) -> bool:
    """Whether it is a text of the program, translated or not, into which nothing is put."""
    is_translation = isinstance(text, ast.Call) and any(
        True for name in ("tr", "translate") for _ in _calls(text, name)
    )
    inner = text.args if is_translation and isinstance(text, ast.Call) else [text]
    return all(isinstance(one, ast.Constant) for one in inner)


def test_every_tip_of_the_window_is_set_by_set_tip() -> None:
    wrong = []
    for path in (ROOT / "app").rglob("*.py"):
        if path == TIPS:
            continue
        name, tree = path.relative_to(ROOT), sources.tree(path)
        tips = [call.args[-1] for call in _calls(tree, "setToolTip")]
        wrong += [f"{name}:{t.lineno}" for t in tips if not _is_own_text(t) and not any(_calls(t, "tip_text"))]
        wrong += [f"{name}:{call.lineno} shows one itself" for call in _calls(tree, "showText")]
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            roles = [n for n in ast.walk(function) if isinstance(n, ast.Attribute) and n.attr == "ToolTipRole"]
            wrong += [f"{name}:{function.name}"] if roles and not any(_calls(function, "tip_text")) else []
        wrong += [f"{name} escapes nothing" for _ in _calls(tree, "Html") if not any(_calls(tree, "escape"))]
    assert wrong == []


@pytest.mark.parametrize("text", [NASTY, "a < b and c > d\n2", "x &lt; y", "a & b", "<table>", "C:\\<new>", ""])
def test_a_tip_shows_the_letters_of_its_text(qapp: QApplication, text: str) -> None:
    shown, document = tip_text(text), QTextDocument()
    if Qt.mightBeRichText(shown):
        document.setHtml(shown)
        shown = document.toPlainText()
    assert shown == text
    action = QAction()
    set_tip(action, text)
    assert action.toolTip() == tip_text(text) or not text


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


def test_nothing_in_the_window_is_html_of_a_file(window, qtbot, tmp_path: Path) -> None:
    path = tmp_path / f"{NASTY.replace('/', '')}.csv"
    lines = [f"time (s),a{NASTY} (<i>V),b{NASTY} (<i>V)", *(f"{k / 100},{k % 7},{k % 5}" for k in range(60))]
    path.write_text("\n".join(lines))
    window.controller.open_file(str(path))
    qtbot.waitUntil(lambda: NASTY in window.windowTitle(), timeout=20_000)
    window.grab()
    widgets = [window, *window.findChildren(QWidget)]
    tips = [one.toolTip() for one in [*widgets, *window.findChildren(QAction)]]
    assert [tip for tip in tips if "img src" in tip], "no tip names the file"
    assert [tip for tip in tips if "<img" in tip or "<b>x" in tip] == []
    for words in window.findChildren(QLabel):
        rich = words.textFormat() != Qt.TextFormat.PlainText and Qt.mightBeRichText(words.text())
        assert not rich or "<img" not in words.text(), words.objectName()


def test_the_axes_of_a_plot_name_units_letter_by_letter(qtbot) -> None:
    pane = SignalPane()
    qtbot.addWidget(pane)
    pane.set_curves([Trace("a", np.ones(9), Axis("time", NASTY, 0.0, 1.0), unit=NASTY)])
    texts = [pane.plot.item.getAxis(side).label for side in ("left", "bottom")]
    assert all(NASTY in text.toPlainText() and "<img" not in text.toHtml() for text in texts)

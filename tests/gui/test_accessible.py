"""What the keyboard and a screen reader need: every part that takes the focus has a name, and shows its focus."""

from __future__ import annotations

import pytest
from fake_engine import FakeEngine, make
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from result_rows import rows, show_rows

from app.views.window.main_window import MainWindow
from app.views.window.panels import PANELS

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def engine(qapp: QApplication) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot: QtBot, engine: FakeEngine) -> MainWindow:
    """With rows, and shown: panels paint and lay out what they have."""
    window = make(qtbot, engine)
    show_rows(window.context.results, rows())
    window.resize(1366, 768)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    return window


def able(inside: QWidget) -> list[QWidget]:
    """What the Tab key reaches."""
    children = [inside, *inside.findChildren(QWidget)]
    takes = [w for w in children if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.focusProxy() is None]
    return [w for w in takes if w.isVisible() and w.isEnabled()]


def name_of(widget: QWidget) -> str:
    """What a screen reader says: the accessible name, the text, or that of the label in front."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface is not None else ""


def pictures(widget: QWidget) -> tuple[QImage, QImage]:
    """The part as it is in the window, which may draw its frame, and by itself, where it is scrolled out of sight."""
    place = widget.rect().translated(widget.mapTo(widget.window(), widget.rect().topLeft()))
    return widget.window().grab(place).toImage(), widget.grab().toImage()


def test_every_part_with_the_focus_has_a_name_and_shows_it(qtbot: QtBot, window: MainWindow) -> None:
    seen, nameless, unseen = 0, [], []
    for spec in PANELS:
        window.docks.show_panel(spec.id)
        QApplication.processEvents()
        panel = window.docks[spec]
        for part in able(panel):
            seen += 1
            where = f"{spec.id}: {part.objectName() or type(part).__name__}"
            if not name_of(part).strip():
                nameless.append(where)
            window.setFocus(Qt.FocusReason.OtherFocusReason)
            QApplication.processEvents()
            before = pictures(part)
            part.setFocus(Qt.FocusReason.TabFocusReason)
            window.setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)  # as after the Tab key
            QApplication.processEvents()
            if part.hasFocus() and pictures(part) == before:
                unseen.append(where)
    assert seen > 40 and nameless == [] and unseen == []

"""The letters that work with Alt: each belongs to one thing that is seen, and menus come first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from lanes import daily_subset
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QSlider,
    QTabBar,
    QWidget,
)

from app.views.experiment.search_combo import SearchCombo
from app.views.keys import keyed, letter, menu_letters, yielding
from app.views.window.main_window import MainWindow
from app.views.window.panels import TIMELINE
from gpu_ops import FILTERS, find_filter, from_array

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> MainWindow:
    window = make(qtbot, engine)
    engine.show(from_array(np.eye(90, dtype=np.uint8), name="eye"))
    return window


def marked(window: MainWindow) -> Iterator[tuple[str, QWidget]]:
    """Every text of the window that Alt and a letter may press or lead from, with what it stands on."""
    for kind in (QLabel, QAbstractButton, QGroupBox, QTabBar):
        for widget in window.findChildren(kind):
            if widget.window() is not window or (isinstance(widget, QLabel) and widget.buddy() is None):
                continue
            bar = isinstance(widget, QTabBar)
            texts = [widget.tabText(i) for i in range(widget.count()) if widget.isTabVisible(i)] if bar else []
            texts += [widget.title()] if isinstance(widget, QGroupBox) else [] if bar else [widget.text()]
            yield from ((text, widget) for text in texts if letter(text))


def show_all(window: MainWindow, filter: str) -> Iterator[None]:
    """Everything that can be seen at once, with each tab and each variant's knobs in turn."""
    window.xray_dock.show()
    window.messages.show_message("error", "A sentence.", "and details")
    window.controller.session.set_filter(filter)
    for place in range(max(window.tabs.count(), window.xray_panel.tabs.count())):
        window.tabs.setCurrentIndex(place)
        window.xray_panel.tabs.setCurrentIndex(place)
        yield
    for variant in find_filter(filter).variants:
        window.panel.variants.row(variant.id).selected.emit(variant.id)
        yield


def open_input(engine: FakeEngine, kind: str) -> None:
    array = np.zeros(90, dtype=np.float32) if kind == "signal" else np.eye(90, dtype=np.uint8)
    engine.show(from_array(array, name="another"))


@pytest.mark.parametrize("filter", daily_subset([f.id for f in FILTERS], 6, str))
def test_a_letter_is_the_key_of_one_thing_and_menus_come_first(
    window: MainWindow, engine: FakeEngine, filter: str
) -> None:
    open_input(engine, find_filter(filter).accepts)
    menus = {letter(action.text()) for action in window.menuBar().actions()}
    assert menus == menu_letters() and len(menus) == 6
    for _ in show_all(window, filter):
        found = list(marked(window))
        assert [(text, widget.objectName()) for text, widget in found if letter(text) in menus] == []
        texts = [text for text, widget in found if widget.isVisible()]
        assert len(texts) > 5
        keys = [letter(text) for text in texts]
        assert len(keys) == len(set(keys)), sorted(texts, key=letter)


@pytest.mark.parametrize("letter", ["F", "E", "R", "V", "C", "H"])
def test_alt_and_a_letter_open_the_menu_at_once(qtbot, window: MainWindow, letter: str) -> None:
    window.activateWindow()
    qtbot.waitActive(window)
    window.xray_dock.show()
    menu = next(m for path, m in window.parts.menus.items() if "/" not in path and f"&{letter}" in m.title().upper())
    QTest.keyClick(window.panel.run_button, getattr(Qt.Key, f"Key_{letter}"), Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(menu.isVisible)
    menu.close()


def test_every_parameter_has_a_key_where_letters_are_left(window: MainWindow) -> None:
    for filter in FILTERS:
        window.controller.session.set_filter(filter.id)
        labels = [label.text() for label in window.panel.form.findChildren(QLabel) if label.buddy()]
        used = window.panel._letters() | window.panel.form.letters
        left = [text for text in labels if not letter(text) and {c for c in text.lower() if c.isalnum()} - used]
        assert len(labels) == len(filter.params) and not left, labels


@pytest.mark.parametrize("filter", ["transfer2d", "layout", "fft_batch1d"])
def test_the_timeline_takes_the_letters_that_forms_leave(window: MainWindow, engine: FakeEngine, filter: str) -> None:
    open_input(engine, find_filter(filter).accepts)
    window.controller.session.set_devices(("sim",))
    window.docks.turn_to(TIMELINE)
    window.controller.session.set_filter(filter)
    controls = window.timeline.controls
    for variant in find_filter(filter).variants:
        window.panel.variants.row(variant.id).selected.emit(variant.id)
        seen = [(text, widget) for text, widget in marked(window) if widget.isVisible()]
        keys = [letter(text) for text, _ in seen]
        shown = [widget.text() for widget in controls._keyed if widget.isVisible()]
        assert len(keys) == len(set(keys)) and len(shown) > 3, sorted(keys)
        used = set(keys) | window.panel.letters
        assert not [text for text in shown if not letter(text) and {c for c in text.lower() if c.isalpha()} - used]
        assert sum(bool(letter(text)) for text in shown) > 1, shown
    assert controls.views.parentWidget().findChild(QLabel).buddy() is controls.views


def test_names_share_letters_out() -> None:
    assert keyed(["Rows", "Right & wrong"], set()) == ["&Rows", "R&ight && wrong"]
    assert keyed(["abc", "ab", "a"], {"x"}) == ["ab&c", "a&b", "&a"]
    assert keyed(["ab", "ba", "aa"], {"b"}) == ["&ab", "ba", "aa"]


def test_a_text_yields_its_key() -> None:
    assert letter("Save && &close") == "c" and letter("none && at all") == ""
    assert yielding("Save && &close", {"c"}) == "Save && close"
    assert yielding("Save && &close", {"s"}) == "Save && &close"


# Letters without Alt


@pytest.mark.parametrize("name", ["slider", "button", "combo", "list"])
def test_letters_work_wherever_no_text_is_edited(qtbot, window: MainWindow, name: str) -> None:
    kinds = {"slider": QSlider, "button": QPushButton, "combo": QComboBox}
    found = window.panel.findChildren(kinds.get(name, QWidget))
    shown = [w for w in found if w.isVisible() and w.isEnabled() and not isinstance(w, SearchCombo)]
    widget: QWidget = shown[0] if name in kinds else window.panel.variants
    widget.setFocus()
    qtbot.waitUntil(lambda: widget.hasFocus() or widget.isAncestorOf(QApplication.focusWidget()))
    for key, tool in ((Qt.Key.Key_R, "region"), (Qt.Key.Key_P, "profile")):
        qtbot.keyClick(QApplication.focusWidget(), key)
        assert window.parts.probe.tool == tool
        widget.setFocus()


def test_letters_that_are_typed_are_text(qtbot, window: MainWindow) -> None:
    line = QLineEdit(window)
    line.show()
    line.setFocus()
    qtbot.waitUntil(line.hasFocus)
    for key in (Qt.Key.Key_R, Qt.Key.Key_P, Qt.Key.Key_S):
        qtbot.keyClick(line, key)
    assert line.text() == "rps" and window.parts.probe.tool == ""


def test_a_letter_that_nothing_takes_goes_to_the_visible_pictures(qtbot, window: MainWindow) -> None:
    taken: list[str] = []

    class Picture(QWidget):
        takes_letters = True

        def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
            taken.append(event.text())
            event.setAccepted(event.text() == "t")

    picture = Picture(window.stack)
    picture.show()
    button = next(b for b in window.panel.findChildren(QPushButton) if b.isVisible() and b.isEnabled())
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    for key in (Qt.Key.Key_T, Qt.Key.Key_X, Qt.Key.Key_5):
        qtbot.keyClick(button, key)
    picture.hide()
    qtbot.keyClick(button, Qt.Key.Key_T)
    assert taken == ["t", "x"]

"""Contrast of every state of widgets as WCAG 2 measures it, from what is painted, in both schemes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from pixels import rgb
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDockWidget,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QTabWidget,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)
from result_rows import row, show_rows

from app.base import theme
from app.controllers.look import Appearance
from app.views.experiment.search_combo import SearchCombo, disable
from app.views.parts import TickBox
from app.views.results.choice_button import ChoiceButton
from app.views.window.main_window import MainWindow
from gpu_ops import from_array

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
TEXT, SHAPE = 4.5, 3.0
WORD = "MWHNE"
LETTERS = 16
"""Points of the letters in widgets of the test: strokes are wide enough to have the colour of the ink."""
SCHEMES = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}


@pytest.fixture(params=SCHEMES)
def scheme(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    theme.apply(qapp, Qt.ColorScheme.Light)
    before = qapp.font()
    theme.apply(qapp, SCHEMES[request.param])
    font = qapp.font()
    font.setPointSizeF(LETTERS)
    qapp.setFont(font)
    yield request.param
    qapp.setFont(before)
    theme.apply(qapp, Qt.ColorScheme.Light)


def luminance(pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Relative luminance of colours (..., 3) uint8."""
    share = pixels / 255.0
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def ratio(one: Any, other: Any) -> Any:
    high, low = np.maximum(one, other), np.minimum(one, other)
    return (high + 0.05) / (low + 0.05)


def readable(image: QImage, place: QRect) -> float:
    """The least contrast of the ink with its ground in a part of a picture. The ground of a line of pixels is the most
    frequent colour in it; the ink is the most different of all colours that are not rare."""
    shades = luminance(rgb(image.copy(place)))
    grounds = np.array([_most_frequent(line) for line in shades])
    values, counts = np.unique(shades, return_counts=True)
    usual = np.median(grounds)
    order = np.argsort(-ratio(values, usual))
    several = np.searchsorted(np.cumsum(counts[order]), 8)  # not a single pixel decides
    ink = values[order[min(several, len(order) - 1)]]
    grounds = grounds[ratio(grounds, usual) < ratio(grounds, ink)]  # a long stroke of a letter is none
    return float(ratio(ink, grounds).min()) if len(grounds) else 1.0


def _most_frequent(line: np.ndarray[Any, Any]) -> float:
    values, counts = np.unique(line, return_counts=True)
    return float(values[counts.argmax()])


def inside(widget: QWidget, border: int = 4) -> QRect:
    return widget.rect().adjusted(border, border, -border, -border)


# Widgets


def line(text: str = WORD, hint: str = "", chosen: bool = False) -> QLineEdit:
    edit = QLineEdit(text)
    edit.setPlaceholderText(hint)
    if chosen:
        edit.selectAll()
    return edit


def combo() -> QComboBox:
    made = SearchCombo()
    made.addItems([WORD])
    return made


def group() -> QGroupBox:
    made = QGroupBox(WORD)
    made.resize(200, 60)
    return made


def number() -> QSpinBox:
    made = QSpinBox()
    made.setRange(0, 888888)
    made.setValue(888888)
    return made


def text() -> QPlainTextEdit:
    made = QPlainTextEdit(WORD)
    made.resize(150, 40)
    return made


def progress(value: int) -> QProgressBar:
    made = QProgressBar()
    made.setValue(value)
    return made


def button(kind: type[QAbstractButton], checked: bool = False, flat: bool = False) -> QAbstractButton:
    made = kind()
    made.setText(WORD)
    made.setCheckable(True)
    made.setChecked(checked)
    if isinstance(made, QToolButton):
        made.setAutoRaise(flat)
    return made


WIDGETS: dict[str, Callable[[], QWidget]] = {
    "label": lambda: QLabel(WORD),
    "link": lambda: QLabel(f"<a href='x'>{WORD}</a>"),
    "line": line,
    "placeholder": lambda: line("", WORD),
    "selected text": lambda: line(chosen=True),
    "number": number,
    "text": text,
    "combo": combo,
    "group": group,
    "progress": lambda: progress(0),
    "full progress": lambda: progress(100),
    **{
        f"{kind.__name__} {on}": partial(button, kind, on, kind is QToolButton)
        for kind in (QPushButton, ChoiceButton, TickBox, QToolButton)
        for on in (False, True)
    },
}


@pytest.mark.parametrize("enabled", [True, False], ids=["enabled", "disabled"])
def test_every_text_of_a_widget_can_be_read(qapp: QApplication, qtbot: Any, scheme: str, enabled: bool) -> None:
    found = {}
    for name, make_widget in WIDGETS.items():
        around = QWidget()
        qtbot.addWidget(around)
        widget = make_widget()
        widget.setParent(around)
        widget.setEnabled(enabled)
        widget.move(10, 10)
        if not isinstance(widget, QGroupBox | QPlainTextEdit):
            widget.adjustSize()
        around.resize(widget.width() + 20, widget.height() + 20)
        around.show()
        place = inside(widget, 4 if not isinstance(widget, QGroupBox) else 0)
        if isinstance(widget, TickBox):
            place.setLeft(widget.width() - widget.fontMetrics().horizontalAdvance(WORD))
        found[name] = readable(around.grab().toImage(), QRect(widget.mapTo(around, place.topLeft()), place.size()))
    assert all(value >= TEXT for value in found.values()), {k: round(v, 1) for k, v in found.items() if v < TEXT}


def test_every_entry_of_a_list_can_be_read(qtbot: Any, scheme: str) -> None:
    """The list of a combo box, a tree and its headings, tabs: normal, under the mouse or selected, disabled."""
    box = SearchCombo()
    qtbot.addWidget(box)
    box.addItems([WORD] * 4)
    disable(box, 2)
    box.setCurrentIndex(3)
    box.show()
    box.showPopup()
    view = box.view()
    view.setCurrentIndex(view.model().index(1, 0))
    around = view.window()
    image = around.grab().toImage()
    found = {}
    for place, name in enumerate(("normal", "under the mouse", "disabled", "current")):
        part = view.visualRect(view.model().index(place, 0)).adjusted(2, 2, -2, -2)
        found[f"combo, {name}"] = readable(image, part.translated(view.viewport().mapTo(around, QPoint())))
    box.hidePopup()
    for enabled in (True, False):
        tree = QTreeWidget()
        qtbot.addWidget(tree)
        tree.setHeaderLabels([WORD])
        tree.addTopLevelItems([QTreeWidgetItem([WORD]) for _ in range(3)])
        tree.topLevelItem(1).setSelected(True)
        tree.topLevelItem(2).setDisabled(True)
        tree.setEnabled(enabled)
        tree.show()
        image = tree.viewport().grab().toImage()
        for place, name in enumerate(("normal", "selected", "disabled")):
            part = tree.visualItemRect(tree.topLevelItem(place)).adjusted(2, 2, -2, -2)
            found[f"tree {enabled}, {name}"] = readable(image, part)
        found[f"heading {enabled}"] = readable(tree.header().grab().toImage(), inside(tree.header()))
    tabs = QTabWidget()
    qtbot.addWidget(tabs)
    for place in range(3):
        tabs.addTab(QWidget(), WORD)
        tabs.setTabEnabled(place, place < 2)
    tabs.resize(900, 100)
    tabs.show()
    image = tabs.tabBar().grab().toImage()
    for place, name in enumerate(("front", "behind", "disabled")):
        found[f"tab, {name}"] = readable(image, tabs.tabBar().tabRect(place).adjusted(6, 6, -6, -6))
    assert all(value >= TEXT for value in found.values()), {k: round(v, 1) for k, v in found.items() if v < TEXT}


def filled(menu: QMenu) -> None:
    """Entries with and without boxes, in every state."""
    for checkable in (False, True):
        for checked in (False, True) if checkable else (False,):
            for enabled in (True, False):
                entry = menu.addAction(WORD)
                entry.setCheckable(checkable)
                entry.setChecked(checked)
                entry.setEnabled(enabled)


def test_every_entry_of_a_menu_can_be_read(qtbot: Any, scheme: str) -> None:
    menu = QMenu()
    qtbot.addWidget(menu)
    menu.setStyle(theme.boxes())
    filled(menu)
    menu.popup(QPoint())
    found = {}
    for hovered in (None, *menu.actions()):
        if hovered is not None:
            menu.setActiveAction(hovered)
        image = menu.grab().toImage()
        for place, entry in enumerate(menu.actions()):
            part = menu.actionGeometry(entry).adjusted(2, 2, -2, -2)
            part.setLeft(part.right() - menu.fontMetrics().horizontalAdvance(WORD))
            found[place, entry is hovered] = min(readable(image, part), found.get((place, entry is hovered), 99.0))
    assert all(value >= TEXT for value in found.values()), {k: round(v, 1) for k, v in found.items() if v < TEXT}


def box_of(image: QImage, place: QRect) -> np.ndarray[Any, Any]:
    return luminance(rgb(image.copy(place)))


@pytest.mark.parametrize("enabled", [True, False], ids=["enabled", "disabled"])
def test_ticked_and_empty_boxes_are_unlike(qtbot: Any, scheme: str, enabled: bool) -> None:
    """An empty box stands out from what is around it, and its inside differs from that of a ticked one."""
    seen = []
    for checked in (False, True):
        box = button(TickBox, checked)
        qtbot.addWidget(box)
        box.setEnabled(enabled)
        box.show()
        image = box.grab().toImage()
        across = box.width() - box.fontMetrics().horizontalAdvance(WORD) - 6
        seen.append(box_of(image, QRect(0, 0, across, box.height())))
    assert_apart(*seen)


def assert_apart(empty: np.ndarray[Any, Any], ticked: np.ndarray[Any, Any]) -> None:
    around = float(empty[0, 0])
    frame = np.argwhere(ratio(empty, around) >= SHAPE)
    assert len(frame) >= 4 * 8, "the frame of an empty box"
    (top, left), (bottom, right) = frame.min(axis=0), frame.max(axis=0)
    inner = slice(top + 3, bottom - 2), slice(left + 3, right - 2)
    assert np.mean(ratio(empty[inner], ticked[inner]) >= SHAPE) > 0.5, "the inside of a ticked box"
    filling = float(np.median(ticked[inner]))
    assert np.mean(ratio(ticked[inner], filling) >= SHAPE) > 0.05, "the tick in its box"


@pytest.mark.parametrize("enabled", [True, False], ids=["enabled", "disabled"])
def test_ticked_and_empty_boxes_of_a_menu_are_unlike(qtbot: Any, scheme: str, enabled: bool) -> None:
    seen = []
    for checked in (False, True):
        menu = QMenu()
        qtbot.addWidget(menu)
        menu.setStyle(theme.boxes())
        entry = menu.addAction(WORD)
        entry.setCheckable(True)
        entry.setChecked(checked)
        entry.setEnabled(enabled)
        menu.popup(QPoint())
        place = menu.actionGeometry(entry).adjusted(2, 2, -2, -2)
        place.setWidth(place.height())
        seen.append(box_of(menu.grab().toImage(), place))
    assert_apart(*seen)


# The window


@pytest.fixture
def window(qtbot: Any, scheme: str) -> Iterator[MainWindow]:
    window = make(qtbot, FakeEngine(), look=Appearance(QApplication.instance(), scheme, presenter=True))
    window.resize(2000, 1300)
    yield window
    window.close()


def test_menus_of_the_window_have_visible_boxes(window: MainWindow) -> None:
    menus = [menu for menu in window.findChildren(QMenu) if any(a.isCheckable() for a in menu.actions())]
    assert len(menus) >= 4 and all(menu.style() is theme.boxes() for menu in menus)


@pytest.mark.thorough
@pytest.mark.parametrize("enabled", [True, False], ids=["enabled", "disabled"])
def test_every_text_of_the_window_can_be_read(window: MainWindow, enabled: bool) -> None:
    window.controller._engine.show(from_array(np.eye(40, dtype=np.uint8), name=WORD))
    session = window.controller.session
    titles = {v.id: v.title for v in session.filter.variants}
    show_rows(window.controller.results, [row(v, "cpu", 1e-3) for v in titles], titles)
    for kind in ("info", "warning", "error"):
        window.messages.show_message(kind, f"{WORD} {kind}", "details")  # type: ignore[arg-type]
    centre: QWidget = window.centralWidget()
    for part in (centre, *window.findChildren(QDockWidget)):
        part.setEnabled(enabled)
    for tab in range(window.tabs.count()):
        window.tabs.setCurrentIndex(tab)
        QApplication.processEvents()
        image = window.grab().toImage()
        assert not unreadable(window, image), unreadable(window, image)


def unreadable(window: MainWindow, image: QImage) -> dict[str, float]:
    """The visible texts of labels, buttons and fields that cannot be read."""
    found = {}
    kinds = QLabel | QAbstractButton | QComboBox | QLineEdit
    for part in window.findChildren(QWidget):
        if not isinstance(part, kinds) or not part.isVisible():
            continue
        words = part.currentText() if isinstance(part, QComboBox) else part.text()
        seen = part.visibleRegion().boundingRect()
        place = QRect(part.mapTo(window, QPoint()), part.size()).adjusted(3, 2, -3, -2)
        if len(words.strip()) < 3 or seen != part.rect() or place.isEmpty():
            continue
        contrast = readable(image, place)
        if contrast < (SHAPE if only_icon(part) else TEXT):
            found[f"{type(part).__name__} {part.objectName()} {words[:40]!r}"] = round(contrast, 2)
    return found


def only_icon(part: QWidget) -> bool:
    """Whether a button shows its icon in the place of its text."""
    style = Qt.ToolButtonStyle.ToolButtonIconOnly
    return isinstance(part, QToolButton) and not part.icon().isNull() and part.toolButtonStyle() == style


def test_checked_buttons_of_the_window_have_a_frame_that_others_have_not(window: MainWindow) -> None:
    """By Fusion alone a checked button is a shade darker, which nobody sees in the dark."""
    kinds, own = (QToolButton, QPushButton), "qt_toolbar_ext_button"
    toggles = [b for b in window.findChildren(QAbstractButton) if b.isCheckable() and type(b) in kinds]
    toggles = [toggle for toggle in toggles if toggle.objectName() != own]
    assert len(toggles) >= 5
    for toggle in toggles:
        toggle.blockSignals(True)
        toggle.resize(toggle.sizeHint())
        seen = []
        for checked in (False, True):
            toggle.setChecked(checked)
            seen.append(luminance(rgb(toggle.grab().toImage())))
        share = np.mean(ratio(seen[0], seen[1]) >= SHAPE)
        assert share > 0.03, f"{toggle.objectName() or toggle.text()}: {share:.3f}"

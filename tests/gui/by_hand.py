"""What a person does to a window with mouse and keys, and reads in it: visible controls only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from live import pause
from PySide6.QtCore import QPoint, QRect, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QMenu,
    QMenuBar,
    QScrollArea,
    QTabBar,
    QWidget,
)

PATIENCE = 60.0
W = TypeVar("W", bound=QWidget)
LEFT, PLAIN = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def plain(text: str) -> str:
    return text.replace("&", "")


def soon(condition: Callable[[], bool]) -> None:
    """Wait until something lasting is so."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        pause(5)
    assert condition()


def visible(window: QWidget, kind: type[W]) -> Iterator[W]:
    return (found for found in window.findChildren(kind) if found.isVisible())


def click(widget: QWidget, at: QPoint | None = None, keys: Qt.KeyboardModifier = PLAIN) -> None:
    """Scroll to a widget and click it there, or in the middle, once it can be clicked and where it is really seen."""
    point = widget.rect().center() if at is None else at

    def seen() -> bool:
        around = widget.parentWidget()
        while around is not None:
            if isinstance(around, QScrollArea) and around.widget().isAncestorOf(widget):
                around.ensureWidgetVisible(widget)
            around = around.parentWidget()
        QApplication.processEvents()
        return widget.isEnabled() and widget.visibleRegion().contains(point)

    soon(seen)
    QTest.mouseClick(widget, LEFT, keys, point)


def button(window: QWidget, text: str) -> QAbstractButton:
    """The visible button with this text."""
    (found,) = [one for one in visible(window, QAbstractButton) if plain(one.text()) == text]
    return found


def beside(window: QWidget, label: str) -> QWidget:
    """The control that a visible label names."""
    (found,) = [one for one in visible(window, QLabel) if plain(one.text()) == label and one.buddy() is not None]
    return found.buddy()


def choose(combo: QWidget, entry: str) -> None:
    """Open a drop-down and click an entry, by the beginning of its text."""
    assert isinstance(combo, QComboBox)
    soon(lambda: any(combo.itemText(k).startswith(entry) for k in range(combo.count())))
    click(combo, QPoint(combo.width() - combo.height() // 2, combo.height() // 2))
    view = combo.view()
    (row,) = [k for k in range(combo.count()) if combo.itemText(k).startswith(entry)]
    index = combo.model().index(row, combo.modelColumn(), combo.rootModelIndex())
    view.scrollTo(index)
    while view.isVisible():  # the first click is not taken where it comes so soon that it is half of a double click
        click(view.viewport(), view.visualRect(index).center())
        pause(QApplication.doubleClickInterval() // 4)
    assert combo.currentText().startswith(entry)


def menu(window: QWidget, *texts: str) -> None:
    """Click through a menu of the menu bar, by the beginnings of its entries."""
    (bar,) = visible(window, QMenuBar)
    place: QMenuBar | QMenu = bar
    for text in texts:
        (action,) = [a for a in place.actions() if a.isVisible() and plain(a.text()).startswith(text)]
        click(place, place.actionGeometry(action).center())
        if action.menu() is not None:  # one inside another opens after a moment
            place = action.menu()
            soon(place.isVisible)


def from_button(opener: QWidget, text: str) -> None:
    """Click a button that opens a menu, and an entry of the menu, which waits for it."""

    def pick() -> None:
        opened = QApplication.activePopupWidget()
        if not isinstance(opened, QMenu):  # the click is still to come
            if time.monotonic() < end:
                QTimer.singleShot(5, pick)
            return
        (action,) = [a for a in opened.actions() if plain(a.text()) == text]
        click(opened, opened.actionGeometry(action).center())

    end = time.monotonic() + PATIENCE
    QTimer.singleShot(0, pick)
    click(opener)


def tab(window: QWidget, text: str) -> None:
    """Click a tab."""
    (bar, place) = next(
        (bar, k) for bar in visible(window, QTabBar) for k in range(bar.count()) if plain(bar.tabText(k)) == text
    )
    click(bar, bar.tabRect(place).center())


def drag(widget: QWidget, start: QPoint, end: QPoint) -> None:
    """Drag with the mouse."""
    QTest.mousePress(widget, LEFT, PLAIN, start)
    for step in range(1, 5):
        QTest.mouseMove(widget, start + (end - start) * (step / 4))
    QTest.mouseRelease(widget, LEFT, PLAIN, end)


def write(field: QWidget, text: str) -> None:
    """Replace what is in a field."""
    click(field)
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, text)


def texts(window: QWidget) -> str:
    """All that the visible labels of a part say."""
    return "\n".join(one.text() for one in visible(window, QLabel))


def in_window(widget: QWidget) -> bool:
    """Whether a widget lies wholly in its window."""
    return widget.window().rect().contains(QRect(widget.mapTo(widget.window(), QPoint()), widget.size()))


def tick(box: QWidget) -> None:
    """Click a tick box where its box is."""
    click(box, QPoint(box.height() // 2, box.height() // 2))

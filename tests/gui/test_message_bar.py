"""Messages that do not stop the user."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPlainTextEdit

from app.views.message_bar import MessageBar


@pytest.fixture
def bar(qtbot) -> MessageBar:
    bar = MessageBar()
    qtbot.addWidget(bar)
    bar.resize(700, 100)
    return bar


def text(bar: MessageBar) -> str:
    return bar.findChild(QLabel, "text").text()


def test_it_hides_while_there_is_nothing_to_say(bar: MessageBar) -> None:
    assert not bar.isVisible()
    bar.show_message("info", "Saved.")
    assert bar.isVisible() and text(bar) == "Saved."
    assert bar.accessibleName() == "Information: Saved."
    assert not bar.details_button.isVisible()


def test_kinds_differ_by_symbol_and_word(bar: MessageBar) -> None:
    symbols = set()
    for kind, word in (("info", "Information"), ("warning", "Warning"), ("error", "Error")):
        bar.show_message(kind, "Something.")
        symbol = bar.findChild(QLabel, "symbol")
        symbols.add(symbol.text())
        assert symbol.accessibleName() == word
    assert len(symbols) == 3


def test_the_latest_shows_and_closing_brings_back_the_one_before(bar: MessageBar, qtbot) -> None:
    bar.show_message("info", "First.")
    bar.show_message("error", "Second.")
    bar.show_message("error", "Second.")
    assert text(bar) == "Second." and len(bar.messages()) == 2
    assert bar.findChild(QLabel, "count").text() == "1 of 2"
    qtbot.mouseClick(bar.close_button, Qt.MouseButton.LeftButton)
    assert text(bar) == "First." and not bar.findChild(QLabel, "count").isVisible()
    with qtbot.waitSignal(bar.emptied):
        qtbot.mouseClick(bar.close_button, Qt.MouseButton.LeftButton)
    assert not bar.isVisible() and bar.current() is None


def test_details_open_and_copy(bar: MessageBar, qtbot) -> None:
    bar.show_message("error", "It does not compile.", "3_shared.cu:12: error")
    details = bar.findChild(QPlainTextEdit, "details")
    assert not details.isVisible()
    qtbot.mouseClick(bar.details_button, Qt.MouseButton.LeftButton)
    assert details.isVisible() and details.toPlainText() == "3_shared.cu:12: error" and details.isReadOnly()
    qtbot.mouseClick(bar.copy_button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "It does not compile.\n\n3_shared.cu:12: error"
    bar.show_message("info", "Another.")
    assert not details.isVisible()


def test_a_long_queue_forgets_the_oldest(bar: MessageBar) -> None:
    for number in range(50):
        bar.show_message("info", f"Message {number}.")
    assert len(bar.messages()) == 20 and text(bar) == "Message 49."
    bar.clear()
    assert not bar.isVisible()


def test_text_is_not_taken_for_markup(bar: MessageBar) -> None:
    bar.show_message("info", "<b>plain</b>")
    assert bar.findChild(QLabel, "text").textFormat() == Qt.TextFormat.PlainText

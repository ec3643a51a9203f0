"""Messages that do not stop the user."""

from __future__ import annotations

import pytest
from fake_engine import FakeEngine, make
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from app.models.messages import MOST_MESSAGES
from app.views.scrolled import ScrolledAbove
from app.views.window.message_bar import MessageBar
from app.views.window.message_row import LONGEST


@pytest.fixture
def bar(qtbot) -> MessageBar:
    bar = MessageBar()
    qtbot.addWidget(bar)
    bar.resize(700, 100)
    return bar


def texts(bar: MessageBar) -> list[str]:
    return [row.findChild(QLabel, "text").text() for row in bar.rows if row.isVisible()]


def text(bar: MessageBar) -> str:
    return bar.findChild(QLabel, "text").text()


def test_it_hides_while_there_is_nothing_to_say(bar: MessageBar) -> None:
    assert not bar.isVisible()
    bar.show_message("info", "Saved.")
    assert bar.isVisible() and text(bar) == "Saved."
    assert bar.accessibleName() == "Information: Saved."
    assert not bar.rows[0].details_button.isVisible()


def test_kinds_differ_by_symbol_and_word(bar: MessageBar) -> None:
    symbols = set()
    for kind, word in (("info", "Information"), ("warning", "Warning"), ("error", "Error")):
        bar.show_message(kind, "Something.")
        symbol = bar.findChild(QLabel, "symbol")
        symbols.add(symbol.text())
        assert symbol.accessibleName() == word
    assert len(symbols) == 3


def test_the_newest_stands_on_top_and_closing_brings_up_the_one_before(bar: MessageBar, qtbot) -> None:
    bar.show_message("info", "First.")
    bar.show_message("error", "Second.")
    assert texts(bar) == ["Second.", "First."] and bar.accessibleName() == "Error: Second."
    qtbot.mouseClick(bar.rows[0].close_button, Qt.MouseButton.LeftButton)
    assert texts(bar) == ["First."] and not bar.dismiss_button.isVisible()
    with qtbot.waitSignal(bar.emptied):
        qtbot.mouseClick(bar.rows[0].close_button, Qt.MouseButton.LeftButton)
    assert not bar.isVisible() and bar.current() is None


@pytest.mark.parametrize("width", [300, 700])
def test_long_choices_are_in_a_narrow_bar(bar: MessageBar, width: int) -> None:
    jobs = [f"Show work conv3x3-rows, repeats 1, border reflect, {side} × {side} × 3 uint8" for side in (4096, 8192)]
    bar.show_message("info", "There is no recorded run of this job.", choices=dict.fromkeys(jobs, lambda: None))
    assert bar.minimumSizeHint().width() <= 300
    bar.resize(width, 200)
    QApplication.processEvents()
    row = bar.rows[0]
    for button in (*row.choice_buttons, row.copy_button, row.close_button):
        assert bar.rect().contains(QRect(button.mapTo(bar, QPoint()), button.size())), button.text()
    whole = [button.text() == job for button, job in zip(row.choice_buttons, jobs, strict=True)]
    assert whole == [width > 300] * 2 and row.choice_buttons[1].toolTip() == jobs[1]


def test_the_same_again_counts_up(bar: MessageBar) -> None:
    for name in ("a", "b", "a", "a"):
        bar.show_message("error", f"{name} is empty.", subject="open")
    assert texts(bar) == ["a is empty.", "b is empty."]
    counts = [row.findChild(QLabel, "count") for row in bar.rows]
    assert counts[0].text() == "×3" and counts[0].isVisible() and not counts[1].isVisible()
    bar.show_message("error", "a is empty.", subject="save")
    assert len(bar.messages()) == 3, "about something else"


def test_a_success_takes_back_the_errors_of_its_subject_only(bar: MessageBar) -> None:
    for subject in ("open", "open", "run/naive", "run/shared", ""):
        bar.show_message("error", f"{subject} {len(bar.messages())}", subject=subject)
    bar.settle("open")
    assert [m.subject for m in bar.messages()] == ["run/naive", "run/shared", ""]
    bar.settle("run/naive")
    assert [m.subject for m in bar.messages()] == ["run/shared", ""]
    bar.settle("ru")
    bar.settle("")
    assert [m.subject for m in bar.messages()] == ["run/shared", ""]
    bar.settle("run")
    assert [m.subject for m in bar.messages()] == [""]


def test_fifteen_errors_take_one_click(bar: MessageBar, qtbot) -> None:
    for number in range(15):
        bar.show_message("error", f"Error {number}.")
    assert texts(bar) == ["Error 14.", "Error 13.", "Error 12."]
    assert bar.more_button.isVisible() and bar.more_button.text() == "and 12 more"
    with qtbot.waitSignal(bar.more_wanted):
        qtbot.mouseClick(bar.more_button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(bar.dismiss_button, Qt.MouseButton.LeftButton)
    assert bar.messages() == () and not bar.isVisible()


def test_escape_in_the_bar_closes_all_and_goes_no_further(qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    stopped: list[bool] = []
    escape = QShortcut(QKeySequence("Esc"), window)
    escape.activated.connect(lambda: stopped.append(True))
    bar, line = MessageBar(window), QLineEdit(window)
    layout = QVBoxLayout(window)
    layout.addWidget(bar)
    layout.addWidget(line)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    for number in range(4):
        bar.show_message("error", f"Error {number}.")
    line.setFocus()
    qtbot.keyClick(line, Qt.Key.Key_Escape)
    assert stopped == [True] and len(bar.messages()) == 4
    bar.rows[1].close_button.setFocus()
    qtbot.keyClick(bar.rows[1].close_button, Qt.Key.Key_Escape)
    assert stopped == [True] and bar.messages() == ()


def test_what_needs_no_answer_goes_by_itself_and_errors_stay(qtbot) -> None:
    window = QWidget()  # with room where the mouse may be: what somebody points at stays
    qtbot.addWidget(window)
    bar, layout = MessageBar(window), QVBoxLayout(window)
    layout.addWidget(text := QTextEdit(window), 1)
    layout.addWidget(bar)
    window.resize(600, 500)
    text.setFocus()
    window.show()
    bar._passing.setInterval(1)
    bar.show_message("error", "No.")
    bar.show_message("info", "Written.", passing=True)
    assert texts(bar) == ["Written.", "No."]
    qtbot.waitUntil(lambda: texts(bar) == ["No."])


def test_a_long_message_is_cut_and_whole_in_its_details(bar: MessageBar) -> None:
    long = "word " * 200
    bar.show_message("error", long, "line 3")
    assert len(text(bar)) <= LONGEST and text(bar).endswith("…")
    assert bar.findChild(QPlainTextEdit, "details").toPlainText() == f"{long}\n\nline 3"


def test_a_pointer_or_a_focus_that_was_left_on_the_bar_keeps_no_message(bar: MessageBar, qtbot, monkeypatch) -> None:
    """Such as after a click on a button of a message."""
    at = QPoint(1, 1)
    monkeypatch.setattr(bar, "underMouse", lambda: True)
    monkeypatch.setattr("app.views.window.message_bar.QCursor.pos", lambda: QPoint(at))
    bar.show_message("error", "It does not compile.")
    bar.show_message("info", "Saved a.png.", passing=True)
    bar._pass_by()
    assert len(bar.messages()) == 2 and bar._passing.isActive(), "somebody has just come"
    at.setX(9)
    bar._pass_by()
    assert len(bar.messages()) == 2, "somebody moves there"
    bar._pass_by()
    assert [m.text for m in bar.messages()] == ["It does not compile."]
    monkeypatch.setattr(bar, "underMouse", lambda: False)
    bar.show_message("info", "Saved a.png.", passing=True)
    bar.rows[0].copy_button.setFocus()
    qtbot.waitUntil(bar.rows[0].copy_button.hasFocus)
    bar._pass_by()
    assert len(bar.messages()) == 2
    bar._pass_by()
    assert [m.text for m in bar.messages()] == ["It does not compile."]


def test_details_open_and_copy(bar: MessageBar, qtbot) -> None:
    bar.show_message("error", "It does not compile.", "3_shared.cu:12: error")
    details = bar.findChild(QPlainTextEdit, "details")
    assert not details.isVisible()
    qtbot.mouseClick(bar.rows[0].details_button, Qt.MouseButton.LeftButton)
    assert details.isVisible() and details.toPlainText() == "3_shared.cu:12: error" and details.isReadOnly()
    qtbot.mouseClick(bar.rows[0].copy_button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "It does not compile.\n\n3_shared.cu:12: error"
    bar.show_message("info", "Another.")
    assert not details.isVisible()


def test_a_long_queue_forgets_the_oldest(bar: MessageBar) -> None:
    for number in range(MOST_MESSAGES + 30):
        bar.show_message("info", f"Message {number}.")
    assert len(bar.messages()) == MOST_MESSAGES and text(bar) == f"Message {MOST_MESSAGES + 29}."


def test_text_is_not_taken_for_markup(bar: MessageBar) -> None:
    bar.show_message("info", "<b>plain</b>")
    assert bar.findChild(QLabel, "text").textFormat() == Qt.TextFormat.PlainText


def test_a_window_never_grows_by_what_is_said(qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    bar, layout = MessageBar(window), QVBoxLayout(window)
    layout.addWidget(bar)
    text = QTextEdit(window)
    text.setMinimumHeight(120)
    layout.addWidget(text, 1)
    window.resize(500, 230)
    window.show()
    for number in range(5):
        bar.show_message("error", f"{number} " + "long words " * 40, "details")
    bar.rows[0].details_button.setChecked(True)
    qtbot.wait(20)
    assert (window.width(), window.height()) == (500, 230) and text.height() >= 120
    bar.rows[0].details_button.setChecked(False)
    window.resize(800, 700)
    qtbot.wait(20)
    assert all(row.visibleRegion().boundingRect().height() > 40 for row in bar.rows), "with room all are seen"


def test_what_passes_by_itself_moves_nothing(qtbot) -> None:
    """A message that lasts takes a place above the pictures; one that passes lies over their lower edge."""
    centre, below, bar = QWidget(), QWidget(), MessageBar()
    qtbot.addWidget(centre)
    messages = ScrolledAbove(bar, centre)
    bar.passing.connect(messages.set_over)
    column = QVBoxLayout(centre)
    column.setSpacing(0)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(messages)
    column.addWidget(below, 1)
    centre.resize(500, 400)
    with qtbot.waitExposed(centre):
        centre.show()
    whole = below.geometry()
    bar.show_message("info", "Saved.", passing=True)
    QApplication.processEvents()
    assert bar.isVisible() and below.geometry() == whole == centre.rect()
    assert messages.geometry().bottom() == centre.rect().bottom() and messages.height() < 200
    centre.resize(400, 300)
    QApplication.processEvents()
    assert messages.geometry().bottom() == centre.rect().bottom() and messages.width() == 400
    bar.show_message("error", "This did not work.")
    QApplication.processEvents()
    assert messages.y() == 0 and below.y() == messages.height() > 0
    bar.clear()
    QApplication.processEvents()
    assert not messages.isVisible() and below.geometry() == centre.rect()
    bar.show_message("info", "Saved.", passing=True)
    QApplication.processEvents()
    assert messages.isVisible() and below.geometry() == centre.rect()


def test_passing_messages_lie_over_the_results_of_the_window(qtbot, qapp: QApplication) -> None:
    engine = FakeEngine()
    window = make(qtbot, engine)
    QApplication.processEvents()
    whole = window.stack.mapTo(window, QPoint()), window.stack.size()
    window.messages.show_message("info", "Written.", passing=True)
    QApplication.processEvents()
    assert window.messages.isVisible() and (window.stack.mapTo(window, QPoint()), window.stack.size()) == whole
    window.messages.clear()
    window.messages.show_message("warning", "This lasts.")
    QApplication.processEvents()
    assert window.stack.mapTo(window, QPoint()).y() > whole[0].y(), "one that lasts takes a place of its own"
    engine.end()

"""The start page, hints, and help where it is needed, as a person meets them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from live import live_window, real_engine
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QCursor, QTextCursor
from PySide6.QtWidgets import QAbstractButton, QApplication, QListWidget, QStyle, QWidget
from pytestqt.qtbot import QtBot
from result_rows import show_rows
from simulated_rows import simulated

from app.base.terms import counter_help
from app.main import _parse
from app.models.hints import HINTS, Hints
from app.models.results.results import Results
from app.models.settings import Settings
from app.shell.window import Script
from app.views.explained import ExplainedBrowser
from app.views.scrolled import Scrolled
from app.views.sentence_list import SentenceList
from app.views.start.panel import QUESTIONS
from app.views.start.starting import HintLine
from app.views.timing.ladder import TimingLadder
from app.views.window.main_window import MainWindow
from app.views.window.panels import LESSONS, PANELS, START, XRAY
from app.views.window.session_link import view_of
from gpu_ops import save
from gpu_ops.lessons.glossary import find_term
from gpu_ops.lessons.reading import shipped_lessons


@pytest.fixture(scope="module")
def engine() -> Iterator[object]:
    with real_engine() as engine:
        yield engine


@pytest.fixture
def window(qtbot: QtBot, engine: object) -> Iterator[MainWindow]:  # type: ignore[override]
    with live_window(qtbot, engine, "sim", ("naive",)) as window:  # type: ignore[arg-type]
        yield window


class Hand:
    """Clicks on what can be seen, and counts."""

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot, self.clicks = qtbot, 0

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        place = at or widget.rect().center()
        assert widget.isVisible() and widget.isEnabled() and widget.visibleRegion().contains(place), widget.objectName()
        self._qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=place)
        self.clicks += 1

    def entry(self, list: QListWidget, text: str) -> None:
        item = next(list.item(row) for row in range(list.count()) if list.item(row).text() == text)
        self.click(list.viewport(), list.visualItemRect(item).center())


@pytest.mark.thorough
def test_five_clicks_lead_to_why_shared_memory_is_faster(window: MainWindow, qtbot: QtBot) -> None:
    """From what a first start shows, with visible controls only, to the sentence with its numbers."""
    hand = Hand(qtbot)
    window.docks.show("start")
    page = window.docks[START]
    qtbot.waitUntil(page.isVisible)
    hand.entry(page.questions, "Why is shared memory faster?")
    panel = window.docks[LESSONS]
    assert panel.isVisible() and panel.controller.state.page.title == "A tile in shared memory"
    xray = window.docks[XRAY]
    qtbot.waitUntil(lambda: xray.filled and window.context.xray.state == "shown" and xray.isVisible())
    assert window.context.xray.variant == "shared" and xray.counters.counter == "global_load_sectors"
    hand.click(xray.tabs.button(xray.comparison))
    text = xray.comparison.text
    qtbot.waitUntil(lambda: "sectors" in text.toPlainText() and text.isVisible())
    assert "shared memory" in text.toPlainText().lower()
    assert hand.clicks <= 5


def test_every_question_has_its_page() -> None:
    lessons = {lesson.id: lesson for lesson in shipped_lessons()}
    for text, lesson, page in QUESTIONS:
        assert text.endswith("?") and lessons[lesson].pages[page - 1].setup is not None


def test_a_sentence_of_a_list_is_never_cut(qtbot: QtBot) -> None:
    """The height of an item is that of its lines in the width in which they are drawn, at every width of the list."""
    around = QWidget()
    qtbot.addWidget(around)
    shown = SentenceList(3, around)
    around.show()
    shown.addItem("Why is a histogram of a flat image slow?")
    metrics, margin = shown.fontMetrics(), shown.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 1
    for width in range(160, 320):
        shown.resize(width, 200)
        shown.doItemsLayout()
        item = shown.visualItemRect(shown.item(0))
        room = QRect(0, 0, item.width() - 2 * margin, 1000)
        lines = metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, shown.item(0).text())
        assert item.height() >= lines.height() and item.right() < shown.viewport().width(), width


@pytest.mark.parametrize("presenter", (False, True))
def test_the_lists_are_whole(qtbot: QtBot, plain_look: None, presenter: bool) -> None:
    """With plain letters the page fits a small screen; with large ones the page scrolls, not each list."""
    window = make(qtbot, FakeEngine())
    window.look.set_presenter(presenter)
    window.resize(1280, 720)
    window.docks.show("start")
    page = window.docks[START]
    page.last.show()
    around = page.parentWidget().parentWidget()
    assert isinstance(around, Scrolled)
    for shown in (page.questions, page.lessons):
        shown.doItemsLayout()
        last = shown.visualItemRect(shown.item(shown.count() - 1))
        qtbot.waitUntil(lambda shown=shown: shown.verticalScrollBar().maximum() == 0)
        assert 0 <= shown.viewport().height() - last.bottom() < 2 * shown.fontMetrics().height()
    qtbot.waitUntil(lambda: bool(around.verticalScrollBar().maximum()) == presenter)


def test_the_page_has_all_lessons_and_names(window: MainWindow) -> None:
    window.docks.show("start")
    page = window.docks[START]
    assert page.lessons.count() == len(shipped_lessons()) and page.last.isHidden()
    assert len(page.samples.menu().actions()) > 10
    for part in page.findChildren(QAbstractButton):
        assert part.text() and part.toolTip() and part.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert page.questions.accessibleName() == "Questions" and page.lessons.accessibleName() == "Lessons"
    page.lessons.setCurrentRow(4)
    page.lessons.itemActivated.emit(page.lessons.item(4))
    assert window.docks[LESSONS].controller.state.lesson.id == "bank_conflicts", "Enter opens as a click does"
    window.close()
    assert not window.docks.is_open("start"), "the next window begins with its picture"


def test_a_start_without_a_session_shows_it(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Next to the picture, at every start until its tick is taken away; one that opens the last session has none."""
    monkeypatch.setattr(FakeEngine, "start", lambda self: None, raising=False)
    save(tmp_path / "a.png", np.zeros((16, 16), np.uint8))

    def started(session: bool = False) -> MainWindow:
        window = make(qtbot, FakeEngine(), Settings(tmp_path / "window.ini"))
        Script(window.controller, window, _parse([])).start()
        assert window.controller.busy or session, "the picture comes without a click"
        return window

    for _ in range(2):
        window = started()
        assert window.docks.is_open("start") and window.docks[START].at_start.isChecked()
        window.close()
    window = started()
    window.docks[START].at_start.click()
    window.close()
    window = started()
    assert not window.docks.is_open("start")
    window.actions_by_id["start"].trigger()
    page = window.docks[START]
    assert window.docks.in_front("start") and not page.at_start.isChecked()
    page.at_start.click()
    window.files.open_path(str(tmp_path / "a.png"))
    window.close()
    assert Settings(tmp_path / "window.ini").start_page
    assert not started(session=True).docks.is_open("start"), "the last session is opened"


def test_an_open_lesson_stays_where_a_session_is_opened(qtbot: QtBot, tmp_path: Path) -> None:
    """By any way to open a file, also where the session's own panels are without lessons."""
    save(tmp_path / "a.png", np.zeros((16, 16), np.uint8))
    window = make(qtbot, FakeEngine())
    window.files.open_path(str(tmp_path / "a.png"))
    session = str(tmp_path / "a.kernelscope")
    window.context.sessions.save(session, view_of(window.parts))
    window.docks.show("start")
    window.docks.show("lessons")
    for name in (str(tmp_path / "a.png"), session):
        window.files.chooser = lambda *_, name=name: name
        window.docks[START].action_wanted.emit("open")
        assert window.docks.in_front("lessons"), name
    assert window.context.sessions.path == session and not window.docks.is_open("start"), "its panels are shown"
    window.docks.show("experiment")
    window.context.sessions.open(session)
    assert window.docks.is_open("lessons") and window.docks.in_front("experiment")


def test_hints_go_away(qtbot: QtBot, tmp_path: Path) -> None:
    settings = Settings(tmp_path / "settings.ini")
    hints, parent = Hints(settings), QWidget()
    qtbot.addWidget(parent)
    line = HintLine(hints, parent)
    parent.show()
    wanted: list[str] = []
    line.wanted.connect(wanted.append)
    assert line.isVisible() and line.text.text().startswith("New here?")
    line.show_button.click()
    assert wanted == ["start"]
    for hint in HINTS:
        assert hints.present is hint
        line.dismiss_button.click()
    assert not line.isVisible() and Hints(Settings(tmp_path / "settings.ini")).present is None
    hints.set_on(True)
    assert line.isVisible() and hints.present is HINTS[0]
    hints.set_on(False)
    assert not line.isVisible() and hints.present is None


def test_a_hint_is_in_the_status_bar_and_ends_with_what_it_says(window: MainWindow, qtbot: QtBot) -> None:
    window.controller.settled.emit()  # nothing is open yet
    assert window.docks.is_open("start") and window.starting.line is None
    window.controller.open_sample("camera")
    qtbot.waitUntil(lambda: window.starting.line is not None)
    line = window.starting.line
    assert line is not None and line.isVisible() and window.statusBar().isAncestorOf(line)
    assert line.text.text().startswith("The X-ray"), "the start page is in front: nobody needs to be told of it"
    line.show_button.click()
    assert window.docks.is_open("xray") and line.text.text().startswith("Measure")


def test_a_hint_ends_when_its_subject_is_in_front_without_its_action(window: MainWindow, qtbot: QtBot) -> None:
    """As by a tab, a button over the pictures, or a double click."""
    window.controller.open_sample("camera")
    qtbot.waitUntil(lambda: window.context.session.input is not None and bool(window.full_screen.keys))
    done, hints = window.context.settings, window.starting.hints
    assert not {"xray", "compare_swipe", "full_screen"} & set(done.hints_done)
    window.docks.show("xray")
    qtbot.waitUntil(lambda: "xray" in done.hints_done)
    window.stack.view.grid.set_mode("swipe")
    assert "compare_swipe" in done.hints_done
    window.full_screen.present()
    assert "full_screen" in done.hints_done and hints.present is HINTS[0]
    window.full_screen.leave()


def test_a_word_is_explained_where_it_is(qtbot: QtBot) -> None:
    browser = ExplainedBrowser()
    qtbot.addWidget(browser)
    browser.resize(600, 200)
    browser.setPlainText("A warp asks for 4 sectors.\nNothing here.")
    browser.show()

    def at(word: str) -> set[object]:
        """The terms at the left and right halves of all letters of a word."""
        begin, found = browser.toPlainText().index(word), set()
        for place in range(begin, begin + len(word)):
            cursor = QTextCursor(browser.document())
            cursor.setPosition(place)
            left = browser.cursorRect(cursor)
            cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
            for x in (left.left() + 1, browser.cursorRect(cursor).left() - 1):
                term = browser.term_at(QPoint(x, left.center().y()))
                found.add(term and term.name)
        return found

    assert [at(word) for word in ("warp", "sectors", "asks", "Nothing")] == [{"warp"}, {"sector"}, {None}, {None}]
    assert browser.term_at(QPoint(590, 190)) is None


def test_f1_opens_the_guide_where_it_is_needed(window: MainWindow, qtbot: QtBot, monkeypatch) -> None:
    opened: list[tuple[str, str]] = []
    monkeypatch.setattr("app.views.start.helping.open_guide", lambda parts, *place: opened.append(place))
    QCursor.setPos(0, 0)
    for spec in PANELS:
        assert spec.help, spec.id
    assert window.docks.help_on(window.docks[XRAY].counters) == "window.md#x-ray-panel"
    assert window.docks.help_on(window.stack) == ""
    monkeypatch.setattr(QApplication, "focusWidget", lambda: window.ladder.canvas)
    window.actions_by_id["help_here"].trigger()
    monkeypatch.setattr(QApplication, "focusWidget", lambda: None)
    window.actions_by_id["help_here"].trigger()
    browser = window.docks[XRAY].report
    monkeypatch.setattr(QApplication, "widgetAt", lambda place: browser.viewport())
    monkeypatch.setattr(browser, "term_at", lambda place: find_term("sector"))
    window.actions_by_id["help_here"].trigger()
    assert opened == [("window.md", "times"), ("window.md", "views"), ("simulated.md", "x-ray")]


@pytest.mark.parametrize("width", [1100, 380])
def test_the_name_of_a_counter_is_explained_in_the_ladder(qtbot: QtBot, width: int) -> None:
    results = Results()
    show_rows(results, [simulated("naive"), simulated("shared")])
    ladder = TimingLadder(results)
    qtbot.addWidget(ladder)
    ladder.resize(width, 700)
    ladder.show()
    canvas = ladder.canvas
    geometry = canvas.ladder()
    names = [item for section in geometry.sections for item in section.names.items()]
    names += [(bar.counter, bar.label) for line in geometry.lines for bar in line.counted if not bar.label.isEmpty()]
    assert names
    for counter, box in names:
        tip = canvas.tip_at(box.center().toPoint())
        assert tip == counter_help(counter) and "\n\n" in tip
    first = geometry.lines[0]
    assert canvas.tip_at(first.name.center().toPoint()) == canvas.words(first) and not canvas.tip_at(QPoint(-5, -5))

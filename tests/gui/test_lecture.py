"""A lecture, as the one who holds it: scenes by key, notes, stills, ink, and the hands of the class."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live import live_window, real_engine
from PySide6.QtCore import QElapsedTimer, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent, QPixmap
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.models.lecture import LectureState
from app.views.lecture.board import Board
from app.views.lecture.notes import COMMANDS
from app.views.lecture.presenting import Presenting
from app.views.picture_pdf import write_pdf
from app.views.window.main_window import MainWindow
from app.views.window.panels import LADDER, XRAY
from gpu_ops.lessons.lecture import read_lecture

HEAD = 'title = "Short"\nabout = "Two scenes."\nminutes = 5\n'
SETUP = 'setup = {sample = "noise", options = {length = 300}, filter = "mean", variants = ["scipy"], %s}\n'
LECTURE = (
    HEAD
    + '[[scene]]\ntitle = "Pictures"\ntext = "First."\nnotes = "Say <b>this</b>."\n'
    + SETUP % "params = {window = 3}"
    + '[scene.question]\nask = "Which?"\nchoices = ["one", "two"]\nanswer = "two"\n'
    + '[[scene]]\ntitle = "Rows"\ntext = "Second."\n'
    + SETUP % 'params = {window = 9}, panel = "ladder"'
)


@pytest.fixture(scope="module")
def engine() -> Iterator[object]:
    with real_engine() as engine:
        yield engine


@pytest.fixture
def window(qtbot: QtBot, engine: object) -> Iterator[MainWindow]:  # type: ignore[override]
    with live_window(qtbot, engine, "cpu", ("serial",)) as window:  # type: ignore[arg-type]
        yield window
        window.context.look.set_presenter(False)


@pytest.fixture
def held(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> Presenting:
    """The lecture with its first scene complete; before it, 200 samples were open."""
    window.context.controller.open_sample("noise", {"length": 200})
    qtbot.waitUntil(lambda: window.context.session.input is not None)
    path = tmp_path / "short.toml"
    path.write_text(LECTURE, encoding="utf-8")
    window.actions_by_id["lecture"].trigger()
    presenting = window.findChild(Presenting)
    assert "One picture, two processors" in presenting.notes.notes.toPlainText(), "what may begin is described"
    presenting.open(str(path))
    qtbot.waitUntil(lambda: 0 in presenting.stills)
    return presenting


def test_scenes_follow_the_keys_and_stills_bridge_the_wait(held: Presenting, window: MainWindow, qtbot: QtBot) -> None:
    session, screen, notes = window.context.session, window.full_screen, held.notes
    assert session.params["window"] == 3 and window.context.look.presenter and screen.active
    assert not screen.hint.isVisible() and "Esc" in notes.state_text.text(), "no key covers what the class sees"
    assert window.stack.isVisible() and not window.menuBar().isVisible() and not window.experiment_dock.isVisible()
    assert notes.title.text() == "1 of 2: Pictures" and notes.next_title.text() == "Next: Rows"
    assert "<b>this</b>" in notes.notes.toPlainText(), "markup of strangers is text"
    assert notes.clock.text().endswith("of 5 min")
    qtbot.keyClick(window, Qt.Key.Key_PageDown)
    qtbot.waitUntil(lambda: 1 in held.stills and held.board.still is None)
    assert session.params["window"] == 9 and window.ladder.isVisible() and not window.stack.isVisible()
    assert notes.next_title.text() == "Next: the end" and not notes.buttons["next"].isEnabled()
    qtbot.keyClick(window, Qt.Key.Key_PageDown)
    assert held.state.place == 1, "there is no scene after the last one"
    qtbot.keyClick(notes, Qt.Key.Key_PageUp)
    assert held.board.still is held.stills[0] and held.board.isVisible(), "at once, before anything is loaded"
    assert notes.title.text() == "1 of 2: Pictures"
    qtbot.waitUntil(lambda: held.board.still is None and session.params["window"] == 3)
    held.do("xray")
    assert window.docks.is_open("xray")
    notes.end.click()
    assert not screen.active and not window.context.look.presenter and not held.board.isVisible()
    assert window.menuBar().isVisible() and held.state.lecture is None
    assert not window.docks.is_open("xray"), "panels are where they were"
    qtbot.waitUntil(lambda: session.input is not None and session.input.array.shape == (200,))
    qtbot.keyClick(window, Qt.Key.Key_PageDown)
    assert held.state.lecture is None


@pytest.mark.thorough
def test_all_scenes_are_prepared(held: Presenting, window: MainWindow, qtbot: QtBot) -> None:
    held.stills.clear()
    held.notes.prepare.click()
    qtbot.waitUntil(lambda: not held.controller.preparing and held.state.place == 0 and not held.controller.waits)
    assert set(held.stills) == {0, 1} and held.notes.state_text.text() == "2 of 2 scenes are prepared."
    held.do("next")
    assert held.board.still is held.stills[1]
    qtbot.mouseClick(held.board, Qt.MouseButton.LeftButton)
    assert held.board.still is None, "a click shows the window itself"
    window.resize(window.width() + 400, window.height())
    held.do("previous")
    assert held.board.still is None, "a still of another size would jump"


@pytest.mark.thorough
def test_each_part_has_a_key(held: Presenting, window: MainWindow, qtbot: QtBot) -> None:
    xray = window.docks[XRAY]
    parts = {"2": window.ladder, "3": xray, "4": xray, "1": window.stack}
    for key, part in parts.items():
        qtbot.keyClicks(window, key)
        assert window.full_screen.active and part.isVisible(), key
        assert not window.full_screen.hint.isVisible(), key
        others = {window.ladder, window.stack, window.panel, xray.tabs} - {part, xray.tabs if part is xray else None}
        assert not any(other.isVisible() for other in others if not other.isAncestorOf(part)), key
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.full_screen.active and held.state.lecture is not None
    qtbot.keyClick(window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    assert held.state.place == 0, "other keys do what they do elsewhere"


@pytest.mark.thorough
def test_a_tab_of_the_xray_is_alone_once_it_is_there(held: Presenting, window: MainWindow, qtbot: QtBot) -> None:
    path = Path(held.state.lecture.path)
    setup = SETUP.replace("scipy", "naive") % 'panel = "xray", tab = "addresses"'
    path.write_text(HEAD + '[[scene]]\ntitle = "Tab"\ntext = "T"\n' + setup, encoding="utf-8")
    held.open(str(path))
    xray = window.docks[XRAY]
    qtbot.waitUntil(lambda: xray.state.isVisible() and not xray.tabs.isVisible())  # says what it waits for
    qtbot.waitUntil(lambda: 0 in held.stills)
    assert held.part == "tabs" and xray.accesses.isVisible()
    assert not xray.texts.isVisible() and not xray.variants.isVisible() and not xray.state.isVisible()
    for key, part, other in (("4", xray.texts, xray.tabs), ("5", xray.tabs, xray.texts)):
        qtbot.keyClicks(window, key)
        assert part.isVisible() and not other.isVisible() and not xray.variants.isVisible(), key
    qtbot.keyClicks(window, "3")
    assert xray.texts.isVisible() and xray.tabs.isVisible() and xray.variants.isVisible()


@pytest.mark.thorough
def test_what_is_no_lecture_changes_nothing(held: Presenting, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "other.toml"
    for text, found in (
        (
            LECTURE.replace("scipy", "fastest", 1),
            "other.toml, scene 1 (Pictures, line 4): mean1d has no variant 'fastest'",
        ),
        (
            LECTURE.replace('"noise"', '"picture"', 1),
            "other.toml, scene 1 (Pictures, line 4): There is no sample 'picture'",
        ),
        (LECTURE.replace("setup = {", 'session = "gone.kernelscope"\nx = {', 1), "scene 1 (line 9) has x"),
        (
            HEAD + '[[scene]]\ntitle = "Mine"\ntext = "T"\nsession = "gone.kernelscope"\n',
            f"other.toml, scene 1 (Mine, line 4): There is no {tmp_path / 'gone.kernelscope'}; move the file there",
        ),
    ):
        path.write_text(text, encoding="utf-8")
        held.notes.opened.emit(str(path))
        assert found.lower() in held.notes.state_text.text().lower()
        assert held.state.lecture is not None and held.state.lecture.path.name == "short.toml"


def test_ink_pointer_magnifier_and_hold(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "short.toml"
    path.write_text(LECTURE, encoding="utf-8")
    window, state = QWidget(), LectureState()
    qtbot.addWidget(window)
    window.resize(400, 300)
    state.open(read_lecture(path))
    board = Board(window, state)
    window.show()

    def red(x: int, y: int) -> bool:
        colour = QImage(board.grab().toImage()).pixelColor(x, y)
        return colour.red() > 180 and colour.green() < 80

    assert not board.isVisible()
    board.set_tool("pen")
    qtbot.mousePress(board, Qt.MouseButton.LeftButton, pos=QPoint(50, 100))
    qtbot.mouseMove(board, QPoint(200, 100))
    left = Qt.MouseButton.LeftButton
    move = QMouseEvent(QEvent.Type.MouseMove, QPointF(200, 100), QPointF(200, 100), left, left, Qt.KeyboardModifier(0))
    board.mouseMoveEvent(move)
    assert red(120, 100) and not red(120, 140)
    board.set_tool("pen")
    assert board.isVisible() and board.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents), "ink stays"
    board.set_tool("pointer")
    board.mouseMoveEvent(move)
    assert red(200, 100)
    board.set_tool("pointer")
    board.wipe()
    assert not board.isVisible() and not board.ink
    picture = QPixmap(400, 300)
    picture.fill(Qt.GlobalColor.blue)
    board.show_still(picture, held=True)
    board.zoom(picture)
    assert board._part(picture).width() == 160 and board.isVisible()
    board.zoom(picture)
    assert board._part(picture).width() == 400 and board.still is picture, "what is held stays"
    board.show_still(None)
    board.set_black(True)
    assert board.grab().toImage().pixelColor(10, 10).value() == 0
    state.go(1)
    assert not board.isVisible(), "another scene begins with a clean board"


@pytest.mark.thorough
def test_hands_are_counted_and_the_answer_is_marked(held: Presenting, window: MainWindow, qtbot: QtBot) -> None:
    notes, state, board = held.notes, held.state, held.board
    assert [box.accessibleName() for box in notes.boxes] == ["one", "two"]
    notes.boxes[1].setValue(7)
    qtbot.keyClick(window, Qt.Key.Key_Q)
    assert state.asked and board.isVisible() and state.hands == (0, 7)
    assert [board._choice(text, count) for text, count in zip(("one", "two"), state.hands, strict=True)] == [
        "one · hands: 0",
        "two · hands: 7",
    ]
    qtbot.keyClick(window, Qt.Key.Key_A)
    assert board._choice("two", 7) == "✓ two · hands: 7 – right", "by a mark and a word, not by colour alone"
    notes.boxes[0].selectAll()
    qtbot.keyClick(notes.boxes[0], Qt.Key.Key_3)
    assert state.hands == (3, 7) and held.part == "pictures", "in a box digits are digits"
    held.do("next")
    assert not state.asked and not notes.boxes
    held.do("previous")
    assert [box.value() for box in notes.boxes] == [3, 7], "hands are kept"


@pytest.mark.thorough
def test_every_command_has_a_button_with_name_and_key(held: Presenting) -> None:
    for name, (key, _, _) in COMMANDS.items():
        button = held.notes.buttons[name]
        assert button.text() and f"({key})" in button.toolTip()
        held._commands[name]
    for button in held.notes.findChildren(QAbstractButton):
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus or not button.objectName()
    assert held.notes.lectures.count() >= 1
    assert held.notes.notes.accessibleName() and held.board.accessibleName() and LADDER.id in COMMANDS


def test_the_whole_window_comes_back_without_the_board(held: Presenting, window: MainWindow, qtbot: QtBot) -> None:
    """Else the pen would still write over the menus, and the question lie over them."""
    held.do("draw")
    held.do("ask")
    assert held.board.tool == "pen" and held.state.asked
    held.show_part("ladder")
    QApplication.processEvents()
    assert held.board.tool == "pen" and held.state.asked, "another part is no end"
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not held.board.tool and not held.state.asked)
    assert not window.context.look.presenter, "with its usual letters, with which it fits the screen"
    assert held.board.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents) and held.state.lecture is not None
    qtbot.keyClick(window, Qt.Key.Key_2)
    qtbot.waitUntil(lambda: window.context.look.presenter)


def test_a_file_is_offered_and_prepared_before_the_lecture(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    """A lecturer opens a file, reads what it has, and prepares it, all before the first scene."""
    window.context.controller.open_sample("noise", {"length": 200})
    qtbot.waitUntil(lambda: window.context.session.input is not None)
    path = tmp_path / "short.toml"
    path.write_text(LECTURE.replace('title = "Short"', "title = 1").replace("minutes = 5", ""), encoding="utf-8")
    window.actions_by_id["lecture"].trigger()
    presenting = window.findChild(Presenting)
    notes = presenting.notes
    notes._choose = lambda title, kinds: [str(path)]
    count = notes.lectures.count()
    notes.file.click()
    assert len(notes.state_text.text().splitlines()) == 2 and notes.lectures.count() == count, "both faults are named"
    path.write_text(LECTURE, encoding="utf-8")
    notes.file.click()
    notes.file.click()
    assert notes.lectures.count() == count + 1 and notes.lectures.currentText() == "Short"
    assert "Pictures\nRows" in notes.notes.toPlainText() and not notes.state_text.isVisible()
    assert presenting.state.lecture is None and notes.prepare.isVisible() and not notes.buttons["next"].isVisible()
    began, clocks = QElapsedTimer(), list[tuple[int, int]]()
    presenting.controller.prepared.connect(lambda: clocks.append((notes._began.elapsed(), began.elapsed())))
    began.start()
    notes.prepare.click()
    qtbot.waitUntil(lambda: set(presenting.stills) == {0, 1} and not presenting.controller.preparing)
    (first, _), (clock, passed) = clocks
    assert presenting.state.place == 0 and clock < first and clock < passed / 4, "the clock begins now"
    asked = notes.hands.findChild(QLabel, "lecture.ask").text()
    assert asked == "Question: Which? Hands for each answer:"
    notes.end.click()
    assert notes.lectures.currentText() == "Short"


def test_a_pdf_of_pages(qapp: object, tmp_path: Path) -> None:
    path = tmp_path / "page.pdf"
    write_pdf("<h1>Title</h1>" + "<p>line</p>" * 200, str(path))
    data = path.read_bytes()
    assert data.startswith(b"%PDF-") and data.count(b"/Type /Page\n") >= 3

"""The lecturer's window, for a second screen: notes, the next scene, a clock, and the hands of the class."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QCoreApplication, QElapsedTimer, QSignalBlocker, Qt, QTime, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QFont
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QSpinBox, QWidget

from app.base.translate import QT_TRANSLATE_NOOP
from app.models.lecture import MOST_HANDS, LectureState
from app.views.boxes import in_column, in_row
from app.views.dialogs.guide_page import GuideBrowser
from app.views.flow import FlowLayout
from app.views.labels import buddy, named, sentence_label
from app.views.parts import Combo
from app.views.window.placing import put_on_screen
from gpu_ops.errors import KernelscopeError, plain
from gpu_ops.lessons.lecture import Lecture, read_lecture, shipped_lectures

LETTERS = 84, 84
"""The initial width and height, in letters."""
COMMANDS: Mapping[str, tuple[str, str, str]] = {
    "previous": ("PgUp", QT_TRANSLATE_NOOP("Lecture", "&Previous"), QT_TRANSLATE_NOOP("Lecture", "Previous scene")),
    "next": ("PgDown", QT_TRANSLATE_NOOP("Lecture", "&Next"), QT_TRANSLATE_NOOP("Lecture", "Next scene")),
    "pictures": (
        "1",
        QT_TRANSLATE_NOOP("Lecture", "Pictures"),
        QT_TRANSLATE_NOOP("Lecture", "Show pictures alone"),
    ),
    "ladder": ("2", QT_TRANSLATE_NOOP("Lecture", "Ladder"), QT_TRANSLATE_NOOP("Lecture", "Show the ladder alone")),
    "xray": ("3", QT_TRANSLATE_NOOP("Lecture", "X-ray"), QT_TRANSLATE_NOOP("Lecture", "Show the X-ray alone")),
    "source": ("4", QT_TRANSLATE_NOOP("Lecture", "Source"), QT_TRANSLATE_NOOP("Lecture", "Show the source alone")),
    "tabs": (
        "5",
        QT_TRANSLATE_NOOP("Lecture", "Tabs of the X-ray"),
        QT_TRANSLATE_NOOP("Lecture", "Show the tabs of the X-ray alone"),
    ),
    "hold": (
        "H",
        QT_TRANSLATE_NOOP("Lecture", "&Hold"),
        QT_TRANSLATE_NOOP("Lecture", "Hold what is shown"),
    ),
    "zoom": ("Z", QT_TRANSLATE_NOOP("Lecture", "&Zoom"), QT_TRANSLATE_NOOP("Lecture", "Magnify around the mouse")),
    "draw": ("D", QT_TRANSLATE_NOOP("Lecture", "&Draw"), QT_TRANSLATE_NOOP("Lecture", "Draw over the window")),
    "pointer": ("L", QT_TRANSLATE_NOOP("Lecture", "Poin&ter"), QT_TRANSLATE_NOOP("Lecture", "Point at something")),
    "clear": ("C", QT_TRANSLATE_NOOP("Lecture", "&Clear"), QT_TRANSLATE_NOOP("Lecture", "Remove what was drawn")),
    "black": ("B", QT_TRANSLATE_NOOP("Lecture", "&Black"), QT_TRANSLATE_NOOP("Lecture", "Show nothing, or go on")),
    "ask": ("Q", QT_TRANSLATE_NOOP("Lecture", "&Question"), QT_TRANSLATE_NOOP("Lecture", "Ask the class, or hide it")),
    "answer": ("A", QT_TRANSLATE_NOOP("Lecture", "&Answer"), QT_TRANSLATE_NOOP("Lecture", "Show the right answer")),
}
"""The commands of a lecture with their keys, names and tips."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Lecture", text)


class NotesWindow(QWidget):
    """Shows a LectureState. `opened(path)`: the lecturer begins a lecture; `prepare_wanted`: all scenes are to be shown
    once; `commanded(name)`: one of COMMANDS; `ended`: the lecture ends."""

    opened = Signal(str)
    prepare_wanted = Signal()
    commanded = Signal(str)
    ended = Signal()

    def __init__(self, state: LectureState, choose: Callable[[str, str], list[str]], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("lectureNotes")
        self.setWindowTitle(_tr("Lecture"))
        plain = QApplication.font()  # stays: only the screen of the class needs presenter size
        self.setFont(QFont(plain.family(), plain.pointSize()))
        self._state, self._choose, self._window = state, choose, parent
        self.lectures = named(Combo(self), "lecture.list", _tr("Lectures"))
        self._offered = list[Lecture]()
        for lecture in shipped_lectures():
            self.offer(lecture)
        self.lectures.setCurrentIndex(0)
        self.begin = self._button("begin", _tr("B&egin"), _tr("Show the first scene of this lecture"))
        self.file = self._button("file", _tr("Open a &file…"), _tr("Open a lecture of your own"))
        self.prepare = self._button("prepare", _tr("P&repare"), _tr("Show every scene once, so that none waits later"))
        self.end = self._button("end", _tr("End the lect&ure"), _tr("Open again what was there before"))
        self.state_text = sentence_label("lecture.state", self, selectable=True)
        self.title, self.next_title = sentence_label("lecture.title", self), sentence_label("lecture.next", self)
        self.clock = sentence_label("lecture.clock", self)
        self.clock.setWordWrap(False)
        self.clock.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.notes = GuideBrowser(self)
        self.notes.setObjectName("lecture.notes")
        self.notes.setAccessibleName(_tr("Notes of the scene"))
        self.notes.setFrameShape(QFrame.Shape.NoFrame)
        self.hands = QWidget(self)
        self._counts = in_column(on=self.hands)
        self.boxes: list[QSpinBox] = []
        self.buttons = {name: self._command(name) for name in COMMANDS}
        self._began = QElapsedTimer()
        self._tick = QTimer(self, interval=1000)
        self._tick.timeout.connect(self._show_clock)
        self._arrange()
        self._listen()
        self._show_scene()

    def _button(self, name: str, text: str, tip: str) -> QPushButton:
        return named(QPushButton(text, self), f"lecture.{name}", tip=tip)

    def _command(self, name: str) -> QPushButton:
        key, text, tip = COMMANDS[name]
        button = self._button(name, _tr(text), _tr("{tip} ({key})").format(tip=_tr(tip), key=key))
        button.clicked.connect(lambda: self.commanded.emit(name))
        return button

    def _arrange(self) -> None:
        gap = self.fontMetrics().averageCharWidth()
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self._chooser, self._commands = QWidget(self), QWidget(self)
        in_row(buddy(_tr("&Lecture"), self.lectures), (self.lectures, 1), self.begin, self.file, on=self._chooser)
        flow = FlowLayout(self._commands, gap)
        flow.setContentsMargins(0, 0, 0, 0)
        for button in (*self.buttons.values(), self.prepare, self.end):
            flow.addWidget(button)
        top = in_row((self.title, 1), self.clock)
        parts = self._chooser, self.state_text, top, self.next_title, (self.notes, 1), self.hands, self._commands
        in_column(*parts, on=self, margins=gap)
        self.resize(LETTERS[0] * gap, LETTERS[1] * gap)

    def _listen(self) -> None:
        self.begin.clicked.connect(lambda: self.opened.emit(str(self.lectures.currentData())))
        self.file.clicked.connect(self._open_file)
        self.lectures.currentIndexChanged.connect(self._show_about)
        self.prepare.clicked.connect(self._prepare)
        self.end.clicked.connect(self.ended)
        self._state.place_changed.connect(self._show_scene)
        self._state.poll_changed.connect(self._show_hands)

    def present(self) -> None:
        """Show the window: on another screen than the lecture's where there is one."""
        window = self._window
        others = [screen for screen in window.screen().virtualSiblings() if screen is not window.screen()]
        if others:
            self.move(others[0].availableGeometry().topLeft())
        put_on_screen(self)
        if self.isVisible():
            self.raise_()
        self.show()
        self.activateWindow()

    def say(self, text: str) -> None:
        """Show a sentence about the lecture; "" for none."""
        self.state_text.setText(text)
        self.state_text.setVisible(bool(text))

    def offer(self, lecture: Lecture) -> None:
        """Add a lecture to the list, in place of an earlier one of the same file, and choose it."""
        paths = [one.path for one in self._offered]
        place = paths.index(lecture.path) if lecture.path in paths else len(paths)
        self._offered[place : place + 1] = [lecture]
        if place == len(paths):
            self.lectures.addItem("")
            self.lectures.setItemData(place, str(lecture.path))
        self.lectures.setItemText(place, plain(lecture.title, 80))
        self.lectures.setCurrentIndex(place)

    @Slot()
    def _open_file(self) -> None:
        """Ask for a file, and offer its lecture; one that is none is refused in words."""
        for path in self._choose(_tr("Open a lecture"), _tr("Lectures") + " (*.toml)")[:1]:
            try:
                self.offer(read_lecture(path))
            except KernelscopeError as error:
                self.say(error.sentence())
            else:
                self.say("")
                self._show_about()

    @Slot()
    def _prepare(self) -> None:
        """Begin the chosen lecture where none is held, and show all scenes once."""
        if self._state.lecture is None:
            self.begin.click()
        self.prepare_wanted.emit()

    def restart_clock(self) -> None:
        """Count the minutes from now."""
        self._began.start()
        self._show_clock()

    @Slot()
    def _show_scene(self) -> None:
        """Show the notes of the scene, or the choice of a lecture."""
        lecture, scene, following = self._state.lecture, self._state.scene, self._state.next_scene
        running = lecture is not None and scene is not None
        self._chooser.setVisible(not running)
        for part in (self.title, self.next_title, self.clock, *self.buttons.values(), self.end):
            part.setVisible(running)
        if lecture is None or scene is None:
            self._tick.stop()
            self._began.invalidate()
            self._show_about()
        else:
            if not self._tick.isActive():
                self._began.start()
                self._tick.start()
            place = _tr("{place} of {count}: {title}")
            self.title.setText(place.format(place=self._state.place + 1, count=len(lecture.scenes), title=scene.title))
            title = following.title if following is not None else _tr("the end")
            self.next_title.setText(_tr("Next: {title}").format(title=title))
            self.notes.show_text(scene.notes or scene.text, strangers=True)
            self._show_clock()
        for name in ("ask", "answer"):
            self.buttons[name].setEnabled(running and scene is not None and scene.poll is not None)
        self.buttons["previous"].setEnabled(self._state.place > 0)
        self.buttons["next"].setEnabled(following is not None)
        self._fill_hands()

    @Slot()
    def _show_about(self) -> None:
        """Describe the lecture that may begin."""
        if self._state.lecture is not None:
            return
        lecture = self._offered[self.lectures.currentIndex()]
        scenes = "\n".join(f"{place}. {scene.title}" for place, scene in enumerate(lecture.scenes, 1))
        self.notes.show_text(f"## {lecture.title}\n\n{lecture.about}\n\n{scenes}", strangers=True)

    def _fill_hands(self) -> None:
        """A box for the hands of each choice."""
        while item := self._counts.takeAt(0):
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.boxes = []
        scene = self._state.scene
        poll = scene.poll if scene is not None else None
        if poll is not None:
            heading = sentence_label("lecture.ask", self.hands)
            heading.setText(_tr("Question: {ask} Hands for each answer:").format(ask=poll.ask))
            self._counts.addWidget(heading)
        for place, choice in enumerate(poll.choices if poll is not None else ()):
            line = QWidget(self.hands)
            box = named(QSpinBox(line), f"lecture.hands.{place}", choice, _tr("Hands that were raised for this"))
            box.setRange(0, MOST_HANDS)
            box.setValue(self._state.hands[place])
            box.valueChanged.connect(lambda count, place=place: self._state.count(place, count))
            text = sentence_label("", line)
            text.setText(choice)
            in_row(box, (text, 1), on=line)
            self._counts.addWidget(line)
            self.boxes.append(box)
        self.hands.setVisible(poll is not None)

    @Slot()
    def _show_hands(self) -> None:
        for box, count in zip(self.boxes, self._state.hands, strict=True):
            with QSignalBlocker(box):
                box.setValue(count)

    @Slot()
    def _show_clock(self) -> None:
        """The time of day, and the minutes since the lecture began."""
        passed = self._began.elapsed() // 1000 if self._began.isValid() else 0
        now = QTime.currentTime().toString("HH:mm")
        lecture = self._state.lecture
        text = _tr("{now} · {passed} of {minutes} min")
        minutes = lecture.minutes if lecture is not None else 0
        self.clock.setText(text.format(now=now, passed=f"{passed // 60}:{passed % 60:02d}", minutes=minutes))

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self.ended.emit()
        super().closeEvent(event)

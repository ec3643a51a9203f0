"""The start page: continue, open something, ask a question, or take a lesson."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication, QSize, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QWidget

from app.base.nesting import bounded
from app.base.theme import boxes
from app.base.translate import QT_TRANSLATE_NOOP
from app.models.lesson import progress_text, read_progress
from app.shell.context import Context
from app.views.boxes import in_column
from app.views.flow import FlowLayout
from app.views.labels import named
from app.views.parts import TickBox
from app.views.sentence_list import SentenceList
from gpu_ops import SAMPLES
from gpu_ops.lessons.reading import shipped_lessons

USUAL = 44
"""The initial width, in letters."""
QUESTIONS = (
    (QT_TRANSLATE_NOOP("Start", "Why is shared memory faster?"), "reuse", 2),
    (QT_TRANSLATE_NOOP("Start", "Why does the order of addresses count?"), "coalescing", 2),
    (QT_TRANSLATE_NOOP("Start", "What does a branch cost?"), "divergence", 1),
    (QT_TRANSLATE_NOOP("Start", "What is a bank conflict?"), "bank_conflicts", 1),
    (QT_TRANSLATE_NOOP("Start", "Why is a histogram of a flat image slow?"), "contention", 2),
    (QT_TRANSLATE_NOOP("Start", "When do copies take longer than the kernel?"), "transfers", 1),
    (QT_TRANSLATE_NOOP("Start", "Which times can be compared?"), "honest_timing", 1),
)
"""Questions, each with the lesson and the number of the page that answers it."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Start", text)


class StartPanel(QWidget):
    """Begins something. `action_wanted(id)`: the user wants an action of the window; `lesson_wanted(id, page)`: a
    lesson, at a page whose experiment is to be set up, or where it was left (0)."""

    action_wanted = Signal(str)
    lesson_wanted = Signal(str, int)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("startPanel")
        self._context, self._lessons = context, shipped_lessons()
        self._buttons = QWidget(self)
        self._flow = FlowLayout(self._buttons, self.fontMetrics().averageCharWidth())
        self._flow.setContentsMargins(0, 0, 0, 0)
        self.last = self._button("last_session", _tr("&Continue the last session"), _tr("Open what was open last"))
        self._button("open", _tr("Open a &file…"), _tr("Open an image or a signal"))
        self._button("open_session", _tr("Open a &session…"), _tr("Open an experiment that was saved"))
        self.samples = named(QPushButton(_tr("Sa&mple"), self), "start.samples", tip=_tr("Open an image or a signal"))
        menu = QMenu(self.samples)
        menu.setStyle(boxes())
        for sample in SAMPLES:
            menu.addAction(sample.title).triggered.connect(partial(self._open_sample, sample.id))
        self.samples.setMenu(menu)
        self._flow.addWidget(self.samples)
        tip = _tr("Show the times of GPUs that were recorded, next to those of this machine")
        self._button("recorded", _tr("&Recorded GPUs"), tip)
        self._button("lecture", _tr("&Lectures"), _tr("Show a lecture, scene by scene"))
        self.questions = self._list("start.questions", _tr("Questions"))
        self.questions.addItems([_tr(text) for text, _, _ in QUESTIONS])
        self.lessons = self._list("start.lessons", _tr("Lessons"))
        tip = _tr("Where no session is opened; Help, Start page shows it at any time")
        self.at_start = named(TickBox(_tr("S&how this page at the start"), self), "start.at_start", tip=tip)
        self._arrange()
        self.at_start.clicked.connect(self._choose)
        self.questions.itemClicked.connect(self._ask)
        self.questions.itemActivated.connect(self._ask)
        self.lessons.itemClicked.connect(self._learn)
        self.lessons.itemActivated.connect(self._learn)

    def _button(self, action: str, text: str, tip: str) -> QPushButton:
        button = named(QPushButton(text, self), f"start.{action}", tip=tip)
        button.clicked.connect(lambda: self.action_wanted.emit(action))
        self._flow.addWidget(button)
        return button

    def _list(self, name: str, title: str) -> SentenceList:
        return named(SentenceList(self.fontMetrics().averageCharWidth() // 4, self, whole=True), name, title)

    def _heading(self, text: str, of: QWidget) -> QLabel:
        label = QLabel(text, self)
        font = label.font()
        font.setBold(True)
        label.setFont(font)
        label.setBuddy(of)
        return label

    def _arrange(self) -> None:
        gap = self.fontMetrics().averageCharWidth()
        asking = in_column(self._heading(_tr("&Questions"), self.questions), self.questions)
        learning = in_column(self._heading(_tr("L&essons"), self.lessons), self.lessons)
        in_column(self._buttons, asking, learning, self.at_start, 1, on=self, margins=gap)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(USUAL * self.fontMetrics().averageCharWidth(), super().sizeHint().height())

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.last.setVisible(self._context.sessions.has_last)
        self.at_start.setChecked(self._context.settings.start_page)
        reached, row = read_progress(self._context.settings.lesson_progress), max(self.lessons.currentRow(), 0)
        self.lessons.clear()
        for lesson in self._lessons:
            self.lessons.addItem(
                f"{lesson.number}  {lesson.title}  ({progress_text(lesson, reached.get(lesson.id, 0))})"
            )
        self.lessons.setCurrentRow(row)

    @Slot(bool)
    def _choose(self, shown: bool) -> None:
        self._context.settings.set_start_page(shown)
        self._context.settings.save()

    def _open_sample(self, id: str) -> None:
        self._context.controller.open_sample(id)

    @Slot()
    def _ask(self) -> None:
        _, lesson, page = QUESTIONS[self.questions.currentRow()]
        self.lesson_wanted.emit(lesson, page)

    @Slot()
    def _learn(self) -> None:
        self.lesson_wanted.emit(self._lessons[self.lessons.currentRow()].id, 0)

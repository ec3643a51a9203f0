"""The panel of lessons: the list, or one page with its text, its experiment and its question."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Slot
from PySide6.QtWidgets import QFrame, QListWidgetItem, QPushButton, QStackedWidget, QWidget

from app.controllers.lessons import LessonController
from app.models.lesson import progress_text, verdict
from app.views.boxes import in_column, in_row
from app.views.dialogs.guide_page import GuideBrowser
from app.views.flow import FlowLayout
from app.views.labels import named, sentence_label
from app.views.lessons.question_form import QuestionForm
from app.views.scrolled import Scrolled
from app.views.sentence_list import SentenceList
from gpu_ops.errors import KernelscopeError
from gpu_ops.lessons.lesson import Page

Choose = Callable[[str, str], list[str]]
USUAL = 44
"""The initial width, in letters."""


class LessonPanel(QWidget):
    """Shows a LessonController, and passes on the reader's answers. `choose(title, kinds)` asks for files."""

    def __init__(self, controller: LessonController, choose: Choose, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lessonPanel")
        self.controller, self._state, self._choose = controller, controller.state, choose
        gap = self.fontMetrics().averageCharWidth() // 2
        self.list = named(SentenceList(gap, self), "lesson.list", self.tr("Lessons"))
        self.open_button = self._button("lesson.open", self.tr("&Open a lesson…"), self.tr("Read a lesson of your own"))
        self.refusal = sentence_label("lesson.refusal", self, selectable=True)
        self.title = sentence_label("lesson.title", self)
        self.browser = GuideBrowser(self)
        self.browser.setObjectName("lesson.text")
        self.browser.setAccessibleName(self.tr("The text of the page"))
        self.browser.setFrameShape(QFrame.Shape.NoFrame)
        self.set_up = self._button(
            "lesson.set_up", self.tr("&Set up the experiment"), self.tr("Open the page's input, filter and variants")
        )
        self.own = self._button(
            "lesson.own", self.tr("My own experi&ment"), self.tr("Open what you had before the page's experiment")
        )
        self.asked = QWidget(self)
        self.hint = self._button("lesson.hint", self.tr("&Hint"), self.tr("Show where to look, or the answer"))
        self.verdict = sentence_label("lesson.verdict", self, selectable=True)
        self.back = self._button("lesson.back", self.tr("&Back"), self.tr("The page before"))
        self.next = self._button("lesson.next", self.tr("&Next"), self.tr("The next page"))
        self.all = self._button("lesson.all", self.tr("A&ll lessons"), self.tr("Back to the list of lessons"))
        self.form: QuestionForm | None = None
        self._warned = False
        self._arrange()
        self.list.itemActivated.connect(self._open)
        self.list.itemClicked.connect(self._open)
        self.open_button.clicked.connect(self._open_file)
        self.set_up.clicked.connect(self._set_up)
        self.own.clicked.connect(controller.go_back)
        controller.kept_changed.connect(self._show_own)
        self._show_own()
        self.back.clicked.connect(lambda: self._state.go(-1))
        self.next.clicked.connect(lambda: self._state.go(1))
        self.all.clicked.connect(self._state.close)
        self.hint.clicked.connect(self._show_hint)
        self.browser.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._state.page_changed.connect(self._show)
        self._state.answered.connect(self._show_verdict)
        self._show()

    def _button(self, name: str, text: str, tip: str) -> QPushButton:
        return named(QPushButton(text, self), name, tip=tip)

    def _arrange(self) -> None:
        gap = self.fontMetrics().averageCharWidth()
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.stack = QStackedWidget(self)
        listing = QWidget(self)
        in_column((self.list, 1), self.refusal, in_row(self.open_button, 1), on=listing, margins=gap)
        self.stack.addWidget(listing)
        reading, below = QWidget(self), QWidget(self)
        self._question = in_column(on=self.asked)
        in_column(self.asked, in_row(self.hint, 1), self.verdict, on=below, margins=(0, gap, 0, gap))
        buttons = QWidget(self)
        row = FlowLayout(buttons, gap)
        row.setContentsMargins(0, 0, 0, 0)
        for button in (self.back, self.next, self.all):
            row.addWidget(button)
        setting = QWidget(self)
        places = FlowLayout(setting, gap)
        places.setContentsMargins(0, 0, 0, 0)
        for button in (self.set_up, self.own):
            places.addWidget(button)
        in_column(self.title, self.browser, setting, below, 1, buttons, on=reading, margins=gap)
        self.stack.addWidget(Scrolled(reading, self))
        in_column(self.stack, on=self)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(USUAL * self.fontMetrics().averageCharWidth(), super().sizeHint().height())

    def open_lesson(self, id: str, page: int) -> None:
        """Open a lesson where the reader left it (0), or at a page, and set up its experiment."""
        if page:
            self._state.open_at(id, page - 1)
            self._set_up()
        else:
            self._state.open(next(lesson for lesson in self._state.lessons if lesson.id == id))

    @Slot(QListWidgetItem)
    def _open(self, item: QListWidgetItem) -> None:
        self._state.open(self._state.lessons[self.list.row(item)])

    @Slot()
    def _open_file(self) -> None:
        """Ask for a file, and read it; one that is no lesson is refused in words."""
        for path in self._choose(self.tr("Open a lesson"), self.tr("Lessons") + " (*.toml)")[:1]:
            try:
                self.controller.open_file(path)
            except KernelscopeError as error:
                self.refusal.setText(error.sentence())
                self.refusal.show()

    @Slot()
    def _show(self) -> None:
        """Show the page, or the list with the reader's progress."""
        page, lesson, self._warned = self._state.page, self._state.lesson, False
        self.stack.setCurrentIndex(0 if page is None else 1)
        if page is None or lesson is None:
            self._show_list()
            return
        place = self.tr("{lesson} · page {place} of {count}")
        self.title.setText(place.format(lesson=lesson.title, place=self._state.place + 1, count=len(lesson.pages)))
        self.browser.show_text(f"## {page.title}\n\n{page.text}", strangers=True)
        self.set_up.setVisible(page.setup is not None)
        self.back.setEnabled(self._state.place > 0)
        last = self._state.place == len(lesson.pages) - 1
        self.next.setText(self.tr("&Finish") if last else self.tr("&Next"))
        self._ask(page)
        self._show_verdict()

    def _show_list(self) -> None:
        self.refusal.hide()
        chosen = max(self.list.currentRow(), 0)
        self.list.clear()
        for lesson in self._state.lessons:
            read = progress_text(lesson, self._state.reached.get(lesson.id, 0))
            self.list.addItem(f"{lesson.number}  {lesson.title}  ({read})\n{lesson.about}")
        self.list.setCurrentRow(chosen)

    def _ask(self, page: Page) -> None:
        """Replace the form of the question, or say what to do."""
        while item := self._question.takeAt(0):
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.form = None
        if page.question is not None:
            self.form = QuestionForm(page.question, self._state.answer, self.asked)
            self.form.answered.connect(self._state.give)
            self._question.addWidget(self.form)
        elif page.action is not None or page.exercise is not None:
            label = sentence_label("lesson.ask", self.asked)
            label.setText((page.action or page.exercise).ask)  # type: ignore[union-attr]
            label.setFont(self.title.font())
            self._question.addWidget(label)

    @Slot()
    def _set_up(self) -> None:
        """Open the page's experiment; where the present one could not be opened again, after a second click only."""
        warned, text = self._warned, self.controller.set_up(anyway=self._warned)
        self._warned = bool(text)
        if text:
            self.verdict.setText(self.tr("{reason} Press again to go on without it.").format(reason=text))
            self.verdict.show()
        elif warned:
            self._show_verdict()

    @Slot()
    def _show_own(self) -> None:
        self.own.setVisible(self.controller.kept is not None)

    @Slot()
    def _fit(self) -> None:
        """The text is as high as it needs; the panel scrolls."""
        frame = 2 * self.browser.frameWidth()
        self.browser.setFixedHeight(round(self.browser.document().size().height()) + frame)

    @Slot()
    def _show_hint(self) -> None:
        page = self._state.page
        if page is not None and page.exercise is not None:
            self.verdict.setText(page.exercise.hint)
        elif page is not None and page.question is not None:
            self.verdict.setText(verdict(page.question))
        self.verdict.show()

    @Slot()
    def _show_verdict(self) -> None:
        """Say whether the answer is right, or whether what the page asks for is done."""
        page, answer = self._state.page, self._state.answer
        text = ""
        wrong = page is not None and page.question is not None and answer is not None and not self._state.right
        if wrong:
            text = self.tr("Not quite. Look at the experiment and try again.")
        elif page is not None and page.question is not None and answer is not None:
            text = self.tr("Right: {answer}").format(answer=verdict(page.question))
        elif page is not None and page.exercise is not None:
            text = self.tr("Done: the result is right, and nothing is found.") if answer else ""
        elif page is not None and page.action is not None and answer:
            text = self.tr("Done.")
        hint = page is not None and page.exercise is not None and bool(page.exercise.hint) and not text
        self.hint.setText(self.tr("S&how the answer") if wrong else self.tr("&Hint"))
        self.hint.setVisible(hint or wrong)
        self.verdict.setText(text)
        self.verdict.setVisible(bool(text))

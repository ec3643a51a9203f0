"""The lesson that is being read: its page, what the reader has answered, and how far others were read. No widgets."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.base.numbers import number
from app.models.experiment.history import Choice, default_choice
from app.models.experiment.session import Session
from app.models.files.session_file import SavedInput, SavedSession
from app.models.files.session_view import View
from app.models.settings import Settings
from gpu_ops import SAMPLES, check_step, parse_step
from gpu_ops.lessons.experiments import filter_of, kind_of
from gpu_ops.lessons.lesson import Action, Lesson, Page, Question, Setup
from gpu_ops.lessons.reading import shipped_lessons


def _tr(text: str) -> str:
    return QCoreApplication.translate("Lessons", text)


class LessonState(QObject):
    """One lesson at a time, or the list of lessons (`lesson` None). `page_changed`: another page or the list is shown;
    `answered`: the reader has answered the question of the page, or done what it asks."""

    page_changed = Signal()
    answered = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.lessons = shipped_lessons()
        self.lesson: Lesson | None = None
        self.place = 0
        self.given: dict[tuple[str, int], Any] = {}
        """The latest answers by lesson and page; True for what is done."""
        self.reached = read_progress(settings.lesson_progress)

    @property
    def page(self) -> Page | None:
        """The page that is shown; None for the list."""
        return self.lesson.pages[self.place] if self.lesson else None

    @property
    def answer(self) -> Any:
        """The reader's latest answer on this page; None before."""
        return self.given.get((self.lesson.id, self.place)) if self.lesson else None

    @property
    def right(self) -> bool:
        """Whether the page's question has its right answer, or its action or exercise is done."""
        page = self.page
        if page is None or self.answer is None:
            return False
        return page.question.right(self.answer) if page.question else self.answer is True

    def open(self, lesson: Lesson) -> None:
        """Show a lesson where the reader left it; a lesson that was read to its end begins anew."""
        self.lesson = lesson
        read = self.reached.get(lesson.id, 0)
        self.place = read if read < len(lesson.pages) else 0
        self.page_changed.emit()

    def open_at(self, id: str, place: int) -> None:
        """Show a page of a lesson of the list, counted from 0."""
        self.lesson, self.place = next(lesson for lesson in self.lessons if lesson.id == id), place
        self.page_changed.emit()

    def close(self) -> None:
        """Show the list of lessons."""
        self.lesson, self.place = None, 0
        self.page_changed.emit()

    def go(self, step: int) -> None:
        """Show the next page (1) or the one before (-1); after the last one the list."""
        if self.lesson is None:
            return
        last = len(self.lesson.pages)
        self.place = max(0, self.place + step)
        self.reached[self.lesson.id] = max(self.reached.get(self.lesson.id, 0), self.place)
        if self.lesson in self.lessons:
            self._settings.set_lesson_progress(json.dumps(self.reached))
        if self.place >= last:
            self.close()
        else:
            self.page_changed.emit()

    def give(self, answer: Any) -> None:
        """Answer the page."""
        if self.lesson is not None:
            self.given[self.lesson.id, self.place] = answer
            self.answered.emit()


def read_progress(text: str) -> dict[str, int]:
    """The pages reached, by lesson; what is no such table counts as none."""
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    items = found.items() if isinstance(found, dict) else ()
    return {str(k): v for k, v in items if isinstance(v, int) and not isinstance(v, bool) and 0 <= v < 1000}


def progress_text(lesson: Lesson, reached: int) -> str:
    """How far a lesson was read, after its title in the list."""
    if reached >= len(lesson.pages):
        return _tr("read")
    minutes = _tr("{minutes} min").format(minutes=lesson.minutes)
    return _tr("page {place} of {count}").format(place=reached + 1, count=len(lesson.pages)) if reached else minutes


def number_given(text: str) -> float | None:
    """The number that a reader has typed, with a point or a comma; None where it is none."""
    try:
        value = float(text.strip().replace(",", ".").replace("−", "-"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def verdict(question: Question) -> str:
    """The right answer of a question, and why."""
    shown = question.answer
    if question.is_number:
        shown = f"{number(float(question.answer))} {question.unit}".strip()
    elif question.kind == "order":
        shown = ", ".join(question.answer)
    return f"{shown}. {' '.join(question.why.split())}"


def action_done(action: Action, session: Session) -> bool:
    """Whether the experiment is as the action asks."""
    params = session.params
    chosen = all(params.get(name) == value for name, value in action.params.items())
    return chosen and set(action.variants) <= set(session.choice.picks)


def saved_setup(setup: Setup, presenter: bool = False) -> SavedSession:
    """A setup as a session that opens like one of a file, in a window of presenter size or not. Raises
    KernelscopeError."""
    kind, filter = kind_of(setup), filter_of(setup)
    entry = next(s for s in SAMPLES if s.id == setup.sample)
    steps = tuple(dict(check_step(parse_step(step), kind)) for step in setup.steps)
    begin = default_choice(filter, True, steps)
    knobs = {v.id: {k.name: setup.knobs[k.name] for k in v.knobs if k.name in setup.knobs} for v in filter.variants}
    params: Mapping[str, Any] = {**begin.params, **setup.params}
    choice = Choice(filter.id, params, setup.variants, {k: v for k, v in knobs.items() if v}, steps)
    options = {p.name: setup.options.get(p.name, p.default) for p in entry.params}
    kernels = [id for id in setup.variants if filter.variant(id).kernels]
    against = kernels[-2] if len(kernels) > 1 else ""
    shown = View(presenter=presenter, counter=setup.counter, xray_tab=setup.tab)
    view = replace(shown, xray=kernels[-1] if kernels else "", against=against)
    return SavedSession(SavedInput(kind, (), setup.sample, "", 0, options), choice, view=view)

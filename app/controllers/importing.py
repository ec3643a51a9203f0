"""Opens files: a file with choices is surveyed first, and the user is asked only where it is necessary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from app.base.paths import is_session
from app.controllers.session import SessionController
from app.models.experiment.job_kind import LOAD, PREVIEW, SURVEY
from app.models.files.importing import (
    Question,
    changed,
    choices_of,
    fits,
    has_survey,
    kind_key,
    lasting,
    must_ask,
    values_words,
)
from app.models.settings import Settings
from gpu_ops.engine.messages import Failed, Finished, Surveyed, SurveyRequest
from gpu_ops.io.opening import Survey
from gpu_ops.params import Values


class ImportController(QObject):
    """Every file is opened here. The newest file and the newest choice win; nothing here blocks.

    `asked(question)`: the user must choose, or wants to; `surveyed(question)`: the file has been surveyed with the
    newest choices; `refused(sentence)`: why these cannot be used; `closed`: the question is no longer open.
    `session_wanted(path)`: the file is a session. `message(kind, sentence, details, subject)` is for the window.
    """

    asked = Signal(object)
    surveyed = Signal(object)
    refused = Signal(str)
    closed = Signal()
    session_wanted = Signal(str)
    message = Signal(str, str, str, str)

    def __init__(self, controller: SessionController, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = controller.queue.engine
        self._controller, self._settings = controller, settings
        self.question: Question | None = None
        self._request: SurveyRequest | None = None
        self._wanted = False
        self._engine.answered.connect(self._take)
        controller.cancelled.connect(self._forget_request)

    # What the user does

    def open(self, path: str, values: Values | None = None) -> None:
        """Open a file; the present input stays until the new one has arrived, also while the user must choose first.
        `values` are choices that have been made already."""
        self._end()
        if is_session(path) and not values:
            self.session_wanted.emit(path)
        elif values:
            self._controller.open_file(path, values)
        elif has_survey(path):
            self._wanted = False
            self._look(path, {})
        else:
            self._controller.open_file(path)

    def ask(self, path: str) -> None:
        """Let the user choose how a file is read, even where it is unambiguous."""
        self._end()
        self._wanted = True
        self._look(path, {})

    def look_again(self, values: Values) -> None:
        """Survey the file of the open question with other choices."""
        question = self.question
        if question is not None:
            self.question = replace(question, values=changed(values, question.choices))
            self._look(question.path, self.question.values)

    def accept(self, values: Values, remember: bool) -> None:
        """Open the file of the question with these choices; remember or forget them for files like it."""
        question = self.question
        if question is None:
            return
        chosen = changed(values, question.choices)
        if remember:
            self._settings.remember_import(question.key, lasting(chosen))
        elif question.remembered:
            self._settings.forget_import(question.key)
        self._end()
        self._controller.open_file(question.path, chosen)

    def cancel(self) -> None:
        """Close the question; everything stays as it is."""
        self._end()

    # Surveys

    def _look(self, path: str, values: Values) -> None:
        """Ask the engine for a survey; an older request is dropped."""
        self._cancel_survey()
        request = SurveyRequest(self._engine.next_job(), path, dict(values))
        self._request = request
        self._controller.queue.submit(SURVEY if self.question is None else PREVIEW, request)

    def _cancel_survey(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            self._engine.cancel(request.job, kill=False)

    @Slot()
    def _forget_request(self) -> None:
        """The user has cancelled everything that runs."""
        self._request = None

    def _end(self) -> None:
        """Close the question and drop its survey."""
        self._cancel_survey()
        if self.question is not None:
            self.question = None
            self.closed.emit()

    @Slot(object)
    def _take(self, answer: Any) -> None:
        request = self._request
        if request is None or getattr(answer, "job", 0) != request.job:
            return
        if isinstance(answer, Surveyed):
            self._request = None
            self._take_survey(request, answer.survey)
        elif isinstance(answer, Failed):
            self._request = None
            if self.question is not None:
                self.refused.emit(answer.sentence)
        elif isinstance(answer, Finished):
            self._request = None

    def _take_survey(self, request: SurveyRequest, survey: Survey) -> None:
        question = self.question
        if question is not None:
            self.question = replace(question, survey=survey)
            self.surveyed.emit(self.question)
            return
        jobs = self._controller.queue.jobs
        if any(kind.id == LOAD.id and job > request.job for job, kind in jobs.items()):
            return  # the user opened something else meanwhile
        choices, key = choices_of(survey, request.path), kind_key(survey)
        values = self._settings.remembered_import(key)
        if values is not None and not fits(values, choices, survey):
            values = None
        if self._wanted or must_ask(survey, values):
            self.question = Question(request.path, survey, choices, values or {}, key, values is not None)
            self.asked.emit(self.question)
            if values:
                self._look(request.path, values)
            return
        self._controller.open_file(request.path, values)
        if values:
            text = self.tr("Opened like the last such file, with {values}; Open with choices… in the menu changes it.")
            self.message.emit("info", text.format(values=values_words(values, choices)), "", "import")

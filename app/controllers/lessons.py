"""Sets up the experiments of a lesson's pages, and notices when what a page asks for is done."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from app.controllers.look import Appearance
from app.controllers.sessions import SessionFiles
from app.controllers.xray import XRayController
from app.models.experiment.change import Change
from app.models.experiment.session import Session
from app.models.lesson import LessonState, action_done, saved_setup
from app.models.results.results import Results
from app.models.settings import Settings
from app.models.xray.drafts import Draft
from gpu_ops.devices.kernel_source import read_source


class LessonController(QObject):
    """Changes the experiment for a page only when the reader asks for it. `panel_wanted(id)`: the page is about this
    panel."""

    panel_wanted = Signal(str)

    def __init__(
        self,
        sessions: SessionFiles,
        session: Session,
        results: Results,
        xray: XRayController,
        settings: Settings,
        look: Appearance,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._sessions, self._session, self._results, self._xray = sessions, session, results, xray
        self._look = look
        self.state = LessonState(settings, self)
        self._exercise: tuple[str, int] | None = None
        """The lesson and the page whose broken kernel is in the editor."""
        sessions.restored.connect(self._prepare)
        session.changed.connect(self._changed)
        results.row_changed.connect(self._look_at_repair)
        xray.drafts.changed.connect(self._look_at_repair)

    def set_up(self) -> None:
        """Open the experiment of the page in place of the present one; undo brings its settings back."""
        page = self.state.page
        if page is not None and page.setup is not None:
            self._sessions.show(saved_setup(page.setup, self._look.presenter))
            if page.setup.panel != "pictures":
                self.panel_wanted.emit("xray" if page.exercise else page.setup.panel)

    @Slot()
    def _prepare(self) -> None:
        """Put the broken kernel of an exercise into the editor, once its experiment is there."""
        page, lesson = self.state.page, self.state.lesson
        self._exercise = None
        if lesson is None or page is None or page.exercise is None or page.setup is None:
            return
        filter, exercise = self._session.filter, page.exercise
        if page.setup.filter not in (filter.id, filter.family) or self._session.choice.picks != page.setup.variants:
            return
        draft = Draft(filter.id, exercise.variant)
        self._exercise = lesson.id, self.state.place
        self._xray.open_draft(draft.with_text(draft.file, exercise.broken(read_source(draft.file))))

    @Slot(object)
    def _changed(self, change: Change) -> None:
        page = self.state.page
        if page is not None and page.action is not None and action_done(page.action, self._session):
            self.state.give(True)

    @Slot(object)
    def _look_at_repair(self, changed: object) -> None:
        """An exercise is done when the kernel in the editor is another than the broken one, and its result is right and
        without findings."""
        page, lesson = self.state.page, self.state.lesson
        if lesson is None or page is None or page.exercise is None or self._exercise != (lesson.id, self.state.place):
            return
        draft = self._xray.draft
        broken = draft.with_text(draft.file, page.exercise.broken(read_source(draft.file)))
        if draft.variant != page.exercise.variant or draft.hash == broken.hash or self.state.answer is not None:
            return
        for entry in self._results.entries():
            row = entry.row
            own = row is not None and (row.filter, row.variant, row.edits) == (draft.filter, draft.variant, draft.hash)
            if own and entry.current and entry.ok and not entry.findings:
                self.state.give(True)
                return

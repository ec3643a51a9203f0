"""Sets up the experiments of a lesson's pages, and notices when what a page asks for is done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.controllers.look import Appearance
from app.controllers.sessions import SessionFiles
from app.controllers.xray import XRayController
from app.models.experiment.change import Change
from app.models.experiment.session import Session
from app.models.files.session_file import SavedSession
from app.models.files.session_view import View
from app.models.lesson import LessonState, action_done, saved_setup
from app.models.results.results import Results
from app.models.settings import Settings
from app.models.xray.drafts import Draft
from gpu_ops import FILTERS
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.errors import InputError, KernelscopeError, plain
from gpu_ops.lessons.lesson import Exercise, Page
from gpu_ops.lessons.reading import read_lesson
from gpu_ops.types import Filter


def _broken(filter: Filter, exercise: Exercise) -> Draft:
    """The kernel that an exercise asks to mend."""
    draft = Draft(filter.id, exercise.variant)
    return draft.with_text(draft.file, exercise.broken(read_source(draft.file)))


class LessonController(QObject):
    """Changes the experiment for a page only when the reader asks for it. `kept` is the reader's own experiment while
    that of a page is open. `kept_changed`: it is another; `panel_wanted(id)`: the page is about this panel."""

    panel_wanted = Signal(str)
    kept_changed = Signal()

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
        self.kept: SavedSession | None = None
        self._opened: SavedSession | None = None
        self._own_input = 0
        """The number of the input that belongs to a page."""
        sessions.restored.connect(self._prepare)
        session.changed.connect(self._changed)
        results.row_changed.connect(self._look_at_repair)
        xray.drafts.changed.connect(self._look_at_repair)

    def set_up(self, anyway: bool = False) -> str:
        """Open the experiment of the page in place of the present one, which `go_back` opens again. Returns what of
        that one would be lost and why, "" where nothing is; then nothing happens, unless it is to be done `anyway`.
        Raises KernelscopeError for a page whose names there are not."""
        page = self.state.page
        if page is None or page.setup is None:
            return ""
        wanted = saved_setup(page.setup, self._look.presenter)
        lost = [
            self.tr("{variant}, edited, is not saved: save it in the X-ray panel.").format(variant=title)
            for title in self._replaced(page)
        ]
        own, kept = self._session.original is not None and self._session.inputs != self._own_input, None
        if own:
            try:
                kept = self._sessions.present(self._view())
            except InputError as error:
                lost.append(error.sentence())
        if lost and not anyway:
            return " ".join(lost)
        if own:
            self._keep(kept)
        self._opened = wanted
        self._sessions.show(wanted)
        if page.setup.panel != "pictures":
            self.panel_wanted.emit("xray" if page.exercise else page.setup.panel)
        return ""

    def _replaced(self, page: Page) -> list[str]:
        """The titles of the unsaved kernels that the broken one of an exercise takes the place of."""
        setup, exercise = page.setup, page.exercise
        if setup is None or exercise is None:
            return []
        titles = []
        for draft in self._xray.drafts.unsaved:
            filter = FILTERS.find(draft.filter)
            replaced = setup.filter in (filter.id, filter.family) and draft.variant == exercise.variant
            if replaced and draft != _broken(filter, exercise):
                titles.append(draft.origin.title)
        return titles

    def open_file(self, path: str) -> None:
        """Read the lesson in a file. Raises InputError or ParamError for what is none, and where the experiment of a
        page has names that there are not."""
        lesson = read_lesson(path)
        for place, page in enumerate(lesson.pages, 1):
            try:
                if page.setup is not None:
                    saved_setup(page.setup)
            except KernelscopeError as error:
                raise InputError(f"{plain(Path(path).name, 80)}, page {place}: {error.sentence()}") from None
        self.state.open(lesson)

    def go_back(self) -> None:
        """Open the reader's own experiment again."""
        if self.kept is not None:
            self._sessions.show(self.kept)
            self._keep(None)

    def _view(self) -> View:
        """What a page changes of the window: the X-ray's variants."""
        xray = self._xray
        shown = View(presenter=self._look.presenter, counter=xray.counter, xray_tab=xray.tab)
        return replace(shown, xray=xray.variant, against=xray.against, editing=xray.editing)

    def _keep(self, saved: SavedSession | None) -> None:
        self.kept = saved
        self.kept_changed.emit()

    @Slot(object)
    def _prepare(self, restored: SavedSession) -> None:
        """Put the broken kernel of an exercise into the editor, once its experiment is there."""
        page, lesson = self.state.page, self.state.lesson
        self._exercise = None
        if restored is not self._opened:
            return
        self._own_input = self._session.inputs
        if lesson is None or page is None or page.exercise is None or page.setup is None:
            return
        filter, exercise = self._session.filter, page.exercise
        if page.setup.filter not in (filter.id, filter.family) or self._session.choice.picks != page.setup.variants:
            return
        self._exercise = lesson.id, self.state.place
        self._xray.open_draft(_broken(filter, exercise))

    @Slot(object)
    def _changed(self, change: Change) -> None:
        page = self.state.page
        if page is not None and page.action is not None and action_done(page.action, self._session):
            self.state.give(True)

    @Slot(object)
    def _look_at_repair(self, changed: object) -> None:
        """An exercise is done when the result of the kernel in the editor is right and without findings."""
        page, lesson = self.state.page, self.state.lesson
        if lesson is None or page is None or page.exercise is None or self._exercise != (lesson.id, self.state.place):
            return
        draft = self._xray.draft
        if draft.variant != page.exercise.variant or self.state.answer is not None:
            return
        for entry in self._results.entries():
            row = entry.row
            own = row is not None and (row.filter, row.variant, row.edits) == (draft.filter, draft.variant, draft.hash)
            if own and entry.current and entry.ok and not entry.findings:
                self.state.give(True)
                return

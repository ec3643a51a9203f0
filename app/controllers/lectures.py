"""Opens the scenes of a lecture, and says when everything in one is there."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.controllers.look import Appearance
from app.controllers.session import SessionController
from app.controllers.sessions import SessionFiles
from app.controllers.xray import XRayController
from app.models.files.session_file import SavedSession, read_session
from app.models.files.session_view import View
from app.models.lecture import LectureState
from app.models.lesson import saved_setup
from gpu_ops.errors import InputError, KernelscopeError, plain, shortened
from gpu_ops.lessons.lecture import Lecture, missing, read_lecture

SETTLED_MS = 60
"""How long nothing may have begun until a scene counts as complete."""


class LectureController(QObject):
    """`ready`: the results of the scene, and its X-ray where it shows one, are there. `prepared(place)`: so many scenes
    were shown once; the last one ends the preparation."""

    ready = Signal()
    prepared = Signal(int)

    def __init__(
        self,
        controller: SessionController,
        sessions: SessionFiles,
        xray: XRayController,
        look: Appearance,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._controller, self._sessions, self._xray, self._look = controller, sessions, xray, look
        self.state = LectureState(self)
        self._saved: list[SavedSession] = []
        self._kept: SavedSession | None = None
        self._presenter = False
        self._opening: SavedSession | None = None
        self._opened = False
        self.preparing = False
        self._soon = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._soon.timeout.connect(self._look_whether_ready)
        sessions.restored.connect(self._take)
        for changed in (controller.settled, xray.changed):
            changed.connect(self._wait_a_moment)

    def open(self, path: str, view: View) -> None:
        """Read the lecture in a file and show its first scene; the present experiment with this `view` is opened again
        at the end. Raises InputError, which names the file and the scene, where one cannot be shown; then nothing
        changes."""
        lecture = read_lecture(path)
        saved = [self._session(lecture, place) for place in range(len(lecture.scenes))]
        if self.state.lecture is None:
            self._presenter = self._look.presenter
            try:
                self._kept = self._sessions.present(view)
            except InputError:
                self._kept = None  # no file holds it, or nothing is open yet
        self._saved = saved
        self.preparing = False
        self._look.set_presenter(True)
        self.state.open(lecture)
        self._show()

    def _session(self, lecture: Lecture, place: int) -> SavedSession:
        """A scene as a session, in a window of presenter size. Raises InputError."""
        scene = lecture.scenes[place]
        try:
            if scene.setup is not None:
                return saved_setup(scene.setup, presenter=True)
            assert scene.session is not None
            if not scene.session.is_file():
                raise InputError(missing(scene.session))
            saved = read_session(str(scene.session), self._sessions.offered)
        except KernelscopeError as error:
            raise InputError(f"{lecture.where(place)}: {shortened(error.sentence())}") from None
        return replace(saved, view=replace(saved.view, presenter=True, layout=""))

    def enlarge(self, on: bool) -> None:
        """Show everything in presenter size, or in the size from before the lecture."""
        wanted = on or self._presenter
        if wanted != self._look.presenter:
            self._look.set_presenter(wanted)

    def go(self, place: int) -> None:
        """Show the scene at this place, if there is one."""
        self.preparing = False
        if self.state.go(place):
            self._show()

    def end(self) -> None:
        """End the lecture and open what was there before."""
        if self.state.lecture is None:
            return
        self.preparing, self._opening, self._saved = False, None, []
        self.state.open(None)
        self._look.set_presenter(self._presenter)
        if self._kept is not None:
            self._sessions.show(self._kept)

    def prepare(self) -> None:
        """Show every scene once, the present one last, so that what they need is computed, compiled and drawn."""
        if self.state.lecture is not None:
            self.state.go(0)
            self.preparing = True
            self._show()

    def _show(self) -> None:
        self._opening, self._opened = self._saved[self.state.place], False
        self._sessions.show(self._opening)

    @Slot()
    def _wait_a_moment(self) -> None:
        self._soon.start()

    @Slot(object)
    def _take(self, restored: SavedSession) -> None:
        self._opened = restored is self._opening
        self._soon.start()

    @property
    def waits(self) -> bool:
        """Whether the results of the scene are still to come."""
        if not self._opened or self._controller.busy:
            return True
        scene = self.state.scene
        drawn = scene is None or scene.panel != "xray" or self._xray.state in ("shown", "failed", "stopped")
        return not drawn

    @Slot()
    def _look_whether_ready(self) -> None:
        if self.state.lecture is None or self.waits:
            return
        self.ready.emit()
        if self.preparing:
            self._prepare_next()

    def _prepare_next(self) -> None:
        """The next scene; after the last one the first is shown again."""
        self.prepared.emit(self.state.place + 1)
        last = self.state.next_scene is None
        self.preparing = not last
        self.state.go(0 if last else self.state.place + 1)
        self._show()


def name_of(lecture: Lecture) -> str:
    """The title of a lecture, in which strangers may have written anything, on one line."""
    return plain(lecture.title, 80)

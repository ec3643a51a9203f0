"""Saves the window's settings to session files, and opens them: completely, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QFileInfo, QLocale, QObject, Signal, Slot

from app.controllers.session import SessionController
from app.models.experiment.change import Change
from app.models.experiment.job_kind import RESTORE, JobKind
from app.models.files.session_file import SavedSession, read_session, reason_of, saved_of, session_text
from app.models.files.session_view import Offered, View
from app.models.files.unfinished import Unfinished
from app.models.settings import Settings
from gpu_ops import KernelscopeError, replacing
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.messages import Failed, Loaded, LoadRequest, SampleRequest
from gpu_ops.engine.shared import SharedInput
from gpu_ops.errors import InputError, plain
from gpu_ops.input_kinds import INPUT_KINDS

SMALL = 64 << 20
"""The largest file, or array, in bytes for which the last session opens at start without a question: it loads at
once."""


@dataclass(frozen=True, eq=False)
class SessionOpening:
    """A session that is being opened: its file, its content, and the candidate `paths` of its input, of which the first
    is tried. `accepted` is the hash of another file that the user accepts instead; `request` loads the input.
    `otherwise` opens something else where a window would be empty."""

    path: str
    saved: SavedSession
    paths: tuple[str, ...]
    accepted: str = ""
    request: LoadRequest | SampleRequest | None = None
    otherwise: Callable[[], object] | None = None

    @property
    def name(self) -> str:
        return Path(self.path).name or self.saved.input.name


class SessionFiles(QObject):
    """Opens one session at a time; the newest wins, and until its input has arrived nothing changes. Opening another
    input meanwhile, or Cancel, ends it.

    `path` is the open session file, "" once another input is opened. `path_changed`: `path` has changed.
    `restored(saved)`: all choices of a session apply now, and the window should restore its view.
    `crash_found(sentence, choices)` is a question as well, about the session of a window that crashed. `placed(saved)`:
    its steps have been applied to its input as well. `message(kind, sentence, details, subject)` and
    `succeeded(subject)` are as in SessionController; `asked(sentence, choices)` is a question, whose choices map the
    label of each answer to its function, and `file_wanted(name, take)` asks for a file, with which `take(path)`
    continues.
    """

    path_changed = Signal()
    restored = Signal(object)
    placed = Signal(object)
    message = Signal(str, str, str, str)
    asked = Signal(str, object)
    crash_found = Signal(str, object)
    file_wanted = Signal(str, object)
    succeeded = Signal(str)

    def __init__(self, controller: SessionController, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controller, self._settings, self._session = controller, settings, controller.session
        self.path = ""
        last = settings.last_session
        self._unfinished = Unfinished(last.parent) if last is not None else None
        self._recovered: Path | None = None
        self.offered = Offered()
        """The parts of a window that a session may name."""
        self._opening: SessionOpening | None = None
        self._placing: tuple[SavedSession, SharedInput, LoadRequest | None] | None = None
        self._after: list[Callable[[], None]] = []
        self._running = 0
        queue = controller.queue
        controller.session_answered.connect(self._take)
        controller.cancelled.connect(self._abandon_opening)
        queue.interrupted.connect(self._abandon_opening)
        queue.ended.connect(self._ended)
        self._session.changed.connect(self._changed)

    # Saving

    def save(self, path: str, view: View) -> None:
        """Save the present session to this file, atomically. Raises InputError."""
        self._write(path, view, str(Path(path).absolute().parent))
        self._set_path(path)

    def keep_last(self, view: View) -> None:
        """Save the present session as the last one, where settings are stored. A session that cannot be saved, such as
        one with a result as its input, keeps the previous one. Raises InputError where it cannot be written."""
        last = self._settings.last_session
        if last is None or not self.can_save:
            return
        try:
            last.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{plain(last)} cannot be written ({error.strerror}).") from None
        self._write(str(last), view, "")

    def keep_unfinished(self, view: View) -> None:
        """Keep the present session in case the window crashes, where settings are stored. Raises InputError
        where it cannot be written."""
        if self._unfinished is None or not self.can_save:
            return
        self._unfinished.keep(self._text(view, ""))
        self._forget_recovered()  # this window's file contains it now

    def _forget_recovered(self) -> None:
        if self._recovered is not None:
            self._forget(self._recovered)
            self._recovered = None

    def end(self) -> None:
        """Remove the crash file: the window closes normally, and the last session has its content."""
        if self._unfinished is not None:
            self._unfinished.end()
            self._forget_recovered()

    @property
    def can_save(self) -> bool:
        """Whether the present input can be opened again."""
        try:
            saved_of(self._session, View())
        except KernelscopeError:
            return False
        return True

    def _write(self, path: str, view: View, folder: str) -> None:
        text = self._text(view, folder)
        with replacing(path) as file:
            file.write(text.encode())

    def _text(self, view: View, folder: str) -> str:
        return session_text(self.present(view), folder)

    def present(self, view: View) -> SavedSession:
        """The present session, which `show` opens again. Raises InputError where its input cannot be opened again."""
        opened = self._controller.inputs.opened
        return saved_of(self._session, view, opened.path if opened is not None else "")

    # SessionOpening

    def open(self, path: str, otherwise: Callable[[], object] | None = None) -> None:
        """Open a session. If it cannot be opened, nothing changes and the reason is shown, after `otherwise` if
        given."""
        self._abandon_opening()
        self.succeeded.emit(RESTORE.subject)
        try:
            saved = read_session(path, self.offered)
        except KernelscopeError as error:
            if otherwise is not None:
                otherwise()
            self._say("error", reason_of(error, Path(path).name))
            return
        self._try(SessionOpening(path, saved, saved.input.paths, otherwise=otherwise))

    def show(self, saved: SavedSession) -> None:
        """Open a session that no file holds, such as a lesson's or a former one."""
        self.succeeded.emit(RESTORE.subject)
        self._try(SessionOpening("", saved, saved.input.paths))

    def begin(self, otherwise: Callable[[], object]) -> None:
        """At the start of the window: open the last session if it is small; else do `otherwise`, and offer the session
        with its size. Nothing large is opened unasked, and nothing at all after a crash, which the last input may have
        caused."""
        if self.ask_about_crash():
            otherwise()
            return
        last = self._settings.last_session
        if last is None or not self._settings.reopened or not last.is_file():
            otherwise()
            return
        try:
            saved = read_session(str(last), self.offered)
        except KernelscopeError as error:
            otherwise()
            self._say("warning", reason_of(error, last.name))
            return
        size = _size(saved)
        if size <= SMALL:
            self.open(str(last), otherwise)
            return
        otherwise()
        text = self.tr("The last session is of {name} ({size}). Open it again?")
        text = text.format(name=plain(saved.input.name), size=QLocale().formattedDataSize(size))
        self.asked.emit(text, {self.tr("Open the last session"): lambda: self.open(str(last))})

    def ask_about_crash(self) -> bool:
        """Offer the newest session of a window that crashed. Returns whether there is one."""
        left = self._unfinished.left() if self._unfinished is not None else []
        for file in left:
            try:
                saved = read_session(str(file), self.offered)
            except KernelscopeError as error:
                self._say("warning", reason_of(error, file.name))
                self._forget(file)
                continue
            text = self.tr("Kernelscope ended without being closed. Its session of {name}, saved on {time}, is kept.")
            time = QLocale().toString(QFileInfo(str(file)).lastModified(), QLocale.FormatType.ShortFormat)
            choices = {
                self.tr("Open this session"): partial(self.open, str(file)),
                self.tr("Delete it"): partial(self._forget, file),
            }
            self.crash_found.emit(text.format(name=plain(saved.input.name), time=time), choices)
            return True
        return False

    def _forget(self, file: Path) -> None:
        file.unlink(missing_ok=True)

    def open_last(self) -> None:
        """Open the last session."""
        if (last := self._settings.last_session) is not None:
            self.open(str(last))

    @property
    def has_last(self) -> bool:
        """Whether there is a last session."""
        return self._settings.last_session is not None and self._settings.last_session.is_file()

    def _try(self, opening: SessionOpening) -> None:
        """Load the input from the first path where its file exists, or ask for the file."""
        self._abandon_opening()
        input, engine = opening.saved.input, self._controller.queue.engine
        paths = tuple(path for path in opening.paths if os.path.lexists(path))
        if input.paths and not paths:
            text = self.tr(
                "{input}, which the session {name} needs, was not found at its path. Nothing is changed yet."
            )
            text = text.format(input=plain(input.name), name=plain(opening.name))
            calm = replace(opening, otherwise=None)
            self._ask(opening, text, {self.tr("Choose the file…"): lambda: self._want_file(calm)})
            return
        self._controller.queue.interrupt()
        job, options = engine.next_job(), dict(input.options)
        request = LoadRequest(job, paths[0], options) if paths else SampleRequest(job, input.sample, options)
        self._opening = replace(opening, paths=paths, request=request)
        self._running = job
        self._controller.queue.submit(RESTORE, request)

    def _want_file(self, opening: SessionOpening) -> None:
        self.file_wanted.emit(plain(opening.saved.input.name), lambda path: self._try(replace(opening, paths=(path,))))

    def _ask(self, opening: SessionOpening, text: str, choices: dict[str, Callable[[], None]]) -> None:
        """Ask the user, after opening something to look at meanwhile."""
        if opening.otherwise is not None:
            opening.otherwise()
        self.asked.emit(text, choices)

    @Slot()
    def _abandon_opening(self) -> None:
        """Forget the session that is being opened; its input is released when it arrives."""
        self._opening, self._after = None, []

    @Slot(object)
    def _take(self, answer: Loaded | Failed) -> None:
        """The engine has loaded the input of a session, or has failed to."""
        opening, wanted = self._opening, answer.job == self._running
        if isinstance(answer, Loaded) and (opening is None or not wanted):
            self._release(answer)
        elif opening is not None and wanted:
            self._opening = None
            if isinstance(answer, Loaded):
                self._take_input(opening, answer)
            else:
                self._after.append(partial(self._refuse, opening, answer.sentence, answer.details))

    def _take_input(self, opening: SessionOpening, loaded: Loaded) -> None:
        """Take the whole session, unless this is another file than the session's."""
        input, shared, found = opening.saved.input, loaded.input, str(loaded.input.origin.get("hash", ""))
        if shared.kind != input.kind:
            self._release(loaded)
            text = self.tr("{input} is {found}, and the session needs {needed}.")
            kinds = {"found": INPUT_KINDS[shared.kind].title, "needed": INPUT_KINDS[input.kind].title}
            self._after.append(partial(self._refuse, opening, text.format(input=plain(shared.name), **kinds)))
        elif input.hash and found not in (input.hash, opening.accepted):
            self._release(loaded)
            self._after.append(partial(self._other_file, opening, found))
        else:
            self._restore(opening, loaded)

    def _release(self, loaded: Loaded) -> None:
        for segment in loaded.input.segments:
            self._controller.queue.engine.release(segment)

    def _refuse(self, opening: SessionOpening, reason: str, details: str = "") -> None:
        """Show why the session is not opened."""
        if opening.otherwise is not None:
            opening.otherwise()
        self.message.emit("error", reason_of(InputError(reason), opening.name), details, RESTORE.subject)

    def _other_file(self, opening: SessionOpening, found: str) -> None:
        """The file at this path is another one: try the next path, or let the user accept it."""
        if len(opening.paths) > 1:
            self._try(replace(opening, paths=opening.paths[1:]))
            return
        name, calm = plain(opening.name), replace(opening, otherwise=None)
        text = self.tr("{path} has changed since the session {name} was saved. Nothing is changed yet.")
        choices = {
            self.tr("Use it anyway"): lambda: self._try(replace(calm, accepted=found)),
            self.tr("Choose another file…"): lambda: self._want_file(calm),
        }
        self._ask(opening, text.format(path=plain(opening.paths[0]), name=name), choices)

    def _restore(self, opening: SessionOpening, loaded: Loaded) -> None:
        saved, request = opening.saved, opening.request
        device = self._device(saved.device)
        opened = request if isinstance(request, LoadRequest) else None
        self._controller.inputs.restore(loaded, opened, saved, device)
        recovered = self._unfinished is not None and self._unfinished.is_one(opening.path)
        self._recovered = Path(opening.path) if recovered else None
        self._set_path("" if recovered or Path(opening.path) == self._settings.last_session else opening.path)
        self._placing = saved, loaded.input, opened
        self.restored.emit(saved)
        self._place()

    def _device(self, wanted: str) -> str:
        """The device that runs kernels: the session's if it exists here, else the present one, with a message."""
        present, here = self._session.device, self._session.devices
        if not wanted or wanted in here or (is_simulated(wanted) and "sim" in here):
            return wanted
        text = self.tr("The session ran kernels on {wanted}, which is not here; they run on {present} now.")
        nowhere = self.tr("The session ran kernels on {wanted}, which is not here; only variants of the CPU run.")
        self.say((text if present else nowhere).format(wanted=wanted, present=present))
        return present

    # After the input

    @Slot()
    def _place(self) -> None:
        """After the input's steps, restore the coordinates that refer to it."""
        if self._placing is None or self._session.lacks_steps:
            return
        (saved, original, opened), self._placing = self._placing, None
        if self._session.original is original or (opened is not None and self._controller.inputs.opened is opened):
            self.placed.emit(saved)  # else another input follows; it may be another frame of the same stack

    @Slot(object)
    def _changed(self, change: Change) -> None:
        if change.opened:  # messages about the previous input no longer apply
            self._placing = None
            self._set_path("")
        elif change.stepped or change.steps:
            self._place()

    def _set_path(self, path: str) -> None:
        if path != self.path:
            self.path = path
            self.path_changed.emit()

    @Slot(int, object, bool)
    def _ended(self, job: int, kind: JobKind, cancelled: bool) -> None:
        """The input has loaded, or not: show the collected sentences."""
        if job != self._running:
            return
        after, self._after, self._running = self._after, [], 0
        self._opening = None
        for act in after:
            act()

    def say(self, sentence: str) -> None:
        """Show, once the input has arrived, a part of the session that could not be restored."""
        if self._running:
            self._after.append(lambda: self._say("warning", sentence))
        else:
            self._say("warning", sentence)

    def _say(self, kind: str, sentence: str) -> None:
        self.message.emit(kind, sentence, "", RESTORE.subject)


def _size(saved: SavedSession) -> int:
    """Bytes that opening a session's input reads or generates; 0 where its file is gone."""
    sizes = [os.path.getsize(path) for path in saved.input.paths if os.path.isfile(path)]
    return max(saved.input.nbytes, *sizes[:1], 0)

"""Sets the session's input: its steps, results used as input, and the release of their memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.base.worker import Engine
from app.controllers.queue import RunQueue
from app.models.experiment.job_kind import LOAD, STEPS
from app.models.experiment.session import Session
from app.models.experiment.steps import title_with_steps
from app.models.files.session_file import SavedSession
from app.models.results.origin import Origin
from gpu_ops import active_steps, find_step
from gpu_ops.engine.messages import Failed, Loaded, LoadRequest, ResultRequest, Stepped
from gpu_ops.engine.shared import SharedInput, SharedResult
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io.opening import NOTE, notes_in
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.types import Facts


class Inputs(QObject):
    """Passes loaded and stepped inputs from the engine to the session, and releases memory that is no longer needed.

    `message(kind, sentence, details, subject)` carries what the user must know.
    """

    message = Signal(str, str, str, str)

    def __init__(self, engine: Engine, session: Session, queue: RunQueue, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._session, self._queue = engine, session, queue
        self._opened: LoadRequest | None = None
        self._asked: ResultRequest | LoadRequest | None = None
        self._title = ""
        self._segments: set[str] = set()
        self._shown: tuple[str, ...] = ()
        self._own: tuple[str, ...] = ()
        self._next: tuple[str, ...] = ()

    @property
    def opened(self) -> LoadRequest | None:
        """How the present input was opened, if it is a file."""
        return None if self._session.derived else self._opened

    # Answers of the engine

    def take_loaded(self, loaded: Loaded, opened: LoadRequest | None) -> None:
        """Take another input: a file that was `opened` with these options, a sample or a result."""
        asked, self._asked = self._asked, None
        if asked is not None and asked.job == loaded.job:
            input = loaded.input
            if isinstance(asked, LoadRequest):  # its file is gone soon
                origin = {"array": self._title, "hash": input.origin.get("hash", "")}
                input = replace(input, name=self._title, origin=origin)
            self._session.replace_input(input)
        else:
            self._opened, before = opened, self._session.steps
            self._session.set_input(loaded.input)
            if not self._session.steps and any(not find_step(step["step"]).noise for step in active_steps(before)):
                self._say_dropped(loaded.input)
            self._say_notes(loaded.input)

    def restore(self, loaded: Loaded, opened: LoadRequest | None, saved: SavedSession, device: str) -> None:
        """Take the input of a session together with all its choices; kernels run on `device`."""
        self._asked, self._opened = None, opened
        self._session.restore(loaded.input, saved.choice, device, saved.baseline, saved.output)
        self._say_notes(loaded.input)

    def _say_notes(self, shared: SharedInput) -> None:
        """Show the reader's notes about the file."""
        if notes := notes_in(shared.origin):
            self.message.emit("info", f"{shared.name}: {'; '.join(notes)}.", "", NOTE)

    def take_stepped(self, stepped: Stepped) -> None:
        """Take the input after its steps, unless another input or a request for no steps has arrived meanwhile."""
        asked, session = self._queue.steps_request, self._session
        wanted = asked is not None and asked.job == stepped.job and asked.input is session.original
        if not wanted or asked is None or not session.lacks_steps:
            self._release(stepped.segments)
        else:
            self._next = stepped.segments
            session.set_stepped(stepped.input, asked.steps)

    def fail(self, failed: Failed) -> str:
        """The steps cannot be applied: return to those of the input. Returns the sentence to show."""
        inherited = self._session.inherited
        self._session.take_back_steps()
        if not inherited:
            return failed.sentence
        return self.tr("{reason} The steps of the previous input are left out.").format(reason=failed.sentence)

    # Memory

    def replaced(self, shared: SharedInput) -> None:
        """Another input is shown: release the previous one, unless undo can restore it."""
        self._release(self._own)
        self._own, self._shown = (), shared.segments
        self._segments |= set(shared.segments)
        self.tidy()

    def tidy(self) -> None:
        """Release the originals that are neither shown nor kept by the session."""
        needed = {segment for original in self._session.originals for segment in original.segments} | {*self._shown}
        self._release(tuple(self._segments - needed))
        self._segments &= needed

    def keep_frame(self, shared: SharedInput) -> None:
        """Another frame of the stack has arrived; the previous one may still be shown."""
        self._segments |= set(shared.segments)

    def stepped(self) -> None:
        """The input after other steps is shown, or another frame of it."""
        self._release(self._own)
        self._own, self._next = self._next, ()
        self._shown = self._session.original.segments if self._session.original is not None else ()
        self.tidy()

    def _release(self, segments: tuple[str, ...]) -> None:
        for segment in segments:
            self._engine.release(segment)

    # A result as the input

    def use_result(self, variant: str, name: str, result: SharedResult, made: Origin) -> None:
        """Make a variant's output `name` the input."""
        input, subject = self._session.input, made.subject
        assert input is not None
        if subject != self._session.shown.subject(variant) or subject is None:
            text = self.tr("The result is of an earlier setting; wait for the new one, or run it again.")
            self.message.emit("warning", text, "", "open")
            return
        if result.kind not in {kind.view for kind in INPUT_KINDS.values() if kind.sample}:
            text = self.tr("This result is neither an image nor a signal; choose an output that is one.")
            self.message.emit("warning", text, "", "open")
            return
        key, origin = subject.key, dict(input.origin)
        how: dict[str, Any] = {"result": key.filter, "output": name, "variant": key.variant, "device": key.device}
        how |= {"params": dict(key.params), "knobs": dict(key.knobs)}
        how |= {"start": list(made.start), "part": list(map(list, made.part))} if made.start else {}
        how |= {"edits": key.edits} if key.edits else {}
        title = self.tr("{filter} of a part of {input}") if made.start else self.tr("{filter} of {input}")
        title = title.format(filter=key.filter, input=title_with_steps(input))
        rate = input.rate if OUTPUT_KINDS[result.kind].heard else None
        how |= {} if rate is None else {"rate": rate}
        whole = result.array.shape[:2] == input.array.shape[:2]
        facts = replace(input.facts, frames=1) if whole else Facts()
        self._queue.interrupt()
        self._asked = ResultRequest(self._engine.next_job(), result, title, {**how, "of": origin}, rate, facts)
        self._queue.submit(LOAD, self._asked)

    def use_array(self, path: str, title: str) -> None:
        """Make the array in an NPY file the input, as a result is: the file may be removed afterwards."""
        self._queue.interrupt()
        self._title, self._asked = title, LoadRequest(self._engine.next_job(), path, {"nonfinite": "keep"})
        self._queue.submit(LOAD, self._asked)

    def back(self) -> None:
        """Restore the input that a result replaced, with its steps."""
        if self._session.derived:
            self._queue.interrupt()
            self._session.go_back()

    def _say_dropped(self, shared: Any) -> None:
        kind = INPUT_KINDS[shared.kind].title
        text = self.tr("The steps of the previous input are left out, because they do not suit {kind}.")
        self.message.emit("info", text.format(kind=kind), "", STEPS.subject)

"""Frames of a stack: stepping, playing and projecting them, and running a filter over all of them."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from app.controllers.live.frame_loop import FrameLoop
from app.controllers.session import SessionController
from app.models.experiment.change import Change
from app.models.experiment.job_kind import FRAME, FRAMES, JobKind
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.messages import FramesRequest, LoadRequest
from gpu_ops.types import Pick

POLL_MS = 10
"""How often playback checks whether the next frame is due."""
USUAL_RATE = 10
NEARLY = 1e-6
"""A frame that is due within this share of the frame interval counts as due now, because clocks round."""
PROJECTIONS = ("none", "max", "mean")


class FrameController(FrameLoop):
    """The requested frame of the present stack, `frame` of `count` counted from 0, and the `projection` of all frames;
    both are those of the last request, else of the input.

    One frame is loaded at a time. Of several requests meanwhile only the newest is kept, so that no queue grows. While
    `playing`, the next frame is the one that is due when the last one is on the screen with its results: frames that
    come too fast are skipped, and `real_rate` is the number of frames shown per second. Results are verified only for
    the frame where playback stops.
    """

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        super().__init__(controller, parent)
        self.count, self.frame, self.projection = 1, 0, "none"
        self.rate, self.loop = USUAL_RATE, True
        self._wanted: tuple[int, str] | None = None
        self._job, self._arrived = 0, False
        self._parts: dict[int, Path] = {}
        self._began = 0.0
        self._first = 0
        self._timer = QTimer(self, interval=POLL_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        controller.frame_loaded.connect(self._take)
        controller.cancelled.connect(self._cancelled)
        controller.queue.ended.connect(self._ended)
        self._session.changed.connect(self._start_over)

    @property
    def of_stack(self) -> bool:
        """Whether the input is a frame or a projection of a stack."""
        original = self._session.original
        return original is not None and original.facts.frames > 1

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    @property
    def unverified(self) -> bool:
        """Whether results come too fast to be compared with the reference."""
        return self.playing and bool(self._session.choice.picks)

    @property
    def real_rate(self) -> float:
        """Frames per second that were shown lately; 0 while nothing plays or too few were shown."""
        return self._rate if self.playing else 0.0

    # User actions

    def go(self, frame: int) -> None:
        """Show a frame, or the nearest there is; while playing, go on from there."""
        frame = min(max(frame, 0), self.count - 1)
        self._begin_at(frame)
        self._ask(frame, "none")

    def step(self, frames: int) -> None:
        """Show the frame that is so many frames further on."""
        self.go(self.frame + frames)

    def project(self, way: str) -> None:
        """Show one of PROJECTIONS; "none" returns to the last single frame."""
        self.stop()
        self._ask(self.frame, way)

    def toggle(self) -> None:
        """Play or stop; from the start if the last frame is shown."""
        if self.playing:
            self.stop()
        elif self.count > 1:
            self._begin_at(0 if self.frame == self.count - 1 else self.frame)
            self._shown.clear()
            self._timer.start()
            self._queue.playing = True
            self.changed.emit()

    def stop(self) -> None:
        """Stop playing; the frame being loaded is still shown, and the last results are verified."""
        if self._halt() and not self._job:
            self._controller.run_live()
            self._queue.rest()

    @Slot()
    def _cancelled(self) -> None:
        """The user has cancelled everything that runs."""
        self._halt()

    def _halt(self) -> bool:
        """Stop playing. Returns whether it was playing."""
        self._wanted, played = None, self.playing
        if played:
            self._timer.stop()
            self._queue.playing = False
            self.changed.emit()
        return played

    def set_rate(self, rate: int) -> None:
        """Play so many frames per second."""
        self.rate = rate
        self._begin_at(self.frame)

    def set_loop(self, loop: bool) -> None:
        """Say whether the first frame follows the last one."""
        self.loop = loop
        self._begin_at(self.frame)

    def pick(self) -> Pick | None:
        """The last ticked variant that runs whole frames: one on a simulated GPU takes too long for that."""
        session = self._session
        picks = [session.shown.pick(v.id) for v in session.filter.all_variants if v.id in session.choice.picks]
        return next((p for p in reversed(picks) if not is_simulated(p.device)), None)

    def run_all(self, path: str) -> None:
        """Run the filter over all frames with `pick` and write its present output to an NPY or TIFF file."""
        input, pick, engine = self._session.input, self.pick(), self._queue.engine
        if input is None or pick is None:
            return
        self.stop()
        job, token, choice = engine.next_job(), secrets.token_hex(8), self._session.choice
        params, output = dict(self._session.params), self._session.output.id
        request = FramesRequest(job, input, choice.filter, params, pick, output, path, token)
        self._parts[job] = request.part
        self._queue.submit(replace(FRAMES, subject=f"{FRAMES.subject}/{path}"), request)

    # Loading

    def _ask(self, frame: int, way: str) -> None:
        """Load this frame now, or once the present load has ended."""
        opened = self._controller.inputs.opened
        if opened is None or self._opening_another():
            return
        self._wanted = frame, way
        self.frame, self.projection = frame, way
        if not self._job:
            self._load()
        self.changed.emit()

    def _opening_another(self) -> bool:
        """Whether the user has opened another input that has not arrived yet."""
        return any(kind.id == "load" for kind in self._queue.jobs.values())

    def _load(self) -> None:
        opened, wanted = self._controller.inputs.opened, self._wanted
        self._wanted = None
        if opened is None or wanted is None or wanted == self._present():
            return
        frame, way = wanted
        options = {key: value for key, value in opened.options.items() if key not in ("frame", "project")}
        options |= {"frame": frame} if way == "none" else {"frame": frame, "project": way}
        request = LoadRequest(self._queue.engine.next_job(), opened.path, options)
        self._controller.loading, self._job, self._arrived = request, request.job, False
        self._queue.stop_for_frame()
        self._queue.submit(FRAME, request)

    def _present(self) -> tuple[int, str]:
        """The frame and the projection of the input."""
        original = self._session.original
        choices = {} if original is None else original.origin.get("choices", {})
        return int(choices.get("frame", 0)), str(choices.get("project", "none"))

    @Slot(object)
    def _take(self, shared: Any) -> None:
        """Take a loaded frame, unless another input has arrived meanwhile; a file that has changed since is a new
        input."""
        self._arrived = True
        original = self._session.original
        if original is None or original.origin.get("path") != shared.origin["path"]:
            for segment in shared.segments:
                self._queue.engine.release(segment)
        elif original.origin.get("hash") != shared.origin["hash"] or original.facts.frames != shared.facts.frames:
            self._session.set_input(shared)
            text = self.tr("{name} was written by another program meanwhile; it was opened again.")
            self.message.emit("info", text.format(name=shared.name), "", "frames")
        else:
            self._controller.inputs.keep_frame(shared)
            self._session.set_frame(shared)
            self._note_shown()
            self._controller.run_live()

    @Slot(int, object, bool)
    def _ended(self, job: int, kind: JobKind, cancelled: bool) -> None:
        if kind.id == FRAMES.id:
            with suppress(OSError):  # the file is left only where the engine was ended while writing
                self._parts.pop(job).unlink()
            return
        if job != self._job:
            return
        arrived, self._job = self._arrived, 0
        if self._wanted is not None:
            self._load()
        if not (self._job or arrived):
            self._settle()
            if not cancelled:  # loading failed: the runs on the frame that stays were stopped
                self._controller.run_live()

    def _settle(self) -> None:
        """Reset the requested frame to that of the input."""
        self._halt()
        self.frame, self.projection = self._present()
        self.changed.emit()

    @Slot(object)
    def _start_over(self, change: Change) -> None:
        """Drop the requests for the stack before: there is another input."""
        shared = change.after.input
        if not change.opened or shared is None:
            return
        self.count, played = shared.facts.frames if self._controller.inputs.opened is not None else 1, self.playing
        self._settle()
        if played:  # its run was started as that of the next frame of the stack
            self._controller.run_live()

    # Playing

    def _begin_at(self, frame: int) -> None:
        self._first, self._began = frame, self._clock()

    def _note_shown(self) -> None:
        self._count_shown()
        if self.playing:
            self.changed.emit()

    @Slot()
    def _tick(self) -> None:
        """Request the frame that is due, once the last one is shown."""
        if self._job or not self._queue.takes_frame:
            return
        due = self._first + int((self._clock() - self._began) * self.rate + NEARLY)
        frame = due if due < self.count else due % self.count if self.loop else self.count - 1
        if frame != self.frame or self.projection != "none":
            self._ask(frame, "none")
        elif due >= self.count and not self.loop:
            self.stop()

"""Live input: each newest frame of a camera, a video, a microphone or the screen, with the results of all variants."""

from __future__ import annotations

import statistics
from collections import deque
from typing import Any, Literal

from PySide6.QtCore import QObject, QRect, QTimer, Slot

from app.controllers.live.frame_loop import FrameLoop
from app.controllers.live.screen import grab
from app.controllers.session import SessionController
from app.models.experiment.change import Change
from app.models.experiment.job_kind import LIVE_FRAME, LIVE_REST, MEASURE, SWEEP, JobKind
from gpu_ops.engine.live.messages import LiveFrame, LiveRequest
from gpu_ops.engine.messages import Loaded
from gpu_ops.engine.shared import SharedArray, SharedInput
from gpu_ops.errors import KernelscopeError
from gpu_ops.io.live.source import LiveSource

FRAMES = 15
"""Frames whose median is the time of one."""
State = Literal["off", "running", "held"]


class LiveController(FrameLoop):
    """One `source` at a time, which is "off", "running" or "held".

    One frame is at work at a time: the next is requested once all its results are shown, and is the newest then, so
    that nothing waits in a line. `dropped` counts the frames of the source that were left out since it runs. Results
    are verified and timed once the frames are held: the present one is an ordinary input then, and the device is read
    no more until they go on. What has the machine for itself, such as Measure, holds them; another input stops them.
    """

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        super().__init__(controller, parent)
        self._engine = controller.queue.engine
        self.source = LiveSource("camera", "0")
        self.region = QRect()
        self.state: State = "off"
        self._setting = False
        self._own: SharedInput | None = None
        self._reset()
        self._due = QTimer(self, singleShot=True)
        self._due.timeout.connect(self._tick)
        self._engine.answered.connect(self._take)
        self._queue.ended.connect(self._ended)
        self._queue.began.connect(self._began)
        self._queue.interrupted.connect(self._replaced)
        controller.cancelled.connect(self._replaced)
        self._session.changed.connect(self._changed)

    def _reset(self) -> None:
        self._job, self._number, self.dropped = 0, -1, 0
        self.rate = self._asked = self._waited = 0.0
        self._arrived = self._counted = self._played = False
        self._costs: deque[float] = deque(maxlen=FRAMES)
        self._shown.clear()

    @property
    def cost(self) -> float:
        """Seconds that a frame takes from its request until all its results are shown, without the time until the
        source had it: the median of the last frames, 0 before the first."""
        return statistics.median(self._costs) if self._costs else 0.0

    @property
    def shown_rate(self) -> float:
        """Frames per second that were shown lately; 0 unless it runs and some were."""
        return self._rate if self.state == "running" else 0.0

    # User actions

    def start(self, source: LiveSource, region: QRect | None = None) -> None:
        """Show this source from now on; of a screen its `region`."""
        if self.state != "off":
            self.stop()
        self._setting = True
        self._queue.interrupt()
        self._setting = False
        self._reset()
        self.source, self.region, self._own = source, region or QRect(), None
        self.succeeded.emit(LIVE_FRAME.subject)
        self._run("running")
        self._request(0)  # what runs on the present input has been stopped

    def hold(self) -> None:
        """Keep the present frame as an ordinary input."""
        if self.state == "running":
            self._rest("held")
            self._finish()

    def go_on(self) -> None:
        """Show the newest frames again."""
        if self.state == "held":
            self._shown.clear()
            self._counted, self._asked = True, self._clock()  # the pause is not the time of a frame
            self._run("running")
            self._tick()

    def stop(self) -> None:
        """Give the device back; the last frame stays as an ordinary input."""
        if self.state != "off":
            self._rest("off")
            self._finish()

    def _run(self, state: State) -> None:
        self.state, self._queue.playing = state, state == "running"
        self.changed.emit()

    def _rest(self, state: State) -> None:
        """Nothing follows the present frame: let the device rest, or give it back."""
        self._run(state)
        self._due.stop()
        if self._job and state == "off":
            self._engine.cancel(self._job, kill=False)
        do: Literal["hold", "close"] = "hold" if state == "held" else "close"
        self._queue.submit(LIVE_REST, LiveRequest(self._engine.next_job(), self.source, do=do))

    def _finish(self) -> None:
        """Verify the results of the frame that stays, unless it is still on its way."""
        if not self._job:
            self._controller.run_live()
            self._queue.rest()

    # Other actions of the user

    @Slot()
    def _replaced(self) -> None:
        """The user cancels everything, or opens another input."""
        if self.state != "off" and not self._setting:
            self._run("off")
            self._due.stop()
            self._job = 0
            QTimer.singleShot(0, self, self._close)  # what runs now is cancelled first

    @Slot()
    def _close(self) -> None:
        if self.state == "off":
            self._rest("off")

    @Slot(object)
    def _changed(self, change: Change) -> None:
        if change.opened and not self._setting:
            self._replaced()

    @Slot()
    def _began(self) -> None:
        """Something that has the machine for itself begins on the present frame."""
        if self.state == "running" and self._exclusive:
            self._rest("held")

    @property
    def _exclusive(self) -> bool:
        return any(kind in (MEASURE, SWEEP) for kind in self._queue.jobs.values())

    # The loop

    @Slot()
    def _tick(self) -> None:
        """Request the newest frame, once all results of the last one are shown."""
        if self.state != "running" or self._job or not self._queue.takes_frame:
            return
        self._note_shown()
        left_out = 0
        if self.source.device == "screen" and self._number >= 0:
            passed = (self._clock() - self._asked) * self.source.rate
            if passed < 1:
                self._due.start(max(round((1 - passed) / self.source.rate * 1000), 1))
                return
            left_out = int(passed) - 1
        self._request(left_out)

    def _request(self, left_out: int) -> None:
        """Request the newest frame; so many of the screen were left out since the last one."""
        try:
            frame = self._grabbed() if self.source.device == "screen" else None
        except KernelscopeError as error:
            self.message.emit("error", error.sentence(), "", LIVE_FRAME.subject)
            self.stop()
            return
        request = LiveRequest(self._engine.next_job(), self.source, self._number + left_out, frame=frame)
        self._job, self._arrived, self._asked = request.job, False, self._clock()
        self._queue.stop_for_frame()
        self._queue.submit(LIVE_FRAME, request)
        if frame is not None:
            self._engine.release(frame.segment)  # the request holds it

    def _grabbed(self) -> SharedArray:
        """A picture of the region in shared memory."""
        array, pool = grab(self.region, self.source.colour), self._engine.client.pool
        shared = SharedArray(pool.take(array.nbytes), array.shape, array.dtype.name)
        pool.array(shared, writeable=True)[...] = array
        return shared

    @Slot(object)
    def _take(self, answer: Any) -> None:
        """Take a frame, unless it comes too late."""
        if not isinstance(answer, LiveFrame):
            return
        shared, mine = answer.input, answer.job == self._job
        if shared is None:
            self._arrived = True
            if mine and self.state == "running":
                self._rest("off")
                text = self.tr("{name} has ended; its last frame stays.").format(name=self.source.name)
                self.message.emit("info", text, "", LIVE_FRAME.subject)
            return
        if not mine or self.state == "off" or (self.state == "held" and self._exclusive):
            for segment in shared.segments:
                self._engine.release(segment)
            return
        self.dropped += max(answer.number - self._number - 1, 0) if self._number >= 0 else 0
        self._number, self.rate, self._waited = answer.number, answer.rate, answer.waited
        self._arrived, self._counted, self._played = True, False, self.state == "running"
        self._show(answer.job, shared)

    def _show(self, job: int, shared: SharedInput) -> None:
        """Make the frame the input, as another frame of the same input where it has its size and type."""
        before, array = self._own, shared.array
        same = before is not None and before is self._session.original and before.kind == shared.kind
        self._own, self._setting = shared, True
        if same and before is not None and (before.array.shape, before.array.dtype) == (array.shape, array.dtype):
            self._controller.inputs.keep_frame(shared)
            self._session.set_frame(shared)
            self._controller.run_live()
        else:
            self._controller.inputs.take_loaded(Loaded(job, shared), None)
            self._queue.playing = self.state == "running"  # a stack that played before has ended
        self._setting = False

    @Slot(int, object, bool)
    def _ended(self, job: int, kind: JobKind, cancelled: bool) -> None:
        if kind is LIVE_FRAME and job == self._job:
            self._job = 0
            if self.state != "running" or not self._arrived:
                if self.state == "running":  # it failed, which has been said
                    self._rest("off")
                if self._played or not self._arrived:
                    QTimer.singleShot(0, self, self._verify)
        if self.state == "running":
            QTimer.singleShot(0, self, self._tick)

    @Slot()
    def _verify(self) -> None:
        """The runs on the present frame were stopped for one that did not come, or is the last."""
        if self.state != "running" and not self._exclusive:
            self._finish()

    def _note_shown(self) -> None:
        """All results of a frame are on the screen."""
        if self._number < 0 or self._counted:
            return
        self._counted = True
        self._costs.append(max(self._count_shown() - self._asked - self._waited, 0.0))
        self.changed.emit()

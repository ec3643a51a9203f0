"""One job after the other on an engine host, waiting for each: for the command line and for scripts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from gpu_ops.engine.messages import Failed, Finished, Progress, Ready
from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray, SharedInput
from gpu_ops.engine.statistics import statistics
from gpu_ops.errors import DeviceError, DeviceLost, InputError, KernelError
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.remote.client import RemoteClient
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.news import Arrived, LinkState
from gpu_ops.types import Input

ERRORS = {"input": InputError, "kernel": KernelError, "device": DeviceError, "engine": DeviceLost}


class Talk:
    """A connection for one caller. `say(text)` hears what it does, in words.

    with Talk(Destination("user@gpu-host")) as talk:
        talk.ready().devices
    """

    def __init__(self, to: Destination, say: Callable[[str], None] = lambda text: None) -> None:
        self.pool = SegmentPool()
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._say = say
        self._numbers = itertools.count(1)
        self.client = RemoteClient(to, self._answers.put, self.pool)

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.pool.close()

    def number(self) -> int:
        """The number of a new job."""
        return next(self._numbers)

    def ready(self) -> Ready:
        """Connect. Raises DeviceError, which says what to do."""
        self.client.start()
        while True:
            answer = self._next()
            if isinstance(answer, Ready):
                return answer

    def ask(self, request: Any) -> Iterator[Any]:
        """The answers to a request. Raises the error that ends it. A caller that stops listening cancels it."""
        self.client.submit(request)
        ended = False
        try:
            while True:
                answer = self._next()
                if getattr(answer, "job", None) != request.job:
                    continue
                ended = isinstance(answer, Finished | Failed)
                if isinstance(answer, Failed):
                    raise ERRORS[answer.kind](answer.sentence)
                if ended:
                    return
                if isinstance(answer, Progress):
                    self._say(answer.text)
                else:
                    yield answer
        finally:
            if not ended:
                self.client.cancel(request.job)

    def array(self, shared: SharedArray) -> np.ndarray[Any, Any]:
        """All values of an array, wherever they are. Raises DeviceError if they never come."""
        here: SimpleQueue[bool] = SimpleQueue()
        self.client.whole(shared.segment, here.put)
        while True:
            try:
                come = here.get(timeout=0.2)
                break
            except Empty:
                self._hear_failures()
        if not come:
            raise DeviceError(f"The engine on {self.client.label} has lost this result; run it again.")
        return self.pool.array(shared)

    def share(self, input: Input) -> SharedInput:
        """An input in a segment, which requests may name."""
        view = OUTPUT_KINDS[INPUT_KINDS[input.kind].view]
        figures = view.figures(input.array)
        array = self._copied(input.array)
        clean = None if input.clean is None else self._copied(input.clean)
        meta = (input.axes, input.name, input.origin, input.rate, input.finite)
        summary = statistics(input.array if figures is None else figures)
        return SharedInput(input.kind, array, *meta, summary, clean, input.facts)

    def _copied(self, array: np.ndarray[Any, Any]) -> SharedArray:
        shared = SharedArray(self.pool.take(array.nbytes), array.shape, array.dtype.name)
        np.copyto(self.pool.array(shared, writeable=True), array)
        return shared

    def _next(self) -> Any:
        answer = self._answers.get()
        self._look_at(answer)
        return answer

    def _hear_failures(self) -> None:
        kept = []
        while True:
            try:
                answer = self._answers.get_nowait()
            except Empty:
                break
            self._look_at(answer)
            kept += [] if isinstance(answer, LinkState | Arrived) else [answer]
        for answer in kept:
            self._answers.put(answer)

    def _look_at(self, answer: Any) -> None:
        if isinstance(answer, LinkState):
            if answer.stage == "failed":
                raise DeviceError(answer.sentence)
            words = f"{answer.host}: {STAGES.get(answer.stage, answer.stage)}"
            self._say(". ".join(filter(None, (words, answer.sentence))))


STAGES = {"connecting": "connecting", "ready": "connected", "lost": "the connection was lost; connecting again"}

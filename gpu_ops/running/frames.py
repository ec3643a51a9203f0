"""A variant over many inputs of one form, such as the frames of a stack: the upload of one, the kernels of another and
the download of a third overlap. The host reads one into pinned memory and takes the results of another meanwhile."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gpu_ops.devices import open_device
from gpu_ops.errors import DeviceMemoryError, KernelError, ParamError, PinnedMemoryError
from gpu_ops.filters.kit.bands import Band
from gpu_ops.filters.kit.pipeline import STREAMS, Chunk, chunks_of, depth_first
from gpu_ops.filters.kit.staging import FromBuffers, HostWork, ToBuffers, copied
from gpu_ops.params import Values
from gpu_ops.plan import Device, DeviceArray, HostTask, Plan
from gpu_ops.progress import Cancelled, quiet, stop_request
from gpu_ops.running.attempt import FOR_ALL, reason_of
from gpu_ops.running.chunked import steps_of
from gpu_ops.running.declared import make_plan, mistakes
from gpu_ops.running.suitable import check_input
from gpu_ops.running.verify import full_meta
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Input, Pick

Array = np.ndarray[Any, Any]
IN_A_PLAN = 64
"""Frames of one plan: between two plans the streams run empty."""


class _Unlike(Exception):
    """A frame, of this number, for which the present plan is not made."""


@dataclass
class Frames:
    """One variant, with all its knobs in `pick`, on frames. `read(k)` gives a frame, and `take(k, rows, outputs)` gets
    the arrays of its results, which are overwritten after the call, and how many rows the frame has. `alone(k, frame)`
    runs one for which a device has no memory while others run. `name(k)` names one in messages. `report(k)` comes
    before one is read."""

    filter: Filter
    pick: Pick
    params: Values
    read: Callable[[int], Input]
    take: Callable[[int, int, Mapping[str, Array]], None]
    alone: Callable[[int, Input], Mapping[str, Array]]
    name: Callable[[int], str] = str
    report: Callable[[int], object] = lambda frame: None
    slots: int = field(default=STREAMS, init=False)
    taken: int = field(default=0, init=False)
    _ahead: tuple[int, Input] | None = field(default=None, init=False)
    _of_host: Exception | None = field(default=None, init=False)

    def run(self, start: int, stop: int) -> None:
        """Run the frames from `start` to `stop` - 1, in their order. Raises what `read`, `take` and `report` raise,
        KernelError that names the frame where the variant fails, PinnedMemoryError, Cancelled."""
        device, self.taken = open_device(self.pick.device), start
        self.slots = 1 if device.kind == "cpu" else STREAMS
        self._context, self._stop = contextvars.copy_context(), stop_request()
        while self.taken < stop:
            before = self.taken
            try:
                with quiet():
                    _Alike(self, device, before, stop).run()
            except (PinnedMemoryError, ParamError, *FOR_ALL):
                raise
            except DeviceMemoryError:
                if self.slots > 1:
                    self.slots -= 1
                elif self.taken == before:
                    input = self.get(before)
                    self.done(before, len(input.array), self.alone(before, input))
            except Exception as error:
                if error is self._of_host:
                    raise
                variant = self.filter.variant(self.pick.variant)
                raise KernelError(f"{self.name(self.taken)} fails: {reason_of(variant, error)}") from None

    def get(self, frame: int) -> Input:
        """A frame; the last one that was read is kept until another is asked for."""
        if self._ahead is None or self._ahead[0] != frame:
            self._ahead = None  # it may be large
            self._context.run(self.report, frame)
            if self._stop is not None and self._stop():
                raise Cancelled
            self._ahead = frame, self.read(frame)
        return self._ahead[1]

    def done(self, frame: int, rows: int, outputs: Mapping[str, Array]) -> None:
        """The results of a frame with so many rows are there."""
        self.take(frame, rows, outputs)
        self.taken = frame + 1

    def on_host(self, call: Callable[[Chunk, Any], None]) -> Callable[[Chunk, Any], None]:
        """The function of a host task, whose failures are none of the variant's."""

        def calling(chunk: Chunk, arrays: Any) -> None:
            try:
                call(chunk, arrays)
            except Exception as error:
                self._of_host = error
                raise

        return calling


class _Alike:
    """Frames that one plan suits, from `start` on, as many as there are before `stop`."""

    def __init__(self, frames: Frames, device: Device, start: int, stop: int) -> None:
        self._frames, self._device, self._start, self._stop = frames, device, start, stop
        filter, variant = frames.filter, frames.filter.variant(frames.pick.variant)
        first = frames.get(start)
        self._task = Task.of(full_meta(first), frames.params, frames.pick.knobs, device.limits)
        check_input(filter, first, frames.params)
        with mistakes(filter, variant):
            reason = variant.refusal(self._task)
            most = variant.largest(self._task) if self._task.dtype.kind == "f" and variant.largest else None
        if reason:
            raise KernelError(reason)
        self._most = np.inf if most is None else most
        self._by_range = self._task.dtype.kind == "f" and filter.locality.extremes(self._task)
        most_frames = 1 if self._by_range else IN_A_PLAN  # the range of another frame is another one
        rows, count = self._task.meta.shape[0], min(stop - start, most_frames)
        self._chunks = chunks_of([Band(0, rows, 0, rows)] * count, frames.slots, self._make, is_cut=False)
        self._source = FromBuffers(device, self._chunks, HostWork(frames.on_host(self._fill)))
        self._sink = ToBuffers(device, self._chunks, HostWork(frames.on_host(self._done)))

    def _make(self, rows: int) -> tuple[DeviceArray, Plan]:
        frames, edits = self._frames, self._frames.pick.edits
        session = self._device.session(edits, "off")
        x = session.empty(self._task.meta.shape, self._task.dtype)
        variant = frames.filter.variant(frames.pick.variant)
        return x, make_plan(frames.filter, variant, session, self._task.on(x), edits)

    def run(self) -> None:
        """Run them, and take their results."""
        session = self._device.session({}, "off")
        while self._start < self._stop:
            chunks = self._chunks[: self._stop - self._start]
            try:
                session.execute(Plan(tuple(depth_first(chunks, self._source, self._sink, steps_of)), {}))
            except _Unlike as unlike:
                self._take_rest(unlike.args[0])
                return
            self._start += len(chunks)

    def _take_rest(self, stop: int) -> None:
        """Take the results of frames before `stop` that have ended and were not taken yet."""
        for frame in range(self._frames.taken, stop):
            for step in self._sink.take(self._chunks[frame - self._start]):
                assert isinstance(step, HostTask)
                step.function(*step.args)

    def _fill(self, chunk: Chunk, rows: Array) -> None:
        frame = self._start + chunk.number - 1
        input = self._frames.get(frame)
        if not self._suits(full_meta(input)):
            raise _Unlike(frame)
        copied([(rows, input.array)])

    def _suits(self, meta: Meta) -> bool:
        """Whether the plan is one for such a frame."""
        planned = self._task.meta
        same = planned
        if not self._by_range:
            same = replace(planned, largest=meta.largest, low=meta.low, high=meta.high)
        return meta == same and meta.largest <= self._most

    def _done(self, chunk: Chunk, arrays: Mapping[str, Array]) -> None:
        self._frames.done(self._start + chunk.number - 1, len(chunk.x), arrays)

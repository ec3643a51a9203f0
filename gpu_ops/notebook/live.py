"""A filter on an input that runs anew whenever a parameter changes; the latest values win. No widgets."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from gpu_ops.device_names import is_simulated
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.about import segments_of_answer
from gpu_ops.engine.messages import Answer, Failed, Finished, Progress, Ready, RunRequest, RunUpdate
from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray, SharedInput, SharedResult
from gpu_ops.engine.statistics import statistics
from gpu_ops.errors import ParamError, plain
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.notebook.shared_engine import acquire, release
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.params import Value, check_values
from gpu_ops.report.rows import Row
from gpu_ops.running.runner import runs_on
from gpu_ops.running.suitable import check_input
from gpu_ops.types import Filter, Input, Pick

Array = np.ndarray[Any, Any]
PATIENCE = 0.4
"""Seconds in which a run may still show its first results before a newer one stops it: so pictures follow a drag."""


class Result:
    """The outputs of a variant, where they begin in the input if they are of a part, and the newest row."""

    def __init__(self, update: RunUpdate) -> None:
        self.row: Row = update.row
        self.outputs: Mapping[str, SharedResult] = update.outputs
        self.place = update.place

    @property
    def segments(self) -> list[str]:
        return [output.array.segment for output in self.outputs.values()]


class Live:
    """The runs of a filter's variants on an input, in an engine process. `notify` is called in another thread whenever
    there is news; `settle`, in the caller's thread, takes it in. Raises ParamError and InputError for what the filter
    does not take."""

    def __init__(
        self,
        filter: Filter,
        input: Input,
        params: Mapping[str, Any],
        variants: Sequence[str],
        device: str | None,
        notify: Callable[[], None],
    ) -> None:
        self.filter, self.values = filter, check_values(filter.params, params, filter.id)
        check_input(filter, input, self.values)
        self.variants, self.device, self._notify = [filter.variant(id).id for id in variants], device, notify
        self.results: dict[str, Result] = {}
        self.devices: tuple[DeviceStatus, ...] = ()
        self.status, self.fault, self.open = "starting the engine", "", True
        self._news: SimpleQueue[Answer] = SimpleQueue()
        self._job, self._generation, self._begun, self._anew = 0, 0, 0.0, False
        self._unseen: set[str] = set()
        self._listener = self._hear  # one object, by which the engine knows who listens
        self._engine = acquire(self._listener)
        try:
            self.input = share(self._engine.pool, input)
        except BaseException:
            release(self._engine, self._listener)
            raise

    # ---------------------------------------------------------------- what the caller does

    @property
    def busy(self) -> bool:
        """Whether results of the present values are still to come."""
        return self.open and not self.fault and (not self.devices or bool(self._job))

    def set(self, values: Mapping[str, Any] | None = None, variants: Sequence[str] | None = None) -> None:
        """Run with other values or variants; what runs now is stopped for it. Raises ParamError."""
        checked = self.values if values is None else check_values(self.filter.params, values, self.filter.id)
        ids = self.variants if variants is None else [self.filter.variant(id).id for id in variants]
        if (checked, ids) == (self.values, self.variants) and not self.fault:
            return
        self.values, self.variants, self.fault = checked, ids, ""
        for id in [id for id in self.results if id not in ids]:
            self._drop(id)
        self._engine.client.start()  # again, if it could not
        self._run()

    def settle(self) -> bool:
        """Take in what the engine has said. Returns whether there was anything."""
        found = False
        while self.open:
            try:
                answer = self._news.get_nowait()
            except Empty:
                break
            found = True
            self._take(answer)
        return found

    def wait(self, seconds: float) -> None:
        """Settle until the results are complete, for so many seconds at most."""
        until = time.monotonic() + seconds
        while self.busy and (left := until - time.monotonic()) > 0:
            try:
                self._take(self._news.get(timeout=min(left, 0.1)))
            except Empty:
                self.hurry()

    def hurry(self) -> None:
        """Stop a run that a newer one waits for, if its first results have come or its time is over."""
        if self._anew and self._job and (not self._unseen or time.monotonic() - self._begun >= PATIENCE):
            self._engine.client.cancel(self._job, kill=False)

    def array(self, shared: SharedArray) -> Array:
        """The samples of the input or of a result, until the next result takes its place."""
        return self._engine.pool.array(shared)

    def close(self) -> None:
        """Free the memory of the results, and the engine where no other view uses it. A second call does nothing."""
        if not self.open:
            return
        if self._job:
            self._engine.client.cancel(self._job, kill=False)
        while not self._news.empty():
            self._release(self._news.get())
        for id in list(self.results):
            self._drop(id)
        self.open, self.status = False, ""
        for name in self.input.segments:
            self._engine.pool.release(name)
        release(self._engine, self._listener)

    # ---------------------------------------------------------------- what the engine says

    def _hear(self, answer: Answer) -> None:
        """Called in the client's thread."""
        self._news.put(answer)
        self._notify()

    def _take(self, answer: Answer) -> None:
        current = getattr(answer, "job", 0) == self._job
        match answer:
            case Ready():
                if not self.devices:
                    self.devices = answer.devices
                    self._run()
            case RunUpdate() if current and answer.row.variant in self.variants:
                self._take_result(answer)
            case Progress() if current:
                self.status = answer.text
            case Failed() if current or answer.job == 0:
                self._job, self.status = 0, ""
                self.fault = "" if self._anew else plain(answer.sentence)
                self._go_on()
            case Finished() if current:
                self._job, self.status = 0, ""
                self._go_on()
            case _:
                self._release(answer)

    def _take_result(self, update: RunUpdate) -> None:
        id = update.row.variant
        known = self.results.get(id)
        if update.outputs or known is None or update.row.failure:
            self._drop(id)
            self.results[id] = Result(update)
        else:
            known.row = update.row
        self._unseen.discard(id)
        self.hurry()

    def _release(self, answer: Answer) -> None:
        for name in segments_of_answer(answer):
            self._engine.pool.release(name)

    def _drop(self, id: str) -> None:
        result = self.results.pop(id, None)
        for name in result.segments if result else ():
            self._engine.pool.release(name)

    # ---------------------------------------------------------------- runs

    def _run(self) -> None:
        """Start a run with the present values, after the one that runs."""
        if not self.open or not self.devices:
            return
        if self._job:
            self._anew = True
            self.hurry()
            return
        try:
            picks = self.picks()
        except ParamError as error:
            self.fault = str(error)
            return
        if not picks:
            return
        self._generation += 1
        self._job, self._begun, self._anew = self._engine.client.next_job(), time.monotonic(), False
        self._unseen = {pick.variant for pick in picks if not is_simulated(pick.device)}
        self.status = "running"
        request = RunRequest(
            self._job, self._generation, self.input, self.filter.id, self.values, picks, protocol="quick"
        )
        self._engine.submit(request, self._listener)

    def _go_on(self) -> None:
        if self._anew:
            self._anew = False
            self._run()

    def picks(self) -> tuple[Pick, ...]:
        """Each variant on its device: the one that was asked for, else the CPU, the first GPU, or a simulated one.
        Raises ParamError where a variant does not run on the device that was asked for."""
        usable = [status.name for status in self.devices if status.available]
        places = [self.device] if self.device else ["cpu", *(n for n in usable if n not in ("cpu", "sim")), "sim"]
        found = []
        for id in self.variants:
            variant = self.filter.variant(id)
            place = next((p for p in places if runs_on(variant, p)), None)
            if place is None:
                raise ParamError(
                    f"{self.filter.id} {id} does not run on {places[0]}; choose another device or variant."
                )
            found.append(Pick(id, place))
        return tuple(found)


def first_variants(filter: Filter) -> list[str]:
    """The variants that are shown where none is named: those that the window ticks."""
    return list(filter.picked or (v.id for v in filter.variants if not v.library))


def share(pool: SegmentPool, input: Input) -> SharedInput:
    """An input whose samples are in shared memory, where the engine reads them."""

    def put(array: Array) -> SharedArray:
        shared = SharedArray(pool.take(array.nbytes), array.shape, array.dtype.name)
        pool.array(shared, writeable=True)[...] = array
        return shared

    figures = OUTPUT_KINDS[INPUT_KINDS[input.kind].view].figures(input.array)
    return SharedInput(
        kind=input.kind,
        array=put(input.array),
        axes=input.axes,
        name=input.name,
        origin=input.origin,
        rate=input.rate,
        finite=input.finite,
        statistics=statistics(input.array if figures is None else figures),
        clean=None if input.clean is None else put(input.clean),
        facts=input.facts,
    )


def current(result: Result, values: Mapping[str, Value]) -> bool:
    """Whether a result has these values of the parameters; while a drag goes on, older ones are shown."""
    return dict(result.row.params) == dict(values)

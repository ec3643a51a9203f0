"""The files of a batch, shared by workers.

Files go to the workers in tasks of several, of which only a few are planned ahead. If a worker dies, the files of its
task are computed again, each alone in a worker that does nothing else: so a file that kills its worker is known, and
after some trials it is reported as failed.
"""

from __future__ import annotations

import os
import queue
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import closing, suppress
from itertools import islice, takewhile
from typing import Any, NamedTuple, NoReturn

from gpu_ops.batch.cluster import Workers
from gpu_ops.batch.files import Item
from gpu_ops.batch.in_bands import large_file
from gpu_ops.batch.overlap import Planned, overlapped
from gpu_ops.batch.work import Done, Outcome, Work
from gpu_ops.errors import BAD_INPUT, DeviceError, KernelError, KernelscopeError, counted
from gpu_ops.io.images.stores import is_store
from gpu_ops.io.rows import SMALL
from gpu_ops.progress import advance
from gpu_ops.running.attempt import FOR_ALL
from gpu_ops.running.parts import Executor, Report

TRIALS = 3
"""How often a file may lose a worker that had nothing else to do."""
AHEAD = 2
"""Tasks for each worker that are planned."""
TASK_S, MOST = 4.0, 256
"""The seconds of a task, and its files: a task costs its scheduler a few milliseconds, and at its end nothing
overlaps."""
WAIT_S, GONE_S = 0.2, 60.0
"""Seconds between two looks at the scheduler, and until one without any worker is given up."""


class Ended(NamedTuple):
    """The outcomes of the first files of a task, in order. With a `fault` the process of this `worker` can no longer
    use its device, since the file at this `place` of the batch, which is another one than those."""

    done: list[Done]
    seconds: float
    fault: str = ""
    code: int = BAD_INPUT
    worker: str = ""
    place: int = -1


_stopped = set[str]()
"""The batches that this worker is to end."""


async def stop_batch(batch: str) -> None:
    """No more files of this batch begin in this worker. Dask waits for a plain function, and not for this."""
    _stopped.add(batch)


def run_task(work: Work, planned: list[Planned], batch: str) -> Ended:
    """Process files of a batch in a worker. Reading, computing and writing of several overlap."""
    from distributed import get_worker

    began, done, faults = time.perf_counter(), list[Done](), list[tuple[int, Exception]]()

    def one(planned: Planned) -> Done:
        try:
            return work.one(*planned)
        except FOR_ALL as error:
            faults.append((planned[0].place, error))  # the first one is the cause of those in other threads
            raise

    wanted = takewhile(lambda _: batch not in _stopped, planned)
    with closing(overlapped(work.spec)(one, wanted)) as results:
        try:
            for ended in results:
                done.append(ended)
        except FOR_ALL:
            place, error = faults[0]
            code = error.exit_code if isinstance(error, KernelscopeError) else BAD_INPUT
            return Ended(done, time.perf_counter() - began, str(error), code, get_worker().address, place)
    return Ended(done, time.perf_counter() - began)


class _Watch:
    """Looks now and then whether the scheduler and some workers are there."""

    def __init__(self, workers: Workers) -> None:
        self._workers, self._seen = workers, time.monotonic()

    def check(self) -> None:
        """Raises DeviceError where the scheduler does not answer, or has had no workers for long."""
        now, client = time.monotonic(), self._workers.client
        if client.status != "running":
            self.gone()
        if now - self._seen < 1:
            return
        self._workers.replace_dead()
        if client.nthreads():
            self._seen = now
        elif now - self._seen > GONE_S:
            raise DeviceError(f"All workers of {self._workers.address} are gone; {CONTINUE}")

    def gone(self) -> NoReturn:
        raise DeviceError(f"The scheduler {self._workers.address} is gone; {CONTINUE}")


class Spread:
    """The files of a batch, `count` of them, at the workers. `begun` is called with each that is given to one,
    `report_of` gives what is called before each part of a file that all workers share, and `tell` is called with a
    sentence about each worker that dies."""

    def __init__(
        self,
        workers: Workers,
        work: Work,
        planned: Iterable[Planned],
        count: int,
        begun: Callable[[Item], object] = lambda item: None,
        report_of: Callable[[Item], Report] = lambda item: advance,
        tell: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._begun, self._report_of, self._tell = begun, report_of, tell
        self._workers, self._client, self._work, self._left = workers, workers.client, workers.work, count
        self._here, self._planned = work, iter(planned)
        self._running, self._ended = dict[Any, tuple[list[Planned], bool]](), queue.SimpleQueue[Any]()
        self._suspects, self._large, self._losses = deque[Planned](), deque[Planned](), Counter[int]()
        self._seconds, self._watch = 0.0, _Watch(workers)
        self._batch = secrets.token_hex(8)

    def results(self, stop: Callable[[], bool] = lambda: False) -> Generator[Outcome, None, None]:
        """Yield each file with its outcome. Once `stop` returns true, only what runs is ended. Raises DeviceError where
        the scheduler or all workers are gone."""
        stopping = False
        try:
            while True:
                if not stop():
                    self._submit()
                elif not stopping:
                    stopping = True
                    self._client.run(stop_batch, self._batch, wait=False, on_error="ignore")  # one may be gone
                if not self._running:
                    break
                yield from self._take()
            while self._large and not stop():
                item, earlier = self._large.popleft()
                self._begun(item)
                executor = on_workers(self._workers, AHEAD * self._workers.count)
                yield item, self._here.one(item, earlier, executor, self._report_of(item))
        finally:
            self._client.cancel(list(self._running), force=True)

    def _submit(self) -> None:
        """Give the workers as much as they should have: suspects alone, each in a worker of its own."""
        alone = [is_alone for _, is_alone in self._running.values()]
        if self._suspects or any(alone):
            while self._suspects and all(alone) and len(self._running) < self._workers.count:
                self._begin([self._suspects.popleft()], is_alone=True)
            return
        while len(self._running) < AHEAD * self._workers.count and (task := list(self._next_task())):
            self._begin(task)

    def _next_task(self) -> Iterator[Planned]:
        """The files of the next task: those of TASK_S, and fewer towards the end: all workers end together; files
        that all workers share are put aside."""
        fair = -(-self._left // (4 * self._workers.count))
        size = max(1, min(int(TASK_S / self._seconds) if self._seconds else 1, MOST, fair))
        while size and (found := list(islice(self._planned, size))):
            self._left -= len(found)
            for planned in found:
                if self._is_shared(planned):
                    self._large.append(planned)
                else:
                    size -= 1
                    yield planned

    def _is_shared(self, planned: Planned) -> bool:
        """Whether all workers process a file together: bands of a large one, frames of a large stack."""
        item, _ = planned
        try:
            small = SMALL if self._work.spec.memory is None else self._work.spec.memory // 64
            is_small = os.path.getsize(item.file) < small and not is_store(item.file)
            if item.fault or is_small or self._here.devices[0] != self._workers.devices[0]:
                return False
            if self._here.spec.frames:
                return True
            return large_file(self._here.spec, item, self._here.devices)[0] is not None
        except (KernelscopeError, OSError):  # the worker says what is wrong with it
            return False

    def _begin(self, task: list[Planned], is_alone: bool = False) -> None:
        future = self._client.submit(run_task, self._work, task, self._batch, pure=False)
        self._running[future] = task, is_alone
        for item, _ in task:
            self._begun(item)
        future.add_done_callback(self._ended.put)

    def _take(self) -> Iterator[Outcome]:
        """The outcomes of the next task that ends, or nothing after a while."""
        try:
            future = self._ended.get(timeout=WAIT_S)
        except queue.Empty:
            self._watch.check()
            return
        if future not in self._running:
            return
        task, is_alone = self._running.pop(future)
        if future.status in ("finished", "error"):
            try:
                ended = _result_of(future, self._watch)
            except _Lost:
                yield from self._lose(task, is_alone)
            else:
                yield from self._finish(task, ended)
        elif future.status == "cancelled":
            self._watch.gone()
        else:  # the worker died before it gave its result away: the task runs again
            self._running[future] = task, is_alone
            future.add_done_callback(self._ended.put)

    def _finish(self, task: list[Planned], ended: Ended) -> Iterator[Outcome]:
        for (item, _), done in zip(task, ended.done, strict=False):
            yield item, done
        if ended.done:
            self._seconds = ended.seconds / len(ended.done)
        if ended.fault:
            for planned in task[len(ended.done) :]:
                if planned[0].place == ended.place:
                    yield planned[0], self._here.failed(planned[0], ended.fault, ended.code)
                else:
                    self._suspects.append(planned)
            self._client.restart_workers([ended.worker], raise_for_error=False)

    def _lose(self, task: list[Planned], is_alone: bool) -> Iterator[Outcome]:
        """The worker of a task died: its files are computed again, if they may."""
        again = len(self._suspects)
        for planned in task:
            item, _ = planned
            self._losses[item.place] += is_alone
            if self._losses[item.place] < TRIALS:
                self._suspects.append(planned)
                continue
            words = f"its worker died {TRIALS} times while it worked on this file alone; look at the file, and at the"
            yield item, self._here.failed(item, f"{words} memory that it needs", BAD_INPUT)
        if again := len(self._suspects) - again:
            self._tell(f"A worker died; what it had is computed again: {counted(again, 'file')}.")


CONTINUE = "the report has what is done: start again with --resume."


def on_workers(workers: Workers, ahead: int) -> Executor[Any, Any]:
    """Process parts of one thing by workers, so many ahead of the one whose result is taken. Functions and parts are
    pickled. A part whose worker dies is computed again."""
    client, watch = workers.client, _Watch(workers)

    def results(work: Callable[[Any], Any], parts: Iterable[Any]) -> Generator[Any, None, None]:
        begun = deque[tuple[Any, Any]]()

        def first() -> Any:
            part, future = begun.popleft()
            for trial in range(TRIALS):
                while not _has_ended(future):
                    watch.check()
                with suppress(_Lost):
                    return _result_of(future, watch)
                future = client.submit(work, part, pure=False) if trial < TRIALS - 1 else None
            raise KernelError(f"{TRIALS} workers died in the same part of it; look at the memory that it needs")

        try:
            for part in parts:
                begun.append((part, client.submit(work, part, pure=False)))
                if len(begun) > ahead:
                    yield first()
            while begun:
                yield first()
        except CancelledError:
            raise DeviceError(f"The scheduler {workers.address} is gone; {CONTINUE}") from None
        finally:
            client.cancel([future for _, future in begun], force=True)

    return results


def _has_ended(future: Any) -> bool:
    """Waits a moment for a task, and tells whether it has ended."""
    with suppress(TimeoutError):
        future.exception(timeout=WAIT_S)
        return True
    return False


class _Lost(Exception):
    """The worker of a task died, perhaps while the result travelled and when the task ran once more for that."""


def _result_of(future: Any, watch: _Watch) -> Any:
    """The result of a task that has ended. Raises its error, _Lost, and DeviceError where the scheduler goes away while
    the result travels."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        return future.result()
    except KilledWorker:
        raise _Lost from None
    except (CommClosedError, CancelledError):
        watch.gone()

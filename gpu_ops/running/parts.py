"""The loop over the parts of something large: frames of a stack, bands on a device or of a file, files of a batch.

A source computes the result of each part of a split, and a sink takes the results in the order of the parts. An
executor decides where the source runs: in this thread, in several, or in other processes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from threading import Event
from typing import Any, Generic, TypeVar

from gpu_ops.progress import advance, listening, stop_request
from gpu_ops.task import Task
from gpu_ops.types import Arrays, Filter

P = TypeVar("P")
R = TypeVar("R")
Report = Callable[[int, int], None]
"""Called with the index of a part and the number of all parts."""
Executor = Callable[[Callable[[P], R], Iterable[P]], Generator[R, None, None]]
"""Yields the results of a function for parts, in their order. Closing it ends the work."""
WAIT_S = 0.2
"""Seconds of one wait for a thread."""
AHEAD = 2
"""Parts for each thread that have begun, of which the result of the first is awaited."""


def serial(work: Callable[[P], R], parts: Iterable[P]) -> Generator[R, None, None]:
    """Process each part in this thread, when its result is requested."""
    for part in parts:
        yield work(part)


def threads(workers: int, fit: Callable[[Sequence[P]], bool] = lambda parts: True) -> Executor[P, R]:
    """Process so many parts at a time, one in each thread, and only as many as `fit` together. A part that takes long
    does not stop those after it until AHEAD of them for each thread have begun. Work that is ended stops where it calls
    `advance`."""

    def results(work: Callable[[P], R], parts: Iterable[P]) -> Generator[R, None, None]:
        stop, ended, begun = stop_request(), Event(), deque[tuple[P, Future[R]]]()

        def run(part: P) -> R:
            with listening(lambda: ended.is_set() or (stop is not None and stop())):
                return work(part)

        def at_work() -> list[P]:
            return [part for part, future in begun if not future.done()]

        def some() -> Generator[R, None, None]:
            """The next results, after a part has ended; a signal may interrupt no wait without an end."""
            wait([future for _, future in begun if not future.done()], WAIT_S, FIRST_COMPLETED)
            while begun and begun[0][1].done():
                yield begun.popleft()[1].result()

        with ThreadPoolExecutor(workers) as pool:
            try:
                for part in parts:
                    while (others := at_work()) and not fit([*others, part]):
                        yield from some()
                    begun.append((part, pool.submit(run, part)))
                    while len(at_work()) > workers or len(begun) > AHEAD * workers:
                        yield from some()
                while begun:
                    yield from some()
            finally:
                ended.set()
                for _, future in begun:
                    future.cancel()

    return results


@dataclass(frozen=True)
class Parts(Generic[P, R]):
    """Parts to process: `source(part)` computes the result of each, and `sink(part, result)` takes it."""

    split: Sequence[P]
    source: Callable[[P], R]
    sink: Callable[[P, R], Any]

    def each(
        self, report: Report = advance, executor: Executor[P, R] = serial, stop: Callable[[], bool] = lambda: False
    ) -> Generator[R, None, None]:
        """Yield each result after the sink has taken it. `report(place, count)` is called before a part starts, and no
        more parts start when `stop` returns true. Exceptions of source, sink and report pass through."""

        def begin() -> Iterable[P]:
            for place, part in enumerate(self.split):
                if stop():
                    return
                report(place, len(self.split))
                yield part

        parts = iter(self.split)
        with closing(executor(self.source, begin())) as results:
            for result in results:
                self.sink(next(parts), result)
                yield result
                del result  # it may be large, and the next one needs the memory

    def run(self, report: Report = advance, executor: Executor[P, R] = serial) -> R:
        """Process all parts and return the last result."""
        with closing(self.each(report, executor)) as results:
            for _ in self.split[1:]:
                next(results)
            return next(results)


class Merged:
    """Merges the outputs of parts, each with a number of rows, into those of the whole."""

    def __init__(self, filter: Filter, task: Task) -> None:
        self._filter, self._task = filter, task
        self._parts, self._rows = list[Arrays](), list[int]()

    def add(self, outputs: Arrays, rows: int) -> None:
        self._parts, self._rows = [*self._parts, outputs], [*self._rows, rows]
        if len(self._parts) > 1:
            self._parts, self._rows = [self.outputs()], [sum(self._rows)]

    def outputs(self) -> dict[str, Any]:
        """The merged outputs so far."""
        assert self._filter.locality.merge is not None
        return self._filter.locality.merge(self._task, self._parts, self._rows)

"""The loop over the parts of something large: frames of a stack, bands on a device or of a file, files of a batch.

A source makes the result of each part of a split, and a sink takes the results in the order of the parts. An executor
says where the source runs: in this thread, or in several.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Generic, Protocol, TypeVar

from gpu_ops.locality import Outputs
from gpu_ops.progress import advance, listening, stop_request
from gpu_ops.task import Task
from gpu_ops.types import Filter

P = TypeVar("P")
R = TypeVar("R")
Report = Callable[[int, int], None]
"""Gets the place of a part and the number of all parts."""


class Executor(Protocol):
    """Runs `work` on the parts. The results come in their order; closing the iterator ends the work."""

    def map(self, work: Callable[[P], R], parts: Iterable[P], /) -> Generator[R, None, None]: ...


class Serial:
    """Each part in this thread, when its result is asked for."""

    def map(self, work: Callable[[P], R], parts: Iterable[P], /) -> Generator[R, None, None]:
        return (work(part) for part in parts)


@dataclass(frozen=True)
class Threads:
    """So many threads, each with one part. Work that is ended can be stopped where it calls `advance`."""

    workers: int

    def map(self, work: Callable[[P], R], parts: Iterable[P], /) -> Generator[R, None, None]:
        stop, ended, begun = stop_request(), Event(), deque[Future[R]]()

        def run(part: P) -> R:
            with listening(lambda: ended.is_set() or (stop is not None and stop())):
                return work(part)

        with ThreadPoolExecutor(self.workers) as pool:
            try:
                for part in parts:
                    begun.append(pool.submit(run, part))
                    if len(begun) > self.workers:
                        yield begun.popleft().result()
                while begun:
                    yield begun.popleft().result()
            finally:
                ended.set()
                for future in begun:
                    future.cancel()


SERIAL = Serial()


@dataclass(frozen=True)
class Parts(Generic[P, R]):
    """Parts to work on: `source(part)` makes the result of each, and `sink(part, result)` takes it."""

    split: Sequence[P]
    source: Callable[[P], R]
    sink: Callable[[P, R], Any]

    def each(
        self, report: Report = advance, executor: Executor = SERIAL, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[R]:
        """Yield each result when the sink has it. `report(place, count)` comes before a part begins, and no more parts
        begin when `stop` returns true. Raises what source, sink and report raise."""

        def begin() -> Iterator[P]:
            for place, part in enumerate(self.split):
                if stop():
                    return
                report(place, len(self.split))
                yield part

        with closing(executor.map(self.source, begin())) as results:
            parts = iter(self.split)
            for result in results:
                self.sink(next(parts), result)
                yield result
                del result  # it may be large, and the next one needs room

    def run(self, report: Report = advance) -> None:
        """Work on all parts, one after the other."""
        deque(self.each(report), maxlen=0)


@dataclass
class Merged:
    """Merges the outputs of parts, each with so many rows, into those of the whole."""

    filter: Filter
    task: Task
    _parts: list[Outputs] = field(default_factory=list)
    _rows: list[int] = field(default_factory=list)

    def add(self, outputs: Outputs, rows: int) -> None:
        self._parts.append(outputs)
        self._rows.append(rows)
        if len(self._parts) > 1:
            self._parts, self._rows = [self.outputs()], [sum(self._rows)]

    def outputs(self) -> dict[str, Any]:
        """Those of the whole so far."""
        assert self.filter.locality.merge is not None
        return self.filter.locality.merge(self.task, self._parts, self._rows)

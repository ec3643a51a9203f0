"""The queues of a simulated GPU: which steps of a plan run concurrently, and when each begins.

The host enqueues the steps in order. Steps of a stream run one after the other; the engines – one or two for copies,
one for kernels – execute one step at a time. A copy from or to pageable memory blocks the host until it ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.plan import (
    DEFAULT_STREAM,
    Copy,
    Engine,
    HostTask,
    Launch,
    MemoryKind,
    Plan,
    Prefetch,
    Span,
    Step,
    Where,
    engine_of,
)

KindOf = Callable[[Any], MemoryKind]
"""The kind of memory that an array is in."""
Cost = Callable[[Step, Engine, KindOf], float]
"""How long an engine is busy with a step: in seconds, or in steps where all take as long."""


@dataclass(frozen=True)
class Queues:
    """The engines of a device. With one copy engine, uploads and downloads do not overlap. `in_order`: an engine starts
    steps in the order in which the host enqueued them, as before compute capability 3.5; a waiting step then blocks all
    steps behind it, whatever their streams. `launch_blocking`: the host waits for each kernel, as it does where
    CUDA_LAUNCH_BLOCKING is set."""

    copy_engines: int = 2
    in_order: bool = False
    launch_blocking: bool = False


@dataclass(eq=False)
class _Operation:
    step: Step
    engine: Engine
    queue: str
    needs: list[_Operation]
    issued: float
    start: float = -1.0
    end: float = -1.0

    @property
    def done(self) -> bool:
        return self.end >= 0


class Timeline:
    """The spans of a plan on these queues, computed by `run`."""

    def __init__(self, plan: Plan, is_host: Where, kind_of: KindOf, queues: Queues, cost: Cost) -> None:
        self._plan, self._queues = plan, queues
        self._is_host, self._kind_of, self._cost_of = is_host, kind_of, cost
        self._prefetches = [step for step in plan.steps if isinstance(step, Prefetch)]
        self._issued: list[_Operation] = []
        self._waiting: list[_Operation] = []
        self._free: dict[str, float] = {}
        self._host = 0.0

    def run(self) -> tuple[Span, ...]:
        """The spans in the order of the steps."""
        done: list[_Operation] = [self._do(step) for step in self._plan.steps]
        self._wait_for(self._issued)
        peers = self._plan.peer_streams
        return tuple(Span.of(o.step, o.start, o.end, self._is_host, o.step.stream in peers) for o in done)

    def _do(self, step: Step) -> _Operation:
        """The host reaches a step."""
        engine = engine_of(step, self._is_host)
        if isinstance(step, HostTask):
            self._wait_for(self._issued if step.synchronizes else self._named(step.after))
            start, self._host = self._host, self._host + self._cost(step, engine)
            return _Operation(step, engine, "host", [], start, start, self._host)
        operation = _Operation(step, engine, self._queue(engine, step.stream), list(self._needs(step)), self._host)
        self._issued.append(operation)
        self._waiting.append(operation)
        pageable = isinstance(step, Copy) and "pageable" in (self._kind_of(step.source), self._kind_of(step.target))
        if pageable or (self._queues.launch_blocking and isinstance(step, Launch)):
            self._wait_for([operation])
        return operation

    def _cost(self, step: Step, engine: Engine) -> float:
        """How long a step keeps its engine busy. Managed memory that was prefetched is accessed where it is."""
        to = "host" if isinstance(step, HostTask) else "device"

        def kind_of(array: Any) -> MemoryKind:
            kind = self._kind_of(array)
            there = kind == "managed" and any(
                prefetch.to == to and np.may_share_memory(prefetch.target, array) for prefetch in self._prefetches
            )
            return "device" if there else kind

        return self._cost_of(step, engine, kind_of)

    def _queue(self, engine: Engine, stream: int) -> str:
        """The queue that a step waits in; a peer has its own engines."""
        shared = self._queues.copy_engines < 2 and engine in ("upload", "download")
        queue = "kernel" if engine == "device" else "copy" if shared else engine
        return f"{queue} of the peer" if stream in self._plan.peer_streams else queue

    def _needs(self, step: Step) -> Iterator[_Operation]:
        """The steps that must end before a step starts."""
        earlier = self._issued[::-1]
        yield from itertools.islice((o for o in earlier if o.step.stream == step.stream), 1)  # the others before it
        yield from self._named(step.after)
        if self._plan.blocking:
            is_default = step.stream == DEFAULT_STREAM
            yield from (o for o in earlier if is_default or o.step.stream == DEFAULT_STREAM)

    def _named(self, names: Iterable[str]) -> list[_Operation]:
        return [o for o in self._issued if o.step.name in set(names)]

    def _wait_for(self, operations: Iterable[_Operation]) -> None:
        """The host waits until these have ended."""
        for operation in operations:
            while not operation.done:
                self._begin_next()
            self._host = max(self._host, operation.end)

    def _begin_next(self) -> None:
        """Start the step that can start first."""
        ready = [(self._start(o), place) for place, o in enumerate(self._waiting) if self._may_begin(place)]
        start, place = min(ready)
        operation = self._waiting.pop(place)
        operation.start, operation.end = start, start + self._cost(operation.step, operation.engine)
        self._free[operation.queue] = operation.end

    def _may_begin(self, place: int) -> bool:
        operation = self._waiting[place]
        held_up = self._queues.in_order and any(o.queue == operation.queue for o in self._waiting[:place])
        return not held_up and all(o.done for o in operation.needs)

    def _start(self, operation: _Operation) -> float:
        ends = [o.end for o in operation.needs]
        return max([operation.issued, self._free.get(operation.queue, 0.0), *ends])


def busy(spans: Iterable[Span]) -> dict[Engine, float]:
    """For each engine the time in which it is busy. A measured span starts when its stream reaches the step, which may
    then wait for its engine, so that spans of one engine may overlap."""
    found: dict[Engine, float] = {}
    ends: dict[Engine, float] = {}
    for span in sorted(spans, key=lambda span: span.start):
        start = max(span.start, ends.get(span.engine, 0.0))
        found[span.engine] = found.get(span.engine, 0.0) + max(span.end - start, 0.0)
        ends[span.engine] = max(span.end, start)
    return found


def overlap(spans: Sequence[Span]) -> float:
    """How well uploads, kernels and downloads overlap: the busy time of the busiest engine, divided by the total time.
    1 where that engine never waits."""
    first, last = min((s.start for s in spans), default=0.0), max((s.end for s in spans), default=0.0)
    longest = max((seconds for engine, seconds in busy(spans).items() if engine != "host"), default=0.0)
    return longest / (last - first) if last > first else 0.0

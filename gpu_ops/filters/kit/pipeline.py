"""Uploads, kernels and downloads of an input in chunks, as the steps of a plan. The chunks use several streams in turn,
so that the upload of one, the kernels of another and the download of a third overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from gpu_ops.filters.kit.bands import Band
from gpu_ops.plan import Copy, DeviceArray, HostTask, Plan, Step

Array = np.ndarray[Any, Any]
Name = Callable[[str], str]
Make = Callable[[int], tuple[DeviceArray, Plan]]
"""Allocates device memory for this number of rows of the input, and returns a plan on it."""
Work = Callable[["Chunk"], Iterable[Step]]
"""The steps between the upload of a chunk and its download."""
STREAMS = 3
"""One stream each for an upload, a kernel and a download at a time."""
CHUNK_BYTES = 4 << 20
"""A copy of this size reaches the full bandwidth, and the first and the last one, which overlap with nothing, are
short."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Rows of the input with their halo, in `x`, and a plan on them. `number` counts from 1. Chunks of one `slot` share
    their device memory and a stream, in which their steps run in order. `is_cut`: its results are rows of those of the
    whole; else they are separate results. `base` is the stream of slot 0."""

    number: int
    band: Band
    slot: int
    x: DeviceArray
    plan: Plan
    is_cut: bool = True
    base: int = 1

    @property
    def stream(self) -> int:
        """The stream of its steps."""
        return self.slot + self.base

    @property
    def results(self) -> dict[str, DeviceArray]:
        """Its own rows of each output, on the device."""
        return {name: out[self.band.inner] if self.is_cut else out for name, out in self.plan.outputs.items()}

    def named(self, what: str) -> str:
        """The name of a step of this chunk."""
        return f"{what} {self.number}"

    def steps(self, name: Name) -> list[Step]:
        """The steps of its plan, in its stream."""
        return in_stream(self.plan.steps, self.stream, name)

    def downloads(self, targets: Mapping[str, Array]) -> list[Step]:
        """Copies of its results to host memory of the same shapes."""
        found = self.results
        names = self.named("download") if len(found) == 1 else ""
        steps = [(targets[name], out, names or self.named(f"download {name}")) for name, out in found.items()]
        return [Copy(target, out, name, self.stream) for target, out, name in steps]


def chunks_of(
    bands: Sequence[Band], slots: int, make: Make, is_cut: bool = True, first: int = 1, base: int = 1
) -> list[Chunk]:
    """A chunk for each band, in turn in one of `slots` parts of the device's memory. The first one has the number
    `first`, and slot 0 the stream `base`."""
    memory: dict[tuple[int, int], tuple[DeviceArray, Plan]] = {}
    chunks = []
    for place, band in enumerate(bands):
        key = place % slots, band.high - band.low
        if key not in memory:
            memory[key] = make(key[1])
        chunks.append(Chunk(place + first, band, key[0], *memory[key], is_cut, base))
    return chunks


class Source(Protocol):
    """Provides the rows of chunks."""

    def upload(self, chunk: Chunk) -> Iterable[Step]:
        """The steps that bring a chunk's rows to the device."""


class Sink(Protocol):
    """Receives the results of chunks."""

    def download(self, chunk: Chunk) -> Sequence[Step]:
        """The steps that bring a chunk's results to the host."""

    def take(self, chunk: Chunk) -> Iterable[Step]:
        """The host's work when they have arrived, before another chunk uses the slot."""


@dataclass(frozen=True, eq=False)
class FromHost:
    """An input in host memory, from which the rows are copied. With the border wrap, rows beyond an edge are taken from
    the opposite one."""

    source: Array

    def upload(self, chunk: Chunk, low: int | None = None, high: int | None = None) -> Iterator[Step]:
        """See Source. Of the chunk's rows those from `low` to `high`, by default all."""
        low, high = chunk.band.low if low is None else low, chunk.band.high if high is None else high
        rows = chunk.x[low - chunk.band.low :]
        for place, (to, where) in enumerate(pieces(low, high, len(self.source))):
            name = chunk.named("upload") + (f" part {place + 1}" if place else "")
            yield Copy(rows[to], self.source[where], name, chunk.stream)


@dataclass(frozen=True, eq=False)
class ToHost:
    """The results of the whole in host memory, to which the rows are copied. `done(number)` is called when a chunk's
    results have arrived; the host waits for that."""

    targets: Mapping[str, Array]
    done: Callable[[int], object] | None = None

    def download(self, chunk: Chunk) -> list[Step]:
        """See Sink."""
        own = slice(chunk.band.start, chunk.band.stop)
        return chunk.downloads({name: target[own] for name, target in self.targets.items()})

    def take(self, chunk: Chunk) -> Iterator[Step]:
        """See Sink."""
        if self.done is not None:
            after = tuple(step.name for step in self.download(chunk))
            yield HostTask(self.done, (chunk.number,), chunk.named("done"), after)


def depth_first(chunks: Sequence[Chunk], source: Source, sink: Sink, work: Work) -> Iterator[Step]:
    """All steps of a chunk, then those of the next one. The host processes the results of a chunk after the other
    chunks' steps are enqueued, and before the next chunk of its slot."""
    behind = max((chunk.slot for chunk in chunks), default=0)
    for place, chunk in enumerate(chunks):
        yield from source.upload(chunk)
        yield from work(chunk)
        yield from sink.download(chunk)
        if place >= behind:
            yield from sink.take(chunks[place - behind])
    for chunk in chunks[max(0, len(chunks) - behind) :]:
        yield from sink.take(chunk)


def in_stream(steps: Sequence[Step], stream: int, name: Name) -> list[Step]:
    """Steps of a plan in one stream, with other names."""
    return [replace(step, name=name(step.name), stream=stream, after=()) for step in steps]


def pieces(low: int, high: int, count: int) -> Iterator[tuple[slice, slice]]:
    """The rows from `low` to `high` in pieces: their positions among the copied rows, and among the `count` rows of the
    input, with wrap-around at its edges."""
    done = low
    while done < high:
        start = done % count
        rows = min(high - done, count - start)
        yield slice(done - low, done - low + rows), slice(start, start + rows)
        done += rows

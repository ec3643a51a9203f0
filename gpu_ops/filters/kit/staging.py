"""Chunks that pass through pinned staging buffers, which host threads fill and empty while the copies and kernels of
other chunks run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_ops.filters.kit.pipeline import Array, Chunk, pieces
from gpu_ops.plan import Copy, Device, HostTask, Step

THREADS = 16
"""Host threads that copy, if the host has as many."""


@dataclass(frozen=True)
class HostWork:
    """The host's work for each chunk: `call(chunk, arrays)`, and which of its own arrays it reads or writes. The arrays
    are the pinned rows of its input, or its results by name."""

    call: Callable[[Chunk, Any], object]
    accesses: Callable[[Chunk], Iterable[Array]] = lambda chunk: ()


class FromBuffers:
    """A Source: pinned memory for one chunk of each slot. `fill` writes the rows of a chunk there, after the previous
    copy from there has completed."""

    def __init__(self, device: Device, chunks: Sequence[Chunk], fill: HostWork) -> None:
        self._fill = fill
        self._slots = max(chunk.slot for chunk in chunks) + 1
        most = _largest(chunks, lambda chunk: {"": chunk.x})
        self._buffers = {slot: device.allocate("pinned", shape, dtype) for (slot, _), (shape, dtype) in most.items()}

    def upload(self, chunk: Chunk) -> Iterator[Step]:
        """See gpu_ops.filters.kit.pipeline.Source."""
        rows = self._buffers[chunk.slot][: chunk.x.shape[0]]
        before = chunk.number - self._slots
        after = (f"upload {before}",) if before > 0 else ()
        reads = tuple(self._fill.accesses(chunk))
        yield HostTask(self._fill.call, (chunk, rows), chunk.named("fill"), after, reads, (rows,))
        yield Copy(chunk.x, rows, chunk.named("upload"), chunk.stream)


class ToBuffers:
    """A Sink: pinned memory for the results of one chunk of each slot. `empty` processes them after their copies have
    completed."""

    def __init__(self, device: Device, chunks: Sequence[Chunk], empty: HostWork) -> None:
        self._empty = empty
        most = _largest(chunks, lambda chunk: chunk.results)
        self._buffers = {key: device.allocate("pinned", *form) for key, form in most.items()}

    def _arrays(self, chunk: Chunk) -> dict[str, Array]:
        buffers = {name: self._buffers[chunk.slot, name] for name in chunk.plan.outputs}
        return {n: b[: chunk.results[n].shape[0]] if chunk.is_cut else b for n, b in buffers.items()}

    def download(self, chunk: Chunk) -> list[Step]:
        """See gpu_ops.filters.kit.pipeline.Sink."""
        return chunk.downloads(self._arrays(chunk))

    def take(self, chunk: Chunk) -> Iterator[Step]:
        """See gpu_ops.filters.kit.pipeline.Sink."""
        arrays, after = self._arrays(chunk), tuple(step.name for step in self.download(chunk))
        reads, writes = tuple(arrays.values()), tuple(self._empty.accesses(chunk))
        yield HostTask(self._empty.call, (chunk, arrays), chunk.named("empty"), after, reads, writes)


def _largest(chunks: Sequence[Chunk], arrays: Callable[[Chunk], Mapping[str, Any]]) -> dict[Any, Any]:
    """Shape and type of the largest array of each slot, by slot and name."""
    found: dict[tuple[int, str], tuple[tuple[int, ...], Any]] = {}
    for chunk in chunks:
        for name, array in arrays(chunk).items():
            key, form = (chunk.slot, name), (tuple(array.shape), array.dtype)
            found[key] = max(found.get(key, form), form, key=lambda form: form[0])
    return found


def copied_from(source: Array, threads: int = THREADS) -> HostWork:
    """Fills buffers with the rows of an array."""

    def pairs(chunk: Chunk, rows: Array) -> list[tuple[Array, Array]]:
        return [(rows[to], source[at]) for to, at in pieces(chunk.band.low, chunk.band.high, len(source))]

    def fill(chunk: Chunk, rows: Array) -> None:
        copied(pairs(chunk, rows), threads)

    def reads(chunk: Chunk) -> list[Array]:
        return [source[at] for _, at in pieces(chunk.band.low, chunk.band.high, len(source))]

    return HostWork(fill, reads)


def copied_to(targets: Mapping[str, Array], threads: int = THREADS) -> HostWork:
    """Copies results to the rows of arrays."""

    def rows(chunk: Chunk) -> dict[str, Array]:
        return {name: target[chunk.band.start : chunk.band.stop] for name, target in targets.items()}

    def empty(chunk: Chunk, results: Mapping[str, Array]) -> None:
        own = rows(chunk)
        copied([(own[name], results[name]) for name in own], threads)

    return HostWork(empty, lambda chunk: rows(chunk).values())


def copied(pairs: Iterable[tuple[Array, Array]], threads: int = THREADS) -> None:
    """Copy each source (second) to its target (first)."""
    from gpu_ops.filters.kit.host_copy import copy  # loads Numba

    copy(pairs, threads)

"""Pageable memory through a ring of pinned buffers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gpu_ops.filters.transfer.pipeline import Array, Chunk, Pipeline, pieces
from gpu_ops.plan import Copy, HostTask, Step


class Staging:
    """The steps of the chunks of a pipeline, each through one of `buffers` pairs of pinned buffers and in a stream of
    its own. `threads` threads of the host fill a buffer while the copies and kernels of earlier chunks run, and empty
    one when its download has ended."""

    def __init__(self, pipeline: Pipeline, source: Array, target: Array, buffers: int, threads: int) -> None:
        from gpu_ops.filters.transfer.host import copy  # loads Numba

        self._copy = copy
        self._pipeline, self._source, self._target, self._many = pipeline, source, target, buffers
        self._threads = threads
        most = max(chunk.band.high - chunk.band.low for chunk in pipeline.chunks)
        rows, device = source.shape[1:], pipeline.device
        pinned = partial(device.allocate, "pinned", (most, *rows), source.dtype)
        self._ring = [(pinned(), pinned()) for _ in range(min(buffers, len(pipeline.chunks)))]

    def steps(self) -> Iterator[Step]:
        """In the order of their enqueueing."""
        chunks, behind = self._pipeline.chunks, self._many - 1
        for place, chunk in enumerate(chunks):
            yield from self._forward(place, chunk)
            if place >= behind:
                yield self._empty(place - behind, chunks[place - behind])
        for place in range(max(0, len(chunks) - behind), len(chunks)):
            yield self._empty(place, chunks[place])

    def _forward(self, place: int, chunk: Chunk) -> Iterator[Step]:
        """Fill a buffer, copy it, launch, and copy the result into the buffer beside it."""
        slot = place % self._many
        band, (pinned, result) = chunk.band, self._ring[slot]
        rows = pinned[: band.high - band.low]
        earlier = (f"upload {chunk.number - self._many}",) if place >= self._many else ()
        pairs = [(rows[to], self._source[where]) for to, where in pieces(band.low, band.high, len(self._source))]
        reads = tuple(source for _, source in pairs)
        yield HostTask(self._copy, (pairs, self._threads), chunk.named("fill"), earlier, reads, (rows,))
        yield Copy(chunk.x, rows, chunk.named("upload"), slot + 1)
        yield from self._pipeline.launches(chunk, slot + 1)
        yield Copy(result[: band.stop - band.start], chunk.out[band.inner], chunk.named("download"), slot + 1)

    def _empty(self, place: int, chunk: Chunk) -> Step:
        """Copy a result from its pinned buffer to where it belongs."""
        band, result = chunk.band, self._ring[place % self._many][1]
        pair = self._target[band.start : band.stop], result[: band.stop - band.start]
        return HostTask(
            self._copy, ([pair], self._threads), chunk.named("empty"), (chunk.named("download"),), pair[1:], pair[:1]
        )

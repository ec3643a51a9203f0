"""Records where every value of one block comes from, to find the loads behind a stored value afterwards."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.devices.sim.lanes import Array
from gpu_ops.devices.sim.ptx.program import Instruction
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.requests import Requests
from gpu_ops.devices.sim.traffic.following import Follower, Touch
from gpu_ops.devices.sim.traffic.uses import Known, Needs, Operands, Use, same, shifted, uses, value
from gpu_ops.errors import KernelError

BYTES, CELL = 16, 256
"""A value has less than 16 bytes: a cell of memory has CELL * node + BYTES * its bytes + the byte."""
MOST = 100_000_000
"""Nodes of a tape: a few gigabytes."""
Weights = dict[tuple[int, ...], int]
"""How often a value is in another one, as a multiple of each unknown factor; 0 where it cancels."""

SERIALS = count(1)
NAMES: dict[tuple[Any, ...], int] = {}


Function = tuple[tuple[str, ...], list[Known]]


class Source(NamedTuple):
    """The nodes (n,) that go into the nodes of an entry."""

    nodes: Array
    use: Use
    needs: Needs


class Loaded(NamedTuple):
    """Values of `nbytes` bytes that threads (n,) of the block loaded from global memory, at addresses (n,)."""

    site: Site
    threads: Array
    address: Array
    nbytes: int


class Made(NamedTuple):
    """Results of other nodes: of a single one by a `function` with constants, or None."""

    sources: list[Source]
    function: Function | None


class Stored(NamedTuple):
    """Values (n,) of `nbytes` bytes that threads (n,) stored to global memory, at addresses (n,)."""

    site: Site
    threads: Array
    address: Array
    nbytes: int
    nodes: Array


class Read(NamedTuple):
    """A load behind a value: by which thread, and which bits of the bytes at the address matter."""

    site: Site
    thread: int
    address: int
    nbytes: int
    bits: int
    weights: Weights


class Tape(Follower):
    """The record of one block. A number is a node of a graph: a load, or a result of other nodes, in the order in which
    they came to be. `reads` are all accesses of the block that read."""

    wants_values = True

    def __init__(self, numbers: Mapping[str, int]) -> None:
        super().__init__(numbers)
        self._serial = next(SERIALS)
        self.stores: list[Stored] = []
        self.reads: list[Touch] = []
        self._entries: list[Loaded | Made] = []
        self._starts: list[int] = []
        self._next = 1
        self._memory = {"shared": np.zeros((1, 0), np.int64), "local": np.zeros((1, 0), np.int64)}

    def requested(self, made: Requests, site: Site, weight: float) -> None:
        """The accesses are enough."""

    def _fresh(self, entry: Loaded | Made, lanes: int) -> Array:
        self._entries.append(entry)
        self._starts.append(self._next)
        self._next += lanes
        if self._next > MOST:
            raise KernelError("The block computes too much to follow every value; take a smaller window or block.")
        return np.arange(self._next - lanes, self._next, dtype=np.int64)

    # Memory

    def load(self, touch: Touch, by: int, nbytes: int) -> Array:
        if by == 0:
            self.reads.append(touch)
        if touch.space == "global":
            return self._fresh(Loaded(touch.site, touch.at, touch.address + by, nbytes), len(touch.at))
        if touch.space not in self._memory:
            return np.zeros(len(touch.at), np.int64)
        cells, rows = self._cells(touch, by + nbytes)
        held = [cells[rows, touch.address + by + byte] for byte in range(nbytes)]
        whole = np.ones(len(touch.at), np.bool_)
        for n, one in enumerate(held):
            whole &= one == held[0] + n
        whole &= held[0] % CELL == nbytes * BYTES  # as it was stored
        parts = [
            Source(np.where(whole | (one % BYTES != own), 0, one // CELL), "plus", shifted(8 * (n - own), 255 << 8 * n))
            for n, one in enumerate(held)
            for own in ([] if whole.all() else np.unique(one % BYTES).tolist())
        ]
        return np.where(whole, held[0] // CELL, self._made(parts) if parts else 0)

    def store(self, touch: Touch, by: int, nbytes: int, values: Array) -> None:
        """A cell has the node, its bytes, and which of them it is."""
        if touch.space == "global":
            self.stores.append(Stored(touch.site, touch.at, touch.address + by, nbytes, values))
        elif touch.space in self._memory:
            cells, rows = self._cells(touch, by + nbytes)
            for byte in range(nbytes):
                cells[rows, touch.address + by + byte] = np.where(values > 0, values * CELL + nbytes * BYTES + byte, 0)

    def _cells(self, touch: Touch, past: int) -> tuple[Array, Array]:
        """The nodes of the bytes of memory, (1, bytes) or (threads, bytes), and the row of each access."""
        assert self.layout is not None
        have, own = self._memory[touch.space], touch.space == "local"
        size = int(touch.address.max()) + past
        if have.shape[1] < size:
            grown = np.zeros((self.layout.width if own else 1, 2 * size), np.int64)
            grown[: len(have), : have.shape[1]] = have
            self._memory[touch.space] = have = grown
        return have, touch.at if own else np.zeros_like(touch.at)

    # Registers

    def combined(self, line: Instruction, at: Array, sources: list[Array]) -> Array:
        followed = tuple(bool(one.any()) for one in sources)
        if not any(followed):
            return np.zeros(len(at), np.int64)
        operands = Operands(line.args[1:], followed, lambda place: self.known(line, line.args[1 + place]))
        parts = [Source(sources[p.place], p.use, p.needs) for p in uses(line, operands) if p.place < len(sources)]
        constants = [operands.constant(n) for n in range(len(sources)) if not followed[n]]
        alone = sum(followed) == 1 and not any(one is None for one in constants)
        return self._made(parts, (line.op, constants) if alone else None)

    def part(self, number: Array, by: int) -> Array:
        return self._made([Source(number, "plus", shifted(-8 * by))]) if by else number

    def packed(self, parts: list[Array], size: int) -> Array:
        each = 8 * size // len(parts)
        field = (1 << each) - 1
        return self._made(
            [Source(nodes, "plus", shifted(each * n, field << each * n)) for n, nodes in enumerate(parts)]
        )

    def _made(self, sources: list[Source], function: Function | None = None) -> Array:
        """The nodes of a result, 0 where none of the sources has one; a single one that stays as it is is not made
        again."""
        known = [s for s in sources if s.nodes.any()]
        if not known:
            return np.zeros(len(sources[0].nodes), np.int64)
        if len(known) == 1 and known[0].use == "plus" and known[0].needs is same:
            return known[0].nodes
        some = np.zeros(len(known[0].nodes), np.bool_)
        for source in known:
            some |= source.nodes != 0
        return np.where(some, self._fresh(Made(known, function), len(some)), 0)

    # Questions

    def stored_at(self, address: int) -> tuple[Stored, int, int] | None:
        """The last store to the byte at an address, its place in it, and which byte of the value it is."""
        for stored in reversed(self.stores):
            hit = np.flatnonzero((stored.address <= address) & (address < stored.address + stored.nbytes))
            if len(hit):
                return stored, int(hit[-1]), address - int(stored.address[hit[-1]])
        return None

    def behind(self, node: int, bits: int, weights: Weights) -> Iterator[Read]:
        """The loads behind these bits of a node that has these weights. Sums are followed exactly, so that the weights
        of what is added and later subtracted cancel."""
        total: dict[int, Weights] = {node: dict(weights)} if node else {}
        needed, heap = {node: bits}, [-node] if node else []
        while heap:
            number = -heapq.heappop(heap)
            own, need = total.pop(number), needed.pop(number)
            if not own:
                continue
            place = bisect_right(self._starts, number) - 1
            entry, lane = self._entries[place], number - self._starts[place]
            if isinstance(entry, Loaded):
                who, where = int(entry.threads[lane]), int(entry.address[lane])
                yield Read(entry.site, who, where, entry.nbytes, need, own)
                continue
            inside = {(*factor, self._name(number)): times for factor, times in own.items()}
            for slot, source in enumerate(entry.sources):
                origin, part = int(source.nodes[lane]), source.needs(need, lane)
                if origin and part:
                    if origin not in total:
                        total[origin], needed[origin] = {}, 0
                        heapq.heappush(heap, -origin)
                    needed[origin] |= part
                    inner = {(*factor, slot): times for factor, times in inside.items()}
                    add_weights(total[origin], inner if source.use == "any" else own, source.use)

    def _name(self, node: int) -> int:
        """A number that two nodes share which are the same function of bytes at the same address."""
        chain: list[Any] = []
        while True:
            place = bisect_right(self._starts, node) - 1
            entry, lane = self._entries[place], node - self._starts[place]
            if isinstance(entry, Loaded):
                chain.append(("at", int(entry.address[lane]), entry.nbytes))
                break
            if entry.function is None or len(entry.sources) != 1:
                chain.append((self._serial, node))
                break
            chain.append((entry.function[0], *(value(one, lane) for one in entry.function[1])))
            node = int(entry.sources[0].nodes[lane])
        return NAMES.setdefault(tuple(chain), len(NAMES))


def add_weights(total: Weights, more: Weights, use: Use = "plus") -> None:
    """Add weights, or subtract them."""
    for factor, times in more.items():
        total[factor] = total.get(factor, 0) + (-times if use == "minus" else times)
        if not total[factor]:
            del total[factor]

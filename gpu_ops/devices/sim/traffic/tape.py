"""Records where every value of one block comes from, to find the loads behind a stored value afterwards."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from gpu_ops.devices.sim.lanes import Array
from gpu_ops.devices.sim.ptx.program import Instruction, Vec
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.requests import Requests
from gpu_ops.devices.sim.traffic.following import Follower, Touch
from gpu_ops.devices.sim.traffic.forms import Form, Values, added
from gpu_ops.devices.sim.traffic.rules import Given, Operation, result
from gpu_ops.errors import KernelError

BYTES, CELL = 16, 256
"""A value has less than 16 bytes: a cell of memory has CELL * node + BYTES * its bytes + the byte."""
MOST = 100_000_000
"""Nodes of a tape: a few gigabytes."""
Rule = Callable[[Values, list[Given]], Form]
Known = int | Array | None
"""The bits of an operand as an unsigned number, or one for each lane; None where they are not known."""


class Source(NamedTuple):
    """An operand of many lanes: its nodes (n,), 0 where it comes from no memory and has a known value."""

    nodes: Array
    known: Known = None

    def given(self, lane: int, forms: Mapping[int, Form]) -> Given:
        """The operand in a lane."""
        if node := int(self.nodes[lane]):
            return forms[node]
        return self.known if self.known is None or isinstance(self.known, int) else int(self.known[lane])


class Loaded(NamedTuple):
    """Values of `nbytes` bytes that threads (n,) of the block loaded from memory, at addresses (n,)."""

    site: Site
    threads: Array
    address: Array
    nbytes: int
    signed: bool


class Made(NamedTuple):
    """Results of other nodes."""

    sources: list[Source]
    rule: Rule


class Stored(NamedTuple):
    """Values (n,) of `nbytes` bytes that threads (n,) stored to global memory, at addresses (n,)."""

    site: Site
    threads: Array
    address: Array
    nbytes: int
    nodes: Array


class Read(NamedTuple):
    """A load behind a value, by a thread."""

    site: Site
    thread: int
    address: int
    nbytes: int


class Tape(Follower):
    """The record of one block. A number is a node of a graph: a load, or a result of other nodes, in the order in which
    they came to be. `reads` are all accesses of the block that read."""

    wants_values = True

    def __init__(self, numbers: Mapping[str, int]) -> None:
        super().__init__(numbers)
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
        if touch.space in ("global", "texture"):
            loaded = Loaded(touch.site, touch.at, touch.address + by, nbytes, self.line.op[-1] in ("s8", "s16"))
            return self._fresh(loaded, len(touch.at))
        if touch.space not in self._memory:
            return np.zeros(len(touch.at), np.int64)
        cells, rows = self._cells(touch, by + nbytes)
        held = [cells[rows, touch.address + by + byte] for byte in range(nbytes)]
        whole = np.ones(len(touch.at), np.bool_)
        for n, one in enumerate(held):
            whole &= one == held[0] + n
        whole &= held[0] % CELL == nbytes * BYTES  # as it was stored
        if whole.all():
            return held[0] // CELL
        kept = self.known(self.line, self.target, after=True)
        kept = None if isinstance(kept, np.ndarray) and len(kept) != len(held[0]) else kept
        pieces = [(n, own) for n, one in enumerate(held) for own in np.unique(one[~whole] % BYTES).tolist()]
        sources = [Source(np.where(held[n] % BYTES == own, held[n] // CELL, 0)) for n, own in pieces]
        gathered = self._made([*sources, Source(np.zeros_like(held[0]), kept)], partial(_gathered, pieces))
        return np.where(whole, held[0] // CELL, gathered)

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
        if not any(one.any() for one in sources):
            return np.zeros(len(at), np.int64)
        operands = [
            Source(one, None if one.all() else self.known(line, line.args[1 + n])) for n, one in enumerate(sources)
        ]
        if line.op[0] in ("mov", "cvta") or (line.op[0] == "cvt" and line.op[-1] == line.op[-2] and len(line.op) == 3):
            return sources[0]
        return self._made(operands, partial(_result, line.op))

    def part(self, number: Array, by: int, size: int) -> Array:
        return self._made([Source(number)], partial(_part, 8 * by, 8 * (by + size)))

    def packed(self, parts: list[Array], size: int) -> Array:
        (_, source), line = self.line.args, self.line
        assert isinstance(source, Vec)
        pairs = zip(parts, source.items, strict=True)
        sources = [Source(one, None if one.all() else self.known(line, item)) for one, item in pairs]
        return self._made(sources, partial(_packed, 8 * size // len(parts)))

    def _made(self, sources: list[Source], rule: Rule) -> Array:
        """The nodes of a result, 0 where no source has one."""
        some = np.zeros(len(sources[0].nodes), np.bool_)
        for source in sources:
            some |= source.nodes != 0
        if not some.any():
            return np.zeros(len(some), np.int64)
        return np.where(some, self._fresh(Made(sources, rule), len(some)), 0)

    # Questions

    def stored_at(self, address: int) -> tuple[Stored, int, int] | None:
        """The last store to the byte at an address, its place in it, and which byte of the value it is."""
        for stored in reversed(self.stores):
            hit = np.flatnonzero((stored.address <= address) & (address < stored.address + stored.nbytes))
            if len(hit):
                return stored, int(hit[-1]), address - int(stored.address[hit[-1]])
        return None

    def behind(self, node: int) -> list[int]:
        """The nodes behind a node, in order, with itself."""
        found, ahead = set[int](), [node]
        while ahead:
            number = ahead.pop()
            if number in found or not number:
                continue
            found.add(number)
            entry, lane = self._entry(number)
            if isinstance(entry, Made):
                ahead.extend(int(source.nodes[lane]) for source in entry.sources)
        return sorted(found)

    def read_for(self, nodes: Iterable[int]) -> Iterator[Read]:
        """The loads among nodes."""
        for node in nodes:
            entry, lane = self._entry(node)
            if isinstance(entry, Loaded):
                yield Read(entry.site, int(entry.threads[lane]), int(entry.address[lane]), entry.nbytes)

    def reached_from(self, address: int) -> Array:
        """Whether each node is made of the byte of global memory at an address, (nodes,)."""
        reached = np.zeros(self._next, np.bool_)
        for start, entry in zip(self._starts, self._entries, strict=True):
            if isinstance(entry, Loaded):
                found = (entry.address <= address) & (address < entry.address + entry.nbytes)
            else:
                found = np.logical_or.reduce([reached[source.nodes] for source in entry.sources])
            reached[start : start + len(found)] = found
        return reached

    def form(self, nodes: list[int], values: Values, byte: Callable[[int], int]) -> Form:
        """The last one of nodes, which come with all those behind them, as a sum; `byte` is the variable of the byte at
        an address. Terms of a sum that nothing else needs are added to in place."""
        forms: dict[int, Form] = {0: Form({})}
        left: Counter[int] = Counter()
        for node in nodes:
            entry, lane = self._entry(node)
            left.update(int(s.nodes[lane]) for s in (entry.sources if isinstance(entry, Made) else ()))
        for node in nodes:
            entry, lane = self._entry(node)
            if isinstance(entry, Loaded):
                first, parts = int(entry.address[lane]), range(entry.nbytes)
                form = Form({byte(first + n): 256**n for n in parts})
                if entry.signed:
                    form = values.result(("sign", 8 * entry.nbytes, 64), (form,), 8)
            else:
                form = entry.rule(values, [source.given(lane, forms) for source in entry.sources])
                for source in entry.sources:
                    origin = int(source.nodes[lane])
                    left[origin] -= 1
                    if origin and not left[origin]:
                        del forms[origin]
            forms[node] = form
        return forms[nodes[-1]]

    def _entry(self, node: int) -> tuple[Loaded | Made, int]:
        place = bisect_right(self._starts, node) - 1
        return self._entries[place], node - self._starts[place]


def _result(op: tuple[str, ...], values: Values, given: list[Given]) -> Form:
    return result(values, op, given)


def _part(low: int, high: int, values: Values, given: list[Given]) -> Form:
    """Some bits of a wide value."""
    (one,) = given
    assert isinstance(one, Form)
    return values.field(values.integer(one), low, high)


def _packed(bits: int, values: Values, given: list[Given]) -> Form:
    """A wide value of parts of so many bits."""
    parts = [Operation(values, ("mov", f"b{bits}"), [one]).integer(0) for one in given]
    fields = [(values.field(one, 0, bits), 1 << bits * n) for n, one in enumerate(parts)]
    return added(fields, bits * len(parts))


def _gathered(pieces: list[tuple[int, int]], values: Values, given: list[Given]) -> Form:
    """A value of bytes of others: `pieces` are the byte of the value, and the byte of an operand, for each but the last
    operand, which has the bytes that come from no memory."""
    count = 1 + max(n for n, _ in pieces)
    rest = Operation(values, ("mov", "b64"), given[-1:]).integer(0)
    found = {n: values.field(rest, 8 * n, 8 * n + 8) for n in range(count)}
    for (n, own), one in zip(pieces, given[:-1], strict=True):
        if isinstance(one, Form):
            found[n] = values.field(values.integer(one), 8 * own, 8 * own + 8)
    return added([(field, 256**n) for n, field in found.items()], 64)

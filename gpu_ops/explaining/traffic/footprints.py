"""The footprint of one element of a result: the elements of the input that made it, who loaded them and where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_ops.devices.sim.lanes import WARP, Array
from gpu_ops.devices.sim.launch import WaitingBlocks
from gpu_ops.devices.sim.memory import Table, address_of
from gpu_ops.devices.sim.ptx.emit import Code
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.traffic.tape import Read, Stored, Tape, Weights, add_weights
from gpu_ops.errors import ParamError
from gpu_ops.explaining.traffic.content import Extents, Footprint, FootprintRead
from gpu_ops.explaining.traffic.recording import TrafficRun
from gpu_ops.plan import Copy, Launch, Plan, Step
from gpu_ops.progress import advance

MOST_BLOCKS = 64
"""Blocks that are run again for one element."""
FOLLOW_OTHERS = "choose another variant."


class _Taping:
    """Records one block, and keeps its tape."""

    def observe(self, launch: Launch, code: Code, table: Table) -> Tape:
        self.tape = Tape(code.numbers)
        return self.tape


def footprint(run: TrafficRun, output: str, index: int) -> Footprint:
    """The footprint of an element of an output. Runs the blocks concerned again, with everything recorded.

    Raises ParamError where it cannot be followed, with the reason; Cancelled.
    """
    array = run.plan.outputs[output]
    if not 0 <= index < array.size:
        raise ParamError(f"{output} has {array.size} elements; choose one from 0 to {array.size - 1}, not {index}.")
    return _Search(run).found(array, index)


class _Search:
    """Goes back through the steps of a plan. `_wanted` are the bytes of memory whose origin is looked for, with the
    weights of each in the result."""

    def __init__(self, run: TrafficRun) -> None:
        self._run = run
        self._start, self._end = address_of(run.x), address_of(run.x) + run.x.nbytes
        self._wanted: dict[int, Weights] = {}
        self._weights: defaultdict[int, Weights] = defaultdict(dict)
        self._reads: list[FootprintRead] = []
        launched = [n for n, step in enumerate(run.plan.steps) if isinstance(step, Launch)]
        self._maps = dict(zip(launched, run.maps, strict=True))
        self._copies = {n: _copied(step) for n, step in enumerate(run.plan.steps) if _is_copy(step)}
        self._blocks = 0
        self._head: dict[str, Any] = {}

    def found(self, array: Array, index: int) -> Footprint:
        steps = self._run.plan.steps
        first, size = int(_addresses(array).reshape(-1)[index]), array.dtype.itemsize
        for byte in range(size):
            self._want(first + byte, {(0,): 1}, len(steps))
        for place, step in reversed(list(enumerate(steps))):
            if isinstance(step, Launch):
                self._before_launch(step, place)
        if not self._head:
            raise ParamError("No kernel stored this element with a plain store; choose another variant.")
        elements = tuple(sorted(element for element, weights in self._weights.items() if weights))
        counts: defaultdict[FootprintRead, int] = defaultdict(int)
        for read in self._reads:
            if self._weights[read.element]:
                counts[read] += 1
        reads = sorted((replace(r, count=n) for r, n in counts.items()), key=lambda r: (r.file, r.line, r.element))
        more = {"blocks": self._blocks, "itemsize": self._run.x.dtype.itemsize}
        return Footprint(index, **self._head, elements=elements, reads=tuple(reads), **more)

    def _want(self, address: int, weights: Weights, before: int) -> None:
        """Look for the origin of a byte, as it was before a step."""
        add_weights(self._wanted.setdefault(self._copied_from(address, before), {}), weights)

    def _copied_from(self, address: int, before: int) -> int:
        """Where the bytes of a buffer were copied from, if the last step that wrote them copied them."""
        for place in range(before - 1, -1, -1):
            if place in self._maps and self._writer_of(address, place) >= 0:
                return address
            if place in self._copies:
                targets, sources, size = self._copies[place]
                at = int(np.searchsorted(targets, address, side="right")) - 1
                if at >= 0 and address < targets[at] + size:
                    address = int(sources[at]) + address - int(targets[at])
        return address

    def _writer_of(self, address: int, place: int) -> int:
        """The block of a launch that wrote a byte, or −1."""
        maps = self._maps[place]
        for base, owners in maps.writers.items():
            element = (address - base) // maps.itemsizes[base]
            if 0 <= element < len(owners):
                return int(owners[element])
        return -1

    def _before_launch(self, launch: Launch, place: int) -> None:
        """Look for the bytes that a launch stored where their values come from."""
        by_block: defaultdict[int, list[int]] = defaultdict(list)
        for address in self._wanted:
            if (block := self._writer_of(address, place)) >= 0:
                by_block[block].append(address)
        if not by_block:
            return
        self._check(launch, len(by_block))
        for number, (block, addresses) in enumerate(sorted(by_block.items())):
            advance(number, len(by_block))
            taping = _Taping()
            options = replace(self._run.device.options, observers=taping, blocks=(block,), checks="off")
            try:
                self._run.device.with_options(options).execute(Plan((launch,), self._run.plan.outputs))
            except WaitingBlocks:
                raise ParamError(f"The blocks of {launch.kernel.name} wait for one another; {FOLLOW_OTHERS}") from None
            if taping.tape.unfollowed:
                what = ", ".join(sorted(taping.tape.unfollowed))
                raise ParamError(f"{launch.kernel.name} uses {what}, whose values are not followed; {FOLLOW_OTHERS}")
            self._blocks += 1
            self._behind(launch, place, block, taping.tape, addresses)

    def _check(self, launch: Launch, blocks: int) -> None:
        if self._blocks + blocks > MOST_BLOCKS:
            raise ParamError(
                f"This element is made of values of more than {MOST_BLOCKS} blocks of {launch.kernel.name}; "
                "take a smaller input."
            )
        if launch.kernel.loaded.code.cluster:
            raise ParamError(f"{launch.kernel.name} runs in clusters, which are not followed; {FOLLOW_OTHERS}")

    def _behind(self, launch: Launch, place: int, block: int, tape: Tape, addresses: Sequence[int]) -> None:
        """Look for the loads behind the values that a block stored at these addresses."""
        values: dict[tuple[int, int], tuple[Stored, int, Weights]] = {}
        for address in addresses:
            stored = tape.stored_at(address)
            if stored is None:
                raise ParamError("This element depends on the order of the blocks; choose another variant.")
            store, lane, byte = stored
            key = id(store), lane
            bits = values[key][1] if key in values else 0
            values[key] = store, bits | 255 << 8 * byte, self._wanted.pop(address)
        for (_, lane), (store, bits, weights) in values.items():
            thread = int(store.threads[lane])
            if not self._head:
                self._head = self._writer(launch, block, store.site, thread, tape)
            for read in tape.behind(int(store.nodes[lane]), bits, weights):
                self._take(launch, place, block, thread, read)

    def _writer(self, launch: Launch, block: int, site: Site, thread: int, tape: Tape) -> dict[str, Any]:
        """Who stored the result."""
        file, line = _line(launch, site)
        loads = {space: 0 for space in ("global", "shared")}
        for touch in tape.reads:
            if touch.space in loads:
                loads[touch.space] += int(np.count_nonzero(touch.at == thread))
        return {
            "kernel": launch.kernel.name,
            "file": file,
            "line": line,
            "block": _coordinates(block, launch.grid),
            "thread": _coordinates(thread, launch.block),
            "warp": thread // WARP,
            "own_reads": loads["global"],
            "shared_reads": loads["shared"],
        }

    def _take(self, launch: Launch, place: int, block: int, thread: int, read: Read) -> None:
        """Take a load of the input, or look for the origin of another buffer's bytes."""
        size, seen = self._run.x.dtype.itemsize, set[int]()
        for byte in range(read.nbytes):
            if not read.bits >> 8 * byte & 255:
                continue
            address = self._copied_from(read.address + byte, place)
            if not self._start <= address < self._end:
                self._want(address, read.weights, place)
                continue
            element = (address - self._start) // size
            if element not in seen:
                seen.add(element)
                add_weights(self._weights[element], read.weights)
                who = _coordinates(block, launch.grid), _coordinates(read.thread, launch.block)
                own = read.thread == thread and self._blocks == 1
                where = (launch.kernel.name, *_line(launch, read.site))
                self._reads.append(FootprintRead(element, *where, *who, own))


def _line(launch: Launch, site: Site) -> tuple[str, int]:
    """The line of the kernel's own file, or that of a header where there is none."""
    own = launch.kernel.compiled.source
    places = ((site.place.file, site.place.line), *site.place.inlined_at)
    return next(((file, line) for file, line in places if file == own), places[0])


def _coordinates(number: int, extents: Sequence[int]) -> Extents:
    x, y, _ = extents
    return number % x, number // x % y, number // (x * y)


def _addresses(array: Array) -> Array:
    """The address of each element of an array, in its shape."""
    found = np.full(array.shape, address_of(array), np.int64)
    for axis, (count, apart) in enumerate(zip(array.shape, array.strides, strict=True)):
        steps = np.arange(count, dtype=np.int64) * apart
        found += steps.reshape([-1 if a == axis else 1 for a in range(array.ndim)])
    return found


def _is_copy(step: Step) -> bool:
    return isinstance(step, Copy) and isinstance(step.target, np.ndarray) and isinstance(step.source, np.ndarray)


def _copied(step: Any) -> tuple[Array, Array, int]:
    """The addresses of the elements that a copy writes, in order, those that it reads, and their bytes."""
    targets, sources = _addresses(step.target).reshape(-1), _addresses(step.source).reshape(-1)
    order = np.argsort(targets)
    return targets[order], sources[order], step.target.dtype.itemsize

"""The footprint of one element of a result: the elements of the input that made it, who loaded them and where."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_ops.devices.sim.lanes import WARP, Array
from gpu_ops.devices.sim.launch import WaitingBlocks
from gpu_ops.devices.sim.memory import Table, address_of
from gpu_ops.devices.sim.ptx.emit import Code
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.traffic.forms import Form, Values
from gpu_ops.devices.sim.traffic.resolved import Kept, Resolved
from gpu_ops.devices.sim.traffic.tape import Read, Tape
from gpu_ops.devices.sim.units.textures import SimTexture
from gpu_ops.errors import ParamError
from gpu_ops.explaining.traffic.content import Extents, Footprint, FootprintRead
from gpu_ops.explaining.traffic.recording import TrafficRun
from gpu_ops.plan import Copy, Launch, Plan, Step
from gpu_ops.progress import advance

MOST_BLOCKS = 64
"""Blocks that are run again for one element."""
FOLLOW_OTHERS = "choose another variant."


class Taping:
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
        raise ParamError(
            f"{output} has {array.size:,} elements; choose one from 0 to {array.size - 1:,}, not {index:,}."
        )
    return _Search(run).found(array, index)


class _Search:
    """Goes back through the steps of a plan. A byte of memory is known by its address and by the step that wrote it, −1
    for none; `_wanted` are the bytes whose origin is looked for, by that step. `_stored` are the values that were
    found, by the bytes that have them."""

    def __init__(self, run: TrafficRun) -> None:
        self._run = run
        self._start, self._end = address_of(run.x), address_of(run.x) + run.x.nbytes
        self._values = Values()
        self._wanted: defaultdict[int, set[int]] = defaultdict(set)
        self._stored: dict[tuple[int, int], Kept] = {}
        self._forms: list[tuple[Form, int]] = []
        self._reads: list[tuple[int, FootprintRead]] = []
        launched = [n for n, step in enumerate(run.plan.steps) if isinstance(step, Launch)]
        self._maps = dict(zip(launched, run.maps, strict=True))
        self._copies = {n: _copied(step) for n, step in enumerate(run.plan.steps) if _is_copy(step)}
        self._blocks, self._itemsize = 0, 0
        self._head: dict[str, Any] = {}

    def found(self, array: Array, index: int) -> Footprint:
        steps = self._run.plan.steps
        first, self._itemsize = int(_addresses(array).reshape(-1)[index]), array.dtype.itemsize
        root = [self._byte(address, len(steps)) for address in range(first, first + self._itemsize)]
        whole = Form({variable: 256**n for n, variable in enumerate(root)})
        self._want([whole])
        for place, step in reversed(list(enumerate(steps))):
            if isinstance(step, Launch):
                self._before_launch(step, place)
        if not self._head:
            raise ParamError("No kernel stored this element with a plain store; choose another variant.")
        elements = self._elements(Resolved(self._values, self._stored, self._forms).form(whole))
        counts = Counter(read for element, read in self._reads if element in elements)
        reads = sorted((replace(r, count=n) for r, n in counts.items()), key=lambda r: (r.file, r.line, r.element))
        passed = {element for element, _ in self._reads} - elements
        more = {"blocks": self._blocks, "itemsize": self._run.x.dtype.itemsize, "passed": tuple(sorted(passed))}
        return Footprint(index, **self._head, elements=tuple(sorted(elements)), reads=tuple(reads), **more)

    def _elements(self, form: Form) -> set[int]:
        """The elements of the input that a value is made of."""
        origins = [self._values.origins[variable] for variable in self._values.behind([form])]
        addresses = [origin.key[0] for origin in origins if origin.kind == "memory"]
        inside = [address for address in addresses if self._start <= address < self._end]
        return {(address - self._start) // self._run.x.dtype.itemsize for address in inside}

    def _byte(self, address: int, before: int) -> int:
        """The variable of a byte, as it was before a step."""
        origin = self._copied_from(address, before)
        writers = (place for place in range(before - 1, -1, -1) if place in self._maps)
        return self._values.byte(origin, next((p for p in writers if self._writer_of(origin, p) >= 0), -1))

    def _want(self, forms: Iterable[Form]) -> None:
        """Look for the origin of the bytes that forms are made of."""
        for variable in self._values.behind(forms):
            origin = self._values.origins[variable]
            if origin.kind == "memory":
                address, place = origin.key
                self._wanted[place].add(address)

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
        for address in sorted(self._wanted[place]):
            by_block[self._writer_of(address, place)].append(address)
        if not by_block:
            return
        self._check(launch, len(by_block))
        for number, (block, addresses) in enumerate(sorted(by_block.items())):
            advance(number, len(by_block))
            taping = Taping()
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
        values: dict[tuple[int, int], int] = {}
        for address in addresses:
            stored = tape.stored_at(address)
            if stored is None:
                raise ParamError("This element depends on the order of the blocks; choose another variant.")
            store, lane, byte = stored
            key, thread = (id(store), lane), int(store.threads[lane])
            if key not in values:
                if not self._head:
                    self._head = self._writer(launch, block, store.site, thread, tape)
                values[key] = len(self._forms)
                nodes = tape.behind(int(store.nodes[lane]))
                form = tape.form(nodes, self._values, lambda address: self._byte(address, place)) if nodes else Form({})
                own = self._values.field(self._values.integer(form), 0, 8 * store.nbytes)
                self._forms.append((own, store.nbytes))
                self._want([form])
                for read in tape.read_for(nodes):
                    self._take(launch, place, block, thread, read)
            self._stored[address, place] = Kept(values[key], byte)

    def _writer(self, launch: Launch, block: int, site: Site, thread: int, tape: Tape) -> dict[str, Any]:
        """Who stored the result."""
        file, line = line_of(launch, site)
        loads = {space: 0 for space in ("global", "shared")}
        for touch in tape.reads:
            if touch.space in loads:
                loads[touch.space] += int(np.count_nonzero(touch.at == thread))
        stored = sum(one.nbytes * int(np.count_nonzero(one.threads == thread)) for one in tape.stores)
        return {
            "kernel": launch.kernel.name,
            "file": file,
            "line": line,
            "block": coordinates(block, launch.grid),
            "thread": coordinates(thread, launch.block),
            "warp": thread // WARP,
            "own_reads": loads["global"],
            "shared_reads": loads["shared"],
            "results": max(stored // self._itemsize, 1),
        }

    def _take(self, launch: Launch, place: int, block: int, thread: int, read: Read) -> None:
        """Keep a load of the input."""
        where = (launch.kernel.name, *line_of(launch, read.site))
        who = coordinates(block, launch.grid), coordinates(read.thread, launch.block)
        own = read.thread == thread and self._blocks == 1
        inside = {self._copied_from(read.address + byte, place) for byte in range(read.nbytes)}
        inside = {address for address in inside if self._start <= address < self._end}
        for element in {(address - self._start) // self._run.x.dtype.itemsize for address in inside}:
            self._reads.append((element, FootprintRead(element, *where, *who, own)))


def line_of(launch: Launch, site: Site) -> tuple[str, int]:
    """The line of the kernel's own file, or that of a header where there is none."""
    own = launch.kernel.compiled.source
    places = ((site.place.file, site.place.line), *site.place.inlined_at)
    return next(((file, line) for file, line in places if file == own), places[0])


def coordinates(number: int, extents: Sequence[int]) -> Extents:
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
    return isinstance(step, Copy) and all(isinstance(_held(one), np.ndarray) for one in (step.target, step.source))


def _held(place: Any) -> Any:
    """The array behind the source or target of a copy, also of a texture."""
    return place.array if isinstance(place, SimTexture) else place


def _copied(step: Any) -> tuple[Array, Array, int]:
    """The addresses of the elements that a copy writes, in order, those that it reads, and their bytes."""
    target, source = _held(step.target), _held(step.source)
    targets, sources = _addresses(target).reshape(-1), _addresses(source).reshape(-1)
    order = np.argsort(targets)
    return targets[order], sources[order], target.dtype.itemsize

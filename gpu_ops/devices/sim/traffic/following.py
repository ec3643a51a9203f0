"""Follows values through the registers and the memory of a batch, without computing anything.

A batch reports the accesses of a basic block while it runs, and the block when it has run. Then the block's
instructions are gone through again, with those accesses: each register gets a number for each lane that says where its
value comes from. What the numbers mean is up to the subclass; 0 is a value that comes from no memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.devices.sim.lanes import WARP, Array, BatchLayout, Lanes
from gpu_ops.devices.sim.ptx.emit import BlockCode
from gpu_ops.devices.sim.ptx.flow import results
from gpu_ops.devices.sim.ptx.program import Imm, Instruction, Operand, Reg, Vec
from gpu_ops.devices.sim.ptx.sites import Site

UNFOLLOWED = frozenset({"tld4", "suld", "wmma", "mma", "ldmatrix", "match", "call", "system"})
"""Instructions whose results are not followed, though they may come from memory."""


ALL_BITS = (1 << 64) - 1


class Touch(NamedTuple):
    """An access by lanes at `at` of the flattened batch, at these addresses. `channels` of a texture: registers beyond
    them get constants."""

    space: str
    site: Site
    at: Array
    address: Array
    channels: int = 0


class Follower(ABC):
    """The part that all ways to follow values share. Registers are arrays (lanes of the batch,) of numbers. They have
    the `numbers` of the kernel's code."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._names = numbers
        self.registers: dict[str, Array] = {}
        self.unfollowed: set[str] = set()
        self.layout: BatchLayout | None = None
        self._touches: list[Touch] = []
        self._shuffles: list[tuple[Array, Array]] = []
        self._before: Mapping[str, Any] = {}
        self._values: Mapping[str, Any] = {}
        self._block: BlockCode | None = None
        self._lanes: Lanes | None = None
        self._set_in: dict[int, tuple[dict[int, int], dict[str, int], dict[str, int]]] = {}

    wants_values = False
    line: Instruction
    """The instruction that is followed."""
    target: Operand
    """The register that is loaded."""

    # Reported by the batch

    def valued(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Keep the values of registers until their block has run."""
        self._before, self._values = before, after

    def accessed(self, space: str, lanes: Lanes, site: Site, address: Array) -> None:
        """Keep an access until its block has run."""
        where = lanes.active(address).astype(np.int64) + site.offset
        self._touches.append(Touch(space, site, lanes.flat, where))

    def fetched(self, lanes: Lanes, site: Site, address: Array, nbytes: int, channels: int) -> None:
        """Keep a fetch until its block has run."""
        self._touches.append(fetch_of(lanes, site, address, nbytes, channels))

    def shuffled(self, source: Array, lanes: Lanes) -> None:
        """Keep a shuffle until its block has run."""
        self._shuffles.append((lanes.flat, lanes.active(source).astype(np.int64)))

    def ran(self, block: BlockCode, lanes: Lanes) -> None:
        """Follow the instructions of a block."""
        self.layout, self._lanes, self._block = lanes.layout, lanes, block
        for line in block.block.lines:
            self._line(line, lanes.flat)
        self._touches.clear()
        self._shuffles.clear()
        self._before = self._values = {}

    def end_batch(self) -> None:
        """Forget the registers."""
        self.registers = {}

    # Instructions

    def _line(self, line: Instruction, at: Array) -> None:
        self.line, kind = line, line.op[0]
        if kind in UNFOLLOWED:
            self.unfollowed.add(kind)
        if kind in ("ld", "ldu", "st", "atom", "red"):
            touches = [] if "param" in line.op else self._taken()  # parameters are not reported
            if kind == "st":
                self._store(line, touches)
            elif kind in ("ld", "ldu"):
                self._load(line, at, touches)
            else:
                self._clear(line, at)
                for touch in touches:
                    self.store(touch, 0, touch.site.nbytes, np.zeros(len(touch.at), np.int64))
        elif kind == "cp" and {"shared", "global"} <= set(line.op) and line.op[1] == "async":
            self._copy()
        elif kind == "tex":
            self._fetch(line, at)
        elif kind == "shfl":
            self._shuffle(line, at)
        elif kind in ("setp", "set", *UNFOLLOWED):
            self._clear(line, at)
        elif kind == "mov" and any(isinstance(a, Vec) for a in line.args):
            self._pack(line, at)
        elif targets := results(line):
            found = self.combined(line, at, [self._number(a, at) for a in line.args[1:]])
            for target in _parts(targets[0])[:1]:
                self._set(target, at, found)

    def _taken(self) -> list[Touch]:
        """The accesses of the next memory instruction: generic addresses can be in several spaces."""
        first = self._touches[0].site.number if self._touches else None
        count = next((n for n, t in enumerate(self._touches) if t.site.number != first), len(self._touches))
        taken, self._touches = self._touches[:count], self._touches[count:]
        return taken

    def _load(self, line: Instruction, at: Array, touches: list[Touch]) -> None:
        self._clear(line, at)
        targets = _parts(line.args[0])
        for touch in touches:
            size = touch.site.nbytes // (touch.channels or len(targets))
            for place, target in enumerate(targets[: touch.channels or None]):
                self.target = target
                self._set(target, touch.at, self.load(touch, place * size, size))

    def _fetch(self, line: Instruction, at: Array) -> None:
        """A fetch from a texture is reported where each lane gets one element as it is."""
        touches = self._taken()
        if not touches:
            self.unfollowed.add("textures that interpolate or convert")
        self._load(line, at, touches)

    def _store(self, line: Instruction, touches: list[Touch]) -> None:
        items = _parts(line.args[1])
        for touch in touches:
            size = touch.site.nbytes // len(items)
            for place, item in enumerate(items):
                self.store(touch, place * size, size, self._number(item, touch.at))

    def _copy(self) -> None:
        """cp.async: a load and a store of the same lanes, word by word."""
        sources = self._taken()
        if sources[0].space == "shared":  # zeros for all lanes
            sources, targets = [], sources
        else:
            targets = self._taken()
        for target in targets:
            for word in range(0, target.site.nbytes, 4):
                values = np.zeros(len(target.at), np.int64)
                for source in sources:
                    values[np.searchsorted(target.at, source.at)] = self.load(source, word, 4)
                self.store(target, word, 4, values)

    def _shuffle(self, line: Instruction, at: Array) -> None:
        where, source = self._shuffles.pop(0)
        values = self._number(line.args[1], where // WARP * WARP + source)
        self._clear(line, at)
        self._set(_parts(line.args[0])[0], where, values)

    def _pack(self, line: Instruction, at: Array) -> None:
        """mov of several registers into one wide one, or the other way round."""
        target, source = line.args
        if isinstance(target, Vec):
            number = self._number(source, at)
            for place, one in enumerate(target.items):
                size = _size(line) // len(target.items)
                self._set(one, at, self.part(number, place * size, size))
        else:
            assert isinstance(source, Vec)
            self._set(target, at, self.packed([self._number(s, at) for s in source.items], _size(line)))

    # Registers

    def _whole(self, operand: Operand) -> Array | None:
        return self.registers.get(operand.name) if isinstance(operand, Reg) else None

    def _number(self, operand: Operand, at: Array) -> Array:
        whole = self._whole(operand)
        return np.zeros(len(at), np.int64) if whole is None else whole[at]

    def _set(self, target: Operand, at: Array, values: Array) -> None:
        if not isinstance(target, Reg) or target.name == "_":
            return
        whole = self.registers.get(target.name)
        if whole is None:
            if not values.any():
                return
            assert self.layout is not None
            whole = self.registers[target.name] = np.zeros(self.layout.blocks * self.layout.width, np.int64)
        whole[at] = values

    def _clear(self, line: Instruction, at: Array) -> None:
        for target in results(line):
            for one in _parts(target):
                self._set(one, at, np.zeros(len(at), np.int64))

    def known(self, line: Instruction, operand: Operand, after: bool = False) -> int | Array | None:
        """The bits of an operand, or those of each lane that runs, as unsigned numbers, before a line or after it; None
        where they are not known."""
        if isinstance(operand, Imm):
            return operand.value & ALL_BITS
        if not isinstance(operand, Reg):
            return None
        at, first, last = self._set_at(line, operand.name)
        if last < at + after:
            held = self._values
        elif first >= at and not after:
            held = self._before
        else:
            return None  # a value in the middle
        values = held.get(f"v{self._names.get(operand.name)}")
        if values is None or values.dtype.kind not in "iubf":
            return None
        assert self._lanes is not None
        if values.dtype.kind in "if":
            values = values.view(f"u{values.dtype.itemsize}")
        return self._lanes.active(values) if values.size > 1 else int(values.reshape(-1)[0])

    def _set_at(self, line: Instruction, name: str) -> tuple[int, int, int]:
        """The number of a line in the block, and those of the first and the last line that set a register."""
        assert self._block is not None
        number, lines = self._block.block.number, self._block.block.lines
        if number not in self._set_in:
            places, first, last = {id(one): n for n, one in enumerate(lines)}, dict[str, int](), dict[str, int]()
            for n, one in enumerate(lines):
                own = [part.name for target in results(one) for part in _parts(target) if isinstance(part, Reg)]
                for register in own:
                    first.setdefault(register, n)
                    last[register] = n
            self._set_in[number] = places, first, last
        places, first, last = self._set_in[number]
        return places[id(line)], first.get(name, len(lines)), last.get(name, -1)

    # What the numbers mean

    @abstractmethod
    def load(self, touch: Touch, by: int, nbytes: int) -> Array:
        """The number of `nbytes` bytes at each address of an access, `by` bytes further on."""

    @abstractmethod
    def store(self, touch: Touch, by: int, nbytes: int, values: Array) -> None:
        """These values are now in memory there."""

    @abstractmethod
    def combined(self, line: Instruction, at: Array, sources: list[Array]) -> Array:
        """The number of an instruction's result."""

    @abstractmethod
    def part(self, number: Array, by: int, size: int) -> Array:
        """The number of a part of a wide value, of `size` bytes from byte `by` on."""

    @abstractmethod
    def packed(self, parts: list[Array], size: int) -> Array:
        """The number of a wide value of `size` bytes made of parts of equal size, the lowest first."""


def fetch_of(lanes: Lanes, site: Site, address: Array, nbytes: int, channels: int) -> Touch:
    """The access of a fetch from a texture, of the lanes that get an element."""
    where = lanes.active(address)
    got = where >= 0
    return Touch("texture", replace(site, nbytes=nbytes * channels), lanes.flat[got], where[got], channels)


def _parts(operand: Operand) -> tuple[Any, ...]:
    return operand.items if isinstance(operand, Vec) else (operand,)


def _size(line: Instruction) -> int:
    return int(line.op[-1][1:]) // 8

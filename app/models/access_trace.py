"""What one warp's lanes address at once: the sectors or the banks they fall into, and what that costs. No widgets.

The numbers are those of the counters: sectors are told by where each lane's access begins, wavefronts over the banks of
shared memory are counted by half-warps for 8 bytes a lane and by quarters for 16.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

WARP = 32
SECTOR = 32
BANKS = 32
BANK_BYTES = 4


@dataclass(frozen=True)
class Access:
    """One memory instruction of a warp, as gpu_ops.plan.Access has it."""

    space: str
    verb: str
    nbytes: int
    buffer: str
    itemsize: int
    start: int
    lanes: tuple[int, ...]
    offsets: tuple[int, ...]

    @cached_property
    def addresses(self) -> tuple[int, ...]:
        """Of each lane that takes part, in bytes: sectors and banks begin at multiples of their size."""
        return tuple(self.start + offset for offset in self.offsets)

    def offset(self, lane: int) -> int | None:
        """Bytes from where the buffer begins; None for a lane that rests."""
        return self.offsets[self.lanes.index(lane)] if lane in self.lanes else None

    def elements(self, lane: int) -> tuple[int, int] | None:
        """The first and the last element of the buffer that a lane uses, where the size of one is known."""
        offset = self.offset(lane)
        if offset is None or not self.itemsize:
            return None
        return offset // self.itemsize, (offset + self.nbytes - 1) // self.itemsize

    @cached_property
    def distinct(self) -> int:
        """Different addresses."""
        return len(set(self.offsets))

    @cached_property
    def pieces(self) -> Pieces:
        """The sectors, or the words of constant memory, that are touched."""
        return _pieces(self)

    @cached_property
    def banks(self) -> Banks:
        """The wavefronts that shared memory takes."""
        return _banks(self)


@dataclass(frozen=True)
class WarpTrace:
    """The first of `count` accesses of a warp of a block (x, y, z) at a line."""

    line: int
    block: tuple[int, int, int]
    warp: int
    count: int
    accesses: tuple[Access, ...]


def warp_trace(data: Mapping[str, Any]) -> WarpTrace:
    """One entry of "accesses" of a kernel, as the engine's X-ray has it."""
    x, y, z = data["block"]
    accesses = tuple(_access(one) for one in data["accesses"])
    return WarpTrace(int(data["line"]), (int(x), int(y), int(z)), int(data["warp"]), int(data["count"]), accesses)


def _access(one: Mapping[str, Any]) -> Access:
    lanes = tuple(lane for lane in range(WARP) if one["lanes"] >> lane & 1)
    steps = [step for times, step in one["steps"] for _ in range(times)]
    offsets = tuple(accumulate(steps, initial=one["first"]))
    words = (str(one["space"]), str(one["verb"]), int(one["bytes"]), str(one["buffer"]))
    return Access(*words, int(one["itemsize"]), int(one["start"]), lanes, offsets)


# Sectors


@dataclass(frozen=True)
class Piece:
    """A piece of memory that is moved as a whole: its first address, and which lanes use it. `used` are the parts that
    lanes use, (first, last + 1, lanes) from the first address on, in order."""

    address: int
    lanes: tuple[int, ...]
    used: tuple[tuple[int, int, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Pieces:
    """All pieces of `grain` bytes that a warp touches, in order. `ideal` would hold what it uses, side by side; of the
    bytes that are `moved` the warp uses `used`."""

    grain: int
    pieces: tuple[Piece, ...]
    ideal: int
    used: int

    @property
    def moved(self) -> int:
        return self.grain * len(self.pieces)

    @property
    def wasted(self) -> int:
        """Bytes that are moved for nothing."""
        return self.moved - self.used

    @property
    def gaps(self) -> tuple[int, ...]:
        """Bytes between each piece and the next one."""
        return tuple(b.address - a.address - self.grain for a, b in pairwise(self.pieces))

    def of_lane(self, lane: int) -> int | None:
        """The number of the piece a lane uses; None for one that rests."""
        return next((n for n, piece in enumerate(self.pieces) if lane in piece.lanes), None)


def _pieces(access: Access) -> Pieces:
    constant = access.space == "constant"
    grain = max(BANK_BYTES, access.nbytes) if constant else SECTOR
    found: dict[int, dict[int, list[int]]] = {}
    for lane, address in zip(access.lanes, access.addresses, strict=True):
        found.setdefault(address // grain * grain, {}).setdefault(address, []).append(lane)
    pieces = []
    for start, users in sorted(found.items()):
        used = tuple(
            (a - start, min(a - start + access.nbytes, grain), tuple(lanes)) for a, lanes in sorted(users.items())
        )
        pieces.append(Piece(start, tuple(sorted(n for *_, lanes in used for n in lanes)), used))
    touched = access.distinct * access.nbytes
    return Pieces(grain, tuple(pieces), 1 if constant else -(-touched // SECTOR), touched)


# Banks


@dataclass(frozen=True)
class Cell:
    """What a bank gives in a wavefront: one word, to these lanes."""

    word: int
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class Banks:
    """The wavefronts over the banks, in order: what each bank gives in it. `parts` are those of the warp in which lanes
    take part, each of which needs a wavefront; `lane_wavefront` says in which one each lane has all it wants."""

    wavefronts: tuple[Mapping[int, Cell], ...]
    parts: int
    lane_wavefront: Mapping[int, int]
    conflicts: Mapping[int, tuple[Cell, ...]]
    """By bank: the different words that one part of the warp wants of it, the most there are, where it is more than
    one."""

    @property
    def shared(self) -> bool:
        """Whether several lanes use one word."""
        return any(len(cell.lanes) > 1 for cells in self.wavefronts for cell in cells.values())

    def of_bank(self, bank: int) -> list[Cell]:
        """All that a bank gives, wavefront by wavefront."""
        return [cells[bank] for cells in self.wavefronts if bank in cells]


def _banks(access: Access) -> Banks:
    words = max(1, access.nbytes // BANK_BYTES)
    parts: dict[int, list[tuple[int, int]]] = {}
    for lane, address in zip(access.lanes, access.addresses, strict=True):
        parts.setdefault(lane // (WARP // words), []).append((lane, address // BANK_BYTES))
    wavefronts: list[Mapping[int, Cell]] = []
    lane_wavefront: dict[int, int] = {}
    conflicts: dict[int, tuple[Cell, ...]] = {}
    for part in parts.values():
        wanted = _wanted(part, words)
        for bank, cells in wanted.items():
            if len(cells) > len(conflicts.get(bank, (None,))):
                conflicts[bank] = tuple(cells)
        for turn in range(max(map(len, wanted.values()))):
            given = {bank: cells[turn] for bank, cells in sorted(wanted.items()) if turn < len(cells)}
            lane_wavefront |= {lane: len(wavefronts) for cell in given.values() for lane in cell.lanes}
            wavefronts.append(given)
    return Banks(tuple(wavefronts), len(parts), lane_wavefront, dict(sorted(conflicts.items())))


def _wanted(part: Sequence[tuple[int, int]], words: int) -> dict[int, list[Cell]]:
    """By bank, the different words that lanes (lane, first word) want, in the order of the lanes."""
    users: dict[int, list[int]] = {}
    for lane, first in part:
        for word in range(first, first + words):
            users.setdefault(word, []).append(lane)
    found: dict[int, list[Cell]] = {}
    for word, lanes in users.items():
        found.setdefault(word % BANKS, []).append(Cell(word, tuple(lanes)))
    return found

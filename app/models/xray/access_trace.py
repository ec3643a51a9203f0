"""The addresses of one warp's lanes in one access: their sectors or banks, and the cost. No widgets.

The numbers equal those of the counters: the start of a lane's access decides its sector; wavefronts of shared memory
are counted by half-warps for 8 bytes per lane and by quarters of a warp for 16, two of them together in a load where
neighbouring lanes have one address and no bank conflict. An asynchronous copy may take more, because its lanes also
take turns where they read: the counters have those.
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
LOADED_BYTES = 256
"""Bytes that the lanes of a warp get from one wavefront."""


@dataclass(frozen=True)
class TracedAccess:
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
        """The byte address of each active lane, with sectors and banks at multiples of their size."""
        return tuple(self.start + offset for offset in self.offsets)

    def offset(self, lane: int) -> int | None:
        """The byte offset of a lane in the buffer; None for an inactive lane."""
        return self.offsets[self.lanes.index(lane)] if lane in self.lanes else None

    def elements(self, lane: int) -> tuple[int, int] | None:
        """The first and the last element of the buffer that a lane uses; None where the element size is unknown."""
        offset = self.offset(lane)
        if offset is None or not self.itemsize:
            return None
        return offset // self.itemsize, (offset + self.nbytes - 1) // self.itemsize

    @cached_property
    def distinct(self) -> int:
        """The number of different addresses."""
        return len(set(self.offsets))

    @cached_property
    def pieces(self) -> Pieces:
        """The sectors, or the words of constant memory, that the lanes touch."""
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
    accesses: tuple[TracedAccess, ...]


def warp_trace(data: Mapping[str, Any]) -> WarpTrace:
    """One entry of a kernel's "accesses" in the engine's X-ray."""
    x, y, z = data["block"]
    accesses = tuple(_access(one) for one in data["accesses"])
    return WarpTrace(int(data["line"]), (int(x), int(y), int(z)), int(data["warp"]), int(data["count"]), accesses)


def _access(one: Mapping[str, Any]) -> TracedAccess:
    lanes = tuple(lane for lane in range(WARP) if one["lanes"] >> lane & 1)
    steps = [step for times, step in one["steps"] for _ in range(times)]
    offsets = tuple(accumulate(steps, initial=one["first"]))
    words = (str(one["space"]), str(one["verb"]), int(one["bytes"]), str(one["buffer"]))
    return TracedAccess(*words, int(one["itemsize"]), int(one["start"]), lanes, offsets)


# Sectors


@dataclass(frozen=True)
class Piece:
    """A unit of memory that is transferred as a whole: its first address and the lanes that use it. `used` lists the
    byte ranges that lanes use, in order: (first, last + 1, lanes), relative to the first address."""

    address: int
    lanes: tuple[int, ...]
    used: tuple[tuple[int, int, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Pieces:
    """All pieces of `grain` bytes that a warp touches, in order. `ideal` pieces would be enough for its lanes on
    contiguous bytes; the warp uses `used` of the `moved` bytes."""

    grain: int
    pieces: tuple[Piece, ...]
    ideal: int
    used: int

    @property
    def moved(self) -> int:
        return self.grain * len(self.pieces)

    @property
    def wasted(self) -> int:
        """Bytes that are transferred but that no lane uses."""
        return self.moved - self.used

    @property
    def gaps(self) -> tuple[int, ...]:
        """Bytes between each piece and the next one."""
        return tuple(b.address - a.address - self.grain for a, b in pairwise(self.pieces))

    def of_lane(self, lane: int) -> int | None:
        """The number of the piece a lane uses; None for an inactive lane."""
        return next((n for n, piece in enumerate(self.pieces) if lane in piece.lanes), None)


def _pieces(access: TracedAccess) -> Pieces:
    constant = access.space == "constant"
    grain = max(BANK_BYTES, access.nbytes) if constant else SECTOR
    lanes_by_piece: dict[int, dict[int, list[int]]] = {}
    for lane, address in zip(access.lanes, access.addresses, strict=True):
        lanes_by_piece.setdefault(address // grain * grain, {}).setdefault(address, []).append(lane)
    pieces = []
    for start, users in sorted(lanes_by_piece.items()):
        used = tuple(
            (a - start, min(a - start + access.nbytes, grain), tuple(lanes)) for a, lanes in sorted(users.items())
        )
        pieces.append(Piece(start, tuple(sorted(n for *_, lanes in used for n in lanes)), used))
    touched = access.distinct * access.nbytes
    contiguous = -(-len(access.lanes) * access.nbytes // SECTOR)
    return Pieces(grain, tuple(pieces), 1 if constant else min(contiguous, len(pieces)), touched)


# Banks


@dataclass(frozen=True)
class Cell:
    """The word that a bank delivers in one wavefront, and the lanes that get it."""

    word: int
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class Banks:
    """The wavefronts in order, each with what every bank delivers in it. `parts` is the number of parts of the warp
    with active lanes, each of which needs at least one wavefront, `least` how many wavefronts its lanes would take on
    contiguous bytes; `lane_wavefront` is the wavefront after which a lane
    has all its words."""

    wavefronts: tuple[Mapping[int, Cell], ...]
    parts: int
    least: int
    lane_wavefront: Mapping[int, int]
    conflicts: Mapping[int, tuple[Cell, ...]]
    """By bank with a conflict: the distinct words that one part of the warp needs from it, for the worst part."""

    @property
    def shared(self) -> bool:
        """Whether several lanes use one word."""
        return any(len(cell.lanes) > 1 for cells in self.wavefronts for cell in cells.values())

    def of_bank(self, bank: int) -> list[Cell]:
        """Everything that a bank delivers, wavefront by wavefront."""
        return [cells[bank] for cells in self.wavefronts if bank in cells]


def _banks(access: TracedAccess) -> Banks:
    words = max(1, access.nbytes // BANK_BYTES)
    parts = _parts(access, words)
    wavefronts: list[Mapping[int, Cell]] = []
    lane_wavefront: dict[int, int] = {}
    conflicts: dict[int, tuple[Cell, ...]] = {}
    for part in parts:
        words_by_bank = _words_by_bank(part, words)
        for bank, cells in words_by_bank.items():
            if len(cells) > len(conflicts.get(bank, (None,))):
                conflicts[bank] = tuple(cells)
        for turn in range(max(map(len, words_by_bank.values()))):
            cells_by_bank = {bank: cells[turn] for bank, cells in sorted(words_by_bank.items()) if turn < len(cells)}
            lane_wavefront |= {lane: len(wavefronts) for cell in cells_by_bank.values() for lane in cell.lanes}
            wavefronts.append(cells_by_bank)
    least = min(len(wavefronts), -(-len(access.lanes) * access.nbytes // (BANKS * BANK_BYTES)))
    return Banks(tuple(wavefronts), len(parts), least, lane_wavefront, dict(sorted(conflicts.items())))


def _parts(access: TracedAccess, words: int) -> list[list[tuple[int, int]]]:
    """The lanes that are served together, as (lane, first word)."""
    by_lane = dict(zip(access.lanes, access.addresses, strict=True))
    lanes = [(lane, address // BANK_BYTES) for lane, address in by_lane.items()]
    loads = access.verb == "load" and words > 1
    if loads and access.distinct == 1:
        each = LOADED_BYTES // access.nbytes
        return [lanes[first : first + each] for first in range(0, len(lanes), each)]
    size, found = WARP // words, list[list[tuple[int, int]]]()
    for first in range(0, WARP, 2 * size):
        pair = [one for one in lanes if first <= one[0] < first + 2 * size]
        alike = loads and _in_pairs({lane: by_lane[lane] for lane, _ in pair})
        joined = alike and all(len(cells) == 1 for cells in _words_by_bank(pair, words).values())
        middle = first + (2 if joined else 1) * size
        found += [[one for one in pair if one[0] < middle], [one for one in pair if one[0] >= middle]]
    return [part for part in found if part]


def _in_pairs(addresses: Mapping[int, int]) -> bool:
    """Whether all active lanes i and i ^ 1, or all i and i ^ 2, have one address, given by lane."""
    return any(all(addresses.get(lane ^ by, a) == a for lane, a in addresses.items()) for by in (1, 2))


def _words_by_bank(part: Sequence[tuple[int, int]], words: int) -> dict[int, list[Cell]]:
    """By bank, the distinct words that the lanes need, given as (lane, first word), in the order of the lanes."""
    users: dict[int, list[int]] = {}
    for lane, first in part:
        for word in range(first, first + words):
            users.setdefault(word, []).append(lane)
    cells: dict[int, list[Cell]] = {}
    for word, lanes in users.items():
        cells.setdefault(word % BANKS, []).append(Cell(word, tuple(lanes)))
    return cells

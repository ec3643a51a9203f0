"""A block that ran step by step, as data: what every step changed, so that the state after any step can be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.devices.sim.block_run.accesses import Accesses
from gpu_ops.devices.sim.block_run.log import Array, Cells

ENDED = -1
"""The place of a lane that has ended."""


class Statement(NamedTuple):
    """A piece of the kernel at which lanes can stop: a run of instructions of one `line` of its file (0: of no known
    line). `waits` says who meets there: "" for no barrier, else "block", "named" or "warp". `ptx` are its
    instructions."""

    line: int
    waits: str
    ptx: tuple[str, ...]


class Register(NamedTuple):
    """A register of the PTX. `source` is what it holds in the words of the source, "" where that is not known; `dtype`
    is NumPy's; `lines` are those of the source that set it."""

    name: str
    source: str
    dtype: str
    lines: tuple[int, ...]


class BlockArray(NamedTuple):
    """An array in shared memory: its bytes from `first` to before `last`, and NumPy's type of its elements."""

    name: str
    first: int
    last: int
    dtype: str


@dataclass(frozen=True, eq=False)
class Buffer:
    """Device memory that the block writes: cells of `unit` bytes from the first element of an array on. The array has
    `shape`, and `strides` in cells; where it is not known it is the cells themselves, in one row."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    cells: Cells


class Meeting(NamedTuple):
    """Two accesses to the same place by different warps with no barrier in between, at least one of which writes: the
    line, verb, warp and step of the earlier and of the later one, and the place in words."""

    lines: tuple[int, int]
    verbs: tuple[str, str]
    warps: tuple[int, int]
    steps: tuple[int, int]
    place: str


@dataclass(frozen=True, eq=False)
class BlockRun:
    """One block of a launch, step by step. Step k, from 1 to `steps`, ran `statements[at[k - 1]]` for the lanes in
    `masks[k - 1]` (warps,), a bit for each lane; or these lanes began to wait there (`waited[k - 1]`).

    `places`: the statement at which each lane stops, times 2, plus 1 where it waits, or ENDED. `registers`: by
    register, then lane, `width` lanes of each. `shared`: words of 4 bytes; `writers`: the warp that wrote each of them.
    `accesses` are those of each step. `ended` says why the record ends before the block does, "" if it does not.
    """

    kernel: str
    file: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    place: tuple[int, int, int]
    statements: tuple[Statement, ...]
    names: tuple[Register, ...]
    arrays: tuple[BlockArray, ...]
    at: Array
    masks: Array
    waited: Array
    places: Cells
    registers: Cells
    shared: Cells
    writers: Cells
    buffers: tuple[Buffer, ...]
    accesses: Accesses
    meetings: tuple[Meeting, ...]
    findings: tuple[str, ...]
    ended: str = ""

    @property
    def steps(self) -> int:
        return len(self.at)

    @property
    def threads(self) -> int:
        x, y, z = self.block
        return x * y * z

    @property
    def warps(self) -> int:
        return int(self.masks.shape[1])

    @property
    def width(self) -> int:
        return 32 * self.warps

    def places_at(self, step: int) -> Array:
        """The place of each lane (width,) after a step, ENDED for lanes that are no thread."""
        places, _ = self.places.at(step)
        places[self.threads :] = ENDED
        return places

    def lanes(self, step: int) -> Array:
        """The lanes (width,) that a step is about; none before the first."""
        if not step:
            return np.zeros(self.width, np.bool_)
        return np.asarray(
            (self.masks[step - 1][:, None] >> np.arange(32, dtype=np.uint32) & 1).astype(np.bool_).ravel()
        )

    def value(self, register: int, bits: Array) -> Array:
        """Bits of a register as its type."""
        return as_type(bits, self.names[register].dtype)


def as_type(bits: Array, dtype: str) -> Array:
    """Bits (n,) in 64 each as a type of up to 64."""
    kind: Any = np.dtype(dtype)
    if kind.kind == "b":
        return bits != 0
    return np.asarray(bits.astype(f"u{kind.itemsize}").view(kind))

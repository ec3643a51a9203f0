"""The theoretical occupancy: how many warps of a kernel fit on a multiprocessor, and what limits them, by published
rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpu_ops.errors import DeviceError

WARP = 32
REGISTERS = 65536
REGISTER_UNIT = 256
"""Registers are allocated to a warp in multiples of this many."""
PARTITIONS = 4
"""Each quarter of a multiprocessor has a separate register file."""
BARRIERS = 64
"""Barriers of a multiprocessor, as the driver of an H200 reports; the number is not published."""
BLOCK_BARRIERS = 16
"""Barriers that a block may use; __syncthreads() is the first."""

Limiter = Literal["registers", "shared memory", "warps", "blocks", "barriers"]


@dataclass(frozen=True)
class Multiprocessor:
    """The resources of one multiprocessor. The system reserves `reserved_bytes` of shared memory for each block."""

    warps: int
    blocks: int
    shared_bytes: int
    shared_unit: int = 128
    reserved_bytes: int = 1024


MULTIPROCESSORS = {
    75: Multiprocessor(32, 16, 64 << 10, 256, 0),
    80: Multiprocessor(64, 32, 164 << 10),
    86: Multiprocessor(48, 16, 100 << 10),
    87: Multiprocessor(48, 16, 164 << 10),
    89: Multiprocessor(48, 24, 100 << 10),
    90: Multiprocessor(64, 32, 228 << 10),
    100: Multiprocessor(64, 32, 228 << 10),
    103: Multiprocessor(64, 32, 228 << 10),
    120: Multiprocessor(48, 24, 100 << 10),
    121: Multiprocessor(48, 24, 100 << 10),
}
"""By architecture, from the vendor's table of technical specifications."""


@dataclass(frozen=True)
class Occupancy:
    """The `blocks` that fit on a multiprocessor, their `warps`, the `most` warps that it can hold, and the `limiter`:
    the resource that runs out first."""

    blocks: int
    warps: int
    most: int
    limiter: Limiter

    @property
    def share(self) -> float:
        """The occupancy as a share of the maximum number of warps, 0 to 1."""
        return self.warps / self.most


@dataclass(frozen=True)
class LaunchOccupancy:
    """The occupancy of blocks of `threads`, with `registers` per thread; `kernel` is the launch's."""

    kernel: str
    threads: int
    registers: int
    occupancy: Occupancy

    @property
    def resident(self) -> int:
        """Resident threads of a multiprocessor: fewer than the lanes of its warps if the last warp of a block is
        partial."""
        return self.occupancy.blocks * self.threads

    @property
    def most(self) -> int:
        """The maximum number of resident threads."""
        return self.occupancy.most * WARP

    @property
    def share(self) -> float:
        """The resident threads as a share of the maximum, 0 to 1."""
        return self.resident / self.most


def occupancy(architecture: str, threads: int, registers: int, shared_bytes: int, barriers: int = 1) -> Occupancy:
    """The occupancy of blocks of `threads`, with `registers` per thread, `shared_bytes` (static and dynamic) and
    `barriers` per block.

    Raises DeviceError for an architecture whose limits are not published.
    """
    unit = _multiprocessor(architecture)
    if unit is None:
        choices = ", ".join(f"sm_{n}" for n in MULTIPROCESSORS)
        raise DeviceError(f"The occupancy of {architecture} is not known; choose from {choices}.")
    warps = -(-threads // WARP)
    each = _taken(unit, shared_bytes)
    limits: dict[Limiter, int] = {
        "warps": unit.warps // warps,
        "blocks": unit.blocks,
        "registers": _blocks_by_registers(warps, registers, unit),
        "shared memory": unit.shared_bytes // each if each else unit.blocks,
        "barriers": BARRIERS // max(1, barriers),
    }
    limiter = min(limits, key=lambda name: limits[name])
    blocks = limits[limiter]
    return Occupancy(blocks, blocks * warps, unit.warps, limiter)


def shared_of(architecture: str) -> int:
    """The bytes of shared memory of a multiprocessor; 0 where they are not published."""
    unit = _multiprocessor(architecture)
    return unit.shared_bytes if unit else 0


def shared_taken(architecture: str, shared_bytes: int) -> int:
    """The bytes of a multiprocessor's shared memory that a block of so many takes; 0 where that is not published."""
    unit = _multiprocessor(architecture)
    return _taken(unit, shared_bytes) if unit else 0


def _taken(unit: Multiprocessor, shared_bytes: int) -> int:
    return -(-(shared_bytes + unit.reserved_bytes) // unit.shared_unit) * unit.shared_unit


def is_known(architecture: str) -> bool:
    """Whether `occupancy` knows a GPU such as "sm_90" or "sm_90a"."""
    return _multiprocessor(architecture) is not None


def _multiprocessor(architecture: str) -> Multiprocessor | None:
    number = architecture.removeprefix("sm_").rstrip("af")
    return MULTIPROCESSORS.get(int(number)) if number.isdigit() else None


def _blocks_by_registers(warps: int, registers: int, unit: Multiprocessor) -> int:
    if not registers:
        return unit.blocks
    each = -(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
    return REGISTERS // PARTITIONS // each * PARTITIONS // warps


def by_block_size(architecture: str, registers: int, static_bytes: int, barriers: int = 1) -> dict[int, Occupancy]:
    """The occupancy at every block size of whole warps, all else equal: {threads: occupancy}."""
    return {t: occupancy(architecture, t, registers, static_bytes, barriers) for t in range(WARP, 1025, WARP)}

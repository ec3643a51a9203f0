"""The source's two rules for the block size, by the arithmetic of occupancy. Source: S0.

Registers and shared memory are ignored: the kernels of this filter need few registers, and the rules mention none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gpu_ops.devices.occupancy import WARP, occupancy
from gpu_ops.filters.kit.verdicts import Verdict
from gpu_ops.types import Run

BLOCKS = (16, 32, 64, 96, 100, 128, 192, 256, 384, 512, 768, 1024)
"""Block sizes worth a sweep: around the source's 64 and 192, one that is not a multiple of a warp, and the large
ones."""
MULTIPLE, LEAST = 64, 192
OLD_WARPS, OLD_BLOCKS, OLD_THREADS = 24, 8, 512
"""The limits of a multiprocessor of compute capability 1.0, which is 768 threads, and its largest block."""
TODAY = ("sm_75", "sm_90", "sm_120")
FEW = 16
"""A number of registers at which no architecture is limited."""


def old_blocks(threads: int) -> int:
    """Blocks that fit on a multiprocessor of capability 1.0; 0 for a block that is too large there."""
    return min(OLD_BLOCKS, OLD_WARPS // -(-threads // WARP)) if threads <= OLD_THREADS else 0


def _of(architecture: str) -> Callable[[int], int]:
    return lambda threads: occupancy(architecture, threads, FEW, 0).blocks


MACHINES: Mapping[str, Callable[[int], int]] = {"1.0": old_blocks, **{a: _of(a) for a in TODAY}}
"""Blocks that fit on a multiprocessor, by their size."""


def resident(machine: str, sizes: Sequence[int] = BLOCKS) -> dict[int, int]:
    """The threads that a multiprocessor holds in blocks of each size that fits."""
    return {size: MACHINES[machine](size) * size for size in sizes if MACHINES[machine](size)}


def _counted(machine: str, sizes: Sequence[int]) -> str:
    return ", ".join(str(threads) for threads in resident(machine, sizes).values())


def _name(machine: str) -> str:
    return f"by {machine}" if machine == "1.0" else f"on {machine}"


def multiples(runs: Mapping[str, Run]) -> Verdict:
    """Whether each multiple of 64 gives as many resident threads as every smaller size that is not a multiple."""
    sizes = (96, 100, 128, 192)
    text = "; ".join(f"{_counted(machine, sizes)} {_name(machine)}" for machine in MACHINES)
    return f"threads held in blocks of {', '.join(map(str, sizes))}: {text}", all(map(_multiples_hold_most, MACHINES))


def _multiples_hold_most(machine: str) -> bool:
    held = resident(machine)
    others = {size: threads for size, threads in held.items() if size % MULTIPLE}
    return all(held[s] >= n for size, n in others.items() for s in held if s > size and s % MULTIPLE == 0)


def at_least(runs: Mapping[str, Run]) -> Verdict:
    """Whether 192 is the smallest size with the maximum number of threads."""
    least = {machine: _least_that_fills(machine) for machine in MACHINES}
    text = ", ".join(f"{size} {_name(machine)}" for machine, size in least.items())
    at = ", ".join(f"{resident(m)[LEAST]} of {max(resident(m).values())} {_name(m)}" for m in MACHINES)
    found = f"the smallest blocks that hold the most threads have {text}; blocks of {LEAST} hold {at}"
    return found, set(least.values()) == {LEAST}


def _least_that_fills(machine: str) -> int:
    held = resident(machine)
    return min(size for size, threads in held.items() if threads == max(held.values()))

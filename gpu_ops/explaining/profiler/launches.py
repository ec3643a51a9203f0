"""A launch as Nsight Compute saw it, and its counters that follow from addresses.

Their names are those of `ncu --query-metrics` (2025.3), and in the tables of a page "source" those of the columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpu_ops.explaining.profiler.instructions import Instructions

SECTORS, IDEAL = "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal"
WAVEFRONTS, IDEAL_WAVEFRONTS = "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal"
EXECUTED = "inst_executed"
"""It has each instruction of the machine code, also those that no warp executed."""
METRICS: Mapping[str, str] = {
    SECTORS: "L2 Theoretical Sectors Global",
    IDEAL: "L2 Theoretical Sectors Global Ideal",
    WAVEFRONTS: "L1 Wavefronts Shared",
    IDEAL_WAVEFRONTS: "L1 Wavefronts Shared Ideal",
    EXECUTED: "Instructions Executed",
}
"""The metrics that are read, and their columns on the page "source"."""
Place = tuple[str, int]


@dataclass(frozen=True)
class ProfiledLaunch:
    """A launch as Nsight Compute saw it. `lines` has metrics by file and line, empty if the report has none, and NaN
    where one of a line is not a number; a total that was not collected, or is not a number, is missing. `architecture`
    is such as sm_90, "" if unknown, and so are the other texts; `grid`, `block` and `instructions`, those of
    the machine code, are () if unknown."""

    kernel: str
    card: str = ""
    architecture: str = ""
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    totals: Mapping[str, float] = field(default_factory=dict)
    lines: Mapping[Place, Mapping[str, float]] = field(default_factory=dict)
    instructions: Instructions = ()

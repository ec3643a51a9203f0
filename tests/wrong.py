"""Kernels that are wrong on purpose, by file name: filter.variant.fault.cu"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "wrong_kernels"
WRONG = sorted(FOLDER.glob("*.cu"))

RACES = {
    "fft1d.shared.missing_barrier": "its few warps mostly finish a stage together",
    "reduce1d.sequential.missing_barrier": "its few warps mostly add in step",
}
"""Faults that a real GPU shows by chance alone, because its warps seldom get out of step where the barrier is missing,
and why. The simulated GPU sees the hazard itself."""


def parts(path: Path) -> tuple[str, str, str]:
    """Filter id, variant id and fault of a wrong kernel's file."""
    filter_id, variant_id, fault = path.stem.split(".")
    return filter_id, variant_id, fault

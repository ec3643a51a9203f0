"""Kernels that are wrong on purpose, by file name: filter.variant.fault.cu"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "wrong_kernels"
WRONG = sorted(FOLDER.glob("*.cu"))


def parts(path: Path) -> tuple[str, str, str]:
    """Filter id, variant id and fault of a wrong kernel's file."""
    filter_id, variant_id, fault = path.stem.split(".")
    return filter_id, variant_id, fault

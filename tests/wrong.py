"""Kernels that are wrong on purpose, by file name: filter.variant.fault.cu, or .patch, a unified diff of the variant's
first kernel file after a line that says what is wrong."""

from __future__ import annotations

from pathlib import Path

from gpu_ops.devices.kernel_source import read_source
from gpu_ops.filters import find_filter

FOLDER = Path(__file__).parent / "wrong_kernels"
WRONG = sorted([*FOLDER.glob("*.cu"), *FOLDER.glob("*.patch")])

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


def text_of(path: Path) -> str:
    """The text of a wrong kernel. Fails where a patch does not fit the shipped kernel, at one place each."""
    text = path.read_text()
    if path.suffix == ".cu":
        return text
    filter_id, variant_id, _ = parts(path)
    shipped = read_source(find_filter(filter_id).variant(variant_id).kernels[0])
    _, *hunks = text.split("\n@@")
    for hunk in hunks:
        lines = hunk.splitlines()[1:]
        before, after = ("".join(f"{k[1:]}\n" for k in lines if k[:1] in signs) for signs in (" -", " +"))
        assert shipped.count(before) == 1, f"{path.name} has another text than the shipped kernel:\n{before}"
        shipped = shipped.replace(before, after)
    return shipped

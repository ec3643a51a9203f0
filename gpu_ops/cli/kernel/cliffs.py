"""The cliffs of kernels as text."""

from __future__ import annotations

from gpu_ops.explaining.cliffs.bank_conflicts import Conflicts
from gpu_ops.explaining.cliffs.targets import Cliffs


def cliffs_text(variant: str, found: Cliffs) -> str:
    """The next steps of the occupancy on each GPU, and what would clear conflicts."""
    parts = [f"cliffs of {variant}"]
    for target in found.targets:
        parts += [f"  {target.title}", *(f"    {text}" for text in target.texts)]
    return "\n".join([*parts, conflicts_text(found.conflicts)])


def conflicts_text(found: Conflicts) -> str:
    """The conflicts of shared memory, the proposal, and every layout that ran."""
    parts = ["  shared memory", *(f"    {text}" for text in found.sentences)]
    for one in found.tried:
        state = one.refused or ("proposed" if one is found.proposed else "works as well")
        counts = f"{one.wavefronts:,} wavefronts, {one.extra_bytes:+,} bytes" if one.wavefronts else "did not run"
        parts.append(f"    tried {one.layout.what}: {counts}; {state}")
    return "\n".join(parts)

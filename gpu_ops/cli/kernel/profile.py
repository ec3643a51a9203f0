"""A profile of Nsight Compute next to the simulated counts, as text."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_ops.cli.tables import align
from gpu_ops.errors import shortened
from gpu_ops.explaining.profiler.comparing import Compared, KernelProfile
from gpu_ops.explaining.xray import XRay

WIDEST = 60
"""The most letters of a source line that are shown."""


def profiles_text(x: XRay, profiles: Sequence[KernelProfile]) -> str:
    """The comparison of each kernel, and what does not fit together."""
    return "\n\n".join(_profile(x, one) for one in profiles)


def _profile(x: XRay, profile: KernelProfile) -> str:
    files = {f.file: f.text.splitlines() for k in x.kernels if k.name == profile.kernel for f in k.files}
    rows = [["line", "counter", "simulated", "profiled", "source"]]
    reasons: list[str] = []
    for one in (*profile.lines, *profile.totals):
        rows.append([_place(one), one.counter, f"{one.simulated:,}", _profiled(one, reasons), _source(one, files)])
    equal = sum(one.equal for one in profile.lines)
    parts = [f"{profile.kernel}, profiled by Nsight Compute: {profile.source}", *(f"  {n}" for n in profile.notes)]
    parts += [align(rows, frozenset({2, 3}))]
    if profile.lines:
        parts.append(f"{equal} of {len(profile.lines)} counts of lines are equal.")
    parts += [f"  {mark}  {reason}" for mark, reason in zip(_marks(len(reasons)), reasons, strict=True)]
    return "\n".join(parts)


def _place(one: Compared) -> str:
    return f"{one.file}:{one.line}" if one.line else "in all"


def _profiled(one: Compared, reasons: list[str]) -> str:
    """The number, with a sign where it differs and a mark of the reason."""
    if one.profiled is None:
        return "–  "
    sign = "  " if one.equal else "≠ "
    if one.why and one.why not in reasons:
        reasons.append(one.why)
    mark = _marks(len(reasons))[reasons.index(one.why)] if one.why else " "
    return f"{one.profiled:,.12g} {sign.strip() or ' '}{mark}"


def _marks(count: int) -> list[str]:
    return [chr(ord("a") + number) for number in range(count)]


def _source(one: Compared, files: dict[str, list[str]]) -> str:
    text = files.get(one.file, [])
    return shortened(text[one.line - 1].strip(), WIDEST) if 0 < one.line <= len(text) else ""

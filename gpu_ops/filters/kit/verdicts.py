"""How the claims of all filters are judged."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_ops.types import Run, Timing

Verdict = tuple[str, bool | None]
"""The result as text, and whether the claim holds (None: undecided)."""


def kernel_time(runs: Mapping[str, Run], variant: str) -> Timing | None:
    """The timing of the kernel in a variant's run; None where there is none."""
    run = runs.get(variant)
    return run.timings.get("kernel") if run else None


def ratio(runs: Mapping[str, Run], slow: str, fast: str, least: float) -> Verdict:
    """How many times faster `fast` is than `slow`; the claim holds from a ratio of `least` on."""
    a, b = kernel_time(runs, slow), kernel_time(runs, fast)
    if a is None or b is None:
        missing = slow if a is None else fast
        return f"no time of {missing} here", None
    speedup = a.median / b.median
    return f"×{speedup:.3g} ({a.median * 1e3:.4g} ms to {b.median * 1e3:.4g} ms)", speedup >= least


def gains_nothing(runs: Mapping[str, Run], slow: str, fast: str, least: float) -> Verdict:
    """The same for a claim that there is no such gain."""
    text, faster = ratio(runs, slow, fast, least)
    return text, None if faster is None else not faster

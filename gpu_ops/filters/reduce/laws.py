"""The source's laws of the two ways to add n numbers with many processors, and its statements about them. Source: S3.

Fan-in: n / 2 processors add pairs, then pairs of pairs, in log2 n steps. Two phases: p processors add n / p numbers
each, one after the other, and then fan in. The source takes p = sqrt(n).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from gpu_ops.filters.kit.verdicts import Verdict, ratio
from gpu_ops.types import Claim, Law

SIZES = (256, 1024, 4096, 16384, 65536)
LARGEST = SIZES[-1]
Steps = Mapping[tuple[str, int, int], int]
"""Counted steps by law, numbers and processors."""

FAN_IN = Law(
    id="fan-in",
    source="S3",
    title="fan-in, P = N/2",
    text="S = (N − 1) / log2 N, E = 2 S / N",
    variant="sequential",
    steps=lambda n, p: math.log2(n),
    processors=lambda n: n // 2,
    knobs=lambda n, p: {"block": 256},
    sizes=SIZES,
)
TWO_PHASE = Law(
    id="two-phase",
    source="S3",
    title="two phases, P = √N",
    text="S = (N − 1) / (N/P − 1 + log2 P), E = S / P",
    variant="two_phase",
    steps=lambda n, p: n / p - 1 + math.log2(p),
    processors=math.isqrt,
    knobs=lambda n, p: {"threads": p},
    sizes=SIZES,
    fixed=LARGEST,
    choices=(16, 32, 64, 128, 256, 512, 1024, 4096, 16384),
)
LAWS = (FAN_IN, TWO_PHASE)


def _stated(law: Law, n: int, counted: Steps) -> tuple[str, float, float] | None:
    """The counts of a law for n numbers as text, with the speed-up and the efficiency; None if nothing was counted."""
    p = law.processors(n)
    steps = counted.get((law.id, n, p))
    if not steps:
        return None
    speedup = (n - 1) / steps
    return f"{law.id} {steps} steps, S = {speedup:.4g}, E = {speedup / p:.2f}", speedup, speedup / p


def _both(n: int, counted: Steps, expected: tuple[tuple[float, float], ...]) -> Verdict:
    """Speed-up and efficiency of both ways, to the digits that the source prints."""
    stated = [_stated(law, n, counted) for law in LAWS]
    if None in stated:
        return "not counted here", None
    found = [one for one in stated if one]
    right = all(
        abs(one[1] - s) <= 0.05 and abs(one[2] - e) <= 0.005 for one, (s, e) in zip(found, expected, strict=True)
    )
    return f"N = {n}: {'; '.join(one[0] for one in found)}", right


def _limit(counted: Steps) -> Verdict:
    stated = [(_stated(FAN_IN, n, counted), _stated(TWO_PHASE, n, counted)) for n in SIZES]
    if any(one is None for pair in stated for one in pair):
        return "not counted here", None
    fan_in, two_phase = zip(*[(a[2], b[2]) for a, b in stated if a and b], strict=True)
    text = f"N = {SIZES[0]} to {LARGEST}: fan-in {fan_in[0]:.2f} to {fan_in[-1]:.4f}, "
    text += f"two-phase {two_phase[0]:.2f} to {two_phase[-1]:.2f}"
    falls = all(b < a for a, b in zip(fan_in, fan_in[1:], strict=False))
    rises = all(b > a for a, b in zip(two_phase, two_phase[1:], strict=False))
    return text, falls and rises and abs(two_phase[-1] - 0.97) <= 0.005


def _law(counted: Steps) -> Verdict:
    points = [(law, n, p) for law in LAWS for n, p in law.points]
    steps = {(law.id, n, p): counted.get((law.id, n, p)) for law, n, p in points}
    if None in steps.values():
        return "not counted here", None
    wrong = [f"{law.id} {n}, {p}" for law, n, p in points if steps[law.id, n, p] != law.steps(n, p)]
    return (
        f"{len(points)} of {len(points)} counts are the law's" if not wrong else f"not: {'; '.join(wrong)}",
        not wrong,
    )


def _claim(id: str, text: str, published: str, prediction: str, judge: Any) -> Claim:
    experiment = {"filter": "reduce1d", "laws": tuple(law.id for law in LAWS)}
    return Claim(f"S3-{id}", "S3", text, published, prediction, "counted", experiment, judge)


def _timed(id: str, text: str, prediction: str, slow: str, fast: str) -> Claim:
    experiment = {
        "filter": "reduce1d",
        "sample": {"id": "noise", "length": 1 << 24, "dtype": "float32"},
        "params": {"statistic": "sum", "compensated": "off"},
        "knobs": {},
    }
    judge = partial(ratio, slow=slow, fast=fast, least=1.05)
    return Claim(f"S3-{id}", "S3", text, "no figure", prediction, "measured", experiment, judge)


CLAIMS = (
    _claim(
        "sums-256",
        "Of 256 numbers, fan-in is quicker and the two-phase sum with 16 threads wastes less.",
        "fan-in S = 31.9, E = 0.25; two-phase S = 13.4, E = 0.84",
        "Holds in steps; a real GPU's time has barriers, launches and memory in it, which the laws leave out.",
        lambda counted: _both(256, counted, ((31.9, 0.25), (13.4, 0.84))),
    ),
    _claim(
        "sums-limit",
        "With N the efficiency of the two-phase sum tends to 1, that of fan-in to 0.",
        "0.97 at 65,536",
        "Holds: N/P grows as the square root of N, its fan-in as log2 N.",
        _limit,
    ),
    _claim(
        "sums-laws",
        "The steps are log2 N of fan-in and N/P − 1 + log2 P of the two-phase sum.",
        "both formulas",
        "Holds by construction where N and P are powers of two: a simulated GPU counts the additions of a warp.",
        _law,
    ),
    _timed(
        "sums-distance",
        "Pairs at distances 128, 64 … beat adjacent pairs.",
        "Holds: whole warps have nothing to do in the later steps, and their reads have no bank conflicts.",
        "adjacent",
        "sequential",
    ),
    _timed(
        "sums-many",
        "Of more numbers than there are threads, the two-phase sum is quicker than fan-in.",
        "Does not hold with 16,384 threads: a large GPU holds sixteen times as many, and needs them to keep its memory "
        "busy.",
        "sequential",
        "two_phase",
    ),
)

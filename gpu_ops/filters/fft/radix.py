"""The source's model of the best radix: how long a stage computes and how long it waits for shared memory. Source: S2.

A butterfly of R = 2^r points takes 5 r R operations, and a stage has N / R of them; shared memory takes every point in
and out. The larger the radix, the fewer stages, until a stage computes for as long as it waits: beyond, nothing is won.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Multiprocessor:
    """What a multiprocessor does a clock: floating operations, and bytes of shared memory."""

    flops: float
    shared_bytes: float

    def computing(self, n: int, radix: float) -> float:
        """Clocks of a stage's butterflies over n points."""
        return 5 * math.log2(radix) * n / self.flops

    def waiting(self, n: int, width: int) -> float:
        """Clocks of a stage's stores and loads of n points of `width` bytes."""
        return 2 * n * width / self.shared_bytes

    def best_radix(self, width: int) -> float:
        """The radix whose stages compute for as long as they wait; larger ones compute for longer."""
        return float(2 ** (2 * width * self.flops / (5 * self.shared_bytes)))


WITH_FMA, WITHOUT_FMA = Multiprocessor(256, 128), Multiprocessor(128, 128)
"""128 lanes, whose fused products and sums count as two operations or are not used."""

"""The source's model of the best radix: how long a stage computes and how long it waits for shared memory. Source: S2.

A butterfly of R = 2^r points takes 5 r R operations, and a stage has N / R of them; shared memory takes every point in
and out. The larger the radix, the fewer stages, until a stage computes for as long as it waits: beyond, nothing is won.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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

LANES = {60: 64, 61: 128, 62: 128, 70: 64, 72: 64, 75: 64, 80: 64}
"""Lanes of a multiprocessor that compute in float32, by compute capability, after the vendor's table of the throughput
of arithmetic instructions; later ones have 128."""
LATER = 86
MANY = 1024 * 1024
"""Points, for a time that a reader can imagine."""
BANKS, BANK_BYTES = 32, 4
"""Shared memory gives a word of every bank a clock, on every GPU since compute capability 5.0."""


@dataclass(frozen=True)
class Gpu:
    """What the model takes from a GPU. `hertz` and `multiprocessors` are 0 where its description does not have them."""

    model: str
    lanes: int
    hertz: float = 0.0
    multiprocessors: int = 0

    @classmethod
    def of(cls, device: Mapping[str, Any]) -> Gpu | None:
        """The GPU of a description in a report's provenance; None where that names no architecture."""
        digits = str(device.get("architecture", "")).removeprefix("sm_")
        capability = int(digits) if digits.isdecimal() else 0
        lanes = LANES.get(capability, 128 if capability >= LATER else 0)
        if not lanes:
            return None
        megahertz, count = (device.get(name, 0) for name in ("sm_mhz", "multiprocessors"))
        return cls(str(device.get("model", "")), lanes, 1e6 * float(megahertz), int(count))

    @property
    def with_fma(self) -> Multiprocessor:
        """Fused products and sums count as two operations."""
        return Multiprocessor(2 * self.lanes, BANKS * BANK_BYTES)

    @property
    def without_fma(self) -> Multiprocessor:
        """One operation of each lane a clock."""
        return Multiprocessor(self.lanes, BANKS * BANK_BYTES)

    @property
    def clocks_a_second(self) -> float:
        """Of all its multiprocessors together; 0 where the description does not say."""
        return self.hertz * self.multiprocessors

    @property
    def text(self) -> str:
        """Its figures in words, with the peaks that follow where clock and multiprocessors are known."""
        parts = [f"{self.lanes} lanes and {BANKS * BANK_BYTES} bytes of shared memory a clock and multiprocessor"]
        if self.clocks_a_second:
            parts.append(f"{self.multiprocessors} multiprocessors at {self.hertz / 1e6:.4g} MHz")
            peak, bandwidth = self.lanes * self.clocks_a_second, BANKS * BANK_BYTES * self.clocks_a_second
            parts.append(f"{peak / 1e12:.3g} TFLOP/s, {2 * peak / 1e12:.3g} with FMA")
            parts.append(f"{bandwidth / 1e12:.3g} TB/s of shared memory")
            parts.append(f"0.1 clocks a point are {1e5 * MANY / self.clocks_a_second:.3g} µs for 1024 × 1024 points")
        return f"{self.model}: {', '.join(parts)}" if self.model else ", ".join(parts)


USUAL = Gpu("", 128)
"""The lanes that the source's two limits of the radix are for."""

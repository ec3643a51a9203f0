"""The source's model of the best radix: a stage's computing time and its shared-memory time. Source: S2.

A butterfly of R = 2^r points takes 5 r R operations, and a stage has N / R of them; every point is stored to and loaded
from shared memory. A larger radix needs fewer stages, until a stage's computing time equals its shared-memory time: a
larger one gains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Multiprocessor:
    """A multiprocessor's throughput per clock cycle: floating-point operations, and bytes of shared memory."""

    flops: float
    shared_bytes: float

    def computing(self, n: int, radix: float) -> float:
        """Clock cycles of a stage's butterflies over n points."""
        return 5 * math.log2(radix) * n / self.flops

    def waiting(self, n: int, width: int) -> float:
        """Clock cycles of a stage's stores and loads of n points of `width` bytes."""
        return 2 * n * width / self.shared_bytes

    def best_radix(self, width: int) -> float:
        """The radix with equal computing and shared-memory time; larger ones are compute-bound."""
        return float(2 ** (2 * width * self.flops / (5 * self.shared_bytes)))


WITH_FMA, WITHOUT_FMA = Multiprocessor(256, 128), Multiprocessor(128, 128)
"""128 lanes, with FMA counted as two operations, or without FMA."""

LANES = {60: 64, 61: 128, 62: 128, 70: 64, 72: 64, 75: 64, 80: 64}
"""Float32 lanes per multiprocessor, by compute capability, from NVIDIA's table of arithmetic throughput; later ones
have 128."""
LATER = 86
MANY = 1024 * 1024
"""The number of points for which a time is quoted as an example."""
BANKS, BANK_BYTES = 32, 4
"""Shared memory delivers one word per bank and clock cycle, on every GPU since compute capability 5.0."""


@dataclass(frozen=True)
class Gpu:
    """The model's parameters of a GPU. `hertz` and `multiprocessors` are 0 if its description does not have them."""

    model: str
    lanes: int
    hertz: float = 0.0
    multiprocessors: int = 0

    @classmethod
    def of(cls, device: Mapping[str, Any]) -> Gpu | None:
        """The GPU described in a report's provenance; None if that names no architecture."""
        digits = str(device.get("architecture", "")).removeprefix("sm_")
        capability = int(digits) if digits.isdecimal() else 0
        lanes = LANES.get(capability, 128 if capability >= LATER else 0)
        if not lanes:
            return None
        megahertz, count = (device.get(name, 0) for name in ("sm_mhz", "multiprocessors"))
        return cls(str(device.get("model", "")), lanes, 1e6 * float(megahertz), int(count))

    @property
    def with_fma(self) -> Multiprocessor:
        """FMA counts as two operations."""
        return Multiprocessor(2 * self.lanes, BANKS * BANK_BYTES)

    @property
    def without_fma(self) -> Multiprocessor:
        """One operation per lane and clock cycle."""
        return Multiprocessor(self.lanes, BANKS * BANK_BYTES)

    @property
    def clocks_a_second(self) -> float:
        """For all multiprocessors together; 0 if the description does not have their number."""
        return self.hertz * self.multiprocessors

    @property
    def text(self) -> str:
        """Its parameters as text, with the resulting peaks if clock and multiprocessors are known."""
        parts = [f"{self.lanes} lanes and {BANKS * BANK_BYTES} bytes of shared memory a clock and multiprocessor"]
        if self.clocks_a_second:
            parts.append(f"{self.multiprocessors} multiprocessors at {self.hertz / 1e6:.4g} MHz")
            peak, bandwidth = self.lanes * self.clocks_a_second, BANKS * BANK_BYTES * self.clocks_a_second
            parts.append(f"{peak / 1e12:.3g} TFLOP/s, {2 * peak / 1e12:.3g} with FMA")
            parts.append(f"{bandwidth / 1e12:.3g} TB/s of shared memory")
            parts.append(f"0.1 clocks a point are {1e5 * MANY / self.clocks_a_second:.3g} µs for 1024 × 1024 points")
        return f"{self.model}: {', '.join(parts)}" if self.model else ", ".join(parts)


USUAL = Gpu("", 128)
"""The numbers of lanes for which the source gives its two limits of the radix."""

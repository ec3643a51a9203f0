"""The variants on the CPU: compiled transforms on one core and on all, and those of NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gpu_ops.filters.fft import limits
from gpu_ops.filters.fft.cpu import peers
from gpu_ops.filters.fft.cpu.plans import Transform, plan_mask
from gpu_ops.plan import Device, Plan
from gpu_ops.types import Variant

SERIAL = "Radix 2 on one core, compiled; Bluestein's method where the length is no power of two."
PARALLEL = (
    "Radices 4, 5, 3 and 2 on all cores: as many lines side by side as a vector has values, neighbouring columns to "
    "whole cache lines, one long line in two parts; Bluestein's method for other primes."
)
NUMPY = "What most Python programs call: pocketfft with mixed radices on one core, in double, rounded at the end."
SCIPY = "The same method on all cores and SIMD lanes, in the type of the result."


def compiled(device: Device, extents: tuple[int, ...], dtype: str) -> Transform:
    """The compiled transforms on one core."""
    from gpu_ops.filters.fft.cpu import serial

    made = serial.Rows(extents[0], dtype) if len(extents) == 1 else serial.Planes(extents[0], extents[1], dtype)
    return Transform(made.forward, made.back)


def compiled_parallel(device: Device, extents: tuple[int, ...], dtype: str) -> Transform:
    """The compiled transforms on all threads."""
    from gpu_ops.filters.fft.cpu import parallel

    made = parallel.Rows(extents[0], dtype) if len(extents) == 1 else parallel.Planes(extents[0], extents[1], dtype)
    return Transform(made.forward, made.back)


def variants(plan: Callable[..., Plan]) -> tuple[Variant, ...]:
    """Of a filter with this plan; the mask has none of NumPy."""
    most = limits.largest
    numpy = Variant("numpy", "NumPy", NUMPY, partial(plan, peers.numpy), "cpu", library="numpy", largest=most)
    return (
        Variant("serial", "CPU, one core", SERIAL, partial(plan, compiled), "cpu", source="S2", largest=most),
        Variant("parallel", "CPU, all cores", PARALLEL, partial(plan, compiled_parallel), "cpu", largest=most),
        *(() if plan is plan_mask else (numpy,)),
        Variant("scipy", "SciPy", SCIPY, partial(plan, peers.scipy), "cpu", library="scipy", largest=most),
    )

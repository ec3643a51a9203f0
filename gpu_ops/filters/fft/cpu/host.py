"""The variants on the CPU: compiled transforms on one core and on all, and those of NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from gpu_ops.filters.fft import limits
from gpu_ops.filters.fft.cpu import peers
from gpu_ops.filters.fft.cpu.plans import Transform, plan_mask
from gpu_ops.plan import Device, Plan
from gpu_ops.types import Variant

SERIAL = "Radix 2 on one core, compiled; Bluestein's algorithm for lengths that are no power of two."
PARALLEL = (
    "Radices 4, 5, 3 and 2 on all cores: SIMD across lines, whole cache lines of neighbouring columns, a long "
    "line in two steps; Bluestein's algorithm for other primes."
)
NUMPY = "What most Python programs call: pocketfft with mixed radices on one core, in double, rounded at the end."
SCIPY = "The same algorithm on all cores with SIMD, in the precision of the result."


def loops(all_cores: bool) -> Any:
    """The compiled transforms on one core or on all; the module loads Numba."""
    return import_module(f"gpu_ops.filters.fft.cpu.{'parallel' if all_cores else 'serial'}")


def compiled(all_cores: bool, device: Device, extents: tuple[int, ...], dtype: str) -> Transform:
    module = loops(all_cores)
    made = (module.Rows if len(extents) == 1 else module.Planes)(*extents, dtype)
    return Transform(made.forward, made.inverse)


def variants(plan: Callable[..., Plan]) -> tuple[Variant, ...]:
    """The variants of a filter with this plan; NumPy's does not support the mask."""
    most, one, every = limits.largest, partial(compiled, False), partial(compiled, True)
    numpy = Variant("numpy", "NumPy", NUMPY, partial(plan, peers.numpy), "cpu", library="numpy", largest=most)
    return (
        Variant("serial", "CPU, one core", SERIAL, partial(plan, one), "cpu", source="S2", largest=most),
        Variant("parallel", "CPU, all cores", PARALLEL, partial(plan, every), "cpu", largest=most),
        *(() if plan is plan_mask else (numpy,)),
        Variant("scipy", "SciPy", SCIPY, partial(plan, peers.scipy), "cpu", library="scipy", largest=most),
    )

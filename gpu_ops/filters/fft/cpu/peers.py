"""The transforms of other libraries: NumPy, SciPy, and cuFFT as CuPy and PyTorch call it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.fft import limits
from gpu_ops.filters.fft.cpu.plans import Transform, plan1d, plan2d, plan_mask
from gpu_ops.filters.fft.parameters import RESULTS1D, RESULTS2D
from gpu_ops.filters.kit.library_calls import on_tensors
from gpu_ops.filters.kit.rules import not_with
from gpu_ops.plan import Device, Plan
from gpu_ops.types import Rule, Variant

CUFFT = "cuFFT (CuPy)"
CUPY = "The library's own transforms (cuFFT), planned in advance; half spectra, as on the CPU."
TORCH = "cuFFT as torch.fft calls it; CuPy computes the other steps."
BESIDE = " Levels take elementwise kernels before and after it."
PLAIN = ("spectrum", "spectrogram", "round trip")
"""The results that need little more than the transform itself."""
STEPPED = ("level",)
"""The results that also need further steps, each by a call: the window, decibels, mirroring half of a spectrum, moving
zero frequency to the middle."""


def numpy(device: Device, extents: tuple[int, ...], dtype: str) -> Transform:
    """NumPy's transforms, which keep float32."""
    axes = tuple(range(-len(extents), 0))
    return Transform(
        lambda x, out: np.fft.rfftn(x, axes=axes, out=out),
        lambda bins, out: np.fft.irfftn(bins, extents, axes=axes, out=out),
    )


def scipy(device: Device, extents: tuple[int, ...], dtype: str) -> Transform:
    """SciPy's transforms on all cores."""
    fft, axes = device.library("scipy.fft"), tuple(range(-len(extents), 0))

    def forward(x: Any, out: Any) -> None:
        out[...] = fft.rfftn(x, axes=axes, workers=-1)

    def inverse(bins: Any, out: Any) -> None:
        out[...] = fft.irfftn(bins, extents, axes=axes, workers=-1, overwrite_x=True)

    return Transform(forward, inverse)


def cufft(device: Device, extents: tuple[int, ...], dtype: str) -> Transform:
    """cuFFT's transforms. CuPy keeps cuFFT's plans in a cache, which the plan's first run fills."""
    fft, axes = device.library("cupy").fft, tuple(range(-len(extents), 0))

    def forward(x: Any, out: Any) -> None:
        out[...] = fft.rfftn(x, axes=axes)

    def inverse(bins: Any, out: Any) -> None:
        out[...] = fft.irfftn(bins, extents, axes=axes)

    return Transform(forward, inverse)


def torch(device: Device, extents: tuple[int, ...], dtype: str) -> Transform:
    """PyTorch's transforms, which keep cuFFT's plans in a cache of their own."""
    fft, axes = device.library("torch").fft, tuple(range(-len(extents), 0))
    return Transform(
        on_tensors(device, lambda x, out: fft.rfftn(x, dim=axes, out=out)),
        on_tensors(device, lambda bins, out: fft.irfftn(bins, extents, dim=axes, out=out)),
    )


def _alone(words: str, results: tuple[str, ...], given: tuple[str, ...]) -> Rule:
    """Of all results only the given ones are supported."""
    others = (result for result in results if result not in given)
    words = f"it computes {words}, not {{result}}: choose {', '.join(r for r in results if r in given)}"
    return not_with("result", *others, words=words)


def _on_gpu(plan: Callable[..., Plan], about: tuple[str, str], *rules: Rule) -> tuple[Variant, ...]:
    """CuPy's and PyTorch's variants, with what each is about."""
    names = ("cupy", CUFFT, cufft), ("torch", "torch.fft", torch)
    return tuple(
        Variant(id, title, idea, partial(plan, engine), "cuda", library=id, rules=rules, largest=limits.largest)
        for (id, title, engine), idea in zip(names, about, strict=True)
    )


GPU1D = _on_gpu(plan1d, (CUPY, TORCH), _alone("the transform alone", RESULTS1D, PLAIN))
LEVELS = _alone("the transform and its levels", RESULTS2D, (*PLAIN, *STEPPED))
GPU2D = _on_gpu(plan2d, (CUPY + BESIDE, TORCH + BESIDE), LEVELS)
GPU_MASK = _on_gpu(plan_mask, (CUPY, TORCH))

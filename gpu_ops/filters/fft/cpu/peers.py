"""The transforms of other libraries: NumPy, SciPy, and cuFFT as CuPy calls it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.fft import limits
from gpu_ops.filters.fft.cpu.plans import Transform, plan1d, plan2d, plan_mask
from gpu_ops.plan import Device
from gpu_ops.task import Task
from gpu_ops.types import Refusal, Variant

CUFFT = "cuFFT (CuPy)"
CUPY = "The library's own transforms (cuFFT), planned beforehand; half spectra, as on the CPU."
AND_LEVELS = f"{CUPY} Levels take elementwise kernels before and after it."
PLAIN = ("spectrum", "spectrogram", "round trip")
"""The results that are little more than the transform itself."""
STEPPED = ("level",)
"""Those that it makes as well, each of the other steps by a call of its own: the window, decibels, the half that
mirrors the other, zero frequency in the middle."""


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

    def back(bins: Any, out: Any) -> None:
        out[...] = fft.irfftn(bins, extents, axes=axes, workers=-1, overwrite_x=True)

    return Transform(forward, back)


def cufft(device: Device, extents: tuple[int, ...], dtype: str) -> Transform:
    """cuFFT's transforms. CuPy keeps cuFFT's plans in a cache, which the plan's first run fills."""
    fft, axes = device.library("cupy").fft, tuple(range(-len(extents), 0))

    def forward(x: Any, out: Any) -> None:
        out[...] = fft.rfftn(x, axes=axes)

    def back(bins: Any, out: Any) -> None:
        out[...] = fft.irfftn(bins, extents, axes=axes)

    return Transform(forward, back)


def _plain(*results: str) -> dict[str, Any]:
    """What a variant declares that gives only the plain and the stepped ones of these results."""
    given = [r for r in results if r in PLAIN + STEPPED]
    words = "the transform alone" if set(given) <= set(PLAIN) else "the transform and its levels"

    def supports(task: Task) -> str | None:
        result = task.params["result"]
        if result in given:
            return None
        return f"it stands for {words}, not for {result}: choose {', '.join(given)}"

    never = {"param result": tuple(r for r in results if r not in given)}
    return {"supports": supports, "refuses": (Refusal(words, never),)}


OWN: dict[str, Any] = {"device": "cuda", "library": "cupy", "largest": limits.largest}


def cupy1d(results: tuple[str, ...]) -> Variant:
    """CuPy's transform of signals."""
    return Variant("cupy", CUFFT, CUPY, partial(plan1d, cufft), **OWN, **_plain(*results))


def cupy2d(results: tuple[str, ...]) -> Variant:
    """CuPy's transform of images."""
    return Variant("cupy", CUFFT, AND_LEVELS, partial(plan2d, cufft), **OWN, **_plain(*results))


def cupy_mask() -> Variant:
    """The mask with CuPy's transforms."""
    return Variant("cupy", CUFFT, CUPY, partial(plan_mask, cufft), **OWN)

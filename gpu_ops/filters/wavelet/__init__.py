"""Wavelet denoising of signals and images: forward transform, threshold small details, inverse transform.

No library for CUDA that CuPy brings has such a filter, so the peers run on the CPU.
"""

from __future__ import annotations

from typing import Any

from gpu_ops.filters.wavelet import forms, reference
from gpu_ops.filters.wavelet.counts.claims import CLAIMS
from gpu_ops.filters.wavelet.cpu import peers, plans
from gpu_ops.filters.wavelet.cuda.variants import variants1d, variants2d
from gpu_ops.task import Successor
from gpu_ops.types import Filter, Locality, Variant

SERIAL = "The plain loops, compiled, on one core: every coefficient is a sum over all taps; a median finds the noise."

PARALLEL = (
    "Rows and columns of a level in one pass, vector sums, thresholds fused into the inverse, no sort for the median."
)

PYWT = "What most Python programs call: dwt2 and idwt2 level by level on one core, and NumPy between them."
SKIMAGE = "The function that most people find: denoise_wavelet on one core, with a noise estimate of its own step."


def _host(*short: tuple[int, ...]) -> tuple[Variant, ...]:
    """The variants on the CPU, which signals and images share; `short` are shapes that scikit-image never takes."""
    skimage: dict[str, Any] = {"supports": peers.skimage_takes, "refuses": peers.skimage_refuses(*short)}
    return (
        Variant("serial", "CPU, one core", SERIAL, plans.serial, "cpu", source="S0", largest=forms.largest),
        Variant("parallel", "CPU, all cores", PARALLEL, plans.parallel, "cpu", largest=forms.largest),
        Variant("pywt", "PyWavelets", PYWT, plans.pywavelets, "cpu", library="pywt", largest=forms.largest),
        Variant(
            "skimage",
            "scikit-image",
            SKIMAGE,
            plans.skimage,
            "cpu",
            library="skimage",
            largest=forms.largest,
            **skimage,
        ),
    )


RENAMED: dict[str, dict[str, tuple[Successor, ...]]] = {
    "signal": {"recomputed": (Successor("warp_registers"), Successor("recomputed_blocks"))},
    "image": {
        "recomputed": (
            Successor("warp_strips", {"details": "kept"}),
            Successor("two_levels"),
            Successor("warp_recomputed"),
            Successor("recomputed_blocks"),
        )
    },
}
"""`recomputed` was all of these, as the settings had it."""

WAVELET1D = Filter(
    id="wavelet1d",
    family="wavelet",
    title="Wavelet denoising (signal)",
    summary="A signal without the small details of its wavelet transform, channel by channel.",
    accepts="signal",
    dtypes=("float32", "float64"),
    params=forms.PARAMS,
    outputs=forms.outputs("signal"),
    reference=reference.reference,
    work=forms.work,
    locality=Locality("global"),
    check=forms.check,
    source="S0",
    finite_only=True,
    variants=(*_host((1,)), *variants1d()),
    claims=CLAIMS,
    renamed=RENAMED["signal"],
)

WAVELET2D = Filter(
    id="wavelet2d",
    family="wavelet",
    title="Wavelet denoising (image)",
    summary="An image without the small details of its wavelet transform, channel by channel.",
    accepts="image",
    dtypes=("uint8", "uint16", "float32", "float64"),
    params=forms.PARAMS,
    outputs=forms.outputs("image"),
    reference=reference.reference,
    work=forms.work,
    locality=Locality("global"),
    check=forms.check,
    source="S0",
    finite_only=True,
    variants=(*_host((1, 1), (1, 7), (7, 1)), *variants2d()),
    renamed=RENAMED["image"],
)

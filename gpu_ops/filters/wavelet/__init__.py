"""Wavelet denoising of signals and images: forward transform, threshold small details, inverse transform.

No CUDA library included with CuPy has such a filter, so the peers run on the CPU.
"""

from __future__ import annotations

from gpu_ops.filters.wavelet import forms, reference
from gpu_ops.filters.wavelet.counts.claims import CLAIMS
from gpu_ops.filters.wavelet.cpu import peers, plans
from gpu_ops.filters.wavelet.cuda.variants import variants
from gpu_ops.input_kinds import INPUT_KINDS, Kind
from gpu_ops.task import Successor
from gpu_ops.types import DTYPES, Claim, Filter, Locality, Variant

SERIAL = (
    "The plain loops, compiled, on one core: every coefficient is a sum over all taps; the noise is estimated by "
    "a median."
)

PARALLEL = (
    "Rows and columns of a level in one pass, SIMD, thresholding fused into the inverse, the median without a sort."
)

PYWT = "What most Python programs call: dwt2 and idwt2 level by level on one core, and thresholding by NumPy."
SKIMAGE = "The library's denoise_wavelet on one core; its noise estimate is a separate step."


def _host(*short: tuple[int, ...]) -> tuple[Variant, ...]:
    """The variants on the CPU, for signals and images; `short` are shapes that scikit-image does not support."""
    return (
        Variant("serial", "CPU, one core", SERIAL, plans.serial, "cpu", source="S0", largest=forms.largest),
        Variant("parallel", "CPU, all cores", PARALLEL, plans.parallel, "cpu", largest=forms.largest),
        Variant("pywt", "PyWavelets", PYWT, plans.pywavelets, "cpu", library="pywt", largest=forms.largest),
        Variant(
            *("skimage", "scikit-image", SKIMAGE, plans.skimage, "cpu"),
            library="skimage",
            rules=(*peers.SKIMAGE_RULES, peers.skimage_levels(*short)),
            largest=forms.largest,
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
"""`recomputed` was split into these, by its settings."""


def _filter(
    kind: Kind, id: str, dtypes: tuple[str, ...], *short: tuple[int, ...], claims: tuple[Claim, ...] = ()
) -> Filter:
    """`short` are shapes that scikit-image does not support."""
    of = INPUT_KINDS[kind].title
    return Filter(
        id=id,
        family="wavelet",
        title=f"Wavelet denoising ({kind})",
        summary=f"{of.capitalize()} without the small details of its wavelet transform, channel by channel.",
        accepts=kind,
        dtypes=dtypes,
        params=forms.PARAMS,
        outputs=forms.outputs(kind),
        reference=reference.reference,
        work=forms.work,
        locality=Locality("global"),
        check=forms.check,
        source="S0",
        finite_only=True,
        shows=("l2_bytes", "launches", "warp_instructions"),
        variants=(*_host(*short), *variants(kind)),
        claims=claims,
        renamed=RENAMED[kind],
    )


WAVELET1D = _filter("signal", "wavelet1d", ("float32", "float64"), (1,), claims=CLAIMS)
WAVELET2D = _filter("image", "wavelet2d", DTYPES, (1, 1), (1, 7), (7, 1))

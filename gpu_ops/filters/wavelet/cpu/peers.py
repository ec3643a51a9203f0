"""Wavelet denoising by libraries: PyWavelets level by level, with medians and sorts of NumPy, and scikit-image.

scikit-image's noise estimate excludes details that are exactly 0, and compares variances with a constant; so its
samples are scaled to units of the noise that is estimated here, and this cost is included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.rules import not_with, together
from gpu_ops.filters.wavelet.bases import LENGTHS
from gpu_ops.filters.wavelet.finest import finest_of
from gpu_ops.filters.wavelet.forms import bands_of, spatial
from gpu_ops.filters.wavelet.reference import analysed, samples_of, synthesised
from gpu_ops.filters.wavelet.rules import NORMAL_MEDIAN, figures_of, shrunk
from gpu_ops.task import Task
from gpu_ops.types import Rule

Array = np.ndarray[Any, Any]


class PyWavelets:
    """The calls of one task, in its own type."""

    def __init__(self, task: Task) -> None:
        self.task, self.bands = task, bands_of(task)

    def forward(self, x: Array, pyramid: Array) -> None:
        """Fill the bands of a pyramid."""
        analysed(x, pyramid, self.task)

    def estimate(self, pyramid: Array, figures: Array) -> None:
        """The noise estimate and the thresholds."""
        params = self.task.params
        how = params["rule"], params["value"], samples_of(self.task)
        figures[...] = figures_of(pyramid, self.bands, finest_of(self.task), *how)

    def backward(self, pyramid: Array, figures: Array, out: Array) -> None:
        """The samples of a pyramid after thresholding, which overwrites its details."""
        for band, threshold in zip(self.bands[1:], figures[1:].astype(pyramid.dtype), strict=True):
            pyramid[band.part] = shrunk(pyramid[band.part], threshold, self.task.params["threshold"])
        out[...] = synthesised(pyramid, self.task)


METHODS = {"universal": "VisuShrink", "BayesShrink": "BayesShrink"}


def skimage_denoise(restoration: Any, task: Task, x: Array, out: Array) -> None:
    """denoise_wavelet channel by channel; a channel without noise stays as it is."""
    import pywt

    params, rank = task.params, len(spatial(task))
    for place in np.ndindex(*x.shape[rank:]):
        channel = x[(..., *place)] if place else x
        finest = pywt.dwt2(channel, params["wavelet"])[1][2] if rank == 2 else pywt.dwt(channel, params["wavelet"])[1]
        kept = tuple(slice(n) for n in finest_of(task).shape)
        noise = float(np.median(np.abs(finest[kept]))) / NORMAL_MEDIAN
        result = channel
        if noise:
            how = {"method": METHODS[params["rule"]], "wavelet_levels": params["levels"], "rescale_sigma": False}
            result = noise * restoration.denoise_wavelet(channel / noise, 1.0, params["wavelet"], "soft", **how)
        out[(..., *place)] = result


SKIMAGE_RULES = together(
    not_with("border", "periodization", words="its border is symmetric"),
    not_with("rule", "manual", "SURE", words="its rules are universal and BayesShrink"),
    not_with(
        *("threshold", "hard", "garrote"),
        words="it has no garrote, and its hard thresholding keeps values equal to the threshold",
    ),
    Rule(lambda task: task.params["shifts"] > 1, "it has no cycle spinning; choose shifts 1", {"param shifts": (2, 3)}),
    not_with("result", "parts", words="it returns the result alone"),
    Rule(
        lambda task: task.params["wavelet"].startswith(("bior", "rbio")),
        "it takes orthogonal wavelets only",
        {"param wavelet": ("bior1.3", "rbio3.1")},
    ),
)


def skimage_levels(*short: tuple[int, ...]) -> Rule:
    """Each side is long enough for all levels, which these shapes of the contract are for no wavelet."""
    return Rule(
        lambda task: (LENGTHS[task.params["wavelet"]] - 1) << task.params["levels"] > min(spatial(task)),
        "a side is too short for its levels",
        {"shape": short},
        also=True,
    )

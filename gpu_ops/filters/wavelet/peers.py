"""Wavelet denoising by PyWavelets: what most Python programs call, level by level, with medians and sorts of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.wavelet.forms import bands_of
from gpu_ops.filters.wavelet.reference import analysed, samples_of, synthesised
from gpu_ops.filters.wavelet.rules import figures_of, shrunk
from gpu_ops.task import Task

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
        figures[...] = figures_of(pyramid, self.bands, params["rule"], params["value"], samples_of(self.task))

    def backward(self, pyramid: Array, figures: Array, out: Array) -> None:
        """The samples of a pyramid after the thresholds, to which its details are changed."""
        for band, threshold in zip(self.bands[1:], figures[1:].astype(pyramid.dtype), strict=True):
            pyramid[band.part] = shrunk(pyramid[band.part], threshold, self.task.params["threshold"])
        out[...] = synthesised(pyramid, self.task)

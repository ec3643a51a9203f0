"""All filters, in display order."""

from __future__ import annotations

from gpu_ops.filters.box import BOX
from gpu_ops.filters.conv3x3 import CONV3X3
from gpu_ops.filters.fft import FFT1D, FFT2D, FFT_BATCH1D, FFT_BATCH2D, FFT_MASK
from gpu_ops.filters.histogram import HISTOGRAM1D, HISTOGRAM2D
from gpu_ops.filters.layout import LAYOUT
from gpu_ops.filters.mean import MEAN1D, MEAN2D
from gpu_ops.filters.reduce import REDUCE1D, REDUCE2D
from gpu_ops.filters.registry import Registry
from gpu_ops.filters.scan import SCAN1D, SCAN2D
from gpu_ops.filters.transfer import transfers_of
from gpu_ops.filters.wavelet import WAVELET1D, WAVELET2D
from gpu_ops.types import Filter

TRANSFER1D = transfers_of("signal", ("vector", MEAN1D), ("naive", MEAN1D))
TRANSFER2D = transfers_of("image", ("rows", CONV3X3), ("bytes", CONV3X3), ("rows", MEAN2D), ("naive", MEAN2D))
FILTERS = Registry(
    (
        *(MEAN1D, MEAN2D, BOX, CONV3X3, HISTOGRAM1D, HISTOGRAM2D, REDUCE1D, REDUCE2D, SCAN1D, SCAN2D),
        *(FFT1D, FFT2D, FFT_MASK, FFT_BATCH1D, FFT_BATCH2D, WAVELET1D, WAVELET2D, LAYOUT, TRANSFER1D, TRANSFER2D),
    )
)


def find_filter(name: str, kind: str | None = None) -> Filter:
    """The filter of that id, or of that family for an input of `kind`. Raises ParamError that names all families."""
    return FILTERS.find(name, kind)

"""All filters, in the order in which every list shows them."""

from __future__ import annotations

from gpu_ops.errors import ParamError, plain
from gpu_ops.filters.box import BOX
from gpu_ops.filters.conv3x3 import CONV3X3
from gpu_ops.filters.fft import FFT1D, FFT2D, FFT_BATCH1D, FFT_BATCH2D, FFT_MASK
from gpu_ops.filters.histogram import HISTOGRAM1D, HISTOGRAM2D
from gpu_ops.filters.layout import LAYOUT
from gpu_ops.filters.mean import MEAN1D, MEAN2D
from gpu_ops.filters.reduce import REDUCE1D, REDUCE2D
from gpu_ops.filters.registry import check_filters
from gpu_ops.filters.scan import SCAN1D, SCAN2D
from gpu_ops.filters.wavelet import WAVELET1D, WAVELET2D
from gpu_ops.types import Claim, Figure, Filter

FILTERS: tuple[Filter, ...] = check_filters(
    (
        *(MEAN1D, MEAN2D, BOX, CONV3X3, HISTOGRAM1D, HISTOGRAM2D, REDUCE1D, REDUCE2D, SCAN1D, SCAN2D),
        *(FFT1D, FFT2D, FFT_MASK, FFT_BATCH1D, FFT_BATCH2D, WAVELET1D, WAVELET2D, LAYOUT),
    )
)


def find_filter(name: str, kind: str | None = None) -> Filter:
    """The filter of that id, or of that family for an input of `kind`. Raises ParamError that names all families."""
    for filter in FILTERS:
        if filter.id == name or (filter.family == name and filter.accepts == kind):
            return filter
    family = [f for f in FILTERS if f.family == name]
    if family:
        takes = " or ".join(f"{f.accepts} ({f.id})" for f in family)
        raise ParamError(f"{name} takes a {takes}, not a {kind}.")
    families = ", ".join(dict.fromkeys(f.family for f in FILTERS))
    raise ParamError(f"There is no filter {plain(name, 60)!r}; choose from {families}.")


def all_claims() -> tuple[Claim, ...]:
    """Every claim of the sources, in the order of the filters."""
    return tuple(claim for filter in FILTERS for claim in filter.claims)


def all_figures() -> tuple[Figure, ...]:
    """Every figure of the sources, in the order of the filters."""
    return tuple(figure for filter in FILTERS for figure in filter.figures)

"""How far two pictures agree, in numbers: RMSE, PSNR, SSIM, and the pixels above a tolerance. No widgets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, Slot

from app.models.pictures.pair import Pair
from app.models.pictures.pyramid import STRIP, Array
from gpu_ops import structural_similarity
from gpu_ops.output_kinds import subtracted


@dataclass(frozen=True)
class Figures:
    """`rmse` is in the pictures' unit; `psnr` in dB is 20 log10(span / rmse) and infinite where both are equal. `over`
    of `pixels` differ by more than the tolerance in some channel, or are not finite. None: not defined, as all but
    `over` are not with NaN or infinity; SSIM is not for pictures smaller than its window."""

    rmse: float | None
    psnr: float | None
    ssim: float | None
    over: int
    pixels: int
    span: float
    tolerance: float


def usual_span(a: Array, b: Array) -> float:
    """The range that PSNR and SSIM divide by: all of uint8 or uint16, else the largest finite value of `b` minus its
    smallest; 0 where `b` has one value or none."""
    if a.dtype == b.dtype and b.dtype.kind == "u" and b.dtype.itemsize <= 2:
        return float(np.iinfo(b.dtype).max)
    known = b if b.dtype.kind != "f" else b[np.isfinite(b)]
    return float(known.max()) - float(known.min()) if known.size else 0.0


def agreement_of(
    a: Array, b: Array, span: float | None, tolerance: float, stop: Callable[[], bool] = lambda: False
) -> Figures | None:
    """The figures of two images of one shape (H, W) or (H, W, C), strip by strip; the usual span where none is given.
    None when `stop` returned True first."""
    squares, over, rows = 0.0, 0, max(1, STRIP // max(1, a[0].size))
    for top in range(0, len(a), rows):
        if stop():
            return None
        sizes = np.abs(subtracted(a[top : top + rows], b[top : top + rows]))
        squares += float(np.dot(sizes.reshape(-1), sizes.reshape(-1)))
        above: Array = ~(sizes <= tolerance)  # NaN is no agreement
        over += int(np.count_nonzero(above.any(axis=2) if above.ndim == 3 else above))
    used, pixels = usual_span(a, b) if span is None else span, a.shape[0] * a.shape[1]
    if not math.isfinite(squares):
        return Figures(None, None, None, over, pixels, used, tolerance)
    rmse = math.sqrt(squares / a.size)
    psnr = math.inf if not rmse else 20 * math.log10(used / rmse) if used else None
    ssim = structural_similarity(a, b, used, stop)
    return None if stop() else Figures(rmse, psnr, ssim, over, pixels, used, tolerance)


class Agreement(Pair):
    """Keeps `figures` equal to those of two layers, with a `span` for PSNR and SSIM, None for the usual one, and a
    `tolerance` in the pictures' unit."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.figures: Figures | None = None
        self.span: float | None = None
        self.tolerance = 0.0
        self._background.finished.connect(self._on_result)

    def set_limits(self, span: float | None, tolerance: float) -> None:
        """Use another span or tolerance."""
        if (span, tolerance) != (self.span, self.tolerance):
            self.span, self.tolerance = span, tolerance
            self._restart()

    @property
    def labels(self) -> bool:
        """Whether a distance of the values means nothing."""
        return any(layer.labelled for layer in self._layers)

    def _clear(self) -> None:
        self.figures = None

    def _begin(self, a: Array, b: Array) -> None:
        if self.labels:
            self._reset()
            return
        span, tolerance = self.span, self.tolerance
        self._background.start(lambda stop: agreement_of(a, b, span, tolerance, stop))

    @Slot(object)
    def _on_result(self, figures: Figures) -> None:
        self.figures = figures
        self.changed.emit()

"""Where reads outside the edges are mapped. The four borders follow scipy.ndimage, at any distance from the edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_ops.errors import ParamError, plain
from gpu_ops.types import BORDERS

SCIPY_MODES = {"zero": "constant", "reflect": "reflect", "nearest": "nearest", "wrap": "wrap"}
"""Each border's name in scipy.ndimage and cupyx.scipy.ndimage, whose cval is 0 unless given."""


def opencv_border(cv2: Any, border: str) -> int:
    """A border's code in OpenCV, whose filters do not support wrap."""
    codes = {"zero": cv2.BORDER_CONSTANT, "reflect": cv2.BORDER_REFLECT, "nearest": cv2.BORDER_REPLICATE}
    return int(codes[border])


def border_indices(border: str, start: int, stop: int, n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The indices 0 … n - 1 from which positions start … stop - 1 are read, or -1 where "zero" reads a 0.

    Positions may be any integers. reflect is d c b a | a b c d | d c b a, wrap is a b c d | a b c d | a b c d; both
    continue periodically. Raises ParamError for an unknown border or an axis without elements.
    """
    if border not in BORDERS:
        raise ParamError(f"border must be one of {', '.join(BORDERS)}, not {plain(border, 60)!r}.")
    if n < 1:
        raise ParamError("An axis needs at least one element to be read across its border.")
    positions = np.arange(start, stop, dtype=np.int64)
    if border == "zero":
        return np.where((positions >= 0) & (positions < n), positions, -1)
    if border == "nearest":
        return np.clip(positions, 0, n - 1)
    if border == "wrap":
        return positions % n
    folded = positions % (2 * n)
    return np.minimum(folded, 2 * n - 1 - folded)


def padded(array: np.ndarray[Any, Any], slices: Sequence[slice], border: str) -> np.ndarray[Any, Any]:
    """A copy of a region of `array` that may exceed the edges of its first len(slices) axes.

    Each slice has start and stop as plain positions (negative ones are before the first element, none count from the
    end) and no step; axes without a slice are copied whole.
    """
    result = array
    for axis, region in enumerate(slices):
        start, stop, n = region.start, region.stop, array.shape[axis]
        before = (slice(None),) * axis
        if start >= 0 and stop <= n:
            result = result[(*before, slice(start, stop))]
            continue
        indices = border_indices(border, start, stop, n)
        result = np.take(result, indices, axis=axis)
        outside: tuple[Any, ...] = (*before, indices < 0)
        result[outside] = 0
    return np.array(result)

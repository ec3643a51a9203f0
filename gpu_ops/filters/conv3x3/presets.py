"""Well-known 3×3 matrices, by name. Integers clamp negative results to 0: an offset makes them visible."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_ops.params import Values


def _preset(*matrix: float, divisor: float = 1.0) -> Values:
    return {"matrix": tuple(float(w) for w in matrix), "divisor": divisor, "offset": 0.0}


PRESETS: Mapping[str, Values] = {
    "identity": _preset(0, 0, 0, 0, 1, 0, 0, 0, 0),
    "mean": _preset(1, 1, 1, 1, 1, 1, 1, 1, 1, divisor=9.0),
    "gaussian": _preset(1, 2, 1, 2, 4, 2, 1, 2, 1, divisor=16.0),
    "sharpen": _preset(0, -1, 0, -1, 5, -1, 0, -1, 0),
    "unsharp": _preset(-1, -2, -1, -2, 28, -2, -1, -2, -1, divisor=16.0),
    "emboss": _preset(-2, -1, 0, -1, 1, 1, 0, 1, 2),
    "sobel-x": _preset(-1, 0, 1, -2, 0, 2, -1, 0, 1),
    "sobel-y": _preset(-1, -2, -1, 0, 0, 0, 1, 2, 1),
    "laplacian": _preset(0, 1, 0, 1, -4, 1, 0, 1, 0),
}

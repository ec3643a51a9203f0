"""The text of a result in the window is that of its array, without another pass over it."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops.engine.jobs import _ends
from gpu_ops.engine.statistics import statistics
from gpu_ops.output_kinds import OUTPUT_KINDS, Axis, Form

RNG = np.random.default_rng(1)
FLOATS = RNG.normal(0, 1e6, (40, 50))
CASES = {
    "float32": FLOATS.astype(np.float32),
    "float64 not finite": np.where(np.abs(FLOATS) < 2e6, FLOATS, [[np.nan, np.inf] * 25]),
    "nothing finite": np.full((3, 4), np.nan, np.float32),
    "uint64": RNG.integers(2**63, 2**64 - 1, (5, 6), np.uint64),
    "bool": FLOATS > 0,
    "alpha": RNG.integers(50, 60, (4, 5, 4), np.uint8),
    "complex64": (FLOATS + 1j * FLOATS[::-1]).astype(np.complex64),
}


@pytest.mark.parametrize("name", CASES)
def test_a_summary_of_the_extremes_is_that_of_the_array(name: str) -> None:
    array = CASES[name].copy()
    if name == "alpha":
        array[..., 3] = 255
    kind = OUTPUT_KINDS["spectrum" if array.dtype.kind == "c" else "image"]
    form = Form(array.shape, array.dtype.name, tuple(Axis(str(k), "", 0.0, 1.0) for k in range(array.ndim)))
    figures = kind.figures(array)
    ends = _ends(array, figures, statistics(figures))
    assert kind.summarise(ends, form, "V") == kind.summarise(array, form, "V")
    assert (ends.size == 2) == (name not in ("alpha", "nothing finite"))

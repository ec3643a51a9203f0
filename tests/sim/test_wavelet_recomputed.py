"""Wavelet denoising that makes the details of level 1 twice, on the simulated GPU: long filters and many strips against
the reference, what it moves, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import find_filter
from gpu_ops.filters.wavelet.reference import reference
from gpu_ops.plan import LineCounts
from gpu_ops.types import Filter
from tests.tasks import on

Array = np.ndarray[Any, Any]
CASES = (
    ("wavelet2d", (71, 130), "float32", "sym8", "periodization", 2, 1),
    ("wavelet2d", (43, 67), "float64", "db20", "symmetric", 1, 1),
    ("wavelet2d", (35, 61, 3), "float32", "bior4.4", "symmetric", 3, 2),
    ("wavelet1d", (1537,), "float64", "db20", "periodization", 3, 1),
    ("wavelet1d", (1201, 2), "float32", "coif2", "symmetric", 2, 2),
)
ROWS = 32


def _made(
    filter: Filter, x: Array, block: int = 64, rows: int = ROWS, **changed: Any
) -> tuple[Array, Array, tuple[LineCounts, ...]]:
    """The result, the reference, and the counters of each line."""
    params = {p.name: p.default for p in filter.params} | {"rule": "manual", "value": 0.3} | changed
    device = SimDevice(options=Options(counters="full")).session({})
    task = on(filter, device.upload(x), params, {"block": block, "rows": rows}, device.limits)
    assert filter.variant("recomputed").supports(task) is None
    plan = filter.variant("recomputed").plan(device, task)
    executed = device.execute(plan)
    assert executed.findings == ()
    result = device.download(plan.outputs[filter.accepts])
    return result, reference(on(filter, x, params))[filter.accepts], executed.lines


def _noise(shape: tuple[int, ...], dtype: str = "float32") -> Array:
    return np.random.default_rng(7).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("id, shape, dtype, wavelet, border, levels, shifts", CASES)
def test_long_filters_over_several_strips(
    id: str, shape: tuple[int, ...], dtype: str, wavelet: str, border: str, levels: int, shifts: int
) -> None:
    rule = "universal" if shifts > 1 else "manual"
    params = {"wavelet": wavelet, "border": border, "levels": levels, "shifts": shifts, "rule": rule}
    found, expected, _ = _made(find_filter(id), _noise(shape, dtype), **params)
    assert np.abs(found - expected).max() < (1e-12 if dtype == "float64" else 4e-6)


def test_an_image_moves_twelve_bytes_a_pixel() -> None:
    """At 4 levels, what overlaps included: samples are read twice and written once. All else is a quarter of that, in
    bands that stay in the cache of a GPU. The tiles of one launch a level move twice as much of whole images alone."""
    filter, x = find_filter("wavelet2d"), _noise((512, 992))
    found, expected, lines = _made(filter, x, 256, 256, levels=4)
    assert np.abs(found - expected).max() < 4e-6
    samples = [line for line in lines if line.file.endswith("wavelet_strip.cuh")]
    moved = {
        verb: 32 * sum(line.counts.get(f"global_{verb}_sectors", 0) for line in samples) for verb in ("load", "store")
    }
    assert moved["store"] == x.nbytes
    assert 12 * x.size < sum(moved.values()) <= 13 * x.size
    every = sum(line.counts.get(f"global_{v}_sectors", 0) for line in lines for v in ("load", "store"))
    assert 32 * every < 22 * x.size


def test_it_says_what_it_cannot_do() -> None:
    filter = find_filter("wavelet2d")
    params = {p.name: p.default for p in filter.params}
    why = filter.variant("recomputed").supports
    knobs = {"block": 256, "rows": 128}
    x = np.empty((64, 64), np.float32)
    reason = str(why(on(filter, x, {**params, "rule": "SURE", "result": "parts"}, knobs)))
    assert "a threshold for each band" in reason and "take manual or universal" in reason
    assert "keeps no coefficients" in reason

"""Levels in two passes on the simulated GPU: what they touch, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lanes import few

from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.explaining.xray import xray
from gpu_ops.filters import find_filter
from gpu_ops.io import from_array
from gpu_ops.params import check_values
from gpu_ops.plan import Launch
from gpu_ops.running.verify import verify
from gpu_ops.task import Meta, Task
from gpu_ops.types import Input

TWO_PASSES = {
    "uint8": ((64, 128), {"window": "Hann", "centred": True}, 10.0),
    "float32": ((128, 64), {"window": "none"}, 10.0),
    "float64": ((64, 64), {"window": "flat-top", "floor": -100.0}, 18.0),
}
"""Shape and parameters of levels in two passes, by the type of the samples, and the bytes per pixel of the sectors that
are stored: half a complex number; half a level where it lies, and again in twice the sectors, because a row of 32
bytes has its opposite across the edge of a sector. Doubles have 64 bytes per row there, in three sectors."""


@pytest.mark.parametrize("dtype", few(TWO_PASSES, "uint8"))
def test_levels_in_two_passes_touch_the_sectors_that_are_predicted(dtype: str) -> None:
    shape, params, stored = TWO_PASSES[dtype]
    x = (np.random.default_rng(6).random(shape) * 200).astype(dtype)
    filter = find_filter("fft2d")
    input = Input("image", x, "yx", "x", {"generator": "test"})
    found = xray(filter, filter.variant("spectrum"), input, {"result": "level", **params}, {"block": 64})
    assert len(found.predicted) == 4 and not found.findings
    assert {id: found.totals[id] for id in found.predicted} == found.predicted
    assert found.totals["global_store_sectors"] * 32 == stored * x.size
    # No bank conflicts; but of doubles, four mirrored ones of a warp lie in both of its halves, which take turns.
    more = found.totals["shared_wavefronts"] - found.totals["shared_ideal_wavefronts"]
    assert more == (x.shape[0] // 2 if dtype == "float64" else 0)


@pytest.mark.thorough
@pytest.mark.parametrize("shape", [(1024, 32), (2, 16384)])
def test_blocks_of_1024_threads_are_right(shape: tuple[int, int]) -> None:
    """Long lines leave a thread 64 registers, and butterflies of 8 points instead of 16."""
    filter, x = find_filter("fft2d"), np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    device = SimDevice("sm_90", Options(checks="full", counters="off")).session({})
    params = check_values(filter.params, {"result": "level", "centred": True}, "fft2d")
    input = from_array(x, kind="image")
    task = Task.of(input.meta, params, {"block": 256, "strip": 16}, device.limits)
    plan = filter.variant("spectrum").plan(device, task.on(device.upload(x)))
    assert 1024 in [math.prod(step.block) for step in plan.steps if isinstance(step, Launch)]
    assert device.execute(plan).findings == ()
    made = {"level": device.download(plan.outputs["level"])}
    assert verify(filter, filter.variant("spectrum"), input, task, made)["level"].ok


def test_levels_in_two_passes_refuse_by_name_what_they_do_not_take() -> None:
    filter = find_filter("fft2d")
    params = check_values(filter.params, {"result": "level"}, "fft2d")

    def reason(shape: tuple[int, ...], dtype: str = "float32", architecture: str = "sm_90", strip: int = 8) -> str:
        limits = OfflineDevice(architecture).limits
        task = Task.of(Meta("image", shape, dtype), params, {"block": 256, "strip": strip}, limits)
        return filter.variant("spectrum").refusal(task) or ""

    assert "1,024 × 1,000 pixels; crop it, or use the variant registers" in reason((1000, 1024))
    assert "one channel, and this image has 3" in reason((64, 64, 3))
    assert "neighbouring columns of 4,096, in its threads and 65,536 bytes" in reason(
        (4096, 4096), architecture="sm_75"
    )
    assert "neighbouring columns of 8,192" in reason((8192, 1024))
    assert reason((4096, 16384)) == reason((4096, 4096), "float64") == reason((1024, 4096), architecture="sm_75") == ""

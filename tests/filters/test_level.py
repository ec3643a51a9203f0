"""Levels of images in dB: against full scale, and how they are judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tasks import on

from gpu_ops.devices import open_device
from gpu_ops.filters import find_filter
from gpu_ops.filters.fft.cpu import peers
from gpu_ops.filters.fft.cpu.plans import plan2d
from gpu_ops.filters.fft.limits import transform_tolerance
from gpu_ops.io import from_array
from gpu_ops.params import check_values
from gpu_ops.running.runner import run_experiment
from gpu_ops.running.verify import verify
from gpu_ops.types import Experiment, Pick, Run

Array = np.ndarray[Any, Any]


def run(array: Array, variant: str, **params: Any) -> Run:
    """The levels of an image by a variant on the CPU, verified."""
    experiment = Experiment(
        "fft2d", from_array(array, "image"), {"result": "level", **params}, (Pick(variant, "cpu"),), protocol="none"
    )
    found = list(run_experiment(experiment))[-1]
    assert found.ok, (found.failure, found.errors)
    return found


@pytest.mark.parametrize("variant", ["serial", "numpy", "scipy"])
@pytest.mark.parametrize("dtype, full", [("uint8", 255), ("uint16", 65535), ("float32", 1), ("float64", 1)])
def test_levels_are_of_full_scale(dtype: str, full: int, variant: str) -> None:
    """A constant of full scale has 0 dB at zero frequency, a grating half of its amplitude at each of its two."""
    y, x = np.mgrid[:32, :45]
    flat = np.full((32, 45), full, dtype)
    made = run(flat, variant, centred=True, floor=-60).outputs["level"]
    assert made[16, 22] == pytest.approx(0, abs=1e-4)
    made[16, 22] = -60
    assert np.allclose(made, -60, atol=1e-4)
    grating = full * (0.5 + 0.25 * np.cos(2 * np.pi * (4 * y / 32 + 9 * x / 45)))
    image = grating.astype(dtype) if full == 1 else np.rint(grating).astype(dtype)
    found = run(image, variant, window="Hann", detrend="constant")
    for place in ((4, 9), (28, 36)):
        assert found.outputs["level"][place] == pytest.approx(20 * np.log10(0.125), abs=0.05)
    assert found.outputs["level"][16, 22] < -55 and found.outputs["level"].min() >= -80.0001
    assert find_filter("fft2d").given(found.params)[0].unit == "dB"


@pytest.mark.parametrize("floor", [-100.0, -20.0])
def test_each_level_is_judged_by_its_own_magnitude(floor: float) -> None:
    """Magnitudes that are off by nearly their tolerance, a share of the largest one, are right; ten times as much is
    wrong, and so is a loud level that is off by what a level at the floor may be."""
    x = np.random.default_rng(4).integers(0, 256, (40, 60)).astype(np.uint8)
    filter = find_filter("fft2d")
    task = on(filter, x, check_values(filter.params, {"result": "level", "floor": floor}, "fft2d"))
    size = np.abs(np.fft.fft2(x.astype(float))) / (255 * x.size)

    def ok(moved: Array, loud: float = 0.0) -> bool:
        levels = 20 * np.log10(np.maximum(size + moved, 10 ** (floor / 20)))
        levels[0, 0] += loud
        made = {"level": levels.astype(np.float32)}
        return verify(filter, filter.variant("serial"), from_array(x), task, made)["level"].ok

    error = transform_tolerance(task) * float(size.max())
    assert ok(np.full(size.shape, 0.9 * error)) and ok(np.full(size.shape, -0.9 * error))
    assert not ok(np.full(size.shape, 10 * error))
    assert not ok(np.zeros(size.shape), 0.01)


def test_steps_of_levels_are_counted_one_by_one() -> None:
    """As CuPy has them: it makes levels in steps of its own, and no magnitudes."""
    filter, x = find_filter("fft2d"), np.zeros((6, 8), np.uint8)
    params = check_values(filter.params, {"result": "level", "window": "Hann", "centred": True}, "fft2d")
    task = on(filter, x, params)
    names = [step.name for step in plan2d(peers.numpy, open_device("cpu"), task).steps]
    assert names == ["convert", "window", "transform", "levels", "mirror", "centre"]
    cupy = filter.variant("cupy")
    assert cupy.refusal(task) is None
    assert "and its levels, not magnitude: choose" in (cupy.refusal(task.with_params(result="magnitude")) or "")
    assert filter.variant("registers").refusal(task) is None

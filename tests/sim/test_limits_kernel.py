"""The kernel that finds the minimum and maximum sample of an array on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops.devices.instruments import LIMITS
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.plan import Launch, Plan

BLOCKS = 3


def limits(samples: np.ndarray, skip: int = 0) -> tuple[float, float]:
    """What the blocks of the kernel find together."""
    device = SimDevice()
    kernel = device.kernel(LIMITS.source, LIMITS.name, {"DOUBLE": int(samples.itemsize == 8), "SKIP": skip})
    pairs = [device.allocate("mapped", (BLOCKS,), samples.dtype) for _ in range(2)]
    args = (device.upload(samples), *pairs, np.int64(samples.size))
    done = device.execute(Plan((Launch(kernel, (BLOCKS, 1, 1), (256, 1, 1), args),), {}))
    assert not done.findings
    return float(pairs[0].min()), float(pairs[1].max())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 31, 256, 3 * 256 * 2 + 5])
def test_they_are_numpys_wherever_they_lie(dtype: str, size: int) -> None:
    samples = np.random.default_rng(size).normal(size=size).astype(dtype)
    for place in {0, size // 3, size - 1}:
        for value in (-9, 9):
            held = samples.copy()
            held[place] = value
            assert limits(held) == (held.min(), held.max())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_a_sample_that_is_not_finite_makes_them_infinite(dtype: str, odd: float) -> None:
    for place in (0, 255, 3 * 256, 1000):
        samples = np.ones(1001, dtype)
        samples[place] = odd
        assert limits(samples) == (-np.inf, np.inf)


def test_alpha_may_have_no_part() -> None:
    pixels = np.random.default_rng(1).random((300, 4)).astype(np.float32)
    pixels[:, 3] = np.linspace(-5, np.nan, 300)
    assert limits(pixels, skip=4) == (pixels[:, :3].min(), pixels[:, :3].max())

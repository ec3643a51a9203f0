"""`apply` on a real GPU: what it finds out about the samples while they are copied, and what it does with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import gpu_ops as ks
from gpu_ops.devices import open_device
from gpu_ops.devices.cuda.resident import SampleLimits
from gpu_ops.running import reusable_plan
from gpu_ops.running.reusable_plan import SHORT

pytestmark = pytest.mark.gpu

Array = np.ndarray
Place = Callable[[Array], Array]


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    ks.forget_plans()
    yield
    ks.forget_plans()


@pytest.fixture(params=["host", "gpu"])
def placed(request: pytest.FixtureRequest, cuda: str) -> Place:
    """Leaves an array on the host, or puts it on the GPU."""
    if request.param == "host":
        return lambda array: array
    import cupy

    return cupy.asarray


def to_host(array: Array) -> Array:
    return array if isinstance(array, np.ndarray) else array.get()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 300, SHORT + 400, 5_000_003])
def test_limits_are_numpys(cuda: str, dtype: str, size: int) -> None:
    device = open_device(cuda)
    samples = np.random.default_rng(size).normal(size=size).astype(dtype)
    x = device.upload(samples)
    finder = SampleLimits(device, x)
    for _ in range(2):
        assert finder.find() == (samples.min(), samples.max())
        samples[size // 2] = 100
        device.upload(samples, out=x)
    for odd in (np.nan, np.inf, -np.inf):
        samples[size - 1] = odd
        device.upload(samples, out=x)
        assert finder.find() == (-np.inf, np.inf)


@pytest.mark.parametrize("size", [400, SHORT + 400, (reusable_plan.PINNED_MOST >> 2) + 400])
def test_every_call_takes_the_samples_that_it_is_given(cuda: str, placed: Place, size: int) -> None:
    generator = np.random.default_rng(size)
    for _ in range(4):
        samples = generator.random(size, np.float32)
        found = ks.apply("mean", placed(samples), window=3, device=cuda)
        right = np.convolve(np.pad(samples.astype(float), 1, "edge"), np.full(3, 1 / 3), "valid")
        inner = slice(1, -1)
        np.testing.assert_allclose(to_host(found)[inner], right[inner], rtol=1e-5)


@pytest.mark.parametrize("size", [400, SHORT + 400])
def test_samples_that_are_not_finite_and_other_ranges_are_found(
    cuda: str, placed: Place, size: int, plans: list[str]
) -> None:
    samples = np.random.default_rng(size).random(size, np.float32)
    holed = samples.copy()
    holed[7] = np.nan
    for array in (samples, holed, samples):
        ks.apply("reduce", placed(array), device=cuda, verify=True)
    assert len(plans) == 3
    for array in (samples, samples * 3, samples * 3, samples):
        ks.apply("histogram", placed(array), device=cuda, verify=True)
    assert len(plans) == 6


def test_alpha_is_no_part_of_the_range(cuda: str, placed: Place) -> None:
    image = np.random.default_rng(2).random((200, 200, 4), np.float32)
    image[..., 3] = 50
    ks.apply("histogram", placed(image), device=cuda, verify=True)

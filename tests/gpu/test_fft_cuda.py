"""The Fourier transform's kernels on a real GPU at sizes that a simulated one takes too long for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import fft

from gpu_ops.devices import open_device
from gpu_ops.filters.fft.cuda.transform import Lines, Transforms
from gpu_ops.filters.fft.cuda.ways import STOCKHAM
from gpu_ops.plan import Plan

pytestmark = pytest.mark.gpu

FAST_SINE = 4e-6
"""Most that fast sine may be off, relative and root mean square: twice what twiddles that are all as coarse as CUDA
states make of 4096 points."""
WAYS = ("global", "shared", *STOCKHAM)
SHAPES = ((1, 1 << 20, 1), (1, 1_000_003, 2), (64, 16384, 1), (3, 8191, 3), (1, 1 << 24, 1))


@pytest.mark.parametrize("dtype, most", [("complex64", 5e-7), ("complex128", 4e-15)])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_long_lines(cuda: str, shape: tuple[int, int, int], way: str, dtype: str, most: float) -> None:
    if way == "fast_sine" and dtype == "complex128":
        pytest.skip("fast sine has no doubles")
    random = np.random.default_rng(3)
    x = (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
    found = _transformed(cuda, x, way, Lines(*shape))
    assert _error(fft.fft(x.astype(np.complex128), axis=1, workers=-1), found) <= (
        FAST_SINE if way == "fast_sine" else most
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("side", [4096, 1009])
def test_an_image_along_rows_and_columns(cuda: str, side: int, way: str) -> None:
    x = np.random.default_rng(4).uniform(-1, 1, (side, side)).astype(np.complex64)
    found = _transformed(cuda, x, way, Lines(side, side, 1), Lines(1, side, side))
    assert _error(fft.fft2(x.astype(np.complex128), workers=-1), found) <= (FAST_SINE if way == "fast_sine" else 5e-7)


def test_launches_of_one_kernel_with_other_shared_sizes_share_a_plan(cuda: str) -> None:
    """The first needs 128 KB a block, the second 64 KB; both are more than a kernel may have without asking."""
    x = np.random.default_rng(6).standard_normal((2, 16384, 1)).astype(np.complex64)
    found = _transformed(cuda, x, "shared", Lines(2, 16384, 1), Lines(4, 8192, 1))
    first = fft.fft(x.astype(np.complex128), axis=1)
    assert _error(fft.fft(first.reshape(4, 8192), axis=1).reshape(x.shape), found) <= 5e-7


def _transformed(cuda: str, x: np.ndarray, way: str, *passes: Lines) -> np.ndarray:  # type: ignore[type-arg]
    device = open_device(cuda).session({})
    transforms = Transforms(device, x.dtype, way, 256)
    buffer = transforms.take(x.size)
    device.upload(x.reshape(-1), out=buffer)
    for place, lines in enumerate(passes):
        buffer = transforms.along(buffer, lines, f"pass {place}")
    device.execute(Plan(tuple(transforms.steps), {}))
    return device.download(buffer).reshape(x.shape)


def _error(right: np.ndarray, found: np.ndarray) -> float:  # type: ignore[type-arg]
    """Relative, root mean square."""
    return float(np.linalg.norm((found - right).ravel()) / np.linalg.norm(right.ravel()))

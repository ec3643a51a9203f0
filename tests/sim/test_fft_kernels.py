"""The Fourier transform's kernels on the simulated GPU, against NumPy in double: any length, there and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_ops.devices import open_device
from gpu_ops.filters.fft.transform import Lines, Transforms, chirp, fits, longest_line, padded, twiddles
from gpu_ops.plan import Plan

Array = np.ndarray[Any, Any]
SHAPES = ((3, 1, 2), (3, 2, 1), (1, 4, 5), (2, 8, 3), (3, 64, 2), (2, 97, 1), (1, 100, 3), (2, 1024, 1), (1, 1024, 2))
MOST = {"complex64": 3e-7, "complex128": 8e-16}
"""The relative root-mean-square error: 1.5e-7 and 7e-16 were measured of these lengths, Bluestein's the largest."""


def numbers(shape: tuple[int, ...], dtype: str) -> Array:
    random = np.random.default_rng(7)
    return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)


def transformed(x: Array, way: str, inverse: bool = False, longest: int = 0, block: int = 64) -> tuple[Array, int]:
    """The transform along the middle axis, and the number of its steps. Nothing may be found wrong."""
    device = open_device("sim").session({})
    transforms = Transforms(device, x.dtype, way, block, longest)
    buffer = transforms.take(x.size)
    device.upload(x.reshape(-1), out=buffer)
    result = transforms.along(buffer, Lines(*x.shape), "lines", inverse)
    execution = device.execute(Plan(tuple(transforms.steps), {}))
    assert execution.findings == ()
    return device.download(result).reshape(x.shape), len(transforms.steps)


def error(right: Array, found: Array) -> float:
    """Relative, root mean square."""
    return float(np.sqrt(np.mean(np.abs(found - right) ** 2) / np.mean(np.abs(right) ** 2)))


@pytest.mark.parametrize("dtype", MOST)
@pytest.mark.parametrize("way", ["global", "shared"])
def test_lines_of_every_length_there_and_back(way: str, dtype: str) -> None:
    for shape in SHAPES:
        x = numbers(shape, dtype)
        found, steps = transformed(x, way)
        assert error(np.fft.fft(x.astype(np.complex128), axis=1), found) <= MOST[dtype], shape
        back, _ = transformed(found, way, inverse=True)
        assert error(x, back / shape[1]) <= 2 * MOST[dtype], shape
        n = shape[1]
        ones = 0 if n == 1 else padded(n).bit_length() - 1 if way == "global" else 1
        assert steps == (ones if padded(n) == n else 3 + 2 * ones), shape


@pytest.mark.parametrize("n, longest, block", [(64, 8, 32), (128, 16, 64), (100, 16, 256), (2, 64, 1024)])
def test_a_line_too_long_for_shared_memory_is_transformed_in_two_parts(n: int, longest: int, block: int) -> None:
    x = numbers((2, n, 3), "complex128")
    found, steps = transformed(x, "shared", longest=longest, block=block)
    assert error(np.fft.fft(x, axis=1), found) <= MOST["complex128"]
    assert steps == {64: 2, 128: 2, 100: 7, 2: 1}[n]
    back, _ = transformed(found, "shared", True, longest, block)
    assert error(x, back / n) <= 2 * MOST["complex128"]


def test_tables_are_right_where_k_squared_is_large() -> None:
    n = (1 << 20) - 3  # odd, so that (n - 2)² is n + 4 modulo 2 n
    assert abs(chirp(n)[n - 2] - np.exp(-1j * np.pi * (n + 4) / n)) < 1e-15
    assert abs(twiddles(4096)[1024] - -1j) < 1e-15


def test_the_longest_lines_are_known() -> None:
    single, double = np.dtype(np.complex64), np.dtype(np.complex128)
    assert [longest_line(b, single) for b in (48 << 10, 64 << 10, 232448)] == [4096, 8192, 16384]
    assert padded(1) == 1 and padded(2) == 2 and padded(3) == 8 and padded(4096) == 4096 and padded(4097) == 16384
    assert padded((1 << 24) - 1) == 1 << 25
    assert fits(1 << 24, "shared", 64 << 10, double) and not fits((1 << 24) - 1, "shared", 64 << 10, double)
    assert fits((1 << 24) - 1, "global", 64 << 10, double) and fits((1 << 24) - 1, "shared", 64 << 10, single)

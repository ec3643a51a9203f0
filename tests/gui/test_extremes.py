"""Points of long signals: few, and no extreme lost."""

from __future__ import annotations

import numpy as np
import pytest

from app.models.extremes import SignalPyramid


@pytest.fixture(scope="module")
def long_signal() -> SignalPyramid:
    signal = np.random.default_rng(3).standard_normal(10_000_000).astype(np.float32)
    signal[1_234_567], signal[9_999_999], signal[0] = 99, -98, 97
    pyramid = SignalPyramid(signal)
    assert pyramid.build()
    return pyramid


@pytest.mark.parametrize(
    "start,stop",
    [(0, 10**7), (1, 10**7 - 1), (1_234_000, 1_235_000), (1_000_001, 3_333_333), (5, 6), (9_000_000, 10**7)],
)
def test_points_are_few_and_keep_extremes(long_signal: SignalPyramid, start: int, stop: int) -> None:
    x, y = long_signal.points(start, stop, 800)
    exact = long_signal.array[start:stop]
    assert len(x) == len(y) <= 3200
    assert y.min() == exact.min() and y.max() == exact.max()
    assert x[0] >= start and x[-1] < stop and (np.diff(x) >= 0).all()
    assert long_signal.nbytes <= 0.45 * long_signal.array.nbytes


@pytest.mark.parametrize("length", [1, 2, 255, 256, 257, 4096, 5003, 70001])
@pytest.mark.parametrize("width", [1, 7, 100])
def test_any_length_and_width(length: int, width: int) -> None:
    signal = np.random.default_rng(length).integers(0, 60000, (length, 2)).astype(np.uint16)
    pyramid = SignalPyramid(signal)
    pyramid.build()
    for start in {0, length // 3, length - 1}:
        x, y = pyramid.points(start, length, width, channel=1)
        assert 0 < len(x) <= 4 * width
        assert (y.min(), y.max()) == (signal[start:, 1].min(), signal[start:, 1].max())


def test_nan_in_signals() -> None:
    signal = np.random.default_rng(0).standard_normal(100_000)
    signal[::50] = np.nan
    pyramid = SignalPyramid(signal)
    pyramid.build()
    assert np.isfinite(pyramid.points(0, 100_000, 100)[1]).all()
    assert pyramid.points(200, 100, 10)[0].size == 0


def test_coarse_points_before_it_is_built() -> None:
    signal = np.arange(100_000.0)
    x, y = SignalPyramid(signal).points(0, 100_000, 50)
    assert np.array_equal(x, y) and len(x) == 100

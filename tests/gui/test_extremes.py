"""Points of long signals: few, and no extreme lost."""

from __future__ import annotations

import numpy as np
import pytest

from app.models.curves.extremes import SignalPyramid


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
    assert len(x) == len(y) <= 1600
    assert y.min() == exact.min() and y.max() == exact.max()
    assert x[0] >= start and x[-1] < stop and (np.diff(x) >= 0).all()
    assert long_signal.nbytes <= 0.02 * long_signal.array.nbytes


@pytest.mark.parametrize("length", [1, 2, 255, 256, 257, 4096, 5003, 70001])
@pytest.mark.parametrize("width", [1, 7, 100])
def test_any_length_and_width(length: int, width: int) -> None:
    signal = np.random.default_rng(length).integers(0, 60000, (length, 2)).astype(np.uint16)
    pyramid = SignalPyramid(signal)
    pyramid.build()
    for start in {0, length // 3, length - 1}:
        x, y = pyramid.points(start, length, width, channel=1)
        assert 0 < len(x) <= 2 * width
        assert (y.min(), y.max()) == (signal[start:, 1].min(), signal[start:, 1].max())


@pytest.mark.parametrize("start,stop,width", [(0, 10**7, 800), (123, 9_876_543, 801), (777, 300_000, 650)])
def test_every_column_has_its_own_extremes(long_signal: SignalPyramid, start: int, stop: int, width: int) -> None:
    """If buckets are used, a column's edge is the nearest border of a bucket."""
    x, y = long_signal.points(start, stop, width)
    edges = start + (stop - start) * np.arange(width + 1) // width
    assert np.array_equal(x[::2], x[1::2]) and np.allclose(x[::2], (edges[:-1] + edges[1:] - 1) / 2)
    per = (stop - start) // width
    size = next((s for s in (128 * 16, 128) if 2 * s <= per), 1)
    edges[1:-1] = np.round(edges[1:-1] / size).astype(int) * size
    exact = [(p.min(), p.max()) for p in np.split(long_signal.array[start:stop], edges[1:-1] - start)]
    assert np.array_equal(np.sort(y.reshape(-1, 2), axis=1), np.array(exact))


def test_a_line_crosses_each_column_once(long_signal: SignalPyramid) -> None:
    y = long_signal.points(0, 10**7, 100)[1].reshape(-1, 2)
    rising = y[:, 0] < y[:, 1]
    assert rising[::2].all() and not rising[1::2].any()


def test_infinite_samples_are_extremes_and_nothing_but_nan_is_nan() -> None:
    signal = np.zeros(100_000, np.float32)
    signal[1000], signal[50_000:60_000] = np.inf, np.nan
    pyramid = SignalPyramid(signal)
    pyramid.build()
    x, y = pyramid.points(0, 100_000, 100)
    assert np.isinf(y).sum() == 1
    assert np.array_equal(np.isnan(y), (x > 50_000) & (x < 59_000))


def test_buckets_stop_when_nobody_waits() -> None:
    pyramid = SignalPyramid(np.zeros(100_000))
    assert not pyramid.build(lambda: True) and not pyramid.complete


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
    assert np.array_equal(x, y) and len(x) == 50

"""Divisions that kernels make by multiplying, and weights as bytes, by all sums that matter."""

from __future__ import annotations

import numpy as np
import pytest
from tasks import of

from gpu_ops.filters.conv3x3.arithmetic import Arithmetic, arithmetic
from gpu_ops.filters.conv3x3.rows import quotient, tap_bytes
from gpu_ops.filters.mean import MEAN1D
from gpu_ops.filters.mean.fast import SCAN_BLOCK, STEPS, scan_steps


def _whole(divisor: int, weights: tuple[int, ...] = (1,) * 9) -> Arithmetic:
    return Arithmetic(np.array(weights, np.int32), np.int32(0), np.int32(divisor), np.int32(0))


@pytest.mark.parametrize("dtype, divisors", [("uint8", range(1, 5001)), ("uint16", range(1, 400))])
def test_a_division_by_multiplying_is_exact_wherever_it_is_chosen(dtype: str, divisors: range) -> None:
    ways = {0: 0, 1: 0, 2: 0, 3: 0}
    levels = np.iinfo(dtype).max + 1
    for divisor in divisors:
        way, magic = quotient(_whole(divisor), np.dtype(dtype))
        ways[way] += 1
        assert (1 << magic) == divisor or way not in (1, 3)
        if way != 2:
            continue
        assert magic < 2**31  # the kernel multiplies signed words
        # Both sides of every step of the quotient: between them it does not change, for the product only grows.
        steps = np.arange(1, levels + 1, dtype=np.int64) * divisor
        for sums in (steps[:-1], steps - 1):
            assert np.array_equal(sums * magic >> 32, sums // divisor), divisor
        beyond = np.array([-(2**31), -1, levels * divisor, 2**31 - 1], np.int64)
        assert np.array_equal(np.clip(beyond * magic >> 32, 0, levels - 1), [0, 0, levels - 1, levels - 1]), divisor
    assert ways[1] == 1 and ways[3] > 7 and ways[0] > 0 and ways[2] > 200


def test_a_ninth_by_multiplying_is_exact_for_all_sums_of_nine_bytes() -> None:
    sums = np.arange(9 * 255 + 1)
    assert np.array_equal(sums * 7282 + 32768 >> 16, (sums + 4) // 9)


def test_weights_that_are_not_whole_are_divided_plainly() -> None:
    params = {"matrix": (0.5,) * 9, "divisor": 3.0, "offset": 0.0, "passes": 1}
    assert quotient(arithmetic(np.dtype("uint8"), params), np.dtype("uint8")) == (0, 0)


def test_columns_of_weights_are_bytes() -> None:
    taps = tap_bytes(_whole(1, (-128, 127, -1, 0, 1, 2, 3, 4, 5)))
    assert taps is not None and taps.dtype == np.int32
    assert taps.view(np.int8).reshape(3, 4).tolist() == [[-128, 0, 3, 0], [127, 1, 4, 0], [-1, 2, 5, 0]]
    assert tap_bytes(_whole(1, (128, *[0] * 8))) is None
    assert tap_bytes(_whole(1, (-129, *[0] * 8))) is None


TYPES = {1: "uint8", 2: "uint16", 4: "float32", 8: "float64"}


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
def test_a_window_of_the_scan_reaches_over_at_most_half_of_its_tile(itemsize: int) -> None:
    chosen = set()
    for block in SCAN_BLOCK.choices:
        for window in (3, 5, 1023, 2047, 4095):
            steps = scan_steps(of(MEAN1D, TYPES[itemsize], {"window": window}, {"block": block}))
            chosen.add(steps)
            vectors = -(-window * itemsize // 16) + 1  # at most, in whichever vector a window begins
            assert steps == 0 or 2 * (vectors - 1) <= block * steps  # type: ignore[operator]
            assert steps or 2 * vectors > block * STEPS[-1]  # type: ignore[operator]
    assert 4 in chosen

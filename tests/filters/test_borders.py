"""Borders against NumPy's padding, which has the same four under other names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_ops.errors import ParamError
from gpu_ops.filters.kit.borders import border_indices, padded
from gpu_ops.types import BORDERS

PAD_MODES: dict[str, Any] = {"zero": "constant", "reflect": "symmetric", "nearest": "edge", "wrap": "wrap"}


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_indices_are_numpys(border: str, n: int) -> None:
    values = np.arange(1, n + 1)
    indices = border_indices(border, -40, n + 40, n)
    assert indices.dtype == np.int64
    read = np.where(indices < 0, 0, values[indices])
    np.testing.assert_array_equal(read, np.pad(values, 40, mode=PAD_MODES[border]))


@pytest.mark.parametrize("border", BORDERS)
def test_indices_far_outside(border: str) -> None:
    for far in (-(10**12), 10**12):
        indices = border_indices(border, far, far + 20, 10)
        expected = {
            "zero": [-1] * 20,
            "nearest": [0 if far < 0 else 9] * 20,
            "wrap": [*range(10), *range(10)],
            "reflect": [*range(10), *range(9, -1, -1)],
        }[border]
        assert indices.tolist() == expected


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("shape", [(6, 5), (6, 5, 3)])
def test_padded_cuts_what_padding_would_hold(border: str, shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(4).integers(1, 200, shape).astype(np.uint8)
    around = np.pad(array, [(20, 20), (20, 20), (0, 0)][: array.ndim], mode=PAD_MODES[border])
    for rows, columns in [
        ((0, 6), (0, 5)),
        ((-20, 26), (-20, 25)),
        ((2, 4), (-3, 1)),
        ((5, 9), (1, 2)),
        ((8, 9), (7, 9)),
    ]:
        region = padded(array, [slice(*rows), slice(*columns)], border)
        expected = around[rows[0] + 20 : rows[1] + 20, columns[0] + 20 : columns[1] + 20]
        np.testing.assert_array_equal(region, expected)
        assert region.dtype == array.dtype and not np.shares_memory(region, array)


def test_errors_name_the_choices() -> None:
    with pytest.raises(ParamError, match="zero, reflect, nearest, wrap"):
        border_indices("mirror", 0, 1, 4)
    with pytest.raises(ParamError, match="at least one element"):
        border_indices("wrap", 0, 1, 0)

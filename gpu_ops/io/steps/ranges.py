"""The range of an input's values, and values in the type of an input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.input_kinds import IMAGE
from gpu_ops.io.inputs import Array
from gpu_ops.types import Input


def has_alpha(input: Input) -> bool:
    """Whether the last channel says how opaque a pixel is."""
    return input.kind == IMAGE.id and input.array.ndim == 3 and input.array.shape[2] == 4


def values_of(input: Input) -> Array:
    """The values without alpha."""
    return input.array[..., :3] if has_alpha(input) else input.array


def range_of(input: Input) -> tuple[float, float]:
    """The least and the greatest finite value; alpha does not count. Raises InputError where no value is finite."""
    values = values_of(input)
    if not input.finite:
        values = values[np.isfinite(values)]
        if not values.size:
            raise InputError(f"{input.name} holds no finite value; open another input.")
    return float(values.min()), float(values.max())


def ends_of(input: Input) -> tuple[float, float]:
    """The ends of the range: those of an integer type, of floats the least and the greatest finite value."""
    dtype = input.array.dtype
    return range_of(input) if dtype.kind == "f" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def stored(values: Array, dtype: np.dtype[Any]) -> Array:
    """float64 values converted in place for a type: integers are rounded, half up, and saturate."""
    if dtype.kind == "f":
        return values
    values += 0.5
    np.floor(values, out=values)
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    top = float(high)
    return np.clip(values, low, top if int(top) == high else math.nextafter(top, 0), out=values)

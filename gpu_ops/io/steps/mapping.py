"""Conversion of a result's values to those that a file format can store: selected by name, described in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.io.images.tiff_writer import TIFF_TYPES
from gpu_ops.io.inputs import Array
from gpu_ops.output_kinds import colours
from gpu_ops.progress import advance

MAPS = ("none", "clip", "scale", "levels")
"""Unchanged; clipped to the type's range; minimum and maximum mapped to the ends of the range; the values between two
levels mapped to 0…255."""
MAP_HELP = (
    "what becomes of values that the format cannot hold: none refuses them, clip cuts them at the type's range, scale "
    "takes the smallest and the largest to its ends, levels takes those of --map-levels there (default none)"
)
PICTURES = (".png", ".tif", ".tiff")
SOUNDS = (".wav", ".flac")
WHOLE = ("uint8", "uint16")
FLOATS = ("float32", "float64")
EXACT_TYPES = {".png": WHOLE, ".tif": TIFF_TYPES, ".tiff": TIFF_TYPES, ".wav": FLOATS}
"""The types that a format stores unchanged; other formats store all."""
FLAC_WHOLE = ("int8", "uint8", "int16", "uint16")
FLAC_TOP = 1 - 2.0**-23
"""The largest 24-bit sample; FLAC files have at most 24 bits here."""
BLOCK = 1 << 20
"""Values that are mapped at a time."""

Levels = tuple[float, float]


class Mapped(NamedTuple):
    """Values that a format can store, and how they were converted in words, "" where they are unchanged."""

    array: Array
    text: str


def writes_exactly(suffix: str, dtype: str, low: float = 0.0, high: float = 0.0) -> bool:
    """Whether the format stores values of this type, from `low` to `high`, unchanged."""
    if suffix == ".flac":
        return dtype in FLAC_WHOLE or (dtype in FLOATS and low >= -1 and high <= FLAC_TOP)
    return suffix not in EXACT_TYPES or dtype in EXACT_TYPES[suffix]


def maps_for(suffix: str, dtype: str, low: float = 0.0, high: float = 0.0) -> tuple[str, ...]:
    """The mappings that let the format store these values, the likeliest first; () where it stores them unchanged."""
    if writes_exactly(suffix, dtype, low, high):
        return ()
    if suffix in PICTURES:
        return ("scale",) if dtype == "bool" else ("scale", "clip", "levels")
    return ("scale", "clip") if dtype in FLOATS else ("scale",)


def map_values(array: Array, suffix: str, map: str, levels: Levels | None = None, name: str = "The file") -> Mapped:
    """The values converted for a file with this suffix.

    For pictures, (H, W) or (H, W, C): "clip" rounds, half up, and clips to 0 and 255, or 65535 where a value is above
    255; "scale" maps the smallest finite value to 0 and the largest to 65535, or 255 for uint8, and false and true to 0
    and 255; "levels" maps the first level to 0 and the second to 255. NaN becomes 0. Alpha is scaled to the same range.
    For sound, (N,) or (N, C): "clip" clips to -1 and 1, "scale" divides by the largest magnitude, so that 0 stays
    silence, and maps integers from their minimum to their maximum to -1…1. Raises ParamError for a mapping that the
    format or the values do not allow.
    """
    if map not in MAPS:
        raise ParamError(f"map must be one of {', '.join(MAPS)}, not {plain(map, 40)!r}.")
    if map == "none":
        return Mapped(array, "")
    if suffix in PICTURES:
        return _map_picture(array, map, levels, name)
    if suffix in SOUNDS:
        return _map_sound(array, map, name, FLAC_TOP if suffix == ".flac" else 1.0)
    raise ParamError(f"{name} holds every value as it is, so there is nothing to map; leave the mapping {map} out.")


# Pictures


def _map_picture(array: Array, map: str, levels: Levels | None, name: str) -> Mapped:
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
        if map == "scale":
            return Mapped(array * np.uint8(255), "false and true became 0 and 255")
    if array.dtype.kind not in "uif":
        raise ParamError(f"{name} cannot hold {array.dtype.name} by any mapping; save it as .npy.")
    seen = colours(array)
    assert seen is not None
    low, high = _extent(seen, name)
    if map == "levels":
        if levels is None or not -math.inf < levels[0] < levels[1] < math.inf:
            raise ParamError(f"The mapping levels of {name} needs two levels, the lower first, such as 0 and 1.")
        dtype, ends = "uint8", levels
    elif map == "scale":
        dtype, ends = "uint8" if array.dtype == np.uint8 else "uint16", (low, high)
    else:
        dtype = "uint8" if high <= 255 and array.dtype != np.uint16 else "uint16"
        ends = (0.0, float(np.iinfo(dtype).max))
    full = float(np.iinfo(dtype).max)
    result = np.empty(array.shape, dtype)
    outside = _fill(seen, result[..., : seen.shape[-1]] if seen is not array else result, _linear(ends, (0.0, full)))
    text = _picture_words(map, ends, full, outside, array.size if seen is array else seen.size)
    if seen is not array:
        text += f"; {_map_alpha(array, result, full)}"
    return Mapped(result, text + _nan_words(seen, "0"))


def _picture_words(map: str, ends: Levels, full: float, outside: int, size: int) -> str:
    if map == "clip":
        cut = f", {outside:,} of {size:,} lay outside" if outside else ", none lay outside"
        return f"values were rounded and cut at {ends[0]:g} and {ends[1]:g}{cut}"
    if ends[0] == ends[1]:
        return f"every value was {ends[0]:.6g} and became 0"
    beyond = f", {outside:,} of {size:,} lay outside and were cut" if outside else ""
    return f"{ends[0]:.6g}…{ends[1]:.6g} became 0…{full:g}{beyond}"


def _map_alpha(array: Array, result: Array, full: float) -> str:
    """Write the alpha of a colour image; the opaque value follows from its type, or for floats from its largest
    value."""
    alpha = array[..., 3]
    if alpha.dtype.kind == "f":
        most = float(np.nanmax(alpha, initial=0.0))
        opaque = next((float(o) for o in (1, 255) if most <= o), 65535.0)
    else:
        opaque = float(np.iinfo(alpha.dtype).max)
    _fill(alpha, result[..., 3], _linear((0.0, opaque), (0.0, full)))
    return f"alpha 0…{opaque:g} became 0…{full:g}"


# Sound


def _map_sound(array: Array, map: str, name: str, top: float) -> Mapped:
    """Sound between -1 and `top`, which is 1 or just below."""
    if map == "levels" or array.dtype.kind not in "uif":
        what = "levels are those of pictures" if map == "levels" else f"{array.dtype.name} is no sound"
        raise ParamError(f"{name} holds sound, and {what}; choose the mapping clip or scale.")
    low, high = _extent(array, name)
    if array.dtype.kind == "f":
        result = np.empty(array.shape, array.dtype if array.dtype.name in FLOATS else np.float32)
        peak = max(abs(low), abs(high))
        ends = (-1.0, top) if map == "clip" else (-peak, peak)
    elif map == "clip":
        raise ParamError(f"{name} holds sound from -1 to 1, which would cut whole numbers off; choose scale instead.")
    else:
        result, ends = np.empty(array.shape, np.float32), (low, high)
    if ends[0] == ends[1]:
        result.fill(0)
        return Mapped(result, f"every value was {ends[1]:.6g} and became 0" + _nan_words(array, "0"))
    outside = _fill(array, result, _linear(ends, ends if map == "clip" else (-top, top)))
    if map == "clip":
        text = f"values were cut at -1 and 1, {outside:,} of {array.size:,} lay outside"
    else:
        text = f"{ends[0]:.6g}…{ends[1]:.6g} became -1…1"
    return Mapped(result, text + _nan_words(array, "0"))


# Numbers


def _extent(array: Array, name: str) -> Levels:
    """The smallest and the largest finite value. Raises InputError where there is none."""
    if array.dtype.kind != "f":
        return float(array.min()), float(array.max())
    low, high = math.inf, -math.inf
    for part in _parts(array):
        finite = part[np.isfinite(part)]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    if low > high:
        raise InputError(f"{name} cannot be mapped, because no value is finite; save it as .npy to keep it.")
    return low, high


def _linear(ends: Levels, to: Levels) -> Callable[[Array], tuple[Array, int]]:
    """A function from float64 values to those between the ends of `to`, and the number of finite ones outside."""
    half = 0.5 if math.isinf(ends[1] - ends[0]) else 1.0  # the difference of two large numbers may overflow
    low, span = ends[0] * half, ends[1] * half - ends[0] * half
    middle = 0.0 if to[0] >= 0 else (to[0] + to[1]) / 2

    symmetric = to[0] == -to[1] and ends[0] == -ends[1]

    def mapped(values: Array) -> tuple[Array, int]:
        outside = int(np.count_nonzero((values < ends[0]) | (values > ends[1])))
        if ends == to:
            shares = np.clip(values, *to)
        elif symmetric:  # 0 stays exactly 0
            shares = np.clip(values / ends[1], -1.0, 1.0) * to[1]
        elif span == 0:
            shares = np.zeros_like(values)
        else:
            shares = np.clip((values * half - low) / span, 0.0, 1.0) * (to[1] - to[0]) + to[0]
        return np.where(np.isnan(values), middle, shares), outside

    return mapped


def _fill(array: Array, result: Array, mapped: Callable[[Array], tuple[Array, int]]) -> int:
    """Write the mapped values, for integer types rounded half up. Returns how many were outside."""
    outside, rows = 0, max(1, BLOCK // max(1, math.prod(array.shape[1:])))
    for first in range(0, len(array), rows):
        advance(first, len(array))
        values, beyond = mapped(array[first : first + rows].astype(np.float64))
        result[first : first + rows] = np.floor(values + 0.5) if result.dtype.kind == "u" else values
        outside += beyond
    return outside


def _parts(array: Array) -> list[Array]:
    rows = max(1, BLOCK // max(1, math.prod(array.shape[1:])))
    return [array[first : first + rows] for first in range(0, len(array), rows)]


def _nan_words(array: Array, what: str) -> str:
    count = int(np.count_nonzero(np.isnan(array))) if array.dtype.kind == "f" else 0
    return f"; {count:,} NaN became {what}" if count else ""

"""Steps that move or choose pixels and samples: crop, resize, rotate, flip. OpenCV and SciPy are imported when first
needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.input_kinds import INPUT_KINDS, SIGNAL
from gpu_ops.io.inputs import Array
from gpu_ops.io.steps.ranges import has_alpha, stored
from gpu_ops.params import Values
from gpu_ops.progress import finite
from gpu_ops.types import Facts, Input, Pixel

MOST_VALUES = 1 << 30
LONGEST_TURNED = 32766
"""The longest side that OpenCV rotates by any angle."""
OPENCV_TYPES = ("uint8", "uint16", "int16", "float32", "float64")
"""The types that OpenCV resizes and rotates."""
LARGEST_RATIO = 1000
"""The largest numerator and denominator of the ratio of two rates: the length of the filter grows with them."""

Change = Callable[[Array], Array]


def resize(input: Input, values: Values) -> Input:
    """The input at another size: times a `factor`, or with the `size` along its spatial axes.

    Images: `method` is "nearest", "linear", "area" or "cubic". Signals are resampled as band-limited: "polyphase"
    filters, and "fourier" assumes a periodic signal; their rate changes accordingly. Integers are rounded and saturate.
    Raises InputError for a size of 0, one over 2^30 values, and NaN in a signal.
    """
    return _resample(input, values) if input.kind == SIGNAL.id else _resize_image(input, values)


def _resize_image(input: Input, values: Values) -> Input:
    height, width = input.array.shape[:2]
    if values["by"] == "size":
        rows, columns = (int(n) for n in values["size"])
    else:
        rows, columns = (round(n * values["factor"]) for n in (height, width))
    _check_size(input, (rows, columns), input.array.size // (height * width))
    pixel = input.facts.pixel
    if pixel is not None:
        pixel = Pixel(pixel.y * height / rows, pixel.x * width / columns, pixel.unit)
    method = values["method"]
    if method != "nearest":
        _check_type(input)
    change = _nearest(rows, columns) if method == "nearest" else _by_opencv(input.name, rows, columns, method)
    return _both(input, change, facts=_with_pixel(input.facts, pixel))


def _check_type(input: Input) -> None:
    """Raises InputError for a type that OpenCV does not support."""
    dtype = input.array.dtype.name
    if dtype not in OPENCV_TYPES:
        raise InputError(
            f"{input.name} is {dtype}, and pixels are computed in {', '.join(OPENCV_TYPES)}; add the step convert "
            "before this one, or choose the method nearest and multiples of 90 degrees."
        )


def _nearest(rows: int, columns: int) -> Change:
    """The pixel whose centre is nearest, exactly, for any type."""

    def change(array: Array) -> Array:
        y = (2 * np.arange(rows) + 1) * array.shape[0] // (2 * rows)
        x = (2 * np.arange(columns) + 1) * array.shape[1] // (2 * columns)
        return np.ascontiguousarray(array[y][:, x])

    return change


def _by_opencv(name: str, rows: int, columns: int, method: str) -> Change:
    import cv2

    how = {"linear": cv2.INTER_LINEAR, "area": cv2.INTER_AREA, "cubic": cv2.INTER_CUBIC}[method]

    def change(array: Array) -> Array:
        with finite():
            try:
                result = cv2.resize(array, (columns, rows), interpolation=how)
            except cv2.error as error:
                raise InputError(f"OpenCV cannot resize {name} ({error.err}); choose another size.") from None
        return result.reshape(rows, columns, *array.shape[2:])

    return change


def _resample(input: Input, values: Values) -> Input:
    length, method = len(input.array), values["method"]
    if not input.finite:
        raise InputError(
            f"{input.name} holds NaN or infinity, which a filter would spread; open it with zeros for them."
        )
    wanted = Fraction(int(values["size"][0]), length) if values["by"] == "size" else Fraction(values["factor"])
    ratio = wanted.limit_denominator(LARGEST_RATIO) or wanted
    count = math.ceil(length * ratio) if method == "polyphase" else round(length * wanted)
    if method == "polyphase" and values["by"] == "size" and count != int(values["size"][0]):
        raise InputError(f"{values['size'][0]:,} of {length:,} samples is no simple ratio; choose the method fourier.")
    _check_size(input, (count,), input.array.size // length)
    actual = ratio if method == "polyphase" else Fraction(count, length)
    rate = None if input.rate is None else float(input.rate * actual)
    return _both(input, lambda array: _resampled(array, method, ratio, count), rate=rate)


def _resampled(array: Array, method: str, ratio: Fraction, count: int) -> Array:
    from scipy import signal

    values = array.astype(np.float64)
    with finite():
        if method == "fourier":
            values = signal.resample(values, count, axis=0)
        else:
            # The line between both ends is subtracted, so that the filter sees no step there.
            values = signal.resample_poly(values, ratio.numerator, ratio.denominator, axis=0, padtype="line")
    return stored(values, array.dtype).astype(array.dtype)


def _check_size(input: Input, extents: tuple[int, ...], channels: int) -> None:
    text = INPUT_KINDS[input.kind].size_text(extents)
    if min(extents) < 1:
        raise InputError(
            f"{input.name} would have {text} values, and every side needs at least one; use a larger size."
        )
    if math.prod(extents) * channels > MOST_VALUES:
        raise InputError(f"{input.name} would have {text} values, over the limit of {MOST_VALUES}; use a smaller size.")


def rotate(input: Input, values: Values) -> Input:
    """An image rotated counterclockwise by `angle` degrees. Multiples of 90 only move pixels.

    For other angles `method` is "nearest", "linear" or "cubic", `whole` enlarges the image so that no corner is cut,
    and `fill` is the value outside, where alpha is 0. Raises InputError for a fill outside the type's range, and for
    sides that OpenCV does not rotate.
    """
    turns, rest = divmod(values["angle"], 90)
    pixel = input.facts.pixel
    if rest:
        same = pixel is not None and pixel.y == pixel.x  # other axes would no longer be aligned
        return _both(input, _by_angle(input, values), facts=_with_pixel(input.facts, pixel if same else None))
    if turns % 4 == 0:
        return input
    if pixel is not None and turns % 2:
        pixel = Pixel(pixel.x, pixel.y, pixel.unit)
    facts = _with_pixel(input.facts, pixel)
    return _both(input, lambda array: np.ascontiguousarray(np.rot90(array, int(turns))), facts=facts)


def _by_angle(input: Input, values: Values) -> Change:
    import cv2

    _check_type(input)
    height, width = input.array.shape[:2]
    angle, fill, dtype = math.radians(values["angle"]), values["fill"], input.array.dtype
    if dtype.kind in "ui" and not (np.iinfo(dtype).min <= fill <= np.iinfo(dtype).max and fill == int(fill)):
        low, top = np.iinfo(dtype).min, np.iinfo(dtype).max
        raise InputError(f"The fill {fill:g} is no value of {dtype}; choose a whole number from {low} to {top}.")
    rows, columns = height, width
    if values["whole"]:
        c, s = abs(math.cos(angle)), abs(math.sin(angle))
        rows, columns = math.ceil(height * c + width * s - 1e-9), math.ceil(width * c + height * s - 1e-9)
    if max(rows, columns, height, width) > LONGEST_TURNED:
        raise InputError(
            f"{input.name} turned has {columns} x {rows} pixels, and sides over {LONGEST_TURNED} turn by 90, 180 or "
            "270 degrees only; crop or resize it first."
        )
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), values["angle"], 1.0)
    matrix[:, 2] += (columns - width) / 2, (rows - height) / 2
    how = {"nearest": cv2.INTER_NEAREST, "linear": cv2.INTER_LINEAR, "cubic": cv2.INTER_CUBIC}[values["method"]]
    outside = (fill, fill, fill, 0.0) if has_alpha(input) else (fill,) * 4

    def change(array: Array) -> Array:
        with finite():
            result = cv2.warpAffine(array, matrix, (columns, rows), flags=how, borderValue=outside)
        return result.reshape(rows, columns, *array.shape[2:])

    return change


def flip(input: Input, values: Values) -> Input:
    """The mirror image along `axis`: "left-right" or "top-bottom"; a signal is reversed in time."""
    axis = 1 if values.get("axis") == "left-right" else 0
    return _both(input, lambda array: np.ascontiguousarray(np.flip(array, axis)))


def _with_pixel(facts: Facts, pixel: Pixel | None) -> Facts:
    return facts if pixel == facts.pixel else replace(facts, pixel=pixel)


def _both(input: Input, change: Change, **fields: Any) -> Input:
    """Apply the same change to the input and to its noise-free original."""
    clean = None if input.clean is None else change(input.clean)
    return replace(input, array=change(input.array), clean=clean, **fields)


def crop(input: Input, start: Sequence[int], shape: Sequence[int]) -> Input:
    """The part of an input that begins at `start` and has that `shape` along its spatial axes, with the same part of
    its noise-free original, recorded as a step. Raises InputError when it is not inside the input."""
    extents = INPUT_KINDS[input.kind].spatial(input.array.shape)
    inside = len(start) == len(shape) == len(extents)
    if not inside or any(a < 0 or n < 1 or a + n > whole for a, n, whole in zip(start, shape, extents, strict=True)):
        raise InputError(
            f"{input.name} has {_by(extents)} {INPUT_KINDS[input.kind].element}s, and no part of {_by(shape)} from "
            f"{_place(start)} on; choose a part inside."
        )
    cut = tuple(slice(a, a + n) for a, n in zip(start, shape, strict=True))
    clean = None if input.clean is None else np.ascontiguousarray(input.clean[cut])
    step = {"step": "crop", "start": list(start), "shape": list(shape)}
    origin = {**input.origin, "steps": [*input.origin.get("steps", ()), step]}
    facts = input.facts
    if input.kind == SIGNAL.id and input.rate:
        facts = replace(facts, start=facts.start + start[0] / input.rate)
    return replace(input, array=np.ascontiguousarray(input.array[cut]), origin=origin, clean=clean, facts=facts)


def _by(extents: Sequence[int]) -> str:
    return " x ".join(map(str, reversed(extents))) or "no"


def _place(start: Sequence[int]) -> str:
    return f"x {start[1]}, y {start[0]}" if len(start) == 2 else _by(start)

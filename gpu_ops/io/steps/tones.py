"""Steps that change the values of an input and keep every pixel and sample at its position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.input_kinds import SIGNAL
from gpu_ops.io.inputs import Array, convert
from gpu_ops.io.signals.units import cut_unit
from gpu_ops.io.steps.ranges import ends_of, has_alpha, range_of, stored, values_of
from gpu_ops.params import Values
from gpu_ops.progress import advance, finite
from gpu_ops.types import Input

BLOCK = 1 << 16
"""Pixels, or values, at a time in float64, so that a large input needs little memory besides its own."""
WEIGHTS = {"rec601": (0.299, 0.587, 0.114), "rec709": (0.2126, 0.7152, 0.0722), "mean": (1 / 3, 1 / 3, 1 / 3)}
"""The share of red, green and blue in gray."""
FULL = 1.0
"""The top of the range that floating types share with integer types: 1.0 corresponds to 255 or 65535."""

Change = Callable[[Array], Array]


def gray(input: Input, values: Values) -> Input:
    """A colour image (H, W, C) as a gray one (H, W), in its own type. `weights` is one of WEIGHTS; alpha is dropped.

    Integers are rounded, half up. Raises InputError for an image that is gray already.
    """
    shape = input.array.shape
    if len(shape) == 2:
        raise InputError(f"{input.name} is gray already; leave the step gray out.")
    weights = np.array(WEIGHTS[values["weights"]])

    def change(array: Array) -> Array:
        if shape[2] == 1:
            return np.ascontiguousarray(array[..., 0])
        return _by_blocks(array[..., :3].reshape(-1, 3), array.dtype, lambda part: part @ weights).reshape(shape[:2])

    return _both(input, change, axes="yx")


def invert(input: Input, values: Values) -> Input:
    """The negative: integers become the minimum plus the maximum of their type minus the value, floats of an image the
    least plus the greatest value minus the value, and floats of a signal change their sign. Alpha stays as it is."""
    signal = input.kind == SIGNAL.id and input.array.dtype.kind == "f"
    total = 0.0 if signal else sum(ends_of(input))
    return _mapped(input, input.array.dtype, lambda part: total - part, None)


def normalise(input: Input, values: Values) -> Input:
    """The input after one linear mapping for all channels. `to` is

    * "full range": from the least to the greatest value, onto 0 to the greatest of an integer type, 0 to 1 of floats;
    * "percentiles": the same from the percentile `low` to `high`; values beyond are clipped;
    * "unit": from the least to the greatest value, onto 0 to 1; integers become float32;
    * "standard": mean 0 and standard deviation 1; integers become float32.

    A noise-free original goes through the same mapping. Alpha keeps its meaning. Raises InputError where all values are
    the same.
    """
    to, dtype = values["to"], input.array.dtype
    with finite():
        low, high = _line(input, values)
    if to in ("unit", "standard") and dtype.kind != "f":
        dtype = np.dtype(np.float32)
    top = _top(dtype)
    cut = to == "percentiles"

    def change(part: Array) -> Array:
        part -= low
        part *= top / (high - low)
        return np.clip(part, 0, top, out=part) if cut else part

    stretched = _mapped(input, dtype, change, _top(dtype) / _top(input.array.dtype))
    if not any(input.facts.units):
        return stretched
    labels = tuple(cut_unit(label)[0] for label in input.facts.labels)  # the values no longer have their unit
    return replace(stretched, facts=replace(input.facts, labels=labels, units=()))


def _line(input: Input, values: Values) -> tuple[float, float]:
    """The values that become 0 and the top of the range."""
    low, high = range_of(input)
    to, inner = values["to"], values_of(input)
    if to == "percentiles":
        if values["low"] >= values["high"]:
            raise InputError(f"The percentile low, {values['low']:g}, must lie below high, {values['high']:g}.")
        inner = inner if input.finite else inner[np.isfinite(inner)]
        low, high = (float(p) for p in np.percentile(inner, (values["low"], values["high"])))
    elif to == "standard":
        inner = inner if input.finite else inner[np.isfinite(inner)]
        mean, deviation = float(inner.mean(dtype=np.float64)), float(inner.std(dtype=np.float64))
        low, high = mean, mean + deviation
    if not high > low:
        raise InputError(f"{input.name} has no range to stretch: its values are {low:g}; leave the step normalise out.")
    return low, high


def change_type(input: Input, values: Values) -> Input:
    """The input in the type `dtype`. `how` is

    * "keep": the same values; raises InputError where a value does not fit, or is not an integer;
    * "round": the same values, which integer types round, half up, and saturate;
    * "scale": the whole range of an integer type corresponds to 0 to 1 of a float; raises InputError for floats
    outside.
    """
    target, source, how = np.dtype(values["dtype"]), input.array.dtype, values["how"]
    if how == "keep" or target == source:
        return convert(input, target.name)
    if target.kind == "u" and not input.finite:
        raise InputError(f"{input.name} holds NaN or infinity, which {target} cannot keep; use float32 or float64.")
    factor, black = 1.0, 0.0
    if how == "scale":
        black = float(np.iinfo(source).min) if source.kind != "f" else 0.0
        factor = _top(target) / (_top(source) - black)
        low, high = range_of(input)
        if source.kind == "f" and target.kind == "u" and not (low >= 0 and high <= FULL):
            raise InputError(
                f"{input.name} holds values from {low:g} to {high:g}, and scale takes 0 to 1; normalise it first."
            )
    of_alpha = _top(target) / _top(source) if how == "scale" else 1.0
    return _mapped(input, target, lambda part: (part - black) * factor, of_alpha)


def conversions(dtype: str, low: float, high: float, allowed: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Conversion steps from a type with values from `low` to `high` to types of `allowed`: to the first floating type
    that represents every value, or to the last one if all of them round; then to the first integer type that represents
    all. At least one step: where none of these is allowed, the type's range is scaled to that of another integer
    type."""
    floats = [name for name in allowed if np.dtype(name).kind == "f"]
    exact = [name for name in floats if _keeps(dtype, low, high, name)]
    whole = [name for name in allowed if np.dtype(name).kind == "u" and _keeps(dtype, low, high, name)]
    best = [("keep", name) for name in exact[:1]] or [("round", name) for name in floats[-1:]]
    ways = [*best, *(("keep", name) for name in whole[:1])] or [("scale", allowed[-1])]
    return tuple({"step": "convert", "dtype": name, "how": how} for how, name in ways)


def _keeps(dtype: str, low: float, high: float, name: str) -> bool:
    """Whether the type `name` represents every value from `low` to `high` of a type."""
    source, target = np.dtype(dtype), np.dtype(name)
    if target.kind == "u":
        return source.kind in "ui" and low >= 0 and high <= np.iinfo(target).max
    if source.kind == "f":
        return source.itemsize <= target.itemsize
    return bool(max(-low, high) <= 2 ** (np.finfo(target).nmant + 1))


def conversion_words(dtype: str, low: float, high: float, allowed: Sequence[str]) -> str:
    """How to convert an input whose type is not in `allowed`, in words."""
    _, name, how = conversions(dtype, low, high, allowed)[0].values()
    if how == "keep":
        return f"convert it to {name}, which keeps every value (--dtype {name})"
    return f"convert it to {name} with the step convert (--step 'convert dtype={name} how={how}')"


def _top(dtype: np.dtype[Any]) -> float:
    """The top of the range of a type."""
    return float(np.iinfo(dtype).max) if dtype.kind != "f" else FULL


# Element-wise changes


def _mapped(input: Input, dtype: np.dtype[Any], change: Change, of_alpha: float | None) -> Input:
    """The input with a function applied to every value; alpha is multiplied by `of_alpha`, or unchanged."""
    width = 4 if has_alpha(input) else 1

    def apart(part: Array) -> Array:
        if width == 1:
            return change(part)
        alpha = part[:, 3] * (1.0 if of_alpha is None else of_alpha)
        result = change(part)
        result[:, 3] = alpha
        return result

    return _both(input, lambda array: _by_blocks(array.reshape(-1, width), dtype, apart).reshape(array.shape))


def _by_blocks(source: Array, dtype: np.dtype[Any], change: Change) -> Array:
    """The rows of `source` after applying a function in float64, a block at a time, in the type `dtype`."""
    result: Array | None = None
    for start in range(0, len(source), BLOCK):
        advance(start, len(source))
        part = change(source[start : start + BLOCK].astype(np.float64))
        if result is None:
            result = np.empty((len(source), *part.shape[1:]), dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # NaN and infinity are unchanged
            result[start : start + len(part)] = stored(part, dtype)
    assert result is not None
    return result


def _both(input: Input, change: Change, **fields: Any) -> Input:
    """Apply the same change to the input and to its noise-free original."""
    clean = None if input.clean is None else change(input.clean)
    return replace(input, array=change(input.array), clean=clean, **fields)

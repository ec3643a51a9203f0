"""Creates inputs from arrays: the allowed arrays, the meaning of their axes, and the rule for NaN and infinity."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_ops.errors import InputError, NonFiniteError, ParamError, plain
from gpu_ops.input_kinds import IMAGE, IMAGE_CHANNELS, INPUT_KINDS, MOST_CHANNELS, SIGNAL, STACK, Kind
from gpu_ops.io.wrapped import on_host, unwrap
from gpu_ops.types import DTYPES, Facts, Input

Array = np.ndarray[Any, Any]

KINDS: tuple[Kind, ...] = tuple(kind.id for kind in INPUT_KINDS.values())
FILE_KINDS: tuple[Kind, ...] = KINDS
NONFINITE = ("refuse", *NonFiniteError.choices)
NO_FACTS = Facts()
SUMMED = 1 << 20
NO_THREAD = "can't start new thread"
"""Python's message where memory is too small for another thread's stack."""


@contextmanager
def enough_memory(name: str, advice: str) -> Iterator[None]:
    """Inside the block, running out of memory becomes an InputError about `name`."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and str(error) != NO_THREAD:
            raise
        raise InputError(f"{plain(name)} does not fit in memory; {advice}.") from None


def check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raises ParamError when `value` is not one of `allowed`."""
    if value not in allowed:
        raise ParamError(f"{name} must be one of {', '.join(allowed)}, not {plain(repr(value), 60)}.")


def check_rate(rate: object) -> None:
    """Raises ParamError for a sampling rate that is not a positive number of hertz; None means unknown."""
    if rate is not None and not (isinstance(rate, int | float | np.number) and 0 < rate < math.inf):
        raise ParamError(f"rate must be a positive number of hertz, or None where it is not known, not {rate!r}.")


def check_limit(name: str, count: int, limit: int) -> None:
    """Raises InputError when a file has more than `limit` values."""
    if count > limit:
        raise InputError(f"{name} holds {count:,} values, over the limit of {limit:,}; add --limit {count} to load it.")


def check_file_shape(shape: tuple[int, ...], name: str) -> None:
    """Raises InputError for an array that is neither an image nor a signal: without axes, without elements, or with too
    many."""
    check_filled(shape, name)
    if len(shape) > 3 or (len(shape) == 3 and shape[-1] not in IMAGE_CHANNELS):
        raise InputError(
            f"{name} has {len(shape)} axes, shape {plain(shape, 60)}; a file may hold (N,), (H, W), (H, W, C) or a "
            "stack (D, H, W) or (D, H, W, C), with C = 1, 3 or 4: save a part of it, or choose another kind."
        )


def check_channels(count: int, name: str) -> None:
    """Raises InputError when a signal has more than MOST_CHANNELS."""
    if count > MOST_CHANNELS:
        raise InputError(
            f"{name} has {count:,} channels, and a signal (N, C) has at most {MOST_CHANNELS:,}; "
            "save fewer of them, or swap the axes if each row is a channel."
        )


def find_kind(shape: tuple[int, ...], name: str) -> Kind:
    """The kind of an array by its shape alone. Raises InputError for 0 or more than 3 dimensions."""
    if len(shape) == 1:
        return SIGNAL.id
    if len(shape) == 2 or (len(shape) == 3 and shape[-1] in IMAGE_CHANNELS):
        return IMAGE.id
    if len(shape) == 3:
        return STACK.id
    raise InputError(
        f"{name} has {len(shape)} dimensions, shape {shape}, but {', '.join(k.layout for k in INPUT_KINDS.values())}; "
        "take a part of it."
    )


def find_axes(shape: tuple[int, ...], kind: Kind, name: str) -> str:
    """The axes' letters, such as "yxc". Raises InputError when the shape does not suit the kind."""
    of_kind = INPUT_KINDS[kind]
    axes = of_kind.axes.get(len(shape), "")
    if kind == IMAGE.id and of_kind.channels_of(shape) not in IMAGE_CHANNELS:
        axes = ""
    if not axes:
        natural = find_kind(shape, name)
        raise InputError(f"{name} has shape {shape}, but {of_kind.layout}; use it as kind {natural}.")
    if axes == "tc":
        check_channels(shape[1], name)
    return axes


def check_array(array: Array, name: str) -> Array:
    """The array in native byte order and C order, copied only where necessary.

    Raises InputError unless it has real numbers, at least one, in 1 to 3 dimensions.
    """
    if array.dtype.kind not in "biuf":
        what = "Python objects" if array.dtype.hasobject else f"values of type {array.dtype}"
        raise InputError(f"{name} holds {what}; only real numbers can be used: convert it to {' or '.join(DTYPES)}.")
    check_filled(array.shape, name)
    find_kind(array.shape, name)
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))


def check_filled(shape: tuple[int, ...], name: str) -> None:
    """Raises InputError for an array without axes or without elements."""
    if not shape:
        raise InputError(f"{name} is a single number without axes; {SIGNAL.layout}: store it as an array of one.")
    if 0 in shape:
        raise InputError(f"{name} is empty, shape {plain(shape, 60)}; every axis needs at least one element.")


def settle_nonfinite(array: Array, rule: str, name: str) -> tuple[Array, bool, list[dict[str, Any]]]:
    """The array after applying the rule for NaN and infinity, whether it is finite now, and the step to record.

    With the rule "refuse" raises NonFiniteError, which has their number and the position of the first.
    """
    if array.dtype.kind != "f" or _sums_are_finite(array):
        return array, True, []
    words, nans, infinite = nonfinite_words(array, name)
    if not words:
        return array, True, []
    if rule == "refuse":
        raise NonFiniteError(words, nans, infinite)
    step = {"step": "nonfinite", "rule": rule, "nan": nans, "infinite": infinite}
    if rule == "zero":
        array = np.where(np.isfinite(array), array, array.dtype.type(0))
    return array, rule == "zero", [step]


def _sums_are_finite(array: Array) -> bool:
    """Whether all sums of groups of values are finite, which implies that the values are. It is much faster than
    checking each value; False is inconclusive, because sums of large values may overflow."""
    flat = array.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        return all(bool(np.isfinite(flat[k : k + SUMMED].sum())) for k in range(0, flat.size, SUMMED))


def nonfinite_words(array: Array, name: str) -> tuple[str, int, int]:
    """The numbers of NaN and infinities and the first position in words, and both numbers; "" where all are finite."""
    bad = np.isfinite(array)
    np.logical_not(bad, out=bad)
    count = int(np.count_nonzero(bad))
    if count == 0:
        return "", 0, 0
    nans = int(np.count_nonzero(np.isnan(array)))
    place = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape))
    where = place[0] if len(place) == 1 else place
    words = f"{name} holds {nans} NaN and {count - nans} infinite values, the first at index {where}"
    return words, nans, count - nans


def make_input(
    array: Array,
    kind: Kind | None,
    name: str,
    origin: Mapping[str, Any],
    rate: float | None = None,
    nonfinite: str = "refuse",
    label: str = "",
    facts: Facts = NO_FACTS,
) -> Input:
    """An Input of a checked array; `label` is its name in errors, `facts` are those of its file in addition to the
    values. Boolean images become uint8 of 0 and 255, other boolean inputs uint8 of 0 and 1."""
    label = label or name
    array = check_array(array, label)
    kind = kind or find_kind(array.shape, label)
    axes = find_axes(array.shape, kind, label)
    if array.dtype == np.bool_:
        array = array.astype(np.uint8) * np.uint8(255 if kind == IMAGE.id else 1)
    array, finite, steps = settle_nonfinite(array, nonfinite, label)
    origin = {**origin, "steps": [*origin.get("steps", ()), *steps]}
    return Input(kind, array, axes, name, origin, rate, finite=finite, facts=facts)


def from_array(
    array: Any, kind: Kind | None = None, name: str = "", rate: float | None = None, *, nonfinite: str = "refuse"
) -> Input:
    """An Input of an array: (N,) or (N, C) signal, (H, W) or (H, W, C) image, (D, H, W) stack; `rate` is in hertz.

    The array is NumPy's, or anything that numpy.asarray accepts; a DataArray, whose name, channels and even times
    become those of the input; a DataFrame or Series, with a channel for each column; or an array on a GPU, which is
    copied to the host. A NumPy array is shared, not copied, if it is in native byte order and C order. `nonfinite` is
    "refuse", "keep" or "zero". Raises InputError for objects, complex numbers, empty arrays, wrong dimensions, uneven
    times, and NaN or infinity under the rule "refuse"; ParamError for an unknown kind or rule, and a rate that is not
    positive.
    """
    if kind is not None:
        check_choice("kind", kind, KINDS)
    check_choice("nonfinite", nonfinite, NONFINITE)
    check_rate(rate)
    with enough_memory(name or "array", "use a smaller array"):
        given = unwrap(array, rate)
        name = name or given.name or "array"
        values = on_host(given.array, name) if given.on_gpu else given.array
        facts = Facts(labels=given.labels)
        result = make_input(
            values, kind or given.kind, name, {}, given.rate if rate is None else rate, nonfinite, facts=facts
        )
    digest = hashlib.sha256(result.array.data).hexdigest()
    return replace(result, origin={"array": name, "hash": digest, **result.origin})


def cast(array: Array, dtype: str, name: str) -> Array:
    """The same values in another type; floats may round to a nearest float.

    Raises InputError when a value is outside the type's range or, for integer types, not an integer; and for an integer
    that a floating type cannot represent exactly.
    """
    target = np.dtype(dtype)
    if target.kind == "u":
        low, high, top = array.min().item(), array.max().item(), np.iinfo(target).max
        if not (low >= 0 and high <= top):
            raise InputError(
                f"{name} holds values from {low:g} to {high:g}, but {dtype} takes 0 to {top}; "
                "scale it first or convert it to float32 or float64."
            )
        result = array.astype(target)
        if array.dtype.kind == "f" and not np.array_equal(result, array):
            raise InputError(
                f"{name} holds values that are not whole numbers, which {dtype} cannot keep; "
                "round it first or convert it to float32 or float64."
            )
        return result
    with np.errstate(over="ignore"):
        result = array.astype(target)
    if array.dtype.kind in "ui" and not _is_exact(array, result):
        raise InputError(
            f"{name} holds whole numbers from {array.min()} to {array.max()}, which {dtype} cannot keep exactly; "
            f"{'use float64, or ' if dtype == 'float32' else ''}round them with the step convert and how=round."
        )
    if array.dtype.kind == "f" and np.count_nonzero(np.isinf(result)) != np.count_nonzero(np.isinf(array)):
        raise InputError(f"{name} holds values beyond the range of {dtype}; scale it first or use float64.")
    return result


def _is_exact(array: Array, floats: Array) -> bool:
    """Whether floats equal the integers that they were converted from."""
    low, high, whole = int(array.min()), int(array.max()), 2 ** (np.finfo(floats.dtype).nmant + 1)
    if max(-low, high) <= whole:
        return True
    ends = all(int(floats.dtype.type(end)) == end for end in (low, high))  # otherwise converting back may overflow
    return ends and bool(np.array_equal(floats.astype(array.dtype), array))


def convert(input: Input, dtype: str) -> Input:
    """The input with the same values in another type, recorded as a step; `clean` is converted as well.

    Raises ParamError for a type other than uint8, uint16, float32 and float64; InputError when a value does not fit.
    """
    check_choice("dtype", dtype, DTYPES)
    if input.array.dtype.name == dtype:
        return input
    steps = [*input.origin.get("steps", []), {"step": "convert", "dtype": dtype}]
    with enough_memory(f"{input.name} as {dtype}", "use a smaller input, or a type of fewer bytes"):
        clean = None if input.clean is None else cast(input.clean, dtype, f"the clean original of {input.name}")
        array = cast(input.array, dtype, input.name)
    return replace(input, array=array, clean=clean, origin={**input.origin, "steps": steps})

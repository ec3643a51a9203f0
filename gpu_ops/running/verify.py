"""Compares outputs with the reference: whole, or in strips and crops where a filter is local."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gpu_ops.filters.kit.borders import padded
from gpu_ops.output_kinds import difference, largest_magnitude
from gpu_ops.plan import Checks
from gpu_ops.progress import advance, collect, finite, quiet, stage
from gpu_ops.running.declared import check_reference
from gpu_ops.task import MAIN, Meta, Task
from gpu_ops.types import MOST_SHARE, Error, Filter, Input, Output, Variant

Array = np.ndarray[Any, Any]
Region = tuple[slice, ...]
Extremes = tuple[float, float, float]
Result = TypeVar("Result")
_CHUNK = 1 << 20
_COMPARED = 1 << 24
"""Bytes that are compared at a time."""
_memcmp = ctypes.CDLL("msvcrt" if os.name == "nt" else None).memcmp
_memcmp.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t
_WORKERS = min(8, os.cpu_count() or 1)
"""Threads that compare: NumPy releases the interpreter's lock, and memory bandwidth is too small for more."""
CROP = 256
CROPS = 8
_references: OrderedDict[tuple[Any, ...], dict[str, Array]] = OrderedDict()
"""By (the input's id, filter, parameters); dropped with their input."""
_extremes: weakref.WeakKeyDictionary[Input, dict[str, Any]] = weakref.WeakKeyDictionary()
_MOST_REFERENCES = 3


def reference(filter: Filter, input: Input, task: Task) -> dict[str, Array]:
    """The filter's reference for a whole input; the last few are cached while their inputs exist. Raises
    DeclarationError when it does not match the filter's outputs."""
    key = (id(input), filter.id, tuple(sorted(task.params.items())))
    if key not in _references:
        outputs = filter.reference(task.on(input.array))
        check_reference(filter, task, outputs)
        if not any(key[0] == other[0] for other in _references):
            weakref.finalize(input, _forget, key[0]).atexit = False
        _references[key] = outputs
        while len(_references) > _MOST_REFERENCES:
            _references.popitem(last=False)
    _references.move_to_end(key)
    return _references[key]


def forget_input(input: Input) -> None:
    """Drop all that was found of an input whose samples were changed in place."""
    _extremes.pop(input, None)
    _forget(id(input))


def _forget(input_id: int) -> None:
    """Drop the references of an input that was deleted: another input may get its id."""
    for key in [key for key in _references if key[0] == input_id]:
        del _references[key]


def full_meta(input: Input) -> Meta:
    """The input's meta with the largest magnitude, the lowest and the highest value of floating samples, which are
    computed once and cached."""
    if input.array.dtype.kind != "f":
        return input.meta
    if input not in _extremes:
        with finite():
            _extremes[input] = _joined([find_extremes(input)])
    return replace(input.meta, **_extremes[input])


def remember_extremes(input: Input, found: Iterable[Extremes]) -> None:
    """Set the extremes of a part to those of all parts."""
    if input.array.dtype.kind == "f":
        _extremes[input] = _joined(found)


def with_extremes(meta: Meta, found: Iterable[Extremes]) -> Meta:
    """The meta of a whole with the extremes of all its parts."""
    return replace(meta, **_joined(found))


def find_extremes(input: Input) -> Extremes:
    """The lowest and highest finite value of an input, infinities where there is none, and the largest magnitude, in a
    pass over the samples."""
    pixels = input.array.reshape(-1, input.meta.channels)
    shown = 3 if input.kind == "image" and input.meta.channels == 4 else input.meta.channels
    found = _in_chunks(partial(_extremes_of, shown), pixels)
    lows, highs, sizes = zip(*found, strict=True) if found else ((), (), ())
    return min(lows, default=np.inf), max(highs, default=-np.inf), max(sizes, default=0.0)


def _joined(found: Iterable[Extremes]) -> dict[str, Any]:
    """The extremes of all parts as fields of a Meta."""
    lows, highs, sizes = zip(*found, strict=True)
    low, high = min(lows), max(highs)
    none = low > high  # no sample is finite
    return {"largest": max(sizes), "low": 0.0 if none else low, "high": 0.0 if none else high}


def _extremes_of(shown: int, pixels: Array) -> Extremes:
    """The lowest and highest finite value of the first channels, infinities where there is none, and the largest
    magnitude of all."""
    values = pixels[:, :shown]
    low, high = float(np.fmin.reduce(values, axis=None)), float(np.fmax.reduce(values, axis=None))
    if not (np.isfinite(low) and np.isfinite(high)):
        values = values[np.isfinite(values)]
        low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    return low, high, largest_magnitude(pixels) if shown < pixels.shape[1] else max(-low, high, 0.0)


def verify(
    filter: Filter, variant: Variant, input: Input, task: Task, outputs: Mapping[str, Array], checks: Checks = "full"
) -> dict[str, Error]:
    """The error of each output. With checks "sample", a local filter is checked in border strips and random crops.
    Raises DeclarationError when the reference is not what the filter declares, Cancelled when the listener stops the
    work."""
    tolerances = {o.id: o.tolerance(task) for o in filter.given(task.params)}
    if variant.exactness is not None:  # it widens, and of several outputs some have the wider one themselves
        tolerances = {id: max(own, variant.exactness.tolerance(task)) for id, own in tolerances.items()}
    with finite():
        if checks == "sample" and _is_local(filter, task):
            return _verify_regions(filter, input, task, outputs, tolerances)
        return _verify_whole(filter, input, task, outputs, tolerances)


def _is_local(filter: Filter, task: Task) -> bool:
    """Whether every output covers the input, and depends on a neighbourhood."""
    shape = task.meta.shape
    rank, extents = task.meta.of_kind.rank, task.meta.of_kind.spatial(shape)
    over = all(o.form(task).shape[:rank] == extents for o in filter.given(task.params))
    return over and filter.locality.kind == "halo" and filter.locality.halo is not None


def _verify_whole(
    filter: Filter, input: Input, task: Task, outputs: Mapping[str, Array], tolerances: Mapping[str, float]
) -> dict[str, Error]:
    with stage(0, 2):
        expected = reference(filter, input, task)
    errors, given = {}, filter.given(task.params)
    for place, output in enumerate(given):
        right, actual = _comparable(output, expected[output.id], outputs[output.id])
        with stage(len(given) + place, 2 * len(given)):
            scales = _scales_of(output, task.on(input.array), tolerances[output.id], right, actual)
            if scales is not None:
                errors[output.id] = _worst_element(right, actual, scales, tolerances[output.id])
                continue
            columns = _columns(output, right, actual)
            most = output.most(task) if output.most is not None and len(columns) > 1 else (np.inf,) * len(columns)
            found = []
            for column, parts in enumerate(columns):
                with stage(2 * column, 2 * len(columns)):
                    scale = min(_scale(input, output, task, parts[0]), most[column])
                with stage(2 * column + 1, 2 * len(columns)):
                    found.append(measure_error(*parts, scale, tolerances[output.id]))
            errors[output.id] = max(found, key=lambda error: error.relative)
    return errors


class Scales(NamedTuple):
    """The scale of each element, and its largest possible magnitude. The tolerance is compared with the magnitude of
    each element if `by_element`, else with that of the median one."""

    scales: Array
    sizes: Array
    by_element: bool


def _scales_of(output: Output, task: Task, tolerance: float, expected: Array, actual: Array) -> Scales | None:
    """The scales of an output whose elements have their own; None for others, and for a wrong shape."""
    scales = None if output.scales is None or expected.shape != actual.shape else output.scales(task, tolerance)
    if scales is None:
        return None
    if output.sizes is not None:
        return Scales(scales, output.sizes(task), True)
    whole = float(np.iinfo(task.dtype).max) if _is_rounded(output, task.dtype) else 0.0
    return Scales(scales, np.full(scales.shape, max(whole, output.least(task), _largest(expected))), False)


def _worst_element(expected: Array, actual: Array, of: Scales, tolerance: float, offset: Region = ()) -> Error:
    """The error of the element with the largest error on its own scale. Its share is the tolerance over an element's
    magnitude: the largest of all with `by_element`, else the median."""
    errors = difference(expected, actual)
    place = np.unravel_index(int(np.argmax(errors / np.where(of.scales > 0, of.scales, 1.0))), errors.shape)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        rms = float(np.sqrt(np.mean(np.square(errors))))
        shares = np.nan_to_num(tolerance * of.scales / of.sizes, nan=0.0, posinf=np.inf)
    share = float(np.max(shares) if of.by_element else np.median(shares))
    return Error(float(errors[place]), rms, _moved(place, offset), float(of.scales[place]), tolerance, share)


def _moved(place: Iterable[Any], offset: Region) -> tuple[int, ...]:
    """The position in the whole of an element of a region."""
    place = list(place)
    starts = [s.start for s in offset] + [0] * (len(place) - len(offset))
    return tuple(int(i) + s for i, s in zip(place, starts, strict=True))


def _is_rounded(output: Output, dtype: np.dtype[Any]) -> bool:
    """Whether an output has integers that are rounded from a reference of floats."""
    return output.unrounded and dtype.kind == "u"


def _comparable(output: Output, expected: Array, actual: Array) -> tuple[Array, Array]:
    """Both arrays without irrelevant differences: undecided elements count as correct, and so do differences by whole
    periods."""
    right = np.ma.getdata(expected)
    if expected.shape != actual.shape:
        return right, actual
    if output.period:
        actual = actual - output.period * np.rint((actual - right) / output.period)
    mask = np.ma.getmask(expected)
    return right, actual if mask is np.ma.nomask else np.where(mask, right.astype(actual.dtype), actual)


def _columns(output: Output, expected: Array, actual: Array) -> list[tuple[Array, Array]]:
    """The parts that have their own scale: the columns of a table that has scales by column, else the whole."""
    if output.kind != "table" or not output.own_scale or expected.ndim != 2 or expected.shape != actual.shape:
        return [(expected, actual)]
    return list(zip(expected.T, actual.T, strict=True))


def _verify_regions(
    filter: Filter, input: Input, task: Task, outputs: Mapping[str, Array], tolerances: Mapping[str, float]
) -> dict[str, Error]:
    assert filter.locality.halo is not None
    array, halo = input.array, filter.locality.halo(task)
    border = str(task.params.get("border", "zero"))
    with stage(0, 2):
        given = {o.id: o for o in filter.given(task.params)}
        scales = {o.id: _scale(input, o, task) for o in given.values()}
    worst: dict[str, Error] = {}
    by_element: set[str] = set()
    crops = list(regions(array.shape, halo))
    for place, region in enumerate(crops):
        advance(len(crops) + place, 2 * len(crops))
        wide, inner = _surroundings(array.shape, region, halo, border)
        cut = padded(array, wide, border)
        part = replace(task, metas={MAIN: replace(task.meta, shape=cut.shape)}, arrays={MAIN: cut})
        with quiet():
            expected = filter.reference(part)
            check_reference(filter, part, expected)
            for name, whole in expected.items():
                output, tolerance = given[name], tolerances[name]
                right, actual = _comparable(output, whole[inner], outputs[name][region])
                of = _scales_of(output, part, tolerance, whole, whole)
                if of is None:
                    scales[name] = max(scales[name], _scale(input, output, task, right))
                    error = measure_error(right, actual, 1.0, tolerance, offset=region)
                else:
                    by_element.add(name)
                    own = of._replace(scales=of.scales[inner], sizes=of.sizes[inner])
                    error = _worst_element(right, actual, own, tolerance, region)
                if name not in worst or not error.relative <= worst[name].relative:
                    worst[name] = error
    return {name: error if name in by_element else replace(error, scale=scales[name]) for name, error in worst.items()}


def _surroundings(shape: tuple[int, ...], region: Region, halo: tuple[int, ...], border: str) -> tuple[Region, Region]:
    """A region with its halo, and the region's position in that. The halo ends at the image's edges, where the
    reference applies the border itself, in each pass; only with the border "wrap" it continues beyond them."""
    wide = [slice(s.start - h, s.stop + h) for s, h in zip(region, halo, strict=True)]
    if border != "wrap":
        wide = [slice(max(w.start, 0), min(w.stop, n)) for w, n in zip(wide, shape, strict=False)]
    inner = (slice(s.start - w.start, s.stop - w.start) for s, w in zip(region, wide, strict=True))
    return tuple(wide), tuple(inner)


def regions(shape: tuple[int, ...], halo: tuple[int, ...], seed: int = 0) -> Iterator[Region]:
    """Strips as wide as the halo along every edge, and eight random crops of 256 along each filtered axis."""
    extents = shape[: len(halo)]
    for axis, (n, reach) in enumerate(zip(extents, halo, strict=True)):
        width = min(n, reach + 1)
        for start in {0, n - width}:
            yield tuple(slice(start, start + width) if a == axis else slice(0, m) for a, m in enumerate(extents))
    random = np.random.default_rng(seed)
    for _ in range(CROPS):
        starts = [int(random.integers(0, max(n - CROP, 0) + 1)) for n in extents]
        yield tuple(slice(s, min(s + CROP, n)) for s, n in zip(starts, extents, strict=True))


def _scale(input: Input, output: Output, task: Task, expected: Array | None = None) -> float:
    """The largest finite magnitude in the input, and in the reference where it is given: the size of the numbers that
    were rounded. It is at least the output's minimum scale and the smallest normal number, below which rounding errors
    do not shrink. For integers it is their whole range, so that a tolerance counts levels. For an output with its own
    scale the input does not count."""
    dtype = input.array.dtype
    if dtype.kind == "u" and (expected is None or expected.dtype == dtype or output.unrounded):
        return float(np.iinfo(dtype).max)
    least = max(
        output.least(task.on(input.array)), float(np.finfo(dtype).smallest_normal) if dtype.kind == "f" else 0.0
    )
    if output.own_scale:
        return least if expected is None else max(least, _largest(expected))
    with stage(0, 2):
        largest = max(least, full_meta(input).largest if dtype.kind == "f" else _largest(input.array))
    with stage(1, 2):
        return largest if expected is None else max(largest, _largest(expected))


def _largest(array: Array) -> float:
    return max(_in_chunks(largest_magnitude, array.reshape(-1)), default=0.0)


def _in_chunks(work: Callable[..., Result], *arrays: Array) -> list[Result]:
    """The results of `work` on the same chunk of each array, along the first axis, in order."""
    starts = range(0, len(arrays[0]), _CHUNK)

    def chunk_result(start: int) -> Result:
        return work(*(a[start : start + _CHUNK] for a in arrays))

    if len(starts) < 2:
        return [chunk_result(start) for start in starts]
    with ThreadPoolExecutor(_WORKERS) as pool:
        return collect(pool.map(chunk_result, starts), len(starts))


def measure_error(expected: Array, actual: Array, scale: float, tolerance: float, offset: Region = ()) -> Error:
    """Largest and root-mean-square difference and where the largest is; where a shape or NaN differs, both are
    infinite.

    Where the reference is NaN or infinite the output must be the same; such elements do not count for the rms.
    """
    if expected.shape != actual.shape:
        return Error(float("inf"), float("inf"), (), scale, tolerance)
    worst, place, squares = 0.0, 0, 0.0
    chunks = _in_chunks(_chunk_error, np.ravel(expected), np.ravel(actual))
    for chunk, (largest, at, own) in enumerate(chunks):
        if largest > worst:
            worst, place = largest, chunk * _CHUNK + at
        squares += own
    index = np.unravel_index(place, expected.shape) if expected.size else ()
    rms = float(np.sqrt(squares / max(expected.size, 1)))
    return Error(worst, rms, _moved(index, offset), scale, tolerance, tolerance)


def _chunk_error(expected: Array, actual: Array) -> tuple[float, int, float]:
    """The largest difference, where it is, and the sum of their squares."""
    if expected.dtype == actual.dtype and expected.dtype.kind in "bui" and np.array_equal(expected, actual):
        return 0.0, 0, 0.0
    errors = difference(expected, actual)
    at = int(np.argmax(errors))
    with np.errstate(over="ignore"):
        return float(errors[at]), at, sum_of_squares(errors)


def sum_of_squares(values: Array) -> float:
    """The sum of squares of float64 values (N,), in this thread: the threads of a BLAS wait for each other at full
    load, which takes ten times as much of the processors as the sum."""
    return float(np.einsum("i,i->", values, values))


def nothing_judged(errors: Mapping[str, Error]) -> tuple[str, ...]:
    """A note for each output whose tolerance is too large to judge it."""

    def note(name: str, share: float) -> str:
        may = f"{100 * share:.2g} % of {name}" if share < 1 else f"as much as {name} or more"
        needed = f"a verdict needs {100 * MOST_SHARE:.2g} % or less"
        return f"not judged: rounding may take {may} here, {needed}; take another variant, or samples nearer to zero"

    return tuple(note(name, e.share) for name, e in errors.items() if e.ok and not e.judges)


def same_bytes(a: Array, b: Array) -> bool:
    """Whether two arrays have the same form and the same bits; NaN equals itself here."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    contiguous = np.ascontiguousarray(a), np.ascontiguousarray(b)
    left, right = (array.ctypes.data for array in contiguous)
    for start in range(0, a.nbytes, _COMPARED):
        advance(start, a.nbytes)
        if _memcmp(left + start, right + start, min(_COMPARED, a.nbytes - start)):
            return False
    return True

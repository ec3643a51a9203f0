"""Histograms on the CPU, compiled by Numba: the plain loop on one thread, and the same on all of them.

An integer's bin is looked up in a table. A floating-point sample is scaled to an estimate, which its neighbouring
bounds confirm or correct by one; otherwise a binary search finds its bin. On all threads, each counts in its own
histograms, which are added at the end: nothing is shared and nothing locked. Neighbouring samples are often equal, and
incrementing the count that was just stored waits for store forwarding; so each thread has four sets of histograms, for
every fourth sample each.

Arrays are C-contiguous: x (N,), (N, C), (H, W) or (H, W, C) in uint8, uint16, float32 or float64. Importing this module
loads Numba: plans import it when they are created.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numba import get_num_threads, types
from numba.extending import overload

from gpu_ops.filters.histogram.bins import Array, Bins
from gpu_ops.filters.histogram.figures import new_values
from gpu_ops.filters.kit.loops import compiled, flat, given, offset, on_all_threads
from gpu_ops.progress import advance

BAND = 1 << 24
"""Samples between two progress reports: tens of milliseconds."""
SETS = 4
"""Sets of histograms of a thread; a power of two."""
MOST_INTERLEAVED = 4
"""The maximum number of byte channels whose levels are all counted: with more the counts would exceed the L1 cache."""


def slot_of(v: Any, table: Any, bounds: Any, low: Any, scale: Any) -> Any:
    """The bin of a value; B below the range, B + 1 above it, B + 2 for NaN."""
    raise NotImplementedError("for compiled code only")


def grey_of(red: Any, green: Any, blue: Any) -> Any:
    """The luminance of three colours, in their type."""
    raise NotImplementedError("for compiled code only")


def shifted(v: Any, new: Any, old: Any, top: Any) -> Any:
    """v + new - old; integers are clamped to 0…top."""
    raise NotImplementedError("for compiled code only")


def _slot_compiled(v: Any, table: Any, bounds: Any, low: Any, scale: Any) -> Callable[..., Any]:
    if isinstance(v, types.Integer):
        return lambda v, table, bounds, low, scale: table[v]

    def search(v: Any, table: Any, bounds: Any, low: Any, scale: Any) -> Any:
        bins = bounds.size - 1
        if not v >= bounds[0]:
            return bins if v < bounds[0] else bins + 2
        if v >= bounds[bins]:
            return bins + 1
        guess = (np.float64(v) - low) * scale
        k = np.int64(guess) if guess < bins else bins - 1
        if v < bounds[k]:
            k -= k > 0
        elif v >= bounds[k + 1]:
            k += k < bins - 1
        if bounds[k] <= v and v < bounds[k + 1]:
            return k
        first, last = 0, bins  # bounds[first] <= v < bounds[last]
        while last - first > 1:
            middle = (first + last) // 2
            if v >= bounds[middle]:
                first = middle
            else:
                last = middle
        return first

    return search


def _grey_compiled(red: Any, green: Any, blue: Any) -> Callable[..., Any]:
    if isinstance(red, types.Integer):
        return lambda red, green, blue: (
            (
                np.uint32(299) * np.uint32(red)
                + np.uint32(587) * np.uint32(green)
                + np.uint32(114) * np.uint32(blue)
                + np.uint32(500)
            )
            // np.uint32(1000)
        )
    kind = np.float32 if red == types.float32 else np.float64

    def mix(red: Any, green: Any, blue: Any) -> Any:
        r, g, b = np.float64(red), np.float64(green), np.float64(blue)
        mixed = (0.299 * r + 0.587 * g) + 0.114 * b
        least = g if g < r else r
        most = r if g < r else g
        least = b if b < least else least
        most = b if b > most else most
        mixed = least if mixed < least else mixed  # NaN stays NaN
        mixed = most if mixed > most else mixed
        return kind(mixed)

    return mix


def _shifted_compiled(v: Any, new: Any, old: Any, top: Any) -> Callable[..., Any]:
    if isinstance(v, types.Integer):
        return lambda v, new, old, top: min(max(np.int64(v) + np.int64(new) - np.int64(old), 0), top)
    return lambda v, new, old, top: v + (new - old)


overload(slot_of, strict=False)(_slot_compiled)
overload(grey_of, strict=False)(_grey_compiled)
overload(shifted, strict=False)(_shifted_compiled)


@compiled
def _count(
    x: Array, first: int, last: int, sizes: Any, table: Array, bounds: Array, low: float, scale: float, counts: Array
) -> None:
    """Count pixels or samples `first` to `last` in (sets, histograms, slots), flat."""
    step, colours, grey = offset(sizes[0]), offset(sizes[1]), sizes[2]
    slots, last_set, one = offset(sizes[3]), offset(sizes[4] - 1), np.uint32(1)
    if grey:
        for i in range(offset(first), offset(last)):
            v = grey_of(x[i * step], x[i * step + offset(1)], x[i * step + offset(2)])
            counts[(i & last_set) * slots + offset(slot_of(v, table, bounds, low, scale))] += one
    elif step == 1:
        for i in range(offset(first), offset(last)):
            counts[(i & last_set) * slots + offset(slot_of(x[i], table, bounds, low, scale))] += one
    else:
        for i in range(offset(first), offset(last)):
            start = (i & last_set) * colours * slots
            for c in range(colours):
                v = x[i * step + c]
                counts[start + c * slots + offset(slot_of(v, table, bounds, low, scale))] += one


@compiled
def _count_bytes(words: Array, where: Array, first: int, last: int, counts: Array) -> None:
    """Count the bytes of groups of words by their level; where[j] is the offset of the counts of byte j of a group."""
    length, byte, one = offset(where.size // 8), np.uint64(255), np.uint32(1)
    for group in range(offset(first), offset(last)):
        for w in range(length):
            word, k = words[group * length + w], w * offset(8)
            counts[where[k] + (word & byte)] += one
            counts[where[k + offset(1)] + (word >> np.uint64(8) & byte)] += one
            counts[where[k + offset(2)] + (word >> np.uint64(16) & byte)] += one
            counts[where[k + offset(3)] + (word >> np.uint64(24) & byte)] += one
            counts[where[k + offset(4)] + (word >> np.uint64(32) & byte)] += one
            counts[where[k + offset(5)] + (word >> np.uint64(40) & byte)] += one
            counts[where[k + offset(6)] + (word >> np.uint64(48) & byte)] += one
            counts[where[k + offset(7)] + (word >> np.uint64(56))] += one


@compiled
def _count_levels(x: Array, first: int, last: int, counts: Array) -> None:
    """The same for one channel, in groups of eight bytes: byte j belongs to set j modulo 4, which needs no look-up.
    Loading a byte is cheaper than shifting and masking a word; all eight are loaded before the first count."""
    eight, one = offset(8), np.uint32(1)
    for i in range(offset(first), offset(last)):
        at = i * eight
        a, b, c, d = x[at], x[at + offset(1)], x[at + offset(2)], x[at + offset(3)]
        e, f, g, h = x[at + offset(4)], x[at + offset(5)], x[at + offset(6)], x[at + offset(7)]
        counts[offset(a)] += one
        counts[offset(256) + offset(b)] += one
        counts[offset(512) + offset(c)] += one
        counts[offset(768) + offset(d)] += one
        counts[offset(e)] += one
        counts[offset(256) + offset(f)] += one
        counts[offset(512) + offset(g)] += one
        counts[offset(768) + offset(h)] += one


@compiled
def _equalise(
    x: Array,
    out: Array,
    first: int,
    last: int,
    sizes: Any,
    table: Array,
    bounds: Array,
    low: float,
    scale: float,
    new: Array,
    moved: Array,
) -> None:
    """Pixels or samples `first` to `last`; `new` are the values of bins (histograms, bins), flat."""
    step, colours, grey, bins, top = sizes
    for i in range(first, last):
        at = i * step
        for c in range(step):
            out[at + c] = x[at + c]
        if grey:
            v = grey_of(x[at], x[at + 1], x[at + 2])
            k = slot_of(v, table, bounds, low, scale)
            if k < bins and moved[0]:
                for c in range(3):
                    out[at + c] = shifted(x[at + c], new[k], v, top)
        else:
            for c in range(colours):
                k = slot_of(x[at + c], table, bounds, low, scale)
                if k < bins and moved[c]:
                    out[at + c] = new[c * bins + k]


def _count_part(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """One worker's share of the pixels, counted in its own histograms."""
    x, begin, end, step, colours, grey, slots, sets, table, bounds, low, scale, counts = given(arguments)
    first, last = begin + worker * (end - begin) // workers, begin + (worker + 1) * (end - begin) // workers
    _count(x, first, last, (step, colours, grey, slots, sets), table, bounds, low, scale, counts[worker])


def _bytes_part(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """One worker's share of the groups of words of a band."""
    x, words, where, begin, end, counts = given(arguments)
    first, last = begin + worker * (end - begin) // workers, begin + (worker + 1) * (end - begin) // workers
    if where.size == 8:
        _count_levels(x, first, last, counts[worker])
    else:
        _count_bytes(words, where, first, last, counts[worker])


def _equalise_part(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """One worker's share of the pixels."""
    x, out, begin, end, step, colours, grey, bins, top, table, bounds, low, scale, new, moved = given(arguments)
    first, last = begin + worker * (end - begin) // workers, begin + (worker + 1) * (end - begin) // workers
    _equalise(x, out, first, last, (step, colours, grey, bins, top), table, bounds, low, scale, new, moved)


@lru_cache(16)
def slots_of_levels(bins: Bins, levels: int) -> Array:
    """The slot of each level of an integer type, int32, read-only."""
    places = np.searchsorted(bins.bounds, np.arange(levels), "right") - 1
    slots = np.where(places < 0, bins.count, np.where(places == bins.count, bins.count + 1, places)).astype(np.int32)
    slots.flags.writeable = False
    return slots


@lru_cache(16)
def _places(step: int, group: int) -> Array:
    """The offset of the counts of each byte of a group of words, for interleaved channels."""
    place = np.arange(group)
    return ((place // step % SETS * step + place % step) * 256).astype(np.uint64)


def _search(x: Array, bins: Bins) -> tuple[Array, Array, float, float]:
    """Table, bounds, low and scale as the loops expect them: integers need only the table, floats the others."""
    if x.dtype.kind == "u":
        return slots_of_levels(bins, np.iinfo(x.dtype).max + 1), np.zeros(1), 0.0, 0.0
    return np.zeros(1, np.int32), bins.bounds.astype(np.float64), bins.low, bins.scale


def count_serial(x: Array, counts: Array, outside: Array, bins: Bins) -> None:
    """Fill `counts` (C, B) and `outside` (3, C), or (B,) and (3,), on one thread."""
    slots, search, pixels = bins.count + 3, _search(x, bins), x.size // bins.step
    found = np.zeros(bins.histograms * slots, np.uint32)
    for first, last in _bands(pixels, bins.colours):
        _count(flat(x), first, last, (bins.step, bins.colours, bins.grey, slots, 1), *search, found)
    _give(found.reshape(-1, slots), counts, outside)


def count_parallel(x: Array, counts: Array, outside: Array, bins: Bins) -> None:
    """The same on numba.get_num_threads() threads."""
    if x.dtype == np.uint8 and bins.step <= MOST_INTERLEAVED and not bins.grey:
        _count_all_bytes(x, counts, outside, bins)
        return
    slots, search, workers = bins.count + 3, _search(x, bins), get_num_threads()
    found = _private_counts(workers, SETS * bins.histograms * slots)
    for first, last in _bands(x.size // bins.step, bins.colours):
        sizes = bins.step, bins.colours, bins.grey, slots, SETS
        on_all_threads(_count_part, (flat(x), first, last, *sizes, *search, found), workers)
    every = _together(found).reshape(workers * SETS, -1, slots)
    _give(every.sum(axis=0, dtype=np.uint32), counts, outside)


def _count_all_bytes(x: Array, counts: Array, outside: Array, bins: Bins) -> None:
    """Bytes are counted by their level, eight of a word at a time; then the levels are merged into their bins. A group
    of words begins with a pixel, so that the channel of each of its bytes is known."""
    step, group, workers = bins.step, math.lcm(8, bins.step), get_num_threads()
    where = _places(step, group)
    whole = x.size // group * group
    words, rest = flat(x)[:whole].view(np.uint64), flat(x)[whole:]
    found = _private_counts(workers, SETS * step * 256)
    for first, last in _bands(whole // group, group // 4):  # bytes are four times as fast as other samples
        on_all_threads(_bytes_part, (flat(x), words, where, first, last, found), workers)
    levels = _together(found).reshape(-1, step, 256).sum(axis=0, dtype=np.uint32)
    for c in range(bins.histograms) if rest.size else ():
        levels[c] += np.bincount(rest[c::step], minlength=256).astype(np.uint32)
    slots = slots_of_levels(bins, 256)
    joined = [np.bincount(slots, weights=levels[c], minlength=bins.count + 3) for c in range(bins.histograms)]
    _give(np.array(joined).astype(np.uint32), counts, outside)


def _private_counts(workers: int, size: int) -> Array:
    """Zeros for the counts of each worker, followed by the same amount of padding: on two cores of a Xeon, threads that
    count in neighbouring pages took 24 ms for 64 MiB of random bytes, and 16 ms with a page in between."""
    return np.zeros((workers, 2 * size), np.uint32)


def _together(found: Array) -> Array:
    """The counts alone."""
    return np.ascontiguousarray(found[:, : found.shape[1] // 2])


def _give(found: Array, counts: Array, outside: Array) -> None:
    counts.reshape(len(found), -1)[...] = found[:, :-3]
    outside.reshape(3, -1)[...] = found[:, -3:].T


def equalise_serial(x: Array, out: Array, counts: Array, bins: Bins) -> None:
    """Equalised samples into `out` by their counts, on one thread."""
    search, new, moved = _search(x, bins), *new_values(counts, bins, x.dtype)
    for first, last in _bands(x.size // bins.step, bins.colours):
        sizes = bins.step, bins.colours, bins.grey, bins.count, _top(x)
        _equalise(flat(x), out.reshape(-1, copy=False), first, last, sizes, *search, new, moved)


def equalise_parallel(x: Array, out: Array, counts: Array, bins: Bins) -> None:
    """The same on numba.get_num_threads() threads."""
    search, new, moved = _search(x, bins), *new_values(counts, bins, x.dtype)
    for first, last in _bands(x.size // bins.step, bins.colours):
        sizes = bins.step, bins.colours, bins.grey, bins.count, _top(x)
        arguments = flat(x), out.reshape(-1, copy=False), first, last, *sizes, *search, new, moved
        on_all_threads(_equalise_part, arguments, get_num_threads())


def _top(x: Array) -> int:
    return int(np.iinfo(x.dtype).max) if x.dtype.kind == "u" else 0


def _bands(pixels: int, values: int) -> Iterator[tuple[int, int]]:
    """The first and the last pixel of each band; a pixel, or a group of them, has this number of values."""
    band = BAND // values or 1
    for first in range(0, pixels, band):
        if first:  # a call of one band reports no progress, because a report would take longer than the band
            advance(first, pixels)
        yield first, min(first + band, pixels)

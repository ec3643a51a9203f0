"""Atomic operations of many lanes at once, with the result of doing them one after the other, in the lanes' order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_ops.devices.sim.lanes import Array
from gpu_ops.progress import advance

_WITHOUT_ANSWER: dict[str, Any] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_STEP: dict[str, Callable[[Array, Array], Array]] = {
    **_WITHOUT_ANSWER,
    "exch": lambda old, value: value,
    "inc": lambda old, limit: np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1)),
    "dec": lambda old, limit: np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1)),
}
OPERATIONS = (*_STEP, "cas")


def update(memory: Array, index: Array, operation: str, values: tuple[Array, ...], needs_result: bool) -> Array | None:
    """Do `operation` with `values` (n,) each on memory[index], lane by lane in their order.

    Returns the old value for each lane, or None without `needs_result`. For "cas" the values are the one to compare
    with and the new one."""
    if not needs_result and operation in _WITHOUT_ANSWER:
        _WITHOUT_ANSWER[operation].at(memory, index, values[0])
        return None
    order = np.argsort(index, kind="stable")
    places = index[order]
    sorted_values = tuple(v[order] for v in values)
    starts = np.flatnonzero(np.concatenate(([True], places[1:] != places[:-1])))
    if len(starts) == len(places):
        old = memory[places]
        memory[places] = _apply(operation, old, sorted_values)
    elif operation == "cas":
        old = _compare_and_swap(memory, places, starts, *sorted_values)
    elif operation == "exch":
        old = np.concatenate((sorted_values[0][:1], sorted_values[0][:-1]))
        old[starts] = memory[places[starts]]
        ends = np.concatenate((starts[1:], [len(places)])) - 1
        memory[places[ends]] = sorted_values[0][ends]
    elif operation == "add" and memory.dtype.kind != "f":
        old = _running_sums(memory, places, starts, sorted_values[0])
    else:
        old = _one_by_one(memory, places, starts, operation, sorted_values[0])
    result = np.empty_like(old)
    result[order] = old
    return result


def _apply(operation: str, old: Array, values: tuple[Array, ...]) -> Array:
    if operation == "cas":
        return np.where(old == values[0], values[1], old)
    return _STEP[operation](old, values[0])


def _running_sums(memory: Array, places: Array, starts: Array, values: Array) -> Array:
    """Integer sums do not depend on the grouping, so each lane's sum is a difference of prefix sums, modulo the
    width."""
    total = np.cumsum(values, dtype=values.dtype)
    before = total - values
    lengths = np.diff(np.concatenate((starts, [len(places)])))
    old = np.repeat(memory[places[starts]] - before[starts], lengths) + before
    ends = starts + lengths - 1
    memory[places[ends]] = old[ends] + values[ends]
    return old


def _one_by_one(memory: Array, places: Array, starts: Array, operation: str, values: Array) -> Array:
    """Process the first lane of every address, then the second of every address, and so on; or, if many lanes share few
    addresses, one address after the other."""
    lengths = np.diff(np.concatenate((starts, [len(places)])))
    old = np.empty(len(places), memory.dtype)
    if len(starts) < lengths.max() and (operation in _WITHOUT_ANSWER or (values == values[0]).all()):
        for start, length in zip(starts, lengths, strict=True):
            advance(0, 1)
            sequence = _sequence(memory[places[start]], operation, values[start : start + length])
            old[start : start + length] = sequence[:-1]
            memory[places[start]] = sequence[-1]
        return old
    for turn in range(int(lengths.max())):
        advance(0, 1)
        lanes = starts[lengths > turn] + turn
        old[lanes] = memory[places[lanes]]
        memory[places[lanes]] = _STEP[operation](old[lanes], values[lanes])
    return old


def _sequence(first: Any, operation: str, values: Array) -> Array:
    """The values (n + 1,) at one address: before the first lane, and after each. For inc and dec all limits are
    equal."""
    if operation in _WITHOUT_ANSWER:
        return _WITHOUT_ANSWER[operation].accumulate(np.concatenate(([first], values)))
    limit, turns = int(values[0]), np.arange(len(values))
    start = int(_STEP[operation](np.asarray(first), values[0]))  # from here on the values are periodic
    round_ = limit + 1
    ring = (start + turns) % round_ if operation == "inc" else (start - turns) % round_
    return np.concatenate(([first], ring.astype(values.dtype)))


def _compare_and_swap(memory: Array, places: Array, starts: Array, compared: Array, new: Array) -> Array:
    """Each iteration completes, for every address, all lanes up to the next one whose comparison succeeds."""
    lengths = np.diff(np.concatenate((starts, [len(places)])))
    current = np.repeat(memory[places[starts]], lengths)
    old = current.copy()
    open_ = np.ones(len(places), np.bool_)
    positions = np.arange(len(places))
    while True:
        advance(0, 1)
        match = open_ & (compared == current)
        first = np.minimum.reduceat(np.where(match, positions, len(places)), starts)
        hit = first[first < len(places)]
        if not len(hit):
            break
        reach = np.repeat(first, lengths)
        done = positions <= reach
        old[open_ & done] = current[open_ & done]
        open_ &= ~done & (reach < len(places))
        swapped = np.repeat(new[np.minimum(first, len(places) - 1)], lengths)
        current = np.where(np.repeat(first < len(places), lengths), swapped, current)
        old[open_] = current[open_]
    memory[places[starts]] = current[starts]
    return old

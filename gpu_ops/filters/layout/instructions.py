"""The memory instructions of each kernel, launch by launch: which bytes each lane accesses, in program order.

Every function takes a task and returns a Pass for each launch of its variant. Source: S0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from gpu_ops.filters.layout.addresses import WARP, Array, MemoryInstruction, Pass, Threads, only
from gpu_ops.plan import Space, Verb
from gpu_ops.task import Task

WORD = 4
"""Bytes of a value, and of a field; only kernels without structures or shared memory take values of 8 bytes."""
FIELDS = 3
RECORD, WHOLE = 12, 16
"""Bytes of a packed structure of three fields, and of one that is aligned to 16 bytes."""
HALF_RECORD, VALUES_OF_RECORD = 16, 8
"""Bytes of half a structure of 8 values."""

Element = Callable[[Threads], Array]
"""The index of the value that each lane accesses, which may be outside the signal."""


def blocks(elements: int, per_block: int) -> int:
    """Blocks that cover so many elements."""
    return -(-elements // per_block)


def leading_threads(task: Task) -> int:
    """Threads of the variant shifted before the first value."""
    return int(-task.knobs["shift"] % WARP)


def records(task: Task) -> int:
    """The number of structures of 8 values for the signal."""
    return blocks(task.meta.size, VALUES_OF_RECORD)


def _touch(
    verb: Verb, buffer: str, element: Element, n: int, size: int = WORD, shift: int = 0, nbytes: int = 0
) -> MemoryInstruction:
    """A global access to elements 0…n-1 of `size` bytes each: the whole element, or `nbytes` of it at an offset of
    `shift` bytes."""

    def place(threads: Threads) -> Array:
        i = element(threads)
        return only((i >= 0) & (i < n), i * size + shift)

    return MemoryInstruction("global", verb, nbytes or size, buffer, place)


def _through(
    task: Task, element: Element, between: Iterable[MemoryInstruction] = (), covered: int | None = None
) -> tuple[Pass, ...]:
    """One launch, whose threads load a value of x, compute, and store it to y."""
    n, block = task.meta.size, task.knobs["block"]
    size = task.meta.itemsize
    instructions = (_touch("load", "x", element, n, size), *between, _touch("store", "y", element, n, size))
    return (Pass(blocks(covered or n, block), block, instructions),)


def number(threads: Threads) -> Array:
    """A thread's own index."""
    return threads.number


# Global memory


def order(task: Task) -> tuple[Pass, ...]:
    return _through(task, number)


def shifted(task: Task) -> tuple[Pass, ...]:
    before = leading_threads(task)
    return _through(task, lambda threads: threads.number - before, covered=task.meta.size + before)


def swapped(task: Task) -> tuple[Pass, ...]:
    def element(threads: Threads) -> Array:
        own = threads.thread
        return threads.block * threads.size + np.where((own & 14) == 4, own ^ 1, own)

    return _through(task, element)


def gaps(task: Task) -> tuple[Pass, ...]:
    n, block, rounds = task.meta.size, task.knobs["block"], task.knobs["rounds"]

    def of_round(k: int) -> Element:
        return lambda threads: only(threads.thread % rounds == k, threads.number)

    instructions = (
        _touch(verb, buffer, of_round(k), n, task.meta.itemsize) for k in range(rounds) for verb, buffer in _THROUGH
    )
    return (Pass(blocks(n, block), block, tuple(instructions)),)


_THROUGH: tuple[tuple[Verb, str], ...] = (("load", "x"), ("store", "y"))


def _neighbours(task: Task, each: int) -> tuple[Pass, ...]:
    """Each thread processes this number of consecutive values."""
    n, block = task.meta.size, task.knobs["block"]

    def of_round(k: int) -> Element:
        return lambda threads: threads.number * each + k

    instructions = (
        _touch(verb, buffer, of_round(k), n, task.meta.itemsize) for k in range(each) for verb, buffer in _THROUGH
    )
    return (Pass(blocks(n, block * each), block, tuple(instructions)),)


def stride(task: Task) -> tuple[Pass, ...]:
    return _neighbours(task, task.knobs["stride"])


def vectors(task: Task) -> tuple[Pass, ...]:
    n, block, each = task.meta.size, task.knobs["block"], task.knobs["values"]
    if each % 4:
        return _neighbours(task, each)
    whole, instructions = n // each, list[MemoryInstruction]()
    for verb, buffer in _THROUGH:
        for part in range(each // 4):
            instructions.append(_touch(verb, buffer, number, whole, each * WORD, part * WHOLE, WHOLE))

    def of_rest(k: int) -> Element:
        return lambda threads: only(threads.number == whole, threads.number * each + k)

    instructions += [_touch(verb, buffer, of_rest(k), n) for k in range(each - 1) for verb, buffer in _THROUGH]
    return (Pass(blocks(n, block * each), block, tuple(instructions)),)


def values_per_block(task: Task) -> int:
    """Values per block of the variant spills."""
    return int(task.knobs["block"] * task.knobs["live_values"])


def whole_blocks(task: Task) -> int:
    """Full blocks of the variant spills."""
    return task.meta.size // values_per_block(task)


def spills(task: Task) -> tuple[Pass, ...]:
    """Whole blocks, which complete all loads before they store, and one thread per value for the rest."""
    n, block, held = task.meta.size, int(task.knobs["block"]), int(task.knobs["live_values"])
    whole = whole_blocks(task)
    first = whole * values_per_block(task)

    def of_round(k: int) -> Element:
        return lambda threads: (threads.block * held + k) * block + threads.thread

    def rest(threads: Threads) -> Array:
        return threads.number + first

    spill_touches = (_touch(verb, buffer, of_round(k), n) for verb, buffer in _THROUGH for k in range(held))
    rest_touches = (_touch(verb, buffer, rest, n) for verb, buffer in _THROUGH)
    passes = (Pass(whole, block, tuple(spill_touches)), Pass(blocks(n - first, block), block, tuple(rest_touches)))
    return tuple(one for one in passes if one.blocks)


# Structures


def _records(task: Task, pack: Iterable[MemoryInstruction], main: Iterable[MemoryInstruction]) -> tuple[Pass, ...]:
    """A launch that packs, and one that reads the packed values and stores to y."""
    n, block = task.meta.size, task.knobs["block"]
    first = (_touch("load", "x", number, n), *pack)
    second = (*main, _touch("store", "y", number, n))
    return tuple(Pass(blocks(n, block), block, instructions) for instructions in (first, second))


def packed(task: Task) -> tuple[Pass, ...]:
    def fields(verb: Verb) -> tuple[MemoryInstruction, ...]:
        return tuple(
            _touch(verb, "structures", number, task.meta.size, RECORD, field * WORD, WORD) for field in range(FIELDS)
        )

    return _records(task, fields("store"), fields("load"))


def aligned(task: Task) -> tuple[Pass, ...]:
    store, load = (_touch(verb, "structures", number, task.meta.size, WHOLE) for verb in ("store", "load"))
    return _records(task, (store,), (load,))


def arrays(task: Task) -> tuple[Pass, ...]:
    n = task.meta.size

    def fields(verb: Verb) -> tuple[MemoryInstruction, ...]:
        return tuple(_touch(verb, "arrays", number, n, shift=field * n * WORD) for field in range(FIELDS))

    return _records(task, fields("store"), fields("load"))


def split(task: Task) -> tuple[Pass, ...]:
    n, m, block = task.meta.size, records(task), task.knobs["block"]

    def half_of(threads: Threads) -> Array:
        i = threads.number
        return only(i < 2 * m, (i & 1) * m + i // 2)

    def rest(k: int) -> Element:
        return lambda threads: only(threads.number == n // 4, threads.number * 4 + k)

    def whole_and_rest(verb: Verb, buffer: str) -> tuple[MemoryInstruction, ...]:
        parts = (_touch(verb, buffer, rest(k), n) for k in range(3))
        return (_touch(verb, buffer, number, n // 4, HALF_RECORD), *parts)

    def halves(verb: Verb, buffer: str) -> tuple[MemoryInstruction, ...]:
        return tuple(_touch(verb, buffer, number, m, HALF_RECORD, half * m * HALF_RECORD) for half in range(2))

    part = (*whole_and_rest("load", "x"), _touch("store", "halves", half_of, 2 * m, HALF_RECORD))
    main = (*halves("load", "halves"), *halves("store", "results"))
    join = (_touch("load", "results", half_of, 2 * m, HALF_RECORD), *whole_and_rest("store", "y"))
    around = blocks(2 * m, block)
    return Pass(around, block, part), Pass(blocks(m, block), block, main), Pass(around, block, join)


# Shared memory


def _shared(verb: Verb, place: Element, taking_part: Element, nbytes: int = WORD) -> MemoryInstruction:
    """A shared access of `nbytes` at these offsets, by the lanes for which the other function is true."""
    space: Space = "shared"
    return MemoryInstruction(space, verb, nbytes, "shared", lambda threads: only(taking_part(threads), place(threads)))


def _inside(task: Task) -> Element:
    return lambda threads: threads.number < task.meta.size


def shared_stride(task: Task) -> tuple[Pass, ...]:
    stride = task.knobs["stride"] * WORD
    instructions = (_shared(verb, lambda threads: threads.thread * stride, _inside(task)) for verb in _IN_AND_OUT)
    return _through(task, number, instructions)


_IN_AND_OUT: tuple[Verb, Verb] = ("store", "load")


def single_bytes(task: Task) -> tuple[Pass, ...]:
    block, is_spread = task.knobs["block"], task.knobs["bytes"] == "spread"

    def of_byte(k: int) -> Element:
        return lambda threads: threads.thread * WORD + k if is_spread else threads.thread + k * block

    instructions = (_shared(verb, of_byte(k), _inside(task), 1) for verb in _IN_AND_OUT for k in range(WORD))
    return _through(task, number, instructions)


def table_size(task: Task) -> int:
    """Words between the first lane's and the last one's in a table of the variant broadcast."""
    return int((WARP - 1) * task.knobs["lane_stride"] + 1)


def broadcast(task: Task) -> tuple[Pass, ...]:
    n, block, size, stride = task.meta.size, int(task.knobs["block"]), table_size(task), int(task.knobs["lane_stride"])

    def filled(k: int) -> MemoryInstruction:
        def word(threads: Threads) -> Array:
            return threads.thread + k * block

        return _shared("store", lambda threads: word(threads) * WORD, lambda threads: word(threads) < 2 * size)

    def read(first: int) -> MemoryInstruction:
        return _shared("load", lambda threads: (threads.thread % WARP * stride + first) * WORD, _inside(task))

    fills = (filled(k) for k in range(blocks(2 * size, block)))
    instructions = (*fills, read(0), _touch("load", "x", number, n), read(size), _touch("store", "y", number, n))
    return (Pass(blocks(n, block), block, instructions),)


def _word(row: Array, column: Array, pitch: int) -> Array:
    """The first byte of a word in rows of `pitch` words."""
    place: Array = (row * pitch + column) * WORD
    return place


def tiles(task: Task) -> tuple[Pass, ...]:
    n, side = task.meta.size, int(task.knobs["side"])
    pitch = side + int(task.knobs["padding"])

    def by_row(threads: Threads) -> Array:
        return _word(threads.thread // side, threads.thread % side, pitch)

    def by_column(threads: Threads) -> Array:
        return _word(threads.thread % side, threads.thread // side, pitch)

    def column_inside(threads: Threads) -> Array:
        turned: Array = _word(threads.thread % side, threads.thread // side, side)
        return threads.block * threads.size * WORD + turned < n * WORD

    inside = _inside(task)
    rows_in, rows_out = (_shared(verb, by_row, inside) for verb in _IN_AND_OUT)
    column_in, column_out = (_shared(verb, by_column, column_inside) for verb in _IN_AND_OUT)
    instructions = (rows_in, column_out, column_in, rows_out)
    around = (_touch("load", "x", number, n), *instructions, _touch("store", "y", number, n))
    return (Pass(blocks(n, side * side), side * side, around),)

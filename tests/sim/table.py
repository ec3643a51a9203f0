"""A table of kernels with what they must leave behind, and how far from it they may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.sim.bench import Case, Outcome

Array = np.ndarray[Any, Any]
KERNELS = Path(__file__).parent / "kernels"
Build = Callable[[], tuple[Case, Sequence[Any]]]
Judge = Callable[[Case, Outcome], None]


@dataclass(frozen=True)
class Entry:
    """One row. `build` gives the launch and, for each array argument in order, what it must hold afterwards: an array,
    `SAME` as before, or `FREE` where only `judge` can tell, which looks at what depends on the order of threads.

    `ulps` is the allowance for each number. `across` is what two devices may differ by: approximations of hardware
    are its own, everything else is equal to the last bit. `capability` is the oldest architecture it runs on.
    """

    name: str
    build: Build
    ulps: int = 0
    judge: Judge | None = None
    across: int = 0
    capability: int = 75


SAME, FREE = "same", "free"
TABLE: dict[str, Entry] = {}


def entry(
    name: str, ulps: int = 0, judge: Judge | None = None, across: int = 0, capability: int = 75
) -> Callable[[Build], Build]:
    """Put the decorated builder into the table."""

    def put(build: Build) -> Build:
        assert name not in TABLE, name
        TABLE[name] = Entry(name, build, ulps, judge, across, capability)
        return build

    return put


def text(file: str) -> str:
    """A file of test kernels."""
    return (KERNELS / file).read_text(encoding="utf-8")


def case(
    file: str,
    kernel: str,
    args: Sequence[Any],
    grid: int | tuple[int, int, int] = 0,
    block: int | tuple[int, int, int] = 128,
    **more: Any,
) -> Case:
    """A launch. Numbers become int32; without a grid, there are blocks for as many threads as the last number."""
    typed = [np.int32(a) if isinstance(a, int) else a for a in args]
    if grid == 0:
        assert isinstance(block, int)
        grid = -(-int(typed[-1]) // block)
    whole = tuple((n, 1, 1) if isinstance(n, int) else n for n in (grid, block))
    return Case(text(file), kernel, whole[0], whole[1], typed, **more)


def distance(found: Array, wanted: Array) -> int:
    """The largest difference in units of the last place; of integers in units. Any two not-a-numbers are alike, a
    number and none are as far apart as can be."""
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (found.dtype, wanted.dtype)
    if found.size == 0:
        return 0
    if found.dtype.kind != "f":
        a, b = found.reshape(-1), wanted.reshape(-1)
        different = np.flatnonzero(a != b)
        return max((abs(int(a[i]) - int(b[i])) for i in different), default=0)
    nothing = np.isnan(found), np.isnan(wanted)
    if not (nothing[0] == nothing[1]).all():
        return 1 << 62
    a, b = (_ordered(np.where(nothing[0], found.dtype.type(0), x)) for x in (found, wanted))
    return int(np.where(a > b, a - b, b - a).max())


def _ordered(a: Array) -> Array:
    """Floats as unsigned integers in the same order; −0 is one below +0."""
    bits = a.view(f"u{a.dtype.itemsize}")
    highest = bits.dtype.type(1) << bits.dtype.type(8 * a.dtype.itemsize - 1)
    return np.where(bits & highest, ~bits, bits | highest)

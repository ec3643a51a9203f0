"""Ways through a program, and shapes of grids and blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.sim.bench import Empty
from tests.sim.oracle import wrapped
from tests.sim.table import SAME, case, entry

N = 330


def _ints(seed: int, high: int) -> Any:
    return np.random.default_rng(seed).integers(0, high, N).astype(np.int32)


def _single(
    name: str, seed: int, high: int, function: Callable[[int, int], int], out: Any = None, block: int = 128
) -> None:
    """A kernel that maps each number a[i] and its place i to one."""

    @entry(f"control.{name}")
    def build() -> Any:
        a = _ints(seed, high)
        expected = wrapped([function(int(x), i) for i, x in enumerate(a)], np.int32)
        room = Empty((N,), "int32") if out is None else out
        return case("control.cu", name, (a, room, N), block=block), (SAME, expected)


def _collatz(x: int, i: int) -> int:
    steps = 0
    while x != 1:
        x, steps = (3 * x + 1 if x & 1 else x // 2), steps + 1
    return steps


def _nested(x: int, i: int) -> int:
    total = 0
    for row in range(x % 11):
        if (row + i) % 5 == 3:
            continue
        for column in range(row, 12):
            if column * row > x:
                break
            if (column ^ i) & 1:
                continue
            total += column * 3 - row
            if total > 200:
                return total
        total ^= row
    return total


def _ways(x: int, i: int) -> int:
    root = 0
    while root * root < i:
        root += 1
    known = {0: i * 3, 1: i - 7, 2: i ^ 0x55, 3: i // 3, 4: i + 1000, 5: i + 1000, 6: -i, 7: root, 8: i << 3}
    return (known | {9: 78, 12: 77}).get(x, -1)


def _early(x: int, i: int) -> int:
    if x % 2:
        return 1
    if x % 3 == 0:
        return 3
    total = 2
    for k in range(10):
        if x == k * 4:
            return total
        total += k
    return -total


def _jumps(x: int, i: int) -> int:
    count = 0
    while count <= 40:
        count += 1
        if x & 1:
            x = (x * 5 + 1) & 0xFF
            if x % 3 == 0:
                break
        else:
            x >>= 1
            if x <= 0:
                break
    return count * 1000 + x


def _positive(seed: int) -> Any:
    return _ints(seed, 900) + 1


@entry("control.collatz")
def _collatz_case() -> Any:
    a = _positive(1)
    expected = np.array([_collatz(int(x), 0) for x in a], np.int32)
    return case("control.cu", "collatz", (a, Empty((N,), "int32"), N), block=100), (SAME, expected)


_single("nested", 2, 80, _nested)
_single("many_ways", 3, 16, _ways, out=np.full(N, 77, np.int32))
_single("early_returns", 4, 60, _early)
_single("jumps", 5, 5000, _jumps, block=33)


@entry("control.short_circuit")
def _short_circuit() -> Any:
    a, index = _ints(6, 10), np.random.default_rng(7).integers(-400, 800, N).astype(np.int32)
    inside = (index >= 0) & (index < N)
    there = a[np.clip(index, 0, N - 1)]
    expected = (inside & (there > 5)) + 2 * (~inside | (there == 7))
    return case("control.cu", "short_circuit", (a, index, Empty((N,), "int32"), N)), (
        SAME,
        SAME,
        expected.astype(np.int32),
    )


@entry("control.bisection")
def _bisection() -> Any:
    a = np.random.default_rng(8).uniform(0, 1e6, N)
    roots, steps = [], []
    for i, x in enumerate(a):
        low, high, count = 0.0, max(float(x), 1.0), 0
        while high - low > 1e-3 * (1 + i % 7):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if middle * middle > x else (middle, high)
            count += 1
        roots.append(low)
        steps.append(count)
    args = (a, np.zeros(N), np.zeros(N, np.int32), N)
    return case("control.cu", "bisection", args), (SAME, np.array(roots), np.array(steps, np.int32))


def _places(size: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    @entry(f"blocks.{'x'.join(map(str, block))}_of_{'x'.join(map(str, size))}")
    def build() -> Any:
        grid = tuple(-(-n // b) for n, b in zip(size, block, strict=True))
        z, y, x = np.meshgrid(*(np.arange(n) for n in reversed(size)), indexing="ij")
        thread = x % block[0] + block[0] * (y % block[1] + block[1] * (z % block[2]))
        number = x // block[0] + grid[0] * (y // block[1] + grid[1] * (z // block[2]))
        same = np.full(x.shape, block[0] * block[1] * block[2])
        columns = (x + 100 * y + 10000 * z, thread, number, same, same * 0 + grid[0] * 10000 + grid[1] * 100 + grid[2])
        expected = np.stack(columns, -1).astype(np.int32)
        return case("control.cu", "places", (Empty(expected.shape, "int32"), *size), grid, block), (expected,)


for _size, _block in (
    ((75, 33, 1), (20, 5, 1)),
    ((250, 1, 1), (100, 1, 1)),
    ((5, 3, 2), (1, 1, 1)),
    ((200, 2, 1), (33, 1, 1)),
    ((3000, 1, 1), (1024, 1, 1)),
    ((19, 9, 7), (8, 4, 4)),
    ((9, 50, 3), (1, 32, 1)),
    ((6, 6, 130), (1, 2, 64)),
):
    _places(_size, _block)

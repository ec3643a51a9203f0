"""Atomic operations: sums, and answers that any order of threads allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.sim.bench import Case, Outcome
from tests.sim.oracle import Array
from tests.sim.table import FREE, SAME, case, entry

N = 500


def _ints(seed: int, n: int = N, low: int = 0, high: int = 100) -> Array:
    return np.random.default_rng(seed).integers(low, high, n).astype(np.int32)


@entry("atomics.without_answers")
def _without_answers() -> Any:
    a = _ints(1, low=-(2**31), high=2**31)
    rng = np.random.default_rng(2)
    s = np.zeros(24, np.int32)
    u, w = rng.integers(0, 2**32, 32, dtype=np.uint32), rng.integers(0, 2**60, 24, dtype=np.uint64)
    s2, u2, w2 = [int(x) for x in s], [int(x) for x in u], [int(x) for x in w]
    for x in map(int, a):
        at, v, long = x & 7, x % 2**32, x % 2**64
        s2[at] = s2[at] + x
        s2[8 + at], s2[16 + at] = min(s2[8 + at], x), max(s2[16 + at], x)
        u2[at], u2[8 + at], u2[16 + at], u2[24 + at] = u2[at] & v, u2[8 + at] | v, u2[16 + at] ^ v, min(u2[24 + at], v)
        w2[at] = (w2[at] + long * 0x100000001) % 2**64
        w2[8 + at], w2[16 + at] = max(w2[8 + at], long), w2[16 + at] ^ (long << 20) % 2**64
    s2 = [(x + 2**31) % 2**32 - 2**31 for x in s2]
    expected = (np.array(s2, np.int32), np.array(u2, np.uint32), np.array(w2, np.uint64))
    return case("atomics.cu", "without_answers", (a, s, u, w, N)), (SAME, *expected)


def _tickets_judge(given: Case, outcome: Outcome) -> None:
    a, answers = given.args[0], outcome.arrays[3].reshape(-1, 5)
    rings = outcome.arrays[2]
    for cell in range(8):
        mine = answers[(a & 7) == cell]
        n = len(mine)
        assert sorted(mine[:, 0]) == list(range(n))
        assert sorted(-mine[:, 1]) == list(range(0, 2 * n, 2))
        assert sorted(mine[:, 2]) == sorted(k % 10 for k in range(n))
        assert rings[cell] == n % 10
        down = [0, *(4 - k % 5 for k in range(n))]
        assert sorted(mine[:, 3]) == sorted(down[:n]) and rings[8 + cell] == down[n]
        left = outcome.arrays[1][16 + cell]
        chain = sorted([*mine[:, 4], left])
        assert chain == sorted([0, *(np.flatnonzero((a & 7) == cell) + 1)])


@entry("atomics.tickets", judge=_tickets_judge)
def _tickets() -> Any:
    args = (_ints(3), np.zeros(24, np.int32), np.zeros(16, np.uint32), np.zeros(5 * N, np.int32), N)
    return case("atomics.cu", "tickets", args), (SAME, FREE, FREE, FREE)


def _running_judge(given: Case, outcome: Outcome) -> None:
    """Sorted into the order that their answers allow, each answer follows from those before."""
    a, answers = given.args[0], outcome.arrays[2].reshape(-1, 4)
    for cell in range(4):
        mine = (a & 3) == cell
        high, low = answers[mine, 0], answers[mine, 1]
        assert high.min() == -1 and low.max() == 1000
        assert set(high) <= {-1, *a[mine]} and set(low) <= {1000, *a[mine]}
        assert (np.maximum(high, a[mine]).max() == a[mine].max()) and outcome.arrays[1][cell] == a[mine].max()
        assert outcome.arrays[1][4 + cell] == a[mine].min()
        bits = np.bitwise_or.reduce(1 << (a[mine] & 31))
        assert outcome.arrays[1][8 + cell] == bits and outcome.arrays[1][12 + cell] == ~bits
        counts = [
            int(v).bit_count() for v in sorted(answers[mine, 2].view(np.uint32), key=lambda v: int(v).bit_count())
        ]
        assert counts[0] == 0 and all(y - x <= 1 for x, y in zip(counts, counts[1:], strict=False))
        # The lanes' turns at one word say nothing of those at another.
        left = sorted((~answers[mine, 3].view(np.uint32)).tolist(), key=int.bit_count)
        assert left[0] == 0 and all(y.bit_count() - x.bit_count() <= 1 for x, y in zip(left, left[1:], strict=False))


@entry("atomics.running", judge=_running_judge)
def _running() -> Any:
    cells = np.repeat(np.array([-1, 1000, 0, -1], np.int32), 4)
    return case("atomics.cu", "running", (_ints(4), cells, np.zeros(4 * N, np.int32), N)), (SAME, FREE, FREE)


def _swaps_judge(given: Case, outcome: Outcome) -> None:
    assert 0 <= outcome.arrays[1][0] < N


@entry("atomics.swaps", judge=_swaps_judge)
def _swaps() -> Any:
    a = np.random.default_rng(5).uniform(0, 10, N).astype(np.float32)
    keys = a.view(np.uint32).astype(np.uint64) << np.uint64(32) | np.arange(N, dtype=np.uint64)
    args = (np.zeros(1, np.uint64), np.array([-1], np.int32), a, N)
    return case("atomics.cu", "swaps", args), (keys.max(keepdims=True), FREE, SAME)


def _floats_judge(given: Case, outcome: Outcome) -> None:
    a, sums = given.args[0], outcome.arrays[1]
    for k in range(4):
        assert sums[k] == a[k::4].sum() and sums[4 + k] in a[k::4]
    assert sums[8] == 0


@entry("atomics.floats", judge=_floats_judge)
def _floats() -> Any:
    a = _ints(6).astype(np.float32)  # whole numbers: their sum does not depend on the order
    wide = np.array([a[k::4].astype(float).sum() * 0.125 for k in range(4)])
    return case("atomics.cu", "floats", (a, np.zeros(9, np.float32), np.zeros(4), N)), (SAME, FREE, wide)


def _float_answers_judge(given: Case, outcome: Outcome) -> None:
    assert sorted(outcome.arrays[2]) == list(range(N))
    assert sorted(outcome.arrays[3]) == [0.5 * k for k in range(N)]


@entry("atomics.float_answers", judge=_float_answers_judge)
def _float_answers() -> Any:
    args = (np.zeros(1, np.float32), np.zeros(1), np.zeros(N, np.float32), np.zeros(N), N)
    ends = np.array([N], np.float32), np.array([N / 2])
    return case("atomics.cu", "float_answers", args), (*ends, FREE, FREE)


@entry("atomics.shared_histogram")
def _shared_histogram() -> Any:
    a = np.random.default_rng(7).integers(0, 256, 5000).astype(np.uint8)
    expected = np.bincount(a, minlength=256).astype(np.uint32)
    return case("atomics.cu", "shared_histogram", (a, np.zeros(256, np.uint32), len(a)), grid=7), (SAME, expected)


def _compaction_judge(given: Case, outcome: Outcome) -> None:
    a, kept, counts = given.args[0], outcome.arrays[1].reshape(-1, 128), outcome.arrays[2].reshape(-1, 2)
    for block, (row, (count, total)) in enumerate(zip(kept, counts, strict=True)):
        part = a[block * 128 : (block + 1) * 128]
        assert sorted(row[:count]) == list(np.flatnonzero(part % 3 == 0) + block * 128)
        assert total == part.sum()


@entry("atomics.compaction", judge=_compaction_judge)
def _compaction() -> Any:
    args = (_ints(8), np.zeros(512, np.int32), np.zeros(8, np.int32), N)
    return case("atomics.cu", "compaction", args), (SAME, FREE, FREE)


@entry("atomics.shared_operations")
def _shared_operations() -> Any:
    a = _ints(9, 4 * 96, low=-1000, high=1000)
    rows = []
    for part in a.reshape(4, 96):
        bits = int(np.bitwise_or.reduce(np.int32(1) << (part & 31)))
        inverted = int(np.bitwise_xor.reduce(part))
        tail = (inverted, 96 % 7, 5, 9, int((part & 15).sum()))
        rows.append((max(0, part.max()), min(1 << 30, part.min()), bits, ~bits, *tail))
    args = (a, np.zeros(36, np.int32))
    return case("atomics.cu", "shared_operations", args, grid=4, block=96), (SAME, np.array(rows, np.int32).reshape(-1))

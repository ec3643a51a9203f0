"""Threads that work together: warps, barriers, whole grids."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from tests.sim.bench import Case, Empty, Outcome
from tests.sim.oracle import Array
from tests.sim.table import FREE, SAME, case, entry

N = 500


def _ints(seed: int, n: int = N, low: int = 0, high: int = 100) -> Array:
    return np.random.default_rng(seed).integers(low, high, n).astype(np.int32)


# Warps


def _warps(a: Array) -> Array:
    return a.reshape(-1, 32)


def _from(a: Array, source: Array, inside: Array | bool = True) -> Array:
    lane = np.arange(32)
    return np.take_along_axis(
        _warps(a), np.where(inside, source, lane) + 0 * _warps(a).astype(np.int64), axis=1
    ).reshape(-1)


@entry("warp.shuffles")
def _shuffles() -> Any:
    a = _ints(10, 256)
    lane, w = np.arange(32), _warps(a).astype(np.int64)
    columns = (
        _from(a, w & 31),
        _from(a, lane - 3, lane >= 3),
        _from(a, lane + 5, lane + 5 < 32),
        _from(a, lane ^ 17),
        _from(a, lane // 8 * 8 + (w & 7)),
        _from(a, lane - 2, lane % 16 >= 2),
        _from(a, lane + 1, lane % 8 < 7),
        _from(a, lane ^ 5),
        _from(a, lane + lane % 4, lane % 16 + lane % 4 < 16),
    )
    return case("warp.cu", "shuffles", (a, np.zeros(9 * 256, np.int32)), grid=2), (
        SAME,
        np.stack(columns, 1).reshape(-1),
    )


@entry("warp.wide_shuffles")
def _wide_shuffles() -> Any:
    rng, lane = np.random.default_rng(11), np.arange(32)
    a, b = rng.standard_normal(256), rng.standard_normal(256).astype(np.float32)
    expected = (_from(a, lane ^ 9), _from(b, lane + 4, lane % 8 < 4))
    return case("warp.cu", "wide_shuffles", (a, b, np.zeros(256), np.zeros(256, np.float32)), grid=2), (
        SAME,
        SAME,
        *expected,
    )


def _word(flags: Array) -> Array:
    """Flags (…, 32) as a word each."""
    return (flags.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(axis=-1).astype(np.uint32)


@entry("warp.votes")
def _votes() -> Any:
    a = _ints(12, 256)
    a[:32] = 60
    w = _warps(a)
    every, some = (w > 0).all(1), (w > 90).any(1)
    uni = (w > 50).all(1) | ~(w > 50).any(1)
    columns = [np.repeat(c.astype(np.uint32), 32) for c in (every, some, _word(w % 3 == 0), uni)]
    columns.append(np.full(256, 0xFFFFFFFF, np.uint32))
    return case("warp.cu", "votes", (a, np.zeros(5 * 256, np.uint32)), grid=2), (SAME, np.stack(columns, 1).reshape(-1))


@entry("warp.groups")
def _groups() -> Any:
    a = _ints(31, 256)
    a[40:48] |= 64
    w, lane = _warps(a), np.arange(32)
    eight = np.broadcast_to(lane[:, None] // 8 == lane // 8, (8, 32, 32))
    alike = (w & 3)[:, :, None] == (w & 3)[:, None, :]
    flags = w[:, None, :]
    equal = (((flags & 64) == (w & 64)[:, :, None]) | ~eight).all(2)
    columns = (
        _word((flags & 1 > 0) & eight),
        ((flags > 90) & eight).any(2),
        ((flags > 10) | ~eight).all(2),
        _word((flags & 4 > 0) & alike),
        ((flags > 95) & alike).any(2),
        np.where(equal, _word(eight), 0),
        equal,
    )
    expected = np.stack([c.reshape(-1) for c in columns], 1).astype(np.uint32).reshape(-1)
    return case("warp.cu", "groups", (a, np.zeros(7 * 256, np.uint32)), grid=2), (SAME, expected)


@entry("warp.matches")
def _matches() -> Any:
    a = _ints(13, 256)
    a[200] += 1 << 21
    w = _warps(a)

    def same(v: Array) -> Array:
        return _word(v[:, :, None] == v[:, None, :]).reshape(-1)

    same_in_all_blocks = np.repeat((w >> 20 == (w >> 20)[:, :1]).all(1), 32)
    columns = (same(w % 5), np.where(same_in_all_blocks, 0xFFFFFFFF, 0), same_in_all_blocks, same(w % 3))
    expected = np.stack(columns, 1).astype(np.uint32).reshape(-1)
    return case("warp.cu", "matches", (a, np.zeros(4 * 256, np.uint32)), grid=2), (SAME, expected)


@entry("warp.warp_sums")
def _warp_sums() -> Any:
    a = np.random.default_rng(14).standard_normal(1000).astype(np.float32)
    total = np.pad(a, (0, 24)).reshape(-1, 32)
    for by in (16, 8, 4, 2, 1):
        total = total + np.where(np.arange(32) + by < 32, np.roll(total, -by, axis=1), total)
    return case("warp.cu", "warp_sums", (a, np.zeros(32, np.float32), 1000)), (SAME, np.ascontiguousarray(total[:, 0]))


@entry("warp.halves")
def _halves() -> Any:
    a = _ints(15, 256)
    w, lane = _warps(a), np.arange(32)
    first = np.where(lane < 16, w[:, :16].sum(1, keepdims=True), w[:, 16:].max(1, keepdims=True))
    odd = np.where(lane % 2, _word((w & 2 > 0) & (lane % 2 == 1))[:, None] | 16, 0)
    kept = w % 7 < 3
    leader = np.take_along_axis(w, kept.argmax(1)[:, None], 1)
    columns = (first, odd.astype(np.uint32).view(np.int32), np.where(kept, leader, -1))
    expected = np.stack([c.reshape(-1) for c in columns], 1).astype(np.int32).reshape(-1)
    return case("warp.cu", "halves", (a, np.zeros(3 * 256, np.int32)), grid=2), (SAME, expected)


@entry("warp.meeting")
def _meeting() -> Any:
    a, lane = _ints(16, 256), np.arange(256) % 32
    box = np.where(lane < 16, a * 2, a * 3).astype(np.int32)
    return case("warp.cu", "meeting", (a, np.zeros(256, np.int32)), grid=4, block=64), (SAME, box[np.arange(256) ^ 16])


@entry("warp.warp_scan")
def _warp_scan() -> Any:
    a = _ints(17, 256)
    expected = np.cumsum(_warps(a), axis=1).astype(np.int32).reshape(-1)
    return case("warp.cu", "warp_scan", (a, np.zeros(256, np.int32)), grid=2), (SAME, expected)


@entry("warp.late")
def _late() -> Any:
    a = _ints(29, 256, high=1000)
    total = np.zeros(256, np.int64)
    for turn in range(4):
        more = (a >> turn) % 5
        total += more * (more - 1) // 2 * a
        total = np.where(a & 1 << turn, total ^ a * 7, total)
        total = total + total[np.arange(256) ^ 1 << turn]
        total -= a % 3 == turn
    return case("warp.cu", "late", (a, np.zeros(256, np.int32)), grid=2), (SAME, total.astype(np.int32))


@entry("warp.handed")
def _handed() -> Any:
    a, upper = _ints(30, 192), np.arange(32) >= 16
    x = a.reshape(2, 3, 32).astype(np.int64)
    x[:, 0] += np.roll(x[:, 0], 16, axis=1)
    x[:, 1:] = np.where(upper, x[:, :1], x[:, 1:])
    x[:, 1:] += np.roll(x[:, 1:], 16, axis=2)
    expected = x.reshape(-1).astype(np.int32)
    return case("warp.cu", "handed", (a, np.zeros(192, np.int32)), grid=2, block=96), (SAME, expected)


@entry("warp.reductions", capability=80)
def _reductions() -> Any:
    a = _ints(18, 256, low=-(2**31), high=2**31)
    w = _warps(a)
    u = w.view(np.uint32)
    odd = np.where(np.arange(32) % 2, np.bitwise_xor.reduce(u[:, 1::2], axis=1)[:, None], 0)
    whole = (w.sum(1), w.min(1), w.max(1), u.sum(1), u.max(1), np.bitwise_and.reduce(u, 1), np.bitwise_or.reduce(u, 1))
    eight = np.repeat(w.reshape(8, 4, 8).sum(2, dtype=np.int32), 8)
    alike = np.where((w & 3)[:, :, None] == (w & 3)[:, None, :], w[:, None, :], -(2**31)).max(2).reshape(-1)
    columns = [np.repeat(v.astype(np.int64), 32) for v in whole] + [
        v.reshape(-1).astype(np.int64) for v in (odd, eight, alike)
    ]
    expected = np.stack(columns, 1).astype(np.uint32).reshape(-1)
    return case("warp.cu", "reductions", (a, np.zeros(10 * 256, np.uint32)), grid=2), (SAME, expected)


# Blocks and grids


@entry("barriers.counted")
def _counted() -> Any:
    a = _ints(19, 400, low=1)
    rows = [
        np.full(100, (p % 3 == 0).sum() * 100 + (p > 10 * k).all() * 10 + (p > 95).any())
        for k, p in enumerate(a.reshape(4, 100))
    ]
    return case("barriers.cu", "counted", (a, np.zeros(400, np.int32)), grid=4, block=100), (
        SAME,
        np.hstack(rows).astype(np.int32),
    )


@entry("barriers.block_sums")
def _block_sums() -> Any:
    a = np.random.default_rng(20).standard_normal(1000).astype(np.float32)
    part = np.pad(a, (0, 24)).reshape(4, 256)
    for half in (128, 64, 32, 16, 8, 4, 2, 1):
        part = part[:, :half] + part[:, half : 2 * half]
    return case("barriers.cu", "block_sums", (a, np.zeros(4, np.float32), 1000), block=256), (SAME, part.reshape(-1))


@entry("barriers.named")
def _named() -> Any:
    a = _ints(22, 3 * 7 * 32)
    sums = 2 * a.reshape(3, 7, 32).astype(np.int64).sum(axis=1)[:, ::-1]
    expected = np.stack([sums + 7 * 2, sums + 7 * 3], axis=1).astype(np.int32).reshape(-1)
    return case("barriers.cu", "named", (a, np.zeros(192, np.int32), 7), grid=3), (SAME, expected)


@entry("barriers.passed_on")
def _passed_on() -> Any:
    a = _ints(23, 160)
    return case("barriers.cu", "passed_on", (a, np.zeros(160, np.int32)), grid=5, block=96), (
        SAME,
        _from(a, np.arange(32) ^ 3),
    )


@entry("barriers.hillis_steele")
def _hillis_steele() -> Any:
    a = _ints(21, 512)
    expected = np.cumsum(a.reshape(4, 128), axis=1).astype(np.int32).reshape(-1)
    return case("barriers.cu", "hillis_steele", (a, np.zeros(512, np.int32)), grid=4), (SAME, expected)


@entry("barriers.blelloch")
def _blelloch() -> Any:
    a = _ints(22, 768)
    rows = a.reshape(3, 256)
    expected = (np.cumsum(rows, axis=1) - rows).astype(np.int32).reshape(-1)
    return case("barriers.cu", "blelloch", (a, np.zeros(768, np.int32)), grid=3), (SAME, expected)


@entry("barriers.transpose")
def _transpose() -> Any:
    a = np.random.default_rng(23).standard_normal((50, 75)).astype(np.float32)
    args = (a, Empty((75, 50), "float32"), 75, 50)
    return case("barriers.cu", "transpose", args, (3, 2, 1), (32, 8, 1)), (SAME, a.T.copy())


def _transform_judge(given: Case, outcome: Outcome) -> None:
    expected = np.fft.fft(given.args[0].astype(np.complex128), axis=1)
    assert np.abs(outcome.arrays[1] - expected).max() < 1e-5 * np.abs(expected).max()


@entry("barriers.radix4", judge=_transform_judge, across=1 << 24)
def _radix4() -> Any:
    rng = np.random.default_rng(24)
    a = (rng.standard_normal((3, 256)) + 1j * rng.standard_normal((3, 256))).astype(np.complex64)
    return case("barriers.cu", "radix4", (a, np.zeros_like(a)), grid=3, block=64), (SAME, FREE)


@entry("barriers.tagged")
def _tagged() -> Any:
    a = np.random.default_rng(25).integers(0, 256, 3000).astype(np.uint8)
    expected = np.bincount(a & 31, minlength=32).astype(np.uint32)
    return case("barriers.cu", "tagged", (a, np.zeros(32, np.uint32), 3000), grid=6, block=32), (SAME, expected)


def _lock_judge(given: Case, outcome: Outcome) -> None:
    assert sorted(outcome.arrays[2]) == list(range(200))


@entry("barriers.spin_lock", judge=_lock_judge)
def _spin_lock() -> Any:
    args = (np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(200, np.int32), 200)
    return case("barriers.cu", "spin_lock", args, block=64), (SAME, np.array([200], np.int32), FREE)


@entry("barriers.look_back")
def _look_back() -> Any:
    a = _ints(26, 128 * 20)
    sums = np.cumsum(a.reshape(20, 128).sum(1)).astype(np.int32)
    expected = np.array(list(accumulate(map(int, a))), np.int32)
    args = (a, np.zeros(len(a), np.int32), np.zeros(20, np.int32), np.zeros(20, np.int32), np.zeros(1, np.int32))
    done = np.ones(20, np.int32), sums, np.array([20], np.int32)
    return case("barriers.cu", "look_back", args, grid=20), (SAME, expected, *done)


@entry("barriers.last_block")
def _last_block() -> Any:
    a = _ints(27, 5000).astype(np.float32)
    parts = np.array([a.reshape(-1)[[i for i in range(5000) if i // 128 % 9 == b]].sum() for b in range(9)], np.float32)
    args = (a, np.zeros(9, np.float32), np.zeros(1, np.float32), 5000)
    return case("barriers.cu", "last_block", args, grid=9), (SAME, parts, a.sum(keepdims=True))


@entry("barriers.uneven")
def _uneven() -> Any:
    a = _ints(28, 96 * 7)
    rows = a.reshape(7, 96)[:, ::-1]
    expected = np.where((np.arange(7) % 3 == 1)[:, None], np.roll(rows * 2, -1, axis=1), rows).astype(np.int32)
    return case("barriers.cu", "uneven", (a, np.zeros(96 * 7, np.int32)), grid=7, block=96), (
        SAME,
        expected.reshape(-1),
    )


@entry("barriers.handed_over")
def _handed_over() -> Any:
    expected = np.repeat(np.arange(77, 80, dtype=np.int32), 32)
    return case("barriers.cu", "handed_over", (Empty((96,), "int32"),), grid=3, block=64), (expected,)


@entry("barriers.shared_swaps")
def _shared_swaps() -> Any:
    args = (np.zeros(2, np.float32), np.zeros(1, np.uint64))
    wanted = (np.array([144, 24], np.float32), np.array([95 << 33], np.uint64))
    return case("barriers.cu", "shared_swaps", args, grid=1, block=96), wanted

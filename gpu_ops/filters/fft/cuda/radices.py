"""Radices for lines of any length: how a line of n points is split into stages, and the number of threads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

MOST_RADIX, MOST_POINTS = 16, 16
"""The points of a butterfly, and the points per thread, which are in its registers, if no radix is larger."""
MOST_THREADS, MOST_NUMBERS = 1024, 1 << 14
"""Threads per block, and points of all its threads: two registers each are half of a multiprocessor's register file."""
MOST_PRIME, WARP = 13, 32
FEW = 3
"""With as many stages a thread has no more than MOST_POINTS; more of them cost more than fewer warps do."""
WIDEST = 24
"""The largest radix of lengths that are no powers of two: 25 to 32 points per thread are slower than a fourth stage, by
2 to 14 % at eight lengths from 1250 to 3200 on an H100."""
LEAST_THIRD = 8
"""Points of a line's third at least: shorter lines gain nothing from three launches."""
STAGE = 1.5
"""The fixed cost of a stage: an exchange and two barriers, equal to the cost of moving all points this number of
times."""


class Stages(NamedTuple):
    """The radices of a line's stages, in order, and its threads."""

    radices: tuple[int, ...]
    threads: int


def largest_prime(n: int) -> int:
    """The largest prime factor of n, 1 of 1."""
    most, p = 1, 2
    while p * p <= n:
        while n % p == 0:
            most, n = p, n // p
        p += 1
    return max(most, n)


def _cut(n: int, most: int) -> Iterator[tuple[int, ...]]:
    """All ways to write n as a product of radices up to `most`, none larger than the one before."""
    if n == 1:
        yield ()
    for radix in range(min(n, most), 1, -1):
        if n % radix == 0:
            for rest in _cut(n // radix, radix):
                yield radix, *rest


def _points(n: int, radix: int, threads: int) -> int:
    """The points per thread in a stage: those of its butterflies, of which some threads may have one more."""
    return -(-n // (radix * threads)) * radix


def held(n: int, stages: Stages) -> int:
    """The maximum number of points per thread."""
    return max(_points(n, radix, stages.threads) for radix in stages.radices)


@lru_cache
def stages_of(n: int, most_radix: int = MOST_RADIX) -> Stages | None:
    """The cheapest stages of a line, None if its prime factors or its length do not allow any. `most_radix` does not
    exclude larger primes; above MOST_RADIX it applies to lines that would otherwise need more than FEW stages. Of
    these, lengths that are no powers of two have radices up to WIDEST, unless two stages suffice."""
    if n == 1:
        return Stages((1,), 1)
    if most_radix <= MOST_RADIX:
        return _cheapest(n, most_radix)
    usual = _cheapest(n, MOST_RADIX)
    if usual is not None and len(usual.radices) <= FEW:
        return usual
    wide = _cheapest(n, most_radix)
    if usual is None or wide is None or n & (n - 1) == 0 or len(wide.radices) < FEW:
        return wide or usual
    wide = _cheapest(n, min(most_radix, WIDEST))
    return wide if wide is not None and len(wide.radices) <= FEW else usual


def _cheapest(n: int, most_radix: int) -> Stages | None:
    """The cost of a stage is the number of points that all threads move, including threads without a butterfly."""
    best: tuple[tuple[float, int, int], Stages] | None = None
    if largest_prime(n) > MOST_PRIME:
        return None
    most = max(most_radix, MOST_POINTS)
    for radices in _cut(n, max(most_radix, largest_prime(n))):
        for threads in sorted({-(-n // (radix * k)) for radix in radices for k in range(1, most // radix + 1)}):
            points = [_points(n, radix, threads) for radix in radices]
            if threads * max(points) > MOST_NUMBERS or threads > MOST_THREADS or max(points) > most:
                continue
            cost = sum(p * threads / n for p in points) + STAGE * len(radices)
            # Of equal cost: similar radices, and few threads, but at least a warp if possible.
            rank = round(cost, 6), sum(radices), threads if threads >= WARP else 2 * WARP - threads
            if best is None or rank < best[0]:
                best = rank, Stages(radices, threads)
    return best[1] if best else None


@lru_cache
def halves(n: int, most: int, most_radix: int = MOST_RADIX) -> tuple[int, int] | None:
    """n as a product of two lengths that are as similar as possible, the larger first, each with stages of at most
    `most` points; None if there are none."""
    for second in range(math.isqrt(n), 1, -1):
        if (
            n % second == 0
            and n // second <= most
            and stages_of(n // second, most_radix)
            and stages_of(second, most_radix)
        ):
            return n // second, second
    return None


@lru_cache
def thirds(n: int, most_radix: int = MOST_RADIX) -> tuple[int, int, int] | None:
    """n as a product of three lengths that are as near to each other as can be, the largest first; None where there are
    none of LEAST_THIRD points at least."""
    for first in range(math.ceil(n ** (1 / 3)), n // LEAST_THIRD**2 + 1):
        rest = halves(n // first, first, most_radix) if n % first == 0 and stages_of(first, most_radix) else None
        if rest is not None and rest[1] >= LEAST_THIRD:
            return first, *rest
    return None

"""Radices for lines of any length: how a line of n points is cut into stages, and how many threads do it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

MOST_RADIX, MOST_POINTS = 16, 16
"""Points of a butterfly, and points of a thread, which has them in registers, where no radix is larger."""
MOST_THREADS, MOST_NUMBERS = 1024, 1 << 14
"""Threads of a block, and points of all its threads: two registers each are half of what a multiprocessor has."""
MOST_PRIME, WARP = 13, 32
FEW = 3
"""With as many stages a thread has no more than MOST_POINTS; more of them cost more than fewer warps do."""
LEAST_THIRD = 8
"""Points of a line's third at least: shorter lines gain nothing from three launches."""
STAGE = 1.5
"""What a stage costs beside its points: an exchange and two barriers, as much as so many times moving all points."""


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
    """The points of a thread in a stage: those of its butterflies, where it may be one more than of another thread."""
    return -(-n // (radix * threads)) * radix


def held(n: int, stages: Stages) -> int:
    """The most points of a thread."""
    return max(_points(n, radix, stages.threads) for radix in stages.radices)


@lru_cache
def stages_of(n: int, most_radix: int = MOST_RADIX) -> Stages | None:
    """The cheapest stages of a line, None where its prime factors or its length do not allow any. `most_radix` does not
    keep larger primes out; above MOST_RADIX it is for lines that would take more than FEW stages without. A stage costs
    what all threads move, those without a butterfly included."""
    if n == 1:
        return Stages((1,), 1)
    if most_radix > MOST_RADIX:
        usual = stages_of(n, MOST_RADIX)
        if usual is not None and len(usual.radices) <= FEW:
            return usual
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
            # Of the same cost: radices that are near to each other, and few threads, but a warp where that can be.
            rank = round(cost, 6), sum(radices), threads if threads >= WARP else 2 * WARP - threads
            if best is None or rank < best[0]:
                best = rank, Stages(radices, threads)
    return best[1] if best else None


@lru_cache
def halves(n: int, most: int, most_radix: int = MOST_RADIX) -> tuple[int, int] | None:
    """n as a product of two lengths that are as near to each other as can be, the larger first, each of which has
    stages of `most` points at most; None where there are none."""
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

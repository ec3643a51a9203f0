"""Bank conflicts of the exchanges of Stockham's method in shared memory, with and without padding.

A wavefront is one pass over 32 banks of 4 bytes: lanes that access different words of one bank need one each. The
counts are for one part, real or imaginary, of one line of float32, in blocks whose warps are full: from n / radix = 32
on. Every stage exchanges all points, as kernels 3 and 4 do. Source: S2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpu_ops.filters.fft.forms import Array

BANKS = 32
Gap = Callable[[int], int]
"""The padding after each group of a stage, by its span, which is the distance between the results of a butterfly."""


class Wavefronts(NamedTuple):
    """Wavefronts of a line's stores, of its loads, and the minimum of either."""

    stores: int
    loads: int
    least: int


def no_padding(span: int) -> int:
    """No padding."""
    return 0


def source_padding(span: int) -> int:
    """The source's padding."""
    return 1


def growing_padding(span: int) -> int:
    """Padding that grows with the stage."""
    return span


def wavefronts(n: int, radix: int, gap: Gap) -> Wavefronts:
    """The counts for a line of n points, both powers of two; the last stage has a smaller radix if n is not a power of
    `radix`."""
    stores = loads = least = 0
    span = 1
    while span < n:
        own = min(radix, n // span)
        stored, loaded = _stage(n, own, span, gap(span))
        stores, loads, least = stores + _passes(stored), loads + _passes(loaded), least + n // BANKS
        span *= own
    return Wavefronts(stores, loads, least)


def _stage(n: int, radix: int, span: int, gap: int) -> tuple[Array, Array]:
    """The addresses (accesses, lanes) that warps store to after a stage, and those that they load from before the
    next."""
    j = np.arange(n // radix)
    k = j % span
    results = (j - k) * radix + k + span * np.arange(radix)[:, None]
    stored, loaded = (points + points // (radix * span) * gap for points in (results, np.arange(n)))
    return stored.reshape(-1, BANKS), loaded.reshape(-1, BANKS)


def _passes(places: Array) -> int:
    """Wavefronts of accesses (n, lanes) whose lanes all access different words: the maximum number of words in one
    bank, summed."""
    words = np.stack([(places % BANKS == bank).sum(axis=1) for bank in range(BANKS)])
    return int(words.max(axis=0).sum())

"""What the source states about histograms, and how each statement is tested. Source: S3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpu_ops.filters.histogram.bins import Array
from gpu_ops.filters.histogram.contention import WARP, fullest
from gpu_ops.filters.histogram.gpu import SLOTS
from gpu_ops.filters.kit.verdicts import Verdict, ratio
from gpu_ops.types import Claim, Run

OLD_SHARED, OLD_BLOCK = 16 * 1024, 192
"""Bytes of shared memory and threads of a block in the source."""


ENTROPIES, WARPS = (0, 1, 2, 4, 6, 8), 10_000
EXPERIMENT: Mapping[str, Any] = {
    "filter": "histogram2d",
    "sample": {"id": "noise_image", "size": "4096x4096", "channels": 1, "dtype": "uint8"},
    "params": {"bins": 256, "range": "auto", "low": 0.0, "high": 255.0, "result": "counts", "colours": "each"},
    "knobs": {},
}


def _bytes_of_a_thread(runs: Mapping[str, Run]) -> Verdict:
    each = OLD_SHARED // OLD_BLOCK
    return (
        f"{OLD_SHARED} / {OLD_BLOCK} = {each} bytes, of which {SLOTS} hold one-byte counts: 256 bins take "
        f"{256 // SLOTS} passes",
        each == 85 and each >= SLOTS,
    )


def _rounds(runs: Mapping[str, Run]) -> Verdict:
    """The number of rounds of warps on noise, by the entropy of their samples."""
    random = np.random.default_rng(0)
    found: dict[int, float] = {}
    for bits in ENTROPIES:
        warps: Array = random.integers(0, 1 << bits, (WARPS, WARP)).astype(np.int32)
        found[bits] = float(fullest(warps).mean())
    text = ", ".join(f"{bits} bits: {rounds:.3g}" for bits, rounds in found.items())
    different = float(fullest(np.arange(WARP, dtype=np.int32)[None])[0])
    return f"of noise by its entropy {text}; of 32 different samples {different:g}", (found[0], different) == (32, 1)


CLAIMS = (
    Claim(
        "S3-thread-bytes",
        "S3",
        "16 KB of shared memory and 192 threads leave 85 bytes per thread: 64 counts of one byte, added up before 255.",
        "16 KB / 192 threads = 85 bytes",
        "Holds by arithmetic.",
        "counted",
        EXPERIMENT,
        _bytes_of_a_thread,
    ),
    Claim(
        "S3-tags",
        "S3",
        "The exchange of tags takes as many rounds as the most samples of a warp that have one bin, at most 32.",
        "at most 32 rounds",
        "Holds by construction: from 32 of a constant image to two or three of noise in 256 bins.",
        "counted",
        EXPERIMENT,
        _rounds,
    ),
    Claim(
        "S3-warps",
        "S3",
        "256 counts that a warp shares beat 64 one-byte counts of each thread.",
        "no figure",
        "Holds: 64 counts take four passes over all samples, and are emptied before they are full.",
        "measured",
        EXPERIMENT,
        lambda runs: ratio(runs, "private", "tagged", 1.05),
    ),
    Claim(
        "S3-without-atomics",
        "S3",
        "Tags in the place of atomic additions make a warp's counts faster.",
        "no figure",
        "Does not hold: shared memory adds by itself today, and an exchange of tags takes two rounds of noise or more.",
        "measured",
        EXPERIMENT,
        lambda runs: ratio(runs, "warp", "tagged", 1.05),
    ),
)

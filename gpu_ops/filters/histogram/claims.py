"""What the source states about histograms, and how each statement is tested. Source: S3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpu_ops.filters.histogram.bins import Array
from gpu_ops.filters.histogram.contention import WARP, fullest
from gpu_ops.filters.histogram.gpu import SLOTS
from gpu_ops.filters.kit.verdicts import Verdict
from gpu_ops.types import Claim, Run

OLD_SHARED, OLD_BLOCK = 16 * 1024, 192
"""Bytes of shared memory and threads of a block in the source."""


EXPERIMENT: Mapping[str, Any] = {
    "filter": "histogram2d",
    "sample": {"id": "noise_image", "size": "4096x4096", "channels": 1, "dtype": "uint8"},
    "params": {"bins": 256, "range": "auto", "result": "counts", "colours": "each"},
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
    """The rounds of 32 equal samples, of 32 different ones, and of many random ones."""
    random: Array = np.random.default_rng(0).integers(0, 256, (10_000, WARP)).astype(np.int32)
    equal, different = np.zeros((1, WARP), np.int32), np.arange(WARP, dtype=np.int32)[None]
    most, least, usual = (float(fullest(warps).mean()) for warps in (equal, different, random))
    return f"{most:g} for equal samples, {least:g} for different ones, {usual:.3g} for noise", (most, least) == (32, 1)


CLAIMS = (
    Claim(
        "S3-thread-bytes",
        "S3",
        "16 KB of shared memory and 192 threads leave 85 bytes a thread: 64 counts of one byte, added up before 255.",
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
        "Holds by construction; noise in 256 bins takes two or three.",
        "counted",
        EXPERIMENT,
        _rounds,
    ),
)

"""What the source states about reading images, and how a 3×3 convolution tests each statement. Source: S1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_ops.filters.kit.verdicts import ratio
from gpu_ops.types import Claim

SHARPEN = {
    "matrix": [0.0, -1.0, 0.0, -1.0, 5.0, -1.0, 0.0, -1.0, 0.0],
    "divisor": 1.0,
    "offset": 0.0,
    "border": "reflect",
    "passes": 1,
}


def _experiment(size: str, channels: int, passes: int = 1) -> Mapping[str, Any]:
    return {
        "filter": "conv3x3",
        "sample": {"id": "noise", "size": size, "channels": channels, "dtype": "uint8"},
        "params": {**SHARPEN, "passes": passes},
        "knobs": {},
    }


RGB = _experiment("4096x4096", 3)
ODD_WIDTH = _experiment("4099x4096", 1)
"""Rows of 4099 bytes: only every 128th begins at a cache line."""
TWO_PASSES = _experiment("4096x4096", 1, passes=2)


def _claim(
    id: str,
    text: str,
    prediction: str,
    experiment: Mapping[str, Any],
    slow: str,
    fast: str,
    least: float = 1.05,
    published: str = "no figure",
) -> Claim:
    return Claim(
        f"S1-{id}",
        "S1",
        text,
        published,
        prediction,
        "measured",
        experiment,
        lambda runs: ratio(runs, slow, fast, least),
    )


CLAIMS = (
    _claim(
        "packed",
        "Four RGB pixels as three 32-bit words, through shared memory, beat loads of single bytes.",
        "Holds: a load of one byte a lane moves little, although today's GPUs coalesce the lanes of a warp.",
        RGB,
        "bytes",
        "packed",
    ),
    _claim(
        "rgba",
        "RGB padded to RGBA is read faster, conversions included.",
        "Does not hold: each conversion reads and writes all of the image once more.",
        RGB,
        "bytes",
        "rgba",
    ),
    _claim(
        "rows-by-hand",
        "Rows padded to 128 bytes by hand are read faster, the copies included.",
        "Does not hold: a misaligned row costs a warp one or two sectors today, the copies two more passes.",
        ODD_WIDTH,
        "bytes",
        "padded",
    ),
    _claim(
        "pitch",
        "The driver's pitched rows are read faster, the 2D copies included.",
        "Does not hold, for the same reason.",
        ODD_WIDTH,
        "bytes",
        "pitched",
    ),
    _claim(
        "edges",
        "Blocks inside the image that test no bounds are faster.",
        "Holds, by little: the tests are a part of the instructions of every neighbour.",
        RGB,
        "bytes",
        "edges",
    ),
    _claim(
        "warp",
        "32 threads along x synchronise themselves, so they need no barrier of the block.",
        "Undecided in advance: a barrier is cheap where other blocks can run.",
        RGB,
        "packed",
        "warp_rows",
    ),
    _claim(
        "fusion",
        "Two passes in one launch beat two launches.",
        "Holds: the intermediate image is neither written nor read.",
        TWO_PASSES,
        "constant",
        "fused",
    ),
)

"""What the source states about the box filter, and how each statement is tested. Source: S3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_ops.filters.kit.verdicts import ratio
from gpu_ops.types import Claim


def _experiment(radius: int) -> Mapping[str, Any]:
    return {
        "filter": "box",
        "sample": {"id": "noise", "size": "4096x4096", "channels": 1, "dtype": "float32"},
        "params": {"radius": radius, "border": "reflect"},
        "knobs": {},
    }


def _claim(
    id: str, text: str, prediction: str, radius: int, slow: str, fast: str, least: float, published: str = "no figure"
) -> Claim:
    return Claim(
        f"S3-{id}",
        "S3",
        text,
        published,
        prediction,
        "measured",
        _experiment(radius),
        lambda runs: ratio(runs, slow, fast, least),
    )


COARSE = (
    "One thread per row, then per column, with running sums (coarse), beats one thread per pixel in two passes (fine)"
)
CLAIMS = (
    _claim(
        "two-passes",
        "Two passes of 2(n − 1) steps beat n² − 1 steps at once; n = 9.",
        "Holds, by less than the ratio of the steps (×5): the cache serves most of the square.",
        4,
        "direct",
        "separable",
        1.5,
        "n² − 1 = 80 steps to 2(n − 1) = 16",
    ),
    _claim(
        "coarse",
        f"{COARSE}; n = 33.",
        "Does not hold: 4096 threads fill a thirtieth of today's GPU.",
        16,
        "separable",
        "sliding",
        1.05,
    ),
    _claim(
        "texture",
        "The scattered reads of the sliding row pass are faster through a texture.",
        "Does not hold: today's first-level cache and the texture cache are one, and the copy into it takes time.",
        16,
        "sliding",
        "sliding_texture",
        1.05,
    ),
)

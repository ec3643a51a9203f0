"""What the variants of the 3×3 convolution do not do, and why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_ops.filters.conv3x3 import peers, plans
from gpu_ops.filters.planning import Support, both
from gpu_ops.params import Values
from gpu_ops.plan import Limits
from gpu_ops.types import Meta

MOST_BLOCKS = 65535
TEXTURE = (65536, 131072)
"""Rows and columns of a texture, on every architecture since sm_75."""


def grid_fits(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why an image has too many rows for a grid's blocks in y."""
    if -(-meta.shape[0] // knobs["block_y"]) > MOST_BLOCKS:
        return f"{meta.shape[0]} rows need more than {MOST_BLOCKS} blocks; use a larger block_y"
    return None


def shared_fits(needed: Callable[[int, int, int], int]) -> Support:
    """The rule for a block that takes needed(itemsize, channels, block_y) bytes of shared memory."""

    def rule(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
        wanted = needed(np.dtype(meta.dtype).itemsize, meta.channels, knobs["block_y"])
        if wanted > limits.shared_bytes:
            return f"its rows take {wanted} bytes of shared memory, a block has {limits.shared_bytes}"
        return None

    return both(grid_fits, rule)


def rgba(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why an image is not padded to four channels."""
    if meta.channels not in (3, 4):
        return f"it loads whole pixels of 3 or 4 channels, this image has {meta.channels}"
    return grid_fits(meta, params, knobs, limits)


def texture(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why a texture does not hold the image, or not what lies beyond its edges."""
    columns = meta.shape[1] * meta.channels
    if meta.dtype == "float64":
        return "a texture takes no float64"
    if params["border"] == "wrap":
        return "a texture addressed in elements has no wrap border"
    if meta.channels > 1 and params["border"] != "zero":
        return "a texture of single values repeats the last value, which is of another channel; use border zero"
    if meta.shape[0] > TEXTURE[0] or columns > TEXTURE[1]:
        return f"a texture has at most {TEXTURE[0]} rows of {TEXTURE[1]} values, not {meta.shape[0]} of {columns}"
    return grid_fits(meta, params, knobs, limits)


def fused(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why there is nothing to fuse, or no room for it."""
    if params["passes"] == 1:
        return "it makes two passes in one launch; there is one"
    return shared_fits(plans.fused_bytes)(meta, params, knobs, limits)


def scipy(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    return peers.skips_zeros(meta, params)


def opencv(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    return peers.opencv_unsupported(meta, params)

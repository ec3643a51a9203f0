"""Why a variant cannot do a task: rules that several filters share. Each gives None or the reason."""

from __future__ import annotations

from collections.abc import Callable

from gpu_ops.devices.launches import GRID_LIMITS
from gpu_ops.input_kinds import ODD
from gpu_ops.task import Task
from gpu_ops.types import Refusal

Support = Callable[[Task], str | None]

MOST_BLOCKS = GRID_LIMITS[1]
"""A grid's blocks in y, and in z."""
TEXTURE_ROWS, TEXTURE_COLUMNS = 65536, 131072
"""Elements of a 2D texture, on every architecture since sm_75."""

SHARED = Refusal("shared memory")
"""The tile and its halo are too large for a block of the smallest GPU."""
WRAP = Refusal("wrap", {"param border": ("wrap",)})
"""The library or the texture does not have this border."""
FINITE = Refusal("NaN and infinity", {"data": ODD})
"""Running sums carry NaN and infinity to results whose windows do not hold them."""


def anything(task: Task) -> str | None:
    """Supports every task."""
    return None


def both(*rules: Support) -> Support:
    """The first reason any of the rules gives."""
    return lambda task: next((reason for rule in rules if (reason := rule(task))), None)


def blocks_fit(rows_per_block: Callable[[Task], int], advice: str) -> Support:
    """Whether the rows of an image fit into a grid's blocks in y; `advice` says what makes a block larger."""

    def rule(task: Task) -> str | None:
        rows = task.meta.shape[0]
        if -(-rows // rows_per_block(task)) <= MOST_BLOCKS:
            return None
        return f"{rows} rows need more than {MOST_BLOCKS} blocks; use {advice}"

    return rule


def channels_fit(task: Task) -> str | None:
    """Whether there are no more channels than a grid has blocks in y or z."""
    channels = task.meta.channels
    return None if channels <= MOST_BLOCKS else f"{channels} channels need more than {MOST_BLOCKS} blocks"


def shared_fits(needed: Callable[[Task], int], what: str = "tile takes") -> Support:
    """Whether a block has so many bytes of shared memory."""

    def rule(task: Task) -> str | None:
        needed_bytes, most = needed(task), task.limits.shared_bytes
        return f"its {what} {needed_bytes} bytes of shared memory, a block has {most}" if needed_bytes > most else None

    return rule


def texture_fits(task: Task) -> str | None:
    """Whether a 2D texture holds the image, its channels side by side."""
    rows, columns = task.meta.shape[0], task.meta.shape[1] * task.meta.channels
    if rows <= TEXTURE_ROWS and columns <= TEXTURE_COLUMNS:
        return None
    return f"a texture has at most {TEXTURE_ROWS} rows of {TEXTURE_COLUMNS} values, not {rows} of {columns}"


def opencv_takes(task: Task) -> str | None:
    """None, or why no filter of OpenCV takes the task."""
    if task.params["border"] == "wrap":
        return "its filters have no wrap border"
    if task.meta.channels > OPENCV_CHANNELS:
        return f"it takes at most {OPENCV_CHANNELS} channels, not {task.meta.channels}"
    return None


OPENCV_CHANNELS = 128

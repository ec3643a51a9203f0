"""Tasks that variants of the 3×3 convolution do not support, and why."""

from __future__ import annotations

from gpu_ops.filters.conv3x3 import plans
from gpu_ops.filters.kit.support import blocks_fit, both, shared_fits, texture_fits
from gpu_ops.task import Task

grid_fits = blocks_fit(lambda task: task.knobs["block_y"], "a larger block_y")


def _whole_pixels(task: Task) -> str | None:
    if task.meta.channels in (3, 4):
        return None
    return f"it loads whole pixels of 3 or 4 channels, this image has {task.meta.channels}"


def _in_a_texture(task: Task) -> str | None:
    """Whether a texture supports the type and the border."""
    border = task.params["border"]
    if task.meta.dtype == "float64":
        return "a texture takes no float64"
    if border == "wrap":
        return "a texture addressed in elements has no wrap border"
    if task.meta.channels > 1 and border != "zero":
        return "a texture of single values repeats the last value, which is of another channel; use border zero"
    return None


def _two_passes(task: Task) -> str | None:
    return "it makes two passes in one launch; there is one" if task.params["passes"] == 1 else None


rgba = both(_whole_pixels, grid_fits)
texture = both(_in_a_texture, texture_fits, grid_fits)
packed = both(grid_fits, shared_fits(plans.packed_bytes, "rows take"))
warp_rows = both(grid_fits, shared_fits(plans.warp_rows_bytes, "rows take"))
fused = both(_two_passes, grid_fits, shared_fits(plans.fused_bytes, "rows take"))

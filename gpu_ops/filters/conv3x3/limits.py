"""Tasks that variants of the 3×3 convolution do not support, and why."""

from __future__ import annotations

from gpu_ops.filters.conv3x3 import plans
from gpu_ops.filters.kit.library_calls import NO_DOUBLE, PIXELS
from gpu_ops.filters.kit.registers import rows_of_bytes
from gpu_ops.filters.kit.rules import OPENCV_BORDER, TEXTURE_FITS, blocks_fit, not_of, not_with, shared_fits
from gpu_ops.types import Rule

GRID_FITS = blocks_fit(lambda task: task.knobs["block_y"], "a larger block_y")
KEEPS_ZEROS = Rule(
    lambda task: not task.meta.finite and 0.0 in task.params["matrix"],
    "it skips weights of 0, and NaN or infinity under them",
)
OPENCV = (OPENCV_BORDER, KEEPS_ZEROS)
WHOLE_PIXELS = Rule(
    lambda task: task.meta.channels not in (3, 4),
    "it loads whole pixels of 3 or 4 channels, this image has {meta.channels}",
    {"shape": ((1, 1), (1, 7), (7, 1), (17, 33), (33, 257), (61, 127), (130, 70))},
)
RGBA = (WHOLE_PIXELS, GRID_FITS)
TEXTURE = (
    not_of("float64", words="textures do not support float64"),
    not_with("border", "wrap", words="a texture with unnormalised coordinates has no wrap mode"),
    Rule(
        lambda task: task.meta.channels > 1 and task.params["border"] != "zero",
        "its texture repeats the last value, which belongs to another channel; use border zero",
    ),
    TEXTURE_FITS,
    GRID_FITS,
)
PACKED = (GRID_FITS, shared_fits(plans.packed_bytes, "rows take"))
WARP_ROWS = (GRID_FITS, shared_fits(plans.warp_rows_bytes, "rows take"))
FUSED = (not_with("passes", 1, words="it fuses two passes; choose passes 2"), GRID_FITS)
FLOATS = not_of("uint8", "uint16", words="it rounds halves of integers to even: convert the samples to float32")
CVCUDA = (FLOATS, NO_DOUBLE, PIXELS, KEEPS_ZEROS)
ROWS = blocks_fit(lambda task: task.knobs["block_y"] * rows_of_bytes(task), "a larger block or more rows per thread")

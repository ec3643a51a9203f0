"""The variant of the frequency mask on the fast transform: three launches, half a spectrum between them."""

from __future__ import annotations

from functools import partial

import numpy as np

from gpu_ops.filters.fft import forms, limits
from gpu_ops.filters.fft.cuda.any_length import MANY_CHANNELS
from gpu_ops.filters.fft.cuda.launches import Work
from gpu_ops.filters.fft.cuda.row_pairs import KNOBS, RowPairs, lines_fit, operations
from gpu_ops.filters.fft.mask import transfer
from gpu_ops.plan import Device, Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Variant

FILE = "fft_mask/3_fast.cu"
IDEA = (
    "Real images are half as many complex numbers; one launch transforms columns, multiplies and transforms back, with "
    "radices up to 16 in registers, and stores its columns where it loaded them."
)


def plan(device: Device, task: Task) -> Plan:
    """Rows, columns forward, product and columns inverse, rows inverse."""
    work = Work.of(device, task, "shared")
    image = RowPairs(work, FILE, "fft_mask_fast")
    height, width = image.height, image.width
    mask = np.zeros((height, image.pitch))
    half = np.arange(width // 2 + 1)
    mask[:, : len(half)] = transfer(task.params, np.arange(height)[:, None], half, height, width)
    left = work.output("spectrum", forms.values2d(task))
    image.over_rows(task.x, what="rows")
    factor = work.real.type(1 / (height * width))
    image.over_columns(work.weights(mask), left, more=(factor,), what="columns, multiply, inverse")
    out = work.output("image", forms.like_input(task))
    image.over_rows(out, what="rows inverse", inverse=True)
    return work.plan()


SHAPES = (64, 48), (30, 90), (22, 34)
"""Several stages, odd and even ones first, one length with a prime factor of 17."""
VARIANT = Variant(
    *("fast", "3 fast transform", IDEA, plan, "cuda", (FILE,), KNOBS),
    source="S2",
    rules=(MANY_CHANNELS, lines_fit("steps")),
    largest=limits.largest,
    shapes=SHAPES,
    counts=Counts(uncounted="three kernels: one block is not representative of all", operations=partial(operations, 2)),
)

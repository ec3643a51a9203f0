"""The image variants based on the fast transform: spectra in two launches, frequency masks in three, for any
extents."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.fft import forms, limits
from gpu_ops.filters.fft.cuda.any_length import MANY_CHANNELS
from gpu_ops.filters.fft.cuda.launches import PEAK_FILE, SAMPLES, SPECTRUM, Plane, Work
from gpu_ops.filters.fft.cuda.row_pairs import KNOBS, RowPairs, lines_fit, operations
from gpu_ops.filters.fft.limits import several_values
from gpu_ops.filters.fft.mask import transfer
from gpu_ops.filters.fft.windows import window
from gpu_ops.plan import Device, DeviceArray, Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Trial, Variant

FILE, MASK_FILE = "fft/16_image.cu", "fft_mask/3_fast.cu"
IDEA = (
    "Two launches for any extents, channels and results: rows in pairs, half the columns; means and windows are part "
    "of the first load, magnitudes, levels, densities and the shift of zero frequency part of the last store."
)
MASK_IDEA = (
    "Real images are half as many complex numbers; one launch transforms columns, multiplies and transforms back, with "
    "radices up to 16 in registers, and stores its columns where it loaded them."
)
STORED = {
    "spectrum": "SPECTRUM",
    "phase": "SPECTRUM",
    "magnitude": "MAGNITUDE",
    "level": "LEVEL",
    "power density": "DENSITY",
    "radial profile": "DENSITY",
    "round trip": "ROUND_TRIP",
}
"""What the launch over columns stores, by result."""


def plan(device: Device, task: Task) -> Plan:
    """The mean if it is subtracted, rows, columns, and the steps that need all results."""
    work, result = Work.of(device, task, "shared"), task.params["result"]
    image, whole = RowPairs(work, FILE, "fft_image"), result == "round trip"
    weights = [window("none" if whole else task.params["window"], n) for n in (image.height, image.width)]
    _rows(image, weights, not whole and result != "phase" and task.params["detrend"] == "constant")
    if whole:
        _columns(image, image.spectrum, 1 / (image.height * image.width))
        image.over_rows(work.output("image", forms.like_input(task)), what="rows inverse", inverse=True)
        return work.plan()
    sums = float(weights[0].sum() * weights[1].sum())
    if result in ("power density", "radial profile"):
        _finish(image, 1 / float((weights[0] ** 2).sum() * (weights[1] ** 2).sum()))
    else:
        _finish(image, 1 / (sums * forms.full_scale(task)) if result == "level" else 1 / sums)
    return work.plan()


def _rows(image: RowPairs, weights: list[forms.Array], detrend: bool) -> None:
    work, task = image.work, image.work.task
    windowed = any(w.min() < 1 for w in weights)
    means = work.means(1, image.height * image.width, 0) if detrend else work.device.empty((1,), np.float64)
    tables = [work.weights(w) for w in weights] if windowed else [work.device.empty((1,), work.real)] * 2
    image.over_rows(task.x, *tables, means, what="rows", WINDOWED=int(windowed), DETREND=int(detrend))


def _columns(image: RowPairs, out: DeviceArray, factor: float, moves: tuple[int, int] = (0, 0)) -> None:
    result, real = image.work.task.params["result"], image.work.real.type
    least = forms.least_amplitude(image.work.task) if result == "level" else 0.0
    more: tuple[Any, ...] = (*map(np.int32, moves), real(factor), real(least))
    image.over_parts("first", what="columns: part 1 of 2", RESULT=STORED[result])
    image.over_columns(out, more=more, what=f"columns, {result}", RESULT=STORED[result])


def _finish(image: RowPairs, factor: float) -> None:
    """All results but the round trip."""
    work, task, result = image.work, image.work.task, image.work.task.params["result"]
    plane = Plane(image.height, image.width, task.meta.channels)
    moves = (image.height // 2, image.width // 2) if task.params["centred"] and result != "radial profile" else (0, 0)
    moved = replace(plane, down=moves[0], right=moves[1])
    if result == "phase":
        values = work.device.empty((plane.size,), work.dtype)
        _columns(image, values, factor)
        work.phase(values, moved, work.output("phase", forms.values2d(task)))
    elif result == "radial profile":
        power = work.device.empty((plane.size,), work.real)
        _columns(image, power, factor)
        work.rings(power, plane, work.output("radial", forms.radial(task)))
    else:
        form = forms.spectrum2d(task) if result == "spectrum" else forms.values2d(task)
        out = work.output(result.replace(" ", "_"), form)
        _columns(image, out, factor, moves)
        if result == "magnitude":
            work.image_peaks(moved, out)


TRIALS = (
    Trial((240, 360), "uint8", "random", {"result": "level", "centred": True}),
    Trial((74, 1001), "float32", "random", {"result": "magnitude", "window": "Hann"}),
    Trial((520, 512), "float32", "random", {"result": "magnitude", "detrend": "constant"}, {"block": 64}),
)
"""Several blocks of rows and of columns; three stages, and lengths with a factor of 37; values that several blocks
reduce and search."""
VARIANT = Variant(
    *("fast", "16 fast transform", IDEA, plan, "cuda", (FILE, SAMPLES, SPECTRUM, PEAK_FILE), KNOBS),
    source="S2",
    rules=(several_values("image", limits.transformed), MANY_CHANNELS, lines_fit("global")),
    largest=limits.largest,
    trials=lambda limits: TRIALS,
    counts=Counts(
        uncounted="two kernels: one block is not representative of both",
        operations=lambda task: operations(2 if task.params["result"] == "round trip" else 1, task),
    ),
)


def plan_mask(device: Device, task: Task) -> Plan:
    """Rows, columns forward, product and columns inverse, rows inverse."""
    work = Work.of(device, task, "shared")
    image = RowPairs(work, MASK_FILE, "fft_mask_fast")
    height, width = image.height, image.width
    mask = np.zeros((height, image.pitch))
    half = np.arange(width // 2 + 1)
    mask[:, : len(half)] = transfer(task.params, np.arange(height)[:, None], half, height, width)
    left = work.output("spectrum", forms.values2d(task))
    image.over_rows(task.x, what="rows")
    factor = work.real.type(1 / (height * width))
    image.over_parts("parts", factor, what="columns: part 1 of 2")
    image.over_columns(image.turns, work.weights(mask), left, more=(factor,), what="columns, multiply, inverse")
    image.over_parts("parts", factor, what="columns inverse: part 2 of 2", last=True)
    out = work.output("image", forms.like_input(task))
    image.over_rows(out, what="rows inverse", inverse=True)
    return work.plan()


MASK_SHAPES = (64, 48), (30, 90), (22, 34)
"""Several stages, odd and even ones first, one length with a prime factor of 17."""
MASK = Variant(
    *("fast", "3 fast transform", MASK_IDEA, plan_mask, "cuda", (MASK_FILE,), KNOBS),
    source="S2",
    rules=(MANY_CHANNELS, lines_fit("steps")),
    largest=limits.largest,
    shapes=MASK_SHAPES,
    counts=Counts(uncounted="three kernels: one block is not representative of all", operations=partial(operations, 2)),
)

"""The variant that computes the levels of an image in two launches, with all other processing fused.

A line of the first launch is two rows of the image; a line of the second is a column of the half spectrum, which has
width / 2 of them: columns 0 and width / 2 are real after the rows, and share one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpu_ops.filters.fft import forms, limits
from gpu_ops.filters.fft.counts import sectors
from gpu_ops.filters.fft.counts.conflicts import BANKS
from gpu_ops.filters.fft.counts.sectors import WARP
from gpu_ops.filters.fft.cuda.launches import SAMPLES, Work
from gpu_ops.filters.fft.cuda.transform import twiddles
from gpu_ops.filters.fft.cuda.ways import MOST_THREADS, USUAL_THREADS, Blocks
from gpu_ops.filters.fft.parameters import RESULTS2D
from gpu_ops.filters.fft.windows import window
from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.filters.kit.rules import not_with, one_channel
from gpu_ops.input_kinds import IMAGE
from gpu_ops.params import Param, Value
from gpu_ops.plan import Device, DeviceArray, Launch, Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Rule, Variant

FILE = "fft/15_spectrum.cu"
IDEA = (
    "All pre- and post-processing is fused: the first launch transforms two rows of samples as one complex line, "
    "the second one half of the columns, and stores each level at its frequency and at the opposite one."
)
MANY = "two kernels: one block is not representative of both"
RADICES = (16, 8)
"""Points of a butterfly, and of one if a thread has 64 registers."""
NARROW = 32
"""The minimum bytes of a row that a block of columns loads: a sector."""
SHAPES = ((2, 2), (8, 4), (64, 128), (128, 32), (32, 64), (256, 16), (16, 32))
"""Sizes that the contract tests in addition to the shapes of images, none of which is supported."""

BLOCK = Param(
    "block",
    256,
    choices=(32, 64, 128, 256, 512),
    tries=(64, 256),
    unit="threads",
    help="threads per block of row pairs; more where a thread would have more than 16 points",
)
STRIP = Param(
    "strip",
    8,
    choices=(4, 8, 16),
    tries=(4, 8),
    unit="columns",
    help="neighbouring columns per block; fewer where they do not fit, but at least 32 bytes of each row",
)


@dataclass(frozen=True)
class Passes:
    """The blocks of both launches: of pairs of rows, and of columns."""

    rows: Blocks
    columns: Blocks


def passes(task: Task) -> Passes | None:
    """The blocks of both launches; None if the lines of one do not fit."""
    height, width = task.meta.shape[:2]
    half, narrow = width // 2, NARROW // forms.complex_type(task).itemsize
    threads = max(1, width // Blocks.of(width, RADICES[0], 1, 1, 1).points)
    apart = threads // 2 if threads < WARP else 0  # so that lines of one warp use different banks
    rows = _blocks(task, width, min(max(1, task.knobs["block"] // threads), height // 2), 1, apart)
    columns = _blocks(task, height, min(task.knobs["strip"], half), min(narrow, half))
    return Passes(rows, columns) if rows and columns else None


def _blocks(task: Task, n: int, lines: int, least: int, apart: int = 0) -> Blocks | None:
    """Blocks of lines of n points, as many as fit up to `lines`; None if `least` do not. The planes of a line are
    padded to this remainder modulo half the banks."""
    item, most = forms.real_type(task).itemsize, USUAL_THREADS if task.meta.dtype == "float64" else MOST_THREADS
    while lines >= least:
        for radix, threads in zip(RADICES, (USUAL_THREADS, most), strict=True):
            one = Blocks.of(n, radix, 1, 1, 1)
            plane = one.plane + (apart - one.plane) % (BANKS // 2) if apart else one.plane
            if n // one.points * lines <= threads and 2 * plane * item * lines <= task.limits.shared_bytes:
                return Blocks(n, one.radix, one.points, lines, plane)
        lines //= 2
    return None


def plan(device: Device, task: Task) -> Plan:
    """The mean if it is subtracted, rows, columns."""
    work, blocks = Work.of(device, task, "shared"), passes(task)
    assert blocks is not None
    height, width = task.meta.shape[:2]
    weights = [window(task.params["window"], n) for n in (height, width)]
    between = work.take(height * width // 2)
    _rows(work, blocks.rows, weights, between)
    _columns(work, blocks.columns, 1 / (float(weights[0].sum() * weights[1].sum()) * forms.full_scale(task)), between)
    return work.plan()


def _rows(work: Work, blocks: Blocks, weights: list[forms.Array], between: DeviceArray) -> None:
    task, (height, width) = work.task, work.task.meta.shape[:2]
    detrend, windowed = task.params["detrend"] == "constant", task.params["window"] != "none"
    means = work.means(1, height * width, 0) if detrend else work.device.empty((1,), np.float64)
    tables = [work.weights(w) for w in weights] if windowed else [work.device.empty((1,), work.real)] * 2
    numbers = (blocks.plane, width.bit_length() - 1, windowed, detrend)
    args = (task.x, between, work.table(twiddles, width), *tables, means, *map(np.int32, numbers))
    defines: dict[str, Value] = {"COLUMNS": 0, "SAMPLE": CTYPES[task.dtype.name]}
    kernel = work.device.kernel(FILE, "fft_spectrum_rows", {**work.defines, **blocks.defines, **defines})
    grid, shared = (height // 2 // blocks.lines, 1, 1), 2 * blocks.plane * blocks.lines * work.real.itemsize
    work.steps.append(Launch(kernel, grid, blocks.block, args, shared, name="rows"))


def _columns(work: Work, blocks: Blocks, factor: float, between: DeviceArray) -> None:
    task, (height, width) = work.task, work.task.meta.shape[:2]
    out = work.output("level", forms.values2d(task))
    numbers = (blocks.plane, height.bit_length() - 1, width, *_moves(task))
    floats = (factor, forms.least_amplitude(task))
    args = (between, out, work.table(twiddles, height), *map(np.int32, numbers), *(work.real.type(v) for v in floats))
    defines: dict[str, Value] = {"COLUMNS": blocks.lines}
    kernel = work.device.kernel(FILE, "fft_spectrum_columns", {**work.defines, **blocks.defines, **defines})
    grid, shared = (width // 2 // blocks.lines, 1, 1), 2 * blocks.plane * blocks.lines * work.real.itemsize
    block = (blocks.lines, height // blocks.points, 1)
    work.steps.append(Launch(kernel, grid, block, args, shared, name="columns, levels"))


def _moves(task: Task) -> tuple[int, int]:
    """How far down and to the right levels are shifted."""
    height, width = task.meta.shape[:2]
    return (height // 2, width // 2) if task.params["centred"] else (0, 0)


def predicts(task: Task) -> Mapping[str, int]:
    """Requests and sectors of global memory of both launches. Empty if the mean is subtracted, which needs more."""
    blocks = passes(task)
    if blocks is None or task.params["detrend"] == "constant":
        return {}
    height, width = task.meta.shape[:2]
    sizes = sectors.Sizes(height, width, task.meta.itemsize, forms.real_type(task).itemsize)
    both = sectors.rows(sizes, blocks.rows, task.params["window"] != "none")
    both += sectors.columns(sizes, blocks.columns, *_moves(task))
    return dict(zip(sectors.COUNTED, map(int, both), strict=True))


def operations(task: Task) -> int:
    """Operations of the complex transforms of half as many lines as the image has: five per point and stage."""
    height, width = task.meta.shape[:2]
    return 5 * height * width // 2 * max(1, (height * width).bit_length() - 1)


RULES = (
    not_with(
        *("result", *(result for result in RESULTS2D if result != "level")),
        words="it computes levels only, not {result}: choose level, or use the variant registers",
    ),
    one_channel(
        *("image", "it takes one channel, and this image has {meta.channels}; take one, or use the variant registers")
    ),
    Rule(
        lambda task: not all(n > 1 and n & (n - 1) == 0 for n in task.meta.shape[:2]),
        "it takes extents that are powers of two from 2 on, and this image has {meta.shape[1]} × {meta.shape[0]} "
        "pixels; crop it, or use the variant registers",
        {"shape": tuple(shape for shape in IMAGE.shapes if len(shape) == 2)},
    ),
    Rule(
        lambda task: passes(task) is None,
        "a block cannot hold rows of {meta.shape[1]} points, or the neighbouring columns of {meta.shape[0]}, in its "
        "threads and {limits.shared_bytes} bytes of shared memory; use the variant registers",
    ),
)
"""Levels of images of one channel whose extents are powers of two, and whose lines fit."""
VARIANT = Variant(
    *("spectrum", "15 spectrum in two passes", IDEA, plan, "cuda", (FILE, SAMPLES), (BLOCK, STRIP)),
    source="S2",
    rules=RULES,
    largest=limits.largest,
    shapes=SHAPES,
    counts=Counts(uncounted=MANY, predicts=predicts, operations=operations),
)

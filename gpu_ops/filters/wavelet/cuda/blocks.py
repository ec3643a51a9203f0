"""Haar in blocks on a GPU: with a given threshold forward transform, thresholds and inverse are one launch."""

from __future__ import annotations

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, PlanContext, cuda
from gpu_ops.filters.kit.rules import MOST_BLOCKS, not_with, together
from gpu_ops.filters.wavelet.cuda.launches import RESULT_ALONE, Shape, int64, largest, lines_of
from gpu_ops.filters.wavelet.forms import THRESHOLDS, work_type
from gpu_ops.input_kinds import Kind
from gpu_ops.params import Param
from gpu_ops.plan import Launch, Plan, Step
from gpu_ops.task import Task
from gpu_ops.types import Counts, Rule, Trial, Variant

SIDE, PATCHES, OWN_LEVELS = 4, 4, 2
"""A thread has 4 × 4 pixels, or 4 × 4 samples, and computes two levels of them alone; the same constant is in its
kernel."""
WARP = 32
BLOCKS = 128, 256, 512, 1024
BLOCK = Param("block", 128, choices=BLOCKS, unit="threads", help="threads per block", tries=(128, 512))
IDEA = "Haar blocks of side 2^levels are independent: forward transform, thresholding and inverse in one launch."
UNCOUNTED = Counts(uncounted="a load has four samples or one, depending on the alignment of its row")


def threads_of(task: Task) -> tuple[int, int]:
    """Threads of a block along x and y."""
    threads = int(task.knobs["block"])
    return (threads, 1) if task.meta.of_kind.rank == 1 else (WARP, threads // WARP)


def most_levels(task: Task) -> int:
    """The number of levels of the largest block of samples that divides the samples of a block of threads."""
    x, y = threads_of(task)
    patches = PATCHES * x if task.meta.of_kind.rank == 1 else min(x, y)
    return OWN_LEVELS + patches.bit_length() - 1


def _too_many(task: Task) -> tuple[int, str] | None:
    """The maximum number of levels and a remedy, if the task requests more."""
    wanted, most = task.params["levels"], most_levels(task)
    if wanted <= most:
        return None
    larger = next((b for b in BLOCKS if most_levels(_with(task, b)) >= wanted), None)
    return most, f"take block {larger:,}" if larger else f"choose at most {most_levels(_with(task, BLOCKS[-1]))} levels"


def _with(task: Task, block: int) -> Task:
    return Task.of(task.meta, task.params, {**task.knobs, "block": block}, task.limits)


def planned(ctx: PlanContext) -> Plan:
    """One launch per shift, each of which adds to the sum; the last one divides it and writes the result."""
    task, shape, kind = ctx.task, Shape.of(ctx.task.meta), work_type(ctx.task)
    shifts, image = int(ctx.params["shifts"]), ctx.task.meta.of_kind.rank == 2
    total = ctx.empty(kind) if shifts > 1 else ctx.device.empty((1,), kind)
    kernel = ctx.kernel(
        "_image" if image else "_signal",
        SAMPLE=CTYPES[ctx.dtype.name],
        REAL=CTYPES[kind.name],
        INTEGER=int(ctx.dtype.kind == "u"),
        LEVELS=int(ctx.params["levels"]),
        MANY=int(shifts > 1),
    )
    x, y = threads_of(task)
    across = SIDE * x * (1 if image else PATCHES)
    grid = (-(-shape.columns // across), min(-(-shape.rows // (SIDE * y)), MOST_BLOCKS) if image else 1, 1)
    extents = (*int64(*((shape.rows, shape.columns) if image else (shape.columns,))), np.int32(shape.channels))
    how = np.int32(THRESHOLDS.index(ctx.params["threshold"]))
    averages = x * y * (1 if image else PATCHES) if ctx.params["levels"] > OWN_LEVELS else 0
    steps: list[Step] = []
    for shift in range(shifts):
        moved = int64(*((shift % shape.rows,) if image else ()), shift % shape.columns)
        ends = np.int32(shift == 0), np.int32(shift == shifts - 1)
        numbers = np.float64(shifts), np.float64(ctx.params["value"]), how
        args = (ctx.x, total, ctx.out, *extents, *moved, *ends, *numbers)
        name = f"shift by {shift}" if shifts > 1 else "forward, thresholds, inverse"
        loops = lines_of(kernel, shape.rows, SIDE * y, shape)
        steps.append(Launch(kernel, grid, (x, y, 1), args, averages * kind.itemsize, name=name, loops=loops))
    return ctx.plan(*steps)


RULES = together(
    Rule(
        lambda task: task.params["wavelet"] != "haar",
        "only haar has blocks that do not overlap",
        {"param wavelet": ("db4", "bior1.3", "rbio3.1", "db16")},
    ),
    not_with(
        *("rule", "universal", "BayesShrink", "SURE"),
        words="an estimated threshold depends on all blocks; choose rule manual",
    ),
    RESULT_ALONE,
    Rule(_too_many, "{block} threads have blocks of {found[0]} levels, not {levels}; {found[1]}"),
)


def variant(kind: Kind) -> Variant:
    """The variant for signals or for images; the tall shape has more lines than a grid has blocks in y."""
    params, knobs = {"wavelet": "haar", "levels": 1, "rule": "manual"}, {"block": 128}
    tall = (Trial((1_060_000, 1), "uint8", "random", params, knobs),) if kind == "image" else ()
    return cuda(
        *("wavelet/8_blocks.cu", "Haar blocks", IDEA, planned),
        *RULES,
        knobs=(BLOCK,),
        source="S0",
        trials=lambda limits: tall,
        largest=largest,
        counts=UNCOUNTED,
    )

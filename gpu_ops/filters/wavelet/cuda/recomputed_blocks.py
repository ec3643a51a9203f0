"""Detail coefficients recomputed instead of stored, by blocks: on a GPU the forward transform of a level writes only
its approximation; the inverse transform computes the details once more, thresholds them and combines them with the
approximation of the next coarser level."""

from __future__ import annotations

from gpu_ops.filters.kit.planning import PlanContext, cuda
from gpu_ops.filters.kit.rules import not_with, together
from gpu_ops.filters.wavelet import forms
from gpu_ops.filters.wavelet.cuda.launches import RESULT_ALONE, counted, largest
from gpu_ops.filters.wavelet.cuda.recomputing import FILE, Denoising, Whole
from gpu_ops.filters.wavelet.cuda.strips import ROWS, THREADS, counters, windows_of
from gpu_ops.input_kinds import Kind
from gpu_ops.params import Param
from gpu_ops.plan import Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Rule, Variant

MOST = 1 << 30
"""Rows of an image, and values of a row."""
AROUND = "wavelet/median.cu", "wavelet/thresholds.cu"
"""The kernels that estimate the threshold."""
SIZES = 64, 128, 256
BLOCKS = {
    kind: Param("block", usual, choices=SIZES, unit="threads", help="threads per block", tries=(64, 256))
    for kind, usual in THREADS.items()
}
HEIGHT = Param("rows", ROWS, choices=(32, 64, 128, 256), unit="rows", help="rows per block", tries=(32, 128))
IDEAS = {
    "image": "The inverse transform recomputes the details, which is cheaper than storing and loading them.",
    "signal": "A block computes all levels of its tile and recomputes the halo: no intermediate result is stored.",
}
SEVERAL = "a forward and an inverse launch for each level: one block is not representative of the plan"


ONE_THRESHOLD = not_with(
    *("rule", "BayesShrink", "SURE"),
    words="BayesShrink and SURE need the details of each band, which it does not store; choose manual or universal",
)
"""Excludes thresholds that are estimated from all details of a band."""
POSITIONS = Rule(
    lambda task: max(task.meta.shape[0], task.meta.shape[1] * task.meta.channels) > MOST,
    f"its images have at most {MOST:,} rows and values of a row",
)
"""Positions along an axis of an image are ints."""


def recomputed(task: Task, forward: int) -> int:
    """The share of the forward transform's operations that the inverse one repeats: half for signals, three eighths for
    images; none if a tile has all levels."""
    if task.meta.of_kind.rank == 2:
        return forward * 12 // 32
    return 0 if windows_of(task) else forward // 2


def planned(ctx: PlanContext) -> Plan:
    """A signal's levels in one launch if they fit in a tile, else a forward and an inverse launch per level."""
    windows = windows_of(ctx.task)
    return Denoising(ctx).plan() if windows is None else Whole(ctx, windows).plan()


def _operations(task: Task) -> int:
    flops = forms.work(task).flops
    return counted(task, flops + recomputed(task, flops // 2))


def variant(kind: Kind) -> Variant:
    """The variant for signals or for images."""
    image = kind == "image"
    return cuda(
        *(FILE, "recomputed per block", IDEAS[kind], planned),
        *together(ONE_THRESHOLD, RESULT_ALONE, *((POSITIONS,) if image else ())),
        helpers=AROUND,
        knobs=(BLOCKS[kind], *((HEIGHT,) if image else ())),
        source="S0",
        largest=largest,
        counts=Counts(uncounted=SEVERAL, predicts=counters, operations=_operations),
    )

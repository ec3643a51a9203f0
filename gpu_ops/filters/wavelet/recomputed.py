"""Details that are made twice, on a GPU: on the way there a level writes its approximation alone; on the way back it
makes its details once more from its samples, shrinks them and joins them with the approximation that came back. Lone
warps do so at the first level of an image and at the last one; those between keep theirs, which a cache holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gpu_ops.filters.kit.planning import Job, cuda
from gpu_ops.filters.kit.support import shared_fits
from gpu_ops.filters.wavelet import forms, lanes, lone_traffic, marched
from gpu_ops.filters.wavelet.forms import work_type
from gpu_ops.filters.wavelet.lane_filters import growth_of, operations_of
from gpu_ops.filters.wavelet.strips import Strips, counters, windows_of
from gpu_ops.filters.wavelet.twice import Denoising, Whole
from gpu_ops.params import Param
from gpu_ops.plan import Plan
from gpu_ops.task import Meta, Task
from gpu_ops.types import Refusal, Variant

FILE = "wavelet/9_recomputed.cu"
MOST = 1 << 30
"""Rows of an image, and values of a row: places along an axis are ints."""
KERNELS = FILE, "wavelet/median.cu", "wavelet/thresholds.cu"
SIZES = 64, 128, 256
BLOCKS = {
    kind: Param(
        "block", usual, choices=SIZES, unit="threads", help="threads a block; of lone warps 32", tries=(64, 256)
    )
    for kind, usual in (("image", 128), ("signal", 256))
}
ROWS = Param(
    "rows",
    128,
    choices=(32, 64, 128, 256),
    unit="rows",
    help="rows that a block marches down; lone warps as many as occupy the GPU once",
    tries=(32, 128),
)
IDEAS = {
    "image": "Details are made twice, which is cheaper than memory: up to 16 taps in the registers of lone warps.",
    "signal": "A tile has all levels and makes what lies around it once more: up to 16 taps in a warp's registers.",
}
SHAPES = ((36, 132),)
"""An image in rows of whole fours, with more columns than a warp has."""
SEVERAL = "a kernel there and one back, launched for each level: the loads of one block do not stand for the plan"

REFUSES = (
    Refusal("a threshold for each band", {"param rule": ("BayesShrink", "SURE")}),
    Refusal("keeps no coefficients", {"param result": ("parts",)}),
)


def shared_bytes(task: Task) -> int:
    """Bytes of shared memory of the largest kernel."""
    return max(Strips.of(task).shared(work_type(task).itemsize, task.params["rule"] != "manual"))


def too_large(meta: Meta) -> bool:
    """Whether places along an axis of an image are no ints."""
    return meta.of_kind.rank == 2 and max(meta.shape[0], meta.shape[1] * meta.channels) > MOST


def supports(task: Task) -> str | None:
    """None, or all reasons why the details cannot be made twice."""
    params, fits = task.params, shared_fits(shared_bytes)(task)
    reasons = {
        "BayesShrink and SURE find a threshold for each band, from details that it never keeps; take manual or "
        "universal": params["rule"] not in ("manual", "universal"),
        "it keeps no coefficients to show": params["result"] != "result",
        f"{fits}": fits is not None,
        f"its images have at most {MOST} rows and values of a row": too_large(task.meta),
    }
    return "; ".join(reason for reason, holds in reasons.items() if holds) or None


def lone(task: Task) -> bool:
    """Whether its warps are alone."""
    return marched.suits(task) or lanes.suits(task)


def filtering(task: Task) -> int:
    """The operations of filters: fewer where lone warps have a lattice or lifting steps."""
    flops = forms.work(task).flops
    return operations_of(task.params["wavelet"], task.params["border"], flops) if lone(task) else flops


def made_twice(task: Task) -> int:
    """The operations of approximations, which the way back makes once more with details: of the way there a half for
    signals, three eighths for images, of whose lone warps the first level at most makes them twice; none where a tile
    has all levels."""
    there = filtering(task) // 2
    if task.meta.of_kind.rank == 2:
        first = marched.suits(task) and task.params["levels"] > 1
        return 0 if first and marched.keeps(task, 1) else there * (9 if first else 12) // 32
    return 0 if lanes.suits(task) or windows_of(task) else there // 2


def growth(task: Task) -> float:
    """How many times as large as coefficients lone warps may make values on the way: of an image two axes there and
    back, of a signal all levels there and one back."""
    if not lone(task):
        return 1.0
    turns = 4 if task.meta.of_kind.rank == 2 else int(task.params["levels"]) + 1
    return growth_of(task.params["wavelet"], task.params["border"], turns)


def predicted(task: Task) -> Mapping[str, int]:
    """The sectors that a plan loads and stores; nothing is said of tasks whose warps meet more than rows of floats."""
    meta, params = task.meta, task.params
    if not lone(task):
        return counters(task)
    plain = meta.channels == 1 and params["shifts"] == 1 and params["rule"] == "manual" and meta.dtype == "float32"
    if not plain:
        return {}
    return lone_traffic.of_image(task) if meta.of_kind.rank == 2 else lone_traffic.of_signal(task)


def planned(job: Job) -> Plan:
    """The plan of a task: by lone warps where that is possible; else a signal's levels in one launch where a tile holds
    them, else a launch there and back a level."""
    if marched.suits(job.task):
        return marched.Marching(job).plan()
    if lanes.suits(job.task):
        return lanes.Lanes(job).plan()
    windows = windows_of(job.task)
    return Denoising(job).plan() if windows is None else Whole(job, windows).plan()


def variant(kind: str, largest: Callable[[Task], float], operations: Callable[[Task], int]) -> Variant:
    """The variant of signals or of images; `largest` and `operations` are those of the other variants."""
    image = kind == "image"
    own = cuda(
        FILE,
        "details recomputed",
        IDEAS[kind],
        planned,
        knobs=(BLOCKS[kind], ROWS, marched.DETAILS) if image else (BLOCKS[kind],),
        supports=supports,
        refuses=REFUSES,
        largest=lambda task: largest(task) / growth(task),
        operations=lambda task: operations(task) - forms.work(task).flops + filtering(task) + made_twice(task),
        predicts=predicted,
        uncounted=SEVERAL,
        shapes=SHAPES if image else (),
        source="S0",
    )
    return replace(own, kernels=(*KERNELS, *(marched.FILES if image else (lanes.FILE,))))

"""Details that are never kept, on a GPU: on the way there a level writes its approximation alone; on the way back it
makes its details once more from its samples, shrinks them and joins them with the approximation that came back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpu_ops.filters.kit.planning import Job, cuda
from gpu_ops.filters.kit.support import shared_fits
from gpu_ops.filters.wavelet import forms, lanes, marched
from gpu_ops.filters.wavelet.forms import work_type
from gpu_ops.filters.wavelet.strips import Strips, counters, windows_of
from gpu_ops.filters.wavelet.twice import Denoising, Whole
from gpu_ops.params import Param
from gpu_ops.plan import Plan
from gpu_ops.task import Meta, Task
from gpu_ops.types import Refusal, Variant

FILE = "wavelet/9_recomputed.cu"
MOST = 1 << 30
"""Rows of an image, and values of a row: places along an axis are ints."""
BLOCK = Param("block", 256, choices=(64, 128, 256), unit="threads", help="threads a block", tries=(64, 256))
ROWS = Param(
    "rows", 128, choices=(16, 32, 64, 128, 256, 512), unit="rows", help="rows that a block marches down", tries=(32, 128)
)
EACHES = Param("each", 4, choices=(0, 4, 8, 32, 48, 64), help="x", tries=(4, 8))
WARPS = Param("warps", 8, choices=(1, 2, 4, 8, 12, 16, 24), help="x", tries=(4, 8))
LAT = Param("lattice", 1, choices=(0, 1), help="x", tries=(0, 1))
RES = Param("resident", 1, choices=tuple(range(1, 33)), help="x", tries=(1, 4))
LDEPTH = Param("low_depth", 2, choices=(1, 2, 4), help="x", tries=(1, 2))
LWARPS = Param("low_warps", 16, choices=(1, 2, 4, 8, 12, 16, 24, 32), help="x", tries=(4, 8))
LEAST = Param("least", 16, choices=(8, 16, 32, 64), help="x", tries=(8, 16))
DEPTH = Param("depth", 1, choices=(1, 2), help="x", tries=(1, 2))
IDEAS = {
    "image": "A level writes its approximation alone and makes its details twice, which is cheaper than memory.",
    "signal": "A tile has all levels and makes what lies around it once more; else a level makes its details twice.",
}
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


def made_twice(task: Task) -> int:
    """The operations of approximations, which the way back makes once more with details: of the way there a half for
    signals, three eighths for images; none where a tile has all levels."""
    there = forms.work(task).flops // 2
    if task.meta.of_kind.rank == 2:
        return there * 3 // 8
    return 0 if windows_of(task) else there // 2


def planned(job: Job) -> Plan:
    """The plan of a task: a signal's levels in one launch where a tile holds them, else a launch there and back a
    level."""
    if marched.suits(job.task) and job.knobs["each"]:
        return marched.Marching(job).plan()
    if job.knobs["each"] and lanes.suits(job.task):
        return lanes.Lanes(job).plan()
    windows = windows_of(job.task)
    return Denoising(job).plan() if windows is None else Whole(job, windows).plan()


def variant(kind: str, largest: Callable[[Task], float], operations: Callable[[Task], int]) -> Variant:
    """The variant of signals or of images; `largest` and `operations` are those of the other variants."""
    own = cuda(
        FILE,
        "details recomputed",
        IDEAS[kind],
        planned,
        knobs=(BLOCK, ROWS, EACHES, WARPS, RES, LAT, DEPTH, LDEPTH, LWARPS, LEAST) if kind == "image" else (BLOCK, EACHES, RES, LAT, DEPTH, LDEPTH, LWARPS, LEAST),
        supports=supports,
        refuses=REFUSES,
        largest=largest,
        operations=lambda task: operations(task) + made_twice(task),
        predicts=counters,
        uncounted=SEVERAL,
        source="S0",
    )
    return replace(own, kernels=(FILE, "wavelet/median.cu", "wavelet/thresholds.cu"))

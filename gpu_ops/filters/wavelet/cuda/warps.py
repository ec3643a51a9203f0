"""The variants of independent warps: what they take, how much they compute, and how large their samples may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.kit.planning import Job, cuda
from gpu_ops.filters.kit.support import MOST_BLOCKS
from gpu_ops.filters.wavelet import forms
from gpu_ops.filters.wavelet.counts import warp_traffic
from gpu_ops.filters.wavelet.cuda import recomputing
from gpu_ops.filters.wavelet.cuda.lane import LONGEST
from gpu_ops.filters.wavelet.cuda.lane_filters import growth_of, operations_of
from gpu_ops.filters.wavelet.cuda.recomputed_blocks import AROUND, REFUSES, all_reasons, of_rule
from gpu_ops.filters.wavelet.cuda.strips import Strips
from gpu_ops.filters.wavelet.cuda.warp_registers import FILE, Registers, fits, has_even_levels
from gpu_ops.filters.wavelet.cuda.warp_strips import Marching, Rung, marches, stores
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.plan import Plan
from gpu_ops.task import Task
from gpu_ops.types import Refusal, Variant

Counted = Callable[[Task, int], int]
"""The operations of a task, of so many of its filters."""

REGISTERS = "An independent warp computes all levels of its tile in registers: shuffles, no barrier, nothing between."
TITLES = {
    Rung.STORED: "independent warps",
    Rung.RECOMPUTED: "recomputed by warps",
    Rung.TWO_LEVELS: "two levels at once",
}
IDEAS = {
    Rung.STORED: "One independent warp per strip: neighbours by shuffles, columns in registers, no barrier.",
    Rung.RECOMPUTED: "The warps recompute the first level's details instead of storing them: a quarter less traffic.",
    Rung.TWO_LEVELS: "The first two levels share a forward and an inverse launch; what is between stays in registers.",
}
SHAPES = {
    Rung.STORED: ((36, 132), (36, 136)),
    Rung.RECOMPUTED: ((36, 132), (36, 136)),
    Rung.TWO_LEVELS: ((36, 136), (72, 144)),
}
"""Images in rows of whole fours, with more columns than a warp has; at the second level as well, or not."""
ONE = "a forward and an inverse launch for each level: the loads of one warp do not stand for the plan"
TILES = "a warp loads four samples at once or one, as its tile lies inside the signal or not"

IN_REGISTERS = (
    Refusal("float64 coefficients", {"dtype": ("float64",), "param threshold": ("hard",)}),
    Refusal("taps", {"param wavelet": ("db16",)}),
)
OF_STRIPS = (
    *REFUSES,
    *IN_REGISTERS,
    Refusal("one channel"),
    Refusal("one shift", {"param shifts": (2, 3)}),
    Refusal("whole fours", {"shape": INPUT_KINDS["image"].shapes}),
)
TWO_OR_MORE = Refusal("2 levels or more", {"param levels": (1,)})
OF_TWO = (
    Refusal("wraps around", {"param border": ("symmetric",)}),
    Refusal("multiple of 8"),
    Refusal("3 levels or more"),
)
OF_REGISTERS = (
    *IN_REGISTERS,
    Refusal("from the whole signal", {"param rule": ("universal", "BayesShrink", "SURE")}),
    REFUSES[1],
    Refusal("wraps around", {"param border": ("symmetric",)}),
    Refusal("even", {"shape": tuple(s for s in INPUT_KINDS["signal"].shapes if s != (1024,))}),
)


def _of_filters(task: Task) -> dict[str, bool]:
    """Why registers do not hold what a warp needs, and whether that is so."""
    wavelet, taps = task.params["wavelet"], Strips.of(task).taps
    return {
        "registers do not hold float64 coefficients, which float64 samples and hard thresholds need": (
            forms.work_type(task) != np.float32
        ),
        f"registers hold filters of at most {LONGEST} taps, {wavelet} has {taps}": taps > LONGEST,
    }


def _of_strips(task: Task) -> dict[str, bool]:
    taps = Strips.of(task).taps
    return {
        **of_rule(task),
        **_of_filters(task),
        f"its images have one channel, not {task.meta.channels}": task.meta.channels > 1,
        "it takes one shift": task.params["shifts"] > 1,
        f"its images have rows of whole fours, and at least {2 * taps} of them": not marches(task, 1),
    }


def _of_two(task: Task) -> dict[str, bool]:
    """Why the first two levels share no launch, and whether that is so."""
    params, taps = task.params, Strips.of(task).taps
    at_second = task.meta.shape[0] % 4 == 0 and marches(task, 2)
    return {
        "its second level wraps around the edges; take border periodization": not Strips.of(task).periodic,
        f"its images have columns in a multiple of 8, and rows in a multiple of 4, at least {4 * taps} of them": (
            not at_second
        ),
        "an estimated threshold is found after the first level, so that it takes 3 levels or more": (
            params["rule"] != "manual" and params["levels"] == 2
        ),
    }


def supports_image(rung: Rung, task: Task) -> str | None:
    """None, or all reasons why warps cannot do it in strips."""
    reasons = _of_strips(task)
    if rung is not Rung.RECOMPUTED:
        reasons["one level has its forward and its inverse transform in one launch; take 2 levels or more"] = (
            task.params["levels"] == 1
        )
    return all_reasons(reasons | (_of_two(task) if rung is Rung.TWO_LEVELS else {}))


def supports_signal(task: Task) -> str | None:
    """None, or all reasons why warps cannot have all levels of a signal in registers."""
    params, channels = task.params, task.meta.channels
    reasons = {
        **_of_filters(task),
        "an estimated threshold comes from the whole signal first; its rule is manual": params["rule"] != "manual",
        "it keeps no coefficients to show": params["result"] != "result",
        "its signal wraps around; take border periodization": not Strips.of(task).periodic,
        "its signal has an even number of samples at each level": not has_even_levels(task),
        f"{params['levels']} levels need more around a warp's samples than it has; take fewer": not fits(task),
        f"its signals have at most {MOST_BLOCKS} channels": channels > MOST_BLOCKS,
    }
    return all_reasons(reasons)


def _filtering(task: Task) -> int:
    """The operations of the filters: fewer where they are a lattice or lifting steps."""
    return operations_of(task.params["wavelet"], task.params["border"], forms.work(task).flops)


def _recomputed(rung: Rung, task: Task) -> int:
    """The operations that the inverse transform repeats: of those of the forward one three eighths, or nine of 32 where
    the first level is not the last, whose details alone are recomputed with the approximation."""
    first = task.params["levels"] > 1
    return 0 if first and stores(task, 1, rung) else _filtering(task) // 2 * (9 if first else 12) // 32


def _growth(task: Task) -> float:
    """How many times as large as coefficients values may become on the way: of an image two axes forward and inverse,
    of a signal all levels forward and one inverse."""
    turns = 4 if task.meta.of_kind.rank == 2 else int(task.params["levels"]) + 1
    return growth_of(task.params["wavelet"], task.params["border"], turns)


def _predicted(of: Callable[[Task], Mapping[str, int]], task: Task) -> Mapping[str, int]:
    """The sectors that a plan loads and stores; nothing is said of tasks whose warps meet more than rows of floats."""
    meta, params = task.meta, task.params
    plain = meta.channels == 1 and params["shifts"] == 1 and params["rule"] == "manual" and meta.dtype == "float32"
    return of(task) if plain else {}


def registers(largest: Callable[[Task], float], operations: Counted) -> Variant:
    """The variant of signals; `largest` is that of the other variants."""
    own = cuda(
        FILE,
        "warp registers",
        REGISTERS,
        _in_registers,
        supports=supports_signal,
        refuses=OF_REGISTERS,
        operations=lambda task: operations(task, _filtering(task)),
        predicts=partial(_predicted, warp_traffic.of_signal),
        shapes=((528, 2),),
        uncounted=TILES,
        **_common(largest),
    )
    return own


def strips(rung: Rung, largest: Callable[[Task], float], operations: Counted) -> Variant:
    """A variant of images; `largest` is that of the other variants."""
    more: tuple[Refusal, ...] = () if rung is Rung.RECOMPUTED else (TWO_OR_MORE,)
    own = cuda(
        rung.value,
        TITLES[rung],
        IDEAS[rung],
        partial(_in_strips, rung),
        supports=partial(supports_image, rung),
        refuses=(*OF_STRIPS, *more, *(OF_TWO if rung is Rung.TWO_LEVELS else ())),
        operations=lambda task: operations(task, _filtering(task) + _recomputed(rung, task)),
        predicts=partial(_predicted, partial(warp_traffic.of_image, rung=rung)),
        shapes=SHAPES[rung],
        uncounted=ONE,
        **_common(largest),
    )
    helpers = (other.value for other in (Rung.RECOMPUTED, Rung.STORED) if other is not rung)
    return replace(own, kernels=(rung.value, *helpers, recomputing.FILE, *AROUND))


def _common(largest: Callable[[Task], float]) -> dict[str, Any]:
    return {"knobs": (), "largest": lambda task: largest(task) / _growth(task), "source": "S0"}


def _in_registers(job: Job) -> Plan:
    return Registers(job).plan()


def _in_strips(rung: Rung, job: Job) -> Plan:
    return Marching(job, rung).plan()

"""The variants of independent warps: supported tasks, operations, and the largest magnitude of samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from gpu_ops.filters.kit.planning import cuda
from gpu_ops.filters.kit.rules import beyond, not_with, together
from gpu_ops.filters.wavelet import forms
from gpu_ops.filters.wavelet.counts import warp_traffic
from gpu_ops.filters.wavelet.cuda import recomputing
from gpu_ops.filters.wavelet.cuda.lane import LONGEST
from gpu_ops.filters.wavelet.cuda.lane_filters import growth_of, operations_of
from gpu_ops.filters.wavelet.cuda.launches import RESULT_ALONE, counted, largest
from gpu_ops.filters.wavelet.cuda.recomputed_blocks import AROUND, ONE_THRESHOLD
from gpu_ops.filters.wavelet.cuda.strips import Strips
from gpu_ops.filters.wavelet.cuda.warp_registers import FILE, Registers, fits, has_even_levels
from gpu_ops.filters.wavelet.cuda.warp_strips import FOUR, Rung, Streaming, stores, streams
from gpu_ops.input_kinds import IMAGE, SIGNAL
from gpu_ops.task import Task
from gpu_ops.types import Counts, Rule, Variant

REGISTERS = (
    "One independent warp per tile computes all levels in registers: shuffles, no barrier, no intermediate result."
)
TITLES = {
    Rung.STORED: "independent warps",
    Rung.RECOMPUTED: "recomputed per warp",
    Rung.TWO_LEVELS: "two levels at once",
}
IDEAS = {
    Rung.STORED: "One independent warp per strip: neighbours by shuffles, columns in registers, no barrier.",
    Rung.RECOMPUTED: "The warps recompute the first level's details instead of storing them: a quarter less traffic.",
    Rung.TWO_LEVELS: "The first two levels share a forward and an inverse launch; the data between stay in registers.",
}
SHAPES = {
    Rung.STORED: ((36, 132), (36, 136), (124, 133), (36, 140, 3)),
    Rung.RECOMPUTED: ((36, 132), (36, 136), (37, 133), (36, 140, 3)),
    Rung.TWO_LEVELS: ((36, 136), (72, 144), (40, 136, 3)),
}
"""Images with more columns than a warp has, in rows of whole fours, at the second level as well or not, and in others;
and several channels. The tallest has two levels of the longest filter that is tried: with a periodic border the second
one has too few rows for warps, and is left to blocks."""
ONE = "a forward and an inverse launch for each level: one warp is not representative of the plan"
TILES = "a load has four samples or one, depending on whether the tile is inside the signal"


def _all_stream(task: Task) -> bool:
    return all(streams(task, level) for level in range(1, task.params["levels"] + 1))


def _pairs_of_levels(task: Task) -> bool:
    """Whether an image has whole fours of rows, and of columns at both levels."""
    rows, columns = task.meta.shape[:2]
    return rows % 4 == 0 and columns % (2 * FOUR) == 0 and streams(task, 2)


def _most(dtype: str) -> float:
    """The largest sample that must not overflow: of floats one is enough, which most images are scaled to."""
    return 1.0 if np.dtype(dtype).kind == "f" else float(np.iinfo(dtype).max)


SINGLE = Rule(
    lambda task: forms.work_type(task) != np.float32,
    "registers do not hold float64 coefficients, which float64 samples and hard thresholds need",
    {"dtype": ("float64",), "param threshold": ("hard",)},
)
SHORT = Rule(
    lambda task: beyond(Strips.of(task).taps, LONGEST),
    f"registers hold filters of at most {LONGEST} taps, {{wavelet}} has {{found}}; use the variant recomputed_blocks",
    {"param wavelet": ("db16",)},
)
IN_RANGE = Rule(
    lambda task: _largest(task) < _most(task.meta.dtype),
    "rotations of {levels} levels of {wavelet} exceed the range of float32; choose fewer levels",
)
OF_STRIPS = (
    *(ONE_THRESHOLD, RESULT_ALONE, SINGLE),
    Rule(lambda task: task.params["shifts"] > 1, "it takes one shift", {"param shifts": (2, 3)}),
    Rule(
        lambda task: 0 if streams(task, 1) else 2 * Strips.of(task).taps,
        "it takes images with at least {found} rows",
        {"shape": ((1, 1), (1, 7))},
    ),
    Rule(
        lambda task: 0 if task.meta.channels == 1 or _all_stream(task) else 2 * Strips.of(task).taps,
        "of several channels each level needs at least {found} rows; choose fewer levels",
    ),
)
TWO_OR_MORE = Rule(
    lambda task: task.params["levels"] == 1,
    "it takes 2 levels or more",
    {"param levels": (1,), "shape": ((7, 1),)},
)
OF_TWO = (
    not_with("border", "symmetric", words="it takes border periodization only"),
    Rule(
        lambda task: 0 if _pairs_of_levels(task) else 4 * Strips.of(task).taps,
        "it takes images with a multiple of 8 columns and of 4 rows, at least {found} of each",
        {"shape": IMAGE.shapes},
    ),
    Rule(
        lambda task: task.params["rule"] != "manual" and task.params["levels"] == 2,
        "with an estimated threshold it takes 3 levels or more",
    ),
)
"""The first two levels share a launch."""
OF_REGISTERS = (
    *(SINGLE, SHORT),
    not_with(
        *("rule", "universal", "BayesShrink", "SURE"),
        words="an estimated threshold depends on the whole signal; choose rule manual",
    ),
    RESULT_ALONE,
    not_with("border", "symmetric", words="it takes border periodization only"),
    Rule(
        lambda task: not has_even_levels(task),
        "it takes signals with an even number of samples at each level",
        {"shape": tuple(shape for shape in SIGNAL.shapes if shape != (1024,))},
    ),
    Rule(lambda task: not fits(task), "{levels} levels need a larger halo than a warp has; choose fewer"),
)


def _filtering(task: Task) -> int:
    """The operations of the filters: fewer if they are a lattice or lifting steps."""
    return operations_of(task.params["wavelet"], task.params["border"], forms.work(task).flops)


def _recomputed(rung: Rung, task: Task) -> int:
    """The operations that the inverse transform repeats: three eighths of those of the forward one, or nine of 32 if
    the first level, of which only the details are recomputed with the approximation, is not the last."""
    first = task.params["levels"] > 1
    return 0 if first and stores(task, 1, rung) else _filtering(task) // 2 * (9 if first else 12) // 32


def _growth(task: Task) -> float:
    """The maximum intermediate gain relative to coefficients: for an image two axes forward and inverse, for a signal
    all levels forward and one inverse."""
    turns = 4 if task.meta.of_kind.rank == 2 else int(task.params["levels"]) + 1
    return growth_of(task.params["wavelet"], task.params["border"], turns)


def _predicted(of: Callable[[Task], Mapping[str, int]], task: Task) -> Mapping[str, int]:
    """The sectors that a plan loads and stores; {} for tasks whose warps access more than rows of floats."""
    meta, params = task.meta, task.params
    plain = meta.channels == 1 and params["shifts"] == 1 and params["rule"] == "manual" and meta.dtype == "float32"
    return of(task) if plain else {}


def _operations(rung: Rung | None, task: Task) -> int:
    return counted(task, _filtering(task) + (_recomputed(rung, task) if rung else 0))


def _largest(task: Task) -> float:
    return largest(task) / _growth(task)


def _suits(rung: Rung, task: Task) -> bool:
    """Samples of several channels are loaded one by one, which costs more than to store and load details: 2048²×3, db4,
    took 98 µs with details stored and 105 µs with those of the first level recomputed on an H200."""
    return rung is Rung.STORED or task.meta.channels == 1


def _strips(rung: Rung) -> Variant:
    taps = (IN_RANGE,) if rung is Rung.STORED else (SHORT,)
    more = (*taps, *(() if rung is Rung.RECOMPUTED else (TWO_OR_MORE,)), *(OF_TWO if rung is Rung.TWO_LEVELS else ()))
    helpers = (other.value for other in (Rung.RECOMPUTED, Rung.STORED) if other is not rung)
    predicts = partial(_predicted, partial(warp_traffic.of_image, rung=rung))
    return cuda(
        *(rung.value, TITLES[rung], IDEAS[rung], lambda ctx: Streaming(ctx, rung).plan()),
        *together(*OF_STRIPS, *more),
        helpers=(*helpers, recomputing.FILE, *AROUND),
        knobs=(),
        source="S0",
        largest=_largest,
        shapes=SHAPES[rung],
        counts=Counts(uncounted=ONE, predicts=predicts, operations=partial(_operations, rung)),
        suits=partial(_suits, rung),
    )


WARP_REGISTERS = cuda(
    *(FILE, "warp registers", REGISTERS, lambda ctx: Registers(ctx).plan()),
    *together(*OF_REGISTERS),
    knobs=(),
    source="S0",
    largest=_largest,
    shapes=((528, 2),),
    counts=Counts(
        uncounted=TILES, predicts=partial(_predicted, warp_traffic.of_signal), operations=partial(_operations, None)
    ),
)
STRIPS = tuple(map(_strips, Rung))

"""Parameters and outputs of wavelet denoising: sizes and bands of the pyramid, types, tolerances, and unsupported
tasks.

The pyramid has the layout of pywt.coeffs_to_array: along each axis first the approximation, then the details of the
last level, …, last those of level 1. In images, bands of unequal size leave padding, which is zero.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from gpu_ops.errors import ParamError
from gpu_ops.filters.kit.ranges import top
from gpu_ops.filters.wavelet.bases import LENGTHS, LOOK, NAMES, gain_of, gains_of
from gpu_ops.input_kinds import INPUT_KINDS, Kind
from gpu_ops.output_kinds import CHANNEL, Axis, Band, Form
from gpu_ops.params import Param, Threshold
from gpu_ops.task import Task
from gpu_ops.types import Output, Work, form_of_input

BORDERS = ("periodization", "symmetric")
THRESHOLDS = ("soft", "hard", "garrote")
RULES = ("manual", "universal", "BayesShrink", "SURE")
PARTS = {"result": ("parts",)}

TRIED = "db4", "haar", "bior1.3", "rbio3.1", "db16"
WAVELET = Param("wavelet", "db4", choices=NAMES, help="the wavelet", tries=TRIED, look=LOOK)
LEVELS = Param("levels", 4, 1, 30, unit="levels", help="number of decomposition levels", tries=(1, 2, 3))
BORDER = Param("border", "periodization", choices=BORDERS, help="how the input is extended beyond its edges")
THRESHOLD = Param("threshold", "soft", choices=THRESHOLDS, help="how details above the threshold are changed")
RULE = Param("rule", "universal", choices=RULES, help="how the threshold is chosen")
VALUE = Param(
    "value",
    0.1,
    0.0,
    1e9,
    help="the threshold, in the input's unit",
    when={"rule": ("manual",)},
    tries=(0.0, 0.11, 0.37),
    handle=Threshold("coefficients", "figures", first=1),
)
SHIFTS = Param("shifts", 1, 1, 16, help="circular shifts whose results are averaged (cycle spinning)", tries=(1, 2, 3))
RESULT = Param(
    "result",
    "result",
    choices=("result", "parts"),
    help="the result alone, or noise, coefficients and thresholds as well",
)
PARAMS = (WAVELET, LEVELS, BORDER, THRESHOLD, RULE, VALUE, SHIFTS, RESULT)

STEEP = 8
"""The factor of tolerances with BayesShrink, whose threshold is noise² / sqrt(variance - noise²): in a band with little
but noise, it changes more than the coefficients, 4.5 times in the worst of some thousand signals."""


def coefficients_of(n: int, length: int, border: str) -> int:
    """The number of coefficients of a level of n samples: as pywt.dwt_coeff_len."""
    return (n + 1) // 2 if border == "periodization" else (n + length - 1) // 2


def extents(n: int, length: int, levels: int, border: str) -> tuple[int, ...]:
    """Samples along an axis of n at level 0, 1, … `levels`."""
    found = [n]
    for _ in range(levels):
        found.append(coefficients_of(found[-1], length, border))
    return tuple(found)


def most_levels(n: int, length: int) -> int:
    """The maximum number of levels for an axis of n samples: as pywt.dwt_max_level, for which no detail depends only on
    the boundary extension, but at least one. So axes of 1 and 2 samples have one level."""
    level = 1
    while n >= (length - 1) << (level + 1):
        level += 1
    return level


def spatial(task: Task) -> tuple[int, ...]:
    """The extents of the axes that are transformed."""
    return task.meta.of_kind.spatial(task.meta.shape)


def sizes(task: Task) -> tuple[tuple[int, ...], ...]:
    """For level 0, 1, … `levels` the extents of the approximation along each axis; level 0 is the input."""
    params = task.params
    length = LENGTHS[params["wavelet"]]
    return tuple(zip(*(extents(n, length, params["levels"], params["border"]) for n in spatial(task)), strict=True))


def bands_of(task: Task) -> tuple[Band, ...]:
    """The bands of the pyramid: the approximation, then the details from the last level to level 1; of images in the
    order horizontal, vertical, diagonal, which PyWavelets calls da, ad, dd along (y, x)."""
    return _bands(sizes(task))


@lru_cache(64)
def _bands(shapes: tuple[tuple[int, ...], ...]) -> tuple[Band, ...]:
    last, rank = len(shapes) - 1, len(shapes[0])
    found = [Band(last, "approximation", (0,) * rank, shapes[last])]
    start = shapes[last]
    kinds = {"detail": (1,)} if rank == 1 else {"horizontal": (1, 0), "vertical": (0, 1), "diagonal": (1, 1)}
    for level in range(last, 0, -1):
        for name, detail in kinds.items():
            place = tuple(s * d for s, d in zip(start, detail, strict=True))
            found.append(Band(level, name, place, shapes[level]))
        start = tuple(s + n for s, n in zip(start, shapes[level], strict=True))
    return tuple(found)


def pyramid_shape(task: Task) -> tuple[int, ...]:
    """The shape of the pyramid's array, channels last as in the input."""
    shapes = sizes(task)
    whole = tuple(shapes[-1][axis] + sum(s[axis] for s in shapes[1:]) for axis in range(len(shapes[0])))
    return whole + task.meta.shape[len(whole) :]


def real_type(task: Task) -> np.dtype[Any]:
    """float64 for float64, float32 for all others: the type of values that are no longer integers."""
    return np.dtype(np.float64 if task.meta.dtype == "float64" else np.float32)


def work_type(task: Task) -> np.dtype[Any]:
    """The type of the coefficients, in which everything is computed. It is float64 also if the result is discontinuous:
    a hard threshold and the minimum risk of SURE may change by a rounding error of float32, which keeps or removes a
    coefficient."""
    jumps = task.params["threshold"] == "hard" or task.params["rule"] == "SURE"
    return np.dtype(np.float64) if jumps else real_type(task)


def pyramid_form(task: Task) -> Form:
    axes = [Axis("row"), Axis("column")] if task.meta.of_kind.rank == 2 else [Axis("coefficient")]
    shape = pyramid_shape(task)
    axes += [Axis(CHANNEL)] * (len(shape) - len(axes))
    return Form(shape, work_type(task).name, tuple(axes), bands_of(task))


def noise_form(task: Task) -> Form:
    form = form_of_input(task)
    return Form(form.shape, real_type(task).name, form.axes)


def figures_form(task: Task) -> Form:
    """The noise estimate, then the threshold of each band of details, in the pyramid's order; a column per channel."""
    details = bands_of(task)[1:]
    names = [
        f"threshold of level {b.level}" + ("" if b.orientation == "detail" else f" {b.orientation}") for b in details
    ]
    rows = Axis("figure", labels=("noise estimate", *names))
    channels = task.meta.shape[task.meta.of_kind.rank :]
    return Form((len(details) + 1, *channels), "float64", (rows,) + (Axis(CHANNEL),) * len(channels))


def rounding(task: Task, kind: np.dtype[Any]) -> float:
    """Half an ulp of a type per tap, axis and level, forward and inverse. Measured errors are far smaller."""
    params = task.params
    steps: int = params["levels"] * task.meta.of_kind.rank * LENGTHS[params["wavelet"]]
    return steps * float(np.finfo(kind).eps)


def growth(task: Task) -> float:
    """The ratio of the errors of samples to `rounding`: the mean over the levels of the synthesis gain of their errors.
    Errors of taps have random signs, which compensates the first factor of two; no orthogonal wavelet has much more."""
    gains, levels, rank = gains_of(task.params["wavelet"]), int(task.params["levels"]), task.meta.of_kind.rank
    further = max(gains[-1] / gains[-2], 1.0) ** np.arange(1, max(levels - len(gains), 0) + 1)
    each = np.concatenate([gains[:levels], gains[-1] * further])
    return float(np.mean(np.maximum(each / 2, 1.0) ** rank))


def floats_tolerance(task: Task) -> float:
    """Rounding, and that of the thresholds, amplified by the synthesis."""
    steep = STEEP if task.params["rule"] == "BayesShrink" else 1
    return rounding(task, real_type(task)) * growth(task) * steep


def result_tolerance(task: Task) -> float:
    """As floats_tolerance. For integers half a level, because they are rounded, plus rounding errors: those of the
    steps have random signs, so they grow as the square root of their number; twice the largest measured error is
    allowed."""
    most = floats_tolerance(task)
    if task.dtype.kind != "u":
        return most
    eps = float(np.finfo(real_type(task)).eps)
    return 0.5 / int(np.iinfo(task.dtype).max) + min(most, most * 4 / math.sqrt(rounding(task, real_type(task)) / eps))


def coefficient_tolerance(task: Task) -> float:
    """Relative to the largest coefficient."""
    return rounding(task, work_type(task))


def figures_tolerance(task: Task) -> float:
    """A threshold is up to sqrt(2 ln N) / 0.67449 times the median from which it is computed; see also STEEP."""
    return 10 * rounding(task, real_type(task))


def outputs(kind: Kind) -> tuple[Output, ...]:
    """The outputs of the filter for signals or for images."""
    return (
        Output(kind, INPUT_KINDS[kind].view, "", result_tolerance, unrounded=True),
        Output("noise", INPUT_KINDS[kind].view, "", floats_tolerance, form=noise_form, when=PARTS, signed=True),
        Output(
            "coefficients",
            "pyramid",
            "",
            coefficient_tolerance,
            form=pyramid_form,
            own_scale=True,
            when=PARTS,
        ),
        Output("figures", "table", "", figures_tolerance, form=figures_form, when=PARTS),
    )


def check(task: Task) -> None:
    """Raises ParamError for more levels than the shorter axis supports."""
    params, n = task.params, min(spatial(task))
    length = LENGTHS[params["wavelet"]]
    most = most_levels(n, length)
    if params["levels"] > most:
        what = (
            f"a signal of {n:,} samples"
            if task.meta.kind == "signal"
            else f"an image whose shorter side is {n:,} pixels"
        )
        fewer = f"1 to {most} levels" if most > 1 else "1 level"
        shorter = ", a shorter wavelet such as haar" if length > 2 else ""
        raise ParamError(
            f"levels {params['levels']} is too many for {what} with {params['wavelet']} ({length} taps); "
            f"choose {fewer}{shorter} or a larger input."
        )


def largest(task: Task) -> float:
    """The largest magnitude of samples for which no coefficient and no sum overflows."""
    steps = task.params["levels"] * task.meta.of_kind.rank
    return top(work_type(task).name) / float(gain_of(task.params["wavelet"]) ** steps)


def work(task: Task) -> Work:
    """One read and one write of every value; a multiplication and an addition per tap and coefficient, forward and
    inverse, for each shift."""
    meta, params, given = task.meta, task.params, task.params["result"] == "parts"
    pairs = sum(int(np.prod(s)) for s in sizes(task)[:-1]) * meta.channels * meta.of_kind.rank
    written = meta.nbytes
    if given:
        forms = (noise_form(task), pyramid_form(task), figures_form(task))
        written += sum(int(np.prod(f.shape)) * np.dtype(f.dtype).itemsize for f in forms)
    return Work(meta.nbytes, written, 4 * pairs * LENGTHS[params["wavelet"]] * params["shifts"])

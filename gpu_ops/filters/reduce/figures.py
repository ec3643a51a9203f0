"""The statistics of a reduction: the table that every variant returns, and the accuracy of each statistic.

A channel of a signal, or a colour of an image and its alpha, is reduced separately. Sums of integers are exact in
uint64, and extremes have the samples' type. Means and variances, sums of floats, and everything in the table of all
statistics are float64, which represents every sum of integers that an input can have. The variance is the population
variance. NaN propagates to every statistic of its channel as in NumPy; an infinite sample makes the variance NaN.

A sum of n numbers x has an error of at most k·u·Σ|x|, where u = 2^-53 and k is the length of the longest chain of
additions: about log2 n for a tree, n for a loop. In compensated summation, the error of each addition is accumulated as
well: what remains is rounding the sum itself, 2u·|Σx|, and the error of accumulating the errors, of the order of
(n·u)²·Σ|x| (Ogita, Rump and Oishi 2005). If terms cancel, that is far less than k·u·Σ|x|.

A variance has an error of k·u of itself from its k additions, plus the effect of errors of the mean: for a mean that is
updated incrementally, a share of k·u·deviation · root mean square, which grows with the mean (Chan, Golub and LeVeque
1983). At most ONE_WAY of these are counted: the errors of a longer chain have random signs and grow as its square root.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.errors import ParamError
from gpu_ops.output_kinds import CHANNEL, Axis, Form
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]

FIGURES = ("sum", "min", "max", "mean", "variance")
STATISTICS = (*FIGURES, "all")
"""The values of the parameter; their indices are their codes in kernels."""
COLOURS = ("red", "green", "blue", "alpha")
SUMS = ("sum", "mean", "all")
"""The statistics that add samples."""
SPREADS = ("variance", "all")
"""The statistics that add squares."""
UNIT = 2.0**-53
"""Half the distance from 1 to the next float64: the largest relative rounding error of an operation."""
MOST = 2**32
"""The maximum samples per channel: the sum of this number of 16-bit squares is below 2^64."""
CHUNK = 1 << 20
ONE_WAY = 4096
"""The number of roundings of a mean assumed to have the same sign: more than the square root of any number of
samples."""


def wanted(task: Task) -> tuple[str, ...]:
    """The requested statistics, in order."""
    statistic = task.params["statistic"]
    return FIGURES if statistic == "all" else (statistic,)


def samples(task: Task) -> int:
    """Samples of a channel."""
    return task.meta.size // task.meta.channels


def is_compensated(task: Task) -> bool:
    """Whether sums of floats are compensated: integers need no compensation."""
    params = task.params
    return params["compensated"] == "pairs" and params["statistic"] in SUMS and task.dtype.kind == "f"


def table_form(task: Task) -> Form:
    """(figures,) of one channel, (figures, channels) of several: a row per statistic, a column per channel."""
    statistic, channels = task.params["statistic"], task.meta.channels
    dtype = "float64"
    if statistic in ("min", "max"):
        dtype = task.meta.dtype
    elif statistic == "sum" and task.dtype.kind == "u":
        dtype = "uint64"
    rows = Axis("figure", labels=wanted(task))
    if channels == 1:
        return Form((len(wanted(task)),), dtype, (rows,))
    labels = COLOURS[:channels] if task.meta.kind == "image" else ()
    return Form((len(wanted(task)), channels), dtype, (rows, Axis(CHANNEL, labels=labels)))


def check(task: Task) -> None:
    """Raises ParamError for an input without samples, and for more samples than the sums of squares can represent."""
    if not task.meta.size:
        raise ParamError("An input without samples has no sum, extremes or mean: choose one that has some.")
    if samples(task) > MOST:
        raise ParamError(
            f"A reduction takes up to {MOST:,} samples of a channel, this input has {samples(task):,}: cut it."
        )


def scales(task: Task, tolerance: float) -> Array:
    """The scale of a variant's tolerance for each statistic, in the form of the table, from the samples on the host; 1
    if samples are infinite or NaN, because then nothing is rounded; at least the smallest normal number."""
    own = 4.0 if task.params["statistic"] == "all" and task.dtype.kind == "f" else 1.0  # `loss` is that of variances

    def scale(name: str, of: Parts) -> float:
        if name == "variance":
            of_mean = min(ONE_WAY * 4 * UNIT / tolerance, 1.0) if task.dtype.kind == "f" else 1.0
            return max(of.deviation**2, of_mean * of.deviation * of.root) + UNIT * of.root**2
        if name in ("min", "max"):
            return of.largest * UNIT  # they are not rounded
        share = 1 / of.many if name == "mean" else 1.0
        if is_compensated(task):
            return (2 * UNIT * abs(of.total) + (2 * of.many * UNIT) ** 2 * of.magnitudes) * share / tolerance
        return of.magnitudes * share / own

    table = _table(task, scale)
    table[~np.isfinite(table)] = 1.0
    return np.maximum(table, np.finfo(np.float64).smallest_normal)


def figure_sizes(task: Task) -> Array:
    """The possible size of each statistic, relative to which its tolerance must be small: for a sum the sum of the
    magnitudes, for a variance the variance. Constant samples have a variance of 0 except for the rounding of their
    mean: there any relative error is large."""

    def size(name: str, of: Parts) -> float:
        if name == "variance":
            return of.deviation**2 if of.deviation > 4 * UNIT * of.root else math.inf
        return of.largest if name in ("min", "max") else of.magnitudes / (of.many if name == "mean" else 1)

    table = _table(task, size)
    return np.where(table > 0, table, np.inf)  # sums of zeros are exact


class Parts(NamedTuple):
    """For a channel: the number of samples, the largest magnitude, the sum of the samples and of their magnitudes, the
    root mean square, and the standard deviation. The last two are 0 if no variance is requested."""

    many: int
    largest: float
    total: float
    magnitudes: float
    root: float
    deviation: float


def _table(task: Task, number: Callable[[str, Parts], float]) -> Array:
    """A number for each statistic of each channel, in the form of the table; 1 if all is exact."""
    names, exact = wanted(task), task.dtype.kind == "u" or task.params["statistic"] in ("min", "max")
    table = np.ones((len(names), task.meta.channels))
    if not exact or "variance" in names:
        for c, values in enumerate(task.x.reshape(-1, task.meta.channels).T):
            parts = _parts(values, "variance" in names)
            with np.errstate(over="ignore", invalid="ignore"):
                table[:, c] = [number(name, parts) for name in names]
    return table.reshape(table_form(task).shape)


def _parts(values: Array, spread: bool) -> Parts:
    size, magnitudes, total, mean, deviation = _sizes(values, spread)
    numbers = map(np.float64, (size, total * size, magnitudes * size, math.hypot(mean, deviation), deviation))
    return Parts(len(values), *numbers)


def _sizes(values: Array, spread: bool) -> tuple[float, float, float, float, float]:
    """The largest magnitude or 1, the sums of the magnitudes and of the samples divided by it, mean and standard
    deviation; the last two are 0 if they are not requested."""
    chunks = [values[first : first + CHUNK].astype(np.float64) for first in range(0, len(values), CHUNK)]
    with np.errstate(invalid="ignore", over="ignore"):
        size = max(float(np.abs(chunk).max()) for chunk in chunks) or 1.0
        magnitudes = math.fsum(float(np.sum(np.abs(chunk / size))) for chunk in chunks)
        total = math.fsum(float(np.sum(chunk / size)) for chunk in chunks)
        if not spread or not math.isfinite(size):
            return size, magnitudes, total, 0.0, 0.0
        mean = total / len(values)
        squares = math.fsum(float(np.sum((chunk / size - mean) ** 2)) for chunk in chunks)
    return size, magnitudes, total, mean * size, math.sqrt(squares / len(values)) * size


def levels(n: int) -> int:
    """The depth of a tree over n numbers: the base-2 logarithm, rounded up."""
    return max(n - 1, 0).bit_length()


def loss(chain: Callable[[Task], float]) -> Callable[[Task], float]:
    """The tolerance of a variant whose longest chain of additions is `chain(task)` long."""

    def tolerance(task: Task) -> float:
        statistic, k = task.params["statistic"], chain(task) + 8
        if statistic in ("min", "max") or (task.dtype.kind == "u" and statistic == "sum"):
            return 0.0
        if task.dtype.kind == "u":
            return 8 * UNIT + (k * UNIT if statistic in SPREADS else 0.0)
        if is_compensated(task) and statistic != "all":
            return 2 * UNIT
        return (4 if statistic in SPREADS else 1) * k * UNIT

    return tolerance


def tree(task: Task) -> float:
    """The longest chain of additions in a tree over all samples of a channel, whose last levels may add twice."""
    return 2.0 * levels(samples(task))


def sequential_chain(task: Task) -> float:
    """The longest chain of additions in a loop over all samples of a channel, which are added in that order also with
    compensation."""
    return float(samples(task))


def largest(task: Task) -> float:
    """The largest magnitude of float64 for which no sum and no square overflows; float32 is added in float64."""
    statistic, n = task.params["statistic"], samples(task)
    if task.meta.dtype != "float64" or statistic in ("min", "max"):
        return math.inf
    most = float(np.finfo(np.float64).max) / (n + 2)
    return math.sqrt(most) / 2 if statistic in SPREADS else most / 2

"""The figures of a reduction: the table that every variant gives, and how exact its figures are.

A channel of a signal, or a colour of an image with its alpha, is reduced by itself. Sums of integers are exact in
uint64, and extremes have the samples' type. Means and variances, sums of floats, and everything in the table of all
figures are float64, which holds every sum of integers that an input has. The variance is that of all samples, divided
by their number. NaN goes into every figure of its channel as in NumPy; an infinite sample makes the variance NaN.

A sum of n numbers x has an error of at most k·u·Σ|x|, where u = 2^-53 and k is the length of the longest chain of
additions: about log2 n of a tree, n of a loop. Compensated, each addition's error is added up beside the sum, and
2u·Σ|x| is left, with (k·u)² of the same. Variances are relative to deviation · root of the mean square, by which a
large mean harms an update of mean and squares (Chan, Golub and LeVeque 1983).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_ops.errors import ParamError
from gpu_ops.output_kinds import CHANNEL, Axis, Form
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]

FIGURES = ("sum", "min", "max", "mean", "variance")
STATISTICS = (*FIGURES, "all")
"""The values of the parameter, whose places are their codes in kernels."""
COLOURS = ("red", "green", "blue", "alpha")
SUMS = ("sum", "mean", "all")
"""The statistics that add samples."""
SPREADS = ("variance", "all")
"""The statistics that add squares."""
UNIT = 2.0**-53
"""Half the distance of 1 from the next number of float64: the largest relative error of a rounded operation."""
MOST = 2**32
"""Samples of a channel: the sum of the squares of so many of 16 bits is below 2^64."""
CHUNK = 1 << 20


def wanted(task: Task) -> tuple[str, ...]:
    """The figures that a task asks for, in order."""
    statistic = task.params["statistic"]
    return FIGURES if statistic == "all" else (statistic,)


def samples(task: Task) -> int:
    """Samples of a channel."""
    return task.meta.size // task.meta.channels


def is_compensated(task: Task) -> bool:
    """Whether sums of floats carry their errors along: integers have none."""
    params = task.params
    return params["compensated"] == "pairs" and params["statistic"] in SUMS and task.dtype.kind == "f"


def table_form(task: Task) -> Form:
    """(figures,) of one channel, (figures, channels) of several: a row for each figure, a column for each channel."""
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
    """Raises ParamError for an input without samples, and for more than the sums of squares hold."""
    if not task.meta.size:
        raise ParamError("An input without samples has no sum, extremes or mean: choose one that has some.")
    if samples(task) > MOST:
        raise ParamError(
            f"A reduction takes up to {MOST} samples of a channel, this input has {samples(task)}: cut it."
        )


def scales(task: Task) -> Array:
    """The size of what is rounded for each figure, in the form of the table, from the samples on the host: the sum of
    the magnitudes, and so on; 1 where samples are infinite or NaN, for then nothing is rounded."""
    names, exact = wanted(task), task.dtype.kind == "u" or task.params["statistic"] in ("min", "max")
    table = np.ones((len(names), task.meta.channels))
    if exact and "variance" not in names:
        return table.reshape(table_form(task).shape)
    for c, values in enumerate(task.x.reshape(-1, task.meta.channels).T):
        size, magnitudes, mean, deviation = _sizes(values, "variance" in names)
        root = math.hypot(mean, deviation)
        with np.errstate(over="ignore", invalid="ignore"):
            known = {
                "sum": size * magnitudes,
                "min": size,
                "max": size,
                "mean": size * magnitudes / len(values),
                "variance": np.float64(deviation) * root + UNIT * np.float64(root) ** 2,
            }
        table[:, c] = [known[name] for name in names]
    table[~np.isfinite(table)] = 1.0
    return table.reshape(table_form(task).shape)


def _sizes(values: Array, spread: bool) -> tuple[float, float, float, float]:
    """The largest magnitude or 1, the sum of the magnitudes divided by it, mean and deviation; the last two are 0
    where they are not asked for."""
    chunks = [values[first : first + CHUNK].astype(np.float64) for first in range(0, len(values), CHUNK)]
    with np.errstate(invalid="ignore", over="ignore"):
        size = max(float(np.abs(chunk).max()) for chunk in chunks) or 1.0
        magnitudes = math.fsum(float(np.sum(np.abs(chunk / size))) for chunk in chunks)
        if not spread or not math.isfinite(size):
            return size, magnitudes, 0.0, 0.0
        mean = math.fsum(float(np.sum(chunk / size)) for chunk in chunks) / len(values)
        squares = math.fsum(float(np.sum((chunk / size - mean) ** 2)) for chunk in chunks)
    return size, magnitudes, mean * size, math.sqrt(squares / len(values)) * size


def levels(n: int) -> int:
    """Steps of a tree over n numbers: the logarithm to base 2, rounded up."""
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
            return 2 * UNIT + (k * UNIT) ** 2
        return (4 if statistic in SPREADS else 1) * k * UNIT

    return tolerance


def tree(task: Task) -> float:
    """The longest chain of a tree over all samples of a channel, whose last levels may join twice."""
    return 2.0 * levels(samples(task))


def one_by_one(task: Task) -> float:
    """The longest chain of a loop over all samples of a channel; compensated as well, it joins them in that order."""
    return float(samples(task))


def largest(task: Task) -> float:
    """The largest magnitude of float64 with which no sum and no square overflows; float32 is added in float64."""
    statistic, n = task.params["statistic"], samples(task)
    if task.meta.dtype != "float64" or statistic in ("min", "max"):
        return math.inf
    most = float(np.finfo(np.float64).max) / (n + 2)
    return math.sqrt(most) / 2 if statistic in SPREADS else most / 2

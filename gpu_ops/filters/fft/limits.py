"""How exact the results are, and for which samples.

A transform of N values adds log2 N times; each step rounds by half an ulp of what it adds, u = 2^-24 of a float32. The
tolerances are a few times u · log2 N of the largest value, which includes Bluestein's method with its three transforms;
the errors of correct variants stay below half of them. Squares, and a transform followed by its inverse, have twice the
error of one transform.

The error of a phase in radians is the error of its value relative to its magnitude: a value of magnitude a with an
error of a share e of the largest magnitude A has a phase error of at most π/2 · e A / a. At the floor at most
PHASE_TOLERANCE is allowed. Each phase has its own scale, with the tolerance of a transform.

A level is a logarithm: a magnitude a with an error of a share e of the largest one A has an error of 20 log10(1 + e A /
a) dB, at most 8.686 e A / a. Levels are clamped to the floor, so no error is larger than 8.686 e A / 10^(floor / 20).
Each level has its own scale, with the tolerance of a transform; the logarithm's own rounding, which is a few ulps of
the level, is a share of e as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gpu_ops.filters.fft.forms import Array, Cut, full_scale, pieces_of, real_type
from gpu_ops.filters.fft.windows import window
from gpu_ops.filters.kit.ranges import top
from gpu_ops.input_kinds import Kind
from gpu_ops.task import Task
from gpu_ops.types import Rule

PHASE_FLOOR = 1e-5
"""Relative to the largest magnitude: a value below it counts as noise, and its phase is 0."""
PHASE_TOLERANCE = {"float32": 0.05, "float64": 1e-8}
"""The maximum phase error at the floor, as a share of π: errors of 1.5e-6 or 3e-13 of the largest magnitude."""
PEAK_TOLERANCE = {"float32": 2e-3, "float64": 1e-9}
"""Relative to the largest frequency, and to the largest height."""
SMALLEST_BLOCK = 32
"""The minimum threads per block."""
FAST_SINE = math.hypot(2**-21.41, 2**-21.19)
"""The maximum error of a twiddle factor from __sincosf between -π and π, from the CUDA Programming Guide's bounds."""
FAST_SINE_CAVEAT = (
    "twiddles of __sincosf are off by up to 5.5e-7, several times a float's own rounding, and so much more is allowed "
    "for each factor of two of the length"
)


def several_values(kind: Kind, count: Callable[[Task], int]) -> Rule:
    """More than one value enters a coefficient, of which there are `count(task)`: for a single one there is nothing to
    launch."""
    return Rule(
        lambda task: count(task) == 1,
        "one value is its own transform, for which no kernel runs; choose a variant on the CPU",
        {"shape": ((1,),) if kind == "signal" else ((1, 1),)},
    )


def transformed(task: Task) -> int:
    """The number of values that enter one coefficient."""
    if task.meta.of_kind.rank == 2:
        return task.meta.shape[0] * task.meta.shape[1]
    return Cut.of(task).length


def tolerance_of(task: Task, count: int) -> float:
    """The tolerance of one transform of this number of values, relative to the largest magnitude of the result."""
    return 2 * float(np.finfo(real_type(task)).eps) * (math.log2(count) + 4)


def transform_tolerance(task: Task) -> float:
    """The tolerance of one transform, relative to the largest magnitude of the result."""
    return tolerance_of(task, transformed(task))


def square_tolerance(task: Task) -> float:
    """The tolerance of the square of a magnitude, and of a transform followed by its inverse."""
    return 2 * transform_tolerance(task)


def density_tolerance(task: Task) -> float:
    """The tolerance of mean power densities of all segments, or of a ring of bins, which are summed in float64."""
    meta = task.meta
    count = 4 * max(meta.shape[:2]) if meta.of_kind.rank == 2 else Cut.of(task).count
    return square_tolerance(task) + count * float(np.finfo(np.float64).eps)


def fast_sine_error(count: int) -> float:
    """The additional tolerance of twiddle factors by fast sine for a transform of this number of values. The factors of
    a stage of radix R are products of at most log2 R such ones, so that each bit of the length counts once; the four
    more are Bluestein's."""
    return FAST_SINE * (math.log2(count) + 4)


def phase_scales(task: Task, sizes: Array, floor: Array, tolerance: float) -> Array:
    """The error in radians of each phase per error of one largest magnitude; below the floor all phases are 0. `sizes`
    are the magnitudes, `floor` is that of each channel."""
    most = max(float(sizes.max()), float(np.max(floor)), least_spectrum(task))
    enlarged = np.minimum(math.pi / 2 * most / np.maximum(sizes, floor), most_phase(task) / tolerance)
    return np.asarray(np.where(sizes < floor, 1.0, enlarged))


def most_phase(task: Task) -> float:
    """The largest error of a phase, in radians."""
    return math.pi * PHASE_TOLERANCE[real_type(task).name]


def peak_tolerance(task: Task) -> float:
    """Relative to the largest number of each column."""
    return PEAK_TOLERANCE[real_type(task).name]


def largest_peak_scales(task: Task) -> tuple[float, ...]:
    """The largest scale of each column of a table of peaks: that of a frequency allows an error of a quarter of the bin
    spacing, and the rounding of its type, for any number of bins."""
    eps, meta = float(np.finfo(real_type(task)).eps), task.meta
    if meta.of_kind.rank == 2:
        spacings = [(1 / n, 0.5) for n in meta.shape[:2]]
    else:
        cut = Cut.of(task)
        spacings = [(cut.rate / cut.length, cut.rate / 2)]
    frequencies = [(spacing / 4 + eps * highest) / peak_tolerance(task) for spacing, highest in spacings]
    return (*frequencies, math.inf) * meta.channels


def round_trip_tolerance(task: Task) -> float:
    """Relative to the largest sample, or for integers to their range. Integers are recovered exactly as long as no
    error is close to half a level: correct variants stay below half of the allowed error."""
    if task.meta.dtype.startswith("float"):
        return square_tolerance(task)
    most = np.iinfo(task.meta.dtype).max
    return float(np.floor(0.5 + transform_tolerance(task) * most) / most)


def mask_tolerance(task: Task) -> float:
    """Relative to the largest sample. For integers half a level, because they are rounded, and half of what is allowed
    for floats: correct variants stay below that, while a wrong rounding mode errs by a whole level."""
    if task.meta.dtype.startswith("float"):
        return square_tolerance(task)
    return float(0.5 / np.iinfo(task.meta.dtype).max + transform_tolerance(task))


def level_scales(task: Task, sizes: Array) -> Array:
    """The error in dB of each level per error of one largest magnitude, and the level itself. `sizes` are magnitudes,
    relative to full scale, clamped to the floor."""
    most = max(float(sizes.max()), least_magnitude(task) / full_scale(task))
    return np.asarray(20 / math.log(10) * most / sizes + np.abs(20 * np.log10(sizes)))


def phase_floor(task: Task, largest: float) -> float:
    """The magnitude below which a phase is 0: PHASE_FLOOR of the largest, and at least the smallest numbers that a type
    represents without loss of precision."""
    return max(PHASE_FLOOR * largest, transformed(task) * float(np.finfo(real_type(task)).smallest_normal))


def _weights(task: Task) -> tuple[float, float]:
    """The sum of the window and of its squares."""
    if task.meta.of_kind.rank == 1:
        windows = [Cut.of(task).weights]
    else:
        windows = [window(task.params.get("window", "none"), n) for n in task.meta.shape[:2]]
    return math.prod(float(w.sum()) for w in windows), math.prod(float((w * w).sum()) for w in windows)


def mean_additions(count: int) -> float:
    """The longest chain of additions of a value into the mean of this number of values, which is computed in float64
    everywhere: in a thread of the smallest block its share of a piece, then a tree, then all pieces; and the
    division."""
    pieces = pieces_of(count)
    return count / pieces / SMALLEST_BLOCK + 12 + pieces


def _offset(task: Task) -> float:
    """The possible size of the remainder after the mean is subtracted, 0 if it is not: an eighth of the largest sample,
    or more if the roundings of the mean, half an eps of the largest sample each, exceed the tolerance of that."""
    if task.params.get("detrend", "none") == "none":
        return 0.0
    kind, count = np.dtype(task.meta.dtype), transformed(task)
    lost = mean_additions(count) * float(np.finfo(np.float64).eps) / 2
    largest = float(np.iinfo(kind).max) if kind.kind == "u" else task.meta.largest
    return largest * max(1 / 8, lost / transform_tolerance(task))


def _smallest(task: Task) -> float:
    return float(np.finfo(real_type(task)).smallest_normal)


def least_spectrum(task: Task) -> float:
    """The size of the sums that cancel: the mean before it is subtracted; for tiny samples, the smallest sums that a
    type represents without loss of precision."""
    return max(_offset(task) * _weights(task)[0], transformed(task) * _smallest(task))


def least_magnitude(task: Task) -> float:
    """The same of amplitudes."""
    return max(2 * _offset(task), transformed(task) * _smallest(task))


def least_density(task: Task) -> float:
    """The same of power densities."""
    total, squares = _weights(task)
    rate = Cut.of(task).rate if task.meta.of_kind.rank == 1 else 1.0
    return max(2 * (_offset(task) * total) ** 2 / (rate * squares), _smallest(task))


def least_peaks(task: Task) -> float:
    """Tables of peaks have the scale of each column."""
    return _smallest(task)


def largest(task: Task) -> float:
    """The largest magnitude of samples for which no sum, and no requested square, overflows. Bluestein's method has
    sums that exceed those of the samples by the square root of the length."""
    return largest_of(task, transformed(task))


def largest_of(task: Task, count: int) -> float:
    """The same of transforms of so many values."""
    most: float = top(real_type(task).name)
    if task.params.get("result", "") in ("power density", "spectrogram", "radial profile"):
        most = math.sqrt(most)
    return most / (32 * math.pow(count, 1.5))

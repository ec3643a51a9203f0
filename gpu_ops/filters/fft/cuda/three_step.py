"""The variant of the spectrum of a long signal in three launches of short lines instead of two of long ones."""

from __future__ import annotations

from gpu_ops.filters.fft import limits
from gpu_ops.filters.fft.cuda.any_length import MANY_CHANNELS, RADIX, line_of
from gpu_ops.filters.fft.cuda.fast_signal import plan_of
from gpu_ops.filters.fft.cuda.launches import PEAK_FILE, SAMPLES, SPECTRUM, Work
from gpu_ops.filters.fft.cuda.long_signal import CENTRED, FILE, MANY_SEGMENTS, MIDDLE, PACKED, THREADS, Matrix, Parts
from gpu_ops.filters.fft.cuda.long_signal import lines_of as lines_in_a_block
from gpu_ops.filters.fft.cuda.radices import LEAST_THIRD, MOST_PRIME, thirds
from gpu_ops.filters.fft.forms import Cut
from gpu_ops.filters.fft.limits import several_values
from gpu_ops.filters.kit.rules import not_with
from gpu_ops.input_kinds import SIGNAL
from gpu_ops.params import Param
from gpu_ops.plan import Device, Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Rule, Trial, Variant

IDEA = (
    "Three launches of lines near the cube root of a long signal, instead of two near its square root: a block has "
    "many neighbouring lines, and each access is a whole line of the cache."
)
STRIP = Param(
    "strip",
    16,
    choices=(4, 8, 16, 32),
    tries=(4, 16),
    unit="lines",
    help="neighbouring lines per block; twice as many in the last launch, half of whose lines are mirrored ones",
)
LONG = 200_000
"""Samples from which on three launches are faster than two."""


def _of(task: Task) -> Matrix | None:
    """The pairs of samples as a matrix whose rows are matrices; None where there is none."""
    length, radix = Cut.of(task).length, int(task.knobs["radix"])
    parts = thirds(length // 2, radix) if length % 2 == 0 else None
    lines = [line for n in parts or () if (line := line_of(n, radix))]
    return Matrix(length, PACKED, lines[0], lines[2], lines[1]) if len(lines) == 3 else None


def plan(device: Device, task: Task) -> Plan:
    """The mean where it is subtracted, three launches, and what needs all results at once."""
    work, cut, matrix = Work.of(device, task.with_knobs(block=THREADS), "shared"), Cut.of(task), _of(task)
    assert matrix is not None  # the variant supports the length
    parts = Parts(work, cut, matrix)
    return plan_of(work, cut, parts.store, parts.mean)


def operations(task: Task) -> int:
    """Five a complex number and stage."""
    matrix, cut = _of(task), Cut.of(task)
    return cut.count * cut.channels * 5 * matrix.size * (matrix.size.bit_length() - 1) if matrix else 0


def _unsuitable(task: Task) -> int:
    """The length without three parts of which a block can hold lines; 0: it has them."""
    matrix = _of(task)
    lines = ((matrix.columns, False), (matrix.middle, False), (matrix.rows, True)) if matrix else ()
    fits = matrix and all(line and lines_in_a_block(line, task, whole) for line, whole in lines)
    return 0 if fits else Cut.of(task).length


FITS = Rule(
    _unsuitable,
    f"{{found}} samples are not twice a product of three lengths from {LEAST_THIRD} on without a prime factor above "
    f"{MOST_PRIME}; use the variant four_step",
    {"shape": tuple(shape for shape in SIGNAL.shapes if shape != (1024,)), "param result": ("spectrogram",)},
)
THERE = not_with("result", "round trip", words="it does not transform back; use the variant four_step")
TRIALS = (
    Trial((2 * 7 * 8 * 12 * 13, 2), "uint8", "random", {"result": "spectrum", "sides": "two"}),
    Trial((18000,), "float32", "random", {"result": "magnitude", "window": "Hann", "detrend": "constant"}),
    Trial((3 * 1024, 35), "float32", "random", {"result": "power density", "segment": 1024, **CENTRED}),
    Trial((3 * 1024,), "float32", "random", {"result": "spectrogram", "segment": 1024}),
    Trial((1024, 70), "float32", "random", {"result": "magnitude"}),
    Trial((1 << 20,), "float32", "random", {"result": "magnitude", **CENTRED}),
)
"""Several blocks of each launch, of channels and of segments; more channels than a block has threads; values that
several blocks add up and look through."""
SHAPES = (1024,), (1440,), (1536, 2)
"""Lengths that have three parts, which those of signals have not."""
VARIANT = Variant(
    *("three_step", "20 three-step", IDEA, plan, "cuda", (MIDDLE, FILE, SAMPLES, SPECTRUM, PEAK_FILE), (STRIP, RADIX)),
    source="S2",
    rules=(several_values("signal", limits.transformed), THERE, MANY_CHANNELS, MANY_SEGMENTS, FITS),
    largest=limits.largest,
    shapes=SHAPES,
    trials=lambda limits: TRIALS,
    counts=Counts(uncounted="three kernels: one block is not representative of all", operations=operations),
    suits=lambda task: Cut.of(task).length >= LONG,
)

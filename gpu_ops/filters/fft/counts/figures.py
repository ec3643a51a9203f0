"""The source's figures, reproduced from a report: the radix, threads and access, columns, and sizes. Source: S2.

Its values were measured on a Jetson TX2 with points of 8 bytes. Values that it states as a range or a gain are drawn as
such; no points are read off its plots.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpu_ops.filters.fft.counts.figure_sweeps import IMAGES, LINES, SIZES, knob_sweeps, radix_sweeps, size_sweeps
from gpu_ops.filters.fft.counts.figure_times import over_knob, radix_measured, sizes_measured
from gpu_ops.filters.fft.counts.radix import USUAL, WITH_FMA, Gpu
from gpu_ops.types import Figure, Scale, Series

STATED: Final = "published"
PUBLISHED_ON = "Jetson TX2"
WIDTH = 8
"""Bytes of the source's points, two float32."""
MODELLED = tuple(float(1 << bits) for bits in range(1, 9))
"""The radices of the model."""
THREADS, BEST_THREADS = (32, 64, 128, 256, 512, 1024), 256
BITS, COLUMNS = (32, 64, 128), (1, 2, 4, 8, 16)


def radix_model(device: Mapping[str, Any]) -> tuple[Series, ...]:
    """Clock cycles of a multiprocessor per point and stage: for computing, with FMA and without, and for shared
    memory."""
    gpu = Gpu.of(device) or USUAL
    where = gpu.text if gpu.model else f"{gpu.text}: no report here describes a GPU"
    with_fma, without = gpu.with_fma, gpu.without_fma
    clocks = {
        "computing, with FMA": [with_fma.computing(1, radix) for radix in MODELLED],
        "computing, without FMA": [without.computing(1, radix) for radix in MODELLED],
        "waiting for shared memory": [with_fma.waiting(1, WIDTH) for _ in MODELLED],
    }
    return tuple(Series(name, "model", MODELLED, tuple(ys), text=where) for name, ys in clocks.items())


def _base(name: str, x: float) -> Series:
    """The value relative to which gains are given."""
    return Series(name, STATED, (x,), (1.0,), joined=False)


def _scale(of: str, logarithmic: bool = False) -> Scale:
    return Scale("throughput", f"times that {of}", logarithmic=logarithmic)


def _shares(low: float, high: float) -> tuple[float, float]:
    """Gains in percent from some value to the base, as the minimum and maximum share of the base there."""
    return 1 / (1 + high / 100), 1 / (1 + low / 100)


LEAST, MOST = _shares(10.5, 43.5)
AT_BEST = WITH_FMA.waiting(1, WIDTH)

RADIX = Figure(
    "S2-figure-3",
    "S2",
    "figure 3",
    "How long a stage computes and how long it waits, over the radix",
    "A stage of radix R does 5 log2 R operations a point and waits for shared memory, which takes every point in and "
    "out; both in clocks of one multiprocessor. Where they take as long, a larger radix gains no more.",
    Scale("radix R", "points of a butterfly", MODELLED),
    Scale("time of a stage", "clocks a point"),
    PUBLISHED_ON,
    (
        Series(
            "Rx, where both are equal",
            STATED,
            (9.0, 84.0),
            (AT_BEST, AT_BEST),
            joined=False,
            text="about 84 with FMA and 9 without, of 256 operations and 128 bytes per clock, 8 bytes per point",
        ),
    ),
    (LINES,),
    radix_measured,
    radix_sweeps,
    radix_model,
)
THREADS_FIGURE = Figure(
    "S2-figure-6-threads",
    "S2",
    "figure 6",
    "Throughput over the threads of a block",
    "Rows of 1024 points. More threads per block keep more loads on their way, until blocks are so large that few of "
    "them fit a multiprocessor.",
    Scale("threads per block", "", tuple(map(float, THREADS))),
    _scale("at 256 threads"),
    PUBLISHED_ON,
    (
        Series(
            "32 threads",
            STATED,
            (32.0,),
            (LEAST,),
            (MOST,),
            text="stated: +10.5 to +43.5 % from 32 to 256 threads",
        ),
        Series(
            "beyond 256 threads",
            STATED,
            (512.0, 1024.0),
            (1 - 0.114, 1 - 0.114),
            (1 - 0.095, 1 - 0.095),
            text="stated: -9.5 to -11.4 % beyond 256 threads",
        ),
        _base("256 threads", BEST_THREADS),
    ),
    (LINES,),
    over_knob("block", BEST_THREADS),
    knob_sweeps(LINES, "block", THREADS),
)
ACCESS_FIGURE = Figure(
    "S2-figure-6-access",
    "S2",
    "figure 6",
    "Throughput over the width of an access",
    "Rows of 1024 points, read and written by words of 32 bits, points of 64 bits, or two points at once.",
    Scale("width of an access", "bits", tuple(map(float, BITS))),
    _scale("with 32 bits"),
    PUBLISHED_ON,
    (
        Series(
            "64 and 128 bits",
            STATED,
            (64.0, 128.0),
            (1.15, 1.15),
            text="stated: about 15 % more than with 32 bits",
        ),
        _base("32 bits", BITS[0]),
    ),
    (LINES,),
    over_knob("width", BITS[0]),
    knob_sweeps(LINES, "width", BITS, radix=8),
)
COLUMNS_FIGURE = Figure(
    "S2-figure-7",
    "S2",
    "figure 7",
    "Throughput over the columns of a block",
    "Columns of an image of 1024 × 1024 points. Four neighbouring points of 8 bytes fill a sector of 32 bytes; a block "
    "with fewer columns moves bytes that it does not use. Measured times hold the rows as well.",
    Scale("columns per block", "", tuple(map(float, COLUMNS))),
    _scale("with one column"),
    PUBLISHED_ON,
    (
        Series(
            "64 bytes and more",
            STATED,
            (8.0, 16.0),
            (4.0, 4.0),
            text="stated: about 300 % more, and flat from 64 bytes on, 8 columns; 41 GB/s at best, as rows have",
        ),
        _base("one column", COLUMNS[0]),
    ),
    (IMAGES,),
    over_knob("batch", COLUMNS[0]),
    knob_sweeps(IMAGES, "batch", COLUMNS),
)
SIZES_FIGURE = Figure(
    "S2-figure-8",
    "S2",
    "figure 8",
    "Throughput of the whole transform over the size",
    "Square images. A small one leaves most of a GPU idle; cuFFT's curve is that of the variant cuFFT (CuPy).",
    Scale("side of the image", "points", tuple(map(float, SIZES))),
    _scale("at 128 × 128", logarithmic=True),
    PUBLISHED_ON,
    (
        Series(
            "whole transform",
            STATED,
            (128.0, 1024.0, 4096.0),
            (1.0, 5.0, 5.0 * 1.42),
            text="stated: almost 400 % more from 128 to 1024, 42 % more to 4096; the lines only join these three",
        ),
    ),
    (IMAGES,),
    sizes_measured,
    size_sweeps,
)
FIGURES = (RADIX, THREADS_FIGURE, ACCESS_FIGURE, COLUMNS_FIGURE, SIZES_FIGURE)

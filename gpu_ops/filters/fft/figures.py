"""The source's figures, drawn again from a report: the radix, threads and access, columns, and sizes. Source: S2.

Its own values come from a Jetson TX2 and points of 8 bytes. What it states as a range or a gain is drawn as that; no
points are read off its drawings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from gpu_ops.errors import ParamError
from gpu_ops.filters.fft.radix import USUAL, WITH_FMA, Gpu
from gpu_ops.filters.fft.ways import STOCKHAM
from gpu_ops.filters.kit.series import Over, knob_value, largest_jobs, quickest, relative
from gpu_ops.params import Param
from gpu_ops.types import Figure, Filter, Found, Scale, Series, Timed, Variant

WIDTH = 8
"""Bytes of the source's points, two float32."""
STATED: Final = "published"
SIDE = 1024
"""Of the source's images where the size does not vary."""
RADICES = (2, 4, 8, 16)
MODELLED = tuple(float(1 << bits) for bits in range(1, 9))
THREADS, BEST_THREADS = (32, 64, 128, 256, 512, 1024), 256
BITS, COLUMNS = (32, 64, 128), (1, 2, 4, 8, 16)
SIZES = (128, 256, 512, 1024, 2048, 4096)
BLOCK_KNOB, ACCESS_KNOB, COLUMNS_KNOB, RADIX_KNOB = "block", "access", "columns", "radix"
NO_CLOCKS = (
    "The report does not name both the clock and the multiprocessors of its GPU, so its times cannot be told in "
    "clocks; measure again, for reports of this version name them."
)
REPORT = "--json s2.json"
"""All commands write to one report, which grows."""


def counts(filter: str) -> bool:
    """Whether a filter's times count, by its id: those of transforms, with or without what is made of them."""
    return filter.startswith("fft") and filter != "fft_mask"


# ---------------------------------------------------------------- what ran


def extents(time: Timed) -> tuple[int, ...]:
    """The points along each axis of one transform; () where the shape does not tell."""
    both, rank = time.params.get("numbers") == "complex", 2 if time.filter.endswith("2d") else 1
    if len(time.shape) != rank:
        return ()
    *rows, last = time.shape
    sides = (*rows, last // 2 if both else last)
    cut = int(time.params.get("tile" if rank == 2 else "points", 0))
    return (cut,) * rank if cut else sides


def points(time: Timed) -> int:
    """The points that are transformed, as far as their number decides a throughput."""
    return math.prod(time.shape) // (2 if time.params.get("numbers") == "complex" else 1)


def _side(time: Timed) -> float | None:
    """The side of one square transform of a whole image."""
    sides = extents(time)
    whole = len(sides) == 2 and sides[0] == sides[1] and points(time) == sides[0] * sides[1]
    return float(sides[0]) if whole else None


def radix_of(time: Timed) -> float | None:
    """The points of a butterfly; None where the variant has stages of other kinds, or the lines other lengths."""
    way, sides = STOCKHAM.get(time.variant), extents(time)
    if not sides or any(side < 2 or side & (side - 1) for side in sides):
        return None
    if way is None:
        return 2.0 if time.variant == "shared" else None
    return float(way.radix_of(time.knobs))


def stages(time: Timed, radix: float) -> int:
    """The stages along all axes; the last one of an axis may have a smaller radix."""
    return sum(math.ceil(math.log2(side) / math.log2(radix) - 1e-9) for side in extents(time))


# ---------------------------------------------------------------- the radix


def radix_model(device: Mapping[str, Any]) -> tuple[Series, ...]:
    """Clocks of a multiprocessor a point and stage: computing, with fused operations and without, and waiting."""
    gpu = Gpu.of(device) or USUAL
    where = gpu.text if gpu.model else f"{gpu.text}: no report here describes a GPU"
    with_fma, without = gpu.with_fma, gpu.without_fma
    clocks = {
        "computing, with FMA": [with_fma.computing(1, radix) for radix in MODELLED],
        "computing, without FMA": [without.computing(1, radix) for radix in MODELLED],
        "waiting for shared memory": [with_fma.waiting(1, WIDTH) for _ in MODELLED],
    }
    return tuple(Series(name, "model", MODELLED, tuple(ys), text=where) for name, ys in clocks.items())


def radix_measured(times: Sequence[Timed], device: Mapping[str, Any]) -> Found:
    """Kernel times shared out among points and stages, in clocks of a multiprocessor, a line for each variant."""
    usable = largest_jobs([time for time in times if radix_of(time) is not None], points)
    if not usable:
        return Found()
    gpu = Gpu.of(device)
    if gpu is None or not gpu.clocks_a_second:
        return Found(notes=(NO_CLOCKS,))
    series = []
    for name in dict.fromkeys((time.filter, time.variant) for time in usable):
        own = quickest([time for time in usable if (time.filter, time.variant) == name], radix_of)
        clocks = (t.seconds * gpu.clocks_a_second / (points(t) * stages(t, radix)) for radix, t in own.items())
        first = next(iter(own.values()))
        text = f"whole kernel time of {first.filter} {first.variant} shared out among its stages"
        title = first.title if len({time.filter for time in usable}) == 1 else f"{first.title}, {first.filter}"
        series.append(
            Series(title, "measured", tuple(own), tuple(clocks), text=text, filter=first.filter, variant=first.variant)
        )
    return Found(tuple(series), ("Whole kernel times hold global memory and what surrounds the stages as well.",))


# ---------------------------------------------------------------- what varies, over a base


def _relative(name: str, value: Callable[[Timed], float | None], base: float) -> Callable[..., Found]:
    def measured(times: Sequence[Timed], device: Mapping[str, Any]) -> Found:
        return relative(times, Over(name, value, points), base)

    return measured


def sizes_measured(times: Sequence[Timed], device: Mapping[str, Any]) -> Found:
    """Throughput over the size, and how far the library is ahead or behind where both have the largest size."""
    found = relative(times, Over("size", _side, points), float(SIZES[0]))
    library = quickest([time for time in times if time.variant == "cupy"], _side)
    own = [time for time in times if time.variant != "cupy" and _side(time) in library]
    if not own:
        return found
    side = max(_side(time) or 0.0 for time in own)
    best = min((time for time in own if _side(time) == side), key=lambda time: time.seconds)
    ratio = best.seconds / library[side].seconds
    said = f"At {side:g} × {side:g} cuFFT has ×{ratio:.3g} the throughput of {best.title}, the quickest variant there."
    return Found(found.series, (*found.notes, said))


# ---------------------------------------------------------------- commands


def _input(filter: Filter, sizes: Sequence[int]) -> str:
    """The flags of square images of these sizes, or of a signal cut into so many lines; "" for other filters."""
    names = {param.name for param in filter.params}
    if filter.accepts == "image":
        shapes = [f"{n}x{2 * n if 'numbers' in names else n}" for n in sizes]
        over = f"--size {shapes[0]}" if len(shapes) == 1 else f"--over size={','.join(shapes)}"
        return f"--sample noise_image {over} --dtype float32"
    if "points" in names and len(sizes) == 1:
        return f"--sample noise --length {2 * sizes[0] ** 2} --points {sizes[0]} --dtype float32"
    return ""


def _taken(variant: Variant, name: str, values: Sequence[int]) -> tuple[int, ...]:
    """The values that a variant's knob of this name takes; () without one."""
    return tuple(v for knob in variant.knobs if knob.name == name for v in values if _takes(knob, v))


def _takes(knob: Param, value: int) -> bool:
    try:
        knob.check(value)
    except ParamError:
        return False
    return True


def _over_knob(name: str, values: Sequence[int]) -> Callable[[Iterable[Filter]], tuple[str, ...]]:
    """A sweep of each filter for all variants whose knob takes the same values."""

    def sweeps(filters: Iterable[Filter]) -> tuple[str, ...]:
        found = []
        for filter in (f for f in filters if counts(f.id) and _input(f, (SIDE,))):
            groups: dict[tuple[int, ...], list[str]] = {}
            for variant in (v for v in filter.variants if v.device == "cuda"):
                groups.setdefault(_taken(variant, name, values), []).append(variant.id)
            for taken, variants in groups.items():
                if len(taken) > 1:
                    over = f"--over {name}={','.join(map(str, taken))}"
                    what = f"{filter.id} --device cuda:0 --variant {' '.join(variants)}"
                    found.append(f"sweep {what} {_input(filter, (SIDE,))} {over} {REPORT}")
        return tuple(found)

    return sweeps


def radix_sweeps(filters: Iterable[Filter]) -> tuple[str, ...]:
    """Sweeps over the knob, and the variants that have one radix alone."""
    filters = list(filters)
    found = list(_over_knob(RADIX_KNOB, RADICES)(filters))
    for filter in (f for f in filters if counts(f.id) and _input(f, (SIDE,))):
        fixed = [id for id, way in STOCKHAM.items() if way.radix and any(v.id == id for v in filter.variants)]
        if fixed:
            what = f"{filter.id} --device cuda:0 --variant {' '.join(fixed)}"
            found.append(f"bench {what} {_input(filter, (SIDE,))} {REPORT}")
    return tuple(found)


def size_sweeps(filters: Iterable[Filter]) -> tuple[str, ...]:
    """A sweep of all variants on the GPU, the library among them, over square images."""
    wanted = [f for f in filters if counts(f.id) and f.accepts == "image"]
    return tuple(f"sweep {f.id} --device cuda:0 {_input(f, SIZES)} {REPORT}" for f in wanted)


# ---------------------------------------------------------------- the figures


def _scale(of: str, logarithmic: bool = False) -> Scale:
    return Scale("throughput", f"times that {of}", logarithmic=logarithmic)


def _shares(low: float, high: float) -> tuple[float, float]:
    """Gains in percent from some value to the base, as the least and the largest share of the base there."""
    return 1 / (1 + high / 100), 1 / (1 + low / 100)


LEAST, MOST = _shares(10.5, 43.5)
AT_BEST = WITH_FMA.waiting(1, WIDTH)

RADIX = Figure(
    "S2-figure-3",
    "S2",
    "figure 3",
    "How long a stage computes and how long it waits, over the radix",
    "A stage of radix R does 5 log2 R operations a point and waits for shared memory, which takes every point in and "
    "out. Where both take as long, a larger radix gains no more.",
    Scale("radix R", "points of a butterfly", MODELLED),
    Scale("time of a stage", "clocks of a multiprocessor a point"),
    (
        Series(
            "Rx, where both are equal",
            STATED,
            (9.0, 84.0),
            (AT_BEST, AT_BEST),
            joined=False,
            text="stated: about 84 with FMA and 9 without, of 256 operations and 128 bytes a clock, 8 bytes a point",
        ),
    ),
    counts,
    radix_measured,
    radix_sweeps,
    radix_model,
)
THREADS_FIGURE = Figure(
    "S2-figure-6-threads",
    "S2",
    "figure 6, threads",
    "Throughput over the threads of a block",
    "Rows of 1024 points. More threads a block keep more loads on their way, until blocks are so large that few of "
    "them fit a multiprocessor.",
    Scale("threads a block", "", tuple(map(float, THREADS))),
    _scale("at 256 threads"),
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
    ),
    counts,
    _relative(BLOCK_KNOB, knob_value(BLOCK_KNOB), BEST_THREADS),
    _over_knob(BLOCK_KNOB, THREADS),
)
ACCESS_FIGURE = Figure(
    "S2-figure-6-access",
    "S2",
    "figure 6, access",
    "Throughput over the width of an access",
    "Rows of 1024 points, read and written by words of 32 bits, points of 64 bits, or two points at once.",
    Scale("width of an access", "bits", tuple(map(float, BITS))),
    _scale("with 32 bits"),
    (
        Series(
            "64 and 128 bits",
            STATED,
            (64.0, 128.0),
            (1.15, 1.15),
            text="stated: about 15 % more than with 32 bits",
        ),
    ),
    counts,
    _relative(ACCESS_KNOB, knob_value(ACCESS_KNOB), BITS[0]),
    _over_knob(ACCESS_KNOB, BITS),
)
COLUMNS_FIGURE = Figure(
    "S2-figure-7",
    "S2",
    "figure 7",
    "Throughput over the columns of a block",
    "Columns of an image of 1024 × 1024 points. Four neighbouring points of 8 bytes fill a sector of 32 bytes; a block "
    "with fewer columns moves bytes that it does not use.",
    Scale("columns a block", "", tuple(map(float, COLUMNS))),
    _scale("with one column"),
    (
        Series(
            "64 bytes and more",
            STATED,
            (8.0, 16.0),
            (4.0, 4.0),
            text="stated: about 300 % more, and flat from 64 bytes on, 8 columns; 41 GB/s at best, as rows have",
        ),
    ),
    counts,
    _relative(COLUMNS_KNOB, knob_value(COLUMNS_KNOB), COLUMNS[0]),
    _over_knob(COLUMNS_KNOB, COLUMNS),
)
SIZES_FIGURE = Figure(
    "S2-figure-8",
    "S2",
    "figure 8",
    "Throughput of the whole transform over the size",
    "Square images. A small one leaves most of a GPU idle; cuFFT's curve is that of the variant cuFFT (CuPy).",
    Scale("side of the image", "points", tuple(map(float, SIZES))),
    _scale("at 128 × 128", logarithmic=True),
    (
        Series(
            "whole transform",
            STATED,
            (128.0, 1024.0, 4096.0),
            (1.0, 5.0, 5.0 * 1.42),
            text="stated: almost 400 % more from 128 to 1024, 42 % more to 4096; the lines only join these three",
        ),
    ),
    counts,
    sizes_measured,
    size_sweeps,
)
FIGURES = (RADIX, THREADS_FIGURE, ACCESS_FIGURE, COLUMNS_FIGURE, SIZES_FIGURE)

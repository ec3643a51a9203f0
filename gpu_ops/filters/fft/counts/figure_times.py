"""Times of transforms as points of the source's figures: over the radix, a knob, or the size. Source: S2."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from gpu_ops.filters.fft.counts.figure_sweeps import IMAGES, RADIX_2
from gpu_ops.filters.fft.counts.radix import Gpu
from gpu_ops.filters.fft.cuda.radices import MOST_RADIX
from gpu_ops.filters.fft.cuda.ways import STOCKHAM
from gpu_ops.filters.kit.series import Over, fullest, job_of, knob_value, relative, shortest_times
from gpu_ops.types import Found, Series, Timed

FIRST_SIZE = 128
"""The side of the image that all others are compared with."""
LIBRARY = "cupy"
"""The variant that calls cuFFT."""
NO_CLOCKS = (
    "The report does not name both the clock and the multiprocessors of its GPU, so its times cannot be given in "
    "clocks; measure again, for reports of this version name them."
)


def extents(time: Timed) -> tuple[int, ...]:
    """The points along each axis of one transform of a batch; () if there are channels, which the figures do not
    cover."""
    rank, both = (2 if time.filter == IMAGES else 1), time.params.get("numbers", "complex") == "complex"
    if len(time.shape) != rank:
        return ()
    *rows, last = time.shape
    sides = (*rows, last // 2 if both else last)
    cut = int(time.params.get("tile" if rank == 2 else "points", 0))
    return (cut,) * rank if cut else sides


def points(time: Timed) -> int:
    """The number of transformed points, which determines the throughput."""
    return math.prod(time.shape) // (2 if time.params.get("numbers", "complex") == "complex" else 1)


def side(time: Timed) -> float | None:
    """The side of one square transform of a whole image."""
    sides = extents(time)
    whole = len(sides) == 2 and sides[0] == sides[1] and points(time) == sides[0] * sides[1]
    return float(sides[0]) if whole else None


def radix_of(time: Timed) -> float | None:
    """The maximum number of points of a butterfly; None if a variant has other stages, or the lines other lengths."""
    way, sides = STOCKHAM.get(time.variant), extents(time)
    if not sides or any(n < 2 or n & (n - 1) for n in sides) or time.params.get("numbers", "complex") != "complex":
        return None
    if way is not None:
        return float(way.radix_of(time.knobs))
    if time.variant == RADIX_2:
        return 2.0
    # Above MOST_RADIX the knob applies to longer lines than the figures have.
    return float(min(int(time.knobs["radix"]), MOST_RADIX)) if "radix" in time.knobs else None


def stages(time: Timed, radix: float) -> int:
    """The number of stages along all axes; the last one of an axis may have a smaller radix."""
    return sum(math.ceil(math.log2(n) / math.log2(radix) - 1e-9) for n in extents(time))


def radix_measured(times: Sequence[Timed], device: Mapping[str, Any]) -> Found:
    """Kernel times per point and stage, in clock cycles of a multiprocessor; a line per variant on the input with the
    most of them. Of times with different other knobs the shortest is used."""
    groups: dict[Hashable, list[Timed]] = {}
    for time in (time for time in times if radix_of(time) is not None):
        groups.setdefault((job_of(time), time.variant), []).append(time)
    lines = fullest([shortest_times(group, radix_of) for group in groups.values()], points)
    if not lines:
        return Found()
    gpu = Gpu.of(device)
    if gpu is None or not gpu.clocks_a_second:
        return Found(notes=(NO_CLOCKS,))
    series = []
    for line in lines:
        clocks = (t.seconds * gpu.clocks_a_second / (points(t) * stages(t, radix)) for radix, t in line.items())
        first = next(iter(line.values()))
        sides = " × ".join(map(str, reversed(extents(first))))
        text = f"whole kernel time of {first.filter} {first.variant}, {sides} points, shared out among its stages"
        series.append(
            Series(
                first.title,
                "measured",
                tuple(line),
                tuple(clocks),
                text=text,
                filter=first.filter,
                variant=first.variant,
            )
        )
    return Found(tuple(series), ("Whole kernel times hold global memory and what surrounds the stages as well.",))


def over_knob(name: str, base: int) -> Callable[[Sequence[Timed], Mapping[str, Any]], Found]:
    """Throughput over a knob, relative to that at `base`."""

    def measured(times: Sequence[Timed], device: Mapping[str, Any]) -> Found:
        return relative(times, Over(name, knob_value(name), points), float(base))

    return measured


def sizes_measured(times: Sequence[Timed], device: Mapping[str, Any]) -> Found:
    """Throughput over the size, and how far the library is ahead or behind on the largest image that both have."""
    found = relative(times, Over("size", side, points), float(FIRST_SIZE))
    whole = sorted((time for time in times if side(time)), key=points, reverse=True)
    for library in (time for time in whole if time.variant == LIBRARY):
        own = [time for time in whole if time.variant != LIBRARY and job_of(time) == job_of(library)]
        if own:
            best = min(own, key=lambda time: time.seconds)
            edge, ratio = side(library), best.seconds / library.seconds
            said = f"At {edge:g} × {edge:g} points cuFFT has ×{ratio:.3g} the throughput of {best.title}, the quickest "
            return Found(found.series, (*found.notes, f"{said}variant of {library.filter}."))
    return found

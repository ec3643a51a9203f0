"""Sweeps of transfers as figures, and streams × chunks as a grid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpu_ops.explaining.figures import DrawnFigure
from gpu_ops.explaining.spans import rates_text
from gpu_ops.explaining.transfers.catalogue import CHAINED, HOST_KINDS, KINDS, MANAGED, SIZES
from gpu_ops.explaining.transfers.rates import fitted_lock, recorded_sweeps
from gpu_ops.explaining.transfers.sweep import Point, TransferSweep
from gpu_ops.statements import Basis
from gpu_ops.types import Figure, Found, Scale, Series

FILTER = "transfer2d"
"""Its variants give the lines their looks."""
COPIES = tuple(1 << power for power in range(9))
GB, MS, MICRO, KIB, GIB = 1e9, 1e3, 1e-6, 1 << 10, 1 << 30
TEXTS = {
    "streams": "Chunks of the input take turns in streams: upload, kernel and download of different chunks overlap.",
    "residency": "Filters one after the other: with one upload and one download in all, or with a round trip for each.",
    "memory": "Copies between the device and each kind of host memory; both at once counts the bytes of both.",
    "registering": "Page-locking existing memory takes time once; each copy from it is faster afterwards.",
    "pinning": "Locked memory is not there for others: a workload of the host, while more and more of it is locked.",
}
WAYS = {"resident": "one upload and download", "round trips": "a round trip for each filter"}
KIND_NAMES = {"prefetched": "managed, prefetched"}


@dataclass(frozen=True)
class Grid:
    """Values over streams (rows) and chunks (columns), None where there is none; `best` is the place of the shortest
    time, or of the most overlap."""

    streams: tuple[int, ...]
    chunks: tuple[int, ...]
    values: tuple[tuple[float | None, ...], ...]
    unit: str
    best: tuple[int, int]


def grid_of(sweep: TransferSweep, part: str) -> Grid:
    """The `time` or the `overlap` of a sweep over streams and chunks."""
    streams, chunks = (tuple(sorted({point[name] for point in sweep.points})) for name in ("streams", "chunks"))
    known = {(point["streams"], point["chunks"]): point[part] for point in sweep.points}
    values = tuple(tuple(known.get((s, c)) for c in chunks) for s in streams)
    first = (min if part == "time" else max)(known, key=lambda place: known[place])
    return Grid(
        streams, chunks, values, sweep.unit if part == "time" else "", (streams.index(first[0]), chunks.index(first[1]))
    )


def origin(sweep: TransferSweep) -> str:
    """Where the times come from, in a few words."""
    if sweep.basis == "measured":
        return sweep.machine or "this machine"
    if sweep.rates is None:
        return "order alone, a step on the whole input as long as the others"
    return rates_text(sweep.rates)


def draw_sweep(sweep: TransferSweep, part: str = "") -> DrawnFigure:
    """A sweep as a figure, or the named part of it. Streams × chunks is a grid as well, see `grid_of`."""
    kind = KINDS[sweep.id]
    part = part or next(iter(kind.parts), "")
    drawing = _DRAWN[sweep.id](sweep, part)
    title = f"{kind.title}: {part}" if part else kind.title
    text = " ".join(filter(None, [TEXTS[sweep.id], f"Here: {sweep.subject}." if sweep.subject else ""]))
    figure = Figure(f"S1-{sweep.id}", "S1", "chapter 5", title, text, drawing.x, drawing.y, "", (), (), _nothing, _none)
    notes, series = (*drawing.notes, *sweep.notes), tuple(drawing.series)
    return DrawnFigure(figure, series, notes, "", origin(sweep), marks=tuple(drawing.marks))


def recorded_figures() -> tuple[DrawnFigure, ...]:
    """The sweeps that were recorded, each of their parts as a figure."""
    found = recorded_sweeps().values()
    return tuple(draw_sweep(one, part) for one in found for part in KINDS[one.id].parts or ("",))


Mark = tuple[float, float, str]


class Drawing(NamedTuple):
    """Axes, series, notes, and marked places of a figure."""

    x: Scale
    y: Scale
    series: list[Series]
    notes: list[str] = []
    marks: list[Mark] = []


def _series(sweep: TransferSweep, name: str, points: Iterable[tuple[float, float]], variant: str) -> Series:
    xs, ys = zip(*points, strict=True)
    basis: Basis = "measured" if sweep.basis == "measured" else "predicted"
    return Series(name, basis, tuple(xs), tuple(ys), filter=FILTER, variant=variant)


def _streams(sweep: TransferSweep, part: str) -> Drawing:
    x = Scale("chunks", "", tuple(sorted({point["chunks"] for point in sweep.points})))
    factor, unit = (MS, "ms") if sweep.unit == "s" else (1.0, sweep.unit)
    y = Scale("time", unit, logarithmic=False) if part == "time" else Scale("overlap", logarithmic=False)
    scale = factor if part == "time" else 1.0
    series = []
    for count in sorted({point["streams"] for point in sweep.points}):
        own = [(point["chunks"], point[part] * scale) for point in sweep.where(streams=count)]
        series.append(_series(sweep, f"{count} streams" if count > 1 else "1 stream", own, "streams"))
    return Drawing(x, y, series)


def _residency(sweep: TransferSweep, part: str) -> Drawing:
    factor, unit = (MS, "ms") if sweep.unit == "s" else (1.0, sweep.unit)
    x = Scale("filters", "", (1, 2, 4, 6, 8, 10, 12, 14, 16), logarithmic=False)
    series, notes = [], []
    for kind in CHAINED:
        most = {}
        for way, name in WAYS.items():
            own = [(point["filters"], point["time"] * factor) for point in sweep.where(memory=kind, way=way)]
            series.append(_series(sweep, f"{kind}, {name}", own, kind))
            most[way] = own[-1]
        gain = most["round trips"][1] / most["resident"][1]
        notes.append(
            f"{most['resident'][0]} filters on {kind} memory: {gain:.1f} times faster with one upload and download."
        )
    return Drawing(x, Scale("time", unit, logarithmic=False), series, notes)


def _memory(sweep: TransferSweep, part: str) -> Drawing:
    sizes = sorted({point["nbytes"] / KIB for point in sweep.points})
    series = []
    for kind in HOST_KINDS:
        own = sweep.where(memory=kind, direction=part)
        rates = sorted((point["nbytes"] / KIB, rate_of(point)) for point in own)
        name, variant = KIND_NAMES.get(kind, kind), "managed" if kind in MANAGED else kind
        series += [_series(sweep, name, rates, variant)] if rates else []
    x = Scale("size, each way" if part == "both" else "size", "KiB", tuple(sizes))
    return Drawing(x, Scale("rate", "GB/s"), series)


def rate_of(point: Point) -> float:
    """The rate of a copy in GB/s; of both at once that of both together."""
    return float(point["nbytes"]) * (2 if point["direction"] == "both" else 1) / float(point["time"]) / GB


def _registering(sweep: TransferSweep, part: str) -> Drawing:
    point = next(one for one in sweep.points if one["nbytes"] == SIZES[part])
    even = crossing(point)
    counts = sorted({*COPIES, *([even] if even is not None and COPIES[0] < even < COPIES[-1] else [])})
    lines: Mapping[str, Sequence[tuple[float, float]]] = {
        "pageable": [(n, n * point["pageable"] * MS) for n in counts],
        "registered": [(n, (point["locking"] + n * point["registered"]) * MS) for n in counts],
    }
    series = [_series(sweep, f"{kind} memory", own, kind) for kind, own in lines.items()]
    marks: list[Mark] = []
    if even is not None and even in counts:
        marks.append((even, even * point["pageable"] * MS, f"break-even, {even:.1f} copies"))
    notes = [registering_break_even(sweep)]
    if sweep.rates is not None:
        notes.append(f"{_lock_text(sweep.rates.lock_latency, sweep.rates.locking)}.")
    elif len(sweep.points) > 2:
        lock = fitted_lock(sweep.points)
        notes.append(f"{_lock_text(lock.latency, lock.rate)}, which is within {lock.within:.0%} of each measured time.")
    return Drawing(Scale("copies", "", COPIES), Scale("time", "ms"), series, notes, marks)


def _lock_text(latency: float, rate: float) -> str:
    return f"Page-locking is taken to be {latency / MICRO:.3g} µs for each lock and its bytes at {rate / GB:.3g} GB/s"


def crossing(point: Point) -> float | None:
    """The number of copies at which both take as long, which need not be whole; None where a copy is no faster."""
    saved = point["pageable"] - point["registered"]
    return float(point["locking"] / saved) if saved > 0 else None


def break_even(point: Point) -> int | None:
    """From how many copies on registering the memory takes less time in all; None where a copy is no faster."""
    even = crossing(point)
    return None if even is None else math.floor(even) + 1


def registering_break_even(sweep: TransferSweep) -> str:
    """From how many copies on registering pays, at each size."""
    names = {nbytes: name for name, nbytes in SIZES.items()}
    known = [(names[point["nbytes"]], break_even(point)) for point in sweep.points]
    return (
        "Registering pays: "
        + "; ".join(f"{name} {'never' if n is None else f'from {n} on'}" for name, n in known)
        + "."
    )


def _pinning(sweep: TransferSweep, part: str) -> Drawing:
    points = sweep.points[:-1]
    line = _series(sweep, "median", [(p["locked"] / GIB, p["time"] * MS) for p in points], "serial")
    xs = tuple(p["locked"] / GIB for p in points)
    ends = [tuple(p[name] * MS for p in points) for name in ("q1", "q3")]
    band = Series("quartiles", "measured", xs, ends[0], ends[1], filter=FILTER, variant="serial")
    x = Scale("locked memory", "GiB", xs, logarithmic=False)
    return Drawing(x, Scale("time", "ms", logarithmic=False), [band, line])


_DRAWN = {
    "streams": _streams,
    "residency": _residency,
    "memory": _memory,
    "registering": _registering,
    "pinning": _pinning,
}


def _nothing(times: Any, device: Any) -> Found:
    return Found()


def _none(filters: Any) -> tuple[str, ...]:
    return ()

"""Sweeps of transfers as tables: kinds of memory, streams × chunks, residency, registering, locked memory."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from gpu_ops.cli import streams
from gpu_ops.cli.figures import check_picture
from gpu_ops.cli.inputs import check_flags, make_job
from gpu_ops.cli.measure import emit
from gpu_ops.cli.models import chosen_device, queues_of, rates_of
from gpu_ops.cli.tables import align, seconds
from gpu_ops.errors import ParamError, counted, plain
from gpu_ops.explaining.transfers import pinning
from gpu_ops.explaining.transfers.catalogue import CHAINED, DIRECTIONS, FAMILY, GRID, HOST_KINDS, KINDS, Kind, size_text
from gpu_ops.explaining.transfers.figures import (
    KIND_NAMES,
    WAYS,
    Grid,
    break_even,
    draw_sweep,
    grid_of,
    origin,
    rate_of,
)
from gpu_ops.explaining.transfers.making import sweep
from gpu_ops.explaining.transfers.rates import sweep_named
from gpu_ops.explaining.transfers.subject import Subject
from gpu_ops.explaining.transfers.sweep import Point, TransferSweep
from gpu_ops.report.provenance import machine

BASES = {
    "measured": "Measured on {where}.",
    "predicted": "Predicted {where}.",
    "order": "By a model of the queues: {where}.",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags that only this command has."""
    parser.set_defaults(command=run)
    what = "; ".join(f"{kind.id}: {kind.title}" for kind in KINDS.values())
    parser.add_argument("sweep", choices=tuple(KINDS), metavar="SWEEP", help=what)
    parts = "; ".join(f"{kind.id}: {', '.join(kind.parts)}" for kind in KINDS.values() if kind.parts)
    parser.add_argument("--only", metavar="NAME", help=f"only this part – {parts}")
    parser.add_argument("--device", metavar="DEVICE", help="cuda:N, sim or sim:sm_90 (default: a GPU where one is)")
    parser.add_argument(
        "--report", metavar="NAME", help="show a recorded sweep instead: of a machine such as h100, or of a FILE.json"
    )
    parser.add_argument("--picture", metavar="FILE", help="draw the sweep, or the part that is named, as PNG or SVG")
    parser.add_argument("--json", metavar="FILE", help="write the result here as JSON; - for standard output")


def run(args: argparse.Namespace) -> int:
    """Make the sweep that is named, and print it."""
    kind = KINDS[args.sweep]
    if args.only is not None and args.only not in kind.parts:
        raise ParamError(
            f"{kind.id} has no part {plain(args.only, 60)!r}; "
            + (f"choose from {', '.join(kind.parts)}." if kind.parts else "leave --only out.")
        )
    if args.picture is not None:
        check_picture(args)
    found = sweep_named(kind.id, args.report) if args.report is not None else _make(args, kind)
    if args.json is not None and args.report is not None:
        raise ParamError("--json writes a sweep that is made; --report names one that is there. Leave one of them out.")
    if args.json is not None:
        about = {"provenance": machine([found.device], with_roofs=False)} if found.basis == "measured" else {}
        emit(args.json, {**found.to_json(), **about})
    if args.json != "-":
        _print(found, args.only)
    if args.picture is not None:
        part = args.only or next(iter(kind.parts), "")
        args.draw((found, part) if kind.id == GRID else draw_sweep(found, part), args.picture)
        streams.say(f"The picture is in {plain(args.picture)}.")
    return 0


def _make(args: argparse.Namespace, kind: Kind) -> TransferSweep:
    """The sweep that the flags describe."""
    device = "cpu" if kind.on_host else chosen_device(args)
    args.filter, subject = FAMILY, None
    if kind.of_input:
        input, filter, _, params = make_job(args)
        check_flags(args, filter, ())
        subject = Subject.of(input, filter.id, params)
    if kind.on_host:
        streams.say(f"This locks up to {size_text(pinning.most())} of memory for a while; stop it with Ctrl+C.")
    return sweep(kind.id, device, subject, rates_of(args), queues_of(args))


def _print(found: TransferSweep, part: str | None) -> None:
    drawn = draw_sweep(found, part or "")
    print(KINDS[found.id].title + (f": {found.subject}" if found.subject else ""))
    print(drawn.figure.text.partition(" Here: ")[0])
    print(f"\n{_TABLES[found.id](found, part)}\n")
    for note in drawn.notes:
        print(note)
    print(BASES[found.basis].format(where=origin(found)))


def _time(found: TransferSweep, value: float) -> str:
    return counted(round(value), "step") if found.unit == "steps" else seconds(value)


def _grid_table(found: TransferSweep, part: str | None) -> str:
    tables = []
    for one in (part,) if part else KINDS[found.id].parts:
        grid = grid_of(found, one)
        lines = [["streams \\ chunks", *map(str, grid.chunks)]]
        for place, count in enumerate(grid.streams):
            values = (_cell(found, grid, one, value) for value in grid.values[place])
            lines.append([str(count), *values])
        best = f"{counted(grid.streams[grid.best[0]], 'stream')}, {counted(grid.chunks[grid.best[1]], 'chunk')}"
        heading = {"time": f"Time, the shortest with {best}", "overlap": f"Overlap, the most with {best}"}[one]
        tables.append(f"{heading}\n{_aligned(lines)}")
    return "\n\n".join(tables)


def _cell(found: TransferSweep, grid: Grid, part: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if part == "overlap" else f"{value:.3g}" if found.unit == "steps" else seconds(value)


def _residency_table(found: TransferSweep, part: str | None) -> str:
    cases = [(kind, way) for kind in CHAINED for way in WAYS]
    lines = [["filters", *(f"{kind}, {WAYS[way]}" for kind, way in cases)]]
    for count in sorted({point["filters"] for point in found.points}):
        times = [found.where(filters=count, memory=kind, way=way)[0]["time"] for kind, way in cases]
        lines.append([str(count), *(_time(found, time) for time in times)])
    return _aligned(lines)


def _memory_table(found: TransferSweep, part: str | None) -> str:
    tables = []
    for direction in (part,) if part else DIRECTIONS:
        known = {(p["nbytes"], p["memory"]): p for p in found.where(direction=direction)}
        kinds = [kind for kind in HOST_KINDS if any(kind == own for _, own in known)]
        lines = [["size", *(KIND_NAMES.get(kind, kind) for kind in kinds)]]
        for nbytes in sorted({nbytes for nbytes, _ in known}):
            lines.append([size_text(nbytes), *(_rate(known.get((nbytes, kind))) for kind in kinds)])
        tables.append(f"{direction.capitalize()}, GB/s\n{_aligned(lines)}")
    return "\n\n".join(tables)


def _rate(point: Point | None) -> str:
    return "" if point is None else f"{rate_of(point):.3g}"


def _registering_table(found: TransferSweep, part: str | None) -> str:
    lines = [["size", "registering", "copy, pageable", "copy, registered", "pays from"]]
    for point in found.points:
        first = break_even(point)
        times = (seconds(point[name]) for name in ("locking", "pageable", "registered"))
        lines.append(
            [size_text(point["nbytes"]), *times, "never" if first is None else counted(first, "copy", "copies")]
        )
    return _aligned(lines)


def _pinning_table(found: TransferSweep, part: str | None) -> str:
    lines = [["locked", "time", "quartiles"]]
    for point in found.points:
        ends = f"{seconds(point['q1'])} to {seconds(point['q3'])}"
        lines.append([size_text(point["locked"]), seconds(point["time"]), ends])
    return _aligned(lines)


def _aligned(lines: list[list[str]]) -> str:
    return align(lines, frozenset(range(len(lines[0]))))


_TABLES: Mapping[str, Callable[[TransferSweep, str | None], str]] = {
    "streams": _grid_table,
    "residency": _residency_table,
    "memory": _memory_table,
    "registering": _registering_table,
    "pinning": _pinning_table,
}

"""The figures of the sources as tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from gpu_ops.cli.measure import emit
from gpu_ops.cli.tables import align
from gpu_ops.errors import ParamError, plain
from gpu_ops.explaining.figures import SCHEMA, DrawnFigure, draw_figures, find_figures, rows_csv
from gpu_ops.explaining.judging import recorded_reports
from gpu_ops.io import replacing
from gpu_ops.report.files import read_report
from gpu_ops.types import SOURCE_TITLES, Series

PICTURES = (".png", ".svg")


def figures(args: argparse.Namespace) -> int:
    """Every figure, or the named ones: published, model and measured points."""
    wanted = find_figures(args.figures)
    if args.picture is not None:
        _check_picture(args, len(wanted))
    reports = {args.report: read_report(args.report)} if args.report is not None else recorded_reports()
    drawn = draw_figures(reports, wanted)
    if args.picture is not None:
        args.draw(drawn[0], args.picture)
    if args.csv is not None:
        with replacing(Path(args.csv)) as file:
            file.write(rows_csv(row for one in drawn for row in one.rows()).encode())
    if args.json:
        emit(args.json, {"schema": SCHEMA, "figures": [one.as_dict() for one in drawn]})
    if args.json != "-":
        for one in drawn:
            _print(one)
    return 0


def _check_picture(args: argparse.Namespace, count: int) -> None:
    """Raises ParamError unless one figure is named, and can be drawn."""
    if count != 1:
        raise ParamError(f"--picture draws one figure, not {count}; name it, as in figures ID --picture FILE.png.")
    check_picture(args)


def check_picture(args: argparse.Namespace) -> None:
    """Raises ParamError unless the program can draw, and a picture can be written to the named file."""
    if args.draw is None:
        raise ParamError("The engine alone draws no pictures; call kernelscope, which has the window's part.")
    if Path(args.picture).suffix.lower() not in PICTURES:
        raise ParamError(f"--picture {plain(args.picture, 60)} must end in {' or '.join(PICTURES)}.")


def _print(drawn: DrawnFigure) -> None:
    figure = drawn.figure
    print(f"{figure.id}  –  {figure.title}\n  {figure.number} of {SOURCE_TITLES[figure.source]}")
    print(f"  {figure.text}")
    print(f"  from {drawn.machine} ({drawn.report})" if drawn.report else "  from no report")
    lines = [["series", figure.x.label, figure.y.label]]
    lines += [line for one in drawn.series for line in _lines(one)]
    print("\n".join(f"  {line}" for line in align(lines, frozenset({1, 2})).splitlines()))
    for text in dict.fromkeys(one.text for one in drawn.series if one.basis != "measured" and one.text):
        print(f"  {text}")
    for note in drawn.notes:
        print(f"  {note}")
    if drawn.missing:
        print(f"  {drawn.missing}")
        for command in drawn.commands:
            print(f"    {command}")
    print()


def _lines(one: Series) -> list[list[str]]:
    """A line for each point; the first one has the name of the series."""
    tops = one.tops or one.ys
    values = [f"{y:.3g}" if y == top else f"{y:.3g} to {top:.3g}" for y, top in zip(one.ys, tops, strict=True)]
    names = [f"{one.name} ({one.basis})", *("" for _ in one.xs[1:])]
    return [[name, f"{x:g}", value] for name, x, value in zip(names, one.xs, values, strict=True)]

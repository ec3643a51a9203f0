"""Redraws the figures of the sources: each with the measured points of the one report that has most of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_ops.errors import ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.io.notes import comment_lines
from gpu_ops.params import nearest
from gpu_ops.report.about import about_machine
from gpu_ops.report.machines import device_model, machine_parts
from gpu_ops.report.rows import Report, Row
from gpu_ops.types import SOURCE_TITLES, Figure, Found, Series, Timed, Variant

SCHEMA = "kernelscope-figures/1"
COLUMNS = ("figure", "series", "basis", "x", "y", "top", "source_of_values")
PROGRAM = "kernelscope"


@dataclass(frozen=True)
class DrawnFigure:
    """A figure with everything that is drawn in it: what was published, the model, and the series of one report.

    `report` is that report's name and `machine` its GPU, "" where no report has a point. `notes` are sentences about
    missing points, `commands` are the commands that measure all points.
    """

    figure: Figure
    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()
    report: str = ""
    machine: str = ""
    commands: tuple[str, ...] = ()
    marks: tuple[tuple[float, float, str], ...] = ()

    @property
    def measured(self) -> tuple[Series, ...]:
        """Whether the figure has a series of the report."""
        return tuple(one for one in self.series if one.basis == "measured")

    @property
    def missing(self) -> str:
        """Why nothing measured is drawn, and what measures it; "" where something is."""
        if self.measured or any(one.basis == "predicted" for one in self.series):
            return ""
        if not self.commands:
            return "There are no recorded points yet, and no variant has the knob that varies here."
        return "There are no recorded points yet; on a machine with a GPU these commands measure them:"

    def rows(self) -> list[dict[str, Any]]:
        """A row for each point; `top` is the upper end of a range."""
        found = []
        for one in self.series:
            tops: Sequence[float | None] = one.tops or (None,) * len(one.xs)
            for x, y, top in zip(one.xs, one.ys, tops, strict=True):
                known = {"figure": self.figure.id, "series": one.name, "basis": one.basis, "x": x, "y": y}
                found.append({**known, "top": top, "source_of_values": one.text})
        return found

    def facts(self) -> dict[str, Any]:
        """The facts about the figure and its measured points."""
        figure = self.figure
        known = {"figure": f"{figure.number} of {SOURCE_TITLES[figure.source]}", "title": figure.title}
        known |= {"x": figure.x.label, "y": figure.y.label, "report": self.report, "machine": self.machine}
        here = {name: fact for name, fact in about_machine({}).items() if name != "machine"}
        return {name: fact for name, fact in known.items() if fact} | {"notes": list(self.notes)} | here

    def as_dict(self) -> dict[str, Any]:
        """The figure as `kernelscope figures --json` writes it."""
        return {
            "id": self.figure.id,
            "source": self.figure.source,
            "number": self.figure.number,
            "title": self.figure.title,
            "x": self.figure.x.label,
            "y": self.figure.y.label,
            "report": self.report,
            "machine": self.machine,
            "notes": list(self.notes),
            "commands": list(self.commands) if self.missing else [],
            "points": self.rows(),
        }

    def to_json(self) -> str:
        """The figure with its facts as JSON."""
        content = {"schema": SCHEMA, "about": self.facts(), "figures": [self.as_dict()]}
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def to_csv(self) -> str:
        """The facts after "#", a heading, and a row for each point, in the C locale."""
        return comment_lines(self.facts()) + rows_csv(self.rows())


def rows_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """A heading and the points of one or more figures."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(["" if row[name] is None else row[name] for name in COLUMNS])
    return text.getvalue()


def find_figures(names: Sequence[str]) -> tuple[Figure, ...]:
    """The figures with these ids; without names all of them. Raises ParamError that lists all names."""
    figures = {figure.id: figure for figure in FILTERS.figures}
    for name in names:
        if name not in figures:
            near = nearest(name, list(figures))
            raise ParamError(f"There is no figure {plain(name, 60)!r}{near}; choose from {', '.join(figures)}.")
    return tuple(figures[name] for name in dict.fromkeys(names or figures))


def draw_figures(reports: Mapping[str, Report], figures: Iterable[Figure] | None = None) -> tuple[DrawnFigure, ...]:
    """Each figure (all without `figures`), with the points of the one report that has most of them."""
    return tuple(_draw(figure, reports) for figure in (FILTERS.figures if figures is None else figures))


def _draw(figure: Figure, reports: Mapping[str, Report]) -> DrawnFigure:
    best: tuple[tuple[int, int, bool], Found, Mapping[str, Any], str, str] = ((0, 0, False), Found(), {}, "", "")
    for name, report in reports.items():
        for device in _gpus(report):
            times = times_of(figure, report.rows, device)
            description = _description(report, device)
            found = figure.measured(times, description)
            points = sum(len(one.xs) for one in found.series)
            rank = points, len(times), bool(description)
            if rank > best[0]:
                model = device_model(report.provenance, device) or machine_parts(report.provenance)
                best = rank, found, description, name, model
    (points, _, _), found, description, name, model = best
    curves = figure.model(description) if figure.model else ()
    commands = tuple(f"{PROGRAM} {arguments}" for arguments in figure.sweeps(FILTERS))
    series = (*figure.published, *curves, *sorted(found.series, key=_place))
    if not (points or len(reports) == 1 or (figure.model and description)):
        return DrawnFigure(figure, series, commands=commands)  # what a report of something else lacks is no news
    return DrawnFigure(figure, series, found.notes, name, model, commands)


def _place(one: Series) -> tuple[str, int]:
    """The sort key of a measured series: by filter, in the order of its variants."""
    return one.filter, [variant.id for variant in FILTERS.find(one.filter).variants].index(one.variant)


def _description(report: Report, device: str) -> Mapping[str, Any]:
    """A GPU as the report describes it, with the higher of its clocks before and after: an idle GPU lowers its
    clock."""
    states = [report.provenance.get(name, {}).get(device, {}) for name in ("devices", "devices_after")]
    clocks = [state["sm_mhz"] for state in states if "sm_mhz" in state]
    return {**states[0], **({"sm_mhz": max(clocks)} if states[0] and clocks else {})}


def _gpus(report: Report) -> list[str]:
    """The GPUs that a report describes or has rows of."""
    names = [*(row.device for row in report.rows), *report.provenance.get("devices", {})]
    return [name for name in dict.fromkeys(names) if name.startswith("cuda")]


def times_of(figure: Figure, rows: Iterable[Row], device: str) -> list[Timed]:
    """The kernel times on a GPU that count for a figure: of correct results, shipped kernels, and reliable."""
    return [
        _timed(row, variant)
        for row in rows
        if row.device == device
        and row.ok
        and not (row.edits or row.simulated or row.flag)
        and row.is_comparable("kernel")
        and row.filter in figure.filters
        and (variant := _variant(row)) is not None
    ]


def _variant(row: Row) -> Variant | None:
    """The variant of a row; None where this version has no such filter or variant, or it does not accept the row's
    values."""
    try:
        filter = FILTERS.find(row.filter)
        variant = filter.variant(row.variant)
        for param, values in (*((p, row.params) for p in filter.params), *((k, row.knobs) for k in variant.knobs)):
            param.check(values.get(param.name, param.default))
    except ParamError:
        return None
    return variant


def _timed(row: Row, variant: Variant) -> Timed:
    what = row.filter, row.variant, variant.title, row.device, row.params, row.knobs, row.shape, row.dtype, row.mode
    return Timed(*what, row.stages["kernel"].median)

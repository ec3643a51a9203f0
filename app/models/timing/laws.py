"""The laws of a filter's methods as curves, with the steps that a simulated GPU counted and the times of sweeps."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from app.models.timing.sweep import Sweep
from gpu_ops.report.rows import Row
from gpu_ops.report.sweeps import SIZE
from gpu_ops.types import Filter, Law

Over = Literal["n", "p"]
Steps = Mapping[tuple[str, int, int], int]
"""Counted steps by law, n and number of processors."""
STATIONS = 65
"""Points of a curve."""
KNOB_TRIAL = (4096, 64)
"""Arguments to find out which knob sets the number of processors."""


class Place(NamedTuple):
    """A point of a law: n, processors, steps (or another cost), speed-up over one processor, efficiency."""

    n: float
    p: float
    speedup: float
    efficiency: float

    def x(self, over: Over) -> float:
        return self.n if over == "n" else self.p


@dataclass(frozen=True)
class LawCurve:
    """A law over n, or over p for one `n`. `counted` points come from a simulated GPU. `measured` points are times of
    `device` as speed-ups, scaled so that the first is on the law, because no single GPU thread was measured."""

    law: Law
    n: int
    line: tuple[Place, ...]
    counted: tuple[Place, ...]
    measured: tuple[Place, ...] = ()
    device: str = ""


@dataclass(frozen=True)
class LawPicture:
    """The laws of a filter over n, or over the number of processors."""

    filter: Filter
    over: Over
    curves: tuple[LawCurve, ...]

    def values(self) -> list[float]:
        """The x values of counted or measured points."""
        return sorted({place.x(self.over) for c in self.curves for place in (*c.counted, *c.measured)})

    def rows(self) -> list[dict[str, Any]]:
        """Counted and measured points, each with the law's value."""
        law_points = []
        for curve in self.curves:
            for basis, places in (("counted", curve.counted), ("measured", curve.measured)):
                for n, p, speedup, efficiency in places:
                    known: dict[str, Any] = {
                        "law": curve.law.id,
                        "basis": basis,
                        "device": curve.device if basis == "measured" else "sim",
                    }
                    by_law = {"law_speedup": curve.law.speedup(n, p), "law_efficiency": curve.law.efficiency(n, p)}
                    law_points.append({**known, "n": n, "p": p, "speedup": speedup, "efficiency": efficiency, **by_law})
        return law_points

    def to_json(self) -> str:
        """The rows as JSON."""
        return json.dumps({"filter": self.filter.id, "over": self.over, "points": self.rows()}, indent=1) + "\n"

    def to_csv(self) -> str:
        """The rows in the C locale with one header line."""
        text, rows = io.StringIO(), self.rows()
        writer = csv.DictWriter(text, list(rows[0]) if rows else ["law"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()


def law_pictures(filter: Filter, counted: Steps, sweeps: Iterable[Sweep] = ()) -> tuple[LawPicture, ...]:
    """The pictures of a filter's laws; () where it has none. They include the times of those sweeps that vary a
    quantity of the law."""
    if not filter.laws:
        return ()
    sweeps = [sweep for sweep in sweeps if sweep.filter.id == filter.id]
    over_n = [curve for law in filter.laws for curve in _curves(law, "n", counted, sweeps)]
    over_p = [curve for law in filter.laws if law.choices for curve in _curves(law, "p", counted, sweeps)]
    pictures = (LawPicture(filter, "n", tuple(over_n)), LawPicture(filter, "p", tuple(over_p)))
    return tuple(picture for picture in pictures if picture.curves)


def _curves(law: Law, over: Over, counted: Steps, sweeps: Sequence[Sweep]) -> list[LawCurve]:
    """The law with its counted points and the first measured ones, then a curve for each further sweep."""
    wanted = [(n, law.processors(n)) for n in law.sizes] if over == "n" else [(law.fixed, p) for p in law.choices]
    points = tuple(_place(n, p, counted[law.id, n, p]) for n, p in wanted if (law.id, n, p) in counted)
    fixed = law.fixed if over == "p" else 0
    curves = [LawCurve(law, fixed, _line(law, over, [place.x(over) for place in points] or [2.0], fixed), points)]
    for sweep in sweeps:
        for device, n, places in _measured(law, over, sweep):
            ends = [place.x(over) for place in places]
            curves.append(LawCurve(law, n, _line(law, over, ends, n), (), places, device))
    return curves


def _place(n: int, p: int, steps: float) -> Place:
    return Place(n, p, (n - 1) / steps, (n - 1) / steps / p)


def _line(law: Law, over: Over, xs: Sequence[float], n: int) -> tuple[Place, ...]:
    """The law between the smallest and the largest of these, evenly on a logarithmic axis."""
    low, high = math.log(min(xs)), math.log(max(xs))
    stations = [math.exp(low + (high - low) * k / (STATIONS - 1)) for k in range(STATIONS)]
    return tuple(_of_law(law, over, x, n) for x in stations)


def _of_law(law: Law, over: Over, x: float, n: int) -> Place:
    """The law at one point. Between two whole numbers the number of processors is interpolated."""
    if over == "p":
        return Place(n, x, law.speedup(n, x), law.efficiency(n, x))
    ends = law.sizes[0], law.sizes[-1]
    counts = [math.log(law.processors(end)) for end in ends]
    share = (math.log(x) - math.log(ends[0])) / (math.log(ends[1]) - math.log(ends[0]))
    p = math.exp(counts[0] + share * (counts[1] - counts[0]))
    return Place(x, p, law.speedup(x, p), law.efficiency(x, p))


def _measured(law: Law, over: Over, sweep: Sweep) -> list[tuple[str, int, tuple[Place, ...]]]:
    """(device, n, points) of the sweep's times that the law applies to: those over the knob that sets the processors,
    or over the size where no knob does."""
    trial = law.knobs(*KNOB_TRIAL)
    knob = next((name for name, value in trial.items() if value == KNOB_TRIAL[1]), "")
    if sweep.varied.name != knob if over == "p" else (sweep.varied != SIZE or bool(knob)):
        return []
    found = []
    rows = [r for r in sweep.rows if r.variant == law.variant and r.ok and not r.simulated and "kernel" in r.stages]
    for device in dict.fromkeys(r.device for r in rows):
        own = sorted(
            (_numbers(sweep, r), sweep.value(r) or 0, r.stages["kernel"].median) for r in rows if r.device == device
        )
        points = [(n, value if over == "p" else law.processors(n), seconds) for n, value, seconds in own if n > 1]
        if len(points) > 1:
            first_n, first_p, first = points[0]
            start = law.speedup(first_n, first_p) * first / (first_n - 1)
            speedups = [(n, p, start * (n - 1) / seconds) for n, p, seconds in points]
            places = tuple(Place(n, p, speedup, speedup / p) for n, p, speedup in speedups)
            found.append((sweep.machine or device, first_n if over == "p" else 0, places))
    return found


def _numbers(sweep: Sweep, row: Row) -> int:
    """n of a row's input: the numbers in one channel."""
    return math.prod(sweep.kind.spatial(row.shape))

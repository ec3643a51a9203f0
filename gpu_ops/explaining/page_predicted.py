"""Predicted times in an HTML report: an interval for each variant, what decides, and what each limit brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from gpu_ops.explaining.page import Picture
from gpu_ops.explaining.prediction.gpus import Gpu
from gpu_ops.explaining.prediction.launches import LaunchCounts
from gpu_ops.explaining.prediction.model import LIMITS, Prediction, predict
from gpu_ops.explaining.prediction.waterfall import waterfall
from gpu_ops.explaining.result_tables import duration
from gpu_ops.explaining.sentences import number

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 200, 9


@dataclass(frozen=True)
class Rung:
    """A variant by its title, its launches, and the recorded seconds on the GPU, if there are any; or the `reason` why
    nothing was counted."""

    title: str
    launches: Sequence[LaunchCounts] = ()
    recorded: float | None = None
    reason: str = ""


def predicted_picture(rungs: Sequence[Rung], gpu: Gpu) -> Picture:
    """A table of the predicted times on a GPU: hatched intervals, and filled bars of what was recorded."""
    from markupsafe import Markup

    found = [(rung, predict(rung.launches, gpu)) for rung in rungs if not rung.reason]
    full = max((max(p.high, r.recorded or 0.0) for r, p in found if not p.unknown), default=0.0)
    rows = [_row(rung, prediction, full) for rung, prediction in found]
    rows += [_cells("td", [rung.title, "none", rung.reason, ""]) for rung in rungs if rung.reason]
    head = _cells("th", ["variant", "predicted", "what decides", "measured"])
    steps = [row for (a, _), (b, _) in pairwise(found) for row in _step(a, b, gpu)]
    more = Markup("<table>{}{}</table>").format(_cells("th", ["step", "limit", "counted", "predicted"]), _joined(steps))
    html = Markup("<table>{}{}</table>{}").format(head, _joined(rows), more if steps else "")
    caption = (
        f"{gpu.model}: {gpu.copy / 1e12:.3g} TB/s, L2 {gpu.l2 / 1e12:.3g} TB/s, {gpu.clock / 1e9:.3g} GHz, "
        f"{gpu.multiprocessors} multiprocessors; {gpu.basis}. Hatched: predicted, an interval. Filled: measured, a "
        "recorded median. Counted: on the simulated GPU."
    )
    return Picture(html, f"Times predicted for {gpu.model}", caption, wide=True)


def _row(rung: Rung, prediction: Prediction, full: float) -> Markup:
    if prediction.unknown:
        return _cells("td", [rung.title, "unknown", prediction.unknown, _measured(rung)])
    interval = f"{_time(prediction.low)} to {_time(prediction.high)}"
    decides = LIMITS[prediction.limit]
    return _cells("td", [rung.title, _bars(prediction, rung.recorded, full, interval), decides, _measured(rung)])


def _measured(rung: Rung) -> str:
    return "unknown" if rung.recorded is None else _time(rung.recorded)


def _bars(prediction: Prediction, recorded: float | None, full: float, text: str) -> Markup:
    from markupsafe import Markup

    left, right = (WIDTH * seconds / full for seconds in (prediction.low, prediction.high))
    lines = [
        f"M{x:.1f} {HEIGHT - 1}L{min(x + HEIGHT - 2, right):.1f} {max(HEIGHT - 1 - (right - x), 1):.1f}"
        for x in (left + 4 * step for step in range(int((right - left) / 4) + 1))
    ]
    measured = f'<rect x="0" y="{HEIGHT}" width="{WIDTH * recorded / full:.1f}" height="4"/>' if recorded else ""
    drawn = (
        f'<svg role="img" aria-label="predicted {text}" style="border:0" width="{WIDTH}" height="{HEIGHT + 5}">'
        f'<g fill="none" stroke="#006d77"><rect x="{left:.1f}" y="1" width="{right - left:.1f}" height="{HEIGHT - 2}" '
        f'stroke-dasharray="3 2"/><path d="{"".join(lines)}"/></g><g fill="#7a4f9e">{measured}</g></svg>'
    )
    return Markup(drawn) + text  # noqa: S704 - it holds numbers only


def _step(before: Rung, after: Rung, gpu: Gpu) -> list[Markup]:
    found, name = waterfall(before.launches, after.launches, gpu), f"{before.title} → {after.title}"
    if found.unknown:
        return [_cells("td", [name, "unknown", found.unknown, ""])]
    rows = []
    for part in found.parts:
        if part.change:
            sign, names = "−" if part.change < 0 else "+", [name, LIMITS[part.limit]]
            counted = f"{number(part.counted[0])} → {number(part.counted[1])} {part.unit}"
            rows.append(_cells("td", [*names, counted, f"{sign}{_time(abs(part.change))}"]))
            name = ""
    return rows


def _cells(tag: str, cells: Sequence[str | Markup]) -> Markup:
    from markupsafe import Markup

    first = [Markup(f"<{tag}>{{}}</{tag}>").format(cell) for cell in cells[:-1]]  # noqa: S704 - a tag of our own
    last = Markup(f'<{tag} class="number">{{}}</{tag}>').format(cells[-1])  # noqa: S704
    return Markup("<tr>{}</tr>").format(_joined([*first, last]))


def _joined(parts: Sequence[Markup]) -> Markup:
    from markupsafe import Markup

    return Markup("").join(parts)


def _time(seconds: float) -> str:
    return duration(seconds).replace(" ", "\u00a0")

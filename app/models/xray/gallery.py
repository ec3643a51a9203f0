"""The layouts of memory as cards: a title, the cost per warp by today's and by older rules, and the pictured access. No
widgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QCoreApplication

import gpu_ops
from app.base.numbers import seconds, shown
from app.base.translate import QT_TRANSLATE_NOOP
from app.models.xray.access_trace import WARP, TracedAccess
from gpu_ops.report.rows import Row

RULES = {
    "today": QT_TRANSLATE_NOOP("Gallery", "cost today: 32-byte sectors per warp, 32 banks"),
    "1.2": QT_TRANSLATE_NOOP("Gallery", "cost on compute capability 1.2: one transaction per segment, 16 banks"),
    "1.0": QT_TRANSLATE_NOOP(
        "Gallery", "cost on compute capability 1.0: lane k at word k, else one transaction per lane"
    ),
}
"""The rules that accesses can be counted by, the present one first."""
TIME = "time"
"""The order of kernel times, where there are any."""
LAYOUT = "layout"
"""The filter whose variants the cards show."""


def tr(text: str) -> str:
    return QCoreApplication.translate("Gallery", text)


@dataclass(frozen=True)
class Card:
    """One layout. `cost` for 32 values is by the chosen rule, the sum of these `loads`, and `others` are the costs by
    the other rules, one per line; `level` is the sort key, as a share of the highest in the same memory. `seconds` is
    its kernel time here, None where there is none."""

    space: str
    title: str
    cost: str
    loads: str
    others: str
    idea: str
    access: TracedAccess
    level: float
    seconds: float | None = None

    @property
    def time(self) -> str:
        """Its kernel time in words; "" where there is none."""
        return "" if self.seconds is None else tr("kernel time here: {time}").format(time=seconds(self.seconds))


def cards(order: str, rows: Iterable[Row] = ()) -> tuple[Card, ...]:
    """All layouts, global memory first, the cheapest by this rule first in each memory; or the fastest first by the
    kernel times in these rows, then those without a time."""
    rule = "today" if order == TIME else order
    pictures = gpu_ops.layout_pictures(rule)  # type: ignore[arg-type]
    others = {r: _by_place(r) for r in RULES if r != rule}
    dearest: dict[str, float] = {}
    for one in pictures:
        dearest[one.access.space] = max(dearest.get(one.access.space, 0.0), one.of_a_warp)
    timed = tuple(row for row in rows if row.filter == LAYOUT and row.device.startswith("cuda"))
    made = [_card(one, rule, others, one.of_a_warp / dearest[one.access.space], _time(one, timed)) for one in pictures]
    return _by_time(made) if order == TIME else tuple(made)


def _by_time(made: list[Card]) -> tuple[Card, ...]:
    longest: dict[str, float] = {}
    for card in made:
        longest[card.space] = max(longest.get(card.space, 0.0), card.seconds or 0.0)
    made = [replace(c, level=(c.seconds or 0.0) / (longest[c.space] or 1.0)) for c in made]
    return tuple(sorted(made, key=lambda c: (c.space, c.seconds is None, c.seconds or 0.0)))


def _time(one: Any, rows: Iterable[Row]) -> float | None:
    """The kernel time of the picture's variant with the picture's knobs."""
    own = (row for row in rows if row.variant == one.variant and one.knobs.items() <= row.knobs.items())
    return next((time for row in own if (time := row.seconds("kernel")) is not None), None)


def _by_place(rule: str) -> dict[tuple[str, str], Any]:
    pictures = gpu_ops.layout_pictures(rule)  # type: ignore[arg-type]
    return {_place(one): one for one in pictures}


def _place(one: Any) -> tuple[str, str]:
    return one.variant, str(one.knobs)


def _card(one: Any, rule: str, others: dict[str, dict[tuple[str, str], Any]], level: float, time: float | None) -> Card:
    knobs = ", ".join(f"{name} {value}" for name, value in one.knobs.items())
    title = f"{one.title} – {knobs}" if knobs else one.title
    access, texts = TracedAccess(**vars(one.access)), []
    for other, pictures in others.items():
        text = tr("today: {cost}") if other == "today" else tr("on compute capability {rule}: {cost}")
        found = pictures[_place(one)]
        texts.append(text.format(rule=other, cost=_counted(found.access.space, other, found.of_a_warp)))
    cost = tr("{cost} for {warp} values").format(cost=_counted(access.space, rule, one.of_a_warp), warp=WARP)
    return Card(access.space, title, cost, _loads(one, rule), "\n".join(texts), one.idea, access, level, time)


def _loads(one: Any, rule: str) -> str:
    """The loads of a warp in words, and their cost where they are not for 32 values: "36 sectors in 3 loads, for 96
    values"."""
    loads = tr("1 load") if one.loads == 1 else tr("{count} loads").format(count=one.loads)
    if one.values == WARP:
        return tr("in {loads}").format(loads=loads)
    cost = _counted(one.access.space, rule, one.cost)
    return tr("{cost} in {loads}, for {values} values").format(cost=cost, loads=loads, values=one.values)


def _counted(space: str, rule: str, number: float) -> str:
    if space == "shared" and rule == "today":
        text = tr("1 wavefront") if number == 1 else tr("{count} wavefronts")
    elif space == "shared":
        text = tr("1 pass over 16 banks") if number == 1 else tr("{count} passes over 16 banks")
    elif rule == "today":
        text = tr("1 sector") if number == 1 else tr("{count} sectors")
    else:
        text = tr("1 transaction") if number == 1 else tr("{count} transactions")
    return text.format(count=shown(float(number), "g", 4))


def card_lines(shown: tuple[Card, ...]) -> str:
    """A line for each card, tab-separated, with a header line."""
    heads = (tr("memory"), tr("layout"), tr("cost"), tr("loads"), tr("by other rules"), tr("kernel time"), tr("idea"))
    rows = ((c.space, c.title, c.cost, c.loads, c.others.replace("\n", "; "), c.time, c.idea) for c in shown)
    return "\n".join("\t".join(cells) for cells in (heads, *rows)) + "\n"

"""The layouts of memory as cards: a title, what a warp costs, and the access that is drawn. No widgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale

import gpu_ops
from app.models.access_trace import WARP, Access
from app.translate import QT_TRANSLATE_NOOP

RULES = {
    "today": QT_TRANSLATE_NOOP("Gallery", "today: sectors of 32 bytes a warp"),
    "1.2": QT_TRANSLATE_NOOP("Gallery", "capability 1.2: a transaction for each segment, half a warp at a time"),
    "1.0": QT_TRANSLATE_NOOP("Gallery", "capability 1.0: lane k at word k, or each lane alone"),
}
"""The rules that accesses can be counted by, the present one first."""


def tr(text: str) -> str:
    return QCoreApplication.translate("Gallery", text)


@dataclass(frozen=True)
class Card:
    """One layout. `level` is its cost as a share of the dearest one's in the same memory."""

    space: str
    title: str
    cost: str
    idea: str
    access: Access
    level: float


def cards(rule: str) -> tuple[Card, ...]:
    """All layouts, global memory first, the cheapest by this rule first in each memory."""
    pictures = gpu_ops.layout_pictures(rule)  # type: ignore[arg-type]
    dearest: dict[str, float] = {}
    for one in pictures:
        dearest[one.access.space] = max(dearest.get(one.access.space, 0.0), one.of_a_warp)
    return tuple(_card(one, rule, one.of_a_warp / dearest[one.access.space]) for one in pictures)


def _card(one: Any, rule: str, level: float) -> Card:
    knobs = ", ".join(f"{name} {value}" for name, value in one.knobs.items())
    title = f"{one.title} – {knobs}" if knobs else one.title
    access = Access(**vars(one.access))
    return Card(access.space, title, _cost(one, rule), one.idea, access, level)


def _cost(one: Any, rule: str) -> str:
    """The cost in words, such as "36 sectors in 3 loads, for 96 values: 12 for 32"."""
    text = tr("{cost} in {loads}, for {values} values")
    if one.values != WARP:
        text = tr("{cost} in {loads}, for {values} values: {each} for 32")
    return text.format(
        cost=_counted(one.access.space, rule, one.cost),
        loads=tr("1 load") if one.loads == 1 else tr("{count} loads").format(count=one.loads),
        values=one.values,
        each=QLocale().toString(one.of_a_warp, "g", 3),
    )


def _counted(space: str, rule: str, number: int) -> str:
    if space == "shared" and rule == "today":
        text = tr("1 wavefront") if number == 1 else tr("{count} wavefronts")
    elif space == "shared":
        text = tr("1 pass over 16 banks") if number == 1 else tr("{count} passes over 16 banks")
    elif rule == "today":
        text = tr("1 sector") if number == 1 else tr("{count} sectors")
    else:
        text = tr("1 transaction") if number == 1 else tr("{count} transactions")
    return text.format(count=number)


def card_lines(shown: tuple[Card, ...]) -> str:
    """A line for each card, tab-separated, with a header line."""
    heads = (tr("memory"), tr("layout"), tr("cost"), tr("idea"))
    return "\n".join("\t".join(cells) for cells in (heads, *((c.space, c.title, c.cost, c.idea) for c in shown))) + "\n"

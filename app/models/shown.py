"""The results that the window shows: one of each ticked variant under the present choice, and those that are pinned.

Each has an id, by which panes, rows and the session file know it: a ticked variant's own, and for a pinned result the
variant's with a hash of its settings behind it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.models.row_differences import BETWEEN, key_differences
from app.models.slot import RowSlot
from app.models.subject import Subject
from gpu_ops.device_names import device_kind
from gpu_ops.run_key import RunKey
from gpu_ops.types import Filter, Pick

if TYPE_CHECKING:
    from app.models.session import Session

MOST_PINS = 8
"""Pinned results: each holds its outputs in memory and is timed with the others."""
MARK = "#"
"""Between the variant and the hash in the id of a pinned result; no variant's id has it."""


@dataclass(frozen=True)
class Pin:
    """A result that stays as it is while the choice changes: a pick with the values of all parameters and knobs."""

    id: str
    pick: Pick

    @classmethod
    def of(cls, key: RunKey, edits: dict[str, str] | None = None) -> Pin:
        """The pin of a run."""
        text = json.dumps([key.device, key.param_items, key.knob_items, key.edits], sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        pick = Pick(key.variant, key.device, key.knobs, edits or {}, key.params)
        return cls(f"{key.variant}{MARK}{digest}", pick)

    def key(self, filter: str) -> RunKey:
        pick = self.pick
        return RunKey.of(filter, pick.variant, pick.device, pick.params, pick.knobs, pick.edits)


class Shown:
    """What is shown of a session, by the ids of results."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def pins(self) -> dict[str, Pin]:
        return {pin.id: pin for pin in self._session.choice.pins}

    @property
    def ids(self) -> tuple[str, ...]:
        """Every result that has a pane and a row: the ticked variants, then the pinned results."""
        return (*self._session.choice.picks, *self.pins)

    def pick(self, id: str) -> Pick:
        """The variant of a result with its device, knobs, edits, and for a pinned one its parameters."""
        pin = self.pins.get(id)
        return pin.pick if pin else self._session.pick(id)

    def variant(self, id: str) -> str:
        """The variant of a result, also of one that is shown no more."""
        return id.partition(MARK)[0]

    def key(self, id: str) -> RunKey:
        pin = self.pins.get(id)
        return pin.key(self._session.choice.filter) if pin else self._session.key(id)

    def subject(self, id: str) -> Subject:
        """What a result must belong to in order to be up to date."""
        return Subject(self._session.inputs, self.key(id))

    def slot(self, id: str) -> RowSlot:
        """The place of a result's row: that of a pinned one is its run's own."""
        if id in self.pins:
            key = self.key(id)
            return RowSlot(key.variant, key.device, key)
        return RowSlot(id, self._session.device_of(id))

    def id_of(self, slot: RowSlot) -> str:
        """The result of a row; "" for a row that has none here."""
        return next((id for id in self.ids if self.slot(id) == slot), "")

    def ids_of(self, key: RunKey) -> list[str]:
        """The results that a run brings: the pinned ones with its key, and the ticked variant, unless the run has been
        made for a pinned result alone."""
        pinned = [id for id in self.pins if self.key(id) == key]
        ticked = key.variant in self._session.choice.picks
        return ([key.variant] if ticked and (not pinned or self._session.key(key.variant) == key) else []) + pinned

    def here(self, id: str) -> bool:
        """Whether the device of a result is here."""
        device = self.pick(id).device
        offered = ("cpu", *self._session.devices)
        return device in offered or (device_kind(device) == "sim" and "sim" in offered)

    def titles(self) -> dict[str, str]:
        """By id the variant's title, and where several results are of one variant what differs between them."""
        filter: Filter = self._session.filter
        names = {v.id: v.title for v in filter.variants}
        for variant in {pin.pick.variant for pin in self._session.choice.pins}:
            members = [id for id in self.ids if self.variant(id) == variant]
            texts = _apart([self.key(id) for id in members])
            names |= {
                id: BETWEEN.join(text for text in (filter.variant(variant).title, own) if text)
                for id, own in zip(members, texts, strict=True)
            }
        return names


def _apart(keys: list[RunKey]) -> list[str]:
    """What differs between runs of one variant, their device as well. A single one says all of its settings' hash-free
    values only where others are beside it."""
    texts: list[str] = key_differences(keys)
    devices: list[Any] = [key.device for key in keys]
    if len(set(devices)) > 1:
        texts = [BETWEEN.join(part for part in (t, d) if part) for t, d in zip(texts, devices, strict=True)]
    return texts

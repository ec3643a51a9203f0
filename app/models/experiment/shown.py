"""The results that the window shows: one of each ticked variant under the present choice, and those that are pinned.

Each has an id, which panes, rows and the session file use: for a ticked variant the variant's id, for a pinned result
that id followed by a hash of the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from PySide6.QtCore import QCoreApplication

from app.models.curves.stroke import PINNED
from app.models.experiment.differences import DifferenceOf
from app.models.experiment.history import Choice
from app.models.experiment.pin import Pin
from app.models.experiment.slot import RowSlot
from app.models.experiment.subject import Subject
from app.models.results.row_differences import BETWEEN, key_differences
from app.models.results.view_data import INPUT
from gpu_ops.device_names import is_simulated
from gpu_ops.run_key import RunKey
from gpu_ops.types import Filter, Pick


class Choosing(Protocol):
    """The part of Session that Shown uses."""

    @property
    def choice(self) -> Choice: ...
    @property
    def filter(self) -> Filter: ...
    @property
    def params(self) -> dict[str, Any]: ...
    @property
    def device(self) -> str: ...
    @property
    def devices(self) -> tuple[str, ...]: ...
    @property
    def inputs(self) -> int: ...


class Shown:
    """The results of a session that have panes, by their ids. `present_text` gives the present text of an edited kernel
    by its variant, as {file: text}; None where it is nowhere being edited."""

    def __init__(self, session: Choosing) -> None:
        self._session = session
        self.present_text: Callable[[str], Mapping[str, str] | None] = lambda variant: None

    @property
    def pins(self) -> dict[str, Pin]:
        return {pin.id: pin for pin in self._session.choice.pins}

    @property
    def ids(self) -> tuple[str, ...]:
        """Every result that has a pane and a row: the ticked variants, each before its pinned results."""
        return self.with_pins(self._session.choice.picks)

    def with_pins(self, ticked: Sequence[str]) -> tuple[str, ...]:
        """These variants, each before its pinned results; pinned results of other variants are last."""
        if not (all_pins := self.pins):
            return tuple(ticked)
        pins = [[id for id in all_pins if variant_of(id) == variant] for variant in ticked]
        beside = [id for variant, own in zip(ticked, pins, strict=True) for id in (variant, *own)]
        return (*beside, *(id for id in all_pins if id not in beside))

    @property
    def differences(self) -> tuple[DifferenceOf, ...]:
        """The differences of results that are shown, and of the input."""
        return tuple(kept for kept in self._session.choice.differences if kept.among((INPUT, *self.ids)))

    def device_of(self, variant: str) -> str:
        """The device that runs a variant of the filter under the present choice."""
        return "cpu" if self._session.filter.variant(variant).device == "cpu" else self._session.device

    def edited(self, id: str) -> bool:
        """Whether a result is an edited kernel that follows the choice."""
        return id in self.pins and self.pins[id].follows

    @property
    def slot_titles(self) -> dict[RowSlot, str]:
        """The titles of rows that are not those of their variants."""
        return {self.slot(id): self.name(id) for id in self.pins if self.edited(id)}

    def pick(self, id: str) -> Pick:
        """The variant of a result with its device, knobs, edits, and for a pinned one its parameters."""
        pin, variant = self.pins.get(id), variant_of(id)
        if pin is not None and not pin.follows:
            return pin.pick
        edits = pin.pick.edits if pin is not None else {}
        return Pick(variant, self.device_of(variant), self._session.choice.knobs.get(variant, {}), edits)

    def key_of(self, pick: Pick) -> RunKey:
        """The key of a run of this pick; values that the pick lacks are those of the choice and the defaults, as in the
        run."""
        session = self._session
        knobs = {k.name: pick.knobs.get(k.name, k.default) for k in session.filter.variant(pick.variant).knobs}
        params = {**session.params, **pick.params}
        return RunKey.of(session.choice.filter, pick.variant, pick.device, params, knobs, pick.edits)

    def key(self, id: str) -> RunKey:
        return self.key_of(self.pick(id))

    def subject(self, id: str) -> Subject:
        """What a result must belong to in order to be up to date. That of an edited kernel belongs to the present
        text, which is another than that of its run until it is run again."""
        pick = self.pick(id)
        text = self.present_text(pick.variant) if self.edited(id) else None
        return Subject(self._session.inputs, self.key_of(pick if text is None else replace(pick, edits=text)))

    def subject_of_run(self, id: str) -> Subject:
        """What the next run of a result belongs to."""
        return Subject(self._session.inputs, self.key(id))

    def slot(self, id: str) -> RowSlot:
        """The slot of a result's row; a pinned result has that of its own run."""
        if id in self.pins:
            key = self.key(id)
            return RowSlot(key.variant, key.device, key)
        return RowSlot(id, self.device_of(id))

    def subject_of(self, slot: RowSlot) -> Subject:
        """What the row in a slot must belong to in order to be up to date."""
        if slot.key is None:
            return self.subject(slot.variant)
        edited = next((id for id in self.pins if self.edited(id) and self.key(id) == slot.key), "")
        return self.subject(edited) if edited else Subject(self._session.inputs, slot.key)

    def id_of(self, slot: RowSlot) -> str:
        """The result of a row; "" for a row without a visible result."""
        return next((id for id in self.ids if self.slot(id) == slot), "")

    def ids_of(self, key: RunKey) -> list[str]:
        """The results that a run updates: the pinned ones with its key, and the ticked variant, unless the run was for
        a pinned result only."""
        pinned = [id for id in self.pins if self.key(id) == key]
        ticked = key.variant in self._session.choice.picks and key.device == self.device_of(key.variant)
        ticked = ticked and not key.edits  # the run of an earlier text of an edited kernel updates nothing
        return ([key.variant] if ticked and (not pinned or self.key(key.variant) == key) else []) + pinned

    def here(self, id: str) -> bool:
        """Whether the device of a result exists on this machine."""
        device, offered = self.pick(id).device, ("cpu", *self._session.devices)
        return device in offered or (is_simulated(device) and "sim" in offered)

    def pin_of(self, id: str) -> Pin:
        """The pin that keeps a result with its present settings."""
        pick, key = self.pick(id), self.key(id)
        return Pin.of(self._session.filter, Pick(key.variant, key.device, key.knobs, pick.edits, key.params))

    def titles(self) -> dict[str, str]:
        """By id the variant's title. Several results of one variant have the differing settings before it, or only
        those where no other variant is shown."""
        alone = len({variant_of(id) for id in self.ids}) == 1
        return {id: BETWEEN.join(part for part in self._named(id, alone) if part) for id in self._all}

    def name(self, id: str) -> str:
        """The title of a result in a sentence: here the variant's title comes first."""
        settings, title = self._named(id, False)
        return BETWEEN.join(part for part in (title, settings) if part)

    def __contains__(self, id: object) -> bool:
        """Whether the filter has this variant, ticked or not, or a result is pinned under this id."""
        return id in self._all

    @property
    def _all(self) -> tuple[str, ...]:
        return (*(variant.id for variant in self._session.filter.all_variants), *self.pins)

    def _named(self, id: str, alone: bool) -> tuple[str, str]:
        """The settings that differ between a result and the others of its variant, and the variant's title; "" for the
        title where settings `alone` distinguish all results."""
        variant = self._session.filter.variant(variant_of(id))
        if self.edited(id):
            return "", edited_title(variant.title)
        members = [other for other in self.ids if variant_of(other) == variant.id and not self.edited(other)]
        if id not in members or not self.pins:
            return "", variant.title
        keys = [self.key(other) for other in members]
        place = members.index(id)
        settings = [key_differences(keys)[place]]
        settings += [keys[place].device] if len({key.device for key in keys}) > 1 else []
        settings += [QCoreApplication.translate("Results", "pinned")] if id in self.pins else []
        text = BETWEEN.join(part for part in settings if part)
        return text, "" if alone and text else variant.title


def edited_title(title: str) -> str:
    """The title of an edited kernel of the variant with this title."""
    return QCoreApplication.translate("Results", "{variant}, edited").format(variant=title)


def variant_of(id: str) -> str:
    """The variant of a result, also of a result that is no longer shown."""
    return id.partition(PINNED)[0]

"""A result that keeps its settings. No Qt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.models.curves.stroke import PINNED
from gpu_ops import ParamError
from gpu_ops.types import Filter, Pick

MOST_PINS = 8
"""The most pinned results: each keeps its outputs in memory and is timed with the others."""

EDITED = "ed17"
"""The end of the id of an edited kernel, hexadecimal as the hashes of the others; they are longer."""


@dataclass(frozen=True)
class Pin:
    """A result that keeps its settings while the choice changes: a pick with the values of knobs and parameters.
    Parameters that select outputs follow the choice: a pinned result has the outputs that the window shows."""

    id: str
    pick: Pick

    @classmethod
    def of(cls, filter: Filter, pick: Pick) -> Pin:
        """The pin of a pick, with a value for every parameter and knob."""
        asking = {name for output in filter.outputs for name in output.when}
        pick = replace(pick, params={name: value for name, value in pick.params.items() if name not in asking})
        settings = [pick.device, dict(pick.params), dict(pick.knobs), dict(pick.edits)]
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()[:8]
        return cls(f"{pick.variant}{PINNED}{digest}", pick)

    @classmethod
    def edited(cls, variant: str, edits: Mapping[str, str]) -> Pin:
        """An edited kernel of a variant next to the shipped one: it has the choice's device, parameters and knobs, and
        its id stays while the text changes."""
        return cls(f"{variant}{PINNED}{EDITED}", Pick(variant, "", edits=dict(edits)))

    @property
    def follows(self) -> bool:
        """Whether device, parameters and knobs are those of the present choice: only the kernel's text is kept."""
        return not self.pick.device


def with_pin(pins: tuple[Pin, ...], pin: Pin) -> tuple[Pin, ...]:
    """Pinned results with one more, or with this one in place of that with its id. Raises ParamError where MOST_PINS
    are pinned."""
    if any(other.id == pin.id for other in pins):
        return tuple(pin if other.id == pin.id else other for other in pins)
    if len(pins) >= MOST_PINS:
        raise ParamError(f"{MOST_PINS} results are pinned, the maximum; unpin one of them first.")
    return (*pins, pin)

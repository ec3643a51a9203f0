"""A result that keeps its settings. No Qt."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace

from app.models.curves.stroke import PINNED
from gpu_ops.types import Filter, Pick

MOST_PINS = 8
"""The most pinned results: each keeps its outputs in memory and is timed with the others."""


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

"""The slot of a row among the results. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_ops.run_key import RunKey


@dataclass(frozen=True)
class RowSlot:
    """Where a row goes, as opposed to the run that the row belongs to.

    A row of the present choice has the slot of its variant on its device, without a `key`: it follows the choice. When
    a parameter or a knob changes, the row there becomes stale, and the next row replaces it whatever its key is; so
    there is one such row per variant and device.

    Every other row has a slot with the `key` of its run: one of several settings of a variant, a row of a report that
    was opened, or a row recorded on another `machine`. Only a row of the same run replaces it. `number` separates rows
    of one key that a report has for several inputs.
    """

    variant: str
    device: str
    key: RunKey | None = None
    machine: str = ""
    number: int = 0

    @property
    def follows(self) -> bool:
        """Whether the slot follows the present choice."""
        return self.key is None

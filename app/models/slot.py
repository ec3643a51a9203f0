"""Where a row stands among the results. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_ops.run_key import RunKey


@dataclass(frozen=True)
class RowSlot:
    """The place of a row, which is not the same as what the row is of.

    A row of the present choice stands in the slot of its variant on its device, which names no `key`: it follows the
    choice. When a parameter or a knob changes, what stands there becomes stale, and the next row takes its place
    whatever its own key is; so there is one such row for a variant on a device.

    Every other row stands in a slot of what it holds: one of several settings that were asked for at once, one of a
    report that was opened, or one recorded elsewhere, on `machine`. Its slot names the `key` of its run, and only a row
    of that very run takes its place. `number` tells rows of one key apart that a report has for several inputs.
    """

    variant: str
    device: str
    key: RunKey | None = None
    machine: str = ""
    number: int = 0

    @property
    def follows(self) -> bool:
        """Whether it holds what is chosen now, or was before a newer row has come."""
        return self.key is None

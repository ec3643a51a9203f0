"""The arrangement of results in one plot of curves: overlaid, stacked, or as differences from one of them. No
widgets."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.models.results.view_data import ViewData
from gpu_ops.output_kinds import Form, subtracted

Laid = Literal["overlaid", "stacked", "difference"]
LAID: tuple[Laid, ...] = ("overlaid", "stacked", "difference")


class ResultLanes(QObject):
    """`laid` is the arrangement, `minus` the key of the result that is subtracted in differences. `changed`: one of
    these."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.laid: Laid = "overlaid"
        self.minus = ""
        self._known: dict[str, tuple[ViewData, ViewData, ViewData | None]] = {}

    def lay(self, laid: Laid, minus: str) -> None:
        """Change the arrangement. Raises ValueError for an unknown one."""
        if laid not in LAID:
            raise ValueError(f"results are {', '.join(LAID)}, not {laid}")
        if (laid, minus) != (self.laid, self.minus):
            self.laid, self.minus = laid, minus
            self.changed.emit()

    def difference(self, key: str, one: ViewData, other: ViewData) -> ViewData | None:
        """A result minus another one; the same object again for the same two, so that its curve stays."""
        known = self._known.get(key)
        if known is None or known[0] is not one or known[1] is not other:
            known = self._known[key] = one, other, curve_difference(one, other)
        return known[2]


def curve_difference(one: ViewData, other: ViewData) -> ViewData | None:
    """`one` minus `other`, (N,) or (N, C), where both have samples. None where they have no samples in the same places,
    or have another unit or number of channels."""
    a, b = one.form.axes[0], other.form.axes[0]
    alike = (a.name, a.unit, a.step, one.unit) == (b.name, b.unit, b.step, other.unit)
    if not alike or one.values.shape[1:] != other.values.shape[1:]:
        return None
    away = round((b.start - a.start) / a.step)
    first, last = max(0, away), min(len(one.values), away + len(other.values))
    if first >= last:
        return None
    values = subtracted(one.values[first:last], other.values[first - away : last - away])
    form = Form(values.shape, values.dtype.name, (a.cut(first), *one.form.axes[1:]), ())
    return ViewData(values, form, one.unit)

"""The state that linked charts share: two ranges and a cursor. No widgets."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.models.curves.span import AxisView

Range = tuple[float, float, float]


class Plane(QObject):
    """Shared by all charts of a group: an AxisView along `x` and one along `y`. Both zoom and pan if `upward`; else y
    always shows its whole range. `cursor` is the position (x, y) in all charts, or None.

    `changed`: paint again; `cursor_moved`: the cursor reads another value.
    """

    changed = Signal()
    cursor_moved = Signal()

    def __init__(self, parent: QObject | None = None, upward: bool = True, x: AxisView | None = None) -> None:
        """`x` is the axis of another plane, with which this one moves."""
        super().__init__(parent)
        self.x, self.y, self.upward = x or AxisView(self), AxisView(self), upward
        self.cursor: tuple[float, float] | None = None
        for span in (self.x, self.y):
            span.changed.connect(self.changed)

    def set_limits(self, across: Range, up: Range) -> None:
        """Set the first and the last position, and the distance between neighbouring values, along x and along y."""
        self.x.set_limits(*across)
        self.y.set_limits(*up)

    @property
    def _free(self) -> tuple[AxisView, ...]:
        """The axes that zoom and pan."""
        return (self.x, self.y) if self.upward else (self.x,)

    def fit(self) -> None:
        """Show everything."""
        self.x.fit()
        self.y.fit()

    def zoom_at(self, across: float, up: float, x: float, y: float) -> None:
        """Magnify by a factor along either axis; (x, y) stays at its position on the screen."""
        for span, factor, place in zip(self._free, (across, up), (x, y), strict=False):
            span.zoom_at(factor, place)

    def zoom(self, factor: float) -> None:
        """Magnify about the middle."""
        for span in self._free:
            span.zoom(factor)

    def one_to_one(self) -> None:
        """Show one value per pixel around the present middle."""
        for span in self._free:
            span.one_to_one()

    def pan(self, across: float, up: float) -> None:
        """Move by so many units of each axis."""
        for span, places in zip(self._free, (across, up), strict=False):
            span.pan(places)

    def set_cursor(self, cursor: tuple[float, float] | None) -> None:
        """Set the position where the views read values, or None."""
        if cursor != self.cursor:
            self.cursor = cursor
            self.cursor_moved.emit()

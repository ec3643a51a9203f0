"""The state that linked views of a plane share: two ranges and a cursor. No widgets."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.models.curves.span import AxisView

Range = tuple[float, float, float]


class Plane(QObject):
    """Shared by all panes of a group: an AxisView along `x` and one along `y`, each with a zoom of its own. `cursor` is
    the place (x, y) in all panes, or None.

    `changed`: paint again; `cursor_moved`: the cursor reads another value.
    """

    changed = Signal()
    cursor_moved = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.x, self.y = AxisView(self), AxisView(self)
        self.cursor: tuple[float, float] | None = None
        for span in (self.x, self.y):
            span.changed.connect(self.changed)

    def set_limits(self, across: Range, up: Range) -> None:
        """Set the first and the last place, and the distance of neighbouring values, along x and along y."""
        for span, (low, high, step) in ((self.x, across), (self.y, up)):
            if (span.low, span.high, span.step) != (low, high, step):
                span.set_limits(low, high, step, 0.0, 1.0)

    def fit(self) -> None:
        """Show everything."""
        self.x.fit()
        self.y.fit()

    def zoom_at(self, across: float, up: float, x: float, y: float) -> None:
        """Magnify by a factor along either axis; the place (x, y) stays where it is."""
        self.x.zoom_at(across, x)
        self.y.zoom_at(up, y)

    def zoom(self, factor: float) -> None:
        """Magnify about the middle."""
        self.x.zoom(factor)
        self.y.zoom(factor)

    def one_to_one(self) -> None:
        """Show one value per pixel around the present middle."""
        self.x.one_to_one()
        self.y.one_to_one()

    def pan(self, across: float, up: float) -> None:
        """Move by places."""
        self.x.pan(across)
        self.y.pan(up)

    def set_cursor(self, cursor: tuple[float, float] | None) -> None:
        """Set the place where the views read values, or None."""
        if cursor != self.cursor:
            self.cursor = cursor
            self.cursor_moved.emit()

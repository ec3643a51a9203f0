"""The state that linked views of one output share: range, cursor and font size. No widgets."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

LETTERS = 0.4, 12.0
"""The limits of the font size, as factors of the window's own."""


class AxisView(QObject):
    """Shared by all panes of a group. `start` and `stop` are the visible part of the range from `low` to `high`;
    `step` is the distance of neighbouring values; `bottom` and `top` are the limits of the values. `cursor` is (place,
    row) in all panes, or None. `letters` is the font size relative to the window's own, 0 for as large as fits.

    `changed`: paint again; `cursor_moved`: the cursor reads other values.
    """

    changed = Signal()
    cursor_moved = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.low, self.high, self.step = 0.0, 1.0, 1.0
        self.start, self.stop = 0.0, 1.0
        self.bottom, self.top = 0.0, 1.0
        self.letters = 0.0
        self.cursor: tuple[float, float] | None = None
        self._width = 400.0

    def set_limits(self, low: float, high: float, step: float, bottom: float, top: float) -> None:
        """Set new limits. The visible part stays, unless it was the whole range or now lies outside the limits."""
        whole = (self.start, self.stop) == (self.low, self.high)
        self.low, self.high, self.step = low, (high if high > low else low + 1.0), step
        self.bottom, self.top = bottom, (top if top > bottom else bottom + 1.0)
        if whole or self.start >= self.high or self.stop <= self.low:
            self.start, self.stop = self.low, self.high
        self.changed.emit()

    def set_width(self, pixels: float) -> None:
        """Set the width of a view."""
        self._width = max(1.0, pixels)

    def fit(self) -> None:
        """Show the whole range."""
        self.letters = 0.0
        self._go(self.low, self.high)

    def zoom_at(self, factor: float, place: float) -> None:
        """Magnify by `factor`; `place` stays where it is."""
        factor = min(factor, max(1.0, (self.stop - self.start) / (4 * self.step)))
        self.letters = min(max((self.letters or 1.0) * factor, LETTERS[0]), LETTERS[1])
        if factor > 0:
            self._go(place + (self.start - place) / factor, place + (self.stop - place) / factor)

    def zoom(self, factor: float) -> None:
        """Magnify about the middle."""
        self.zoom_at(factor, (self.start + self.stop) / 2)

    def one_to_one(self) -> None:
        """Show one step per pixel around the present middle, with letters of the window's size."""
        middle, half = (self.start + self.stop) / 2, self._width * self.step / 2
        self.letters = 1.0
        self._go(middle - half, middle + half)

    def pan(self, places: float) -> None:
        self._go(self.start + places, self.stop + places)

    def _go(self, start: float, stop: float) -> None:
        """Show this part, cut and moved so that it lies within the limits."""
        length = min(stop - start, self.high - self.low)
        start = min(max(start, self.low), self.high - length)
        self.start, self.stop = start, start + length
        self.changed.emit()

    def set_cursor(self, cursor: tuple[float, float] | None) -> None:
        """Set where the views read values, or None."""
        if cursor != self.cursor:
            self.cursor = cursor
            self.cursor_moved.emit()

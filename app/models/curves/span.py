"""The visible part of an axis, and the font size, which linked views of one output share. No widgets."""

from __future__ import annotations

import math

from PySide6.QtCore import QObject, Signal

LETTERS = 0.4, 12.0
"""The limits of the font size, as factors of the window's own."""
LEAST = 2
"""The fewest values that the largest zoom shows."""


class AxisView(QObject):
    """`start` and `stop` are the visible part of the range from `low` to `high`; `step` is the distance of neighbouring
    values. `letters` is the font size relative to the window's own, 0 for as large as fits.

    `changed`: paint again.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.low, self.high, self.step = 0.0, 1.0, 1.0
        self.start, self.stop = 0.0, 1.0
        self.letters = 0.0
        self._width = 400.0

    def set_limits(self, low: float, high: float, step: float) -> None:
        """Set new limits. The visible part stays, unless it was the whole range or is now outside the limits."""
        high = high if high > low else low + 1.0
        if (low, high, step) == (self.low, self.high, self.step):
            return
        whole = (self.start, self.stop) == (self.low, self.high)
        self.low, self.high, self.step = low, high, step
        if whole or self.start >= self.high or self.stop <= self.low:
            self.start, self.stop = self.low, self.high
        self.changed.emit()

    def set_width(self, pixels: float) -> None:
        """Set the width of a view."""
        self._width = max(1.0, pixels)

    def fit(self) -> None:
        """Show the whole range."""
        self.letters = 0.0
        self.show(self.low, self.high)

    def zoom_at(self, factor: float, place: float) -> None:
        """Magnify by `factor`; `place` stays at its position on the screen."""
        factor = min(factor, max(1.0, (self.stop - self.start) / (LEAST * self.step)))
        self.letters = min(max((self.letters or 1.0) * factor, LETTERS[0]), LETTERS[1])
        if factor > 0:
            self.show(place + (self.start - place) / factor, place + (self.stop - place) / factor)

    def zoom(self, factor: float) -> None:
        """Magnify about the middle."""
        self.zoom_at(factor, (self.start + self.stop) / 2)

    def one_to_one(self) -> None:
        """Show one step per pixel around the present middle, with letters of the window's size."""
        middle, half = (self.start + self.stop) / 2, self._width * self.step / 2
        self.letters = 1.0
        self.show(middle - half, middle + half)

    def pan(self, places: float) -> None:
        self.show(self.start + places, self.stop + places)

    def show(self, start: float, stop: float) -> None:
        """Show this part, shortened and moved to fit within the limits."""
        length = stop - start
        start = min(max(start, self.low), self.high - length)
        whole = length >= self.high - self.low
        self.start, self.stop = (self.low, self.high) if whole else (start, start + length)
        self.changed.emit()

    def next(self, place: float, steps: int) -> float:
        """The middle of the value that is so many steps from a position."""
        step = (math.floor((place - self.low) / self.step) + steps + 0.5) * self.step + self.low
        return min(max(step, self.low + self.step / 2), self.high - self.step / 2)

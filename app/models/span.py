"""What linked views of one output have in common: range, cursor, and the size of letters. No widgets."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

LETTERS = 0.4, 12.0
"""How many times smaller or larger than the window's the letters may become."""


class Span(QObject):
    """Shared by all panes of a group. `start` and `stop` are what is seen of what lies between `low` and `high`;
    `step` is the least that can be told apart; `bottom` and `top` are the limits of the values. `cursor` is (place,
    row) in all of them, None where there is none. `letters` is the size of figures against the window's own, 0 for as
    large as fits.

    `changed`: paint anew; `cursor_moved`: other values are read.
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
        """What there is now. What is in sight stays, unless that was all there was, or lies beside it."""
        whole = (self.start, self.stop) == (self.low, self.high)
        self.low, self.high, self.step = low, (high if high > low else low + 1.0), step
        self.bottom, self.top = bottom, (top if top > bottom else bottom + 1.0)
        if whole or self.start >= self.high or self.stop <= self.low:
            self.start, self.stop = self.low, self.high
        self.changed.emit()

    def set_width(self, pixels: float) -> None:
        """How wide a view is."""
        self._width = max(1.0, pixels)

    def fit(self) -> None:
        """All of it."""
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
        """A step a pixel, the middle kept; letters of the window's size."""
        middle, half = (self.start + self.stop) / 2, self._width * self.step / 2
        self.letters = 1.0
        self._go(middle - half, middle + half)

    def pan(self, places: float) -> None:
        self._go(self.start + places, self.stop + places)

    def _go(self, start: float, stop: float) -> None:
        """Show this, moved so that something of what there is stays in sight; no more than all of it."""
        length = min(stop - start, self.high - self.low)
        start = min(max(start, self.low), self.high - length)
        self.start, self.stop = start, start + length
        self.changed.emit()

    def set_cursor(self, cursor: tuple[float, float] | None) -> None:
        """Where values are read, in whichever view it is."""
        if cursor != self.cursor:
            self.cursor = cursor
            self.cursor_moved.emit()

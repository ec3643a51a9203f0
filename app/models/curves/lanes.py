"""How the channels of signals share one plot: overlaid, or stacked with a lane for each. No widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from app.models.ticks import ticks

Array = np.ndarray[Any, Any]
MOST_OVERLAID, MOST_STACKED = 96, 256
"""Curves that are drawn at a time, counting for each channel the input and every result. The limit of overlaid curves
is lower: they are as tall as the plot, which takes longer to paint."""
FEWEST = 8
"""Channels that are drawn in any case."""
MARGIN = 0.08
"""The part of a lane that stays empty above its curves and below them."""


class ChannelChoice(QObject):
    """Which channels are shown, and whether they are stacked; for all plots of one input. `names` are those of its
    channels, `only` is the index of the single visible channel; None shows all, or `most` of them from `first` on.
    `changed`: any of these."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("channelChoice")
        self.names: tuple[str, ...] = ()
        self.only: int | None = None
        self.first = 0
        self.stacked = False
        self._curves: dict[object, int] = {}

    @property
    def most(self) -> int:
        """How many channels are drawn at a time at most."""
        limit = MOST_STACKED if self.stacked else MOST_OVERLAID
        return max(FEWEST, limit // max(self._curves.values(), default=1))

    @property
    def parts(self) -> list[range]:
        """The groups of channels that are drawn at a time, about equal; one of all where they are few."""
        count = len(self.names)
        size = -(-count // max(1, -(-count // self.most)))
        return [range(at, min(at + size, count)) for at in range(0, count, max(1, size))]

    def set_curves(self, plot: object, count: int) -> None:
        """Report how many curves of each channel a plot draws."""
        before = self.most
        self._curves[plot] = max(count, 1)
        if self.most != before:
            self.changed.emit()

    def set_names(self, names: Sequence[str]) -> None:
        """Set the names of the input's channels. The choice stays while they are the same."""
        if tuple(names) != self.names:
            self.names, self.only, self.first = tuple(names), None, 0
            self.changed.emit()

    def show_all(self, stacked: bool) -> None:
        """Show all channels, stacked or overlaid."""
        if (self.stacked, self.only) != (stacked, None):
            self.stacked, self.only = stacked, None
            self.changed.emit()

    def show_only(self, channel: int | None) -> None:
        """Show one channel; None shows all, or the previous group."""
        if channel != self.only:
            self.only = channel
            self.changed.emit()

    def show_from(self, channel: int) -> None:
        """Show the group with this channel."""
        if (self.only, self.first) != (None, channel):
            self.only, self.first = None, channel
            self.changed.emit()

    @property
    def part(self) -> range:
        """The visible group of channels; it applies where no single channel is chosen."""
        return next((part for part in self.parts if self.first in part), range(len(self.names)))

    def step(self, by: int) -> None:
        """Show the next or the previous channel; all channels, group by group, come before the first and after the
        last."""
        parts = self.parts or [range(0)]
        present = parts.index(self.part) if self.only is None and self.part in parts else len(parts) + (self.only or 0)
        place = (present + by) % (len(parts) + len(self.names))
        if place < len(parts):
            self.show_from(parts[place].start)
        else:
            self.show_only(place - len(parts))

    def visible(self, channels: int) -> list[int]:
        """The visible channels of a signal with so many; the first ones where the signal's channels differ from the
        input's."""
        if channels == len(self.names) > 1:
            return [self.only] if self.only is not None else list(self.part)
        return list(range(min(channels, self.most)))


def choice_of(owner: QObject) -> ChannelChoice:
    """The choice that all plots of an owner share, created when it is first needed."""
    return owner.findChild(ChannelChoice, options=Qt.FindChildOption.FindDirectChildrenOnly) or ChannelChoice(owner)


class Lanes:
    """The lanes of a plot, from the top, by the channels in `order`; none where curves are overlaid. Each lane has
    height 1, the lowest starts at 0, and `limits` are the values at both ends of each."""

    def __init__(self) -> None:
        self.order: tuple[int, ...] = ()
        self.names: tuple[str, ...] = ()
        self.limits: dict[int, tuple[float, float]] = {}

    def set_order(self, order: Sequence[int], names: Sequence[str]) -> None:
        """Lanes for these channels; fewer than two need none."""
        self.order, self.names = (tuple(order), tuple(names)) if len(order) > 1 else ((), ())
        self.limits = {}

    def __bool__(self) -> bool:
        return bool(self.order)

    def fit(self, values: Mapping[int, Sequence[tuple[float, float]]]) -> None:
        """Give each lane the range of the values in it, as (low, high) of each curve."""
        for channel in self.order:
            low = min((low for low, _ in values.get(channel, ())), default=0.0)
            high = max((high for _, high in values.get(channel, ())), default=0.0)
            margin = (high - low) * MARGIN or max(abs(low) * MARGIN, 0.5)
            self.limits[channel] = low - margin, high + margin

    def place(self, channel: int, values: Any) -> Any:
        """The plot's y coordinates of values of a channel."""
        if channel not in self.limits:
            return values
        low, high = self.limits[channel]
        return self.bottom(channel) + (values - low) / (high - low)

    def bottom(self, channel: int) -> float:
        """The plot's y of the lower end of a lane."""
        return float(len(self.order) - 1 - self.order.index(channel))

    def room(self, height: float, line: float) -> int:
        """How many numbers of height `line` fit next to each lane; all lanes have this `height`."""
        return int(height / len(self.order) / (2 * line)) if self.order else 0

    def names_at(self, height: float, line: float) -> list[tuple[float, str]]:
        """Positions and names for the y axis where it has no space for numbers: of as many lanes as fit."""
        every = max(1, -int(-line * len(self.order) // max(height, 1.0)))
        return [(self.bottom(self.order[k]) + 0.5, self.names[k]) for k in range(0, len(self.order), every)]

    def marks(self, height: float, line: float) -> list[tuple[float, float]]:
        """Positions and values for the numbers of the y axis, where it has space for them."""
        most = self.room(height, line)
        found: list[tuple[float, float]] = []
        for channel in self.order if most else ():
            low, high = self.limits[channel]
            inner = (high - low) * 0.5 * line * len(self.order) / height  # a number must not reach into the next lane
            tried = (
                [v for v in ticks(low, high, n) if low + inner <= v <= high - inner] for n in range(most, 4 * most)
            )
            values = next((values for values in tried if len(values) >= min(most, 2)), [])
            found += [(float(self.place(channel, v)), v) for v in values]
        return found

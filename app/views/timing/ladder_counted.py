"""The small bars of simulated rows: one for each chosen counter, on its own axis from 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF

from app.base.numbers import number, short_count
from app.base.terms import counter_name
from app.models.experiment.slot import RowSlot
from app.models.results.entry import Entry
from gpu_ops.counters import FIGURES
from gpu_ops.report.changes import count_change, percent_text
from gpu_ops.report.rows import Row

COMPACT = 4
"""The narrowest column of a compact ladder, in letter heights."""
NARROWEST = 10
"""The width of a bar with its value, in letter heights; if there is less, bars are stacked."""


@dataclass(frozen=True)
class Bar:
    """The bar of one counter, its value as text, and in a narrow ladder the counter's name above it."""

    counter: str
    box: QRectF
    text: str
    place: QRectF
    label: QRectF = field(default_factory=QRectF)


def value_text(counter: str, value: float) -> str:
    """A count with four digits, a ratio with three."""
    figure = FIGURES.get(counter)
    return number(value, 3) if figure is not None and figure.over else short_count(value)


class CountedBars:
    """Lays out the bars of these counters between `left` and `right`: next to each other where there is room, under the
    names of the counters; below each other, each with its name, where the ladder is `narrow`. In a `compact` ladder,
    which is narrow, they are next to each other too, each below its value."""

    def __init__(
        self,
        counters: Sequence[str],
        entries: Sequence[Entry],
        span: tuple[float, float],
        unit: float,
        small: QFontMetricsF,
        narrow: bool,
        pinned: Mapping[RowSlot, Row],
        compact: bool = False,
    ) -> None:
        self.counters, self.left, self.unit, self.small = counters, span[0], unit, small
        self.compact, self.narrow = compact, narrow and not compact
        found = {c: [v for e in entries if (v := e.counted(c)) is not None and e.ok is not False] for c in counters}
        self.most = {c: max(values, default=0.0) or 1.0 for c, values in found.items()}
        self.pinned = pinned
        texts = [self._text(c, e, value) for c in counters for e in entries if (value := e.counted(c)) is not None]
        self.text_width = max((small.horizontalAdvance(text) for text in texts), default=0.0) + unit * 0.5
        room = span[1] - span[0]
        least = max(self.text_width + unit * 0.5, COMPACT * unit) if compact else NARROWEST * unit
        fitting = 1 if self.narrow else max(1, int(room // least))
        self.bands = -(-len(counters) // fitting)
        self.columns = -(-len(counters) // self.bands) if counters else 1
        self.width = room / self.columns
        self.band = unit * (1.6 if self.narrow else 1.3 if compact else 1.25)
        self.height = self.bands * self.band

    def _text(self, counter: str, entry: Entry, value: float) -> str:
        """The value, and its difference from that of the pinned row."""
        text, before = value_text(counter, value), self.pinned.get(entry.slot)
        ratio = count_change(before, entry.row, counter) if before is not None and entry.row is not None else None
        return text if ratio is None else f"{text} ({percent_text(ratio)})"

    def _column(self, place: int) -> tuple[int, float]:
        """The band of a counter, and where its column begins."""
        return place // self.columns, self.left + place % self.columns * self.width

    @property
    def head_height(self) -> float:
        """The height of the names above the columns; 0 in a narrow ladder, whose bars have theirs."""
        if self.narrow or not self.counters:
            return 0.0
        flags = Qt.TextFlag.TextWordWrap
        room = QRectF(0, 0, self._inner, 100 * self.unit)
        self._head = max(self.small.boundingRect(room, flags, counter_name(c)).height() for c in self.counters)
        return self.bands * (self._head + self.unit * 0.2)

    @property
    def _inner(self) -> float:
        """The width of a column without the gap at its right."""
        return self.width - self.unit * (0.5 if self.compact else 0.9)

    def heads(self, top: float) -> dict[str, QRectF]:
        """The boxes of the names, by counter."""
        tall = self.head_height / self.bands if self.counters else 0.0
        if not tall:
            return {}
        places = {c: self._column(place) for place, c in enumerate(self.counters)}
        return {c: QRectF(x, top + band * tall, self._inner, tall) for c, (band, x) in places.items()}

    def bars(self, entry: Entry, top: float) -> tuple[Bar, ...]:
        """The bars of a row; a counter without a value has none. A wrong result's work is not compared."""
        bars = []
        for place, counter in enumerate(self.counters):
            value = entry.counted(counter)
            if value is None or entry.ok is False:
                continue
            band, x = self._column(place)
            y, text = top + band * self.band, self._text(counter, entry, value)
            share = value / self.most[counter]
            if self.narrow:
                label = QRectF(x, y, self._inner - self.text_width, self.unit)
                side = QRectF(label.right(), y, self.text_width, self.unit)
                box = QRectF(x, label.bottom(), max(1.0, share * self._inner), self.unit * 0.4)
                bars.append(Bar(counter, box, text, side, label))
                continue
            if self.compact:
                above = QRectF(x, y, self._inner, self.unit * 0.9)
                box = QRectF(x, above.bottom(), max(1.0, share * self._inner), self.unit * 0.25)
                bars.append(Bar(counter, box, text, above))
                continue
            room = self._inner - self.text_width
            box = QRectF(x, y + self.unit * 0.25, max(1.0, share * room), self.unit * 0.75)
            # The value is written right after its bar, so that short bars and their values are read together.
            bars.append(Bar(counter, box, text, QRectF(box.right() + self.unit * 0.4, y, self.text_width, self.band)))
        return tuple(bars)

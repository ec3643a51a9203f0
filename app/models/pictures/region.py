"""Computes the statistics of a region: small ones at once, large ones in a background thread. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal, Slot

from app.models.background import Background
from app.models.pictures.region_figures import FigureRow, Sampled, figure_rows, size_of

SMALL = 1 << 18
"""The most values that are read at once, which takes a few milliseconds."""


class Request(NamedTuple):
    """What to compute: the part of each source that starts at `start` of the input."""

    sources: tuple[Sampled, ...]
    start: tuple[int, ...]
    shape: tuple[int, ...]

    def is_of(self, other: Request | None) -> bool:
        """Whether both read the same arrays."""
        if other is None or len(self.sources) != len(other.sources):
            return False
        pairs = zip(self.sources, other.sources, strict=True)
        return all(a.values is b.values and (a.key, a.start) == (b.key, b.start) for a, b in pairs)

    def equals(self, other: Request | None) -> bool:
        """Whether both have the same rows."""
        if other is None or not self.is_of(other) or (self.start, self.shape) != (other.start, other.shape):
            return False
        pairs = zip(self.sources, other.sources, strict=True)
        return all((a.title, a.current) == (b.title, b.current) for a, b in pairs)


class Measuring(QObject):
    """`rows` are the statistics computed last; `behind` says that they are not yet those of the last request.

    During a drag each finished computation starts that of the newest request, so that the statistics follow the mouse;
    a computation of arrays that are no longer shown is dropped. `failure` says why there are no statistics.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[FigureRow, ...] = ()
        self.failure = ""
        self._wanted: Request | None = None
        self._running: Request | None = None
        self._background = Background(self)
        self._background.finished.connect(self._take)
        self._background.failed.connect(self._fail)

    @property
    def behind(self) -> bool:
        return self._background.busy

    def want(self, sources: Sequence[Sampled], start: Sequence[int], shape: Sequence[int]) -> None:
        """Compute these statistics, unless they are known or being computed."""
        request = Request(tuple(sources), tuple(start), tuple(shape))
        if request.equals(self._wanted):
            return
        if not request.is_of(self._wanted):
            self._background.cancel()
        self._wanted = request
        if size_of(request.sources, request.start, request.shape) <= SMALL:
            self._background.cancel()
            self._take(figure_rows(*request))
        elif not self._background.busy:
            self._start(request)

    def _start(self, request: Request) -> None:
        self._running = request
        self._background.start(lambda stop: figure_rows(*request, stop))

    def clear(self) -> None:
        """Forget everything and release the arrays."""
        self._background.cancel()
        self._wanted = self._running = None
        if self.rows or self.failure:
            self.rows, self.failure = (), ""
            self.changed.emit()

    @Slot(object)
    def _take(self, rows: list[FigureRow] | None) -> None:
        self.rows, self.failure = tuple(rows or ()), ""
        running, self._running = self._running, None
        if running is not None and self._wanted is not None and running is not self._wanted:
            self._catch_up(self._wanted)
        self.changed.emit()

    def _catch_up(self, wanted: Request) -> None:
        """Compute the newest request, because the region has moved on."""
        if size_of(wanted.sources, wanted.start, wanted.shape) > SMALL:
            self._start(wanted)

    @Slot(str)
    def _fail(self, sentence: str) -> None:
        self.rows, self.failure, self._running = (), sentence, None
        self.changed.emit()

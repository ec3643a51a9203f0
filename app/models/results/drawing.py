"""Prepares a result for drawing, in the background where it is large."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot

from app.models.background import Background
from app.models.results.view_data import OutputData, ViewData

LARGE = 1 << 18
"""From so many values on, a background thread does the work."""


class Drawing(QObject):
    """Prepares one result of `variant` at a time; the latest wins. `done(variant, shown, drawn)` is emitted at once
    where the work is small; `failed(sentence)` says why nothing can be drawn."""

    done = Signal(str, object, object)
    failed = Signal(str)

    def __init__(self, variant: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.variant = variant
        self._background = Background(self)
        self._background.finished.connect(self._finish)
        self._background.failed.connect(self.failed)

    @property
    def busy(self) -> bool:
        return self._background.busy

    def start(self, shown: OutputData, draw: Callable[[OutputData], ViewData], at_once: bool) -> None:
        """Prepare this result. `at_once` says that it is cheap at any size."""
        self._background.cancel()
        if at_once or shown.array.size < LARGE:
            self.done.emit(self.variant, shown, draw(shown))
        else:
            self._background.start(lambda _stop: (shown, draw(shown)))

    def cancel(self) -> None:
        self._background.cancel()

    @Slot(object)
    def _finish(self, result: tuple[OutputData, ViewData]) -> None:
        self.done.emit(self.variant, *result)

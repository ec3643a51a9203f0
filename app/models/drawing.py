"""What is worked out of a result before it is drawn, away from the thread of the window where it takes long."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot

from app.models.background import Background
from app.models.shown import Drawn, Shown

LARGE = 1 << 18
"""Values from which on it is worked out elsewhere."""


class Drawing(QObject):
    """Draws one result of `variant` at a time; the latest wins. `done(variant, shown, drawn)` comes at once where that
    takes nothing; `failed(sentence)` says why nothing can be drawn."""

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

    def start(self, shown: Shown, draw: Callable[[Shown], Drawn], at_once: bool) -> None:
        """Draw this one. `at_once` says that it takes nothing, however large."""
        self._background.cancel()
        if at_once or shown.array.size < LARGE:
            self.done.emit(self.variant, shown, draw(shown))
        else:
            self._background.start(lambda _stop: (shown, draw(shown)))

    def cancel(self) -> None:
        self._background.cancel()

    @Slot(object)
    def _finish(self, result: tuple[Shown, Drawn]) -> None:
        self.done.emit(self.variant, *result)

"""Hints: what a person may want to do next, one line at a time. Each goes away once it was done or dismissed. No
widgets."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.base.translate import QT_TRANSLATE_NOOP
from app.models.settings import Settings


@dataclass(frozen=True)
class Hint:
    """A hint. `id` is the action that does what it says. Texts are in English here."""

    id: str
    text: str


HINTS = (
    Hint("start", QT_TRANSLATE_NOOP("Hints", "New here? The start page has questions, lessons and samples.")),
    Hint("xray", QT_TRANSLATE_NOOP("Hints", "The X-ray shows what each line of a kernel costs.")),
    Hint("measure", QT_TRANSLATE_NOOP("Hints", "Measure with care before you compare times.")),
    Hint("compare_swipe", QT_TRANSLATE_NOOP("Hints", "Swipe puts two pictures in one place.")),
    Hint("full_screen", QT_TRANSLATE_NOOP("Hints", "Show one result on the whole screen.")),
    Hint("shortcuts", QT_TRANSLATE_NOOP("Hints", "The key ? lists all keys.")),
)
"""In the order in which they are shown."""


class Hints(QObject):
    """The hints that the user has not seen yet. `changed`: another one is to be shown, or none."""

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings

    @property
    def on(self) -> bool:
        """Whether hints are shown at all."""
        return self._settings.hints

    def set_on(self, on: bool) -> None:
        """Show hints, from the first one on, or none."""
        self._settings.set_hints(on)
        if on:
            self._settings.set_hints_done(())
        self.changed.emit()

    @property
    def present(self) -> Hint | None:
        """The hint to show; None where there is none left."""
        done = self._settings.hints_done
        return next((hint for hint in HINTS if hint.id not in done), None) if self.on else None

    def end(self, id: str) -> None:
        """The hint of this action was dismissed, or the action has been used."""
        if id not in self._settings.hints_done:
            self._settings.set_hints_done((*self._settings.hints_done, id))
            self.changed.emit()

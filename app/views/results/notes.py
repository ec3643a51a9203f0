"""Remarks on the input and on results: the steps applied to it, and how much of its noise is removed."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Slot

from app.base.paced import Paced
from app.models.experiment.session import Session
from app.models.experiment.steps import steps_text
from app.models.results.quality import quality_text
from app.models.results.results import Results
from app.views.results.pictures import INPUT, Pictures
from gpu_ops.engine.shared import SharedInput
from gpu_ops.types import Quality


class Notes(QObject):
    """Updates the remarks of the visible panes from the models. A remark on a result is valid only for the current
    settings."""

    def __init__(self, pictures: Pictures, session: Session, results: Results) -> None:
        super().__init__(pictures)
        self._pictures, self._session, self._results = pictures, session, results
        soon = Paced(self.refresh, lambda: results.playing, self)
        for changed in (
            pictures.arranged,
            pictures.view_changed,
            results.row_changed,
            results.rows_reset,
            session.changed,
        ):
            changed.connect(soon.ask)

    @Slot()
    def refresh(self) -> None:
        """Write all remarks again."""
        main, view, output = self._pictures.view, self._pictures.view_with(INPUT), self._session.output.id
        for variant in self._session.shown.ids:
            quality = self._quality(variant)
            main.set_note(variant, quality_text(quality.get(output)))
            if view is not main:  # a result may be shown next to the input as well
                view.set_note(variant, quality_text(next(iter(quality.values()), None)))
        shared = self._session.input
        if shared is not None and view.grid is None:  # pictures have the input's name and its steps as their title
            view.set_note(INPUT, " · ".join(text for text in (_label(shared), steps_text(shared)) if text))

    def _quality(self, variant: str) -> Mapping[str, Quality]:
        """By output; empty for a result of an earlier setting."""
        slot = self._session.shown.slot(variant)
        entry = self._results.entry(slot) if slot in self._results else None
        if entry is None or entry.row is None or entry.subject != self._session.shown.subject(variant):
            return {}
        return entry.row.quality


def _label(shared: SharedInput) -> str:
    """The name of a signal's only channel, which has no axis for it; "" if it has none or several."""
    labels = shared.facts.labels
    return labels[0] if len(labels) == 1 and len(shared.array.shape) == 1 else ""

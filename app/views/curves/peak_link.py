"""Brings the peaks that a run found to the curves of its spectrum."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from PySide6.QtCore import QObject, Slot

from app.models.curves.peaks import PEAKS, Peak, peaks_of
from app.models.experiment.session import Session
from app.views.results.pictures import Pictures


@runtime_checkable
class Marked(Protocol):
    """A view of spectra that marks peaks on the curve of one result."""

    def set_peaks(self, key: str, peaks: tuple[Peak, ...]) -> None: ...


class PeakLink(QObject):
    """The visible spectrum shows the peaks of the first variant that gives both in one run, if it is of the present
    choice."""

    def __init__(self, pictures: Pictures, session: Session) -> None:
        super().__init__(pictures)
        self._pictures, self._session = pictures, session
        for signal in (pictures.view_changed, pictures.drawn_changed, session.changed):
            signal.connect(self._show)

    @Slot()
    def _show(self) -> None:
        view, session = self._pictures.view, self._session
        if not isinstance(view, Marked):
            return
        for variant in session.shown.ids:
            curve, table = (self._pictures.shown(variant, name) for name in (session.output.id, PEAKS))
            if curve is not None and table is not None and table.result.form.rank == 2:
                subjects = {curve.origin.subject, table.origin.subject}
                if subjects == {session.shown.subject(variant)}:
                    view.set_peaks(variant, peaks_of(table))
                    return
        view.set_peaks("", ())

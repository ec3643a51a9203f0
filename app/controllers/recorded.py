"""Runs recorded on other machines, beside those made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Signal

from app.models.job_text import job_text, nearest_jobs
from app.models.results import Results
from app.models.session import Session
from gpu_ops.measuring.machines import machine_name
from gpu_ops.measuring.rows import Report, Row
from gpu_ops.run_key import items_of

Reports = Mapping[str, Report]
SUBJECT = "recorded"


class RecordedRuns(QObject):
    """While shown, rows of recorded reports that did the job chosen now stand among the results.

    Make it after the controller, which declares the session's own rows first. `message(kind, sentence, details,
    subject)` says once when there is none, and `succeeded(subject)` that there are some or nobody wants them any more.
    """

    message = Signal(str, str, str, str)
    succeeded = Signal(str)

    def __init__(
        self, session: Session, results: Results, reports: Callable[[], Reports], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._results, self._read = session, results, reports
        self._reports: Reports | None = None
        self._told = False
        self.shown = False
        session.choice_changed.connect(self._update)
        session.input_changed.connect(self._update)
        session.device_changed.connect(self._update)

    def show(self, shown: bool) -> None:
        """On or off; reports are read the first time they are wanted."""
        self.shown, self._told = shown, False
        if shown and self._reports is None:
            self._reports = self._read()
        if not shown:
            self.succeeded.emit(SUBJECT)
        self._put()

    def _update(self) -> None:
        if self.shown:
            self._put()

    def _put(self) -> None:
        """Show what fits, and say so or not: what was said before may hold no longer."""
        matching = self._matching() if self.shown else []
        titles = {v.id: v.title for v in self._session.filter.variants}
        self._results.set_recorded(matching, titles)
        if matching:
            self.succeeded.emit(SUBJECT)
        elif self.shown and self._session.input is not None and not self._told:
            self._told = True
            self.message.emit("info", self._missing(), "", SUBJECT)

    def _rows(self) -> list[tuple[Row, str]]:
        """Rows of the filter chosen now, each with its machine."""
        reports, filter = (self._reports or {}).values(), self._session.choice.filter
        named = ((report, machine_name(report.provenance)) for report in reports)
        return [(row, machine) for report, machine in named for row in report.rows if row.filter == filter]

    def _matching(self) -> list[tuple[Row, str]]:
        """Rows with the filter, parameters, shape and type chosen now; one for a variant, device and machine."""
        shared, choice = self._session.input, self._session.choice
        if shared is None:
            return []
        wanted = items_of(choice.params), tuple(shared.array.shape), shared.array.dtype
        order = [v.id for v in self._session.filter.variants]
        found: dict[tuple[str, str, str], Row] = {}
        for row, machine in self._rows():
            key = (row.variant, row.device, machine)
            same = row.variant in order and (row.key.param_items, row.shape, row.dtype) == wanted
            if same and (key not in found or self._rank(row) > self._rank(found[key])):
                found[key] = row
        kept = [(row, key[2]) for key, row in found.items()]
        return sorted(kept, key=lambda pair: (pair[1], order.index(pair[0].variant)))

    def _rank(self, row: Row) -> tuple[bool, bool, bool]:
        """Shipped kernels and careful timing count more; then the knobs that are set here."""
        own = self._session.key(row.variant)
        return not row.edits, row.protocol == "careful", row.key.knob_items == own.knob_items

    def _missing(self) -> str:
        """That there is none, and what comes nearest."""
        shared, filter = self._session.input, self._session.filter
        assert shared is not None
        job = job_text(filter, self._session.choice.params, shared.array.shape, shared.array.dtype)
        near = nearest_jobs([row for row, _ in self._rows()], shared.array.shape, shared.array.dtype)
        if not near:
            return self.tr("No run of {filter} is recorded; open Help, Claims for what is.").format(filter=filter.title)
        text = self.tr("No recorded run did this: {job}. The nearest that is recorded: {near}.")
        return text.format(job=job, near=self.tr("; or ").join(near))

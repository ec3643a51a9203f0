"""Runs recorded on other machines, next to those of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Signal, Slot

from app.models.experiment.change import Change
from app.models.experiment.job_text import job_text, nearest_jobs
from app.models.experiment.session import Session
from app.models.results.results import Results
from gpu_ops.report.kernel_age import of_older_code
from gpu_ops.report.machines import machine_name
from gpu_ops.report.rows import Report, Row
from gpu_ops.run_key import items_of

Reports = Mapping[str, Report]
SUBJECT = "recorded"


class RecordedRuns(QObject):
    """While `shown`, adds the recorded rows of the present job to the results.

    Create it after the controller, which declares the session's own rows first. `message(kind, sentence, details,
    subject)` says once that there are none; `succeeded(subject)` that there are some or that they are switched off.
    """

    message = Signal(str, str, str, str)
    succeeded = Signal(str)

    def __init__(
        self, session: Session, results: Results, reports: Callable[[], Reports], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._results, self._read = session, results, reports
        self._reports: Reports | None = None
        self._message_sent = False
        self.shown = False
        session.changed.connect(self._update)

    def show(self, shown: bool) -> None:
        """Show or hide recorded rows; reports are read the first time."""
        self.shown, self._message_sent = shown, False
        if shown and self._reports is None:
            self._reports = self._read()
        if not shown:
            self.succeeded.emit(SUBJECT)
        self._put()

    @Slot(object)
    def _update(self, change: Change) -> None:
        if self.shown and (change.experiment or change.input or change.device):
            self._put()

    def _put(self) -> None:
        """Show the matching rows; report that there are none, or remove that message."""
        matching = self._matching() if self.shown else []
        titles = {v.id: v.title for v in self._session.filter.variants}
        self._results.set_recorded(matching, titles)
        if matching:
            self.succeeded.emit(SUBJECT)
        elif self.shown and self._session.input is not None and not self._message_sent:
            self._message_sent = True
            self.message.emit("info", self._missing(), "", SUBJECT)

    def _rows(self) -> list[tuple[Row, str]]:
        """The recorded rows of the present filter, each with its machine."""
        reports, filter = (self._reports or {}).values(), self._session.choice.filter
        machines = ((report, machine_name(report.provenance)) for report in reports)
        return [(row, machine) for report, machine in machines for row in report.rows if row.filter == filter]

    def _matching(self) -> list[tuple[Row, str]]:
        """The rows with the present filter, parameters, shape and type; one per variant, device and machine."""
        shared, choice = self._session.input, self._session.choice
        if shared is None:
            return []
        job = items_of(choice.params), tuple(shared.array.shape), shared.array.dtype
        order = [v.id for v in self._session.filter.variants]
        best: dict[tuple[str, str, str], Row] = {}
        for row, machine in self._rows():
            key = (row.variant, row.device, machine)
            same = row.variant in order and (row.key.param_items, row.shape, row.dtype) == job
            if same and (key not in best or self._rank(row) > self._rank(best[key])):
                best[key] = row
        pairs = [(row, key[2]) for key, row in best.items()]
        return sorted(pairs, key=lambda pair: (pair[1], order.index(pair[0].variant)))

    def _rank(self, row: Row) -> tuple[bool, bool, bool, bool]:
        """The rank of a row: shipped kernels first, then unchanged ones, then careful timing, then the present
        knobs."""
        own = self._session.shown.key(row.variant)
        return not row.edits, not of_older_code(row), row.protocol == "careful", row.key.knob_items == own.knob_items

    def _missing(self) -> str:
        """The message that no recorded run matches, with the nearest jobs."""
        shared, filter = self._session.input, self._session.filter
        assert shared is not None
        job = job_text(filter, self._session.choice.params, shared.array.shape, shared.array.dtype)
        near = nearest_jobs([row for row, _ in self._rows()], shared.array.shape, shared.array.dtype)
        if not near:
            text = self.tr("There are no recorded runs of {filter}; Help, Claims shows what is recorded.")
            return text.format(filter=filter.title)
        text = self.tr("There is no recorded run of {job}. The nearest recorded runs: {near}.")
        return text.format(job=job, near=self.tr("; or ").join(near))

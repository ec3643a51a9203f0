"""Runs recorded on other machines, next to those of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from app.models.experiment.change import Change
from app.models.experiment.job_text import job_text, nearest_jobs, row_job_text
from app.models.experiment.session import Session
from app.models.results.results import Results
from gpu_ops.report.kernel_age import has_older_kernels
from gpu_ops.report.machines import machine_name
from gpu_ops.report.rows import Report, Row
from gpu_ops.run_key import Items, items_of

Reports = Mapping[str, Report]
Job = tuple[Items, tuple[int, ...], str]
"""Parameters, shape and type."""
SUBJECT = "recorded"


class RecordedRuns(QObject):
    """While `shown`, adds the recorded rows of the present job to the results, or those of another job that the user
    chose.

    Create it after the controller, which declares the session's own rows first. `missing(sentence, choices)` says once
    that there are none, with a choice for each of the nearest jobs; `succeeded(subject)` that there are some or that
    they are switched off.
    """

    missing = Signal(str, object)
    succeeded = Signal(str)

    def __init__(
        self, session: Session, results: Results, reports: Callable[[], Reports], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._results, self._read = session, results, reports
        self._reports: Reports | None = None
        self._message_sent = False
        self._other: Row | None = None
        self.shown = False
        session.changed.connect(self._update)

    def show(self, shown: bool) -> None:
        """Show or hide recorded rows; reports are read the first time."""
        self.shown, self._message_sent, self._other = shown, False, None
        if shown and self._reports is None:
            self._reports = self._read()
        if not shown:
            self.succeeded.emit(SUBJECT)
        self._put()

    def show_job(self, row: Row) -> None:
        """Show the rows of the job of this row, which is not the present one: each says of what job it is."""
        self._other = row
        self._put()

    @Slot(object)
    def _update(self, change: Change) -> None:
        if self.shown and (change.experiment or change.input or change.device):
            if change.after.choice.params != change.before.choice.params or change.input or change.filter:
                self._other = None
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
            self.missing.emit(*self._missing())

    def _rows(self) -> list[tuple[Row, str]]:
        """The recorded rows of the present filter, each with its machine."""
        reports, filter = (self._reports or {}).values(), self._session.choice.filter
        machines = ((report, machine_name(report.provenance)) for report in reports)
        return [(row, machine) for report, machine in machines for row in report.rows if row.filter == filter]

    def _matching(self) -> list[tuple[Row, str]]:
        """The rows with the present filter, parameters, shape and type, else those of the other job that was chosen,
        whose machine says so; one per variant, device and machine."""
        shared, choice = self._session.input, self._session.choice
        if shared is None:
            return []
        own = self._of_job((items_of(choice.params), tuple(shared.array.shape), shared.array.dtype))
        if own or self._other is None:
            return own
        of = row_job_text(self._other)
        return [(row, f"{machine} · {of}") for row, machine in self._of_job(_job(self._other))]

    def _of_job(self, job: Job) -> list[tuple[Row, str]]:
        order = [v.id for v in self._session.filter.variants]
        best: dict[tuple[str, str, str], Row] = {}
        for row, machine in self._rows():
            key = (row.variant, row.device, machine)
            if (
                row.variant in order
                and _job(row) == job
                and (key not in best or self._rank(row) > self._rank(best[key]))
            ):
                best[key] = row
        pairs = [(row, key[2]) for key, row in best.items()]
        return sorted(pairs, key=lambda pair: (pair[1], order.index(pair[0].variant)))

    def _rank(self, row: Row) -> tuple[bool, bool, bool, bool]:
        """The rank of a row: shipped kernels first, then unchanged ones, then careful timing, then the present
        knobs."""
        own = self._session.shown.key(row.variant)
        return (
            not row.edits,
            not has_older_kernels(row),
            row.protocol == "careful",
            row.key.knob_items == own.knob_items,
        )

    def _missing(self) -> tuple[str, dict[str, Callable[[], object]]]:
        """The message that no recorded run matches, and the nearest jobs to show instead."""
        shared, filter, params = self._session.input, self._session.filter, self._session.choice.params
        assert shared is not None
        job = job_text(filter, params, shared.array.shape, shared.array.dtype)
        near = nearest_jobs([row for row, _ in self._rows()], params, shared.array.shape, shared.array.dtype)
        if not near:
            text = self.tr("There are no recorded runs of {filter}; Help, Claims shows what is recorded.")
            return text.format(filter=filter.title), {}
        text = self.tr("There is no recorded run of {job}. The nearest recorded runs: {near}.")
        show = self.tr("Show {job}")
        choices: dict[str, Callable[[], object]] = {
            show.format(job=words): partial(self.show_job, row) for words, row in near
        }
        return text.format(job=job, near=self.tr("; or ").join(words for words, _ in near)), choices


def _job(row: Row) -> Job:
    return row.key.param_items, row.shape, row.dtype

"""Runs recorded on other machines, beside those made here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.models.job_text import job_text, nearest_jobs
from app.models.results import Results
from app.models.session import Session

Reports = Mapping[str, Mapping[str, Any]]
SUBJECT = "recorded"


def machine(report: Mapping[str, Any]) -> str:
    """What a report's machine is called: by its GPUs, else by its processor."""
    provenance = report["provenance"]
    models = [d["model"] for name, d in provenance.get("devices", {}).items() if name != "cpu" and d.get("model")]
    return ", ".join(dict.fromkeys(models)) or str(provenance.get("cpu") or "")


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

    def _rows(self) -> list[tuple[Mapping[str, Any], str]]:
        """Rows of the filter chosen now, each with its machine."""
        reports, filter = (self._reports or {}).values(), self._session.choice.filter
        return [(row, machine(report)) for report in reports for row in report["runs"] if row["filter"] == filter]

    def _matching(self) -> list[tuple[Mapping[str, Any], str]]:
        """Rows with the filter, parameters, shape and type chosen now; one for a variant, device and machine."""
        shared, choice = self._session.input, self._session.choice
        if shared is None:
            return []
        wanted = _text([choice.params, shared.array.shape, shared.array.dtype])
        found: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        for row, machine in self._rows():
            key = (row["variant"], row["device"], machine)
            same = _text([row[n] for n in ("params", "shape", "dtype")]) == wanted
            if same and (key not in found or self._rank(row) > self._rank(found[key])):
                found[key] = row
        order = [v.id for v in self._session.filter.variants]
        kept = [(row, key[2]) for key, row in found.items() if key[0] in order]
        return sorted(kept, key=lambda pair: (pair[1], order.index(pair[0]["variant"])))

    def _rank(self, row: Mapping[str, Any]) -> tuple[bool, bool]:
        """Careful timing counts more; then the knobs that are set here."""
        variant = self._session.filter.variant(row["variant"])
        knobs = {k.name: k.default for k in variant.knobs} | dict(self._session.choice.knobs.get(variant.id, {}))
        return row.get("protocol") == "careful", row.get("knobs") == knobs

    def _missing(self) -> str:
        """That there is none, and what comes nearest."""
        shared, filter = self._session.input, self._session.filter
        assert shared is not None
        job = job_text(filter, self._session.choice.params, shared.array.shape, shared.array.dtype)
        near = nearest_jobs(filter, [row for row, _ in self._rows()], shared.array.shape, shared.array.dtype)
        if not near:
            return self.tr("No run of {filter} is recorded; open Help, Claims for what is.").format(filter=filter.title)
        text = self.tr("No recorded run did this: {job}. The nearest that is recorded: {near}.")
        return text.format(job=job, near=self.tr("; or ").join(near))


def _text(job: list[Any]) -> str:
    return json.dumps(job, sort_keys=True, default=dict)

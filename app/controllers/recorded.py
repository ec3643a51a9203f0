"""Runs recorded on other machines, beside those made here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.models.results import Results
from app.models.session import Session

Reports = Mapping[str, Mapping[str, Any]]


def machine(report: Mapping[str, Any]) -> str:
    """What a report's machine is called: by its GPUs, else by its processor."""
    provenance = report["provenance"]
    models = [d["model"] for name, d in provenance.get("devices", {}).items() if name != "cpu" and d.get("model")]
    return ", ".join(dict.fromkeys(models)) or str(provenance.get("cpu") or "")


class RecordedRuns(QObject):
    """While shown, rows of recorded reports that did the job chosen now stand among the results.

    Make it after the controller, which declares the session's own rows first. `message(kind, sentence, details)` says
    when there is none.
    """

    message = Signal(str, str, str)

    def __init__(
        self, session: Session, results: Results, reports: Callable[[], Reports], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._results, self._read = session, results, reports
        self._reports: Reports | None = None
        self.shown = False
        session.choice_changed.connect(self._update)
        session.input_changed.connect(self._update)
        session.device_changed.connect(self._update)

    def show(self, shown: bool) -> None:
        """On or off; reports are read the first time they are wanted."""
        self.shown = shown
        if shown and self._reports is None:
            self._reports = self._read()
        if shown and not self._matching():
            self.message.emit("info", self._missing(), "")
        self._put()

    def _update(self) -> None:
        if self.shown:
            self._put()

    def _put(self) -> None:
        titles = {v.id: v.title for v in self._session.filter.variants}
        self._results.set_recorded(self._matching() if self.shown else [], titles)

    def _matching(self) -> list[tuple[Mapping[str, Any], str]]:
        """Rows with the filter, parameters, shape and type chosen now; one for a variant, device and machine."""
        shared, choice = self._session.input, self._session.choice
        if shared is None:
            return []
        wanted = _text([choice.filter, choice.params, shared.array.shape, shared.array.dtype])
        found: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        for report in (self._reports or {}).values():
            for row in report["runs"]:
                key = (row["variant"], row["device"], machine(report))
                same = _text([row[n] for n in ("filter", "params", "shape", "dtype")]) == wanted
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
        jobs = {
            f"{row['filter']} {' × '.join(str(n) for n in row['shape'])} {row['dtype']}"
            for report in (self._reports or {}).values()
            for row in report["runs"]
        }
        text = self.tr("No recorded run did just this job. Recorded with their default parameters: {jobs}.")
        return text.format(jobs=", ".join(sorted(jobs)) or self.tr("none"))


def _text(job: list[Any]) -> str:
    return json.dumps(job, sort_keys=True, default=dict)

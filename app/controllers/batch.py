"""A batch over a folder in a process of its own: counted, started, followed, stopped and resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal, Slot

import gpu_ops
from app.base.numbers import count as counted_text
from app.models.background import Background
from app.models.batch.previews import Previews
from app.models.batch.table import STATES, BatchTable
from app.models.batch.wanted import Counted, Wanted, counted, spec_of, words_of
from app.models.experiment.session import Session
from app.models.settings import Settings
from gpu_ops import BatchEvent, BatchSpec, KernelscopeError
from gpu_ops.batch.run import REPORT, Pace
from gpu_ops.errors import FINE, STOPPED

SUBJECT = "batch"
INTERVAL_MS = 100
MOST = 2000
"""Events that are taken in at a time: more would hold up the window."""


class Running(Protocol):
    """A batch that was started, such as a BatchProcess."""

    def cancel(self) -> None: ...
    def events(self, wait: bool = True) -> Iterator[BatchEvent]: ...
    def close(self) -> None: ...


class BatchController(QObject):
    """The one batch of a window, which keeps its own settings while those of the window change. `changed`: it began,
    went on or ended; `counted`: files were counted; `message` and `succeeded` are as those of the session's controller.

    `begin` starts a batch. `spec` and `words` are those of the present or the last one, `fault` is the reason why it
    could not go on, `said` what its workers say, and `dashboard` their page.
    """

    changed = Signal()
    counted = Signal(object)
    ended = Signal()
    message = Signal(str, str, str, str)
    succeeded = Signal(str)

    def __init__(self, session: Session, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session, self._settings = session, settings
        self.table, self.previews = BatchTable(self), Previews(self)
        self.begin: Callable[[BatchSpec], Running] = lambda spec: gpu_ops.BatchProcess(spec)
        self.spec: BatchSpec | None = None
        self.words = self.fault = self.said = self.dashboard = ""
        self.pace, self.stopping, self.code = Pace(0, 0, 0.0, None), False, FINE
        self._run: Running | None = None
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self._follow)
        self._counting = Background(self)
        self._counting.finished.connect(self.counted)
        self._counting.failed.connect(lambda sentence: self.counted.emit(Counted(fault=sentence)))

    @property
    def running(self) -> bool:
        return self._run is not None

    @property
    def resumable(self) -> bool:
        """Whether the last batch has files left, or some without a right result."""
        return self.spec is not None and not self.running and self.code != FINE

    @property
    def remembered(self) -> Wanted:
        """The fields of the last batch."""
        return Wanted.from_text(self._settings.batch)

    @property
    def report(self) -> str:
        """The report of the present or the last batch, "" where there is none."""
        path = "" if self.spec is None else os.path.join(self.spec.output_dir, REPORT)
        return path if os.path.exists(path) else ""

    def count(self, wanted: Wanted) -> None:
        """Count the files in the background; the latest request wins."""
        self._counting.start(lambda _stop: counted(wanted))

    def start(self, wanted: Wanted, variant: str) -> str:
        """Begin a batch with the present settings, by this variant. Returns why it cannot, "" if it can."""
        if self.running:
            return self.tr("A batch runs already; stop it first, or wait for its end.")
        try:
            spec = spec_of(self.session, wanted, variant)
            fault = wanted.lacks()
        except KernelscopeError as error:
            return str(error)
        if not fault:
            self._settings.set_batch(wanted.text)
            self.words = words_of(spec)
            self._begin(spec)
        return fault

    def resume(self) -> None:
        """Go on with the last batch, with its settings: what is done is left out."""
        if self.resumable and self.spec is not None:
            self._begin(replace(self.spec, resume=True))

    def cancel(self) -> None:
        """Stop in order: no more files begin, and those at work are finished."""
        if self._run is not None:
            self._run.cancel()
            self.stopping = True
            self.changed.emit()

    def close(self) -> None:
        """End its process now. Finished files stay, and no file is half-written under its name."""
        self._timer.stop()
        if self._run is not None:
            self._run.close()
            self._run = None

    def _begin(self, spec: BatchSpec) -> None:
        self.spec, self.stopping, self.code = spec, False, STOPPED
        self.fault = self.said = self.dashboard = ""
        self.pace = Pace(0, 0, 0.0, None)
        self.table.clear(self.remembered.folder)
        self.previews.clear()
        self.succeeded.emit(SUBJECT)
        try:
            self._run = self.begin(spec)
        except OSError as error:
            self.fault = self.tr("The process of the batch did not start ({reason}); end other programs.").format(
                reason=error.strerror
            )
            self.changed.emit()
            return
        self._timer.start()
        self.changed.emit()

    @Slot()
    def _follow(self) -> None:
        """Take in what has happened since the last look."""
        if self._run is None:
            return
        events = list(islice(self._run.events(wait=False), MOST))
        if not events:
            return
        self.table.take(events)
        self.pace, self.dashboard = events[-1].pace, events[-1].dashboard or self.dashboard
        self.said = next((e.text for e in reversed(events) if e.what == "message"), self.said)
        if events[-1].what == "ended":
            self._end(events[-1])
        self.changed.emit()

    def _end(self, event: BatchEvent) -> None:
        self.close()
        self.table.leave()
        self.code, self.fault, self.stopping = event.code, event.text, False
        kind = "info" if self.code == FINE else "warning"
        self.message.emit(kind, self.tr("Batch: {words}.").format(words=self.outcome), "", SUBJECT)
        self.ended.emit()

    @property
    def outcome(self) -> str:
        """What has become of the files, in words."""
        names = [(name, number) for name in STATES if (number := self.table.tally[name])]
        words = ", ".join(f"{counted_text(number)} {self.table.state_words(name)}" for name, number in names)
        left = 0 if self.running else self.pace.count - self.pace.done
        not_reached = left - self.table.tally["not finished"]
        more = self.tr("{count} not reached").format(count=counted_text(not_reached)) if not_reached > 0 else ""
        words = ", ".join(filter(None, (words, more)))
        words += self.tr("; Resume goes on with them") if left > 0 else ""
        return ". ".join(filter(None, (self.fault.rstrip("."), words)))

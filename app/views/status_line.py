"""The status bar: what runs, how many results there are, and where the engine works."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar

from app.models.results import Results
from gpu_ops.devices.status import DeviceStatus

PATIENCE_MS = 300
"""Runs shorter than this show no bar, which would only flicker."""


class StatusLine(QObject):
    """Fills a status bar. Cancelling is offered only while something runs."""

    def __init__(self, bar: QStatusBar, results: Results, cancel: QAction) -> None:
        super().__init__(bar)
        self._results, self._cancel = results, cancel
        self._engine = self.tr("engine starting")
        self.busy = QLabel(bar)
        self.busy.setObjectName("busy")
        self.state = QLabel(bar)
        self.state.setObjectName("engineState")
        self.progress = QProgressBar(bar)
        self.progress.setRange(0, 0)
        self.progress.setMaximumWidth(bar.fontMetrics().averageCharWidth() * 20)
        self.progress.setAccessibleName(self.tr("Something is running"))
        self.progress.hide()
        bar.addWidget(self.busy, 1)
        bar.addPermanentWidget(self.progress)
        bar.addPermanentWidget(self.state)
        self._wait = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._wait.timeout.connect(self.progress.show)
        results.rows_reset.connect(self._describe)
        results.row_changed.connect(self._describe)
        cancel.setEnabled(False)
        self._describe()

    @Slot(str)
    def show_busy(self, text: str) -> None:
        """What runs; nothing when nothing does."""
        self.busy.setText(text)
        self._cancel.setEnabled(bool(text))
        if not text:
            self._wait.stop()
            self.progress.hide()
        elif not self._wait.isActive() and self.progress.isHidden():
            self._wait.start()

    @Slot(object)
    def show_devices(self, statuses: Sequence[DeviceStatus]) -> None:
        """Where the engine can run."""
        names = [s.name for s in statuses if s.available]
        if "cpu" not in names:
            names.insert(0, "cpu")
        self._engine = self.tr("engine ready on {devices}").format(devices=", ".join(names))
        self._describe()

    def _describe(self) -> None:
        count = sum(bool(e.row) for e in self._results.entries())
        results = self.tr("1 result") if count == 1 else self.tr("{count} results").format(count=count)
        self.state.setText(f"{results} · {self._engine}")

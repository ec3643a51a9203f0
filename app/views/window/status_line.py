"""The status bar: the running job, the number of results, and the engine's devices."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QProgressBar, QSizePolicy, QStatusBar, QToolButton, QWidget

from app.base.numbers import shown
from app.models.results.results import Results
from app.views.labels import named
from app.views.parts import ElidedLabel
from gpu_ops.devices.status import DeviceStatus

PATIENCE_MS = 300
"""Shorter runs show no progress bar, which would only flicker."""
TICK_MS = 500
LEAST = 24
"""The letters of what runs that always have room."""
SECONDS_FROM = 1
"""The run time from which on the elapsed seconds are shown."""


class StatusLine(QObject):
    """Fills a status bar. Cancel is enabled only while something runs."""

    def __init__(self, bar: QStatusBar, results: Results, cancel: QAction) -> None:
        super().__init__(bar)
        self._results, self._cancel = results, cancel
        self._engine = self.tr("engine starting")
        self.busy = named(ElidedLabel("", bar), "busy")
        # It takes what the others leave: a long text must not squeeze the hint beside it.
        self.busy.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.busy.setMinimumWidth(bar.fontMetrics().averageCharWidth() * LEAST)
        self.state = named(QLabel(bar), "engineState")
        self.state.setTextFormat(Qt.TextFormat.PlainText)  # it contains names of devices
        self.elapsed = named(QLabel(bar), "elapsed")
        self.elapsed.setMinimumWidth(bar.fontMetrics().horizontalAdvance(shown(99999) + " s"))
        self.progress = named(QProgressBar(bar), title=self.tr("Something is running"))
        self.progress.setRange(0, 0)
        self.progress.setMaximumWidth(bar.fontMetrics().averageCharWidth() * 20)
        self.button = QToolButton(bar)
        self.button.setDefaultAction(cancel)
        self.button.setAutoRaise(True)
        _keep_place(self.progress)
        _keep_place(self.button)
        bar.addWidget(self.busy, 1)
        for widget in (self.elapsed, self.progress, self.button, self.state):
            bar.addPermanentWidget(widget)
        self._clock = QElapsedTimer()
        self._tick = QTimer(self, interval=TICK_MS)
        self._tick.timeout.connect(self._show_elapsed)
        self._wait = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._wait.timeout.connect(self._show_bar)
        results.rows_reset.connect(self._describe)
        results.row_changed.connect(self._describe)
        cancel.setEnabled(False)
        self._describe()

    @Slot()
    def begin(self) -> None:
        """A job starts; its length is unknown."""
        self._clock.start()
        self.elapsed.clear()
        self.progress.setRange(0, 0)

    @Slot(str)
    def show_busy(self, text: str) -> None:
        """Show what runs; "" for nothing. What runs for each of many frames would only flicker, and each change of an
        action costs its tool buttons memory that Qt never gives back."""
        playing = self._results.playing
        self.busy.setText(self.tr("showing frames") if playing else text)
        self._cancel.setEnabled(playing or bool(text))
        if playing or not text:
            self._wait.stop()
            self._tick.stop()
            self.elapsed.clear()
            self.progress.hide()
            self.button.hide()
        elif not self._wait.isActive() and self.progress.isHidden():
            self._wait.start()

    @Slot(int, int)
    def show_progress(self, done: int, total: int) -> None:
        """Show the progress in per cent; 0 of 0 where it is unknown."""
        if (self.progress.maximum(), self.progress.value()) != (total, done):
            # By itself the bar repaints at once, and the whole window with it, within the answer of the engine.
            self.progress.setUpdatesEnabled(False)
            self.progress.setRange(0, total)
            self.progress.setValue(done)
            self.progress.setUpdatesEnabled(True)

    def _show_bar(self) -> None:
        self.progress.show()
        self.button.show()
        self._tick.start()

    def _show_elapsed(self) -> None:
        seconds = self._clock.elapsed() // 1000 if self._clock.isValid() else 0
        if seconds >= SECONDS_FROM:
            self.elapsed.setText(self.tr("{seconds} s").format(seconds=shown(seconds)))

    @Slot(object)
    def show_devices(self, statuses: Sequence[DeviceStatus]) -> None:
        """Show the devices of the engine."""
        simulated = self.tr("{name} (simulated)")
        there = [s for s in statuses if s.available]
        names = [simulated.format(name=s.name) if s.kind == "sim" else s.name for s in there]
        if "cpu" not in names:
            names.insert(0, "cpu")
        self._engine = self.tr("engine ready on {devices}").format(devices=", ".join(names))
        self._describe()

    def _describe(self) -> None:
        count = sum(e.row is not None for e in self._results.entries())
        results = self.tr("1 result") if count == 1 else self.tr("{count} results").format(count=count)
        self.state.setText(f"{results} · {self._engine}")


def _keep_place(widget: QWidget) -> None:
    """Hide a widget without moving its neighbours."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    policy.setHorizontalPolicy(QSizePolicy.Policy.Fixed)
    widget.setSizePolicy(policy)
    widget.hide()

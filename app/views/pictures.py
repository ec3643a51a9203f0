"""The middle of the window: the input and its results as linked pictures, or as curves over one another."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.models.curve import Trace
from app.models.display import Display
from app.models.origin import WHOLE, Origin
from app.models.results import Entry, Key, Results
from app.models.session import Session
from app.models.stroke import input_stroke, variant_stroke
from app.views.panes import PaneGrid
from app.views.parts import mark_texts
from app.views.signal_pane import SignalPane

INPUT = "input"
MOST_PANES = 6


class Pictures(QStackedWidget):
    """Shows what it is given, in the order of the choice; what is known of a result stands on its picture.

    `arranged`: there may be other panes now.
    """

    arranged = Signal()

    def __init__(self, display: Display, session: Session, results: Results, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Pictures or curves"))
        self._session, self._results = session, results
        self.panes = PaneGrid(display, self)
        self.signal_pane = SignalPane(self)
        self._curves: dict[str, tuple[np.ndarray, float | None, Origin]] = {}
        self.addWidget(self.panes)
        self.addWidget(self.signal_pane)
        session.choice_changed.connect(self._choice_changed)
        results.row_changed.connect(self._show_verdict)

    @property
    def curved(self) -> bool:
        """Whether there are curves, not pictures."""
        return self.currentWidget() is self.signal_pane

    def titles(self) -> dict[str, str]:
        """Variants by id, as they are called."""
        return {v.id: v.title for v in self._session.filter.variants}

    @Slot(object, str)
    def _choice_changed(self, _choice: object, what: str) -> None:
        if what not in ("params", "knobs"):
            self.arrange()

    def arrange(self) -> None:
        """A pane for the input and each picked variant, as far as there is room."""
        keys = [INPUT, *self._session.choice.picks][:MOST_PANES]
        if tuple(keys) != tuple(self.panes.keys):
            self.panes.set_panes(keys)
        self._curves = {k: v for k, v in self._curves.items() if k == INPUT or k in keys}
        for key in self.signal_pane.findings:
            if key not in self._curves:
                self.signal_pane.bar(key).show_findings((), ())
        self._draw_curves()
        self.arranged.emit()

    def show_input(self, array: np.ndarray, shared: Any) -> None:
        """Another input; pictures or curves, as suits it. What was found in older results is gone."""
        image = shared.kind == "image"
        self._curves = {} if image else {INPUT: (array, shared.rate, WHOLE)}
        self.setCurrentWidget(self.panes if image else self.signal_pane)
        self.arrange()
        for pane in self.panes.panes.values():
            pane.findings.show_findings((), ())
        if image:
            self.panes.set_array(INPUT, array, shared.statistics, shared.name)

    @Slot(str, object, object, object)
    def show_output(self, variant: str, array: np.ndarray, statistics: Any, origin: Origin) -> None:
        """A result, where it belongs in the input."""
        shared = self._session.input
        if self.curved and shared is not None:
            self._curves[variant] = (array, shared.rate, origin)
            self._draw_curves()
        elif variant in self.panes.panes:
            self.panes.set_array(variant, array, statistics, self.titles().get(variant, variant), origin)
            self.panes.pane(variant).set_state("unverified")

    def _draw_curves(self) -> None:
        titles = {INPUT: self.tr("input"), **self.titles()}
        curves = []
        for key, (array, rate, origin) in self._curves.items():
            columns, mark = array.reshape(len(array), -1), mark_texts(origin, array.shape)[1]
            start = origin.start[0] if origin.start else 0
            for channel in range(columns.shape[1]):
                name = titles.get(key, key)
                if columns.shape[1] > 1:
                    name = self.tr("{name}, channel {number}").format(name=name, number=channel + 1)
                filter = self._session.filter
                stroke = input_stroke(channel) if key == INPUT else variant_stroke(filter, key, channel)
                curves.append(Trace(name, columns[:, channel], rate, True, start, mark, stroke))
        self.signal_pane.set_curves(curves)

    @Slot(object)
    def _show_verdict(self, key: Key) -> None:
        entry = self._results.entry(key)
        if not entry.row or entry.recorded:
            return
        if self.curved and key[0] in self._session.choice.picks:
            self.signal_pane.bar(key[0]).show_findings(entry.findings, entry.printed, entry.name)
        elif key[0] in self.panes.panes:
            self._show_on_pane(entry)

    def _show_on_pane(self, entry: Entry) -> None:
        pane = self.panes.pane(entry.variant)
        pane.findings.show_findings(entry.findings, entry.printed)
        if entry.row.get("failure"):
            pane.set_state("failed", str(entry.row["failure"]))
        elif entry.ok is False:
            pane.set_state("wrong")
        elif entry.state == "stale":
            pane.set_state("stale")
        elif entry.ok:
            pane.set_state("fresh")

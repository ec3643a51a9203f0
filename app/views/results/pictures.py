"""The middle of the window: the input and its results as linked pictures, or as curves over one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.models.curve import Trace
from app.models.display import Display, natural_levels
from app.models.entry import Key
from app.models.layer import State
from app.models.origin import WHOLE, Origin
from app.models.results import Results
from app.models.session import Session
from app.models.stroke import input_stroke, variant_stroke
from app.models.subject import Subject
from app.views.parts import mark_texts
from app.views.results.panes import PaneGrid

if TYPE_CHECKING:
    from app.views.results.signal_pane import SignalPane

INPUT = "input"


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
        self._signal_pane: SignalPane | None = None
        self._curves: dict[str, tuple[np.ndarray, float | None, Origin]] = {}
        self._subjects: dict[str, Subject | None] = {}
        self.addWidget(self.panes)
        session.choice_changed.connect(self._choice_changed)
        session.device_changed.connect(self._judge_all)
        results.row_changed.connect(self._row_changed)

    @property
    def signal_pane(self) -> SignalPane:
        """Where curves are drawn, made when it is first asked for: pictures are there sooner without pyqtgraph."""
        if self._signal_pane is None:
            from app.views.results.signal_pane import SignalPane

            self._signal_pane = SignalPane(self)
            self.addWidget(self._signal_pane)
        return self._signal_pane

    @property
    def curved(self) -> bool:
        """Whether there are curves, not pictures."""
        return self.currentWidget() is not self.panes

    def titles(self) -> dict[str, str]:
        """Variants by id, as they are called."""
        return {v.id: v.title for v in self._session.filter.variants}

    @Slot(object, str)
    def _choice_changed(self, _choice: object, what: str) -> None:
        if what == "filter":
            self._forget_results()
        if what not in ("params", "knobs"):
            self.arrange()
        self._judge_all()

    def _forget_results(self) -> None:
        """Another input, or another filter: nothing of the one before stays in sight."""
        self._subjects = {}
        self._curves = {k: v for k, v in self._curves.items() if k == INPUT}
        for key, pane in self.panes.panes.items():
            if key != INPUT:
                pane.clear()
        self._clear_findings()

    def _clear_findings(self) -> None:
        """Those of curves that are no longer shown."""
        for key, bar in self._signal_pane.findings.items() if self._signal_pane else ():
            if key not in self._curves:
                bar.show_findings((), ())

    def arrange(self) -> None:
        """A pane for the input and each picked variant."""
        keys = [INPUT, *self._session.choice.picks]
        if tuple(keys) != tuple(self.panes.keys):
            self.panes.set_panes(keys)
        titles = self.titles()
        for key in keys[1:]:
            self.panes.pane(key).layer.set_title(titles.get(key, key))
        self._subjects = {k: v for k, v in self._subjects.items() if k in keys}
        self._curves = {k: v for k, v in self._curves.items() if k in keys}
        self._clear_findings()
        self._draw_curves()
        self.arranged.emit()

    def show_input(self, array: np.ndarray, shared: Any) -> None:
        """Another input, with levels, zoom and range of its own; pictures or curves, as suits it."""
        image = shared.kind == "image"
        self._forget_results()
        self._curves = {} if image else {INPUT: (array, shared.rate, WHOLE)}
        self.setCurrentWidget(self.panes if image else self.signal_pane)
        self.arrange()
        self._judge_all()
        if image:
            self.panes.display.set_input(shared.statistics, natural_levels(array, shared.statistics))
            self.panes.set_array(INPUT, array, shared.statistics, shared.name)
        else:
            self.panes.pane(INPUT).clear()
            self.signal_pane.fit_anew()

    @Slot(str, object, object, object)
    def show_output(self, variant: str, array: np.ndarray, statistics: Any, origin: Origin) -> None:
        """A result, where it belongs in the input, and what it is of."""
        shared = self._session.input
        if variant not in self.panes.panes:
            return
        self._subjects[variant] = origin.subject
        if self.curved and shared is not None:
            self._curves[variant] = (array, shared.rate, origin)
            self._draw_curves()
        else:
            self.panes.set_array(variant, array, statistics, self.titles().get(variant, variant), origin)
        self._judge(variant)

    @Slot(object)
    def set_heard(self, x: float | None) -> None:
        """Mark the place that is heard; None nowhere."""
        if self._signal_pane is not None:
            self._signal_pane.set_heard(x)

    def _draw_curves(self) -> None:
        if self._signal_pane is None:
            return
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
                curves.append(Trace(name, columns[:, channel], rate, True, start, mark, stroke, key))
        self.signal_pane.set_curves(curves)

    # Verdicts

    @Slot(object)
    def _row_changed(self, key: Key) -> None:
        entry = self._results.entry(key)
        if entry.recorded or key[0] not in self.panes.panes:  # the panes of a choice are made when it is heard of
            return
        bar = self.signal_pane.bar(key[0]) if self.curved else self.panes.pane(key[0]).findings
        bar.show_findings(entry.findings, entry.printed, entry.name if self.curved else "")
        bar.setEnabled(entry.current)
        self._judge(key[0])

    @Slot()
    def _judge_all(self) -> None:
        for variant in self.panes.keys[1:]:
            self._judge(variant)

    def _judge(self, variant: str) -> None:
        """Say of a picture what is known of it, and of nothing else: a verdict stands only where it, the picture and
        what is chosen now are of the same. What is of an earlier choice says so, and is drawn faintly."""
        present = self._session.subject(variant)
        state, text = self._verdict(variant, present)
        current = self._subjects.get(variant, present) == present
        if self.curved:
            self.signal_pane.set_state(variant, state, text, current)
        else:
            self.panes.pane(variant).layer.set_state(state, text, current)

    def _verdict(self, variant: str, present: Subject) -> tuple[State | None, str]:
        shown = self._subjects.get(variant)
        key = (variant, present.device)
        entry = self._results.entry(key) if key in self._results else None
        known = entry is not None and bool(entry.row) and entry.subject == present
        if known and entry is not None and entry.row.get("failure"):
            return "failed", str(entry.row["failure"])
        if shown is None:
            return None, ""
        if shown != present:
            return "stale", self._unlike_text(shown, present)
        if not known or entry is None or entry.ok is None:
            return "unverified", ""
        return ("fresh" if entry.ok else "wrong"), ""

    def _unlike_text(self, shown: Subject, present: Subject) -> str:
        """In what a picture differs from what is chosen now: "window 5"."""
        unlike = ", ".join(f"{name} {value}" for name, value in shown.unlike(present).items())
        return self.tr("of {what}").format(what=unlike) if unlike else ""

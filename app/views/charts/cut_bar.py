"""The threshold of a pyramid's details, below the results: its histogram, the line to drag, and how many are below."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QSignalBlocker, QTimer, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from app.models.background import Background
from app.models.curves.magnitudes import Magnitudes, details
from app.models.experiment.change import Change
from app.models.experiment.session import Session
from app.models.experiment.subject import Subject
from app.models.results.view_data import Array, OutputData
from app.views.boxes import in_column, in_row
from app.views.charts.cut_plot import CutPlot
from app.views.labels import buddy, named
from app.views.parts import Combo, ElidedLabel, number
from app.views.results.reading import band_name, with_unit
from gpu_ops.output_kinds import Band
from gpu_ops.params import Param, Threshold
from gpu_ops.types import Output

THROTTLE_MS = 30
ALL = -1
"""The choice of all bands instead of one."""


class Cut(NamedTuple):
    """A parameter that is a threshold, its mode, and the output of coefficients that it applies to."""

    param: Param
    handle: Threshold
    output: Output


class CutBar(QWidget):
    """Visible while the parameters ask for an output over which a parameter is a threshold. It shows the coefficients
    of the first variant that has them. When the user moves the line, the parameter follows, at most every 30 ms, and a
    whole drag is one step of undo."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cutBar")
        self._session = session
        self._shown: OutputData | None = None
        self._variant = ""
        self._counted: Magnitudes | None = None
        self._bands: tuple[Band, ...] = ()
        self._tables: dict[str, tuple[Subject | None, Array]] = {}
        self._wanted: tuple[float, bool] | None = None
        self._later = QTimer(self, singleShot=True, interval=THROTTLE_MS)
        self._later.timeout.connect(self._send)
        self._background = Background(self)
        self._background.finished.connect(self._take)
        self.plot = CutPlot(self)
        self.plot.moved.connect(self._move)
        self.bands = named(Combo(self), "cutBands", title=self.tr("Coefficients"))
        self.bands.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.bands.activated.connect(self._show)
        self.words = named(ElidedLabel(parent=self), "cutWords")
        self._arrange()
        session.changed.connect(self._changed)
        self.forget()
        self.setVisible(self.cut is not None)

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        row = in_row(buddy(self.tr("Threshold in"), self.bands), self.bands, (self.words, 1), gap=unit)
        in_column(row, self.plot, on=self, margins=(unit, unit // 2, unit, unit // 2), gap=unit // 2)

    @property
    def cut(self) -> Cut | None:
        """The threshold over an output that the present parameters ask for."""
        thresholds = ((p, p.handle) for p in self._session.filter.params if isinstance(p.handle, Threshold))
        given = {output.id: output for output in self._session.given}
        return next((Cut(param, own, given[own.over]) for param, own in thresholds if own.over in given), None)

    # Results

    @Slot(str, str, object)
    def show_output(self, variant: str, name: str, shown: OutputData) -> None:
        """Take the coefficients and the thresholds of a variant."""
        cut = self.cut
        if cut is None:
            return
        if name == cut.handle.table:
            rows = np.array(shown.array, np.float64).reshape(len(shown.array), -1)
            self._tables[variant] = shown.origin.subject, rows
            self._show()
        elif name == cut.output.id and self._better(variant, shown):
            self._shown, self._variant = shown, variant
            self._background.start(lambda _stop: (shown, Magnitudes.of(shown.array, shown.result.form)))

    def _better(self, variant: str, shown: OutputData) -> bool:
        """Whether to show these coefficients instead of the present ones: a newer result of the variant, the first one
        of a newer choice, or one of the whole input in place of a part."""
        if self._shown is None or variant == self._variant:
            return True
        one, other = shown.origin.subject, self._shown.origin.subject
        if one is None or other is None or (one.input, one.key.params) != (other.input, other.key.params):
            return True
        return bool(self._shown.origin.whole) and not shown.origin.whole

    @Slot(object)
    def _take(self, result: tuple[OutputData, Magnitudes]) -> None:
        shown, self._counted = result
        found = details(shown.result.form)
        if found != self._bands:
            self._bands = found
            self._list_bands()
        self._show()

    def _list_bands(self) -> None:
        before = self.bands.currentData()
        with QSignalBlocker(self.bands):
            self.bands.clear()
            self.bands.addItem(self.tr("all details"), ALL)
            for place, band in sorted(enumerate(self._bands), key=lambda pair: (pair[1].level, pair[0])):
                self.bands.addItem(band_name(band), place)
            self.bands.setCurrentIndex(max(0, self.bands.findData(before)))

    @Slot()
    def forget(self) -> None:
        """Drop everything: the input, filter or variant has changed."""
        self._background.cancel()
        self._later.stop()
        self._shown = self._counted = self._wanted = None
        self._variant, self._bands = "", ()
        self._tables.clear()
        self.bands.clear()
        self._show()

    @Slot(object)
    def _changed(self, change: Change) -> None:
        lost = self._variant and self._variant not in self._session.shown.ids
        if change.filter or change.opened or lost or self.cut is None:
            self.forget()
        self.setVisible(self.cut is not None)
        self._show()

    # What is shown

    def _chosen(self) -> list[int]:
        """The indices of the chosen bands."""
        place = self.bands.currentData()
        return list(range(len(self._bands))) if place in (None, ALL) else [place]

    def _thresholds(self) -> tuple[list[float], bool]:
        """The thresholds of the chosen bands without repeats, that of the finest band first, and whether they are those
        of the present choice."""
        assert self.cut is not None
        (param, handle, _), params = self.cut, self._session.params
        if param.matters(params):
            return [float(params[param.name])], self._counts_hold({param.name, *param.when})
        subject, rows = self._tables.get(self._variant, (None, np.zeros((0, 1))))
        if len(rows) < handle.first + len(self._bands):
            return [], False
        finest = sorted(self._chosen(), key=lambda k: self._bands[k].level)
        values = [float(value) for k in finest for value in rows[handle.first + k]]
        return list(dict.fromkeys(values)), subject == self._session.shown.subject(self._variant)

    def _counts_hold(self, free: set[str]) -> bool:
        """Whether the coefficients belong to the present choice, whatever the values of the parameters in `free`."""
        subject = self._shown.origin.subject if self._shown is not None else None
        if subject is None or subject.input != self._session.inputs:
            return False
        params = self._session.shown.key(self._variant).params
        return all(subject.key.params[name] == value for name, value in params.items() if name not in free)

    @Slot()
    def _show(self) -> None:
        """Show the present data; a line that the user drags stays."""
        self.plot.show_counts(self._counted, self._chosen())
        if self._counted is None:
            self.plot.show_lines((), (0.0, 0.0), True)
        elif not self.plot.dragging and self._wanted is None:
            lines, current = self._thresholds()
            self.plot.show_lines(lines, self._limits(), current)
        self._put_words()
        self.plot.describe(self.words.text())

    def _put_words(self) -> None:
        texts = (self.tr("{threshold}: {share} % of {total} coefficients are below"), self.tr("{share} % are below"))
        self.words.set_texts(*(self._sentence(text) for text in texts))

    def _limits(self) -> tuple[float, float]:
        assert self.cut is not None
        param = self.cut.param
        return (param.low or 0.0, math.inf if param.high is None else param.high)

    def _sentence(self, text: str) -> str:
        """The thresholds, or `text` about a single one."""
        lines, counted, cut = self.plot.lines, self._counted, self.cut
        if not lines or counted is None or cut is None:
            return ""
        low, high = (with_unit(number(_short(value)), cut.output.unit) for value in (min(lines), max(lines)))
        if len(lines) > 1:
            text = self.tr("{low} to {high}, one for each band and channel").format(low=low, high=high)
        else:
            chosen = self._chosen()
            total = counted.total(chosen)
            share = number(float(f"{100 * counted.below(chosen, lines[0]) / max(1, total):.3g}"))
            text = text.format(threshold=low, share=share, total=number(total))
        return text if self.plot.current else self.tr("{text}, of an earlier setting").format(text=text)

    # Moves

    @Slot(float, bool)
    def _move(self, value: float, going_on: bool) -> None:
        self._wanted = value, going_on if self._wanted is None else self._wanted[1]
        self._put_words()
        if not self._later.isActive():
            self._later.start()

    @Slot()
    def _send(self) -> None:
        if self._wanted is not None and self.cut is not None:
            (value, going_on), self._wanted = self._wanted, None
            self._session.set_param(self.cut.param.name, value, same_step=going_on)


def _short(value: float) -> float:
    return float(f"{value:.4g}")

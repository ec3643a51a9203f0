"""Asks what varies in a report that runs, and with which values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QLineEdit, QWidget

from app.base.numbers import shown
from app.base.theme import colours_of
from app.models.experiment.shown import edited_title
from app.models.xray.varied import combinations, parse_over, varying_of
from app.views.boxes import in_column
from app.views.experiment.form import label_text
from app.views.labels import named, sentence_label
from app.views.parts import TickBox
from app.views.upright import Shallow
from gpu_ops import KernelscopeError
from gpu_ops.types import Filter, Pick

LETTERS = 64
MOST_LINES, LEAST_LINES = 24, 6


class RunningReportDialog(QDialog):
    """What varies, as tick boxes with values; it is `accepted` with values that fit. `predicts` is a GPU by its name,
    for which times may be predicted."""

    def __init__(
        self, filter: Filter, picks: Sequence[Pick], params: Mapping[str, Any], predicts: str, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("runningReport")
        self.setWindowTitle(self.tr("Export a report that runs"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._filter, self._picks = filter, picks
        self.rows: dict[str, tuple[TickBox, QLineEdit]] = {}
        titles = ", ".join(self._title(pick) for pick in picks)
        self.about, self.state = (sentence_label(f"runningReport{name}", self) for name in ("About", "State"))
        text = self.tr(
            "One HTML file, which needs no network: its sliders change what is ticked here, and the counters, the "
            "sentences and the source lines of {variants} change with them."
        )
        self.about.setText(text.format(variants=titles))
        self.predicted = named(
            TickBox(self.tr("&Times predicted for {gpu}").format(gpu=predicts), self),
            "runningReportPredicted",
            tip=self.tr("Count every combination for this GPU as well, which takes several times as long"),
        )
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Save | standard.Cancel, self)
        self.save = self.buttons.button(standard.Save)
        self.save.setText(self.tr("&Save as…"))
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self._arrange(params)
        self._show()

    def _title(self, pick: Pick) -> str:
        title = self._filter.variant(pick.variant).title
        return edited_title(title) if pick.edits else title

    def _arrange(self, params: Mapping[str, Any]) -> None:
        unit = self.fontMetrics().averageCharWidth()
        inner = QWidget(self)
        grid = QGridLayout(inner)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        for row, one in enumerate(varying_of(self._filter, self._picks, params)):
            name, title = one.param.name, label_text(one.param.name)
            box = named(TickBox(title, inner), f"runningReport.{name}", tip=one.param.help)
            values = named(QLineEdit(one.proposed, inner), f"runningReport.{name}.values")
            values.setAccessibleName(self.tr("Values of {name}").format(name=title))
            values.setToolTip(self.tr("Separated by commas: {allowed}").format(allowed=one.param.allowed))
            values.setCursorPosition(0)
            box.setChecked(one.ticked)
            values.setEnabled(one.ticked)
            box.toggled.connect(values.setEnabled)
            box.toggled.connect(self._show)
            values.textChanged.connect(self._show)
            grid.addWidget(box, row, 0)
            grid.addWidget(values, row, 1)
            self.rows[name] = box, values
        scroll = Shallow(MOST_LINES, LEAST_LINES, self)
        scroll.setWidget(inner)
        in_column(self.about, scroll, self.predicted, self.state, 1, self.buttons, on=self, margins=2 * unit, gap=unit)
        self.setMinimumWidth(LETTERS * unit)

    @property
    def over(self) -> dict[str, tuple[str, ...]]:
        """The values of what is ticked. Raises ParamError where some have none."""
        return parse_over({name: values.text() for name, (box, values) in self.rows.items() if box.isChecked()})

    @Slot()
    def _show(self) -> None:
        """Say how many combinations there are, or why there can be no report."""
        try:
            count = combinations(self._filter, self._picks, self.over)
        except KernelscopeError as error:
            self.state.setText(f"{colours_of(self.palette()).error.symbol} {error}")
            self.save.setEnabled(False)
            return
        one = self.tr("1 combination: the report will have no slider.")
        self.state.setText(one if count == 1 else self.tr("{count} combinations.").format(count=shown(count)))
        self.save.setEnabled(True)

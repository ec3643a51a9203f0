"""The left panel: what goes in, which filter with which parameters, and which variants."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QLocale, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.models.session import Session
from app.views.form import ParameterForm
from app.views.upright import Upright
from app.views.variant_list import VariantList
from gpu_ops import FILTERS
from gpu_ops.types import Filter

LONGEST_WORD = 26


class ExperimentPanel(QWidget):
    """Shows a Session and hands what a person does on to it; runs nothing itself."""

    run_wanted = Signal()
    measure_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("experimentPanel")
        self._session = session
        self._missing_gpu = self.tr("the engine has not answered yet")
        self.input_label = QLabel(self.tr("No input yet: open a file or a sample."), self)
        self.input_label.setObjectName("inputLabel")
        self.input_label.setWordWrap(True)
        self.input_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.filters = self._combo("filters", self.tr("Filter"))
        self.devices = self._combo("devices", self.tr("GPU"))
        self.form: ParameterForm | None = None
        self.variants = VariantList(self)
        self.run_button = QPushButton(self.tr("&Run"), self)
        self.run_button.clicked.connect(self.run_wanted)
        self.measure_button = QPushButton(self.tr("&Measure"), self)
        self.measure_button.setToolTip(self.tr("Time every ticked variant with care, each held to the whole reference"))
        self.measure_button.clicked.connect(self.measure_wanted)
        self._arrange()
        self._listen()
        self._show_filter(session.filter)
        self.show_devices(())

    def _combo(self, name: str, title: str) -> QComboBox:
        combo = QComboBox(self)
        combo.setObjectName(name)
        combo.setAccessibleName(title)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(12)
        return combo

    def _arrange(self) -> None:
        gap = self.fontMetrics().averageCharWidth()
        content = _Squeezed(self)
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(gap, gap, gap, gap)
        self._column.addWidget(self.input_label)
        for title, combo in ((self.tr("&Filter"), self.filters), (self.tr("&GPU"), self.devices)):
            row, label = QHBoxLayout(), QLabel(title, self)
            label.setBuddy(combo)
            row.addWidget(label)
            row.addWidget(combo, 1)
            self._column.addLayout(row)
        self._form_place = self._column.count()
        self._column.addWidget(self.variants, 1)
        scroll = Upright(self)
        scroll.setWidget(content)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(gap, 0, gap, gap)
        buttons.addWidget(self.run_button)
        buttons.addWidget(self.measure_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(scroll, 1)
        layout.addLayout(buttons)

    def _listen(self) -> None:
        session = self._session
        session.input_changed.connect(self._show_input)
        session.choice_changed.connect(self._show_choice)
        session.device_changed.connect(self._show_device)
        session.baseline_changed.connect(self.variants.set_baseline)
        self.variants.picks_changed.connect(lambda ids: session.set_picks(tuple(ids)))
        self.variants.knobs_changed.connect(session.set_knobs)
        self.variants.baseline_changed.connect(session.set_baseline)
        self.filters.activated.connect(lambda place: session.set_filter(self.filters.itemData(place)))
        self.devices.activated.connect(self._device_chosen)

    def _device_chosen(self, place: int) -> None:
        if self.devices.itemData(place):
            self._session.set_device(self.devices.itemData(place))

    @Slot(object)
    def show_devices(self, statuses: Any) -> None:
        """The CUDA devices there are, or the reason why there is none."""
        with QSignalBlocker(self.devices):
            self.devices.clear()
            cuda = [s for s in statuses if s.name != "cpu"]
            for status in (s for s in cuda if s.available):
                self.devices.addItem(f"{status.name}  {status.model}", status.name)
            if not self.devices.count():
                self._missing_gpu = cuda[0].reason if cuda else self._missing_gpu
                self.devices.addItem(self.tr("none available"))
                self.devices.setToolTip(self._missing_gpu)
        self.devices.setEnabled(bool(self._session.devices))
        self._show_device(self._session.device)

    @Slot(object)
    def _show_input(self, shared: Any) -> None:
        locale = QLocale()
        shape = " × ".join(locale.toString(n) for n in shared.array.shape)
        low, high = (locale.toString(float(v), "g", 6) for v in self._limits(shared))
        text = self.tr("<b>{name}</b><br>{shape}, {dtype}<br>values {low} to {high}")
        name = _escaped(_breakable(shared.name))
        self.input_label.setText(text.format(name=name, shape=shape, dtype=shared.array.dtype, low=low, high=high))
        self.input_label.setToolTip(shared.name)
        self._list_filters(shared.kind)
        self._show_filter(self._session.filter)

    @staticmethod
    def _limits(shared: Any) -> tuple[float, float]:
        return shared.statistics.minimum, shared.statistics.maximum

    def _list_filters(self, kind: str) -> None:
        with QSignalBlocker(self.filters):
            self.filters.clear()
            for filter in FILTERS:
                if filter.accepts == kind:
                    self.filters.addItem(filter.title, filter.id)
                    self.filters.setItemData(self.filters.count() - 1, filter.summary, Qt.ItemDataRole.ToolTipRole)
            self.filters.setCurrentIndex(self.filters.findData(self._session.choice.filter))

    def _show_filter(self, filter: Filter) -> None:
        if self.form is not None:
            self._column.removeWidget(self.form)
            self.form.deleteLater()
        self.form = ParameterForm(filter.params, self)
        self.form.set_values(self._session.choice.params)
        self.form.changed.connect(self._session.set_params)
        self._column.insertWidget(self._form_place, self.form)
        self.variants.set_filter(filter, self._availability(filter))
        self.variants.set_picks(self._session.choice.picks)
        with QSignalBlocker(self.filters):
            self.filters.setCurrentIndex(self.filters.findData(filter.id))

    def _availability(self, filter: Filter) -> dict[str, str]:
        missing = "" if self._session.device else self._missing_gpu
        return {v.id: missing if v.device == "cuda" else "" for v in filter.variants}

    @Slot(object, str)
    def _show_choice(self, choice: Any, what: str) -> None:
        if what == "filter":
            self._show_filter(self._session.filter)
            return
        assert self.form is not None
        self.form.set_values(choice.params)
        self.variants.set_picks(choice.picks)
        for id, values in choice.knobs.items():
            self.variants.set_knobs(id, values)

    @Slot(str)
    def _show_device(self, name: str) -> None:
        place = self.devices.findData(name)
        if place >= 0:
            self.devices.setCurrentIndex(place)
        self.variants.set_filter(self._session.filter, self._availability(self._session.filter))
        self.variants.set_picks(self._session.choice.picks)


class _Squeezed(QWidget):
    """Asks its scroll area for the least height only: what scrolls inside is not to be scrolled outside as well."""

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        layout = self.layout()
        return layout.minimumHeightForWidth(width) if layout is not None else super().heightForWidth(width)


def _breakable(name: str) -> str:
    """The name with the middle of words that are too long for the panel left out: lines break at spaces only."""
    half = LONGEST_WORD // 2
    return " ".join(w if len(w) <= LONGEST_WORD else f"{w[: half - 1]}…{w[-half:]}" for w in name.split(" "))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")

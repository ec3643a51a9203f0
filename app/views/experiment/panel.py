"""The left panel: the input, the filter with its parameters, and the variants."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.base.nesting import bounded
from app.base.numbers import shown
from app.base.tips import set_tip, tip_text
from app.models.experiment.change import Change
from app.models.experiment.history import Choice
from app.models.experiment.refusal import untimed_reason
from app.models.experiment.session import Session
from app.models.experiment.steps import title_with_steps
from app.models.files.facts import size_text
from app.models.pictures.nonfinite import INFINITE_COLOR, NAN_COLOR, count_words, drawn_words
from app.models.search import filter_words
from app.views.boxes import in_column, in_row
from app.views.experiment.form import ParameterForm
from app.views.experiment.noise_control import NoiseControl
from app.views.experiment.preset_chooser import LETTER, PresetChooser
from app.views.experiment.search_combo import WORDS, SearchCombo, disable
from app.views.experiment.steps_section import StepsSection
from app.views.experiment.variant_list import VariantList
from app.views.keys import ELSEWHERE, letter, menu_letters
from app.views.labels import buddy, named
from app.views.parts import Combo, MarkChip
from app.views.scrolled import Squeezed
from app.views.upright import Upright
from gpu_ops import FILTERS
from gpu_ops.device_names import device_host
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.types import Filter, Variant

LONGEST_WORD = 26


class ExperimentPanel(QWidget):
    """Shows a Session and passes the user's choices on to it; it runs nothing itself."""

    run_wanted = Signal()
    measure_wanted = Signal()
    letters_changed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("experimentPanel")
        self._session = session
        self._missing_gpu = self.tr("the engine is still starting")
        self._device_reasons: list[str] = []
        self.input_label = named(QLabel(self.tr("No input yet: open a file or a sample."), self), "inputLabel")
        self.input_label.setWordWrap(True)
        self.input_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.not_finite = NonFiniteLegend(self)
        self.steps = StepsSection(session, self)
        self.noise = NoiseControl(self)
        self.filters = self._combo(SearchCombo(self), "filters", self.tr("Filter"))
        self.devices = self._combo(Combo(self), "devices", self.tr("GPU"))
        self.devices.setMinimumContentsLength(6)  # next to it there is space for the chip
        self.simulated = named(MarkChip(self), "simulatedDevice")
        self.presets = PresetChooser(self)
        self.form: ParameterForm | None = None
        self._shown_filter = ""
        self.variants = VariantList(self)
        self.run_button = QPushButton(self.tr("Ru&n"), self)
        self.run_button.clicked.connect(self.run_wanted)
        self.measure_button = QPushButton(self.tr("&Measure"), self)
        self.measure_button.clicked.connect(self.measure_wanted)
        self._arrange()
        self._listen()
        self._show_filter(session.filter)
        self.show_devices(())
        self._offer_measuring()

    def _combo(self, combo: QComboBox, name: str, title: str) -> QComboBox:
        combo.setObjectName(name)
        combo.setAccessibleName(title)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(12)
        return combo

    def _letters(self) -> set[str]:
        """The mnemonics of everything but the forms, which change with the filter."""
        texts = [label.text() for label in self._labels] + [self.run_button.text(), self.measure_button.text()]
        own = {letter(text) for text in texts} | self.variants.letters | self.noise.letters
        return menu_letters() | set(ELSEWHERE) | own | ({LETTER} if self.presets.isVisibleTo(self) else set())

    @property
    def letters(self) -> set[str]:
        """All mnemonics of the panel and of the menus. `letters_changed` says that they are others."""
        return self._letters() | self.variants.knob_letters | (self.form.letters if self.form is not None else set())

    def _arrange(self) -> None:
        gap = self.fontMetrics().averageCharWidth()
        content = Squeezed(self)
        self._column, self._labels = QVBoxLayout(content), list[QLabel]()
        self._column.setContentsMargins(gap, gap, gap, gap)
        for widget in (self.input_label, self.not_finite, self.steps, self.noise):
            self._column.addWidget(widget)
        for title, combo in ((self.tr("F&ilter"), self.filters), (self.tr("&GPU"), self.devices)):
            self._labels.append(buddy(title, combo))
            row = in_row(self._labels[-1], (combo, 1))
            self._column.addLayout(row)
        row.addWidget(self.simulated)  # next to the GPU
        self._column.addWidget(self.presets)
        self._form_place = self._column.count()
        self._column.addWidget(self.variants, 1)
        scroll = Upright(self)
        scroll.setWidget(content)
        buttons = in_row(self.run_button, self.measure_button, margins=(gap, 0, gap, gap))
        in_column((scroll, 1), buttons, on=self)

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._share_gpu_row()

    def _share_gpu_row(self) -> None:
        """Show only the symbol of the mark where the device's name would be cut next to the word: the name says it."""
        metrics, label = self.fontMetrics(), self._labels[-1].sizeHint().width()
        name = metrics.horizontalAdvance(self.devices.currentText()) + 3 * metrics.height()
        self.simulated.fit(self.width() - label - name - 4 * metrics.averageCharWidth())

    def _listen(self) -> None:
        session = self._session
        session.changed.connect(self._changed)
        self.noise.changed.connect(session.set_noise)
        self.presets.chosen.connect(lambda values: session.set_params({**session.choice.params, **values}))
        self.variants.picks_changed.connect(lambda ids: session.set_picks(tuple(ids)))
        self.variants.knobs_changed.connect(session.set_knobs)
        self.variants.selection_changed.connect(self.letters_changed)
        self.variants.baseline_changed.connect(session.set_baseline)
        self.filters.activated.connect(lambda place: session.set_filter(self.filters.itemData(place)))
        self.devices.activated.connect(self._device_chosen)

    @Slot(object)
    def _changed(self, change: Change) -> None:
        if change.steps:
            self.noise.show_noise(self._session.noise)
        if change.filter:  # the form is of the filter before, until the input is shown
            if not change.opened:
                self._show_filter(self._session.filter)
        elif change.experiment and self.form is not None:
            self._show_choice(change.after.choice)
        if change.opened:
            self._show_input(change.after.input)
        elif change.stepped:
            self._show_stepped(change.after.input)
        if change.device:
            self._show_device(change.after.device)
        self._offer_measuring()
        if change.baseline:
            self.variants.set_baseline(change.after.baseline)

    def _device_chosen(self, place: int) -> None:
        if self.devices.itemData(place):
            self._session.set_device(self.devices.itemData(place))

    @Slot(object)
    def show_devices(self, statuses: Any) -> None:
        """The devices that run kernels: CUDA's, then the simulated one. Unavailable devices are listed with the
        reason."""
        kernels = [s for kind in ("cuda", "sim") for s in statuses if s.kind == kind]
        reasons = [self.tr("{name}: {reason}").format(name=s.name, reason=s.reason) for s in kernels if s.reason]
        with QSignalBlocker(self.devices):
            self.devices.clear()
            for status in sorted(kernels, key=lambda s: not s.available):
                self._add_device(status)
            if not any(s.available for s in kernels):
                self._missing_gpu = "; ".join(reasons) or self._missing_gpu
                self.devices.insertItem(0, self.tr("none available"))
                self.devices.setCurrentIndex(0)
        view = self.devices.view()
        view.setMinimumWidth(view.sizeHintForColumn(0) + 2 * self.fontMetrics().averageCharWidth())
        self._device_reasons = reasons or ([] if kernels else [self._missing_gpu])
        self.devices.setEnabled(bool(self._session.devices))
        self._show_device(self._session.device)

    def _offer_measuring(self) -> None:
        """Enable the button where something can be timed; its tip says why not."""
        reason = untimed_reason(self._session.shown)
        self.measure_button.setEnabled(not reason)
        tip = self.tr("Time every ticked variant with care, and verify every result in full")
        set_tip(
            self.measure_button, self.tr("{tip}\nNot now: {reason}").format(tip=tip, reason=reason) if reason else tip
        )

    def _add_device(self, status: DeviceStatus) -> None:
        """Add a device; an unavailable one is disabled and has a reason."""
        place = self.devices.count()
        self.devices.addItem(self._device_title(status), status.name)
        self.devices.setItemData(place, tip_text(status.reason or status.model), Qt.ItemDataRole.ToolTipRole)
        self.devices.setItemData(place, status.reason or status.model, Qt.ItemDataRole.AccessibleDescriptionRole)
        if not status.available:
            disable(self.devices, place)

    def _device_title(self, status: DeviceStatus) -> str:
        """A device in few words; the tip of its entry has the rest."""
        if not status.available:
            return self.tr("{name} (not available)").format(name=status.name)
        if status.kind == "sim":
            model, host = status.model.partition(" (")[0], device_host(status.name)
            return self.tr("{host}: {device}").format(host=host, device=model) if host else model
        return f"{status.name}  {status.model}"

    def _show_figures(self, shared: Any) -> None:
        """Name, size, type and range of the input."""
        low, high = (shown(float(v), "g", 6) for v in self._limits(shared))
        text = self.tr("<b>{name}</b><br>{shape}, {dtype}<br>values {low} to {high}")
        name = _escaped(_breakable(title_with_steps(shared)))
        self.input_label.setText(
            text.format(name=name, shape=size_text(shared), dtype=shared.array.dtype, low=low, high=high)
        )
        set_tip(self.input_label, title_with_steps(shared))
        self.not_finite.show_counts(shared.statistics.nan, shared.statistics.infinite)

    def _show_stepped(self, shared: Any) -> None:
        self._show_figures(shared)
        if self._session.input_noise is None:  # noise widens the span, and must not move its own slider's scale
            self.noise.set_unit(shared)

    def _show_input(self, shared: Any) -> None:
        self._show_figures(shared)
        self.noise.set_input(shared)
        self._list_filters(shared.kind)
        if self._session.choice.filter == self._shown_filter:
            self._show_variants(self._session.filter)
        else:
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
                    place = self.filters.count() - 1
                    self.filters.setItemData(place, tip_text(filter.summary), Qt.ItemDataRole.ToolTipRole)
                    self.filters.setItemData(place, filter_words(filter), WORDS)
            self.filters.setCurrentIndex(self.filters.findData(self._session.choice.filter))

    def _show_filter(self, filter: Filter) -> None:
        self._shown_filter = filter.id
        if self.form is not None:
            self._column.removeWidget(self.form)
            self.form.hide()  # it is deleted a moment later
            self.form.deleteLater()
        self.presets.set_filter(filter)
        self.presets.show_values(self._session.choice.params)
        self.form = ParameterForm(filter.params, self, taken=self._letters())
        self.form.set_values(self._session.choice.params)
        self.form.changed.connect(self._session.set_params)
        self._column.insertWidget(self._form_place, self.form)
        self._show_variants(filter)
        with QSignalBlocker(self.filters):
            self.filters.setCurrentIndex(self.filters.findData(filter.id))

    def _show_variants(self, filter: Filter) -> None:
        assert self.form is not None
        self.variants.set_filter(filter, self._availability(filter), self._letters() | self.form.letters)
        self.variants.set_picks(self._session.choice.picks)
        self.letters_changed.emit()

    def _availability(self, filter: Filter) -> dict[str, str]:
        return {v.id: self._reason(v) for v in filter.all_variants}

    def _reason(self, variant: Variant) -> str:
        """Why a variant cannot run here; empty if it can."""
        if variant.device == "cpu":
            return ""
        if not self._session.device:
            return self._missing_gpu
        if self._session.simulated and variant.library:
            text = self.tr("it calls {library}, and a simulated GPU runs only kernels")
            return text.format(library=variant.library)
        return ""

    def _show_choice(self, choice: Choice) -> None:
        assert self.form is not None
        self.form.set_values(choice.params)
        self.presets.show_values(choice.params)
        self.variants.set_picks(choice.picks)
        for id, values in choice.knobs.items():
            self.variants.set_knobs(id, values)

    def _show_device(self, name: str) -> None:
        if name and self.devices.findData(name) < 0 and self._session.simulated:
            model = self.tr("simulated GPU, {architecture}").format(architecture=name.partition(":")[2])
            self._add_device(DeviceStatus(name, model, True))  # another architecture, requested by name
        place = self.devices.findData(name)
        if place >= 0 and self.devices.count():
            self.devices.setCurrentIndex(place)
        about = self.devices.currentData(Qt.ItemDataRole.AccessibleDescriptionRole)
        set_tip(self.devices, "\n".join(dict.fromkeys(filter(None, (about, *self._device_reasons)))))
        tip = self.tr(
            "Kernels run on a simulated GPU, on the whole input where that takes two seconds, else part by part; their "
            "work is counted, not timed"
        )
        self.simulated.show_texts(*(["", self.tr("simulated"), tip] if self._session.simulated else ["", ""]))
        self._share_gpu_row()
        self._show_variants(self._session.filter)


def _breakable(name: str) -> str:
    """The name with long words shortened in the middle, because lines break only at spaces."""
    half = LONGEST_WORD // 2
    return " ".join(w if len(w) <= LONGEST_WORD else f"{w[: half - 1]}…{w[-half:]}" for w in name.split(" "))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


class NonFiniteLegend(QWidget):
    """One line: a square of each colour and the number of values that have it. Hidden where all values are finite."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("nonFiniteLegend")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.texts: tuple[str, str] = ("", "")
        self.hide()

    def show_counts(self, nan: int, infinite: int) -> None:
        """Show how many values are NaN and how many are infinite."""
        self.texts = count_words(nan, infinite)
        self.setAccessibleName(", ".join(filter(None, self.texts)))
        set_tip(self, drawn_words())
        self.setVisible(any(self.texts))
        self.updateGeometry()
        self.update()

    def _side(self) -> int:
        return self.fontMetrics().ascent()

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        wide = sum(metrics.horizontalAdvance(text) + self._side() * 5 // 2 for text in self.texts if text)
        return QSize(wide, metrics.height() * 5 // 4)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter, metrics, side = QPainter(self), self.fontMetrics(), self._side()
        ink, x, top = self.palette().color(QPalette.ColorRole.WindowText), 0.5, (self.height() - side) // 2 + 0.5
        for text, color in zip(self.texts, (NAN_COLOR, INFINITE_COLOR), strict=True):
            if not text:
                continue
            painter.setPen(QPen(ink, 1))
            painter.setBrush(QColor(*color))
            painter.drawRect(QRectF(x, top, side - 1, side - 1))
            x += side * 3 / 2
            painter.drawText(QRectF(x, 0, self.width() - x, self.height()), int(Qt.AlignmentFlag.AlignVCenter), text)
            x += metrics.horizontalAdvance(text) + side
        painter.end()

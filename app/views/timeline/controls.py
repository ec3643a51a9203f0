"""The options of a view of transfers: the view, its part, and the model of a simulated GPU."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton, QWidget

from app.base.numbers import shown
from app.base.tips import tip_text
from app.controllers.timeline import TIMELINES, TimelineController
from app.models.timing.timelines import FASTEST, SLOWEST, QueueModel
from app.views.boxes import in_row
from app.views.experiment.spins import FloatSpin
from app.views.flow import FlowLayout
from app.views.keys import keyed
from app.views.labels import buddy, named
from app.views.parts import Combo, TickBox
from gpu_ops.explaining.transfers.catalogue import KINDS
from gpu_ops.explaining.transfers.rates import recorded_rates
from gpu_ops.params import Param

RATES = ("upload", "download", "kernel")


class TimelineControls(QWidget):
    """Shows the options of a TimelineController and passes on changes. `part_chosen`: the user selected another part of
    a sweep, which is in `part`."""

    part_chosen = Signal()

    def __init__(self, controller: TimelineController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self._make_combos()
        self._make_ticks()
        self.spins = {name: self._spin(name) for name in RATES}
        self.again = named(QPushButton(self.tr("Again"), self), "timeline.again", tip=self.tr("Ask the engine again"))
        self._taken: Set[str] = frozenset()
        self._arrange()
        self._listen()

    @property
    def part(self) -> str:
        """The selected part of a sweep; "" if there is only one."""
        return str(self.parts.currentData() or "")

    def _make_combos(self) -> None:
        self.views = named(Combo(self), "timeline.view", tip=self.tr("What to see of the transfers"))
        self.views.addItem(self.tr("Timelines"), TIMELINES)
        for kind in KINDS.values():
            if not kind.on_host:
                self.views.addItem(kind.title, kind.id)
        self.parts = named(Combo(self), "timeline.part", title=self.tr("Part of the sweep"))
        self.parts.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToContents)
        tip = self.tr("With one copy engine, uploads and downloads take turns")
        self.engines = named(Combo(self), "timeline.engines", tip=tip)
        for count in (1, 2):
            self.engines.addItem(shown(count), count)
        self.machines = named(Combo(self), "timeline.machine", tip=self.tr("The rates of a recorded machine, or yours"))
        self.machines.addItem(self.tr("these"), "")
        for name, rates in recorded_rates().items():
            self.machines.addItem(self.tr("{machine}, recorded").format(machine=name.upper()), name)
            self.machines.setItemData(self.machines.count() - 1, tip_text(rates.machine), Qt.ItemDataRole.ToolTipRole)

    def _make_ticks(self) -> None:
        tips = {
            "in_order": self.tr("Engines begin steps in the order of enqueueing, as before compute capability 3.5"),
            "blocking": self.tr(
                "The host waits for each kernel, as where CUDA_LAUNCH_BLOCKING is 1; on a GPU this runs "
                "in a process of its own"
            ),
            "predicted": self.tr(
                "Predict how long each step takes from rates; else every step is as long as the others"
            ),
        }
        self.in_order = named(TickBox(self.tr("In-order queue"), self), "timeline.in_order", tip=tips["in_order"])
        self.blocking = named(TickBox(self.tr("Launch blocking"), self), "timeline.blocking", tip=tips["blocking"])
        self.predicted = named(TickBox(self.tr("Predict times"), self), "timeline.predicted", tip=tips["predicted"])

    def _spin(self, name: str) -> FloatSpin:
        param = Param(name, getattr(QueueModel(), name), SLOWEST, FASTEST, unit="GB/s")
        tips = {
            "upload": self.tr("The rate of copies to the device"),
            "download": self.tr("The rate of copies to the host"),
            "kernel": self.tr("The rate of kernels: the bytes of their arrays over their time"),
        }
        return named(FloatSpin(param, self, narrow=True), f"timeline.{name}", title=tips[name], tip=tips[name])

    def _arrange(self) -> None:
        flow = FlowLayout(self, gap=2 * self.fontMetrics().averageCharWidth())
        titles = {"upload": self.tr("To device"), "download": self.tr("To host"), "kernel": self.tr("Kernel")}
        self._keyed: dict[QLabel | QAbstractButton, str] = {}
        view, self._part = self._pair(self.tr("Show"), self.views), self._pair(self.tr("Part"), self.parts)
        self.queues = [self._pair(self.tr("Copy engines"), self.engines), self.in_order]
        self._machine = self._pair(self.tr("Rates of"), self.machines)
        self.rates = [self._pair(titles[name], spin) for name, spin in self.spins.items()]
        ticks = self.in_order, self.blocking, self.predicted
        self._keyed |= {button: button.text() for button in (*ticks, self.again)}
        before = view, self._part, *self.queues, self.blocking, self.predicted
        for part in (*before, self._machine, *self.rates, self.again):
            flow.addWidget(part)

    def _pair(self, text: str, widget: QWidget) -> QWidget:
        pair, label = QWidget(self), buddy(text, widget)
        self._keyed[label] = text
        in_row(label, widget, on=pair)
        return pair

    def set_taken(self, letters: Set[str]) -> None:
        """Take as mnemonics what these letters, of other parts of the window, leave."""
        self._taken = letters
        self._share_letters()

    def _share_letters(self) -> None:
        seen = [widget for widget in self._keyed if widget.isVisibleTo(self)]
        for widget, text in zip(seen, keyed((self._keyed[w] for w in seen), self._taken), strict=True):
            widget.setText(text)

    def _listen(self) -> None:
        self.views.activated.connect(self._choose_view)
        self.parts.activated.connect(self.part_chosen)
        for combo in (self.engines, self.machines):
            combo.activated.connect(self._choose)
        for box in (self.in_order, self.blocking, self.predicted):
            box.toggled.connect(self._choose)
        for spin in self.spins.values():
            spin.valueChanged.connect(self._choose)
        self.again.clicked.connect(self._controller.again)

    # User choices

    @Slot()
    def _choose_view(self) -> None:
        self._controller.set_view(str(self.views.currentData()))

    @Slot()
    def _choose(self) -> None:
        model = self._controller.model
        own: dict[str, Any] = {name: spin.value() for name, spin in self.spins.items()}
        machine = str(self.machines.currentData())
        if machine and not model.machine:  # the spin boxes show values of another model
            own = {name: getattr(model, name) for name in RATES}
        boxes: dict[str, Any] = {
            "in_order": self.in_order.isChecked(),
            "predicted": self.predicted.isChecked() if self.predicted.isEnabled() else model.predicted,
            "launch_blocking": self.blocking.isChecked(),
        }
        self._controller.set_model(QueueModel(int(self.engines.currentData()), **boxes, **own, machine=machine))

    # Changes of the controller

    def show_choices(self) -> None:
        """Show the choices of the controller."""
        controller, model = self._controller, self._controller.model
        self.views.setCurrentIndex(self.views.findData(controller.view))
        self._show_parts()
        boxes = ((self.in_order, model.in_order), (self.blocking, model.launch_blocking))
        for box, on in (*boxes, (self.predicted, controller.predicts)):
            with QSignalBlocker(box):
                box.setChecked(on)
        self.engines.setCurrentIndex(self.engines.findData(model.copy_engines))
        self.machines.setCurrentIndex(self.machines.findData(model.machine))
        simulated, timed = controller.simulated, controller.sweep is not None and controller.sweep.timed
        for part in self.queues:
            part.setVisible(simulated and not timed)
        self.predicted.setVisible(simulated)
        self.predicted.setEnabled(not timed)
        self.blocking.setVisible(controller.sweep is None)
        self._machine.setVisible(controller.predicts)
        for pair in self.rates:
            pair.setVisible(controller.predicts and not model.machine)
        for name, spin in self.spins.items():
            with QSignalBlocker(spin):
                spin.setValue(getattr(model, name))
        self.again.setEnabled(controller.state in ("shown", "stopped", "failed"))
        self._share_letters()

    def _show_parts(self) -> None:
        parts = self._controller.sweep.parts if self._controller.sweep else ()
        if [self.parts.itemData(place) for place in range(self.parts.count())] != list(parts):
            with QSignalBlocker(self.parts):
                self.parts.clear()
                for part in parts:
                    self.parts.addItem(part, part)
        self._part.setVisible(bool(parts))

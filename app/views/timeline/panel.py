"""The timeline tab: which copies and kernels of the ticked variants run beside which."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, inked
from app.controllers.timeline import TimelineController
from app.models.timing.timelines import FASTEST, SLOWEST, QueueModel
from app.views.boxes import in_column, in_row
from app.views.experiment.spins import FloatSpin
from app.views.flow import FlowLayout
from app.views.labels import buddy, named, sentence_label
from app.views.parts import Combo, TickBox
from app.views.picture_file import Facts, write_text
from app.views.scrolled import Squeezed
from app.views.timeline.sheet import TimelineSheet
from app.views.timeline.text import left_out
from app.views.upright import Upright
from gpu_ops.explaining.spans import timelines_json, traces
from gpu_ops.params import Param

RATES = ("upload", "download", "kernel")


class TimelinePanel(Squeezed):
    """Shows a TimelineController and passes on the user's choices. While it is hidden, nothing is asked for."""

    def __init__(self, controller: TimelineController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timelinePanel")
        self._controller = controller
        self.engines = named(
            Combo(self), "timeline.engines", tip=self.tr("With one copy engine, uploads and downloads take turns")
        )
        for count in (1, 2):
            self.engines.addItem(self.locale().toString(count), count)
        self.in_order = named(
            TickBox(self.tr("&In-order queue"), self),
            "timeline.in_order",
            tip=self.tr("Engines begin steps in the order of enqueueing, as before compute capability 3.5"),
        )
        self.predicted = named(
            TickBox(self.tr("Predict &times"), self),
            "timeline.predicted",
            tip=self.tr("Predict how long each step takes from these rates; else every step is as long as the others"),
        )
        self.spins = {name: self._spin(name) for name in RATES}
        self.again = named(QPushButton(self.tr("&Again"), self), "timeline.again", tip=self.tr("Ask the engine again"))
        self.state = sentence_label("timeline.state", self)
        self.sheet = TimelineSheet(self)
        self._arrange()
        self._listen()
        self._show()

    def _spin(self, name: str) -> FloatSpin:
        param = Param(name, getattr(QueueModel(), name), SLOWEST, FASTEST, unit="GB/s")
        tips = {
            "upload": self.tr("The rate of copies to the device"),
            "download": self.tr("The rate of copies to the host"),
            "kernel": self.tr("The rate of kernels: the bytes of their arrays over their time"),
        }
        return named(FloatSpin(param, self, narrow=True), f"timeline.{name}", title=tips[name], tip=tips[name])

    def _arrange(self) -> None:
        gap = self.fontMetrics().averageCharWidth()
        self.controls = QWidget(self)
        flow = FlowLayout(self.controls, gap=2 * gap)
        titles = {"upload": self.tr("To device"), "download": self.tr("To host"), "kernel": self.tr("Kernel")}
        self.queues = [self._pair(buddy(self.tr("&Copy engines"), self.engines), self.engines)]
        self.queues += [self.in_order, self.predicted]
        for part in self.queues:
            flow.addWidget(part)
        self.rates = [self._pair(buddy(titles[name], spin), spin) for name, spin in self.spins.items()]
        for pair in self.rates:
            flow.addWidget(pair)
        flow.addWidget(self.again)
        scroll = Upright(self)
        scroll.setWidget(self.sheet)
        in_column(self.controls, self.state, (scroll, 1), on=self, margins=(gap, gap // 2, gap, 0), gap=gap // 2)

    def _pair(self, *parts: QWidget) -> QWidget:
        pair = QWidget(self.controls)
        in_row(*parts, on=pair)
        return pair

    def _listen(self) -> None:
        self._controller.changed.connect(self._show)
        self.engines.activated.connect(self._choose)
        for box in (self.in_order, self.predicted):
            box.toggled.connect(self._choose)
        for spin in self.spins.values():
            spin.valueChanged.connect(self._choose)
        self.again.clicked.connect(self._controller.again)

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._controller.watch(True)

    @bounded
    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        super().hideEvent(event)
        self._controller.watch(False)

    # User choices

    @Slot()
    def _choose(self) -> None:
        rates: dict[str, Any] = {name: spin.value() for name, spin in self.spins.items()}
        boxes = {"in_order": self.in_order.isChecked(), "predicted": self.predicted.isChecked()}
        self._controller.set_model(QueueModel(int(self.engines.currentData()), **boxes, **rates))

    # Changes of the controller

    @Slot()
    def _show(self) -> None:
        controller = self._controller
        self._show_model(controller.model)
        self._show_state()
        content = controller.content
        notes = left_out(content.reasons, content.titles, controller.cpu_variants) if content else ""
        self.sheet.show_timelines(content, notes, content is None or controller.state == "shown")

    def _show_model(self, model: QueueModel) -> None:
        values = ((self.in_order, model.in_order), (self.predicted, model.predicted))
        for box, on in values:
            with QSignalBlocker(box):
                box.setChecked(on)
        self.engines.setCurrentIndex(self.engines.findData(model.copy_engines))
        simulated = self._controller.simulated
        for part in self.queues:
            part.setVisible(simulated)
        for pair in self.rates:
            pair.setVisible(simulated and model.predicted)
        for name, spin in self.spins.items():
            with QSignalBlocker(spin):
                spin.setValue(getattr(model, name))

    def _show_state(self) -> None:
        """The reason why the content does not fit the choice."""
        controller, colours = self._controller, colours_of(self.palette())
        missing = {
            "": "",
            "input": self.tr("Open an input to see timelines."),
            "type": self.tr("The filter does not take this input."),
            "device": self.tr("There is neither a GPU here nor a simulated one."),
            "variant": self.tr("Tick a variant that runs on the GPU."),
        }
        texts = {
            "empty": missing[controller.missing],
            "waiting": self.tr("Waiting for the run to end."),
            "running": self.tr("Planning the steps…") if controller.simulated else self.tr("Measuring the steps…"),
            "stopped": self.tr("Stopped; press Again to restart."),
            "failed": self.tr("There are no timelines: {reason}").format(reason=controller.reason),
            "shown": "",
        }
        state = controller.state
        stale = controller.content is not None and bool(texts[state])
        text = self.tr("{state} The timelines below belong to an earlier setting.") if stale else "{state}"
        self.state.setText(text.format(state=texts[state]))
        self.state.setVisible(bool(texts[state]))
        ink = colours.error.colour if state == "failed" else colours.muted
        self.state.setPalette(inked(self.state.palette(), ink))
        self.again.setEnabled(state in ("shown", "stopped", "failed"))

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "sheet"):
            self._show_state()

    # Files

    @property
    def filled(self) -> bool:
        """Whether there are timelines."""
        return self._controller.content is not None and bool(self._controller.content.found)

    def export(self, path: str, kind: str, facts: Facts) -> None:
        """Write all timelines as "json" or as a "trace" in Chrome's format, or a "picture" of them, with these facts.
        Raises InputError when the file cannot be written."""
        assert self._controller.content is not None
        found = self._controller.content.found.values()
        if kind == "picture":
            self.sheet.export(path, facts)
        else:
            content = traces(found) | {"otherData": dict(facts)} if kind == "trace" else timelines_json(found)
            about = {} if kind == "trace" else {"about": dict(facts)}
            write_text(path, json.dumps({**content, **about}, indent=1) + "\n")

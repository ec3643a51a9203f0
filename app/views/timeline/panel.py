"""The timeline tab: which copies and kernels of the selected variants run concurrently, and sweeps of transfers."""

from __future__ import annotations

import json

from PySide6.QtCore import QEvent, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, inked
from app.controllers.timeline import TimelineController, Timelines
from app.views.boxes import in_column
from app.views.labels import sentence_label
from app.views.picture_file import Facts, write_text
from app.views.scrolled import Squeezed
from app.views.timeline.controls import TimelineControls
from app.views.timeline.grid_sheet import GridSheet
from app.views.timeline.sheet import TimelineSheet
from app.views.timeline.text import left_out
from app.views.timing.figures_page import FigureSheet
from app.views.upright import Upright
from gpu_ops.errors import InputError
from gpu_ops.explaining.spans import check_text, timelines_json, traces
from gpu_ops.explaining.transfers.catalogue import GRID
from gpu_ops.explaining.transfers.figures import draw_sweep
from gpu_ops.explaining.transfers.sweep import TransferSweep


class TimelinePanel(Squeezed):
    """Shows a TimelineController and passes on the user's choices. While it is hidden, it requests nothing."""

    def __init__(self, controller: TimelineController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timelinePanel")
        self._controller = controller
        self.controls = TimelineControls(controller, self)
        self.state = sentence_label("timeline.state", self)
        self.sheet, self.grid, self.figure = TimelineSheet(self), GridSheet(self), FigureSheet(self)
        self.pages = QStackedWidget(self)
        for sheet in (self.sheet, self.grid, self.figure):
            scroll = Upright(self)
            scroll.setWidget(sheet)
            self.pages.addWidget(scroll)
        gap = self.fontMetrics().averageCharWidth()
        margins = (gap, gap // 2, gap, 0)
        in_column(self.controls, self.state, (self.pages, 1), on=self, margins=margins, gap=gap // 2)
        controller.changed.connect(self._show)
        self.controls.part_chosen.connect(self._show)
        self._show()

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._controller.watch(True)

    @bounded
    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        super().hideEvent(event)
        self._controller.watch(False)

    # Changes of the controller

    @property
    def content(self) -> Timelines | TransferSweep | None:
        """The content for the selected view."""
        content, sweep = self._controller.content, self._controller.sweep
        if isinstance(content, TransferSweep):
            return content if sweep is not None and content.id == sweep.id else None
        return content if sweep is None else None

    @Slot()
    def _show(self) -> None:
        self.controls.show_choices()
        self._show_state()
        content, current = self.content, self._controller.state == "shown"
        if isinstance(content, TransferSweep):
            self._show_sweep(content, current)
            return
        notes = ""
        if content is not None:
            checks = dict.fromkeys(filter(None, map(check_text, content.found.values())))
            left = left_out(content.reasons, content.titles, self._controller.cpu_variants)
            notes = "\n".join(filter(None, [left, *checks]))
        self.sheet.show_timelines(content, notes, content is None or current)
        self.pages.setCurrentIndex(0)

    def _show_sweep(self, sweep: TransferSweep, current: bool) -> None:
        if sweep.id == GRID:
            self.grid.show_sweep(sweep, self.controls.part, current)
        else:
            self.figure.show_figure(draw_sweep(sweep, self.controls.part))
        self.pages.setCurrentIndex(1 if sweep.id == GRID else 2)

    def _show_state(self) -> None:
        """The reason why the content does not match the current settings."""
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
        text = texts[controller.state]
        if self.content is not None and text:
            text = self.tr("{state} What is below belongs to an earlier setting.").format(state=text)
        self.state.setText(text)
        self.state.setVisible(bool(text))
        ink = colours.error.colour if controller.state == "failed" else colours.muted
        self.state.setPalette(inked(self.state.palette(), ink))

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "pages"):
            self._show_state()

    # Files

    @property
    def filled(self) -> bool:
        """Whether there is something to save."""
        content = self.content
        return bool(content.found) if isinstance(content, Timelines) else content is not None

    def export(self, path: str, kind: str, facts: Facts) -> None:
        """Write what is shown as "json" or as a "picture", timelines also as a "trace" in Chrome's format, with
        metadata. Raises InputError if the file cannot be written, or if a trace of a sweep is requested."""
        content = self.content
        assert content is not None
        if isinstance(content, TransferSweep):
            self._export_sweep(content, path, kind, facts)
        elif kind == "picture":
            self.sheet.export(path, facts)
        else:
            found = content.found.values()
            document = traces(found) | {"otherData": dict(facts)} if kind == "trace" else timelines_json(found)
            about = {} if kind == "trace" else {"about": dict(facts)}
            write_text(path, json.dumps({**document, **about}, indent=1) + "\n")

    def _export_sweep(self, sweep: TransferSweep, path: str, kind: str, facts: Facts) -> None:
        if kind == "trace":
            raise InputError(
                "A trace has the steps of timelines: choose Timelines under Show, or save a picture or JSON."
            )
        if kind == "json":
            write_text(path, json.dumps({**sweep.to_json(), "about": dict(facts)}, indent=1) + "\n")
        elif sweep.id == GRID:
            self.grid.export(path, facts)
        else:
            self.figure.export(path)

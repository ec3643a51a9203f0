"""The exported picture of streams × chunks: the meaning of the values, the grid, and its best cell."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, inked
from app.views.boxes import in_column
from app.views.labels import sentence_label
from app.views.picture_file import NO_FACTS, Facts, export_sheet
from app.views.scrolled import Squeezed
from app.views.timeline.grid_plot import GridPlot
from gpu_ops.explaining.transfers.catalogue import KINDS
from gpu_ops.explaining.transfers.figures import TEXTS, grid_of, origin
from gpu_ops.explaining.transfers.sweep import TransferSweep

ROWS = 18
"""The minimum height of the grid, in lines."""


class GridSheet(Squeezed):
    """Shows a part of a sweep over streams and chunks."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("gridSheet")
        self.setAutoFillBackground(True)
        names = ("heading", "origin", "text", "best")
        self.heading, self.origin, self.text, self.best = (
            sentence_label(f"gridSheet.{name}", self, True) for name in names
        )
        self.plot = GridPlot(self)
        gap = self.fontMetrics().averageCharWidth()
        above = self.heading, self.origin, self.text
        in_column(*above, (self.plot, 1), self.best, on=self, margins=(gap, gap // 2, gap, gap // 2))
        self._facts: dict[str, str] = {}
        self._ink()

    def show_sweep(self, sweep: TransferSweep, part: str, current: bool = True) -> None:
        """Show this part, the time or the overlap; `current` tells whether it matches the current settings."""
        self.heading.setText(f"{KINDS[sweep.id].title}: {sweep.subject}")
        texts = {
            "measured": self.tr("Measured on {where}"),
            "predicted": self.tr("Predicted {where}"),
            "order": self.tr("By a model of the queues: {where}"),
        }
        self.origin.setText(texts[sweep.basis].format(where=origin(sweep)))
        brighter = (
            self.tr("Brighter cells take less time.") if part == "time" else self.tr("Brighter cells overlap more.")
        )
        self.text.setText(f"{TEXTS[sweep.id]} {brighter}")
        self.plot.show_grid(grid_of(sweep, part), current)
        self.best.setText(self.plot.summary())
        self._facts = {"subject": sweep.subject, "device": sweep.device, "basis": sweep.basis}

    def export(self, path: str, facts: Facts = NO_FACTS) -> None:
        """Write the picture, as SVG if the name ends so and else as PNG. Raises InputError."""
        export_sheet(self, path, self.heading.text(), facts or self._facts)

    def _ink(self) -> None:
        bold = self.font()
        bold.setBold(True)
        self.heading.setFont(bold)
        self.origin.setPalette(inked(self.palette(), colours_of(self.palette()).muted))
        self.plot.setMinimumHeight(ROWS * self.fontMetrics().height())

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "plot"):
            self._ink()

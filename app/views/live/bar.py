"""The bar of live input below the pictures: whether it runs, and whether its frames come in time."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QWidget

from app.base.numbers import count, shown
from app.controllers.live.live import LiveController
from app.views.boxes import in_column
from app.views.folding import Folding
from app.views.labels import named
from app.views.parts import ElidedLabel


class LiveBar(QWidget):
    """Visible while frames run or are held."""

    def __init__(self, live: LiveController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("liveBar")
        self.setAccessibleName(self.tr("Live input"))
        self._live, self._row = live, Folding(self)
        tip = self.tr("Keep the present frame: its results are verified and timed like those of any input")
        self.hold = self._button("live.hold", self.tr("Hold"), tip, self._toggle)
        tip = self.tr("Close the source; the last frame stays (Esc)")
        self.stop = self._button("live.stop", self.tr("Stop"), tip, live.stop)
        self.source = named(ElidedLabel("", self._row), "live.source", title=self.tr("The source"))
        self.figures = named(QLabel(self._row), "live.figures", title=self.tr("Frames"))
        self.figures.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.figures.setToolTip(
            self.tr(
                "The frames shown of those that the source sends; the time from the request of a frame until all its "
                "results are shown, the median of the last 15, against the time between two frames; and how many "
                "frames were dropped because newer ones had come"
            )
        )
        unit = self.fontMetrics().averageCharWidth()
        self._row.set_space((unit, unit // 2, unit, unit // 2), unit)
        for widget in (self.hold, self.stop):
            self._row.one.addWidget(widget)
        self._row.one.addWidget(self.source, 1)
        self.source.setMinimumWidth(12 * unit)
        self._row.two.addWidget(self.figures, 1)
        self._row.wanted = self.fontMetrics().horizontalAdvance(self._text(120, 120, 0.1, 99999, False))
        in_column(self._row, on=self)
        live.changed.connect(self.refresh)
        self.refresh()

    def _button(self, name: str, text: str, tip: str, do: Callable[[], None]) -> QPushButton:
        button = named(QPushButton(text, self._row), name, tip=tip)
        button.clicked.connect(lambda _=False: do())
        return button

    @Slot()
    def _toggle(self) -> None:
        (self._live.hold if self._live.state == "running" else self._live.go_on)()

    @Slot()
    def refresh(self) -> None:
        """Show the state and the figures of now."""
        live = self._live
        self.setVisible(live.state != "off")
        held = live.state == "held"
        self.hold.setText(self.tr("Go on") if held else self.tr("Hold"))
        self.source.setText(live.source.name)
        self.figures.setText(self._text(live.shown_rate, live.rate, live.cost, live.dropped, held))

    def _text(self, rate: float, of: float, cost: float, dropped: int, held: bool) -> str:
        parts = [self.tr("held")] if held else []
        if not held and not cost:
            parts.append(self.tr("waiting for the first frame"))
        if rate and of:
            text = self.tr("{rate} of {of} frames per second, unverified")
            parts.append(text.format(rate=shown(rate, "f", 1), of=shown(of, "f", 1)))
        if cost and of:
            text = self.tr("{cost} of {budget} ms per frame")
            if cost > 1 / of:
                text = self.tr("{cost} of {budget} ms per frame: too slow")
            parts.append(text.format(cost=shown(1000 * cost, "f", 1), budget=shown(1000 / of, "f", 1)))
        if cost:
            parts.append(self.tr("{count} dropped").format(count=count(dropped)))
        return " · ".join(parts)

"""The bar of live input below the pictures: whether it runs, and whether its frames come in time."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QPushButton, QWidget

from app.base.numbers import count, shown
from app.base.paced import Paced
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
        self.figures = named(ElidedLabel("", self._row), "live.figures", title=self.tr("Frames"))
        self.setToolTip(  # that of the figures is their whole text where it is cut
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
        self._row.wanted = self.fontMetrics().horizontalAdvance(self._texts(120, 120, 0.1, 99999, False)[0])
        in_column(self._row, on=self)
        live.changed.connect(Paced(self.refresh, lambda: live.state == "running", self).ask)
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
        self.figures.set_texts(*self._texts(live.shown_rate, live.rate, live.cost, live.dropped, held))

    def _texts(self, rate: float, of: float, cost: float, dropped: int, held: bool) -> tuple[str, ...]:
        """All figures in three lengths, longest first; each picture says that it is unverified as well."""
        texts: tuple[list[str], ...] = ([], [], [])

        def say(text: str, shorter: str = "", shortest: str = "", **values: str) -> None:
            for parts, words in zip(texts, (text, shorter or text, shortest or text), strict=True):
                parts.append(words.format(**values))

        if held:
            say(self.tr("held"))
        elif not cost:
            say(self.tr("waiting for the first frame"))
        if rate and of:
            long, shorter = (
                self.tr("{rate} of {of} frames per second, unverified"),
                self.tr("{rate} of {of} frames per second"),
            )
            say(long, shorter, self.tr("{rate} of {of} per second"), rate=shown(rate, "f", 1), of=shown(of, "f", 1))
        if cost and of:
            fast, slow = (
                self.tr("{cost} of {budget} ms per frame"),
                self.tr("{cost} of {budget} ms per frame: too slow"),
            )
            times = {"cost": shown(1000 * cost, "f", 1), "budget": shown(1000 / of, "f", 1)}
            say(slow if cost > 1 / of else fast, shortest=self.tr("{cost} of {budget} ms"), **times)
        if cost:
            say(self.tr("{count} dropped"), count=count(dropped))
        return tuple(" · ".join(parts) for parts in texts)

"""Below the pictures: what is painted of the traffic, its scale of colours, and the footprint in words."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from app.base.nesting import bounded
from app.base.numbers import count
from app.base.theme import checkable
from app.base.tips import tip_text
from app.controllers.kernels.traffic import MOST, TrafficController
from app.models.traffic.recorded import footprint_text, part_text, total_text
from app.views.boxes import in_column
from app.views.flow import FlowLayout
from app.views.labels import named, sentence_label
from app.views.parts import Combo
from app.views.scrolled import Scrolled
from app.views.traffic.marks import Entry, draw_entry, draw_scale, entries, entry_width
from app.views.traffic.strip import TrafficStrip
from app.views.traffic.warp_view import WarpView
from gpu_ops.explaining.traffic.content import MEASURES
from gpu_ops.input_kinds import INPUT_KINDS

FOLLOWED = "xray"
LINES = 7
"""Lines of text for the totals and the footprint; more are scrolled."""
GAP = 2


class ColourScale(QWidget):
    """The colours from 0 to the highest count of all variants."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("trafficScale")
        self.top = 0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_top(self, top: int) -> None:
        """Show another highest count."""
        self.top = top
        self.setAccessibleName(self.tr("Colours from 0 to {top}").format(top=count(top)))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        return QSize(metrics.averageCharWidth() * (16 + len(count(self.top))), metrics.height() + 6)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        if not self.top:
            return
        painter, metrics = QPainter(self), self.fontMetrics()
        low, high = "0", count(self.top)
        left, right = metrics.horizontalAdvance(low) + 5, metrics.horizontalAdvance(high) + 5
        painter.setPen(self.palette().windowText().color())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, low)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, high)
        bar = QRectF(left, 4, self.width() - left - right, self.height() - 8)
        draw_scale(painter, bar)
        painter.setPen(self.palette().mid().color())
        painter.drawRect(bar)
        painter.end()


class Sign(QWidget):
    """One entry of the legend."""

    def __init__(self, entry: Entry, parent: QWidget) -> None:
        super().__init__(parent)
        self._entry = entry
        self.setAccessibleName(entry[1])
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(ceil(entry_width(self.fontMetrics(), self._entry)), self.fontMetrics().height() + 2)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        draw_entry(painter, self._entry, QPointF(0, 1), self.width(), self.palette().windowText().color())
        painter.end()


class TrafficBar(QWidget):
    """Shows and changes a TrafficController; visible while the traffic is painted."""

    def __init__(self, controller: TrafficController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("trafficBar")
        self._controller = controller
        what = self.tr("What is counted")
        self.measure = named(Combo(self), "trafficMeasure", title=what, tip=what)
        tip = self.tr("Of all lines, or of one line of a kernel with all that it calls")
        self.line = named(Combo(self), "trafficLine", title=self.tr("The line that fetches"), tip=tip)
        texts = self.tr("Reads by warps"), self.tr("Sectors"), self.tr("Shared reads")
        tips = (
            self.tr("How often a warp asks for each element of the input"),
            self.tr("How often each sector of 32 bytes is fetched by a warp"),
            self.tr("How often threads read a copy of each element from shared memory"),
        )
        for measure, text, tip in zip(MEASURES, texts, tips, strict=True):
            self.measure.addItem(text, measure)
            self.measure.setItemData(self.measure.count() - 1, tip_text(tip), Qt.ItemDataRole.ToolTipRole)
        self.line.set_letters(18)
        self.scale = ColourScale(self)
        self.close_button = named(QToolButton(self), "trafficClose", tip=self.tr("Stop painting the traffic"))
        self.close_button.setText("×")  # noqa: RUF001 - the sign
        self.state, self.words = sentence_label("trafficState", self), sentence_label("trafficWords", self)
        page = QWidget(self)
        in_column(self.state, self.words, 1, on=page, gap=GAP)
        self.texts = Scrolled(page, self)
        self.strip, self.signs = TrafficStrip(self), [Sign(entry, self) for entry in entries(True)]
        self.warp = WarpView(self)
        self.strip.hide()
        self.warp.hide()
        tip = self.tr("What the warp of the chosen element reads and writes, line by line")
        self.warp_button = named(QToolButton(self), "trafficWarpButton", tip=tip)
        self.warp_button.setText(self.tr("Its warp"))
        checkable(self.warp_button)
        self._arrange()
        self.measure.activated.connect(lambda: controller.set_measure(self.measure.currentData()))
        self.line.activated.connect(self._choose_line)
        self.close_button.clicked.connect(lambda: controller.watch(False))
        self.warp_button.toggled.connect(self._show)
        self.strip.chosen.connect(lambda sample, variant: controller.set_place((sample,), variant))
        controller.changed.connect(self._show)
        controller.shown_changed.connect(self._show)
        self.setVisible(False)

    def _arrange(self) -> None:
        gap = self.fontMetrics().averageCharWidth()
        row = FlowLayout(gap=gap, wide=True)
        for widget in (self.measure, self.line, self.scale, self.warp_button, self.close_button):
            row.addWidget(widget)
        legend = FlowLayout(gap=gap)
        for sign in self.signs:
            legend.addWidget(sign)
        in_column(row, self.strip, legend, self.texts, self.warp, on=self, margins=(gap, 2, gap, 2), gap=2)
        self._fit()

    def _fit(self) -> None:
        """The pictures keep their size while the texts change: else another pixel is under the mouse after a click."""
        self.texts.setFixedHeight(LINES * self.fontMetrics().lineSpacing() + 2 * GAP)

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "texts"):
            self._fit()

    @Slot()
    def _choose_line(self) -> None:
        data = self.line.currentData()
        self._controller.set_line(None if data == FOLLOWED else data, data == FOLLOWED)

    @Slot()
    def _show(self) -> None:
        controller = self._controller
        self.setVisible(controller.on)
        if not controller.on:
            return
        recorded = controller.recorded
        self.measure.setCurrentIndex(self.measure.findData(controller.measure))
        self._show_lines()
        spatial = 1 if controller.session.input is None else INPUT_KINDS[controller.session.input.kind].rank
        top = recorded.top(controller.measure, controller.line, spatial) if recorded is not None else 0
        if recorded is not None:  # else nothing moves while the next footprint is recorded
            self.scale.set_top(top)
        self.strip.setVisible(spatial == 1)
        if spatial == 1:
            self.strip.show_recorded(recorded, controller.measure, controller.line, controller.place)
        self.state.setText(self._state())
        words, shown = "", None
        if recorded is not None and controller.place:
            shown = recorded.of(controller.variant) or recorded.variants[0]
            words = footprint_text(shown, controller.place)
        elif recorded is not None and spatial == 1:
            words = self.tr("Click a sample in a row of colours to see what made it.")
        elif recorded is not None:
            words = self.tr("Click a pixel of a result, or press Enter at the cursor, to see what made it.")
        self.words.setText(words)
        self.warp.setVisible(self.warp_button.isChecked() and recorded is not None)
        self.warp.show_variant(shown)
        QTimer.singleShot(0, self, self._show_words)

    def _show_words(self) -> None:
        """Scroll to the footprint in words, or back to the totals."""
        self.texts.verticalScrollBar().setValue(self.words.y() if self._controller.place else 0)

    def _state(self) -> str:
        """The totals, or why there are none."""
        controller = self._controller
        if (recorded := controller.recorded) is not None:
            totals = [total_text(one, controller.measure, controller.line) for one in recorded.variants]
            return "\n".join(filter(None, (part_text(recorded), *totals, controller.where, self._left_out())))
        texts = {
            "empty": self.tr("Tick a variant with a kernel; only kernels have traffic."),
            "waiting": self.tr("Waiting for other work to end."),
            "running": self.tr("Recording what the kernels fetch…"),
            "stopped": self.tr("Stopped; paint the traffic again to restart."),
            "failed": self.tr("There is no traffic: {reason}").format(reason=controller.reason),
        }
        return texts.get(controller.state, "")

    def _left_out(self) -> str:
        """Which ticked variants are not recorded, and what to do; "" for none."""
        names = self.tr(", ").join(self._controller.left_out)
        text = self.tr("At most {most} are recorded. Untick others to record: {names}")
        return text.format(most=count(MOST), names=names) if names else ""

    def _show_lines(self) -> None:
        recorded = self._controller.recorded
        wanted = FOLLOWED if self._controller.follows else self._controller.line
        self.line.clear()
        self.line.addItem(self.tr("All lines"), None)
        self.line.addItem(self.tr("Line of the X-ray"), FOLLOWED)
        for file, line in recorded.lines() if recorded is not None else ():
            self.line.addItem(
                self.tr("{file}, line {line}").format(file=file.rsplit("/", 1)[-1], line=line), (file, line)
            )
        places = [n for n in range(self.line.count()) if self.line.itemData(n) == wanted]
        self.line.setCurrentIndex(places[0] if places else 0)

"""The histogram of an image with the levels of its Display."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QLabel, QPushButton, QSizePolicy, QWidget

from app.base.tips import set_tip
from app.models.pictures.display import COLORMAPS, Display, StatisticsLike, colors
from app.models.pictures.nonfinite import drawn_words
from app.models.pictures.pyramid import Array
from app.views.boxes import in_column
from app.views.experiment.spins import LevelSpin
from app.views.flow import FlowLayout
from app.views.labels import buddy, named
from app.views.parts import Combo, TickBox, mixed, number
from app.views.strokes import line_ink


class HistogramCanvas(QWidget):
    """Bars, a colour strip and two handles to drag. Values map linearly from minimum to maximum."""

    moved = Signal(float, float)  # low, high

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("histogramCanvas")
        self.setAccessibleName(self.tr("Histogram with levels"))
        self.display = display
        self.statistics: StatisticsLike | None = None
        self.logarithmic = True
        self._held: int | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.averageCharWidth() * 40, metrics.height() * 6)

    def minimumSizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.averageCharWidth() * 16, metrics.height() * 3)

    # Geometry

    def plot(self) -> QRectF:
        """The area of the bars; the colour strip is below it."""
        margin, strip = self.fontMetrics().averageCharWidth(), self.fontMetrics().height() * 0.75
        return QRectF(margin, margin / 2, max(1, self.width() - 2 * margin), max(1, self.height() - strip - margin))

    def limits(self) -> tuple[float, float]:
        """Values at the left and right end."""
        s = self.statistics
        if s is None:
            return self.display.low, self.display.high
        return (s.minimum, s.maximum) if s.maximum > s.minimum else (s.minimum - 1, s.maximum + 1)

    def x_of(self, value: float) -> float:
        """The screen x of a value; values outside the range are at the ends."""
        (low, high), plot = self.limits(), self.plot()
        return plot.left() + plot.width() * min(1.0, max(0.0, (value - low) / (high - low)))

    def value_at(self, x: float) -> float:
        (low, high), plot = self.limits(), self.plot()
        return low + (high - low) * min(1.0, max(0.0, (x - plot.left()) / plot.width()))

    def heights(self) -> Array:
        """Bar heights (256,) from 0 to 1."""
        if self.statistics is None or not any(self.statistics.histogram):
            return np.zeros(256)
        counts: Array = np.asarray(self.statistics.histogram, np.float64)
        if self.logarithmic:
            counts = np.log1p(counts)
        counts /= counts.max()
        return counts

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, plot, palette = QPainter(self), self.plot(), self.palette()
        painter.fillRect(plot, palette.color(QPalette.ColorRole.Base))
        heights = self.heights()
        bar = mixed(palette.color(QPalette.ColorRole.Text), palette.color(QPalette.ColorRole.Base), 0.6)
        step = plot.width() / len(heights)
        constant = self.statistics is not None and self.statistics.maximum <= self.statistics.minimum
        for index, height in enumerate(heights):
            if height > 0:
                # All values of a constant image are in one bin: show it in the middle, at its value.
                left = plot.center().x() - step / 2 if constant else plot.left() + index * step
                tall = max(1.0, height * plot.height())
                painter.fillRect(QRectF(left, plot.bottom() - tall, step + 0.5, tall), bar)
        low, high = self.x_of(self.display.low), self.x_of(self.display.high)
        veil = palette.color(QPalette.ColorRole.Highlight)
        veil.setAlpha(45)
        painter.fillRect(QRectF(low, plot.top(), high - low, plot.height()), veil)
        self._draw_strip(painter, plot, low, high)
        for name, x in (("low", low), ("high", high)):
            self._draw_handle(painter, x, name)
        painter.end()

    def _draw_strip(self, painter: QPainter, plot: QRectF, low: float, high: float) -> None:
        table = np.ascontiguousarray(colors(self.display.colormap))
        image = QImage(table.data, 256, 1, 768, QImage.Format.Format_RGB888)
        top, tall = plot.bottom() + 1, self.height() - plot.bottom() - 1
        painter.fillRect(QRectF(plot.left(), top, low - plot.left(), tall), QColor(*map(int, table[0])))
        painter.fillRect(QRectF(high, top, plot.right() - high, tall), QColor(*map(int, table[-1])))
        painter.drawImage(QRectF(low, top, max(1.0, high - low), tall), image)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Mid), 0))
        painter.drawRect(QRectF(plot.left(), top, plot.width(), tall - 1))

    def _draw_handle(self, painter: QPainter, x: float, name: str) -> None:
        """Draw a line with a grip that points to the clipped side."""
        size = self.fontMetrics().averageCharWidth()
        way = -1 if name == "low" else 1
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(line_ink(self.palette()), 2))
        painter.drawLine(QPointF(x, self.plot().top()), QPointF(x, self.height()))
        painter.setBrush(line_ink(self.palette()))
        top = self.plot().top()
        painter.drawPolygon([QPointF(x, top), QPointF(x + way * size, top + size / 2), QPointF(x, top + size)])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    # Events

    def _nearest(self, x: float) -> int | None:
        """The handle near x: 0 for low, 1 for high, None for neither."""
        gaps = [abs(x - self.x_of(v)) for v in (self.display.low, self.display.high)]
        near = int(gaps[1] < gaps[0] or (gaps[0] == gaps[1] and x > self.x_of(self.display.high)))
        return near if gaps[near] <= 1.5 * self.fontMetrics().averageCharWidth() else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._held = self._nearest(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        near = self._held if self._held is not None else self._nearest(x)
        self.setCursor(Qt.CursorShape.ArrowCursor if near is None else Qt.CursorShape.SizeHorCursor)
        if self._held == 0:
            self.moved.emit(min(self.value_at(x), self.display.high), self.display.high)
        elif self._held == 1:
            self.moved.emit(self.display.low, max(self.value_at(x), self.display.low))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._held = None

    def leaveEvent(self, event: QEvent) -> None:
        self.unsetCursor()


class HistogramBar(QWidget):
    """The histogram; below it the levels as numbers, automatic levels, the colour map, and a sentence on the values."""

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("histogramBar")
        self.display = display
        self.statistics: StatisticsLike | None = None
        self.canvas = HistogramCanvas(display, self)
        self.canvas.moved.connect(lambda low, high: self.display.set_levels(low, high))
        self.low, self.high = self._spin("levelLow"), self._spin("levelHigh")
        self.logarithmic = TickBox(self.tr("Logarithmic"), self)
        self.logarithmic.setChecked(True)
        self.logarithmic.toggled.connect(self._set_logarithmic)
        self.auto = QPushButton(self.tr("Automatic"), self)
        self.auto.clicked.connect(lambda: self.display.auto_levels("auto"))
        self.full = QPushButton(self.tr("Full range"), self)
        self.full.clicked.connect(lambda: self.display.auto_levels("range"))
        self.most = QPushButton(self.tr("99.8 %"), self)
        self.most.setToolTip(self.tr("Levels that clip the lowest and the highest 0.1 % of the values"))
        self.most.setAccessibleName(self.tr("Levels from the 0.1 to the 99.9 percentile"))
        self.most.clicked.connect(lambda: self.display.auto_levels("percentile"))
        self.maps = Combo(self)
        for name, title in zip(COLORMAPS, self._map_titles(), strict=True):
            self.maps.addItem(title, name)
        self.maps.activated.connect(lambda index: self.display.set_colormap(self.maps.itemData(index)))
        self.words = named(QLabel(self), "histogramWords")
        self.words.setWordWrap(True)
        self._name()
        self._arrange()
        self._listen(display)

    def set_display(self, display: Display) -> None:
        """Show the levels of another group of pictures."""
        if display is not self.display:
            self.display.levels_changed.disconnect(self._show_levels)
            self.display.colormap_changed.disconnect(self._show_map)
            self.display.figures_changed.disconnect(self._show_figures)
            self._listen(display)

    def _listen(self, display: Display) -> None:
        self.display = self.canvas.display = display
        display.levels_changed.connect(self._show_levels)
        display.colormap_changed.connect(self._show_map)
        display.figures_changed.connect(self._show_figures)
        self.maps.setVisible(not display.signed)
        self.most.setVisible(not display.signed)
        self._set_tips(display.signed)
        self._show_map()
        self._show_figures()

    def _set_tips(self, signed: bool) -> None:
        """Describe the buttons: the levels of a difference are symmetric about 0."""
        set_tip(
            self.auto,
            self.tr("Full colour at a difference that 99 % of the differing pixels do not exceed")
            if signed
            else self.tr("The full range of the type for colours, minimum to maximum for gray and other values"),
        )
        set_tip(
            self.full,
            self.tr("Full colour only at the largest difference")
            if signed
            else self.tr("Levels from the exact minimum to the exact maximum"),
        )

    @Slot()
    def _show_figures(self) -> None:
        self.set_statistics(self.display.statistics)

    def _map_titles(self) -> tuple[str, ...]:
        return self.tr("Gray"), self.tr("Viridis"), self.tr("Cividis"), self.tr("Magma")

    def _spin(self, name: str) -> QDoubleSpinBox:
        spin = named(LevelSpin(self), name)
        spin.setRange(-1e300, 1e300)
        spin.setDecimals(2)
        spin.setKeyboardTracking(False)
        spin.setMinimumWidth(self.fontMetrics().averageCharWidth() * 9)
        spin.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        spin.valueChanged.connect(self._on_spin)
        return spin

    def _name(self) -> None:
        self.low.setAccessibleName(self.tr("Low level"))
        self.high.setAccessibleName(self.tr("High level"))
        self.maps.setAccessibleName(self.tr("Colour map"))
        names = {"Logarithmic": self.logarithmic, "Automatic": self.auto, "Full": self.full, "Most": self.most}
        for name, widget in {**names, "Map": self.maps}.items():
            widget.setObjectName(f"histogram{name}")

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        grid = QGridLayout()
        grid.setHorizontalSpacing(unit)
        for column, (text, level) in enumerate(((self.tr("Low"), self.low), (self.tr("High"), self.high))):
            label = buddy(text, level)
            grid.addWidget(label, 0, 2 * column)
            grid.addWidget(level, 0, 2 * column + 1)
            grid.setColumnStretch(2 * column + 1, 1)
        row = FlowLayout(gap=unit)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (self.auto, self.full, self.most, self.maps, self.logarithmic):
            row.addWidget(widget)
        in_column((self.canvas, 1), grid, row, self.words, on=self, margins=unit, gap=unit)

    def set_statistics(self, statistics: StatisticsLike | None) -> None:
        """Show these statistics; the levels stay unchanged."""
        self.statistics = self.canvas.statistics = statistics
        self.words.setText(self._sentence())
        set_tip(self.words, drawn_words() if statistics is not None and statistics.nan + statistics.infinite else "")
        self.canvas.setAccessibleDescription(self.words.text())
        self._show_levels()
        self.canvas.update()

    def _sentence(self) -> str:
        s = self.statistics
        if s is None:
            return self.tr("No statistics yet")
        if not any(s.histogram):
            text = self.tr("No finite values; {nan} are NaN, {infinite} infinite")
        elif s.nan or s.infinite:
            text = self.tr("Minimum {low}, maximum {high}; {nan} are NaN, {infinite} infinite")
        else:
            text = self.tr("Minimum {low}, maximum {high}, all values finite")
        counts = {"nan": number(s.nan), "infinite": number(s.infinite)}
        return text.format(low=number(s.minimum), high=number(s.maximum), **counts)

    def _set_logarithmic(self, on: bool) -> None:
        self.canvas.logarithmic = on
        self.canvas.update()

    @Slot()
    def _show_levels(self) -> None:
        self.canvas.update()
        low, high = self.canvas.limits()
        span = self.display.high - self.display.low
        span = span if self.display.signed else max(high - low, span)
        decimals = min(12, max(0, 3 - math.floor(math.log10(span)))) if 0 < span < math.inf else 2
        for spin, value in ((self.low, self.display.low), (self.high, self.display.high)):
            with QSignalBlocker(spin):
                spin.setDecimals(decimals)
                spin.setSingleStep(10.0 ** -(decimals - 1) if decimals else 1.0)
                spin.setValue(value)

    def _on_spin(self) -> None:
        self.display.set_levels(self.low.value(), self.high.value())

    @Slot()
    def _show_map(self) -> None:
        self.canvas.update()
        self.maps.setCurrentIndex(self.maps.findData(self.display.colormap))

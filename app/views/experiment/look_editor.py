"""A chooser of many choices in families, with sketches of the chosen one's functions."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QPointF, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of
from app.base.tips import set_tip
from app.models.background import Background
from app.views.boxes import in_column
from app.views.eliding import elided_text
from app.views.experiment.editors import Editor
from app.views.experiment.search_combo import WORDS, SearchCombo, disable
from gpu_ops.params import Curve, Look, Param, Value

translate = QCoreApplication.translate
COLUMNS = 2
LINES = 3.6
"""The height of a drawn function, in lines of text."""


class LookEditor(Editor):
    """A combo box with a heading for each family; typed letters find a choice. Its functions are drawn below."""

    def __init__(self, param: Param, parent: QWidget | None = None) -> None:
        super().__init__(param, parent)
        assert param.look is not None
        self.combo = SearchCombo(self)
        self.combo.setMaxVisibleItems(24)
        self._headings: list[int] = []
        self._list(param.look)
        self._ink_headings()
        self.curves = CurveSketch(param.look, self)
        self.combo.currentIndexChanged.connect(self._chosen)
        in_column(self.combo, self.curves, on=self, gap=self.fontMetrics().averageCharWidth() // 2)

    def _list(self, look: Look) -> None:
        """List the choices below the headings of their families."""
        before, font = "", QFont(self.combo.font())
        font.setBold(True)
        for choice in self.param.choices:
            if (family := look.family(choice)) != before:
                before = family
                self.combo.addItem(_title(family))
                heading = self.combo.count() - 1
                disable(self.combo, heading)
                self.combo.setItemData(heading, font, Qt.ItemDataRole.FontRole)
                self._headings.append(heading)
            self.combo.addItem(str(choice), choice)
            self.combo.setItemData(self.combo.count() - 1, _title(family), WORDS)
        self.combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        view = self.combo.view()
        view.setMinimumWidth(view.sizeHintForColumn(0) + 4 * self.fontMetrics().averageCharWidth())

    def _ink_headings(self) -> None:
        """Headings cannot be chosen, but must be readable."""
        for heading in self._headings:
            ink = self.palette().color(QPalette.ColorRole.Text)
            self.combo.setItemData(heading, ink, Qt.ItemDataRole.ForegroundRole)

    @bounded
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "combo"):
            self._ink_headings()

    @Slot()
    def _chosen(self) -> None:
        self.curves.set_choice(self.combo.currentData())
        self.edited.emit(True)

    def value(self) -> object:
        return self.combo.currentData()

    def set_value(self, value: Value) -> None:
        self.combo.blockSignals(True)
        self.combo.setCurrentIndex(self.combo.findData(value))
        self.combo.blockSignals(False)
        set_tip(self.combo, translate("Looks", "{choice}: {family}").format(choice=value, family=self._family(value)))
        self.curves.set_choice(value)

    def _family(self, value: Value) -> str:
        assert self.param.look is not None
        return _title(self.param.look.family(value))

    def control(self) -> QWidget:
        return self.combo


class CurveSketch(QWidget):
    """The functions of a choice, each in a small frame. They are computed in the background when they first become
    visible: that may load a library."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("curveSketch")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.curves: tuple[Curve, ...] = ()
        self.drawn: Value | None = None
        """The choice whose functions are drawn."""
        self.failure = ""
        self._look = look
        self._choice: Value | None = None
        self._background = Background(self)
        self._background.finished.connect(self._take)
        self._background.failed.connect(self._fail)

    def set_choice(self, choice: Value) -> None:
        """Draw the functions of this choice."""
        if choice != self._choice:
            self._choice, self.failure = choice, ""
            if self.isVisible():
                self._compute()

    def _compute(self) -> None:
        look, choice = self._look, self._choice
        self._background.start(lambda _stop: (choice, look.curves(choice)))

    @Slot(object)
    def _take(self, result: tuple[Value, tuple[Curve, ...]]) -> None:
        rows = len(self.curves)
        (self.drawn, self.curves), self.failure = result, ""
        names = ", ".join(_title(curve.name) for curve in self.curves)
        self.setAccessibleName(translate("Looks", "{choice}: {functions}").format(choice=self.drawn, functions=names))
        set_tip(self, self.accessibleName())
        if rows != len(self.curves):
            self.updateGeometry()
        self.update()

    @Slot(str)
    def _fail(self, sentence: str) -> None:
        self.drawn, self.curves, self.failure = None, (), sentence
        set_tip(self, sentence)
        self.update()

    def sizeHint(self) -> QSize:
        rows = max(1, -(-len(self.curves) // COLUMNS))
        return QSize(self.fontMetrics().averageCharWidth() * 24, round(rows * LINES * self.fontMetrics().height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().averageCharWidth() * 12, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._choice is not None and self.drawn != self._choice and not self.failure and not self._background.busy:
            self._compute()
        painter, palette = QPainter(self), self.palette()
        gap = self.fontMetrics().averageCharWidth() / 2
        rows = max(1, -(-len(self.curves) // COLUMNS))
        wide, tall = (self.width() - gap) / COLUMNS, (self.height() - gap * (rows - 1)) / rows
        if self.failure:
            painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), self.failure)
        for place in range(max(len(self.curves), COLUMNS)):
            row, column = divmod(place, COLUMNS)
            box = QRectF(column * (wide + gap), row * (tall + gap), wide, tall).adjusted(0.5, 0.5, -0.5, -0.5)
            if not self.failure:
                painter.setPen(QPen(palette.color(QPalette.ColorRole.Mid), 1))
                painter.setBrush(palette.color(QPalette.ColorRole.Base))
                painter.drawRect(box)
            if place < len(self.curves):
                self._draw(painter, box, self.curves[place], place % COLUMNS)
        painter.end()

    def _draw(self, painter: QPainter, box: QRectF, curve: Curve, series: int) -> None:
        """Draw one function: its name above, the zero line, and the curve on its own scale."""
        palette, metrics = self.palette(), self.fontMetrics()
        pad = metrics.averageCharWidth() / 2
        name = elided_text(_title(curve.name), metrics, box.width() - 2 * pad)
        painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
        painter.drawText(box.adjusted(pad, 0, -pad, 0), int(Qt.AlignmentFlag.AlignTop), name)
        inner = box.adjusted(pad, metrics.height(), -pad, -pad)
        low, high = min(0.0, *curve.y), max(0.0, *curve.y)
        left, right = curve.x[0], curve.x[-1]
        across, up = inner.width() / (right - left), inner.height() / (high - low)
        zero = inner.bottom() + low * up
        painter.setPen(QPen(colours_of(palette).grid, 1))
        painter.drawLine(QPointF(inner.left(), zero), QPointF(inner.right(), zero))
        points = [
            QPointF(inner.left() + (x - left) * across, zero - y * up) for x, y in zip(curve.x, curve.y, strict=True)
        ]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colours_of(palette).series[2 * series].colour, 1.2))
        painter.drawPolyline(QPolygonF(points))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _title(text: str) -> str:
    """The name of a family or a function in the user's language."""
    return translate("Looks", text)

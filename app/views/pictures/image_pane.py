"""One image with its name, verdict, and the value under the cursor."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.base.tips import set_tip
from app.models.pictures.display import Display, StatisticsLike
from app.models.pictures.layer import Layer, default_levels
from app.models.pictures.pyramid import Array
from app.models.results.origin import WHOLE, Origin
from app.models.results.view_data import ViewData
from app.views.boxes import in_column, in_row
from app.views.labels import named
from app.views.parts import ElidedLabel, StateChip, mark_texts, number
from app.views.pictures.image_canvas import ImageCanvas
from app.views.results.findings_bar import FindingsBar
from app.views.results.reading import pixel_text


class ImagePane(QWidget):
    """Title, verdict and findings above, the canvas, position and value below. All panes of a Display show their own
    value at the position of its cursor, whichever of them it is in."""

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("imagePane")
        self.display = display
        self.layer = Layer(self)
        self.canvas = ImageCanvas(display, self)
        self.canvas.set_layers([self.layer])
        self.title = named(ElidedLabel(parent=self), "imageTitle")
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.chip = StateChip(self)
        self.findings = FindingsBar(self)
        self.status = ElidedLabel(parent=self, keep=": ")  # the value
        self.status.setObjectName("imageStatus")
        self._arrange()
        self.layer.described.connect(self._describe)
        self.layer.changed.connect(self._show_value)
        self.layer.changed.connect(self._describe)
        display.cursor_moved.connect(self._show_value)
        display.navigated.connect(self._show_value)
        self._show_value()

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        bar = in_row((self.title, 1), self.chip, margins=(unit, 0, unit, 0), gap=unit)
        foot = in_row(self.status, margins=(unit, 0, unit, 0))
        in_column(
            bar, self.findings, (self.canvas, 1), foot, on=self, margins=(0, unit // 2, 0, unit // 2), gap=unit // 2
        )
        self.chip.setMinimumHeight(self.chip.sizeHint().height())
        self.title.setMinimumHeight(self.chip.sizeHint().height())  # the title does not jump when a verdict comes

    def set_array(self, array: Array, statistics: StatisticsLike | None, title: str, origin: Origin = WHOLE) -> None:
        """Show an image (H, W) or (H, W, 3 | 4), used in place. Zoom and levels stay: they belong to the Display and
        the input. Only if no levels are set yet, they are guessed from this image."""
        self.canvas.set_overlay(None)  # it was of the picture before
        self.layer.set_array(array, statistics, title, origin)
        if self.layer.tone is None:
            self.display.guess_levels(*default_levels(self.layer))

    def clear(self) -> None:
        """Release the array, its verdict and its findings."""
        self.canvas.set_overlay(None)
        self.layer.clear()
        self.layer.set_state(None)
        self.layer.set_note("")
        self.findings.show_findings((), ())

    def set_drawn(self, drawn: ViewData, title: str, origin: Origin = WHOLE) -> None:
        """Show a result, as `set_array` shows an image."""
        self.canvas.set_overlay(None)
        self.layer.set_drawn(drawn, title, origin)
        if self.layer.tone is None:
            self.display.guess_levels(*default_levels(self.layer))

    def _describe(self) -> None:
        self.title.setText(self.layer.title)
        self.chip.show_state(self.layer.state, self.layer.verdict)
        mark = mark_texts(self.layer.origin, self.layer.shape)[1]
        name = " · ".join(t for t in (self.layer.title, self.layer.note, mark) if t)
        self.canvas.setAccessibleName(self.tr("Image {title}").format(title=name))
        set_tip(self.canvas, mark)
        self.setAccessibleName(self.layer.title)
        # A failed result shows its reason in place of the picture.
        self.canvas.set_notes("", self.layer.verdict if self.layer.state == "failed" else "")
        self._share_width()
        self._show_value()

    def _share_width(self) -> None:
        """Cut the verdict's text before the name."""
        rest = self.width() - self.title.fontMetrics().horizontalAdvance(self.layer.title)
        self.chip.setMaximumWidth(max(self.chip.least_width(), rest - 4 * self.fontMetrics().averageCharWidth()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._share_width()

    def _show_value(self) -> None:
        """Show the value under the cursor; without one the note, else the size."""
        self.status.setText(self._value_text() or self.layer.note or self._size_text())

    def _value_text(self) -> str:
        """Position and value under the cursor, empty without one."""
        if self.display.cursor is None:
            return ""
        x, y = self.display.cursor
        return pixel_text(self.layer, x, y, self.display.pixel)

    def _size_text(self) -> str:
        pyramid = self.layer.pyramid
        if pyramid is None:
            return ""
        height, width = pyramid.array.shape[:2]
        text = self.tr("{width} × {height}, {dtype}, zoom {zoom} %")
        zoom = number(float(f"{100 / self.display.scale:.3g}"))
        return text.format(width=width, height=height, dtype=self.layer.compared.dtype.name, zoom=zoom)

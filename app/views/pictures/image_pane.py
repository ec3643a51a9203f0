"""One image with its name, verdict, and the value under the cursor."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.base.tips import set_tip
from app.models.pictures.display import Display, StatisticsLike
from app.models.pictures.layer import Layer, default_levels
from app.models.pictures.pyramid import Array
from app.models.results.origin import WHOLE, Origin
from app.models.results.view_data import ViewData
from app.views.parts import mark_texts, number
from app.views.pictures.image_canvas import ImageCanvas
from app.views.results.reading import pixel_text
from app.views.results.tiles import Tile


class ImagePane(Tile):
    """Title, verdict and findings above, the canvas, position and value below. Each pane of a Display shows its own
    value at the position of the common cursor. It has its own layer unless one is given."""

    def __init__(self, display: Display, parent: QWidget | None = None, layer: Layer | None = None) -> None:
        self.canvas = ImageCanvas(display)
        super().__init__(self.canvas, parent)
        self.setObjectName("imagePane")
        self.display, self.layer = display, layer or Layer(self)
        self.canvas.set_layers([self.layer])
        self.layer.described.connect(self._describe)
        self.layer.changed.connect(self._show_value)
        self.layer.changed.connect(self._describe)
        display.cursor_moved.connect(self._show_value)
        display.navigated.connect(self._show_value)
        self._show_value()

    def set_array(self, array: Array, statistics: StatisticsLike | None, title: str, origin: Origin = WHOLE) -> None:
        """Show an image (H, W) or (H, W, 3 | 4), without copying it. Zoom and levels stay: they belong to the Display
        and the input. Only if no levels are set yet, they are estimated from this image."""
        self.canvas.set_overlay(None)  # it belonged to the previous picture
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
        # A failed result shows its reason instead of the picture.
        self.canvas.set_notes("", self.layer.verdict if self.layer.state == "failed" else "")
        self.share_width()
        self._show_value()

    def _show_value(self) -> None:
        """Show the value under the cursor; without one the note, else the size."""
        value = self.value_text() or self.layer.note
        self.status.set_texts(*((value,) if value else self._size_texts()))

    def value_text(self) -> str:
        """Position and value under the cursor, empty without one."""
        if self.display.cursor is None:
            return ""
        x, y = self.display.cursor
        return pixel_text(self.layer, x, y, self.display.pixel)

    def _size_texts(self) -> tuple[str, ...]:
        """Size, type and zoom, then ever less of them."""
        pyramid = self.layer.pyramid
        if pyramid is None:
            return ("",)
        height, width = pyramid.array.shape[:2]
        zoom = number(float(f"{100 / self.display.scale:.3g}"))
        values = {"width": width, "height": height, "dtype": self.layer.compared.dtype.name, "zoom": zoom}
        texts = (
            self.tr("{width} × {height}, {dtype}, zoom {zoom} %"),
            self.tr("{width} × {height}, zoom {zoom} %"),
            self.tr("{width} × {height}"),
        )
        return tuple(text.format(**values) for text in texts)

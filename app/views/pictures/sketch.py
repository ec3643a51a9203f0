"""A drawing over a picture, in the picture's coordinates."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.base.nesting import bounded
from app.views.pictures.image_canvas import ImageCanvas

Draw = Callable[[QPainter, ImageCanvas], None]


class Sketch(QWidget):
    """Covers a canvas and is transparent for the mouse. Each of its drawings, by name, paints with the canvas's
    `screen_at`; they follow zoom and size. A canvas has one sketch: see `sketch_of`."""

    def __init__(self, canvas: ImageCanvas) -> None:
        super().__init__(canvas)
        self.setObjectName("sketch")
        self.canvas = canvas
        self.drawings: dict[str, Draw] = {}
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        canvas.installEventFilter(self)
        canvas.display.navigated.connect(self.update)
        self.resize(canvas.size())
        self.show()

    def draw(self, name: str, drawing: Draw | None) -> None:
        """Add a drawing, or replace the one of that name; None removes it."""
        if drawing is not None:
            self.drawings[name] = drawing
        elif self.drawings.pop(name, None) is None:
            return
        self.update()

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Resize:
            self.resize(self.canvas.size())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        if not any(self.canvas.images):
            return
        painter = QPainter(self)
        painter.setFont(self.font())
        for draw in self.drawings.values():
            painter.save()
            draw(painter, self.canvas)
            painter.restore()
        painter.end()


def sketch_of(canvas: ImageCanvas) -> Sketch:
    """The sketch over a canvas, created on first use."""
    return canvas.findChild(Sketch) or Sketch(canvas)

"""The area that paints one image, or two for a comparison, with the settings of their Display."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFocusEvent,
    QHideEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.base.nesting import bounded
from app.models.pictures.display import Display
from app.models.pictures.layer import Layer, Tone
from app.models.pictures.pyramid import Array
from app.models.pictures.viewport import Viewport
from app.views.pictures.canvas_frame import CanvasFrame
from app.views.pictures.canvas_frame import Mode as Mode
from app.views.pictures.canvas_notes import draw_notes
from app.views.pictures.canvas_paint import draw_bands, draw_divider, draw_missing, rgba_image
from app.views.pictures.pixel_values import draw_values
from app.views.strokes import line_ink

ZOOM = 1.25  # per notch of the wheel or key press
PAN = 0.1  # of the view per arrow key
DIVIDE = 0.02  # of the view per key press
FAINT = 0.4  # opacity of a result of an earlier setting


class ImageCanvas(CanvasFrame):
    """Paints only the viewport, one value per device pixel. Mouse: the wheel zooms, dragging pans. Keys while focused:
    + − 0 1, arrows pan, Shift+arrows move the cursor; , and . move the divider, Space flickers."""

    takes_letters = True

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(display, parent)
        self.setObjectName("imageCanvas")
        self._viewports: list[Viewport] = []
        self._dragged: QPointF | None = None
        self._dividing = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Image"))
        self.setAccessibleDescription(
            self.tr("Plus and minus zoom, 0 fits, 1 shows pixel by pixel, arrows pan, Shift+arrows move the cursor")
        )
        for signal in (display.navigated, display.levels_changed, display.colormap_changed):
            signal.connect(self.refresh)
        display.cursor_moved.connect(self.update)

    def sizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 40, unit * 30)

    def minimumSizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 12, unit * 9)

    # What is shown

    def set_layers(self, layers: list[Layer], mode: Mode = "single") -> None:
        """One layer, or two for swipe or flicker."""
        for layer in set(self.layers):  # a layer may be compared with itself
            layer.changed.disconnect(self._on_layer)
            layer.described.disconnect(self.update)
        self.layers, self.mode, self.flickered = list(layers), mode, False
        for layer in set(self.layers):
            layer.changed.connect(self._on_layer)
            layer.described.connect(self.update)
        while len(self._viewports) < len(self.layers):
            self._viewports.append(Viewport(self))
            self._viewports[-1].sharpened.connect(self.refresh)
        for viewport in self._viewports:
            viewport.forget()
        self._on_layer()

    def set_notes(self, notes: str, missing: str = "", legend: Tone | None = None) -> None:
        """Set the text lines on the picture, the text in place of a missing picture, and the tone for a colour
        scale."""
        self.notes, self.missing, self.legend = notes, missing, legend
        self.update()

    def set_overlay(self, overlay: QImage | Array | None, meaning: str = "") -> None:
        """Paint a translucent picture over the whole image, with text lines that explain it; None removes it. It is a
        QImage, or RGBA values (H, W, 4) in uint8, and may be coarser than the image."""
        self.overlay = rgba_image(overlay) if isinstance(overlay, np.ndarray) else overlay
        self.meaning = meaning if overlay is not None else ""
        self.update()

    def _on_layer(self) -> None:
        for layer, viewport in zip(self.layers, self._viewports, strict=False):
            if layer.pyramid is None:
                viewport.forget()
            else:
                viewport.renew()
        self._place()
        self.refresh()

    @property
    def behind(self) -> bool:
        """Whether a picture, as last painted, is that of the image before: its own is sampled in the background."""
        return any(viewport.behind for viewport in self._viewports)

    def refresh(self) -> None:
        """Recompute the viewport at the next paint."""
        self.images = []
        self.update()

    def _place(self) -> None:
        """Report the sizes of data and view to the Display, so that it can fit the data to the view."""
        shapes = [layer.extent for layer in self.layers if layer.extent]
        if not shapes or not self.isVisible():
            self.display.forget(id(self))
            return
        data = float(max(s[1] for s in shapes)), float(max(s[0] for s in shapes))
        self.display.place(id(self), data, (float(self.width()), float(self.height())))

    # Painting

    def _render(self) -> None:
        ratio, frame = self.devicePixelRatioF(), self._frame()
        self.images = []
        for layer, viewport in zip(self.layers, self._viewports, strict=False):
            pyramid, tone = layer.painted(frame.scale), layer.tone_in(self.display)
            samples = viewport.picture(pyramid, frame, tone) if pyramid is not None else None
            if samples is None:
                self.images.append(None)
                continue
            height, width = samples.array.shape[:2]
            alpha = layer.shape is not None and layer.shape[2:] == (4,)
            formats = QImage.Format.Format_RGBA8888 if alpha else QImage.Format.Format_RGBX8888
            if samples.array.ndim == 2:
                formats = QImage.Format.Format_Grayscale8
            image = QImage(samples.array.data, width, height, samples.array.strides[0], formats)
            image.setDevicePixelRatio(ratio)
            image.pixels = samples.array  # type: ignore[attr-defined]  # the QImage does not own its bytes
            self.images.append((image, samples.x - frame.rect.left, samples.y - frame.rect.top))

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.images:
            self._render()
        painter = QPainter(self)
        dark = self.palette().color(QPalette.ColorRole.Dark)
        painter.fillRect(self.rect(), dark)
        if self.mode == "swipe" and len(self.images) > 1:
            common = self._common()
            for index in range(2):
                painter.setClipRect(self.side(index).intersected(common))
                self._draw(painter, index)
            painter.setClipping(False)
            draw_divider(painter, QRectF(self.rect()), self.divider, self.upright, self.fontMetrics().height() / 2)
        elif self.images:
            painter.setClipRect(self._common())
            self._draw(painter, int(self.flickered))
            painter.setClipping(False)
        draw_notes(painter, self)
        if self.hasFocus():
            painter.setPen(QPen(line_ink(self.palette()), 0))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _common(self) -> QRectF:
        """The screen area that all layers cover; a comparison shows nothing outside it."""
        rects = [layer.rect for layer in self.layers if layer.pyramid is not None]
        if len(set(rects)) < 2:
            return QRectF(self.rect())
        both = rects[0].intersection(rects[1])
        return QRectF(self.screen_at(both.left, both.top), self.screen_at(both.right, both.bottom))

    def _draw(self, painter: QPainter, index: int) -> None:
        drawn = self.images[index]
        if drawn is None:
            return
        image, x, y = drawn
        ratio = self.devicePixelRatioF()
        corner = QPointF(x / ratio, y / ratio)
        if image.hasAlphaChannel():  # a pattern is visible through transparent pixels
            area = QRectF(corner, image.deviceIndependentSize())
            painter.fillRect(area, QColor(190, 190, 190))
            painter.fillRect(area, QBrush(QColor(110, 110, 110), Qt.BrushStyle.Dense4Pattern))
        painter.setOpacity(1.0 if self.layers[index].current else FAINT)
        painter.drawImage(corner, image)
        painter.setOpacity(1.0)
        draw_values(painter, self, index)
        if self.overlay is not None and (extent := self.layers[index].extent):
            area = QRectF(self.screen_at(0, 0), self.screen_at(extent[1], extent[0]))
            painter.drawImage(area, self.overlay, QRectF(self.overlay.rect()))
        if (shown := self.layers[index].drawn) is not None and shown.form.bands:
            draw_bands(painter, shown.form.bands, self.screen_at)
        if (whole := self.layers[index].origin.whole) and len(self.layers) == 1:
            draw_missing(painter, self.layers[index].rect, whole, self.screen_at, self.palette())

    # Events

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()
        self.refresh()

    @bounded
    def showEvent(self, event: QShowEvent) -> None:
        self._place()

    @bounded
    def hideEvent(self, event: QHideEvent) -> None:
        self.display.forget(id(self))

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.flickered = False
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        notches = event.angleDelta().y() / 120
        if notches:
            # Zoom about the Display's exact centre: a centre rounded to pixels would drift over many steps.
            (x, y), scale = self.display.centre, self.display.scale
            away = event.position() - QPointF(self.width() / 2, self.height() / 2)
            self.display.zoom_at(ZOOM**notches, x + away.x() * scale, y + away.y() * scale)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._dividing = self.near_divider(event.position())
            self._dragged = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position()
        if self._dragged is not None and self._dividing:
            self.set_divider(point.x() / max(1, self.width()) if self.upright else point.y() / max(1, self.height()))
        elif self._dragged is not None:
            moved, self._dragged = point - self._dragged, point
            self.display.pan(-moved.x() * self.display.scale, -moved.y() * self.display.scale)
        over = self._dividing or self.near_divider(point)
        shapes = Qt.CursorShape
        shape = shapes.CrossCursor if not over else shapes.SplitHCursor if self.upright else shapes.SplitVCursor
        if self.cursor().shape() != shape:
            self.setCursor(shape)
        self.display.set_cursor(*self.pixel_at(point))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged, self._dividing = None, False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.ignore()  # the window shows it in full screen

    def leaveEvent(self, event: QEvent) -> None:
        self.display.clear_cursor()

    def fit(self) -> None:
        """Show the whole image, also after a resize."""
        self.display.following = True
        self.display.refit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, display = event.key(), self.display
        arrows = {
            Qt.Key.Key_Left: (-1, 0),
            Qt.Key.Key_Right: (1, 0),
            Qt.Key.Key_Up: (0, -1),
            Qt.Key.Key_Down: (0, 1),
        }
        if key in arrows:
            dx, dy = arrows[Qt.Key(key)]
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                x, y = display.cursor or display.centre
                display.set_cursor(int(x) + dx + 0.5, int(y) + dy + 0.5)
            else:
                step = PAN * display.scale
                display.pan(dx * self.width() * step, dy * self.height() * step)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            display.zoom_at(ZOOM, *display.centre)
        elif key == Qt.Key.Key_Minus:
            display.zoom_at(1 / ZOOM, *display.centre)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key == Qt.Key.Key_1:
            display.one_to_one()
        elif key in (Qt.Key.Key_Comma, Qt.Key.Key_Period) and self.mode == "swipe":
            self.set_divider(self.divider + (DIVIDE if key == Qt.Key.Key_Period else -DIVIDE))
        elif key == Qt.Key.Key_Space and self.mode == "flicker":
            self._flicker(event, True)
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and self.mode == "flicker":
            self._flicker(event, False)
        else:
            super().keyReleaseEvent(event)

    def _flicker(self, event: QKeyEvent, other: bool) -> None:
        if not event.isAutoRepeat():
            self.flickered = other and len(self.layers) > 1
            self.update()

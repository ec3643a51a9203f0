"""Handles over the pictures of an output that change parameters."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter

from app.base.nesting import bounded
from app.models.experiment.session import Session
from app.models.pictures.handles import Handle, dragged, handles, nudged
from app.models.results.view_data import INPUT
from app.views.pictures.handle_paint import draw_handles, screen_of
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.sketch import sketch_of
from app.views.results.pictures import Pictures

THROTTLE_MS = 40
"""The minimum interval between two changes of the parameters while a handle moves."""
GRIP = 0.7
"""The distance from a handle within which the mouse takes it, in letter heights."""


class HandleLink(QObject):
    """Draws the handles of the current filter's parameters over the visible output, on all its pictures. Dragging moves
    a handle, as one undo step; H selects the next handle, Alt+arrows move it, with Shift by ten times the distance.
    `params` are the values that the handles show: they are ahead of the session's while a handle moves."""

    def __init__(self, pictures: Pictures, session: Session) -> None:
        super().__init__(pictures)
        self._pictures, self._session = pictures, session
        self.params: dict[str, Any] = {}
        self.chosen = 0
        self._held = self._mirror = self._going_on = False
        self._filter = session.filter
        self._canvases: list[ImageCanvas] = []
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(THROTTLE_MS)
        self._later.timeout.connect(self._send)
        pictures.view_changed.connect(self._bind)
        pictures.arranged.connect(self._bind)
        session.changed.connect(self._take)

    @property
    def handles(self) -> tuple[Handle, ...]:
        """The handles as drawn."""
        return handles(self._session.filter, self.params, self._session.output.id)

    @Slot()
    def _bind(self) -> None:
        """The visible view, its panes or the filter may have changed."""
        grid, session = self._pictures.view.grid, self._session
        able = grid is not None and bool(handles(session.filter, session.params, session.output.id))
        canvases = [grid.pane(key).canvas for key in grid.keys if key != INPUT] if able and grid is not None else []
        for canvas in self._canvases:
            if canvas not in canvases:
                canvas.removeEventFilter(self)
                sketch_of(canvas).draw("handles", None)
        for canvas in canvases:
            if canvas not in self._canvases:
                canvas.installEventFilter(self)
                sketch_of(canvas).draw("handles", self._draw)
        self._canvases = canvases
        self._take()

    @Slot()
    def _take(self) -> None:
        """Show the session's parameters, unless a handle is being dragged."""
        if self._filter is not self._session.filter:
            self._filter, self._held = self._session.filter, False
            self._later.stop()
        if not self._held and not self._later.isActive():
            self.params = self._session.params
        self.chosen = min(self.chosen, max(0, len(self.handles) - 1))
        self._update()

    def _update(self) -> None:
        for canvas in self._canvases:
            sketch_of(canvas).update()

    def _draw(self, painter: QPainter, canvas: ImageCanvas) -> None:
        if self.handles:
            draw_handles(painter, canvas, self.handles, self.handles[self.chosen])

    # Geometry

    @staticmethod
    def place(canvas: ImageCanvas, point: QPointF) -> tuple[float, float] | None:
        """The position (y, x) on the output's axes under a point of a canvas; None if it shows no result."""
        layer = canvas.layers[0] if canvas.layers else None
        if layer is None or layer.drawn is None:
            return None
        x, y = canvas.data_at(point)
        down, across = layer.drawn.form.axes[:2]
        return down.at(y - 0.5 - layer.rect.top), across.at(x - 0.5 - layer.rect.left)

    def at(self, canvas: ImageCanvas, point: QPointF) -> Handle | None:
        """The handle under a point; a point's handle takes precedence over a ring's."""
        place = self.place(canvas, point)
        if place is None:
            return None
        near = [(self._away(canvas, point, handle, *place), handle) for handle in self.handles]
        reach = GRIP * canvas.fontMetrics().height()
        found = [(handle.radius is not None, away, handle) for away, handle in near if away <= reach]
        return min(found, key=lambda each: each[:2])[2] if found else None

    def _away(self, canvas: ImageCanvas, point: QPointF, handle: Handle, y: float, x: float) -> float:
        """The distance from a point to a handle in screen pixels."""
        signs = (1, -1) if handle.mirrored else (1,)
        best = math.inf
        for sign in signs:
            dy, dx = y - sign * handle.y, x - sign * handle.x
            far = math.hypot(dy, dx)
            part = (handle.radius or 0.0) / far if far else 0.0
            spot = screen_of(canvas, sign * handle.y + dy * part, sign * handle.x + dx * part)
            if spot is not None:
                best = min(best, math.hypot(spot.x() - point.x(), spot.y() - point.y()))
        return best

    # Events

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if not isinstance(watched, ImageCanvas):
            return False
        if isinstance(event, QKeyEvent) and event.type() in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride):
            return self._on_key(event)
        if isinstance(event, QMouseEvent):
            return self._on_mouse(watched, event)
        return False

    def _on_mouse(self, canvas: ImageCanvas, event: QMouseEvent) -> bool:
        kind, point = event.type(), event.position()
        if kind == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
            self._grip(canvas, point)
        elif kind == QEvent.Type.MouseMove and self._held:
            self._drag(canvas, point)
            canvas.display.set_cursor(*canvas.pixel_at(point))
        elif kind == QEvent.Type.MouseButtonRelease and self._held:
            self._drag(canvas, point)
            self._send()
            self._held = self._going_on = False
            self._take()
            return True
        elif kind == QEvent.Type.MouseMove and event.buttons() == Qt.MouseButton.NoButton:
            if self.at(canvas, point) is None:
                return False
            canvas.setCursor(Qt.CursorShape.OpenHandCursor)
            canvas.display.set_cursor(*canvas.pixel_at(point))
            return True
        return self._held

    def _grip(self, canvas: ImageCanvas, point: QPointF) -> None:
        """Grip the handle under a point, if there is one."""
        handle, place = self.at(canvas, point), self.place(canvas, point)
        self._held, self._going_on = handle is not None, False
        if handle is not None and place is not None:
            near, far = (math.dist(place, (sign * handle.y, sign * handle.x)) for sign in (1, -1))
            self._mirror = handle.mirrored and far < near
            self.chosen = self.handles.index(handle)
            self._update()

    def _drag(self, canvas: ImageCanvas, point: QPointF) -> None:
        place = self.place(canvas, point)
        if place is not None:
            sign = -1 if self._mirror else 1
            handle, (y, x) = self.handles[self.chosen], place
            self._change(dragged(self._session.filter, self.params, handle, sign * y, sign * x))

    def _change(self, params: dict[str, Any]) -> None:
        """Show other parameters at once, and set them with a short delay."""
        if params != self.params:
            self.params = params
            self._update()
            if not self._later.isActive():
                self._later.start()

    @Slot()
    def _send(self) -> None:
        self._later.stop()
        before = self._session.params
        self._session.set_params({**self._session.choice.params, **self.params}, same_step=self._going_on)
        self._going_on = self._held and (self._going_on or self.params != before)
        self._take()

    def _on_key(self, event: QKeyEvent) -> bool:
        sides = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, 1), Qt.Key.Key_Down: (0, -1)}
        key, keys = event.key(), event.modifiers()
        mine = bool(self.handles) and (key == Qt.Key.Key_H or (key in sides and keys & Qt.KeyboardModifier.AltModifier))
        if not mine:
            return False
        event.accept()
        if event.type() == QEvent.Type.ShortcutOverride:
            return True
        if key == Qt.Key.Key_H:
            self.chosen = (self.chosen + 1) % len(self.handles)
            self._update()
        else:
            leap, handle = bool(keys & Qt.KeyboardModifier.ShiftModifier), self.handles[self.chosen]
            self._change(nudged(self._session.filter, self.params, handle, *sides[Qt.Key(key)], leap))
        return True

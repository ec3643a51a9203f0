"""Lets the user draw a region, or the line of a profile, on the pictures."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter

from app.base.nesting import bounded
from app.models.experiment.change import Change
from app.models.experiment.session import Session
from app.models.pictures.probe import (
    INSIDE,
    Grip,
    Line,
    Probe,
    limited,
    moved,
    moved_line,
    reached,
    spanning,
    with_end_moved,
)
from app.models.pictures.viewport import Rect
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.probe_paint import box_of, draw_probe, draw_scale_bar, grip_points
from app.views.pictures.sketch import sketch_of
from app.views.results.pictures import Pictures
from app.views.results.probe_sources import canvases, grids, shows
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.types import Pixel

GRIP = 0.6
"""The distance from a grip within which the mouse takes it, in letter heights."""
LEAST = 4
"""Screen pixels that the mouse must move before a drag draws something new; a click draws nothing."""
LEAP = 10
"""Pixels that an arrow key moves with Shift; without it one pixel."""
SIDES = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
SHAPES = {
    (0, 1): Qt.CursorShape.SizeHorCursor,
    (1, 0): Qt.CursorShape.SizeVerCursor,
    (1, 1): Qt.CursorShape.SizeFDiagCursor,
    (1, -1): Qt.CursorShape.SizeBDiagCursor,
}


class ProbeLink(QObject):
    """Draws the region, the profile line and the scale bar on every picture with the input's pixel grid, and edits them
    by mouse and keys. While a tool is active, dragging draws a new shape or moves the gripped one, and the middle
    button pans; arrow keys move it by a pixel (with Shift by ten), with Alt only its last corner or end; Escape removes
    it, and a second Escape deactivates the tool."""

    def __init__(self, pictures: Pictures, session: Session, probe: Probe) -> None:
        super().__init__(pictures)
        self._pictures, self._session, self.probe = pictures, session, probe
        self._canvases: list[ImageCanvas] = []
        self._about: tuple[object, ...] = ()
        self._held: tuple[ImageCanvas, QPointF, tuple[float, float]] | None = None
        self._grip: Grip | int | None = None
        self._start: Rect | Line | None = None
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.bind)
        for signal in (pictures.arranged, pictures.view_changed, pictures.drawn_changed):
            signal.connect(self._later.start)
        session.changed.connect(self._changed)
        probe.changed.connect(self._update)
        probe.tool_changed.connect(self._let_go)
        probe.extent_changed.connect(self._let_go)
        probe.scale_bar_changed.connect(self._update)
        probe.mark_changed.connect(self._update)

    @property
    def pixel(self) -> Pixel | None:
        """The pixel size of the input, if it is known and the input is a picture."""
        input = self._session.input
        return input.facts.pixel if input is not None and INPUT_KINDS[input.kind].rank == 2 else None

    @Slot(object)
    def _changed(self, change: Change) -> None:
        if change.stepped:
            self._later.start()

    @Slot()
    def bind(self) -> None:
        """The input, the visible views or their panes may have changed."""
        input = self._session.input
        if input is not None:
            self.probe.set_extent(INPUT_KINDS[input.kind].spatial(input.array.shape))
        grid_list, pixel = grids(self._pictures, self._session), self.pixel
        found = [canvas for grid in grid_list for canvas in canvases(grid)] if len(self.probe.extent) == 2 else []
        for canvas in self._canvases:
            if canvas not in found:
                canvas.removeEventFilter(self)
                canvas.display.set_pixel(None)
                for name in ("probe", "scale bar"):
                    sketch_of(canvas).draw(name, None)
        for canvas in found:
            if canvas not in self._canvases:
                canvas.installEventFilter(self)
                sketch_of(canvas).draw("scale bar", self._draw_bar)  # drawn below what the user moves
                sketch_of(canvas).draw("probe", self._draw)
            canvas.display.set_pixel(pixel)
        if self._held is not None and self._held[0] not in found:
            self._let_go()
        self._canvases = found
        # What is drawn also depends on the narrowest picture; a sketch that is painted again has its picture painted.
        about = found, pixel, self.probe.extent, [canvas.width() for canvas in found if canvas.isVisible()]
        if about != self._about:
            self._about = about
            self._update()

    @Slot()
    def _update(self) -> None:
        for canvas in self._canvases:
            sketch_of(canvas).update()

    def _draw(self, painter: QPainter, canvas: ImageCanvas) -> None:
        draw_probe(painter, canvas, self.probe)

    def _draw_bar(self, painter: QPainter, canvas: ImageCanvas) -> None:
        pixel = self.pixel
        if pixel is not None and self.probe.scale_bar:
            draw_scale_bar(painter, canvas, self.probe.extent, pixel, self.narrowest(canvas))

    def narrowest(self, canvas: ImageCanvas) -> int:
        """The width of the narrowest picture with the same scale, so that all of them have the same bar."""
        return min(c.width() for c in (canvas, *self._canvases) if c.display is canvas.display and c.isVisible())

    # Grips

    def grip_at(self, canvas: ImageCanvas, point: QPointF) -> Grip | int | None:
        """What is under a point: edges of the region, or with its tool active the whole region; or with the other tool
        an end of the line (0 or 1), or the whole line (2). None if there is nothing to grip."""
        probe, reach = self.probe, GRIP * canvas.fontMetrics().height()
        if probe.tool == "profile":
            return _line_grip(canvas, point, probe.line, reach)
        if probe.region is None or probe.tool != "region":
            return None
        box = box_of(probe.region, canvas.screen_at)
        away = {grip: math.dist(point.toTuple(), middle.toTuple()) for grip, middle in grip_points(box).items()}
        nearest = min(away, key=lambda grip: away[grip])
        if away[nearest] <= reach:
            return nearest
        around = box.adjusted(-reach / 2, -reach / 2, reach / 2, reach / 2)
        return self._edge(box, point, reach / 2) if around.contains(point) else None

    @staticmethod
    def _edge(box: QRectF, point: QPointF, reach: float) -> Grip:
        """The edge near a point, else the inside."""
        y = -1 if abs(point.y() - box.top()) <= reach else int(abs(point.y() - box.bottom()) <= reach)
        x = -1 if abs(point.x() - box.left()) <= reach else int(abs(point.x() - box.right()) <= reach)
        return y, x

    def _shape(self, grip: Grip | int | None) -> Qt.CursorShape:
        """The cursor shape over a grip."""
        if grip is None:
            return Qt.CursorShape.CrossCursor
        if isinstance(grip, int) or grip == INSIDE:
            return Qt.CursorShape.SizeAllCursor
        y, x = grip
        return SHAPES[(y, x) if (y, x) in SHAPES else (-y, -x)]

    # Mouse

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if not isinstance(watched, ImageCanvas) or not self.probe.tool:
            return False
        if isinstance(event, QKeyEvent) and event.type() in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride):
            return shows(watched, self.probe.extent) and self._on_key(event)
        if isinstance(event, QMouseEvent):
            return self._on_mouse(watched, event)
        return False

    def _on_mouse(self, canvas: ImageCanvas, event: QMouseEvent) -> bool:
        kind, point = event.type(), event.position()
        left = event.button() == Qt.MouseButton.LeftButton
        if kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            if not left or canvas.near_divider(point) or not shows(canvas, self.probe.extent):
                return False
            self._held, self._grip = (canvas, point, canvas.data_at(point)), self.grip_at(canvas, point)
            self._start = self.probe.line if self.probe.tool == "profile" else self.probe.region
            return True
        if kind == QEvent.Type.MouseMove and not event.buttons() & Qt.MouseButton.LeftButton:
            self._let_go()  # the button was released where no event was received
        if kind == QEvent.Type.MouseMove and self._held is not None:
            straight = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._drag(canvas, point, straight)
            canvas.display.set_cursor(*canvas.pixel_at(point))
            return True
        if kind == QEvent.Type.MouseButtonRelease and self._held is not None and left:
            self._let_go()
            return True
        if kind == QEvent.Type.MouseMove and event.buttons() == Qt.MouseButton.NoButton:
            if canvas.near_divider(point):
                return False
            canvas.setCursor(self._shape(self.grip_at(canvas, point)))
            canvas.display.set_cursor(*canvas.pixel_at(point))
            return True
        return False

    @Slot()
    def _let_go(self) -> None:
        self._held = self._grip = self._start = None
        for canvas in self._canvases:
            if not self.probe.tool:
                canvas.setCursor(Qt.CursorShape.CrossCursor)

    def _drag(self, canvas: ImageCanvas, point: QPointF, straight: bool) -> None:
        """Draw or change the tool's shape, starting from its state when the button was pressed."""
        assert self._held is not None
        probe, (_, began, (x0, y0)) = self.probe, self._held
        if self._grip is None and math.dist(began.toTuple(), point.toTuple()) < LEAST:
            return
        (x, y), start, grip = canvas.data_at(point), self._start, self._grip
        if probe.tool == "profile":
            if grip is None or not isinstance(start, Line):
                new = limited(Line(x0, y0, x0, y0), probe.extent)
                probe.set_line(with_end_moved(new, 1, x, y, probe.extent, straight))
            elif grip == 2:
                probe.set_line(moved_line(start, x - x0, y - y0, probe.extent))
            elif isinstance(grip, int):
                probe.set_line(with_end_moved(start, grip, x, y, probe.extent, straight))
        elif isinstance(start, Rect) and isinstance(grip, tuple):
            if grip == INSIDE:
                probe.set_region(moved(start, round(x - x0), round(y - y0), probe.extent))
            else:
                probe.set_region(reached(start, grip, x, y, probe.extent))
        else:
            probe.set_region(spanning(x0, y0, x, y, probe.extent))

    # Keys

    def _on_key(self, event: QKeyEvent) -> bool:
        key, probe = event.key(), self.probe
        drawn = probe.line if probe.tool == "profile" else probe.region
        if key != Qt.Key.Key_Escape and not (key in SIDES and drawn is not None):
            return False
        if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier):
            return False
        event.accept()
        if event.type() == QEvent.Type.ShortcutOverride:
            return True
        if key == Qt.Key.Key_Escape:
            self._let_go()
            escape(probe)
            return True
        step = LEAP if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        dx, dy = (way * step for way in SIDES[Qt.Key(key)])
        alone = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        self._nudge(drawn, dx, dy, alone)
        return True

    def _nudge(self, drawn: Rect | Line | None, dx: int, dy: int, alone: bool) -> None:
        """Move the shape, or only its last corner or end if `alone`."""
        probe, extent = self.probe, self.probe.extent
        if isinstance(drawn, Line):
            x, y = drawn.x1 + dx, drawn.y1 + dy
            probe.set_line(with_end_moved(drawn, 1, x, y, extent) if alone else moved_line(drawn, dx, dy, extent))
        elif isinstance(drawn, Rect):
            right, bottom = max(drawn.right + dx, drawn.left + 1), max(drawn.bottom + dy, drawn.top + 1)
            grown = reached(drawn, (int(dy != 0), int(dx != 0)), right, bottom, extent)
            probe.set_region(grown if alone else moved(drawn, dx, dy, extent))


def escape(probe: Probe) -> None:
    """Remove the tool's shape; if there is none, deactivate the tool."""
    there = probe.line is not None if probe.tool == "profile" else probe.chosen
    if there:
        probe.remove()
    else:
        probe.set_tool("")


def _line_grip(canvas: ImageCanvas, point: QPointF, line: Line | None, reach: float) -> int | None:
    """The end of a line (0 or 1), or the whole line (2), under a point."""
    if line is None:
        return None
    one, other = canvas.screen_at(line.x0, line.y0), canvas.screen_at(line.x1, line.y1)
    away = [math.dist(point.toTuple(), end.toTuple()) for end in (one, other)]
    if min(away) <= reach:
        return int(away[1] < away[0])
    along = other - one
    square = QPointF.dotProduct(along, along)
    share = min(max(QPointF.dotProduct(point - one, along) / square, 0.0), 1.0) if square else 0.0
    near = one + along * share
    return 2 if math.dist(point.toTuple(), near.toTuple()) <= reach else None

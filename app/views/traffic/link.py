"""Paints the traffic of each variant on its picture, and lets the user choose the pixel whose footprint is shown."""

from __future__ import annotations

import math
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent

from app.base.nesting import bounded
from app.controllers.kernels.traffic import TrafficController
from app.models.pictures.probe import Probe
from app.models.results.view_data import INPUT
from app.models.traffic.recorded import OfVariant, Recorded, by_pixel, tinted
from app.models.traffic.warp_rows import read_with
from app.views.pictures.canvas_paint import rgba_image
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.sketch import sketch_of
from app.views.results.pictures import Pictures
from app.views.results.probe_sources import grids
from app.views.traffic.paint import Painted, draw_traffic
from gpu_ops.input_kinds import INPUT_KINDS

NAME = "traffic"
STILL = 4
"""Screen pixels that the mouse may move in a click."""


class TrafficLink(QObject):
    """Follows a TrafficController. Each variant's picture is tinted by its own traffic; where no variant's picture has
    the grid of the input, the input is tinted by the first variant's. A click on a picture, or Enter at its cursor,
    chooses the pixel; the same one again chooses none."""

    def __init__(self, pictures: Pictures, controller: TrafficController, probe: Probe) -> None:
        super().__init__(pictures)
        self._pictures, self._controller, self._probe = pictures, controller, probe
        self._canvases: dict[ImageCanvas, str] = {}
        self._pressed: QPointF | None = None
        self.painted: dict[str, Painted] = {}
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.bind)
        for signal in (pictures.arranged, pictures.view_changed, pictures.drawn_changed):
            signal.connect(self._later.start)
        controller.changed.connect(self._later.start)
        controller.shown_changed.connect(self._later.start)

    @Slot()
    def bind(self) -> None:
        """The panes, the traffic, or what is painted of it may have changed."""
        for canvas in self._canvases:
            sketch_of(canvas).draw(NAME, None)
            canvas.removeEventFilter(self)
        self._canvases, self.painted = {}, {}
        session, recorded = self._controller.session, self._controller.recorded
        if not self._controller.on or session.input is None or INPUT_KINDS[session.input.kind].rank != 2:
            return
        panes = {key: pane for grid in grids(self._pictures, session) for key, pane in grid.every.items()}
        for key, pane in panes.items():
            pane.canvas.installEventFilter(self)
            self._canvases[pane.canvas] = "" if key == INPUT else key
        if recorded is None:
            return
        known = [one for one in recorded.variants if one.traffic is not None]
        shown = [one for one in known if one.id in panes]
        for one in shown or known[:1]:
            self.painted[one.id if shown else INPUT] = self._paint(recorded, one)
        for key, painted in self.painted.items():
            if key in panes:
                sketch_of(panes[key].canvas).draw(NAME, partial(draw_traffic, painted=painted))

    def _paint(self, recorded: Recorded, one: OfVariant) -> Painted:
        controller = self._controller
        counts = by_pixel(one.counts(controller.measure, controller.line), 2)
        top = recorded.top(controller.measure, controller.line, 2)
        assert one.traffic is not None
        start = recorded.start or (0, 0)
        channels = math.prod(one.traffic.shape[2:])
        image = rgba_image(tinted(counts, top))
        shape = (counts.shape[0], counts.shape[1])
        about = (image, (start[0], start[1]), shape, one.footprint, controller.place, channels, counts)
        return Painted(*about, controller.measure, top, read_with(one.warps))

    # The user

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if not isinstance(watched, ImageCanvas) or self._probe.tool:
            return False
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and watched.display.cursor is not None:
                self._choose(watched, *watched.display.cursor)
                return True
        elif isinstance(event, QMouseEvent) and event.button() == Qt.MouseButton.LeftButton:
            if event.type() == QEvent.Type.MouseButtonPress:
                self._pressed = None if watched.near_divider(event.position()) else event.position()
            elif event.type() == QEvent.Type.MouseButtonRelease and self._pressed is not None:
                away = event.position() - self._pressed
                if math.hypot(away.x(), away.y()) < STILL:
                    self._choose(watched, *watched.data_at(event.position()))
                self._pressed = None
        return False

    def _choose(self, canvas: ImageCanvas, x: float, y: float) -> None:
        place, extent = (math.floor(y), math.floor(x)), self._probe.extent
        if len(extent) == 2 and 0 <= place[0] < extent[0] and 0 <= place[1] < extent[1]:
            self._controller.set_place(place, self._canvases[canvas])

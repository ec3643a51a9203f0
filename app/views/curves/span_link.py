"""Lets the user choose an interval of samples on the curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent

from app.base.nesting import bounded
from app.models.experiment.change import Change
from app.models.experiment.session import Session
from app.models.pictures.probe import Probe, shifted, stretched, whole
from app.models.results.view_data import INPUT
from app.views.pictures.probe_link import GRIP, LEAP, LEAST, escape
from app.views.results.pictures import Pictures
from app.views.results.probe_sources import curves
from app.views.strokes import line_ink
from gpu_ops.output_kinds import Axis

if TYPE_CHECKING:
    from pyqtgraph import LinearRegionItem

    from app.views.curves.signal_pane import SignalPane

ALPHA = 50
"""The opacity of the interval, out of 255."""
WAYS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class SpanLink(QObject):
    """Draws the interval on every plot of curves on the grid of the input. While the tool is in use, a drag chooses an
    interval, or moves one end or the whole interval; arrows move it by a sample (with Shift by ten), with Alt only its
    end; Escape removes it, a second Escape deselects the tool."""

    def __init__(self, pictures: Pictures, session: Session, probe: Probe) -> None:
        super().__init__(pictures)
        self._pictures, self._session, self.probe = pictures, session, probe
        self._panes: list[SignalPane] = []
        self._watched: dict[QObject, SignalPane] = {}
        self._items: dict[SignalPane, LinearRegionItem] = {}
        self._held: tuple[float, float, int | None, tuple[int, int] | None] | None = None
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.bind)
        for signal in (pictures.arranged, pictures.view_changed, pictures.drawn_changed):
            signal.connect(self._later.start)
        session.changed.connect(self._changed)
        probe.changed.connect(self.show)
        probe.tool_changed.connect(self._let_go)
        probe.extent_changed.connect(self._let_go)

    @property
    def axis(self) -> Axis | None:
        """The axis of the input's samples; None where no curve shows the input."""
        for view in curves(self._pictures, self._session):
            drawn = view.drawn(INPUT)
            if drawn is not None and len(self.probe.extent) == 1:
                return drawn.form.axes[0]
        return None

    @Slot(object)
    def _changed(self, change: Change) -> None:
        if change.stepped:
            self._later.start()

    @Slot()
    def bind(self) -> None:
        """Connect to the input and the visible views, which may have changed."""
        found = [view.pane for view in curves(self._pictures, self._session)] if self.axis is not None else []
        wanted: dict[QObject, SignalPane] = {}
        for pane in found:
            wanted |= {pane.plot: pane, pane.plot.viewport(): pane}
        for part in self._watched.keys() - wanted.keys():
            part.removeEventFilter(self)
        for part in wanted.keys() - self._watched.keys():
            part.installEventFilter(self)
        self._panes, self._watched = found, wanted
        self.show()

    @Slot()
    def show(self) -> None:
        """Draw the interval where it is now."""
        span, axis = self.probe.span, self.axis
        for pane in {*self._panes, *self._items}:
            if span is None or axis is None or pane not in self._panes:
                if pane in self._items:
                    self._items[pane].hide()
                continue
            item = self._items[pane] if pane in self._items else self._new_item(pane)
            colour = line_ink(pane.palette())
            for line in item.lines:
                line.setPen(colour)
            colour.setAlpha(ALPHA)
            item.setBrush(colour)
            ends = (axis.at(span[0] - 0.5), axis.at(span[1] - 0.5))
            item.setRegion([pane.scale.coordinate(end) for end in ends])
            item.show()

    def _new_item(self, pane: SignalPane) -> LinearRegionItem:
        from pyqtgraph import LinearRegionItem

        item = self._items[pane] = LinearRegionItem(movable=False)
        item.setZValue(-1)  # behind the curves
        pane.plot.item.addItem(item, ignoreBounds=True)
        return item

    # Events

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        pane = self._watched.get(watched)
        if pane is None:
            return False
        if event.type() == QEvent.Type.PaletteChange:
            self.show()
        if self.probe.tool != "region":
            return False
        if isinstance(event, QKeyEvent) and watched is pane.plot:
            return event.type() in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride) and self._on_key(event)
        if isinstance(event, QMouseEvent) and watched is pane.plot.viewport():
            return self._on_mouse(pane, event)
        return False

    def _place(self, pane: SignalPane, event: QMouseEvent) -> float:
        """The sample under the mouse, with a fraction; the middle of the first sample is at 0.5."""
        axis = self.axis
        assert axis is not None
        return axis.index(pane.x_at(event.position())) + 0.5

    def _grip_at(self, pane: SignalPane, x: float) -> int | None:
        """The part under an x coordinate: the first end (-1), the last one (1), or the whole interval (0)."""
        span, axis = self.probe.span, self.axis
        if span is None or axis is None:
            return None
        ends = [self._screen(pane, axis.at(end - 0.5)) for end in span]
        reach = GRIP * pane.fontMetrics().height()
        away = [abs(x - end) for end in ends]
        if min(away) <= reach:
            return 1 if away[1] < away[0] else -1
        return 0 if ends[0] < x < ends[1] else None

    @staticmethod
    def _screen(pane: SignalPane, place: float) -> float:
        """The x coordinate of a sample position in the plot's viewport."""
        return pane.plot.frame().x(pane.scale.coordinate(place))

    def _on_mouse(self, pane: SignalPane, event: QMouseEvent) -> bool:
        kind, x = event.type(), event.position().x()
        left, axis = event.button() == Qt.MouseButton.LeftButton, self.axis
        if axis is None:
            return False
        if kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick) and left:
            pane.plot.setFocus(Qt.FocusReason.MouseFocusReason)
            self._held = x, self._place(pane, event), self._grip_at(pane, x), self.probe.span
            return True
        if kind == QEvent.Type.MouseMove and not event.buttons() & Qt.MouseButton.LeftButton:
            self._let_go()  # the button was released outside of the window
        if kind == QEvent.Type.MouseMove and self._held is not None:
            self._drag(pane, event)
            pane.set_cursor(pane.x_at(event.position()))
            return True
        if kind == QEvent.Type.MouseButtonRelease and self._held is not None and left:
            self._let_go()
            return True
        if kind == QEvent.Type.MouseMove and event.buttons() == Qt.MouseButton.NoButton:
            self._point(pane, self._grip_at(pane, x))
        return False

    @staticmethod
    def _point(pane: SignalPane, grip: int | None) -> None:
        """Set the mouse cursor by what a drag would do."""
        shapes = {None: Qt.CursorShape.CrossCursor, 0: Qt.CursorShape.SizeAllCursor}
        pane.plot.viewport().setCursor(shapes.get(grip, Qt.CursorShape.SizeHorCursor))

    @Slot()
    def _let_go(self) -> None:
        self._held = None
        if self.probe.tool != "region":
            for pane in self._panes:
                pane.plot.viewport().setCursor(Qt.CursorShape.CrossCursor)

    def _drag(self, pane: SignalPane, event: QMouseEvent) -> None:
        assert self._held is not None
        (x, began, grip, span), count = self._held, self.probe.extent[0]
        place = self._place(pane, event)
        if grip is None or span is None:
            if abs(event.position().x() - x) >= LEAST:
                self.probe.set_span(whole(began, place, count))
        elif grip == 0:
            self.probe.set_span(shifted(span, round(place - began), count))
        else:
            self.probe.set_span(stretched(span, grip, place, count))

    def _on_key(self, event: QKeyEvent) -> bool:
        key, span = event.key(), self.probe.span
        if key != Qt.Key.Key_Escape and not (key in WAYS and span is not None):
            return False
        event.accept()
        if event.type() == QEvent.Type.ShortcutOverride:
            return True
        if key == Qt.Key.Key_Escape:
            self._let_go()
            escape(self.probe)
        elif span is not None:
            leap = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            by = WAYS[Qt.Key(key)] * (LEAP if leap else 1)
            alone = event.modifiers() & Qt.KeyboardModifier.AltModifier
            last = max(span[1] + by, span[0] + 1)
            count = self.probe.extent[0]
            self.probe.set_span(stretched(span, 1, last, count) if alone else shifted(span, by, count))
        return True

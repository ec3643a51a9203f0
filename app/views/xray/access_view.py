"""Draws one warp's access at a line of a kernel; the user chooses the warp and steps through its accesses."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSlider, QWidget

from app.base.nesting import bounded
from app.base.numbers import count
from app.base.theme import colours_of, inked
from app.base.tips import show_tip
from app.models.xray.access_text import bank_text, gap_text, lane_text, piece_text, sentence, warp_title, what
from app.models.xray.access_trace import WARP, TracedAccess, WarpTrace
from app.views.boxes import in_column, in_row
from app.views.labels import buddy, named, sentence_label
from app.views.parts import Combo
from app.views.scrolled import Scrolled
from app.views.xray.access_layout import Builder, Layout, Spot
from app.views.xray.access_paint import AccessPainter

SMALL = 0.86
NARROWEST = 44
"""The minimum width of the drawing, in letters."""


class AccessCanvas(QWidget):
    """The drawing. Up and Down, or the mouse, point at a lane; Left, Right, Home and End request another access.

    `stepped(by)` requests another access, `pointed` says that another lane is pointed at.
    """

    stepped = Signal(int)
    pointed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("access.canvas")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(self.tr("Addresses of a warp's lanes"))
        self.access: TracedAccess | None = None
        self.lane = -1
        self._layout: Layout | None = None

    # What is shown

    def show_access(self, access: TracedAccess | None) -> None:
        """Show another access; the current lane stays."""
        self.access = access
        self.setAccessibleDescription(sentence(access) if access else "")
        self._refresh()

    def point_at(self, lane: int) -> None:
        """Point at a lane; -1 for none."""
        if lane != self.lane:
            self.lane = lane
            self.pointed.emit()
            self.update()

    def small_font(self) -> QFont:
        """The font of all texts in the drawing."""
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * SMALL)
        return font

    def laid_out(self) -> Layout | None:
        """The present layout."""
        if self.access is not None and (self._layout is None or self._layout.width != self.width()):
            self._layout = Builder(self.access, self.width(), QFontMetricsF(self.small_font())).build()
        return self._layout

    def _refresh(self) -> None:
        self._layout = None
        layout = self.laid_out()
        self.setMinimumHeight(round(layout.height) + 1 if layout else 0)
        self.update()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(round(NARROWEST * QFontMetricsF(self.small_font()).averageCharWidth()), self.minimumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        layout = self.laid_out()
        if layout is None or self.access is None:
            return
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.palette().base())
        AccessPainter(painter, layout, self.access, self.palette(), self.small_font()).paint(self.lane)
        if self.hasFocus():
            painter.setPen(self.palette().highlight().color())
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._refresh()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._refresh()

    # Pointing

    def tip(self, spot: Spot) -> str:
        """The text about a spot."""
        assert self.access is not None
        if spot.kind == "piece":
            return piece_text(self.access, self.access.pieces.pieces[spot.number])
        if spot.kind == "gap":
            return gap_text(self.access.pieces.gaps[spot.number])
        return (lane_text if spot.kind == "lane" else bank_text)(self.access, spot.number)

    def spot_at(self, place: QPointF) -> Spot | None:
        """The spot at a point."""
        layout = self.laid_out()
        return layout.at(place) if layout else None

    def lanes_at(self, place: QPointF) -> tuple[int, ...]:
        """The lane at a point, or the lanes that use the spot there."""
        spot, layout = self.spot_at(place), self.laid_out()
        if spot is None or layout is None:
            return ()
        if spot.kind == "lane":
            return (spot.number,)
        return next((part.lanes for part in layout.used if part.rect.contains(place)), ())

    @bounded
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            spot = self.spot_at(QPointF(event.pos()))
            show_tip(event.globalPos(), self.tip(spot) if spot else "", self)
            return True
        return super().event(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        lanes = self.lanes_at(event.position())
        self.point_at(lanes[0] if lanes else -1)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        super().leaveEvent(event)
        self.point_at(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -(1 << 20), Qt.Key.Key_End: 1 << 20}
        lanes = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        key = Qt.Key(event.key())
        if key in steps:
            self.stepped.emit(steps[key])
        elif key in lanes:
            self.point_at((self.lane + lanes[key]) % WARP if self.lane >= 0 else 0 if lanes[key] > 0 else WARP - 1)
        else:
            super().keyPressEvent(event)


class AccessView(QWidget):
    """The accesses of a line: the user chooses a warp, then one of its accesses. The chosen warp stays on other lines
    that have it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("accessView")
        self._traces: Sequence[WarpTrace] = ()
        self._warp: tuple[tuple[int, int, int], int] | None = None
        self.warps = named(Combo(self), "access.warps", title=self.tr("Warp to show"))
        self.warps.set_letters(8)
        self.slider = named(QSlider(Qt.Orientation.Horizontal, self), "access.number", title=self.tr("Access to show"))
        self.slider.setPageStep(8)
        self.where, self.number, self.what, self.sentence, self.detail, self.empty = (
            sentence_label(f"access.{name}", self) for name in ("line", "place", "what", "sentence", "detail", "empty")
        )
        self.canvas = AccessCanvas(self)
        self.parts = QWidget(self)
        self._arrange()
        self.warps.activated.connect(self._choose_warp)
        self.slider.valueChanged.connect(self._show_access)
        self.canvas.stepped.connect(lambda by: self.slider.setValue(self.slider.value() + by))
        self.canvas.pointed.connect(self._describe_spot)
        self.show_line((), 1)

    def _arrange(self) -> None:
        gap = self.fontMetrics().averageCharWidth()
        self.number.setWordWrap(False)
        above = in_row(buddy(self.tr("Warp"), self.warps), (self.warps, 1))
        steps = in_row(buddy(self.tr("Access"), self.slider), (self.slider, 1), self.number)
        scroll = Scrolled(self.canvas, self)
        in_column(above, steps, self.what, (scroll, 1), self.sentence, self.detail, on=self.parts)
        whole = in_column(self.where, self.empty, (self.parts, 1), on=self, margins=gap)
        whole.setAlignment(self.empty, Qt.AlignmentFlag.AlignTop)

    # What is shown

    @property
    def trace(self) -> WarpTrace | None:
        """The chosen warp's accesses."""
        return self._traces[self.warps.currentIndex()] if self._traces else None

    @property
    def access(self) -> TracedAccess | None:
        """The access in the drawing."""
        return self.canvas.access

    def show_line(self, traces: Sequence[WarpTrace], line: int, where: str = "") -> None:
        """Show the accesses of the traced warps at a line, or a sentence that there are none; 0 is a line without
        counts. `where` names the line and its kernel, because the source need not be in sight."""
        self._traces = traces
        self.where.setText(where)
        self.canvas.setAccessibleName(self.tr("Addresses of a warp's lanes, {where}").format(where=where))
        nothing = self.tr("No traced warp accesses global, shared or constant memory at line {line}.")
        unknown = self.tr("This line was edited after the simulation; its accesses follow when it has run again.")
        self.empty.setText(nothing.format(line=line) if line else unknown)
        self.empty.setVisible(not traces)
        self.parts.setVisible(bool(traces))
        self.warps.clear()
        self.warps.addItems([warp_title(trace) for trace in traces])
        chosen = [n for n, trace in enumerate(traces) if (trace.block, trace.warp) == self._warp]
        self.warps.setCurrentIndex(chosen[0] if chosen else 0 if traces else -1)
        self._show_trace()

    def _choose_warp(self) -> None:
        if self.trace is not None:
            self._warp = self.trace.block, self.trace.warp
        self._show_trace()

    def _show_trace(self) -> None:
        total = len(self.trace.accesses) if self.trace else 0
        self.slider.setRange(0, max(0, total - 1))
        self.slider.setEnabled(total > 1)
        self._show_access()

    def _show_access(self) -> None:
        """Show the access at the slider's position."""
        trace = self.trace
        self.canvas.show_access(trace.accesses[self.slider.value()] if trace else None)
        if trace is not None and self.access is not None:
            number, kept = self.slider.value() + 1, len(trace.accesses)
            cut = self.tr("{number} of the first {kept} of {all}")
            text = cut if kept < trace.count else self.tr("{number} of {kept}")
            self.number.setText(text.format(number=number, kept=kept, all=count(trace.count)))
            self.what.setText(what(self.access))
            self.sentence.setText(sentence(self.access))
        self._describe_spot()

    def _describe_spot(self) -> None:
        """Describe the spot under the mouse, or explain how to point at one."""
        lane, access = self.canvas.lane, self.access
        hint = self.tr("Point at a lane, or press Up and Down, to follow it; Left and Right step through the accesses.")
        self.detail.setText(lane_text(access, lane) if access is not None and lane >= 0 else hint)
        self._ink()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "detail"):
            self._ink()

    def _ink(self) -> None:
        """Draw secondary texts in the muted colour."""
        for label in (self.what, self.detail, self.empty):
            label.setPalette(inked(self.palette(), colours_of(self.palette()).muted))

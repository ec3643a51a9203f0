"""The warps of a block with their 32 lanes each: which run, wait, rest or have ended, and at which lines."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.base.nesting import bounded
from app.models.xray.block_reader import WARP
from app.views.block_steps.cells import CellsView

NAME, LINES = 8, 16
"""Letters for the name of a warp, and for the lines of its lanes."""
LEAST, MOST = 1.1, 2.5
"""The least and the largest width of a lane, in letters."""


class LaneGrid(CellsView):
    """A row of 32 cells for each warp. `lane_chosen`: the user has chosen a thread, by the mouse or the arrow keys."""

    lane_chosen = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__("block.lanes", "", parent)
        self.setAccessibleName(self.tr("Lanes of each warp"))
        self.setAccessibleDescription(self.tr("The arrow keys choose the lane whose registers are shown"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.lane = 0
        self._lines = np.zeros(0, np.int32)
        self._waiting = self._running = self._apart = np.zeros(0, np.bool_)

    def choose(self, lane: int) -> None:
        """Show this thread as the chosen one."""
        self.lane = lane
        self.update()

    def prepare(self) -> None:
        if self.reader is not None:
            self._lines, self._waiting = self.reader.lane_lines(self.step)
            self._running = self.reader.run.lanes(self.step)
            lines = self._lines.reshape(-1, WARP)
            first = lines[np.arange(len(lines)), (lines > 0).argmax(axis=1)]
            self._apart = ((lines > 0) & (lines != first[:, None])).reshape(-1)

    def sizeHint(self) -> QSize:  # noqa: N802
        warps = self.reader.warps if self.reader is not None else 1
        width = (NAME + LINES + WARP * LEAST) * self.letter
        return QSize(round(width), round((warps + 1.2) * self.row_height))

    def _cell(self, warp: int, lane: int) -> QRectF:
        size = (self.width() - (NAME + LINES) * self.letter) / WARP
        size = min(max(size, LEAST * self.letter), MOST * self.letter)
        return QRectF(NAME * self.letter + lane * size, warp * self.row_height + 1, size, self.row_height - 2)

    def thread_at(self, at: QPointF) -> int:
        """The thread under a point; -1 for none."""
        assert self.reader is not None
        first, warp = self._cell(0, 0), int(at.y() // self.row_height)
        lane = int((at.x() - first.x()) // first.width())
        inside = 0 <= lane < WARP and 0 <= warp < self.reader.warps
        thread = warp * WARP + lane
        return thread if inside and thread < self.reader.run.threads else -1

    # What is painted

    def paint(self, painter: QPainter) -> None:
        assert self.reader is not None
        text = self.text
        for warp in range(self.reader.warps):
            row = slice(warp * WARP, (warp + 1) * WARP)
            for lane in range(WARP):
                self._paint_lane(painter, warp * WARP + lane, self._cell(warp, lane))
            first, last = self._cell(warp, 0), self._cell(warp, WARP - 1)
            active = bool(self._running[row].any())
            font = painter.font()
            font.setBold(active)
            painter.setFont(font)
            painter.setPen(text)
            middle = Qt.AlignmentFlag.AlignVCenter
            name = self.tr("warp {number}").format(number=warp)
            painter.drawText(QRectF(0, first.y(), first.x() - 0.5 * self.letter, first.height()), middle, name)
            after = last.right() + 0.7 * self.letter
            painter.drawText(QRectF(after, last.y(), self.width() - after, last.height()), middle, self._where(warp))
            font.setBold(False)
            painter.setFont(font)
        self._legend(painter)

    def _paint_lane(self, painter: QPainter, thread: int, rect: QRectF) -> None:
        assert self.reader is not None
        kind = "none"
        if thread < self.reader.run.threads:
            ended = not self._lines[thread]
            kind = "ended" if ended else "waits" if self._waiting[thread] else "rests"
            kind = "runs" if self._running[thread] and kind in ("rests", "ended") else kind
        self._paint_kind(painter, kind, self._part(thread, rect))
        if thread == self.lane and kind != "none":
            self.box(painter, rect, self.text, Qt.BrushStyle.NoBrush, 2.0)

    def _part(self, thread: int, rect: QRectF) -> QRectF:
        """The lower half of the cell of a lane that stops at another line than the first lanes of its warp."""
        return rect.adjusted(0, rect.height() / 2, 0, 0) if self._apart[thread] else rect

    def _paint_kind(self, painter: QPainter, kind: str, rect: QRectF) -> None:
        colours, inner = self.colours, rect.adjusted(1, 1, -1, -1)
        if kind == "runs":
            self.box(painter, inner, colours.series[0].colour, colours.series[0].colour)
        elif kind == "waits":
            self.box(painter, inner, colours.warn.colour, Qt.BrushStyle.NoBrush)
            painter.fillRect(inner, QBrush(colours.warn.colour, Qt.BrushStyle.BDiagPattern))
        elif kind == "rests":
            self.box(painter, inner, colours.muted, Qt.BrushStyle.NoBrush)
        elif kind == "ended":
            painter.setPen(QPen(colours.muted, 1.0, Qt.PenStyle.DotLine))
            painter.drawLine(inner.topLeft(), inner.bottomRight())

    def _where(self, warp: int) -> str:
        """The lines of a warp's lanes."""
        assert self.reader is not None
        row = slice(warp * WARP, (warp + 1) * WARP)
        lines = sorted({int(line) for line in self._lines[row] if line})
        if not lines:
            return self.tr("ended")
        word = self.tr("waits, line {lines}") if self._waiting[row].any() else self.tr("line {lines}")
        return word.format(lines=", ".join(map(str, lines[:3])) + ("…" if len(lines) > 3 else ""))

    def _legend(self, painter: QPainter) -> None:
        assert self.reader is not None
        words = {
            "runs": self.tr("ran"),
            "rests": self.tr("stopped"),
            "apart": self.tr("at another line"),
            "waits": self.tr("waits"),
            "ended": self.tr("ended"),
        }
        x, y, side = 0.0, self.reader.warps * self.row_height + 0.2 * self.row_height, self.letter * 1.6
        for kind, text in words.items():
            cell = QRectF(x, y + 1, side, self.row_height - 2)
            lower = cell.adjusted(0, cell.height() / 2, 0, 0)
            self._paint_kind(painter, "rests" if kind == "apart" else kind, lower if kind == "apart" else cell)
            painter.setPen(self.colours.muted)
            width = painter.fontMetrics().horizontalAdvance(text)
            place = QRectF(x + side + 0.4 * self.letter, y, width + 2, self.row_height)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
            x += side + width + 1.5 * self.letter

    def tip(self, at: QPointF) -> str:
        assert self.reader is not None
        thread = self.thread_at(at)
        if thread < 0:
            return ""
        x, y, _ = self.reader.run.block
        index = f"({thread % x}, {thread // x % y}, {thread // (x * y)})"
        line = int(self._lines[thread])
        state = (
            self.tr("has ended")
            if not line
            else self.tr("waits at line {line}").format(line=line)
            if self._waiting[thread]
            else self.tr("stops before line {line}").format(line=line)
        )
        return self.tr("Thread {index}, lane {lane} of warp {warp}, {state}").format(
            index=index, lane=thread % WARP, warp=thread // WARP, state=state
        )

    # User actions

    @bounded
    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self.reader is not None and (thread := self.thread_at(event.position())) >= 0:
            self.lane_chosen.emit(thread)

    @bounded
    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        by = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -WARP, Qt.Key.Key_Down: WARP}.get(
            Qt.Key(event.key())
        )
        if by is None or self.reader is None or event.modifiers():
            super().keyPressEvent(event)
        elif 0 <= self.lane + by < self.reader.run.threads:
            self.lane_chosen.emit(self.lane + by)

"""The timing ladder: a bar for every row, with its stages, speed-up and verdict."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QGuiApplication,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QToolTip, QWidget

from app.base.nesting import bounded
from app.base.paced import Paced
from app.base.terms import counter_help
from app.base.tips import show_tip
from app.models.experiment.slot import RowSlot
from app.models.results.results import Results
from app.models.results.rungs import counted_ids, explaining_ids
from app.views.boxes import in_column, in_row
from app.views.flow import FlowLayout
from app.views.labels import buddy, named
from app.views.parts import TickBox
from app.views.picture_file import NO_FACTS, Draw, Facts, drawn_image, write_picture
from app.views.scrolled import Scrolled
from app.views.timing.counter_menu import CounterMenu
from app.views.timing.ladder_layout import Builder, Geometry, Line
from app.views.timing.ladder_paint import LadderPainter, small_font
from app.views.timing.row_text import details, fair_text

DETAIL_LINES = 6
LEAST = 14
"""The width of the ladder, in letter heights, below which it scrolls."""


class LadderCanvas(QWidget):
    """The painted part. Up and Down select a bar; the current one is also described as text."""

    current_changed = Signal(object)

    def __init__(self, results: Results, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("ladder_canvas")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Timing ladder"))
        self.results = results
        self.log = True
        self.reasons = True
        self.counters: tuple[str, ...] = ()
        self.current = -1
        self.room = 0.0
        self._geometry: Geometry | None = None
        self._later = QTimer(self, singleShot=True, interval=0)  # many rows change at once, one layout for all
        self._later.timeout.connect(self._settle)

    def geometry_for(self, width: float, room: float = 0.0) -> Geometry:
        """The layout at a width. Where it is higher than the `room`, a compact one that is not, if there is one: with
        the reasons, else without them."""
        font = self.font()
        small = QFontMetricsF(small_font(font))
        shown = self.results, self.log, self.counters
        build = partial(Builder, width, QFontMetricsF(font), small, *shown)
        whole = build(self.reasons).build()
        counts = all(section.is_counted for section in whole.sections)
        if not room or whole.height + 1 <= room or not (whole.narrow or counts):
            return whole
        shorter = (build(reasons, True).build() for reasons in ((True, False) if self.reasons else (False,)))
        return next((geometry for geometry in shorter if geometry.height + 1 <= room), whole)

    def fit(self, room: float) -> None:
        """Lay out for a visible height."""
        if room != self.room:
            self.room = room
            self.refresh()

    def ladder(self) -> Geometry:
        """The current layout."""
        if self._geometry is None or self._geometry.width != self.width():
            self._geometry = self.geometry_for(self.width(), self.room)
        return self._geometry

    def refresh(self) -> None:
        """Lay out and paint again."""
        self._geometry = None
        self._settle()

    def refresh_later(self) -> None:
        """The same after the present event; `ladder` has the new layout at once."""
        self._geometry = None
        self._later.start()

    def _settle(self) -> None:
        self.current = min(self.current, len(self.ladder().lines) - 1)
        height = int(self.ladder().height) + 1
        if height != self.minimumHeight():
            self.setMinimumHeight(height)
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().height()
        return QSize(50 * unit, int(self.ladder().height) + 1)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(LEAST * self.fontMetrics().height(), self.minimumHeight())

    def words(self, line: Line) -> str:
        """A line as text."""
        if line.entry:
            return details(line.entry, self.results)
        return fair_text(line.fair) if line.fair else ""

    def line_at(self, position: QPoint) -> int:
        """The number of the line at a position, or -1."""
        for place, line in enumerate(self.ladder().lines):
            if line.rect.contains(position.toPointF()):
                return place
        return -1

    def tip_at(self, position: QPoint) -> str:
        """What the counter whose name is at a position means, else the words of the line there; "" where nothing is."""
        geometry, point = self.ladder(), position.toPointF()
        names = [item for section in geometry.sections for item in section.names.items()]
        names += [(bar.counter, bar.label) for line in geometry.lines for bar in line.counted]
        counter = next((id for id, box in names if box.contains(point)), "")
        place = self.line_at(position)
        return counter_help(counter) if counter else self.words(geometry.lines[place]) if place >= 0 else ""

    def set_current(self, place: int) -> None:
        """Select a line."""
        lines = self.ladder().lines
        place = max(-1, min(place, len(lines) - 1))
        if place == self.current:
            return
        self.current = place
        self.setAccessibleDescription(self.words(lines[place]) if place >= 0 else "")
        self.update()
        self.current_changed.emit(lines[place] if place >= 0 else None)

    def draw(self, painter: QPainter, geometry: Geometry, current: int = -1) -> None:
        LadderPainter(painter, geometry, self.palette(), self.font(), current).paint()

    # ---------------------------------------------------------------- events

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.palette().base())
        self.draw(painter, self.ladder(), self.current)
        painter.end()

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.refresh()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange, QEvent.Type.LocaleChange):
            self.refresh()

    @bounded
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            if text := self.tip_at(event.pos()):
                show_tip(event.globalPos(), text, self)
            else:
                QToolTip.hideText()
            return True
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.matches(QKeySequence.StandardKey.Copy)
        ):
            event.accept()  # our shortcuts take precedence over the window's
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.set_current(self.line_at(event.position().toPoint()))
        super().mousePressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        if self.current < 0 and event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.set_current(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        last = len(self.ladder().lines) - 1
        moves = {
            Qt.Key.Key_Up: max(0, self.current - 1),
            Qt.Key.Key_Down: self.current + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        key = Qt.Key(event.key())
        if event.matches(QKeySequence.StandardKey.Copy) and self.current >= 0:
            QGuiApplication.clipboard().setText(self.words(self.ladder().lines[self.current]))
        elif key in moves and last >= 0:
            self.set_current(moves[key])
        else:
            super().keyPressEvent(event)


class TimingLadder(QWidget):
    """The ladder with its axis toggle and the details of the current row."""

    current_changed = Signal(object)
    """The slot of the current row; None for a bar of the fair comparison or without a current row."""

    def __init__(self, results: Results, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timing_ladder")
        self._results = results
        self.canvas = LadderCanvas(results, self)
        self.canvas.current_changed.connect(self._show_details)
        self._scroll = named(Scrolled(self.canvas, self), "ladder_scroll")
        self._scroll.room_changed.connect(lambda: self.canvas.fit(self._scroll.room.height()))
        self.log_box = TickBox(self.tr("Logarithmic time"), self)
        self.log_box.setObjectName("ladder_log")
        self.log_box.setToolTip(
            self.tr("A linear axis stacks the stages of a row; a logarithmic axis gives each its own track")
        )
        self.log_box.setChecked(True)
        self.log_box.toggled.connect(self.set_log)
        self.why_box = TickBox(self.tr("Why"), self)
        self.why_box.setObjectName("ladder_why")
        self.why_box.setToolTip(
            self.tr(
                "Say below each simulated kernel what changed from the one before, by what was counted; where there is "
                "no room for that, a click on a row says it"
            )
        )
        self.why_box.setChecked(True)
        self.why_box.toggled.connect(self.set_reasons)
        self.counters = CounterMenu(self)
        self.counters.changed.connect(self._show_counters)
        self.counted = QWidget(self)
        self.counters_label = buddy(self.tr("Counted:"), self.counters)
        self.empty = QLabel(self.tr("No measurements yet: tick variants and choose Run → Measure."), self)
        self.empty.setObjectName("ladder_empty")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setWordWrap(True)
        self.details = named(QPlainTextEdit(self), "ladder_details", title=self.tr("Details of the current row"))
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        self.details.setFrameShape(QFrame.Shape.NoFrame)
        self.details.hide()
        self._lay_out()
        results.rows_reset.connect(self._refresh)
        results.row_changed.connect(Paced(self._refresh, lambda: results.playing, self).ask)
        results.baseline_changed.connect(self._refresh)
        results.pinned_changed.connect(self._refresh)
        self._refresh()

    def _lay_out(self) -> None:
        top = FlowLayout(gap=self.fontMetrics().averageCharWidth())
        in_row(self.counters_label, self.counters, on=self.counted)
        top.addWidget(self.counted)
        top.addWidget(self.log_box)
        top.addWidget(self.why_box)
        unit = self.fontMetrics().height()
        top.setContentsMargins(unit // 2, unit // 4, unit // 2, 0)
        in_column(top, (self.empty, 1), (self._scroll, 1), self.details, on=self)
        self.setTabOrder(self.log_box, self.why_box)
        self.setTabOrder(self.why_box, self.canvas)
        self.setTabOrder(self.canvas, self.details)

    @Slot()
    def _refresh(self) -> None:
        filled = len(self._results) > 0
        self._scroll.setVisible(filled)
        self.log_box.setVisible(any(not entry.simulated for entry in self._results.entries()))
        self.why_box.setVisible(filled)
        self.empty.setVisible(not filled)
        self._list_counters()
        self.canvas.refresh_later()
        place = self.canvas.current
        lines = self.canvas.ladder().lines if place >= 0 else ()
        self._show_line(lines[place] if 0 <= place < len(lines) else None)

    def _list_counters(self) -> None:
        entries = self._results.entries()
        self.counters.offer(counted_ids(entries), explaining_ids(entries))
        self.canvas.counters = self.counters.counters
        self.counted.setVisible(bool(self.canvas.counters))

    @Slot()
    def _show_counters(self) -> None:
        self.canvas.counters = self.counters.counters
        self.canvas.refresh()

    @Slot(bool)
    def set_reasons(self, shown: bool) -> None:
        """Show or hide why each row differs from the previous variant."""
        self.canvas.reasons = shown
        self.canvas.refresh()

    def _show_details(self, line: Line | None) -> None:
        self._show_line(line)
        if line is not None:
            centre = line.rect.center().toPoint()
            self._scroll.ensureVisible(0, centre.y(), 0, int(line.rect.height()))
        self.current_changed.emit(line.entry.slot if line is not None and line.entry else None)

    def _show_line(self, line: Line | None) -> None:
        text = self.canvas.words(line) if line is not None else ""
        self.details.setPlainText(text)
        self.details.setVisible(bool(text))
        lines = min(text.count("\n") + 1, DETAIL_LINES) + 1
        self.details.setFixedHeight(lines * self.details.fontMetrics().lineSpacing())

    def current_slot(self) -> RowSlot | None:
        """The slot of the current row."""
        lines = self.canvas.ladder().lines
        line = lines[self.canvas.current] if 0 <= self.canvas.current < len(lines) else None
        return line.entry.slot if line is not None and line.entry else None

    def set_log(self, log: bool) -> None:
        """Choose logarithmic or linear time."""
        self.log_box.setChecked(log)
        if self.canvas.log != log:
            self.canvas.log = log
            self.canvas.refresh()

    # ---------------------------------------------------------------- files

    def picture(self, width: int | None = None) -> QImage:
        """The whole ladder, including its hidden part, at twice the screen's resolution."""
        return drawn_image(*self._drawing(width))

    def export(self, path: str | Path, width: int | None = None, facts: Facts = NO_FACTS) -> None:
        """Write the whole ladder with this metadata below it: as SVG if the name ends so, else as PNG. Raises
        InputError if the file cannot be written."""
        write_picture(path, *self._drawing(width), self.tr("Timing ladder"), self.canvas.logicalDpiX(), facts)

    def _drawing(self, width: int | None) -> tuple[QSize, Draw]:
        """The size of the whole ladder, and the function that draws it."""
        geometry = self.canvas.geometry_for(width or self.canvas.width())
        size = QSize(int(geometry.width), int(geometry.height))
        return size, lambda painter: self.canvas.draw(painter, geometry)

"""What the warps of the chosen element read and wrote: a row for each access, with a mark for each lane."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import accumulate, pairwise, product

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.base.nesting import bounded
from app.base.tips import show_tip
from app.models.traffic.recorded import OfVariant
from app.models.traffic.warp_rows import Row, rows_of
from app.views.eliding import elided_text
from app.views.labels import sentence_label
from app.views.scrolled import Scrolled
from app.views.traffic.marks import MADE

LINES, WORDS = 9, 0.45
"""Rows that are visible at once, and the largest share of the width for how an access is."""
GAP, TALL = 8, 4
"""Points between columns, and lines of text that elements which meet take."""
LANE = QColor(255, 140, 0)


def _words(row: Row) -> str:
    return f"{row.what}: {row.how}" if row.how else row.what


class WarpRows(QWidget):
    """Paints the rows. A mark is as high as many lanes access its element: all of the height is the most of a row."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("trafficWarpRows")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.rows: list[Row] = []

    def show_rows(self, rows: list[Row]) -> None:
        """Show others."""
        self.rows = rows
        self.setAccessibleName("\n".join(map(_words, rows)))
        self.updateGeometry()
        self.update()

    @property
    def _line(self) -> int:
        return self.fontMetrics().height() + 2

    @property
    def _tops(self) -> list[int]:
        """Where each row begins, and where the last one ends."""
        return list(accumulate(((TALL if row.meetings else 1) * self._line for row in self.rows), initial=0))

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(60 * self.fontMetrics().averageCharWidth(), self._tops[-1])

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(0, self._tops[-1])

    @property
    def _columns(self) -> tuple[int, int]:
        """The widths of what is accessed, before the marks, and of how, after them, with the gaps."""
        metrics = self.fontMetrics()
        left = max((metrics.horizontalAdvance(row.what) for row in self.rows if row.access), default=0) + GAP
        wide = max((metrics.horizontalAdvance(row.how) for row in self.rows), default=0) + GAP
        return left, min(wide, int(WORDS * self.width()))

    def _elided(self, row: Row) -> str:
        """What fits of the words that may be long: how an access is, or a heading."""
        if row.access is None:
            return elided_text(row.what, self.fontMetrics(), self.width())
        return elided_text(row.how, self.fontMetrics(), self._columns[1] - GAP)

    def tip(self, y: int) -> str:
        """All words of the row at a height, "" where they are seen."""
        tops = self._tops
        row = self.rows[bisect_right(tops, y) - 1] if 0 <= y < tops[-1] else None
        if row is None or self._elided(row) in (row.what, row.how):
            return ""
        return _words(row)

    @bounded
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            show_tip(event.globalPos(), self.tip(event.pos().y()), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter, (left, right) = QPainter(self), self._columns
        numbers = [str(end) for row in self.rows if row.access for end in row.span]
        ends = max(map(self.fontMetrics().horizontalAdvance, numbers), default=0) + 6.0
        ink, centre = self.palette().windowText().color(), Qt.AlignmentFlag.AlignVCenter
        for row, (top, past) in zip(self.rows, pairwise(self._tops), strict=True):
            painter.setPen(ink)
            box = QRectF(0, top, self.width(), past - top)
            if row.access is None:
                painter.drawText(box, centre, self._elided(row))
                continue
            painter.drawText(box.adjusted(0, 0, left - self.width(), 0), centre, row.what)
            painter.drawText(box.adjusted(self.width() - right + GAP, 0, 0, 0), centre, self._elided(row))
            draw = self._draw_meetings if row.meetings else self._draw
            draw(painter, row, box.adjusted(left, 2, max(-right, left + 1 - self.width()), -2), ends)
        painter.end()

    def _draw(self, painter: QPainter, row: Row, box: QRectF, ends_width: float) -> None:
        """The elements of the lanes, between the first and the last that are shown at the ends."""
        assert row.access is not None
        (first, past), ink = row.span, self.palette().windowText().color()
        bar = self._between_ends(painter, row, box, ends_width)
        paper = QColor(ink)
        paper.setAlpha(40)
        painter.fillRect(bar, paper)
        each, times = bar.width() / (past - first), Counter(row.access.elements)
        most = max(times.values())
        for element, lanes in sorted(times.items(), key=lambda item: item[0] in row.own):  # its own above the others
            x, height = bar.left() + (element - first) * each, bar.height() * lanes / most
            mark = QRectF(x, bar.bottom() - height, max(each - 1, 2), height)
            painter.fillRect(mark, MADE if element in row.own else LANE)
        painter.setPen(ink)

    def _between_ends(self, painter: QPainter, row: Row, box: QRectF, ends_width: float) -> QRectF:
        """Draw the first and the last element that are shown at the ends; the box between them."""
        first, past = row.span
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, str(first))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(past - 1))
        return box.adjusted(ends_width, 0, -ends_width, 0)

    def _draw_meetings(self, painter: QPainter, row: Row, box: QRectF, ends_width: float) -> None:
        """The elements that meet: a line from each one that a lane reads, above, to each one that it writes, below; the
        chosen lane's own above the others."""
        bar, (first, past) = self._between_ends(painter, row, box, ends_width), row.span
        ink = painter.pen().color()
        faint = QColor(ink)
        faint.setAlpha(90)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for one in sorted(row.meetings, key=lambda one: one.lane == row.lane):
            painter.setPen(QPen(MADE, 2) if one.lane == row.lane else QPen(faint, 1))
            for read, written in product(one.reads, one.writes):
                ends = ((element - first + 0.5) * bar.width() / (past - first) for element in (read, written))
                above, below = (bar.left() + at for at in ends)
                painter.drawLine(QPointF(above, bar.top()), QPointF(below, bar.bottom()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(ink)


class WarpView(QWidget):
    """The rows of a variant, below a sentence that says what they are, in a fixed height: so the pictures keep their
    size when another element is chosen."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("trafficWarp")
        self.words, self.rows = sentence_label("trafficWarpWords", self), WarpRows(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        scrolled = Scrolled(self.rows, self)
        scrolled.setFixedHeight(LINES * (self.fontMetrics().height() + 2))
        layout.addWidget(self.words)
        layout.addWidget(scrolled)

    def show_variant(self, one: OfVariant | None) -> None:
        """Show the accesses of a variant; None where no element is chosen."""
        if one is None:
            text = self.tr("Choose an element to see what its warp reads and writes.")
        elif not one.warps:
            text = self.tr("{title}: {reason}").format(title=one.title, reason=one.warps_reason)
        else:
            text = self.tr(
                "{title}: a mark is an element that lanes access at once, higher where more of them meet; the chosen "
                "lane's own has another colour. The numbers are the first and the last element that a row shows. Lines "
                "lead from the elements that meet in a lane to those that it writes; other warps are not drawn."
            ).format(title=one.title)
        self.words.setText(text)
        self.rows.show_rows(rows_of(one.warps) if one is not None else [])

"""A kernel's source with line numbers, marks and a counter at each line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from html import escape

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QMenu, QPlainTextEdit, QTextEdit, QToolTip, QWidget

from app.base.nesting import bounded
from app.base.numbers import short_count
from app.base.theme import TEXT_CONTRAST, colours_of, contrast, fixed_font, mix
from app.base.tips import Html, show_tip
from app.views.xray.source_colours import SourceColours

LEAST_LINES = 9
SIZE = 0.9
"""The font size relative to the window's: source is wide."""
FULL = 0.62
"""The share of the heat colour on the hottest line."""
CALL = "»"
"""The sign before the number of a line that calls others."""
DescribeLine = Callable[[int], Sequence[str]]
Place = tuple[str, int]
Ways = Callable[[int], tuple[Sequence[Place], Sequence[Place]]]
"""By line: the lines that it calls, and the lines that call it."""


def heat(ground: QPalette, share: float) -> QColor:
    """The background of a number with this share of the maximum; numbers stay readable on it."""
    base, text = ground.color(QPalette.ColorRole.Base), ground.color(QPalette.ColorRole.Text)
    strength = FULL * share
    colour = mix(base, QColor("#d55e00"), strength)
    while contrast(colour, text) < TEXT_CONTRAST and strength > 0:
        strength -= 0.02
        colour = mix(base, QColor("#d55e00"), max(strength, 0.0))
    return colour


class Gutter(QWidget):
    """The column left of the source. Its view paints it."""

    def __init__(self, view: SourceView) -> None:
        super().__init__(view)
        self._view = view
        self.setMouseTracking(True)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(self._view.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        self._view.paint_gutter(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() == Qt.MouseButton.LeftButton:
            self._view.follow(self._view.line_at(round(event.position().y())))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        leads = self._view.leads(self._view.line_at(round(event.position().y())))
        self.setCursor(Qt.CursorShape.PointingHandCursor if leads else Qt.CursorShape.ArrowCursor)

    @bounded
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._view.show_line(event.pos().y(), event.globalPos())
            return True
        return super().event(event)


class SourceView(QPlainTextEdit):
    """Read-only source. Hovering over a line shows everything known about it, and so do Return and Space on the line of
    the cursor. `line_changed`: the cursor is on another line. `followed`: the user wants to see a (file, line) that a
    line calls or is called from – by the number next to a call, by F12, or by the menu."""

    line_changed = Signal(int)
    followed = Signal(str, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("xray.source")
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setAccessibleName(self.tr("Kernel source"))
        self.setAccessibleDescription(
            self.tr("Return or Space shows the counts at the line of the cursor; F12 goes to what it calls")
        )
        self._colours = SourceColours(self.document())
        self._column: Mapping[int, int] = {}
        self._texts: Mapping[int, str] = {}
        self._calling: Set[int] = frozenset()
        self._most = 1
        self._ways: Ways = lambda line: ((), ())
        self._marks: Mapping[int, str] = {}
        self._describe_line: DescribeLine = lambda line: ()
        self._widths = (0, 0, 0)
        self._line = 1
        self._gutter = Gutter(self)
        self.updateRequest.connect(self._scroll_gutter)
        self.cursorPositionChanged.connect(self._show_current)
        self.cursorPositionChanged.connect(self._report_line)
        self.adapt()

    # What is shown

    def show_source(
        self, text: str, marks: Mapping[int, str], describe_line: DescribeLine, ways: Ways = lambda line: ((), ())
    ) -> None:
        """Show a file's text. `marks` is the worst severity, "error" or "warning", by line; `describe_line(line)` gives
        the sentences about a line, `ways(line)` the lines to go to from there."""
        self._marks, self._describe_line, self._ways = marks, describe_line, ways
        if text != self.toPlainText():
            self.setPlainText(text)
        self._fit()

    def show_column(
        self,
        column: Mapping[int, int],
        texts: Mapping[int, str] | None = None,
        calling: Set[int] = frozenset(),
        most: int = 0,
    ) -> None:
        """Show one counter by line, as numbers or as `texts`, with a mark at lines that are `calling` others; `most`
        has the hottest background."""
        self._column, self._calling = column, calling
        self._texts = {line: short_count(value) for line, value in column.items()} if texts is None else texts
        self._most = max(most, *column.values(), 1)
        self._fit()

    def cell(self, line: int) -> tuple[str, float]:
        """The number at a line, and the line's own share of the maximum; empty where nothing was counted. The
        number of a line that calls others includes the calls and is marked."""
        return self._cell_of(self.counted_line(line))

    def _cell_of(self, line: int) -> tuple[str, float]:
        text = self._texts.get(line, "")
        return f"{CALL} {text}" if line in self._calling else text, self._column.get(line, 0) / self._most

    def counted_line(self, line: int) -> int:
        """The line of the last results that is now this one: the same, as the text cannot be edited."""
        return line

    def severity(self, line: int) -> str:
        """The severity of a line's worst finding, "error" or "warning"; "" without one."""
        return self._marks.get(self.counted_line(line), "")

    def describe(self, line: int) -> Sequence[str]:
        """The sentences about a line."""
        counted = self.counted_line(line)
        return self._describe_line(counted) if counted else ()

    def mark(self, line: int) -> str:
        """The symbol of a line's worst finding."""
        colours = colours_of(self.palette())
        return {"error": colours.error.symbol, "": ""}.get(self.severity(line), colours.warn.symbol)

    def tip(self, line: int) -> Html:
        """The tool tip of a line."""
        text = "<br>".join(escape(sentence) for sentence in self.describe(line))
        return Html(f"<b>{escape(self.tr('Line {line}').format(line=line))}</b><br>{text}" if text else "")

    def go_to(self, line: int) -> None:
        """Put the cursor on a line and show it."""
        block = self.document().findBlockByNumber(line - 1)
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.centerCursor()

    # Calls

    def leads(self, line: int) -> bool:
        """Whether a line calls others."""
        return bool(self._ways(self.counted_line(line))[0])

    def follow(self, line: int) -> bool:
        """Go to the line that a line calls most. Returns whether it calls anything."""
        calls, _ = self._ways(self.counted_line(line))
        if calls:
            self.followed.emit(*calls[0])
        return bool(calls)

    def menu(self, line: int) -> QMenu:
        """The menu of a line: the usual entries of a text, and the lines to go to."""
        menu = self.createStandardContextMenu()
        calls, callers = self._ways(self.counted_line(line))
        for texts, places in ((self.tr("Go to {place}"), calls), (self.tr("Back to {place}"), callers)):
            if places:
                menu.addSeparator()
            for file, number in places:
                action = menu.addAction(texts.format(place=f"{file.rsplit('/', 1)[-1]}:{number}"))
                action.triggered.connect(partial(self.followed.emit, file, number))
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        line = self.textCursor().blockNumber() + 1 if by_key else self.line_at(event.pos().y())
        menu = self.menu(line)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    # Tool tips

    def line_at(self, y: int) -> int:
        """The line at a height of the viewport; 0 below the last."""
        block = self.cursorForPosition(QPoint(0, y)).block()
        place = self.blockBoundingGeometry(block).translated(self.contentOffset())
        return block.blockNumber() + 1 if place.top() <= y < place.bottom() else 0

    def show_line(self, y: int, at: QPoint) -> None:
        """Show the tool tip of the line at a height."""
        text = self.tip(self.line_at(y))
        if text:
            show_tip(at, text, self)
        else:
            QToolTip.hideText()

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self.show_line(event.pos().y(), event.globalPos())
            return True
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_F12:
            self.follow(self.textCursor().blockNumber() + 1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.show_counts()
        else:
            super().keyPressEvent(event)

    def show_counts(self) -> None:
        """Show the tool tip of the line of the cursor."""
        place = self.cursorRect().bottomLeft()
        text = self.tip(self.textCursor().blockNumber() + 1)
        show_tip(self.viewport().mapToGlobal(place), text, self)

    # Painting

    def _measure(self) -> tuple[int, int, int]:
        """The widths of mark, counter and line number, with a gap after each."""
        metrics = self.fontMetrics()
        gap = metrics.averageCharWidth()
        cells = [metrics.horizontalAdvance(self._cell_of(line)[0]) for line in self._texts]
        numbers = metrics.horizontalAdvance("0" * len(str(self.blockCount())))
        return 2 * gap if self._has_marks else gap // 2, max(cells, default=0) + 2 * gap, numbers + 2 * gap

    @property
    def _has_marks(self) -> bool:
        """Whether any line has a mark."""
        return bool(self._marks)

    def gutter_width(self) -> int:
        return sum(self._widths)

    def paint_gutter(self, event: QPaintEvent) -> None:
        """Paint mark, counter and number of every visible line."""
        painter = QPainter(self._gutter)
        painter.setFont(self.font())
        painter.fillRect(event.rect(), self.palette().color(QPalette.ColorRole.AlternateBase))
        block, offset = self.firstVisibleBlock(), self.contentOffset()
        while block.isValid():
            place = self.blockBoundingGeometry(block).translated(offset)
            if place.top() > event.rect().bottom():
                break
            self._paint_line(painter, block.blockNumber() + 1, place)
            block = block.next()
        painter.end()

    def _paint_line(self, painter: QPainter, line: int, place: QRectF) -> None:
        mark, cell, _ = self._widths
        colours, gap = colours_of(self.palette()), self.fontMetrics().averageCharWidth()
        top, height, right = round(place.top()), round(place.height()), Qt.AlignmentFlag.AlignRight
        text, share = self.cell(line)
        if text:
            box = QRect(mark, top, cell, height)
            if share:
                painter.fillRect(box, heat(self.palette(), share))
            call = self.counted_line(line) in self._calling
            role = QPalette.ColorRole.Link if call else QPalette.ColorRole.Text
            ink = self.palette().color(role)
            plain = share or contrast(ink, self.palette().color(QPalette.ColorRole.AlternateBase)) < TEXT_CONTRAST
            painter.setPen(self.palette().color(QPalette.ColorRole.Text) if plain else ink)
            painter.drawText(box.adjusted(0, 0, -gap, 0), right | Qt.AlignmentFlag.AlignVCenter, text)
        if self.mark(line):
            painter.setPen(colours.error.colour if self.severity(line) == "error" else colours.warn.colour)
            painter.drawText(QRect(0, top, mark, height), Qt.AlignmentFlag.AlignCenter, self.mark(line))
        painter.setPen(colours.muted)
        number = QRect(mark + cell, top, self._gutter.width() - mark - cell - gap, height)
        painter.drawText(number, right | Qt.AlignmentFlag.AlignVCenter, str(line))

    def _fit(self) -> None:
        self._widths = self._measure()
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)
        inside = self.contentsRect()
        self._gutter.setGeometry(inside.left(), inside.top(), self.gutter_width(), inside.height())
        self._gutter.update()

    def _scroll_gutter(self, _rect: QRect, _dy: int) -> None:
        self._gutter.update()

    def _show_current(self) -> None:
        """Highlight the line of the cursor and the marked letters."""
        current = QTextEdit.ExtraSelection()
        current.cursor = self.textCursor()
        form = current.format
        form.setBackground(self.palette().color(QPalette.ColorRole.AlternateBase))
        form.setProperty(QTextFormat.Property.FullWidthSelection, True)
        self.setExtraSelections([current, *self.marked_letters()])

    def marked_letters(self) -> list[QTextEdit.ExtraSelection]:
        """Letters with a background or a line below them."""
        return []

    def _report_line(self) -> None:
        line = self.textCursor().blockNumber() + 1
        if line != self._line:
            self._line = line
            self.line_changed.emit(line)

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        seen = self._sees_line(event.oldSize().height())
        super().resizeEvent(event)
        self._fit()
        if seen:
            self._keep_line()

    def _sees_line(self, height: int) -> bool:
        """Whether the line of the cursor is visible, also in part, in a viewport of this height."""
        return self.cursorRect().top() < height and self.cursorRect().bottom() >= 0

    def _keep_line(self) -> None:
        """Show all of the line of the cursor in the present height."""
        bar = self.horizontalScrollBar()
        value = bar.value()
        self.ensureCursorVisible()
        bar.setValue(value)

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_gutter"):
            self.adapt()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Enough for a few lines."""
        return QSize(super().minimumSizeHint().width(), LEAST_LINES * self.fontMetrics().lineSpacing())

    def adapt(self) -> None:
        """Adapt to the font size and the colours of the surroundings."""
        parent, seen = self.parentWidget(), self._sees_line(self.viewport().height())
        size = SIZE * parent.font().pointSizeF() if parent else self.font().pointSizeF()
        if self.font().family() != fixed_font() or self.font().pointSizeF() != size:
            font = QFont(fixed_font())
            font.setPointSizeF(size)
            self.setFont(font)
        self.setTabStopDistance(4 * self.fontMetrics().averageCharWidth())
        self._colours.take(self.palette())
        self._show_current()
        self._fit()
        if seen:
            self._keep_line()

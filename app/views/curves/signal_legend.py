"""The legend of curves: stroke, name, and the mark of a simulated result."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from app.base.nesting import bounded
from app.base.tips import set_tip
from app.models.curves.curve import Curve, is_faint
from app.models.curves.stroke import input_stroke
from app.models.results.origin import Origin
from app.models.results.view_data import INPUT
from app.views.boxes import in_row
from app.views.parts import ElidedLabel, MarkChip, StateChip, is_dark, mark_size, mark_texts
from app.views.strokes import line_ink, pen

LEGEND_LINES = 3
LEAST_LETTERS = 26
"""Letters of a name that are readable next to other entries."""
LETTERS = 60
"""Letters of a name next to a mark, where they fit."""
MOST_ENTRIES = 12
"""The most curves with an entry each; of more, the channels of one result share one."""


class LegendEntry(QWidget):
    """A sample of the line, the name, shortened where it does not fit, and the mark of a simulated result. A click on
    the line, or Space, hides the curves or shows them again; one on the name, or Enter, brings them to the front.

    `hide_asked` and `front_asked`: the user wants this of the result with the key.
    """

    hide_asked = Signal(str)
    front_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.stroke = input_stroke()
        self.key = ""
        self._faint = self._hidden = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        set_tip(self, self.tr("Click the line (Space) to hide or show it, the name (Enter) to bring it to the front"))
        self.label = ElidedLabel(parent=self)
        self.label.letters = LETTERS
        self.chip = MarkChip(self)
        self.verdict = StateChip(self)
        unit = self.fontMetrics().averageCharWidth()
        self._row = in_row((self.label, 1), self.chip, self.verdict, 0, on=self, margins=(unit * 6, 0, 0, 0))

    def show_curve(self, curve: Curve, name: str, note: str = "", faint: bool = False, leads: bool = True) -> None:
        """Show a name with a note, the curve's stroke and its mark; hidden if the curve is, or if it shares the entry
        of another curve that `leads`."""
        name = " · ".join(t for t in (name, note) if t)
        self.stroke, self.key, self._hidden = curve.stroke, curve.key, curve.hidden
        self.label.setText(name)
        self.label.setEnabled(not curve.hidden)
        self.chip.show_texts(mark_texts(Origin(True), None)[0] if curve.mark else "", curve.mark)
        self.verdict.show_state(curve.state if curve.visible else None, curve.verdict)
        self._faint = faint
        hidden = self.tr("hidden") if curve.hidden else ""
        self.setAccessibleName(" · ".join(t for t in (name, hidden, curve.mark, self.verdict.text) if t))
        self.update()
        self._fit_mark()
        sides = QSizePolicy.Policy  # the mark follows the name; it is not at the end of the column
        beside = bool(curve.mark or curve.state)
        self.label.setSizePolicy(sides.Maximum if beside else sides.Expanding, sides.Fixed)
        self.setVisible(curve.visible and leads)

    def set_alone(self, alone: bool) -> None:
        """Write the name of the only curve as the title of a picture."""
        font = QFont()  # without a size of its own
        font.setBold(alone)
        self.label.setFont(font)

    def least_width(self) -> int:
        """The width at which the name, or the beginning of a long one, is readable next to the symbols of mark and
        verdict."""
        mark = self.chip.minimumSizeHint().width() if self.chip.text else 0
        longest = self.fontMetrics().averageCharWidth() * LEAST_LETTERS
        return self._width_with(mark, self.verdict.least_width(word=False), longest)

    def _width_with(self, mark: int, verdict: int, longest: float = math.inf) -> int:
        """The width with a mark and a verdict of so many pixels, and a name of at most `longest`."""
        name = min(self.label.fontMetrics().horizontalAdvance(self.label.text()), longest)
        gaps = (1 + (mark > 0) + (verdict > 0)) * self._row.spacing()
        return int(self.fontMetrics().averageCharWidth() * 6 + name + 2) + mark + verdict + gaps

    def _fit_mark(self) -> None:
        """Show as much of the mark, and of the verdict, as leaves the name whole."""
        whole, least = (mark_size(self.chip, t).width() if self.chip.text else 0 for t in (self.chip.text, ""))
        room = self.width() - self.sizeHint().width() + whole
        self.chip.fit(room)
        symbol = self.verdict.least_width(word=False)
        self.verdict.setMaximumWidth(symbol if self.verdict.state and room < least else self.verdict.sizeHint().width())

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_mark()

    def sizeHint(self) -> QSize:
        """With the whole name and mark, and the word of the verdict."""
        mark = mark_size(self.chip, self.chip.text) if self.chip.text else QSize(0, 0)
        width = self._width_with(mark.width(), self.verdict.least_width())
        return QSize(width, max(self.fontMetrics().height(), mark.height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        unit, middle = self.fontMetrics().averageCharWidth(), self.height() / 2
        if self._hidden:
            painter.setPen(self.palette().color(QPalette.ColorRole.Mid))
            painter.drawRect(QRectF(0, middle - unit / 2, 5 * unit, unit))
        else:
            painter.setPen(pen(self.stroke, is_dark(self.palette()), 2, faint=self._faint))
            painter.drawLine(QPointF(0, middle), QPointF(unit * 5, middle))
        if self.hasFocus():
            painter.setPen(line_ink(self.palette()))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            on_line = event.position().x() < self.label.x()
            (self.hide_asked if on_line else self.front_asked).emit(self.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space:
            self.hide_asked.emit(self.key)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.front_asked.emit(self.key)
        else:
            super().keyPressEvent(event)


class LegendGrid(QGridLayout):
    """Entries in columns of equal width, in as few lines as leave them readable. `notes` are remarks by the keys of
    results; the one on the input is shown next to its name."""

    def __init__(self, unit: int) -> None:
        super().__init__()
        self.setContentsMargins(unit, 0, unit, 0)
        self.setHorizontalSpacing(unit * 2)
        self.setVerticalSpacing(unit // 2)
        self.notes: dict[str, str] = {}

    def show_curves(
        self, curves: Sequence[Curve], entries: Sequence[LegendEntry], width: int, stacked: bool = False
    ) -> None:
        """Describe each curve by its entry, and place the visible ones in `width` pixels. The channels of a result
        share an entry where they are many, or `stacked`, because their lanes have names."""
        visible = [curve for curve in curves if curve.visible]
        grouped = stacked or len(visible) > MOST_ENTRIES
        counts, shown = Counter(curve.key for curve in visible), []
        led: set[str] = set()
        for curve, entry in zip(curves, entries, strict=True):
            together = grouped and bool(curve.title) and counts[curve.key] > 1
            leads = not together or curve.key not in led
            name = self._group_name(curve.title, counts[curve.key], stacked) if together else curve.name
            note = self.notes.get(INPUT, "") if curve.key == INPUT else ""
            entry.show_curve(curve, name, note, is_faint(curve, curves), leads)
            if curve.visible and leads:
                shown.append(entry)
                led.add(curve.key)
        self.lay(shown, width)

    @staticmethod
    def _group_name(title: str, count: int, stacked: bool) -> str:
        text = QCoreApplication.translate("SignalLegend", "{name}, {count} channels")
        return title if stacked else text.format(name=title, count=count)

    def remarks(self, curves: Sequence[Curve]) -> str:
        """The remarks on results in one line, with the names of their curves; a remark common to all appears without
        names."""
        notes = {curve.title or curve.name: self.notes.get(curve.key, "") for curve in curves if curve.key != INPUT}
        if len(set(notes.values())) == 1:
            return next(iter(notes.values()))
        return "   ".join(f"{name} {note}" for name, note in notes.items() if note)

    def lay(self, shown: Sequence[LegendEntry], width: int) -> None:
        """Place these entries in `width` pixels."""
        for entry in shown:
            entry.set_alone(len(shown) == 1)
        columns = self._columns(shown, width)
        for place, entry in enumerate(shown):
            self.addWidget(entry, place // columns, place % columns)
        for column in range(self.columnCount()):
            self.setColumnStretch(column, int(column < columns))

    def _columns(self, shown: Sequence[LegendEntry], width: int) -> int:
        """The number of columns: as many as leave names and marks whole, unless that takes too many lines."""
        count = max(1, len(shown))
        whole = max((e.sizeHint().width() for e in shown), default=1)
        least = max((e.least_width() for e in shown), default=1)
        margins, gap = self.contentsMargins(), self.horizontalSpacing()
        room = width - margins.left() - margins.right() + gap
        for wide in (max(whole, least), least):
            lines = -(-count // max(1, room // (wide + gap)))
            if lines <= LEGEND_LINES:
                break
        return -(-count // lines)

"""The findings about a result, in a bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QPlainTextEdit, QToolButton, QWidget

from app.base.nesting import bounded
from app.base.numbers import number
from app.base.theme import Role, checkable, colours_of, fixed_font, inked, mix
from app.views.boxes import in_column, in_row
from app.views.labels import named
from app.views.parts import ElidedLabel

DETAIL_LINES = 6
WIDE = 70  # from this number of letters on, sentence and buttons share one line
Finding = Mapping[str, Any]


class FindingsBar(QFrame):
    """Shows the first finding in one line and the number of further ones; Details shows all of them and the kernel's
    printed lines; Copy copies them. Hidden if there is nothing to show."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("findingsBar")
        self._name = ""
        self._findings: tuple[Finding, ...] = ()
        self._printed: tuple[str, ...] = ()
        self._symbol = QLabel(self)
        self.sentence = named(ElidedLabel(parent=self), "finding")
        self.more = named(QLabel(self), "moreFindings")
        self.details_button = self._button(self.tr("Details"), "findingDetails", self.tr("Show or hide all findings"))
        checkable(self.details_button)
        self.copy_button = self._button(self.tr("Copy"), "findingCopy", self.tr("Copy all findings"))
        self.copy_button.clicked.connect(self.copy)
        self.details = named(QPlainTextEdit(self), "findingsDetails", title=self.tr("All findings"))
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        self.details.setFrameShape(QFrame.Shape.NoFrame)
        self.details.hide()
        self.details_button.toggled.connect(self.details.setVisible)
        self._arrange()
        self.hide()

    def _button(self, text: str, name: str, tip: str) -> QToolButton:
        button = named(QToolButton(self), name, tip=tip)
        button.setText(text)
        button.setAccessibleDescription(tip)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAutoRaise(True)
        return button

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        gap, around = unit // 2, (unit * 2, unit // 2, unit // 2, unit // 2)
        sentence_row = in_row(self._symbol, (self.sentence, 1), gap=gap)
        self._rest = in_row(self.more, 1, self.details_button, self.copy_button, gap=gap)
        self._row: QBoxLayout = in_row((sentence_row, 1), self._rest, gap=gap)
        in_column(self._row, self.details, on=self, margins=around, gap=gap)

    def show_findings(self, findings: Sequence[Finding], printed: Sequence[str], name: str = "") -> None:
        """Show findings, as stored in rows, and printed lines. `name` is the variant if it is not obvious."""
        content = name, tuple(findings), tuple(printed)
        if content == (self._name, self._findings, self._printed):
            return
        self._name, self._findings, self._printed = content
        self.setVisible(bool(findings or printed))
        self.details_button.setChecked(False)
        self.sentence.setText(self._sentence())
        count = len(self._findings) - 1
        more = self.tr("and 1 more") if count == 1 else self.tr("and {count} more").format(count=number(count, 9))
        self.more.setText(more if count > 0 else "")
        self.more.setVisible(count > 0)
        self.details.setPlainText(self.text())
        self.setAccessibleName(" ".join(t for t in (self.sentence.text(), self.more.text()) if t))
        self._adapt()

    def _sentence(self) -> str:
        if self._findings:
            text = str(self._findings[0]["text"])
        elif len(self._printed) == 1:
            text = self.tr("the kernel printed: {line}").format(line=self._printed[0])
        else:
            text = self.tr("the kernel printed {count} lines").format(count=number(len(self._printed), 9))
        return self.tr("{name}: {text}").format(name=self._name, text=text) if self._name else text

    def text(self) -> str:
        """All findings and printed lines, one per line."""
        lines = [str(f["text"]) for f in self._findings]
        if self._printed:
            lines += [*([""] if lines else []), self.tr("Printed by the kernel:"), *self._printed]
        return "\n".join(lines)

    def copy(self) -> None:
        """Copy all of the text to the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def _role(self) -> Role:
        """The highest severity: errors before warnings before printed lines."""
        colours, kinds = colours_of(self.palette()), {f["severity"] for f in self._findings}
        return colours.error if "error" in kinds else colours.warn if kinds else colours.info

    def _adapt(self) -> None:
        """Sizes and colours of the current font and palette."""
        role = self._role()
        if self._symbol.text() != role.symbol:
            self._symbol.setText(role.symbol)
        self._symbol.setPalette(inked(self._symbol.palette(), role.colour))
        font = self.details.font()
        if font.family() != fixed_font():
            font.setFamily(fixed_font())
            self.details.setFont(font)
        lines = min(self.text().count("\n") + 1, DETAIL_LINES)
        self._turn()
        line = self.details.fontMetrics().lineSpacing()
        self.details.setMinimumHeight(min(lines + 1, 3) * line)  # a low pane scrolls
        self.details.setMaximumHeight((lines + 1) * line)
        self.update()

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._turn()

    def _turn(self) -> None:
        """Put everything in one line if the sentence stays readable."""
        unit, ways = self.fontMetrics().averageCharWidth(), QBoxLayout.Direction
        width = self.fontMetrics().horizontalAdvance(self.sentence.text()) + 6 * unit
        wide = self.width() >= min(WIDE * unit, width + self._rest.sizeHint().width())
        self._row.setDirection(ways.LeftToRight if wide else ways.TopToBottom)

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_row"):
            self._adapt()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint a light background with a stripe in the colour of the highest severity."""
        colour = self._role().colour
        painter = QPainter(self)
        painter.fillRect(self.rect(), mix(self.palette().color(self.backgroundRole()), colour, 0.09))
        stripe = self.rect()
        stripe.setWidth(max(2, self.fontMetrics().height() // 5))
        painter.fillRect(stripe, colour)
        painter.end()

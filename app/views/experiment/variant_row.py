"""One variant in the list: its tick, its title, its idea, and why it cannot run."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, inked, selected
from app.views.boxes import in_column, in_row
from app.views.labels import named, sentence_label
from app.views.parts import TickBox
from gpu_ops.types import Variant

IDEA_SIZE = 0.88


def _small(widget: QWidget, beside: QWidget) -> None:
    font = widget.font()
    font.setPointSizeF(beside.font().pointSizeF() * IDEA_SIZE)
    widget.setFont(font)


class VariantRow(QWidget):
    """One variant: a tick with its title, its device, its idea, and why it is unavailable."""

    ticked = Signal()
    selected = Signal(str)
    move_wanted = Signal(int)

    def __init__(self, variant: Variant, reason: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.variant, self.reason_text = variant, ""
        self._selected = False
        self.setObjectName(f"variant.{variant.id}")
        self.tick = named(TickBox(variant.title.replace("&", "&&"), self), f"tick.{variant.id}")
        self.tick.toggled.connect(self.ticked)
        self.tick.installEventFilter(self)
        self.chip = named(QLabel(self), f"chip.{variant.id}")
        self.idea = self._text(variant.idea, f"idea.{variant.id}")
        self.reason = self._text("", f"reason.{variant.id}")
        self._lay_out()
        self.set_reason(reason)

    def _text(self, text: str, name: str) -> QLabel:
        label = sentence_label(name, self)
        label.setText(text)
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        return label

    def _lay_out(self) -> None:
        head = in_row(self.tick, 1, self.chip)
        self._body = in_column(self.idea, self.reason, gap=0)
        self._column = in_column(head, self._body, on=self, margins=None, gap=0)

    def set_reason(self, reason: str) -> None:
        """Set why the variant cannot run; "" where it can."""
        self.reason_text = reason
        self.tick.setEnabled(not reason)
        self.reason.setVisible(bool(reason))
        # A disabled variant is still readable with the keyboard: the row itself takes the focus then.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if reason else Qt.FocusPolicy.NoFocus)
        self._adapt()

    def set_marks(self, baseline: bool) -> None:
        """The texts at the right: the device, the library, and whether it is the baseline."""
        parts = [self.tr("baseline")] if baseline else []
        if self.variant.library:
            parts.append(self.tr("library"))
        parts.append(self.tr("CPU") if self.variant.device == "cpu" else self.tr("GPU"))
        self.chip.setText(" · ".join(parts))
        texts = [self.variant.title, *parts, self.variant.idea, self.reason.text()]
        self.setAccessibleName(self.variant.title)
        self.setAccessibleDescription(". ".join(t for t in texts[1:] if t))
        self.tick.setAccessibleDescription(". ".join(t for t in texts[1:] if t))

    def set_selected(self, selected: bool) -> None:
        if selected != self._selected:
            self._selected = selected
            self.update()

    def _adapt(self) -> None:
        colours = colours_of(self.palette())
        for label in (self.idea, self.reason, self.chip):
            _small(label, self)
        for label, colour in (
            (self.idea, colours.muted),
            (self.reason, colours.warn.colour),
            (self.chip, colours.muted),
        ):
            label.setPalette(inked(label.palette(), colour))
        text = self.tr("{symbol} not available: {reason}") if self.reason_text else ""
        self.reason.setText(text.format(symbol=colours.warn.symbol, reason=self.reason_text))
        unit = self.fontMetrics().height()
        self._column.setContentsMargins(unit // 2, unit // 4, unit // 2, unit // 4)
        style = self.tick.style()
        indent = style.pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth, None, self)
        indent += style.pixelMetric(QStyle.PixelMetric.PM_CheckBoxLabelSpacing, None, self)
        self._body.setContentsMargins(indent, 0, 0, 0)

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_body"):
            self._adapt()

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.FocusIn:
            self.selected.emit(self.variant.id)
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self._moves(event):
            return True
        return super().eventFilter(watched, event)

    def _moves(self, event: QKeyEvent) -> bool:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        if step:
            self.move_wanted.emit(step)
        return bool(step)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if not self._moves(event):
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self.selected.emit(self.variant.id)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        super().mousePressEvent(event)
        self.take_focus()
        self.selected.emit(self.variant.id)

    def take_focus(self) -> None:
        (self if self.reason_text else self.tick).setFocus(Qt.FocusReason.OtherFocusReason)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        if not self._selected:
            return
        painter = QPainter(self)
        highlight = self.palette().color(QPalette.ColorRole.Highlight)
        painter.fillRect(self.rect(), selected(self.palette()))
        stripe = self.rect()
        stripe.setWidth(max(2, self.fontMetrics().height() // 6))
        painter.fillRect(stripe, highlight)

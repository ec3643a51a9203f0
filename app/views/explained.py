"""A viewer of text that says what a technical word means when the mouse rests on it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QTextBrowser, QToolTip

from app.base.nesting import bounded
from app.base.terms import term_tip
from app.base.tips import show_tip


class ExplainedBrowser(QTextBrowser):
    """Shows the glossary's sentence on the word under the mouse."""

    def meaning_at(self, position: QPoint) -> str:
        """What the word at a position of the viewport means; empty where it is no term, or no word is there."""
        from gpu_ops.lessons.glossary import term_at  # reads the glossary, at first use

        cursor = self.cursorForPosition(position)
        block = cursor.block()
        edge = self.cursorRect(cursor)
        if abs(position.x() - edge.left()) > edge.height() or not edge.top() <= position.y() <= edge.bottom():
            return ""  # the nearest word is elsewhere
        place = cursor.positionInBlock()
        if edge.left() > position.x():
            place -= 1  # the mouse is on the letter in front of the nearest gap between two letters
        term = term_at(block.text(), place)
        return "" if term is None else term_tip(term)

    @bounded
    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.meaning_at(event.pos())
            if text:
                show_tip(event.globalPos(), text, self.viewport())
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

"""A viewer of text that says what a technical word means when the mouse rests on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QTextBrowser, QToolTip

from app.base.nesting import bounded
from app.base.terms import term_tip
from app.base.tips import show_tip

if TYPE_CHECKING:
    from gpu_ops.lessons.glossary import Term


class ExplainedBrowser(QTextBrowser):
    """Shows the glossary's sentence on the word under the mouse."""

    def term_at(self, position: QPoint) -> Term | None:
        """The term at a position of the viewport; None where no word is there, or one that is no term."""
        from gpu_ops.lessons.glossary import term_at  # reads the glossary, at first use

        cursor = self.cursorForPosition(position)
        block = cursor.block()
        edge = self.cursorRect(cursor)
        if abs(position.x() - edge.left()) > edge.height() or not edge.top() <= position.y() <= edge.bottom():
            return None  # the nearest word is elsewhere
        place = cursor.positionInBlock()
        if edge.left() > position.x():
            place -= 1  # the mouse is on the letter in front of the nearest gap between two letters
        return term_at(block.text(), place)

    @bounded
    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            term = self.term_at(event.pos())
            if term is not None:
                show_tip(event.globalPos(), term_tip(term), self.viewport())
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

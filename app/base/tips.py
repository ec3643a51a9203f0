"""Tool tips that show their text literally. Qt takes a text with a tag in it for HTML and opens the files that it
names, and much of a tip comes from outside: names of files, headings of tables, lines of reports."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QPoint
from PySide6.QtGui import Qt
from PySide6.QtWidgets import QToolTip, QWidget


class HasTip(Protocol):
    """A widget, an action or a list item: anything with a tool tip."""

    def setToolTip(self, toolTip: str, /) -> None: ...  # noqa: N802, N803


class Html(str):
    """HTML written by the window, in which all text from outside is escaped."""


def tip_text(text: str) -> str:
    """A text for a tool tip that shows it literally, also where Qt would take it for HTML; Html stays as it is."""
    if isinstance(text, Html) or not Qt.mightBeRichText(text):
        return text
    return str(Qt.convertFromPlainText(text, Qt.WhiteSpaceMode.WhiteSpaceNormal))


def set_tip(target: HasTip, text: str) -> None:
    """Give a widget or an action a tool tip with this text."""
    target.setToolTip(tip_text(text))


def show_tip(place: QPoint, text: str, widget: QWidget) -> None:
    """Show a tool tip of the widget now, at a position of the screen."""
    QToolTip.showText(place, tip_text(text), widget)

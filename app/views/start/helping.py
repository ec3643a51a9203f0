"""F1: the guide at the place that describes what a person looks at."""

from __future__ import annotations

from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication

from app.views.explained import ExplainedBrowser
from app.views.window.handlers import open_guide
from app.views.window.window_parts import WindowParts

HELP_ON_PICTURES = "window.md#views"


def show_help(parts: WindowParts) -> None:
    """Open the guide at the term under the mouse, else where it describes the panel with the focus."""
    under, focus = QApplication.widgetAt(QCursor.pos()), QApplication.focusWidget()
    while under is not None and not isinstance(under, ExplainedBrowser):
        under = under.parentWidget()
    term = under.term_at(under.viewport().mapFromGlobal(QCursor.pos())) if under is not None else None
    place = term.guide if term is not None else parts.docks.help_on(focus) or HELP_ON_PICTURES
    open_guide(parts, *place.split("#", 1))

"""Names and labels of widgets."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.base.tips import set_tip

W = TypeVar("W", bound=QWidget)


def named(widget: W, name: str = "", title: str = "", tip: str = "") -> W:
    """The widget with its object name, its title for screen readers, and a tool tip."""
    if name:
        widget.setObjectName(name)
    if title:
        widget.setAccessibleName(title)
    if tip:
        set_tip(widget, tip)
    return widget


def buddy(text: str, widget: QWidget) -> QLabel:
    """A label whose mnemonic leads to the widget."""
    label = QLabel(text, widget.parentWidget())
    label.setBuddy(widget)
    return label


def sentence_label(name: str, parent: QWidget, selectable: bool = False) -> QLabel:
    """A label for sentences: it wraps them and shows them as plain text."""
    label = QLabel(parent)
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    if selectable:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label

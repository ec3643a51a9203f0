"""Labels that several views share."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget


def sentence_label(name: str, parent: QWidget) -> QLabel:
    """A label for sentences: it wraps them and shows them as plain text."""
    label = QLabel(parent)
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label

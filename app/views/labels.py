"""Labels that several views make alike."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget


def sentence_label(name: str, parent: QWidget) -> QLabel:
    """A label for sentences: they wrap, and whatever is in them is shown as it is."""
    label = QLabel(parent)
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label

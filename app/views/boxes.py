"""Rows and columns of widgets."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int]
"""A widget or a layout, optionally with its stretch, or only a stretch."""
Margins = int | tuple[int, int, int, int] | None
"""One margin for all sides, or four from the left clockwise; None for the style's."""
Box = TypeVar("Box", bound=QBoxLayout)


def in_row(*parts: Part, on: QWidget | None = None, margins: Margins = 0, gap: int | None = None) -> QHBoxLayout:
    """The parts next to each other `on` a widget, or for another layout; a `gap` of None is the style's."""
    return _filled(QHBoxLayout(on) if on is not None else QHBoxLayout(), parts, margins, gap)


def in_column(*parts: Part, on: QWidget | None = None, margins: Margins = 0, gap: int | None = None) -> QVBoxLayout:
    """The parts below each other, as in a row."""
    return _filled(QVBoxLayout(on) if on is not None else QVBoxLayout(), parts, margins, gap)


def _filled(box: Box, parts: tuple[Part, ...], margins: Margins, gap: int | None) -> Box:
    if margins is not None:
        box.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if gap is not None:
        box.setSpacing(gap)
    for part in parts:
        if isinstance(part, int):
            box.addStretch(part)
            continue
        inner, stretch = part if isinstance(part, tuple) else (part, 0)
        if isinstance(inner, QLayout):
            box.addLayout(inner, stretch)
        else:
            box.addWidget(inner, stretch)
    return box

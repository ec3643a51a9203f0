"""The order in which the Tab key moves through a window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSpinBox, QComboBox, QScrollArea, QWidget


def order_focus(window: QWidget, regions: Sequence[QWidget]) -> None:
    """Let Tab move through the regions one after the other, in each from top to bottom and left to right."""
    order: list[QWidget] = []
    for region in regions:
        able = [
            w for w in _inside(region) if w.focusPolicy().value & 1 and w.focusProxy() is None and w.window() is window
        ]
        places = {w: w.mapTo(window, w.rect().topLeft()) for w in able}
        order += sorted(able, key=lambda w: (places[w].y(), places[w].x()))
    for before, after in zip(order, order[1:], strict=False):
        QWidget.setTabOrder(before, after)


def _inside(widget: QWidget) -> Iterator[QWidget]:
    """A widget and all widgets in it, except the inner parts of Qt's own controls: a Python reference to these would
    keep them, and the control, alive for ever."""
    yield widget
    if isinstance(widget, QScrollArea):
        children = [inner] if (inner := widget.widget()) else []
    elif isinstance(widget, QComboBox | QAbstractSpinBox | QAbstractScrollArea):
        children = []
    else:
        children = [child for child in widget.children() if isinstance(child, QWidget)]
    for child in children:
        yield from _inside(child)

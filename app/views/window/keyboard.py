"""Letter keys of pictures, independent of the focus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSpinBox, QApplication, QComboBox, QScrollArea, QWidget

PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)


class Letters:
    """Sends letters that nothing else has handled to the widgets in `place` that have `takes_letters`, until one of
    them accepts it."""

    def __init__(self, place: QWidget) -> None:
        self._place, self._sending = place, False

    def send(self, event: QKeyEvent) -> bool:
        """Whether a picture has accepted the key. Otherwise the key goes on to the picture's parents, and so arrives
        here again."""
        if self._sending or not event.text().isalpha() or event.modifiers() not in PLAIN:
            return False
        self._sending = True
        try:
            for picture in self._place.findChildren(QWidget):
                if getattr(picture, "takes_letters", False) and picture.isVisible():
                    event.setAccepted(False)
                    if QApplication.sendEvent(picture, event) and event.isAccepted():
                        return True
        finally:
            self._sending = False
        event.setAccepted(False)
        return False


def order_focus(window: QWidget, regions: Sequence[QWidget]) -> None:
    """Let Tab move through the regions in order, in each from top to bottom and left to right."""
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

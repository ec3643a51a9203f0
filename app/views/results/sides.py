"""The layout of the results and of the input next to them."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from app.base.nesting import bounded

WIDE = 1.3
"""The minimum ratio of width to height at which the input is to the left of results of another kind and not above
them."""


class Pages(QStackedWidget):
    """A stack whose size depends on the visible page only: a hidden one may have been laid out for a wider window."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        page = self.currentWidget()
        return super().minimumSizeHint() if page is None else page.minimumSizeHint()


class Sides(QSplitter):
    """Views of results in one stack, views of an input of another kind in another. `room` is the share of the height or
    width that results take. Behind them is `also`, for further outputs, which shares that room with the results.

    Whether the input is on the left or above depends on the given size around both: their own size depends on the
    arrangement.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.room, self._share_also = 0.65, 0.5
        self.main, self.beside, self.also = Pages(self), Pages(self), QWidget(self)
        for part in (self.beside, self.main, self.also):
            self.addWidget(part)
        self.beside.hide()
        self.also.hide()
        self.splitterMoved.connect(self._take_share)

    def fit(self, room: QSize) -> None:
        """Arrange both for this available size."""
        across = room.width() > WIDE * room.height()
        way = Qt.Orientation.Horizontal if across else Qt.Orientation.Vertical
        if way != self.orientation():
            self.setOrientation(way)
            self.share(self.room)

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.share(self.room)  # else it would depend on the previous sizes

    @Slot()
    def _take_share(self) -> None:
        """Keep the shares that the user sets."""
        beside, main, also = self.sizes()
        if not self.beside.isHidden():
            self.room = (main + also) / max(1, beside + main + also)
        if not self.also.isHidden():
            self._share_also = also / max(1, main + also)

    def show_also(self, shown: bool) -> None:
        """Show or hide the room for further outputs."""
        self.also.setVisible(shown)
        self.share(self.room)

    def share(self, room: float) -> None:
        """Divide the space again."""
        self.room = room
        also = 0.0 if self.also.isHidden() else self._share_also
        self.setSizes([round(10_000 * share) for share in (1 - room, room * (1 - also), room * also)])

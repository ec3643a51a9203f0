"""The header of a table whose names are shortened as by `elided_text`."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QStyle, QStyleOptionHeader, QWidget

from app.views.eliding import elided_text


class Header(QHeaderView):
    """Cuts names at their end; the part after the last `keep` of a name stays whole where it fits."""

    def __init__(self, orientation: Qt.Orientation, parent: QWidget, keep: str = "") -> None:
        super().__init__(orientation, parent)
        self._keep = keep

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, section: int) -> None:  # noqa: N802
        super().initStyleOptionForIndex(option, section)
        margin = self.style().pixelMetric(QStyle.PixelMetric.PM_HeaderMargin, option, self)
        across = self.orientation() == Qt.Orientation.Horizontal
        room = (self.sectionSize(section) if across else self.width()) - 2 * margin
        option.text = elided_text(option.text, self.fontMetrics(), room, self._keep)

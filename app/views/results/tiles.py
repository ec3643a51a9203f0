"""Widgets of results in a grid: as many columns as show them largest, in pages if there are many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from PySide6.QtGui import QFont, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.base.nesting import bounded
from app.views.boxes import in_column, in_row
from app.views.labels import named
from app.views.parts import ElidedLabel, StateChip
from app.views.results.findings_bar import FindingsBar
from app.views.results.pager import Pager
from app.views.scrolled import Scrolled

W = TypeVar("W", bound=QWidget)
LEAST = 6.5
"""The minimum height of a tile's picture, in lines, at which several side by side are useful."""
LINES = 3.5
"""The height of the texts of a tile, in lines."""
MOST_LETTERS = 60
"""The width up to which a tile shows its whole content; a wider table is scrolled."""


def best_columns(
    count: int, width: float, height: float, aspect: float, extra: float = 0.0, narrowest: float = 0.0
) -> int:
    """The number of columns of a grid of `count` panes in `width` × `height` that shows images of `aspect` (width /
    height) largest; `extra` is the height of a pane's texts, `narrowest` the width they need (if possible)."""
    count = max(1, count)
    possible = [columns for columns in range(1, count + 1) if width / columns >= narrowest] or [1]
    return max(possible, key=lambda n: (round(shown_height(count, n, width, height, aspect, extra), 3), -n))


def shown_height(count: int, columns: int, width: float, height: float, aspect: float, extra: float) -> float:
    """The height of the images in such a grid."""
    rows = -(-count // columns)
    return min(width / columns / aspect, max(1.0, height / rows - extra))


class Tile(QWidget):
    """Title, verdict and findings above a widget that shows a result, and a line below it."""

    between = ""
    """The separator in a title that names two results."""

    def __init__(self, inner: QWidget, parent: QWidget | None = None, beside: QWidget | None = None) -> None:
        """`beside` is at the end of the line."""
        super().__init__(parent)
        unit = self.fontMetrics().averageCharWidth()
        self.title = ElidedLabel(parent=self, between=self.between)
        self.chip, self.findings = StateChip(self), FindingsBar(self)
        font = QFont()  # it has no size of its own: it takes that of its surroundings, also when that changes
        font.setBold(True)
        self.title.setFont(font)
        self.title.setMinimumHeight(self.chip.sizeHint().height())  # it keeps its height when a verdict arrives
        self.status = named(ElidedLabel(parent=self, keep=": "), "tileStatus")  # the value
        self.head = head = in_row((self.title, 1), self.chip, margins=(unit, 0, unit, 0), gap=unit)
        foot = in_row((self.status, 1), *filter(None, [beside]), margins=(unit, 0, unit, 0), gap=unit)
        around = (0, unit // 2, 0, unit // 2)
        in_column(head, self.findings, (inner, 1), foot, on=self, margins=around, gap=unit // 2)

    def share_width(self) -> None:
        """Cut the verdict's text before the name: to its word, then to its symbol. Where the name is cut as well, the
        word stays if at least half of the name fits next to it."""
        name = self.title.fontMetrics().horizontalAdvance(self.title.text())
        room = self.width() - 4 * self.fontMetrics().averageCharWidth()
        word, symbol = self.chip.least_width(), self.chip.least_width(word=False)
        short = symbol if room - name >= symbol or room - word < name / 2 else word
        self.chip.setMaximumWidth(room - name if room - name >= word else short)

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self.share_width()


class Tiles(Scrolled, Generic[W]):
    """Widgets by key, which `make(parent)` creates; `clear` releases the content of one that is no longer needed, and
    the widget is reused. `aspect()` is the best ratio of width to height, `letters` the minimum width, and
    `content()` what the content needs, in pixels. `others` are widgets of another kind after them, also by key."""

    def __init__(
        self,
        make: Callable[[QWidget], W],
        clear: Callable[[W], None],
        pager: Pager,
        aspect: Callable[[], float],
        letters: int,
        parent: QWidget,
        content: Callable[[], int] = lambda: 0,
    ) -> None:
        sheet = QWidget(parent)
        super().__init__(sheet, parent)
        self.sheet, self.pager, self.columns = sheet, pager, 1
        self.tiles: dict[str, W] = {}
        self.others: dict[str, QWidget] = {}
        self._keys: list[str] = []
        self._make, self._clear, self._aspect, self._letters = make, clear, aspect, letters
        self._content = content
        self._spare: list[W] = []
        self._grid = QGridLayout(sheet)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(parent.fontMetrics().averageCharWidth())
        self.room_changed.connect(self.arrange)
        pager.turned.connect(self.lay)

    def set_keys(self, keys: Sequence[str], name: str) -> None:
        """Show tiles with these keys, in this order, named after them: known ones keep their content, new ones are
        empty."""
        self._keys = []  # clearing a tile may emit signals: nothing is laid out before all exist
        for gone in [key for key in self.tiles if key not in keys]:
            tile = self.tiles.pop(gone)
            tile.hide()
            self._clear(tile)
            self._spare.append(tile)
        for key in keys:
            if key not in self.tiles:
                self.tiles[key] = self._spare.pop() if self._spare else self._make(self.sheet)
                self.tiles[key].setObjectName(f"{name}-{key}")
        self._keys = list(keys)
        self.set_others(self.others)

    def set_others(self, others: Mapping[str, QWidget]) -> None:
        """Show these widgets after the tiles; their owner hides those that are removed."""
        self.others = dict(others)
        self.pager.set_keys(self._keys, list(self.others))
        self.lay()

    def _best(self, count: int) -> int:
        metrics = self.fontMetrics()
        unit, extra = metrics.averageCharWidth(), metrics.height() * LINES
        narrowest = max(unit * self._letters, min(self._content(), unit * MOST_LETTERS))
        return best_columns(count, self.room.width(), self.room.height(), self._aspect(), extra, narrowest)

    def _large(self, count: int) -> bool:
        """Whether this number of tiles side by side is large enough to be useful."""
        line, size, aspect = self.fontMetrics().height(), (self.room.width(), self.room.height()), self._aspect()
        return shown_height(count, self._best(count), *size, aspect, line * LINES) >= LEAST * line

    def arrange(self) -> None:
        """Lay out again if another number of tiles or columns is better now."""
        before = self.pager.most
        self.pager.set_default_count(self._large)
        if self._keys and (self.pager.most != before or self._best(len(self.pager.visible_keys())) != self.columns):
            self.lay()

    def lay(self) -> None:
        """Place the tiles of the page."""
        self.pager.set_default_count(self._large)
        shown = self.pager.visible_keys()
        self.columns = self._best(len(shown))
        every: dict[str, QWidget] = {**self.tiles, **self.others}
        for key, tile in every.items():
            self._grid.removeWidget(tile)
            tile.setVisible(key in shown)
        for place, key in enumerate(shown):
            self._grid.addWidget(every[key], place // self.columns, place % self.columns)
        rows = -(-len(shown) // self.columns)
        for column in range(self._grid.columnCount()):
            self._grid.setColumnStretch(column, int(column < self.columns))
        for row in range(self._grid.rowCount()):
            self._grid.setRowStretch(row, int(row < rows))

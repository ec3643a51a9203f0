"""The panes of a result: input, variants and difference, side by side or two of them in one place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.models.background import Background
from app.models.display import DIVERGING, Display, StatisticsLike, colors
from app.models.layer import Layer, Tone
from app.models.origin import WHOLE, Origin
from app.models.pyramid import Array, difference
from app.views.image_canvas import ImageCanvas
from app.views.image_pane import ImagePane
from app.views.parts import ElidedLabel, number

Mode = Literal["side by side", "swipe", "flicker"]
MODES: tuple[Mode, ...] = ("side by side", "swipe", "flicker")
MOST = 6
DIFFERENCE = "difference"


def best_columns(
    count: int, width: float, height: float, aspect: float, extra: float = 0.0, narrowest: float = 0.0
) -> int:
    """Columns of a grid of `count` panes in `width` × `height` that show images of `aspect` (width / height) largest;
    `extra` is the height of a pane's texts, `narrowest` the width they need (where possible)."""

    def shown(columns: int) -> float:
        rows = -(-count // columns)
        return min(width / columns / aspect, max(1.0, height / rows - extra))

    possible = [columns for columns in range(1, count + 1) if width / columns >= narrowest] or [1]
    return max(possible, key=lambda columns: (round(shown(columns), 3), -columns))


class PaneGrid(QWidget):
    """Up to six panes by key, all linked to one Display. Panes are made once and reused.

    Side by side shows all; swipe shows two in one place with a divider to move; flicker shows the first, and the
    second while Space (or the button) is held. A tag on the picture names what is shown.
    """

    mode_changed = Signal(str)

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("paneGrid")
        self.display = display
        self.panes: dict[str, ImagePane] = {}
        self.keys: list[str] = []
        self.mode: Mode = "side by side"
        self.columns = 1
        self._spare: list[ImagePane] = []
        self._difference = Background(self)
        self._difference.finished.connect(self._show_difference)
        self._difference.failed.connect(self._fail_difference)
        self._title, self._origin = "", WHOLE
        self.compare = ImageCanvas(display, self)
        self.compare.setObjectName("compareCanvas")
        self._make_bar()
        self._arrange()
        self.set_mode("side by side")
        display.cursor_moved.connect(self._show_values)
        display.navigated.connect(self._show_values)

    def _make_bar(self) -> None:
        self._bar = QWidget(self)
        self._modes = QButtonGroup(self)
        texts = self.tr("Si&de by side"), self.tr("S&wipe"), self.tr("Flic&ker")
        for index, text in enumerate(texts):
            button = QToolButton(self._bar)
            button.setText(text)
            button.setAccessibleName(text.replace("&", ""))
            button.setCheckable(True)
            button.setObjectName(f"mode{index}")
            self._modes.addButton(button, index)
        self._modes.button(1).setToolTip(self.tr("Two results in one picture, with a divider to move"))
        self._modes.button(2).setToolTip(self.tr("One result, and the other while Space is held"))
        self._modes.idClicked.connect(lambda index: self.set_mode(MODES[index]))
        self.first, self.second = QComboBox(self._bar), QComboBox(self._bar)
        self.hold = QToolButton(self._bar)
        self.hold.setText(self.tr("&Other"))
        self.hold.setObjectName("flickerHold")
        self.hold.setToolTip(self.tr("Hold to show the second picture"))
        self.hold.pressed.connect(lambda: self._flicker(True))
        self.hold.released.connect(lambda: self._flicker(False))
        names = (
            (self.first, "compareFirst", self.tr("First picture")),
            (
                self.second,
                "compareSecond",
                self.tr("Second picture"),
            ),
        )
        for box, name, title in names:
            box.setObjectName(name)
            box.setAccessibleName(title)
            box.setToolTip(title)
            box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            box.setMinimumWidth(self.fontMetrics().averageCharWidth() * 10)
            box.activated.connect(self._compare)

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        bar = QHBoxLayout(self._bar)
        bar.setContentsMargins(unit, unit // 2, unit, 0)
        bar.setSpacing(unit // 2)
        for button in self._modes.buttons():
            bar.addWidget(button)
        self._and = QLabel(self.tr("and"), self._bar)
        for widget, stretch in ((self.first, 1), (self._and, 0), (self.second, 1), (self.hold, 0)):
            bar.addWidget(widget, stretch)
        bar.addStretch(0)
        self._grid_page = QWidget(self)
        self._grid = QGridLayout(self._grid_page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(unit)
        compare_page = QWidget(self)
        column = QVBoxLayout(compare_page)
        column.setContentsMargins(0, unit // 2, 0, unit // 2)
        column.setSpacing(unit // 2)
        column.addWidget(self.compare, 1)
        self.values = ElidedLabel(parent=compare_page)
        self.values.setObjectName("compareValues")
        self.values.setContentsMargins(unit, 0, unit, 0)
        column.addWidget(self.values)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self._grid_page)
        self._pages.addWidget(compare_page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(unit // 2)
        layout.addWidget(self._bar)
        layout.addWidget(self._pages, 1)

    def sizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 80, unit * 60)

    # Panes

    def set_panes(self, keys: Sequence[str]) -> None:
        """Show panes with these keys, in this order: known ones keep what they show, new ones are empty."""
        if len(keys) > MOST or len(set(keys)) != len(keys):
            raise ValueError(f"at most {MOST} different panes, not {list(keys)}")
        for gone in [key for key in self.panes if key not in keys]:
            pane = self.panes.pop(gone)
            pane.hide()
            pane.clear()
            pane.set_state(None)
            pane.layer.set_title("")
            pane.layer.set_tone(None)
            self._spare.append(pane)
        for key in keys:
            if key not in self.panes:
                self.panes[key] = self._spare.pop() if self._spare else self._new_pane()
                self.panes[key].setObjectName(f"pane-{key}")
        if DIFFERENCE not in keys:
            self._difference.cancel()
        self.keys = list(keys)
        self._lay()
        self._list_titles()

    def _new_pane(self) -> ImagePane:
        pane = ImagePane(self.display, self._grid_page)
        pane.layer.described.connect(self._list_titles)
        pane.layer.changed.connect(self._relayout)
        return pane

    def pane(self, key: str) -> ImagePane:
        """The pane with this key; it must be one of those set."""
        return self.panes[key]

    def set_array(
        self, key: str, array: Array, statistics: StatisticsLike | None, title: str, origin: Origin = WHOLE
    ) -> None:
        """Show an image in a pane, where it belongs in the input."""
        self.panes[key].set_array(array, statistics, title, origin)

    def set_difference(self, a: str, b: str) -> None:
        """Show a − b of what two panes both have in the pane "difference", worked out away from the thread of the
        window."""
        one, other = self.panes[a].layer, self.panes[b].layer
        if one.pyramid is None or other.pyramid is None:
            return
        first, second, self._origin = _in_common(one, other)
        self._title = self.tr("{a} − {b}").format(a=one.title, b=other.title)
        self._difference.start(lambda stop: _difference(first, second))

    @Slot(object)
    def _show_difference(self, result: tuple[Array, float]) -> None:
        if DIFFERENCE not in self.panes:
            return
        array, most = result
        pane = self.panes[DIFFERENCE]
        pane.layer.set_tone(Tone(-most or -0.5, most or 0.5, colors(DIVERGING)))
        pane.set_array(array, None, self._title, self._origin)
        pane.set_state(None)
        text = self.tr("± {most}, blue below, yellow above") if most else self.tr("no difference")
        pane.overlay = text.format(most=number(float(f"{most:.3g}")))

    @Slot(str)
    def _fail_difference(self, sentence: str) -> None:
        if DIFFERENCE in self.panes:
            pane = self.panes[DIFFERENCE]
            pane.clear()
            pane.overlay = ""
            pane.layer.set_title(self._title)
            pane.set_state("failed", sentence)

    # Layout

    def _aspect(self) -> float:
        shapes = [pane.layer.extent for pane in self.panes.values() if pane.layer.extent]
        return min(8.0, max(1 / 8, shapes[0][1] / shapes[0][0])) if shapes else 1.0

    def _best(self) -> int:
        size = self._pages.size()
        extra, narrowest = self.fontMetrics().height() * 3.5, self.fontMetrics().averageCharWidth() * 30
        return best_columns(len(self.keys), size.width(), size.height(), self._aspect(), extra, narrowest)

    def _relayout(self) -> None:
        if self.keys and self._best() != self.columns:
            self._lay()

    def _lay(self) -> None:
        self.columns = columns = self._best()
        for pane in self.panes.values():
            self._grid.removeWidget(pane)
        for place, key in enumerate(self.keys):
            self._grid.addWidget(self.panes[key], place // columns, place % columns)
            self.panes[key].show()
        rows = -(-len(self.keys) // columns) if self.keys else 0
        for column in range(self._grid.columnCount()):
            self._grid.setColumnStretch(column, int(column < columns))
        for row in range(self._grid.rowCount()):
            self._grid.setRowStretch(row, int(row < rows))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._relayout()

    # Modes

    def set_mode(self, mode: Mode) -> None:
        """One of MODES."""
        if mode not in MODES:
            raise ValueError(f"a mode is one of {', '.join(MODES)}, not {mode}")
        self.mode = mode
        self._modes.button(MODES.index(mode)).setChecked(True)
        for widget in (self.first, self._and, self.second):
            widget.setVisible(mode != "side by side")
        self.hold.setVisible(mode == "flicker")
        self._compare()
        self._pages.setCurrentIndex(int(mode != "side by side"))
        self.mode_changed.emit(mode)

    def set_pair(self, first: str, second: str) -> None:
        """The two panes, by key, that swipe and flicker compare."""
        self.first.setCurrentIndex(self.first.findData(first))
        self.second.setCurrentIndex(self.second.findData(second))
        self._compare()

    def swap_pair(self) -> None:
        """Exchange the two that are compared."""
        first, second = self.first.currentData(), self.second.currentData()
        if first is not None and second is not None:
            self.set_pair(second, first)

    def _list_titles(self) -> None:
        pairs = [(key, self.panes[key].layer.title or key) for key in self.keys if key in self.panes]
        for box, default in ((self.first, 0), (self.second, 1)):
            kept = box.currentData()
            with QSignalBlocker(box):
                box.clear()
                for key, title in pairs:
                    box.addItem(title, key)
                at = box.findData(kept)
                box.setCurrentIndex(at if at >= 0 else min(default, len(pairs) - 1))
        self._compare()

    def _compare(self) -> None:
        """Give the compared layers to the canvas; none while panes stand side by side."""
        chosen = [box.currentData() for box in (self.first, self.second)]
        layers = [self.panes[key].layer for key in chosen if key in self.panes]
        if self.mode == "side by side" or len(layers) < 2:
            layers = []
        if layers != self.compare.layers or self.compare.mode != self.mode:
            self.compare.set_layers(layers, "swipe" if self.mode == "swipe" else "flicker")
        self.compare.setAccessibleName(self.tr("Comparison {names}").format(names=", ".join(x.title for x in layers)))
        self._show_values()

    def _flicker(self, other: bool) -> None:
        self.compare.flickered = other and len(self.compare.layers) > 1
        self.compare.update()
        self.compare.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_values(self) -> None:
        """Both values under the cursor."""
        texts = []
        if self.display.cursor is not None and self.mode != "side by side":
            x, y = self.display.cursor
            for layer in self.compare.layers:
                value = layer.value(x, y)
                if value is not None:
                    words = ", ".join(number(float(v)) if np.isfinite(v) else str(v) for v in value)
                    texts.append(self.tr("{title} {value}").format(title=layer.title, value=words))
            if texts:
                texts.insert(0, self.tr("x {x}, y {y}").format(x=int(x), y=int(y)))
        self.values.setText("   ".join(texts))


def _in_common(one: Layer, other: Layer) -> tuple[Array, Array, Origin]:
    """What both have of one input, and where it lies there; all of them where they are of different inputs."""
    assert one.pyramid is not None and other.pyramid is not None
    both, simulated = one.rect.meet(other.rect), one.origin.simulated or other.origin.simulated
    if one.extent != other.extent or one.rect == other.rect or not both.area:
        return one.pyramid.array, other.pyramid.array, Origin(simulated, one.origin.start, one.origin.whole)
    return one.part(both), other.part(both), Origin(simulated, (both.top, both.left), one.extent or ())


def _difference(a: Array, b: Array) -> tuple[Array, float]:
    """a − b, and the largest finite distance."""
    result = difference(a, b)
    most = 0.0
    for row in np.array_split(result, max(1, result.size >> 20)):
        finite: Any = row[np.isfinite(row)]
        if finite.size:
            most = max(most, abs(float(finite.min())), abs(float(finite.max())))
    return result, most

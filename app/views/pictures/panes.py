"""The panes of an output: input and variants side by side, or two of them, or their difference, in one place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QSizePolicy, QStackedWidget, QToolButton, QWidget

from app.base.tips import set_tip
from app.models.pictures.comparing import MODES, Mode
from app.models.pictures.difference import Difference
from app.models.pictures.display import Display, StatisticsLike
from app.models.pictures.layer import Layer
from app.models.pictures.pyramid import Array
from app.models.results.origin import WHOLE, Origin
from app.views.boxes import in_column
from app.views.folding import Folding
from app.views.labels import named
from app.views.parts import Combo, ElidedLabel, number
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.image_canvas import Mode as CanvasMode
from app.views.pictures.image_pane import ImagePane
from app.views.results.choice_button import ChoiceButton
from app.views.results.pager import Pager
from app.views.results.reading import drawn_text, sized_place, values_text
from app.views.results.tiles import Tiles
from gpu_ops.output_kinds import subtracted


class PaneGrid(QWidget):
    """Panes by key, all linked to one Display, at most six visible at once. Panes are created once and reused.

    Side by side shows a page of panes; swipe shows two in one place with a divider to drag; flicker shows the first,
    and the second while Space (or the button) is held; difference shows the first minus the second. A tag on the
    picture names its content.
    """

    mode_changed = Signal(str)

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("paneGrid")
        self.display = display
        self.keys: list[str] = []
        self.mode: Mode = "side by side"
        self._pair: list[Layer] = []
        self.difference = Difference(self)
        self.compare = named(ImageCanvas(display, self), "compareCanvas")
        self._make_bar()
        self.pager = Pager(self._bar)
        self._arrange()
        self.set_mode("side by side")
        self.difference.changed.connect(self._describe)
        display.cursor_moved.connect(self._show_values)
        display.navigated.connect(self._show_values)

    def _make_bar(self) -> None:
        self._bar = Folding(self)
        self._modes = QButtonGroup(self)
        texts = self.tr("Side by side"), self.tr("Swipe"), self.tr("Flicker"), self.tr("Difference")
        for index, text in enumerate(texts):
            button = named(ChoiceButton(self._bar), f"mode{index}", title=text.replace("&", ""))
            button.setText(text)
            self._modes.addButton(button, index)
        self._modes.button(1).setToolTip(self.tr("Two results in one picture, with a divider to drag"))
        self._modes.button(2).setToolTip(self.tr("One result, and the other while Space is held"))
        self._modes.button(3).setToolTip(self.tr("The first picture minus the second, with colours for the sign"))
        self._modes.idClicked.connect(lambda index: self.set_mode(MODES[index]))
        self.first, self.second = Combo(self._bar), Combo(self._bar)
        self.hold = named(QToolButton(self._bar), "flickerHold", tip=self.tr("Hold to show the second picture"))
        self.hold.setText(self.tr("Other"))
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
            set_tip(box, title)
            box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            box.setMinimumWidth(self.fontMetrics().averageCharWidth() * 10)
            box.activated.connect(self._choose_pair)

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        bar, pair = self._bar.one, self._bar.two
        self._bar.set_space((unit, unit // 2, unit, 0), unit // 2)
        for button in self._modes.buttons():
            bar.addWidget(button)
        self._and = QLabel(self.tr("and"), self._bar)
        for widget, stretch in ((self.first, 1), (self._and, 0), (self.second, 1), (self.hold, 0)):
            pair.addWidget(widget, stretch)
        bar.addStretch(0)
        bar.addWidget(self.pager)
        self._tiles = Tiles[ImagePane](self._new_pane, _cleared, self.pager, self._aspect, 24, self)
        self.panes = self._tiles.tiles
        self._compare_page = QWidget(self)
        column = in_column(
            (self.compare, 1), on=self._compare_page, margins=(0, unit // 2, 0, unit // 2), gap=unit // 2
        )
        self.values = named(ElidedLabel(parent=self._compare_page), "compareValues")
        self.values.setContentsMargins(unit, 0, unit, 0)
        column.addWidget(self.values)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self._tiles)
        self._pages.addWidget(self._compare_page)
        in_column(self._bar, (self._pages, 1), on=self, gap=unit // 2)

    def set_choosing(self, choosing: bool) -> None:
        """Show or hide the controls for comparisons."""
        self._bar.setVisible(choosing)

    @property
    def sheet(self) -> QWidget:
        """The pictures without the controls, all of them where they scroll."""
        return self._compare_page if self._pages.currentIndex() else self._tiles.sheet

    def sizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 80, unit * 60)

    # Panes

    def set_panes(self, keys: Sequence[str]) -> None:
        """Show panes with these keys, in this order: known ones keep their content, new ones are empty."""
        if len(set(keys)) != len(keys):
            raise ValueError(f"the keys of panes must differ, unlike {list(keys)}")
        self.keys = list(keys)
        self._tiles.set_keys(keys, "pane")
        self._list_titles()

    def _new_pane(self, parent: QWidget) -> ImagePane:
        pane = ImagePane(self.display, parent)
        pane.layer.described.connect(self._list_titles)
        pane.layer.changed.connect(lambda: self._tiles.arrange())
        return pane

    def pane(self, key: str) -> ImagePane:
        """The pane with this key, one of those in `set_panes`."""
        return self.panes[key]

    def _unit(self) -> str:
        """The unit of the compared values."""
        drawn = self._pair[0].drawn
        return drawn.unit if drawn is not None else ""

    def set_array(
        self, key: str, array: Array, statistics: StatisticsLike | None, title: str, origin: Origin = WHOLE
    ) -> None:
        """Show an image in a pane, at its place in the input."""
        self.panes[key].set_array(array, statistics, title, origin)

    # Layout

    def _aspect(self) -> float:
        shapes = [pane.layer.extent for pane in self.panes.values() if pane.layer.extent]
        return min(8.0, max(1 / 8, shapes[0][1] / shapes[0][0])) if shapes else 1.0

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
        self.pager.set_wanted(mode == "side by side")
        self._and.setText(self.tr("minus") if mode == "difference" else self.tr("and"))
        self._compare()
        self._pages.setCurrentIndex(int(mode != "side by side"))
        self.mode_changed.emit(mode)

    def set_pair(self, first: str, second: str) -> None:
        """Choose the two panes to compare, by key."""
        self.first.setCurrentIndex(self.first.findData(first))
        self.second.setCurrentIndex(self.second.findData(second))
        self._compare()

    def _choose_pair(self) -> None:
        self._compare()
        self.mode_changed.emit(self.mode)

    def swap_pair(self) -> None:
        """Swap the two compared panes."""
        first, second = self.first.currentData(), self.second.currentData()
        if first is not None and second is not None:
            self.set_pair(second, first)

    def _list_titles(self) -> None:
        pairs = [(key, self.panes[key].layer.title or key) for key in self.keys if key in self.panes]
        for box, default in ((self.first, 0), (self.second, 1)):
            selected = box.currentData()
            with QSignalBlocker(box):
                box.clear()
                for key, title in pairs:
                    box.addItem(title, key)
                at = box.findData(selected)
                box.setCurrentIndex(at if at >= 0 else min(default, len(pairs) - 1))
        self._compare()

    def _compare(self) -> None:
        """Give the compared layers to the canvas; none in side-by-side mode."""
        chosen = [box.currentData() for box in (self.first, self.second)]
        pair = [self.panes[key].layer for key in chosen if key in self.panes]
        self._pair = pair if self.mode != "side by side" and len(pair) == 2 else []
        subtracted = self.mode == "difference"
        self.difference.of(self._pair if subtracted else [])
        layers = [self.difference.layer] if subtracted and self._pair else self._pair
        mode: CanvasMode = "swipe" if self.mode == "swipe" else "single" if subtracted else "flicker"
        if (layers, mode) != (self.compare.layers, self.compare.mode):
            self.compare.set_layers(layers, mode)
        self._describe()
        self._show_values()

    def _describe(self) -> None:
        """Describe the comparison and the size of a difference."""
        name = self.tr("Comparison {names}").format(names=", ".join(layer.title for layer in self._pair))
        lines: list[str] = []
        missing, tone = "", None
        if self.mode == "difference" and self._pair:
            distance, layer = self.difference.distance, self.difference.layer
            lines = [layer.title, self._extent_text(), "" if layer.current else self.tr("of an earlier setting")]
            name = ", ".join(line for line in lines if line)
            tone = layer.tone if distance is not None and distance.most and not self.difference.labels else None
            if distance is None and all(one.pyramid is not None for one in self._pair):
                missing = self.difference.failure or self.tr("Computing the difference…")
        self.compare.setAccessibleName(name)
        self.compare.set_notes("\n".join(line for line in lines if line), missing, tone)

    def _extent_text(self) -> str:
        """The largest difference in words; empty while it is unknown."""
        distance = self.difference.distance
        if distance is None:
            return ""
        if distance.equal:
            return self.tr("the pictures are equal")
        count = number(distance.undefined)
        if not distance.most:
            return self.tr("equal except for {count} non-finite pixels").format(count=count)
        if self.difference.labels:
            return self.tr("yellow where the labels differ")
        level, text = self.difference.display.high, self.tr("± {most}, blue below, yellow above")
        if level != distance.most:
            text = self.tr("up to ± {most}; full colour at ± {level}, blue below, yellow above")
        text = text.format(most=number(distance.most), level=number(float(f"{level:.3g}")))
        if distance.undefined:
            text = self.tr("{range}; {count} non-finite pixels").format(range=text, count=count)
        return text

    def _flicker(self, other: bool) -> None:
        self.compare.flickered = other and len(self.compare.layers) > 1
        self.compare.update()
        self.compare.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_values(self) -> None:
        """Show both values under the cursor, and their difference in difference mode."""
        texts: list[str] = []
        if self.display.cursor is not None and self.mode != "side by side":
            x, y = self.display.cursor
            shown = [(layer, value) for layer in self._pair if (value := layer.value(x, y)) is not None]
            words = [(layer.title, drawn_text(layer.drawn, value)) for layer, value in shown]
            if self.mode == "difference" and len(shown) == 2 and shown[0][1].shape == shown[1][1].shape:
                one, other = (np.atleast_1d(layer.compared[layer.pixel(x, y)]) for layer, _ in shown)
                difference = subtracted(one, other)
                if not self.difference.labels:
                    words.append((self.tr("difference"), values_text(difference, self._unit())))
            if words:
                texts = [sized_place(self._pair[0], x, y, self.display.pixel)]
            texts += [self.tr("{title}: {value}").format(title=title, value=value) for title, value in words]
        self.values.setText("   ".join(texts))


def _cleared(pane: ImagePane) -> None:
    """Release all that a pane shows."""
    pane.clear()
    pane.layer.set_title("")
    pane.layer.set_tone(None)

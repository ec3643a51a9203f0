"""The panes of an output: input and variants side by side, or two of them, or their difference, in one pane."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.models.experiment.differences import DifferenceOf
from app.models.pictures.agreement import Agreement
from app.models.pictures.comparing import MODES, Mode
from app.models.pictures.difference import Difference
from app.models.pictures.difference_style import DifferenceStyle
from app.models.pictures.display import Display, StatisticsLike
from app.models.pictures.layer import Layer
from app.models.pictures.pyramid import Array
from app.models.results.origin import WHOLE, Origin
from app.views.boxes import in_column
from app.views.comparing.agreement_bar import AgreementLabel, AgreementLimits
from app.views.comparing.compare_bar import CompareBar
from app.views.comparing.difference_bar import DifferenceBar
from app.views.comparing.difference_pane import (
    DifferencePane,
    count_text,
    largest_text,
    missing_text,
    range_text,
    scale_of,
)
from app.views.flow import FlowLayout
from app.views.labels import named
from app.views.parts import ElidedLabel
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.image_canvas import Mode as CanvasMode
from app.views.pictures.image_pane import ImagePane
from app.views.results.reading import drawn_text, sized_place, values_text
from app.views.results.tiles import Tiles

ROOMY = 36
"""The window height, in text lines, from which on the options of a comparison are shown initially."""


class PaneGrid(QWidget):
    """Panes by key, all linked to one Display, at most six visible at once. Panes are created once and reused.

    Side by side shows a page of panes; swipe shows two in one pane with a draggable divider; flicker shows the first,
    and the second while Space (or the button) is held; difference shows the first minus the second. A tag on the
    picture names its content. Kept differences have their own panes after the others.

    `close_asked(difference)`: the user wants a kept difference no longer; `pane_made(pane)`: there is a new pane.
    `levelled(difference, level)`: levels of a kept difference were set by hand, or with None follow the look again.
    """

    mode_changed = Signal(str)
    close_asked = Signal(object)
    levelled = Signal(object, object)
    pane_made = Signal(object)

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("paneGrid")
        self.display = display
        self.keys: list[str] = []
        self.differences: dict[DifferenceOf, DifferencePane] = {}
        self.mode: Mode = "side by side"
        self._choosing, self._alone = True, False
        self._spare_differences: list[DifferencePane] = []
        self._pair: list[Layer] = []
        self.differing = DifferenceStyle(self)
        self.difference = Difference(self.differing, self)
        self.agreement = Agreement(self)
        self.compare = named(ImageCanvas(display, self), "compareCanvas")
        self.bar, self.styles = CompareBar(self), DifferenceBar(self.differing, self)
        self.limits = AgreementLimits(self.agreement, self)
        self.pager = self.bar.pager
        self.pager.title_of = lambda key: self.every[key].layer.title
        self.first, self.second, self.hold, self._modes = self.bar.first, self.bar.second, self.bar.hold, self.bar.modes
        self.bar.mode_chosen.connect(self.set_mode)
        self.bar.pair_chosen.connect(self._choose_pair)
        self.bar.held.connect(self.flicker)
        self.bar.level.toggled.connect(lambda level: self.compare.set_upright(not level))
        self._arrange()
        self.bar.options.toggled.connect(self._show_controls)
        self.set_mode("side by side")
        for show in (self._describe, self._show_values):
            self.difference.changed.connect(show)
        display.cursor_moved.connect(self._show_values)
        display.navigated.connect(self._show_values)

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        self._tiles = Tiles[ImagePane](self._new_pane, _cleared, self.pager, self._aspect, 24, self)
        self.panes = self._tiles.tiles
        self._compare_page = QWidget(self)
        column = in_column(
            (self.compare, 1), on=self._compare_page, margins=(0, unit // 2, 0, unit // 2), gap=unit // 2
        )
        self.values = named(ElidedLabel(parent=self._compare_page), "compareValues")
        self.values.setContentsMargins(unit, 0, unit, 0)
        column.addWidget(self.values)
        column.addWidget(AgreementLabel(self.agreement, self._compare_page))
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self._tiles)
        self._pages.addWidget(self._compare_page)
        self._options = QWidget(self)
        row = FlowLayout(self._options, gap=2 * unit)
        row.setContentsMargins(unit, 0, unit, 0)
        for widget in (self.styles, self.limits):
            row.addWidget(widget)
        in_column(self.bar, self._options, (self._pages, 1), on=self, gap=unit // 2)

    def set_choosing(self, choosing: bool) -> None:
        """Show or hide the controls for comparisons."""
        self._choosing = choosing
        self._show_controls()

    @Slot()
    def _show_controls(self) -> None:
        """Show the controls that apply to what is visible."""
        wanted, pairs = self._choosing and not self._alone, self.mode != "side by side"
        differs = self.mode == "difference" or (not pairs and bool(self.differences))
        self.bar.setVisible(wanted)
        self.bar.options.setVisible(pairs or differs)
        self.styles.setVisible(differs)
        self.limits.setVisible(pairs)
        self._options.setVisible(wanted and (pairs or differs) and self.bar.options.isChecked())

    @property
    def alone(self) -> str:
        """The key of the only visible pane, or of two in one pane that of the first."""
        return self.pager.alone if self.mode == "side by side" else self.first.currentData() or ""

    def show_alone(self, key: str) -> None:
        """Show only this pane and no controls, or of two in one pane as the first; "" shows all again."""
        self._alone = bool(key)
        self._show_controls()
        if self.mode == "side by side":
            self.pager.show_alone(key)
        elif key:
            self.set_pair(key, self.second.currentData())

    @property
    def sheet(self) -> QWidget:
        """The pictures without the controls, including those outside the scroll area."""
        return self._compare_page if self._pages.currentIndex() else self._tiles.sheet

    def sizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 80, unit * 60)

    # Panes

    def set_panes(self, keys: Sequence[str]) -> None:
        """Show panes with these keys, in this order: known ones keep their content, new ones are empty."""
        if len(set(keys)) != len(keys):
            raise ValueError(f"the keys of panes must differ, unlike {list(keys)}")
        self.set_differences([kept for kept in self.differences if kept.among(keys)])
        self.keys = list(keys)
        self._tiles.set_keys(keys, "pane")
        self._list_titles()

    def set_differences(self, differences: Sequence[DifferenceOf]) -> bool:
        """Show these differences of panes, in this order; known ones keep their content. Returns whether the
        differences changed."""
        if list(differences) == list(self.differences):
            return False
        before = self.differences
        for gone in [kept for kept in before if kept not in differences]:
            pane = before.pop(gone)
            pane.hide()
            pane.difference.of([])
            self._spare_differences.append(pane)
        self.differences = {kept: before.get(kept) or self._difference_pane(kept) for kept in differences}
        self._tiles.set_others({kept.key: pane for kept, pane in self.differences.items()})
        self._show_controls()
        return True

    def _difference_pane(self, kept: DifferenceOf) -> DifferencePane:
        pane = self._spare_differences.pop() if self._spare_differences else self._new_difference_pane()
        pane.setObjectName(f"pane-{kept.key}")
        pane.difference.set_hand(None)
        pane.difference.of([self.panes[kept.first].layer, self.panes[kept.second].layer])
        return pane

    def _new_difference_pane(self) -> DifferencePane:
        pane = DifferencePane(self.display, self.differing, self._tiles.sheet)
        pane.close_asked.connect(lambda: self.close_asked.emit(self._kept(pane)))
        pane.difference.levelled.connect(lambda level: self.levelled.emit(self._kept(pane), level))
        self.pane_made.emit(pane)
        return pane

    def _kept(self, pane: DifferencePane) -> DifferenceOf:
        return next(kept for kept, own in self.differences.items() if own is pane)

    @property
    def computing(self) -> bool:
        """Whether a difference, or its statistics, are being computed."""
        return (
            self.difference.busy
            or self.agreement.busy
            or any(pane.difference.busy for pane in self.differences.values())
        )

    @property
    def every(self) -> dict[str, ImagePane]:
        """All panes by key, the differences last."""
        return {**self.panes, **{kept.key: pane for kept, pane in self.differences.items()}}

    def _new_pane(self, parent: QWidget) -> ImagePane:
        pane = ImagePane(self.display, parent)
        pane.layer.described.connect(self._list_titles)
        pane.layer.changed.connect(lambda: self._tiles.arrange())
        self.pane_made.emit(pane)
        return pane

    def pane(self, key: str) -> ImagePane:
        """The pane with this key, from `set_panes` or of a difference."""
        return self.panes[key] if key in self.panes else self.every[key]

    def set_array(
        self, key: str, array: Array, statistics: StatisticsLike | None, title: str, origin: Origin = WHOLE
    ) -> None:
        """Show an image in a pane, at its position in the input."""
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
        if self.mode == "side by side" != mode:  # later it is as the user sets it
            lines = self.window().height() / self.fontMetrics().height()
            self.bar.options.setChecked(self.bar.options.isChecked() or lines > ROOMY)
        self.mode = mode
        self.bar.show_mode(mode)
        self._show_controls()
        self._compare()
        self._pages.setCurrentIndex(int(mode != "side by side"))
        self.mode_changed.emit(mode)

    def set_pair(self, first: str, second: str) -> None:
        """Choose the two panes to compare, by key."""
        self.first.setCurrentIndex(self.first.findData(first))
        self.second.setCurrentIndex(self.second.findData(second))
        self._choose_pair()

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
        self.bar.list_pairs(pairs)
        self._compare()

    def _compare(self) -> None:
        """Pass the compared layers to the canvas; none in side-by-side mode."""
        chosen = [box.currentData() for box in (self.first, self.second)]
        pair = [self.panes[key].layer for key in chosen if key in self.panes]
        self._pair = pair if self.mode != "side by side" and len(pair) == 2 else []
        subtracted = self.mode == "difference"
        self.difference.of(self._pair if subtracted else [])
        self.agreement.of(self._pair)
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
            difference, layer = self.difference, self.difference.layer
            texts = dict.fromkeys(text(difference) for text in (largest_text, count_text, range_text))
            lines = [layer.title, *texts, "" if layer.current else self.tr("of an earlier setting")]
            name = ", ".join(line for line in lines if line)
            missing, tone = missing_text(difference), scale_of(difference)
        self.compare.setAccessibleName(name)
        self.compare.set_notes("\n".join(line for line in lines if line), missing, tone)

    def flicker(self, other: bool) -> None:
        """Show the second of two pictures in one pane, or the first again."""
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
            difference = self.difference.value(x, y) if self.mode == "difference" else None
            if difference is not None and not self.difference.labels:
                words.append((self.tr("difference"), values_text(difference, self.difference.unit)))
            if words:
                texts = [sized_place(self._pair[0], x, y, self.display.pixel)]
            texts += [self.tr("{title}: {value}").format(title=title, value=value) for title, value in words]
        self.values.setText("   ".join(texts))


def _cleared(pane: ImagePane) -> None:
    """Release everything that a pane shows."""
    pane.clear()
    pane.layer.set_title("")
    pane.layer.set_tone(None)

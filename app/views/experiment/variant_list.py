"""The variants of a filter as a tick list, with the knobs of the selected one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QKeyEvent, QPalette
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QMenu, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from app.base.nesting import bounded
from app.base.theme import boxes
from app.models.search import matches
from app.views.boxes import in_column, in_row
from app.views.experiment.form import ParameterForm
from app.views.experiment.variant_row import VariantRow
from app.views.keys import letter
from app.views.labels import named, sentence_label
from app.views.parts import Combo
from app.views.upright import Upright
from gpu_ops import KernelscopeError
from gpu_ops.params import Value
from gpu_ops.types import REFERENCE, Filter, Variant

LEAST = 10
"""The lines of the list that are visible however low the window is: three variants with their ideas."""


class _Line(QLineEdit):
    left = Signal()

    @bounded
    def event(self, event: QEvent) -> bool:
        """Let Esc close the search before it cancels a run."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.KeyPress:
                self.left.emit()
            event.accept()
            return True
        return super().event(event)


class RowFinder(QWidget):
    """Hidden until the user searches; Esc shows all rows again. `typed(text)`: the search text changed."""

    typed = Signal(str)

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = _Line(self)
        self.line.setPlaceholderText(title)
        self.line.setAccessibleName(title)
        self.line.setClearButtonEnabled(True)
        self._nothing = sentence_label("nothing", self)
        self._nothing.hide()
        in_column(self.line, self._nothing, on=self)
        self.line.textChanged.connect(self.typed)
        self.line.left.connect(self.leave)
        self.hide()

    def present(self) -> None:
        """Start a search."""
        self.show()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    def leave(self) -> None:
        """End the search."""
        self.line.clear()
        self.hide()

    def show_count(self, count: int) -> None:
        """Take the number of matching rows."""
        self._nothing.setText(self.tr("Nothing matches “{typed}”.").format(typed=self.line.text().strip()))
        self._nothing.setVisible(not count)


class VariantList(QWidget):
    """Ticks for a filter's variants, the baseline of speed-ups, and the knobs of the selected variant."""

    picks_changed = Signal(object)
    knobs_changed = Signal(str, object)
    baseline_changed = Signal(str)
    selection_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("variant_list")
        self._rows: dict[str, VariantRow] = {}
        self._forms: dict[str, ParameterForm] = {}
        self._baseline = ""
        self._selected = ""
        self._state: tuple[str, Mapping[str, str], Set[str]] | None = None
        self._taken: Set[str] = frozenset()
        self._build_baseline()
        self._build_list()
        self.finder = RowFinder(self.tr("Find a variant"), self)
        self.finder.typed.connect(self._find)
        self._knob_title = named(QLabel(self), "knob_title")
        self._knob_title.setWordWrap(True)
        self.knobs_stack = named(QStackedWidget(self), "knobs")
        self.knobs_stack.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        in_column(self._top, self.finder, (self._scroll, 1), self._knob_title, self.knobs_stack, on=self)

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        """No: a column gives widgets that have it all the height they ask for, at the expense of the others; this one
        scrolls."""
        return False

    def _build_baseline(self) -> None:
        label = QLabel(self.tr("Speed-&ups relative to:"), self)
        self.baseline_combo = named(Combo(self), "baseline", title=self.tr("Baseline of speed-ups"))
        self.baseline_combo.set_letters(8)
        self.baseline_combo.activated.connect(lambda place: self._choose(self.baseline_combo.itemData(place)))
        label.setBuddy(self.baseline_combo)
        self.letters = {letter(label.text())}
        self._top = in_row(label, (self.baseline_combo, 1))
        # One menu for all rows: a new menu for each click would never be freed.
        self.menu = QMenu(self)
        self.menu.setStyle(boxes())
        self.baseline_action = QAction(self.tr("&Use as the baseline of speed-ups"), self)
        self.baseline_action.triggered.connect(lambda: self._choose(self._selected))
        self.only_action = QAction(self.tr("Tick &only this"), self)
        self.only_action.triggered.connect(lambda: self._tick_all({self._selected}))
        self.all_action = QAction(self.tr("Tick &all available"), self)
        self.all_action.triggered.connect(lambda: self._tick_all(set(self._rows) - {REFERENCE}))
        self.menu.addActions([self.baseline_action, self.only_action, self.all_action])

    def _build_list(self) -> None:
        self._scroll = named(Upright(self), "variants", title=self.tr("Variants"))
        self._scroll.setFrameShape(QFrame.Shape.StyledPanel)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setMinimumHeight(LEAST * self.fontMetrics().height())
        self._scroll.viewport().setBackgroundRole(QPalette.ColorRole.Base)

    # Set by the window

    def set_filter(self, filter: Filter, availability: Mapping[str, str], taken: Set[str] = frozenset()) -> None:
        """Show a filter's variants. `availability` gives the reason why a variant cannot run, or ""; letters that are
        `taken` are not used as mnemonics of knobs.

        Ticks, knobs and baseline stay where the same ids are shown again.
        """
        state = filter.id, dict(availability), frozenset(taken)
        if state == self._state:  # another input of the same kind changes nothing in the list
            return
        before, self._state = self._state, state
        picks = set(self.picks())
        if before is not None and (before[0], before[2]) == (state[0], state[2]):
            self._set_reasons(availability, picks)
            return
        knobs = {id: form.values() for id, form in self._forms.items()}
        selected, baseline = self._selected, self._baseline
        self._clear()
        self._taken = taken
        inner = QWidget()
        inner.setBackgroundRole(QPalette.ColorRole.Base)
        inner.setAutoFillBackground(True)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._scroll.setWidget(inner)
        for variant in filter.all_variants:
            self._add(variant, availability.get(variant.id, ""), column, knobs.get(variant.id, {}))
        column.addStretch(1)
        ids = list(self._rows)
        self.set_picks(picks)
        self.set_baseline(baseline if baseline in ids else (ids[0] if ids else ""))
        self._select(selected if selected in ids else (ids[0] if ids else ""))

    def _set_reasons(self, availability: Mapping[str, str], picks: Set[str]) -> None:
        """Another device: the same rows can or cannot run."""
        for id, row in self._rows.items():
            row.set_reason(availability.get(id, ""))
        self.set_picks(picks)
        self.set_baseline(self._baseline)

    def _clear(self) -> None:
        self.finder.leave()
        self._rows.clear()
        self.baseline_combo.clear()
        for form in self._forms.values():
            self.knobs_stack.removeWidget(form)
            form.deleteLater()
        self._forms.clear()
        self._selected = ""

    def _add(self, variant: Variant, reason: str, column: QVBoxLayout, knobs: Mapping[str, Any]) -> None:
        row = VariantRow(variant, reason, self._scroll.widget())
        row.ticked.connect(self._emit_picks)
        row.selected.connect(self._select)
        row.move_wanted.connect(self._move)
        column.addWidget(row)
        self._rows[variant.id] = row
        if variant.id != REFERENCE:
            self.baseline_combo.addItem(variant.title, variant.id)
        if variant.knobs:
            form = named(ParameterForm(variant.knobs, self.knobs_stack, taken=self._taken), f"knobs.{variant.id}")
            form.set_values({k: v for k, v in knobs.items() if _fits(variant, k, v)})
            form.changed.connect(lambda values, id=variant.id: self.knobs_changed.emit(id, values))
            self._forms[variant.id] = form
            self.knobs_stack.addWidget(form)

    def set_picks(self, ids: Iterable[str]) -> None:
        """Tick these, without a signal; unavailable variants stay unticked."""
        wanted = set(ids)
        for id, row in self._rows.items():
            row.tick.blockSignals(True)
            row.tick.setChecked(id in wanted and not row.reason_text)
            row.tick.blockSignals(False)

    def set_baseline(self, id: str) -> None:
        """Set the baseline of speed-ups, without a signal."""
        self._baseline = id
        self.baseline_combo.setCurrentIndex(self.baseline_combo.findData(id))
        for name, row in self._rows.items():
            row.set_marks(name == id)

    def set_knobs(self, id: str, values: Mapping[str, Any]) -> None:
        """Show these knobs of a variant, without a signal. Raises ParamError for a value it does not allow."""
        if id in self._forms:
            self._forms[id].set_values(values)

    # Present state

    def picks(self) -> tuple[str, ...]:
        """The ticked variants, in the filter's order."""
        return tuple(id for id, row in self._rows.items() if row.tick.isChecked())

    def baseline(self) -> str:
        return self._baseline

    def selected(self) -> str:
        return self._selected

    def knobs(self, id: str) -> dict[str, Value]:
        """The visible knobs of a variant."""
        return self._forms[id].values() if id in self._forms else {}

    @property
    def knob_letters(self) -> set[str]:
        """The mnemonics of the visible knobs."""
        return set(self._forms[self._selected].letters) if self._selected in self._forms else set()

    def row(self, id: str) -> VariantRow:
        return self._rows[id]

    # User actions

    def _emit_picks(self) -> None:
        self.picks_changed.emit(self.picks())

    def _choose(self, id: str) -> None:
        if id and id != self._baseline:
            self.set_baseline(id)
            self.baseline_changed.emit(id)

    def _tick_all(self, ids: set[str]) -> None:
        before = self.picks()
        self.set_picks(ids)
        if self.picks() != before:
            self._emit_picks()

    def _find(self, typed: str) -> None:
        rows = list(self._rows.values())
        fitting = matches(typed, rows, lambda r: r.variant.title, lambda r: f"{r.variant.id} {r.variant.idea}")
        for row in rows:
            row.setVisible(row in fitting)
        self.finder.show_count(len(fitting))

    def _move(self, step: int) -> None:
        ids = [id for id, row in self._rows.items() if not row.isHidden() or id == self._selected]
        place = ids.index(self._selected) + step
        if 0 <= place < len(ids):
            self._rows[ids[place]].take_focus()
            self._scroll.ensureWidgetVisible(self._rows[ids[place]])

    def _select(self, id: str) -> None:
        if id == self._selected:
            return
        self._selected = id
        for name, row in self._rows.items():
            row.set_selected(name == id)
        form = self._forms.get(id)
        self.knobs_stack.setVisible(form is not None)
        if form is not None:
            self.knobs_stack.setCurrentWidget(form)
        text = self.tr("Knobs of {variant}") if form else self.tr("{variant} has no knobs")
        self._knob_title.setText(text.format(variant=self._rows[id].variant.title) if id else "")
        self.selection_changed.emit(id)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        if self._selected:
            self.baseline_action.setEnabled(self._selected not in (self._baseline, REFERENCE))
            self.only_action.setEnabled(not self._rows[self._selected].reason_text)
            self.menu.popup(event.globalPos())


def _fits(variant: Variant, name: str, value: Any) -> bool:
    """Whether a knob's value is still valid after the filter changed."""
    for knob in variant.knobs:
        if knob.name == name:
            try:
                knob.check(value)
            except KernelscopeError:
                return False
            return True
    return False

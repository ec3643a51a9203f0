"""The dialog that asks how a file is read: its content, a field for each choice, and the resulting table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from html import escape
from pathlib import PurePath

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtWidgets import QAbstractSpinBox, QDialog, QDialogButtonBox, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, inked
from app.controllers.importing import ImportController
from app.models.files.importing import (
    Question,
    chosen_columns,
    column_names,
    pickable,
    row_choice,
    toggled,
    values_words,
)
from app.views.boxes import in_column, in_row
from app.views.dialogs.import_table import ImportTable
from app.views.experiment.editors import ChoiceEditor, TextEditor
from app.views.experiment.form import ParameterForm
from app.views.labels import named, sentence_label
from app.views.parts import ElidedLabel, TickBox
from app.views.upright import Upright
from gpu_ops.io.opening import COLUMNS, MEMBER, Survey
from gpu_ops.params import Param, Value

AUTOMATIC: tuple[Value, ...] = ("auto", -1)
"""Values of choices that leave the decision to the reader."""
FACT_LINES = 9


class ImportDialog(QDialog):
    """Shows the question of an ImportController and passes the answers on. It blocks the window, and never the
    engine."""

    def __init__(self, importing: ImportController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("importDialog")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._importing = importing
        self._question: Question | None = None
        self._fields: tuple[Param, ...] = ()
        self._refused: tuple[str, ...] = ()
        self.form: ParameterForm | None = None
        self._make_parts()
        self._arrange()
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.table.clicked_place.connect(self._pick)
        importing.asked.connect(self.ask)
        importing.surveyed.connect(self.show_question)
        importing.refused.connect(self._show_reason)
        importing.closed.connect(self.hide)

    def _make_parts(self) -> None:
        self.name = ElidedLabel(parent=self, keep=".")  # the suffix
        font = self.name.font()
        font.setBold(True)
        self.name.setFont(font)
        self.what = QLabel(self)
        self.what.setWordWrap(True)
        self.facts = named(QLabel(self), "importFacts")
        self.facts.setWordWrap(True)
        self.facts.setTextFormat(Qt.TextFormat.RichText)
        self.facts.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._scroll = Upright(self)
        self._scroll.setWidget(self.facts)
        self._scroll.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.hint, self.found, self.reason = (
            sentence_label(f"import{name}", self) for name in ("Hint", "Found", "Reason")
        )
        self.table = ImportTable(self)
        self.remember = TickBox(self.tr("Read &files like this one so from now on, and do not ask"), self)
        self.remember.setObjectName("importRemember")
        buttons = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(buttons.Open | buttons.Cancel, self)
        self.open_button = self.buttons.button(buttons.Open)
        self.open_button.setDefault(True)
        self._colour()

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        self._form_column = QVBoxLayout()
        self._form_column.addStretch(1)
        self._top = in_row((self._form_column, 1), (self._scroll, 1), gap=4 * unit)
        above, below = (self.name, self.what, self._top, self.found, self.hint), (self.reason, self.remember)
        in_column(*above, (self.table, 1), *below, self.buttons, on=self, margins=2 * unit, gap=unit)

    # What is shown

    @Slot(object)
    def ask(self, question: Question) -> None:
        """Show a question, which is new or about another file."""
        self._clear_form()
        self._refused = ()
        self.setWindowTitle(self.tr("Open {name}").format(name=PurePath(question.path).name))
        self.name.setText(PurePath(question.path).name)
        self.remember.setChecked(question.remembered or question.survey.asks)
        self.show_question(question)
        wide = self.fontMetrics().averageCharWidth() * (104 if question.survey.heading else 84)
        layout = self.layout()
        assert layout is not None
        layout.activate()  # otherwise it keeps the height of the previous file
        self.resize(wide, 0)
        self._fit()
        self.open()
        first = self._first_field()
        (self.open_button if first is None else first).setFocus()

    @Slot(object)
    def show_question(self, question: Question) -> None:
        """Show how the file reads with the present choices."""
        self._question, survey = question, question.survey
        self._show_reason("")
        self._show_facts(survey.facts)
        if question.fields != self._fields:
            self._build_form(question)
        self._show_found(survey.found)
        self.remember.setVisible(bool(question.fields))
        self.what.setText(self._words(question))
        self._show_table(survey, {param.name for param in question.fields})
        if self.isVisible():
            self._fit()

    def _fit(self) -> None:
        """Grow until everything fits: a layout with wrapped lines does not resize its window."""
        layout = self.layout()
        assert layout is not None
        layout.activate()
        needed = max(layout.totalHeightForWidth(self.width()), layout.totalSizeHint().height())
        if self.height() < needed:
            self.resize(self.width(), needed)

    def _show_table(self, survey: Survey, choices: Set[str]) -> None:
        """Show the rows of the survey; some can be chosen by a click."""
        by = row_choice(survey)
        places: Sequence[int] = ()
        if (by or COLUMNS.name) in choices:
            places = range(len(survey.rows)) if by else pickable(survey)
        self.table.show_rows(survey.heading, survey.rows, places, bool(by))
        self.table.setVisible(bool(survey.heading or survey.rows))
        self._mark_columns()
        hints = {
            "": self.tr("Click headings to choose their columns. Without a choice those that were found are used."),
            COLUMNS.name: self.tr(
                "Click rows to choose their channels. Without a choice those that were found are used."
            ),
            MEMBER.name: self.tr("Click a row to choose its array."),
        }
        self.hint.setText(hints[by])
        self.hint.setVisible(bool(places))

    def _words(self, question: Question) -> str:
        """What the file is, and what can be chosen about it."""
        title = question.survey.title[:1].upper() + question.survey.title[1:]
        if not question.fields:
            return self.tr("{title}. There is nothing to choose.").format(title=title)
        if question.survey.asks:
            return self.tr("{title}. Choose how to read it.").format(title=title)
        return self.tr("{title}. It can be opened as it is.").format(title=title)

    def _show_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """A table of names and values in one label, because a grid of labels misjudges its height."""
        muted, gap = colours_of(self.palette()).muted.name(), 2 * self.fontMetrics().averageCharWidth()
        cell = '<tr><td style="color: {colour}; padding-right: {gap}px">{name}</td><td>{value}</td></tr>'
        rows = (cell.format(colour=muted, gap=gap, name=escape(n), value=escape(v)) for n, v in facts)
        self.facts.setText(f"<table>{''.join(rows)}</table>" if facts else "")
        self._scroll.setVisible(bool(facts))
        line = self.fontMetrics().height() * 5 // 4
        self._scroll.setMinimumHeight(line * min(max(len(facts), 1), FACT_LINES))

    def _build_form(self, question: Question) -> None:
        """Create fields where the choices or their allowed values differ; values that are still allowed stay."""
        self._clear_form()
        self._fields = question.fields
        self.form = ParameterForm(self._fields, self, reset_button=False, taken={"f", "o", "c"})
        values = question.values
        fitting = {p.name: values[p.name] for p in self._fields if p.name in values and _holds(p, values[p.name])}
        self.form.set_values(fitting)
        self.form.changed.connect(self._look_again)
        self._form_column.insertWidget(0, self.form)
        for param in self._fields:
            field = self.form.editor(param.name)
            if isinstance(field, TextEditor):
                field.line.setClearButtonEnabled(True)
                field.line.setPlaceholderText(self.tr("all"))
        # A tab goes through the fields before the table.
        controls = [self.form.editor(param.name).control() for param in self._fields]
        for before, after in zip(controls, [*controls[1:], self.table], strict=True):
            QWidget.setTabOrder(before, after)

    def _clear_form(self) -> None:
        form, self.form, self._fields = self.form, None, ()
        if form is not None:
            self._form_column.removeWidget(form)
            form.hide()
            form.deleteLater()

    def _show_found(self, found: Mapping[str, Value]) -> None:
        """Show the value that is used where a choice is left open: in the field's own list, else below the fields."""
        elsewhere = dict(found)
        for param in self._fields:
            assert self.form is not None
            field = self.form.editor(param.name)
            automatic = [value for value in AUTOMATIC if value in param.choices]
            if isinstance(field, ChoiceEditor):
                elsewhere.pop(param.name, None)
            if isinstance(field, ChoiceEditor) and automatic:
                text = self.tr("automatic ({value})") if param.name in found else self.tr("automatic")
                place = param.choices.index(automatic[0])
                field.combo.setItemText(place, text.format(value=found.get(param.name)))
        words = values_words({p.name: elsewhere[p.name] for p in self._fields if p.name in elsewhere}, self._fields)
        self.found.setText(self.tr("Found in the file: {words}").format(words=words))
        self.found.setVisible(bool(words))

    def _first_field(self) -> QWidget | None:
        return self.form.editor(self._fields[0].name).control() if self.form is not None and self._fields else None

    @Slot(str)
    def _show_reason(self, sentence: str) -> None:
        """Show why the present choices cannot be used; "" where they can."""
        self.reason.setText(f"{colours_of(self.palette()).error.symbol} {sentence}" if sentence else "")
        self.reason.setVisible(bool(sentence))

    # Answers

    @Slot(object)
    def _look_again(self, values: Mapping[str, Value]) -> None:
        self._mark_columns()
        self._importing.look_again(values)

    def _mark_columns(self) -> None:
        """Mark in the table the columns or rows that the fields choose."""
        if self._question is None or self.form is None:
            self.table.choose(())
            return
        values, survey = self.form.values(), self._question.survey
        if row_choice(survey) == MEMBER.name:
            members = survey.allowed[MEMBER.name]
            self.table.choose([k for k, member in enumerate(members) if member == values.get(MEMBER.name)])
        else:
            self.table.choose(chosen_columns(str(values.get(COLUMNS.name, "")), column_names(survey)))

    @Slot(int)
    def _pick(self, place: int) -> None:
        """A click in the table adds or removes a column, or chooses an array."""
        if self.form is None or self._question is None:
            return
        survey = self._question.survey
        if row_choice(survey) == MEMBER.name:
            name, value = MEMBER.name, survey.allowed[MEMBER.name][place]
        else:
            text = str(self.form.values()[COLUMNS.name])
            name, value = COLUMNS.name, toggled(text, column_names(survey), place)
        self.form.set_values({name: value})
        self._look_again(self.form.values())

    def accept(self) -> None:
        """Open the file with the present choices."""
        reasons = self._commit()
        if reasons and reasons != self._refused:
            self._refused = reasons  # taken once: a second press takes the values that are shown now
            return
        values = self.form.values() if self.form is not None else {}
        self._importing.accept(values, self.remember.isChecked() and bool(self._fields))

    def _commit(self) -> tuple[str, ...]:
        """Apply what is typed but not yet entered. Returns why entries were rejected."""
        if self.form is None:
            return ()
        for param in self._fields:
            field = self.form.editor(param.name)
            control = field.control()
            if isinstance(control, QAbstractSpinBox):
                control.interpretText()
            elif isinstance(field, TextEditor):
                field.edited.emit(True)
        return tuple(filter(None, (self.form.reason(param.name) for param in self._fields)))

    def reject(self) -> None:
        """Leave everything as it is."""
        self._importing.cancel()
        super().reject()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "reason"):
            self._colour()

    def _colour(self) -> None:
        colours = colours_of(self.palette())
        self.reason.setPalette(inked(self.reason.palette(), colours.error.colour))
        for label in (self.hint, self.found):
            label.setPalette(inked(label.palette(), colours.muted))


def _holds(param: Param, value: Value) -> bool:
    """Whether a value is still among the allowed ones."""
    return value in param.choices if param.choices else True

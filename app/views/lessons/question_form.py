"""The question of a lesson's page: a number, a choice, or an order."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QListWidget,
    QPushButton,
    QRadioButton,
    QWidget,
)

from app.models.lesson import number_given
from app.views.boxes import in_column, in_row
from app.views.labels import named, sentence_label
from gpu_ops.lessons.lesson import Question


def _tr(text: str) -> str:
    return QCoreApplication.translate("Lessons", text)


class QuestionForm(QWidget):
    """Asks one question. `answered(value)` carries the answer: a number, a choice, or all choices in order."""

    answered = Signal(object)

    def __init__(self, question: Question, given: Any, parent: QWidget) -> None:
        super().__init__(parent)
        self.question = question
        self.ask = sentence_label("lesson.ask", self)
        self.ask.setText(question.ask)
        font = self.ask.font()
        font.setBold(True)
        self.ask.setFont(font)
        self.button = named(QPushButton(_tr("&Answer"), self), "lesson.answer", tip=_tr("Compare with what is counted"))
        self.button.clicked.connect(self._answer)
        self.number = named(QLineEdit(self), "lesson.number", _tr("Your answer"))
        self.choices = [QRadioButton(text.replace("&", "&&"), self) for text in question.choices]
        self.order = named(QListWidget(self), "lesson.order", _tr("The order, first on top"))
        self.up = named(QPushButton(_tr("Move &up"), self), "lesson.up", tip=_tr("Move the chosen line up"))
        self.down = named(QPushButton(_tr("Move &down"), self), "lesson.down", tip=_tr("Move the chosen line down"))
        self._arrange(given)

    def _arrange(self, given: Any) -> None:
        for part in (self.number, *self.choices, self.order, self.up, self.down):
            part.hide()
        if self.question.is_number:
            unit = sentence_label("lesson.unit", self)
            unit.setText(self.question.unit)
            self.number.setText("" if given is None else f"{given:g}")
            self.number.returnPressed.connect(self._answer)
            self.number.textChanged.connect(self._enable)
            in_column(self.ask, in_row((self.number, 1), (unit, 2), self.button), on=self)
            self.number.show()
        elif self.question.kind == "choice":
            for choice, text in zip(self.choices, self.question.choices, strict=True):
                choice.setChecked(text == given)
                choice.toggled.connect(self._enable)
                choice.show()
            in_column(self.ask, *self.choices, in_row(1, self.button), on=self)
        else:
            self.order.addItems(list(given or self.question.choices))
            self.order.setCurrentRow(0)
            self.order.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
            self.order.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            rows = self.order.sizeHintForRow(0) * self.order.count()
            self.order.setFixedHeight(rows + 2 * self.order.frameWidth())
            self.up.clicked.connect(lambda: self._move(-1))
            self.down.clicked.connect(lambda: self._move(1))
            in_column(self.ask, self.order, in_row(self.up, self.down, 1, self.button), on=self)
            for part in (self.order, self.up, self.down):
                part.show()
        self._enable()

    @property
    def value(self) -> Any:
        """The answer as it stands; None where there is none yet."""
        if self.question.is_number:
            return number_given(self.number.text())
        if self.question.kind == "choice":
            chosen = [c.isChecked() for c in self.choices]
            return self.question.choices[chosen.index(True)] if any(chosen) else None
        return tuple(self.order.item(row).text() for row in range(self.order.count()))

    def _enable(self) -> None:
        self.button.setEnabled(self.value is not None)

    def _answer(self) -> None:
        if self.value is not None:
            self.answered.emit(self.value)

    def _move(self, step: int) -> None:
        row = self.order.currentRow()
        if 0 <= row + step < self.order.count():
            self.order.insertItem(row + step, self.order.takeItem(row))
            self.order.setCurrentRow(row + step)

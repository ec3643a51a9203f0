"""Says before anything runs that a filter refuses the input, and offers remedies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from app.controllers.session import SessionController
from app.models.experiment.refusal import conversion_steps, path_of, refusal_sentence, refuses, takes_not_type


class InputRefusal(QObject):
    """`found(sentence, choices)` says why the filter refuses the input; `choices` maps the label of each remedy to its
    function. `gone`: the filter no longer refuses the input."""

    found = Signal(str, object)
    gone = Signal()

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controller, self._shown_refusal = controller, ""
        controller.session.changed.connect(self._look)

    @Slot()
    def _look(self) -> None:
        session = self._controller.session
        refused = session.input if refuses(session.filter, session.input) else None
        sentence = "" if refused is None else refusal_sentence(session.filter, refused)
        if sentence == self._shown_refusal:
            return
        if self._shown_refusal:
            self.gone.emit()
        self._shown_refusal = sentence
        if refused is not None:
            self.found.emit(sentence, self._remedies(refused))

    def _remedies(self, input: Any) -> Mapping[str, Callable[[], object]]:
        session = self._controller.session
        if takes_not_type(session.filter, input):
            steps = conversion_steps(session.filter, input)
            return {text: partial(session.add_step, step) for text, step in steps.items()}
        path = path_of(input)
        if not path:
            return {}
        options = {**input.origin.get("choices", {}), "nonfinite": "zero"}
        if "kind" in input.origin:
            options["kind"] = input.origin["kind"]
        return {self.tr("Replace them with 0"): lambda: self._controller.open_file(path, options)}

"""Shows beside results of another kind not only the input, but also what the filter made of it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.models.results import Results
from app.models.session import Session
from app.models.verdict import verdict
from app.models.view_data import INPUT, as_it_is
from app.views.results.pictures import Pictures


class Companion(QObject):
    """Of a filter that gives a result of the input's kind together with the visible one of another kind, such as an
    image and its spectrum, the first variant's stands beside the input. `key` is that variant, "" without one."""

    def __init__(self, pictures: Pictures, session: Session, results: Results) -> None:
        super().__init__(pictures)
        self._pictures, self._session, self._results = pictures, session, results
        self.key = ""
        for signal in (pictures.view_changed, pictures.drawn_changed, pictures.arranged, results.row_changed):
            signal.connect(self._show)

    @Slot()
    def _show(self) -> None:
        pictures, session = self._pictures, self._session
        view = pictures.view_with(INPUT)
        self.key = ""
        if view is pictures.view or not pictures.input_name:
            return
        name, titles = self._output(), pictures.titles()
        found = [(v, shown) for v in session.choice.picks if (shown := pictures.shown(v, name)) is not None]
        keys = (INPUT, *(variant for variant, _ in found[:1]))
        view.arrange(keys, {INPUT: pictures.input_name, **titles}, session.filter)
        for variant, shown in found[:1]:
            self.key = variant
            subject, present = shown.origin.subject, session.subject(variant)
            view.put(variant, as_it_is(shown), shown.origin)
            view.set_state(variant, *verdict(self._results, subject, present), subject == present)

    def _output(self) -> str:
        """The first output of the present choice that the input's own view can show; "" without one."""
        pictures, task = self._pictures, self._session.task
        forms = [(output, output.form(task)) for output in self._session.given] if task is not None else []
        own = pictures.input_spec()
        return next((output.id for output, form in forms if pictures.spec_of(output, form) is own), "")

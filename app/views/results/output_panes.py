"""Other outputs of results next to the present one: each has a pane of its own, in the view that suits its kind."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QStackedWidget, QToolButton, QWidget

from app.base.nesting import bounded
from app.base.tips import set_tip
from app.models.experiment.board import OutputOf
from app.models.experiment.session import Session
from app.models.pictures.display import Display
from app.models.results.drawing import Drawing
from app.models.results.results import Results
from app.models.results.row_differences import BETWEEN
from app.models.results.verdict import verdict
from app.models.results.view_data import OutputData, ViewData
from app.views.boxes import in_column, in_row
from app.views.labels import named
from app.views.parts import Combo
from app.views.results.output_bar import output_title
from app.views.results.pictures import Pictures
from app.views.results.result_view import ResultView
from app.views.results.tiles import best_columns
from app.views.results.view_table import PICTURES, ViewSpec, draw, scales_of
from gpu_ops.params import holds
from gpu_ops.types import Output

ASPECT = 1.5
"""The ratio of width to height at which panes are largest to look at."""


class OutputPane(QWidget):
    """One output of one result. Two boxes choose another result and another output; × removes the pane. Pictures on the
    input's grid follow its zoom, levels and cursor."""

    def __init__(self, pane: OutputOf, pictures: Pictures, session: Session, results: Results, parent: QWidget) -> None:
        super().__init__(parent)
        self.pane, self._pictures, self._session, self._results = pane, pictures, session, results
        self.setObjectName(f"outputPane-{pane.id}-{pane.output}")
        self.view: ResultView | None = None
        self._spec: ViewSpec | None = None
        self._shown: OutputData | None = None
        self._drawing = Drawing(pane.id, self)
        self._drawing.done.connect(self._put)
        self._drawing.failed.connect(self._say)
        self._lay_out()

    def _lay_out(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        self.result = self._box("outputPaneResult", self.tr("Result in this pane"))
        self.output = self._box("outputPaneOutput", self.tr("Output in this pane"))
        self.close_button = named(QToolButton(self), "outputPaneClose", title=self.tr("Remove this pane"))
        self.close_button.setText("×")  # noqa: RUF001 - the sign of closing
        self.close_button.setToolTip(self.tr("Remove this pane"))
        self.close_button.setAutoRaise(True)
        self.close_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.close_button.clicked.connect(self._remove)
        self.words = QLabel(self)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words.setWordWrap(True)
        self.body = QStackedWidget(self)
        self.body.addWidget(self.words)
        head = in_row((self.result, 1), (self.output, 1), self.close_button, margins=(unit, 0, unit, 0), gap=unit // 2)
        in_column(head, (self.body, 1), on=self, gap=unit // 2)

    def _box(self, name: str, title: str) -> Combo:
        box = named(Combo(self), name, title=title, tip=title)
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        box.setMinimumWidth(self.fontMetrics().averageCharWidth() * 10)
        box.activated.connect(self._choose)
        return box

    @Slot()
    def _choose(self) -> None:
        """Another result or output takes the pane's place."""
        board, chosen = self._session.choice.board, OutputOf(self.result.currentData(), self.output.currentData())
        if chosen != self.pane:
            self._session.set_board(board.with_output_for(self.pane, chosen))

    @Slot()
    def _remove(self) -> None:
        self._session.set_board(self._session.choice.board.without_output(self.pane))

    def refresh(self) -> None:
        """Show the newest result with its title and verdict."""
        titles = self._pictures.titles()
        self._offer(self.result, {id: titles[id] for id in self._session.shown.ids}, self.pane.id)
        outputs = {output.id: output_title(output.id) for output in self._session.filter.outputs}
        self._offer(self.output, outputs, self.pane.output)
        shown = self._pictures.shown(self.pane.id, self.pane.output)
        if shown is None:
            self._shown = None
            self._say(self._missing())
        elif shown is not self._shown:
            self._shown = shown
            self._show(shown)
        self._judge()

    def _offer(self, box: Combo, texts: dict[str, str], chosen: str) -> None:
        with QSignalBlocker(box):
            if [(box.itemData(n), box.itemText(n)) for n in range(box.count())] != list(texts.items()):
                box.clear()
                for id, text in texts.items():
                    box.addItem(text, id)
            box.setCurrentIndex(box.findData(chosen))

    def _missing(self) -> str:
        output = next(o for o in self._session.filter.outputs if o.id == self.pane.output)
        if holds(output.when, self._session.params):
            return self.tr("no result yet")
        return self.tr("The present parameters do not ask for {output}; choose it above, under Output.").format(
            output=output_title(output.id)
        )

    @Slot(str)
    def _say(self, text: str) -> None:
        self.words.setText(text)
        self.body.setCurrentWidget(self.words)

    def _show(self, shown: OutputData) -> None:
        output = next(o for o in self._session.filter.outputs if o.id == self.pane.output)
        spec = self._pictures.spec_of(output, shown.result.form)
        if self.view is None or spec is not self._spec:
            self._make(spec)
        scale = scales_of(spec, shown.result.form.dtype)[0]
        self._drawing.start(shown, lambda shown: draw(scale, shown), at_once=scale.draw is None)

    def _make(self, spec: ViewSpec) -> None:
        if self.view is not None:
            self.body.removeWidget(self.view.widget)
            self.view.widget.deleteLater()
        display = self._pictures.panes.display if spec is PICTURES else Display(self)
        self._spec, self.view = spec, spec.make(display, self)
        if self.view.grid is not None:
            self.view.grid.set_choosing(False)
        self.body.addWidget(self.view.widget)

    @Slot(str, object, object)
    def _put(self, _id: str, shown: OutputData, drawn: ViewData) -> None:
        view, spec = self.view, self._spec
        if shown is not self._shown or view is None or spec is None:
            return
        title = BETWEEN.join((output_title(self.pane.output), self._pictures.titles()[self.pane.id]))
        first = not view.walk
        view.arrange((self.pane.id,), {self.pane.id: title}, self._session.filter)
        if first and spec is not PICTURES:
            view.start_over(drawn)
        view.set_scale(scales_of(spec, shown.result.form.dtype)[0].id)
        placed = spec is self._pictures.input_spec() or spec in self._pictures.input_spec().owns
        view.put(self.pane.id, drawn, shown.origin if placed else shown.origin.loose)
        self.body.setCurrentWidget(view.widget)
        self._judge()

    def _judge(self) -> None:
        if self.view is None or self._shown is None or self.pane.id not in self.view.walk:
            return
        shown, drawn = self._session.shown, self._shown.origin.subject
        present = shown.subject(self.pane.id)
        judged = verdict(self._results, shown.slot(self.pane.id), drawn, present)
        self.view.set_state(self.pane.id, *judged, drawn in (None, present))


def params_for(session: Session, output: Output) -> dict[str, Any] | None:
    """The parameters that ask for an output and for the present one: present values where these do, else the first that
    do; None where there are none."""
    present, params = session.output.when, session.params
    for name in {**present, **output.when}:
        allowed = [v for v in output.when.get(name, present.get(name, ())) if v in present.get(name, (v,))]
        if not allowed:
            return None
        params[name] = params[name] if params[name] in allowed else allowed[0]
    return params


class OutputPanes(QObject):
    """The panes of other outputs that the session has, next to the results. The output bar offers one more,
    for the result that somebody looks at, else the first one."""

    def __init__(self, pictures: Pictures, session: Session, results: Results) -> None:
        super().__init__(pictures)
        self._pictures, self._session, self._results = pictures, session, results
        self.panes: dict[OutputOf, OutputPane] = {}
        self._room = pictures.sides.also
        self._grid = QGridLayout(self._room)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._room.installEventFilter(self)
        pictures.bar.menu.triggered.connect(lambda action: self._add(action.data()))
        pictures.bar.menu.setToolTipsVisible(True)
        pictures.view_changed.connect(self._fill_menu)
        for signal in (session.changed, pictures.drawn_changed, pictures.arranged, results.row_changed):
            signal.connect(self._show)

    @Slot()
    def _fill_menu(self) -> None:
        """Offer the outputs that one run gives together with the present one."""
        session, menu = self._session, self._pictures.bar.menu
        menu.clear()
        for output in (output for output in session.filter.outputs if output.id != session.output.id):
            action = menu.addAction(output_title(output.id).replace("&", "&&"))
            action.setData(output.id)
            action.setEnabled(params_for(session, output) is not None)
            if not action.isEnabled():
                text = self.tr("No run gives {one} and {other} at once; pin a result and choose the other one")
                names = output_title(session.output.id), output_title(output.id)
                set_tip(action, text.format(one=names[0], other=names[1]))

    def _add(self, id: str) -> None:
        """Add a pane for this output, and ask for the output where the parameters do not: one step of undo."""
        session, looked_at = self._session, self._pictures.looked_at.variant
        ids, params = session.shown.ids, params_for(session, next(o for o in session.filter.outputs if o.id == id))
        if not ids or params is None:
            return
        asked = params != session.params
        if asked:
            session.set_params(params)
        pane = OutputOf(looked_at if looked_at in ids else ids[0], id)
        session.set_board(session.choice.board.with_output(pane), same_step=asked)

    @Slot()
    def _show(self) -> None:
        ids, outputs = self._session.shown.ids, {output.id for output in self._session.filter.outputs}
        wanted = [p for p in self._session.choice.board.outputs if p.id in ids and p.output in outputs]
        self._fill_menu()
        if wanted != list(self.panes):
            for gone in [pane for pane in self.panes if pane not in wanted]:
                widget = self.panes.pop(gone)
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
            self.panes = {pane: self.panes.get(pane) or self._make(pane) for pane in wanted}
            self._lay()
            self._pictures.sides.show_also(bool(wanted))
        for pane in self.panes.values():
            pane.refresh()

    def _make(self, pane: OutputOf) -> OutputPane:
        return OutputPane(pane, self._pictures, self._session, self._results, self._room)

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QResizeEvent):
            self._lay()
        return super().eventFilter(watched, event)

    def _lay(self) -> None:
        """As many columns as show the panes largest."""
        size, count = self._room.size(), len(self.panes)
        columns = best_columns(count, size.width(), size.height(), ASPECT)
        for place, pane in enumerate(self.panes.values()):
            self._grid.addWidget(pane, place // columns, place % columns)
            pane.show()
        for column in range(self._grid.columnCount()):
            self._grid.setColumnStretch(column, int(column < min(columns, count)))
        for row in range(self._grid.rowCount()):
            self._grid.setRowStretch(row, int(row < -(-count // columns)))

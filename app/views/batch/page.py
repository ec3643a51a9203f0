"""The page of batches: its form, the files with what became of them, and the pictures of one."""

from __future__ import annotations

import os
from collections.abc import Callable

from PySide6.QtCore import QEvent, QItemSelectionModel, QSize, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QProgressBar, QPushButton, QSplitter, QTableView, QWidget

from app.base.nesting import bounded
from app.base.numbers import count, number
from app.base.tips import set_tip
from app.controllers.batch import BatchController
from app.models.batch.table import STATES, FileRow
from app.models.batch.wanted import Counted, spec_of, words_of
from app.views.batch.form import BatchForm, Choose
from app.views.batch.pictures import BatchPictures
from app.views.boxes import in_column, in_row
from app.views.labels import named, sentence_label
from app.views.parts import TickBox
from app.views.scrolled import Scrolled, Squeezed
from gpu_ops import KernelscopeError
from gpu_ops.io.reading import Reading

WAIT_MS = 300
"""Milliseconds after the last letter until files are counted."""
TIME = "-888.8 ms"
"""The longest text in the column of times."""
LINES = 6
"""The least height of the table, in lines."""
RUNNING = 3
"""Lines below the file that ended last: workers have many more."""
SIZE = (150, 105)
"""The size that the page asks for, in letters."""


class BatchPage(QWidget):
    """Everything of a batch. `open_url` opens files and pages by the programs that the system has for them."""

    def __init__(self, batch: BatchController, choose: Choose, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("batchPage")
        self.setWindowTitle(self.tr("Run on a folder"))
        self.batch = batch
        batch.setParent(self)
        self.open_url: Callable[[QUrl], object] = QDesktopServices.openUrl
        inner = Squeezed(self)
        self.settings = sentence_label("batchSettings", inner)
        self.form = BatchForm(batch.session, batch.remembered, choose, inner)
        self.reason = sentence_label("batchReason", inner)
        policy = self.reason.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the buttons below stay where they are
        self.reason.setSizePolicy(policy)
        self.progress = named(QProgressBar(inner), "batchProgress", self.tr("Files that are done"))
        self.state = sentence_label("batchState", inner, selectable=True)
        self.where = sentence_label("batchWhere", inner, selectable=True)
        self.where.hide()
        self.only_failed = named(TickBox(self.tr("&Only wrong and failed files"), inner), "batchOnlyFailed")
        self.view, self.pictures = QTableView(inner), BatchPictures(inner)
        self._make_buttons(inner)
        self._make_table()
        self._arrange(inner)
        self._counted: Counted | None = None
        self._meant: tuple[list[str], str] | None = None
        self._words, self._at_end, self._left_at = "", True, 0
        self._waiting = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._waiting.timeout.connect(lambda: batch.count(self.form.wanted))
        self._listen()
        self._edit()
        self.show_batch()

    def _make_buttons(self, inner: QWidget) -> None:
        self.run = named(QPushButton(self.tr("&Run"), inner), "batchRun")
        self.run.setDefault(True)
        self.stop = named(QPushButton(self.tr("&Stop"), inner), "batchStop")
        self.stop.setToolTip(self.tr("No more files begin; those at work are finished"))
        self.resume = named(QPushButton(self.tr("R&esume"), inner), "batchResumeNow")
        self.resume.setToolTip(self.tr("Go on with the last batch and its settings"))
        self.dashboard = named(QPushButton(self.tr("&Dashboard"), inner), "batchDashboard")
        self.dashboard.setToolTip(self.tr("Open Dask's page about the workers"))
        self.report = named(QPushButton(self.tr("Repor&t"), inner), "batchReport")
        self.folder = named(QPushButton(self.tr("Result&s"), inner), "batchResults")
        self.folder.setToolTip(self.tr("Open the folder of the results"))
        for button in (self.stop, self.resume, self.dashboard, self.report, self.folder):
            button.setAutoDefault(False)

    def _make_table(self) -> None:
        named(self.view, "batchTable", self.tr("Files of the batch"))
        self.view.setModel(self.batch.table)
        self.view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.view.setAlternatingRowColors(True)
        self.view.setShowGrid(False)
        self.view.setTabKeyNavigation(False)
        self.view.setWordWrap(False)
        self.view.verticalHeader().hide()
        for column in (0, 3):  # a name and a result share what the state and the time leave
            self.view.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        self._measure()

    def _measure(self) -> None:
        metrics = self.fontMetrics()
        self.view.verticalHeader().setDefaultSectionSize(round(1.4 * metrics.height()))
        self.view.setMinimumHeight(LINES * round(1.4 * metrics.height()))
        states = max(map(self.batch.table.state_words, STATES), key=metrics.horizontalAdvance)
        for column, text in ((1, states), (2, TIME)):
            self.view.setColumnWidth(column, metrics.horizontalAdvance(text) + 2 * metrics.averageCharWidth())

    def _arrange(self, inner: QWidget) -> None:
        unit = self.fontMetrics().averageCharWidth()
        split = QSplitter(Qt.Orientation.Horizontal, inner)
        split.setObjectName("batchSplit")
        split.setChildrenCollapsible(False)
        for part, share in ((self.view, 2), (self.pictures, 1)):
            split.addWidget(part)
            split.setStretchFactor(split.indexOf(part), share)
        buttons = in_row(self.run, self.stop, self.resume, 1, self.dashboard, self.report, self.folder)
        progress = in_row((self.progress, 1), self.only_failed)
        parts = (self.settings, self.form, self.reason, buttons, progress, self.state, self.where, (split, 1))
        in_column(*parts, on=inner, margins=unit)
        in_column(Scrolled(inner, self), on=self, margins=0)

    def _listen(self) -> None:
        batch = self.batch
        self.form.edited.connect(self._edit)
        batch.session.changed.connect(self._show_session)
        batch.counted.connect(self._show_count)
        batch.changed.connect(self.show_batch)
        batch.previews.drawn.connect(self._show_drawn)
        batch.table.modelReset.connect(self._show_pictures)
        batch.table.rowsAboutToBeInserted.connect(self._note_end)
        self.only_failed.toggled.connect(batch.table.show_only_failed)
        self.view.selectionModel().currentRowChanged.connect(lambda *_: self._draw())
        self.run.clicked.connect(self._start)
        self.stop.clicked.connect(batch.cancel)
        self.resume.clicked.connect(batch.resume)
        self.dashboard.clicked.connect(lambda: self.open_url(QUrl(batch.dashboard)))
        self.report.clicked.connect(lambda: self._open(batch.report, self.tr("The report is {path}.")))
        self.folder.clicked.connect(lambda: self._open(self._results, self.tr("The results are in {path}.")))

    def sizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().averageCharWidth()
        return QSize(SIZE[0] * unit, SIZE[1] * unit)

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """The batch may have gone on while nobody saw it."""
        super().showEvent(event)
        self._draw()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "view"):
            self._measure()

    # The form

    @Slot()
    def _edit(self) -> None:
        """A field has changed: if other files are meant by it, count them once the user pauses."""
        wanted, before = self.form.wanted, self._meant
        self._meant = wanted.inputs, wanted.output
        if self._meant == before:
            self._show_reason()
            return
        self._counted = None
        if wanted.folder:
            self.form.show_count(None)
            self._waiting.start()
        else:
            self.form.show_count(Counted())
        self._show_reason()

    @Slot(object)
    def _show_session(self, _change: object = None) -> None:
        self.form.show_session()
        self._show_reason()

    @Slot(object)
    def _show_count(self, found: Counted) -> None:
        if self._waiting.isActive():
            return  # other files are meant by now
        self._counted = found
        self.form.show_count(found)
        self._show_reason()

    def _show_reason(self, fault: str = "") -> None:
        """Say what a batch would do, and why it cannot begin."""
        wanted, variant = self.form.wanted, self.form.variant.currentData()
        try:
            words = words_of(spec_of(self.batch.session, wanted, variant))
        except KernelscopeError as error:
            words, fault = "", fault or str(error)
        self._words = words
        self.settings.setText(self.tr("Each file: {words}.").format(words=words) if words else "")
        counted = self._counted
        fault = fault or wanted.lacks() or (counted.fault if counted is not None else "")
        self.reason.setText(fault)
        self.reason.setVisible(bool(fault) and not self.batch.running)
        self.run.setEnabled(not fault and counted is not None and not self.batch.running)
        self.state.setText(self._state_words() if self.batch.spec is not None else "")

    @Slot()
    def _start(self) -> None:
        self._show_reason(self.batch.start(self.form.wanted, self.form.variant.currentData()))

    # The batch

    def _open(self, path: str, words: str) -> None:
        """Open a file or a folder by the system's program for it, and say where it is: there may be no program."""
        said = words.format(path=path)
        if self.open_url(QUrl.fromLocalFile(path)) is False:
            said = self.tr("{said} The system has no program that opens it.").format(said=said)
        self.where.setText(said)
        self.where.show()

    @property
    def _results(self) -> str:
        spec = self.batch.spec
        return self.form.wanted.output if spec is None else spec.output_dir

    @Slot()
    def show_batch(self) -> None:
        """Show what the batch does, as far as it is."""
        batch, running = self.batch, self.batch.running
        self.form.setEnabled(not running)
        self.stop.setEnabled(running and not batch.stopping)
        self.resume.setEnabled(batch.resumable)
        self.dashboard.setVisible(bool(batch.dashboard) and running)
        self.report.setEnabled(bool(batch.report))
        set_tip(self.report, self.tr("Open the file with a row for each file: {path}").format(path=batch.report))
        self.folder.setEnabled(os.path.isdir(self._results))
        if running:
            self.where.clear()  # it is about an earlier batch
        self.where.setHidden(not self.where.text())
        known = batch.spec is not None
        self.progress.setRange(0, max(1, batch.pace.count) if not running or batch.pace.count else 0)
        self.progress.setValue(batch.pace.done)
        for widget in (self.progress, self.state, self.only_failed):
            widget.setVisible(known)
        self._show_reason()
        self._follow()
        self._draw()

    def _state_words(self) -> str:
        """What the batch does and how far it is."""
        batch, words = self.batch, list[str]()
        if batch.running:
            words.append(self.tr("It stops after the files at work.") if batch.stopping else self._pace_words())
            words.append("" if batch.pace.done or batch.stopping else batch.said)
        words.append(f"{batch.outcome}." if batch.outcome else "")
        if batch.words != self._words:
            words.append(self.tr("Its own settings: {words}.").format(words=batch.words))
        return " ".join(filter(None, words))

    def _pace_words(self) -> str:
        pace = self.batch.pace
        if not pace.count:
            return self.tr("It begins…")
        words = self.tr("{done} of {count} files").format(done=count(pace.done), count=count(pace.count))
        if pace.left is None:
            return f"{words}."
        minutes, rest = divmod(round(pace.left), 60)
        left = self.tr("{m} min {s} s").format(m=count(minutes), s=rest) if minutes else self.tr("{s} s").format(s=rest)
        return self.tr("{words}, {rate} a second, {left} left.").format(
            words=words, rate=number(pace.rate, 3), left=left
        )

    @Slot()
    def _note_end(self) -> None:
        bar = self.view.verticalScrollBar()
        self._at_end = bar.value() == bar.maximum()

    def _follow(self) -> None:
        """The file that ended last stays in view with some that run, unless the user looks at others."""
        table, bar = self.batch.table, self.view.verticalScrollBar()
        at_end, self._at_end = self._at_end, False
        if self.view.selectionModel().hasSelection() or not (at_end or bar.value() == self._left_at):
            return
        last = table.rowCount() - 1 if table.only_failed else min(table.last + RUNNING, table.rowCount() - 1)
        self.view.executeDelayedItemsLayout()  # new rows have no place before
        self.view.scrollTo(table.index(last, 0), QAbstractItemView.ScrollHint.PositionAtBottom)
        self._left_at = bar.value()

    # The pictures

    def _looked_at(self) -> FileRow | None:
        """The selected file, else the one that ended last."""
        table, index = self.batch.table, self.view.selectionModel().currentIndex()
        if index.isValid() and index.row() < table.rowCount():
            return table.row_at(index.row())
        return table.rows[table.last] if table.last >= 0 else None

    @Slot()
    def _draw(self) -> None:
        """Have the pictures of the file drawn; one that is being drawn comes first, while the files change fast."""
        row, previews, spec = self._looked_at(), self.batch.previews, self.batch.spec
        if row is None or spec is None or not self.isVisible():
            return
        selected = self.view.selectionModel().hasSelection()
        if selected or not previews.busy:
            previews.ask([(row.file, spec.reading), (row.output, Reading())])

    @Slot()
    def _show_drawn(self) -> None:
        """Show what was drawn; another file may be looked at since it was asked for."""
        self._show_pictures()
        row, previews = self._looked_at(), self.batch.previews
        if row is not None and any(path and previews.get(path) is None for path in (row.file, row.output)):
            self._draw()

    @Slot()
    def _show_pictures(self) -> None:
        row, previews = self._looked_at(), self.batch.previews
        if row is None:
            self.pictures.show_file("", None, None)
            return
        result = previews.get(row.output) if row.output else row.sentence
        self.pictures.show_file(os.path.basename(row.file), previews.get(row.file), result)

    def select(self, place: int) -> None:
        """Select a row of the table."""
        index, flags = self.batch.table.index(place, 0), QItemSelectionModel.SelectionFlag.ClearAndSelect
        rows = QItemSelectionModel.SelectionFlag.Rows
        self.view.selectionModel().setCurrentIndex(index, flags | rows)

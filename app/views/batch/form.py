"""The form of a batch: which files, where the results go, by which variant, and by which workers."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication, Signal, Slot
from PySide6.QtWidgets import QFormLayout, QLineEdit, QPushButton, QStackedWidget, QWidget

from app.base.numbers import count
from app.base.translate import QT_TRANSLATE_NOOP
from app.models.batch.wanted import PLACES, Counted, Wanted, offered_formats, offered_variants
from app.models.experiment.session import Session
from app.views.boxes import in_row
from app.views.labels import buddy, named, sentence_label
from app.views.parts import Combo, TickBox
from app.views.wheel import CountSpin
from gpu_ops.batch.spec import FORMAT_RULE
from gpu_ops.device_names import is_simulated
from gpu_ops.types import REFERENCE

PLACE_WORDS = {
    "here": QT_TRANSLATE_NOOP("BatchForm", "one process"),
    "workers": QT_TRANSLATE_NOOP("BatchForm", "several processes"),
    "gpus": QT_TRANSLATE_NOOP("BatchForm", "one process for each GPU"),
    "scheduler": QT_TRANSLATE_NOOP("BatchForm", "the workers of a scheduler"),
}
Choose = Callable[[QWidget, str, str], str]
"""(parent, title, folder) to the folder that the user picks, or ""."""


class BatchForm(QWidget):
    """`edited`: a field has changed."""

    edited = Signal()

    def __init__(self, session: Session, first: Wanted, choose: Choose, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("batchForm")
        self._session, self._choose = session, choose
        self.folder = named(QLineEdit(first.folder, self), "batchFolder", tip=self.tr("The folder of the inputs"))
        self.pattern = named(QLineEdit(first.pattern, self), "batchPattern", tip=self.tr("Names below the folder"))
        self.pattern.setPlaceholderText(self.tr("all that can be read; or *.tif, **/*.png"))
        self.output = named(QLineEdit(first.output, self), "batchOutput", tip=self.tr("Where the results are written"))
        self.choose_folder = named(QPushButton(self.tr("&Choose…"), self), "batchChooseFolder")
        self.choose_output = named(QPushButton(self.tr("C&hoose…"), self), "batchChooseOutput")
        self.count = sentence_label("batchCount", self)
        rule = self.tr("By type: {rule}").format(rule=FORMAT_RULE)
        self.variant, self.format = named(Combo(self), "batchVariant"), named(Combo(self), "batchFormat", tip=rule)
        self.place = named(Combo(self), "batchPlace")
        for place in PLACES:
            self.place.addItem(_tr(PLACE_WORDS[place]), place)
        self.workers = named(CountSpin(self), "batchWorkers", self.tr("Number of processes"))
        self.workers.setRange(2, 256)
        self.workers.setValue(first.workers)
        self.scheduler = named(QLineEdit(first.scheduler, self), "batchScheduler", self.tr("Address of the scheduler"))
        self.scheduler.setPlaceholderText("tcp://host:8786")
        self.place.setCurrentIndex(PLACES.index(first.place))
        self.resume = named(TickBox(self.tr("&Leave out what is done"), self), "batchResume")
        self.resume.setToolTip(self.tr("Files whose result exists and is unchanged are not computed again"))
        self.frames = named(TickBox(self.tr("All &frames of stacks"), self), "batchFrames")
        self.resume.setChecked(first.resume)
        self.frames.setChecked(first.frames)
        self._format = first.format
        self._arrange()
        self._listen()
        self.show_session()
        self._show_place()

    def _arrange(self) -> None:
        for combo in (self.variant, self.place):
            combo.set_letters(24)
        self.format.set_letters(8)
        self._where = QStackedWidget(self)
        for widget in (QWidget(self), self.workers, self.scheduler):
            self._where.addWidget(widget)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow(buddy(self.tr("F&older:"), self.folder), in_row((self.folder, 1), self.choose_folder))
        form.addRow(buddy(self.tr("Fi&les:"), self.pattern), in_row((self.pattern, 1), (self.count, 1)))
        form.addRow(buddy(self.tr("Results &in:"), self.output), in_row((self.output, 1), self.choose_output))
        formats = buddy(self.tr("For&mat:"), self.format)
        form.addRow(buddy(self.tr("&Variant:"), self.variant), in_row((self.variant, 1), formats, self.format))
        form.addRow(buddy(self.tr("Run &by:"), self.place), in_row((self.place, 1), (self._where, 1)))
        form.addRow("", in_row(self.resume, self.frames, 1))

    def _listen(self) -> None:
        self.choose_folder.clicked.connect(partial(self._ask, self.folder, self.tr("The folder of the inputs")))
        self.choose_output.clicked.connect(partial(self._ask, self.output, self.tr("The folder of the results")))
        self.place.currentIndexChanged.connect(self._show_place)
        for changed in (
            *(edit.textChanged for edit in (self.folder, self.pattern, self.output, self.scheduler)),
            *(combo.currentIndexChanged for combo in (self.variant, self.format, self.place)),
            *(box.toggled for box in (self.resume, self.frames)),
            self.workers.valueChanged,
        ):
            changed.connect(lambda *_: self.edited.emit())

    def _ask(self, edit: QLineEdit, title: str) -> None:
        chosen = self._choose(self, title, edit.text())
        if chosen:
            edit.setText(chosen)

    @property
    def wanted(self) -> Wanted:
        """The fields as they are."""
        folder, output = (_folder(edit.text()) for edit in (self.folder, self.output))
        return Wanted(
            folder=folder,
            pattern=self.pattern.text().strip(),
            output=output,
            format=self.format.currentData() or "",
            place=self.place.currentData(),
            workers=self.workers.value(),
            scheduler=self.scheduler.text().strip(),
            frames=self.frames.isChecked(),
            resume=self.resume.isChecked(),
        )

    @Slot()
    def show_session(self) -> None:
        """Offer the ticked variants and the formats of the present filter; a choice that is still there stays. The
        first one is no kernel on a simulated GPU, which takes seconds for each file."""
        session, kept = self._session, self.variant.currentData()
        ids = offered_variants(session)
        quick = [id for id in ids if id != REFERENCE and not is_simulated(session.shown.pick(id).device)]
        quick = [id for id in quick if id in session.choice.picks]
        last = quick[-1] if quick else ""
        chosen = kept if kept in ids or kept == "" else last
        titles = {id: session.shown.name(id) for id in ids}
        _fill(self.variant, {"": self.tr("the fastest that takes each file"), **titles}, chosen)
        formats = offered_formats(session)
        self._format = self.format.currentData() if self.format.count() else self._format
        named_formats = {"": self.tr("by type"), **{name: name for name in formats}}
        _fill(self.format, named_formats, self._format if self._format in formats else "")

    @Slot()
    def _show_place(self) -> None:
        self._where.setCurrentIndex({"workers": 1, "scheduler": 2}.get(self.place.currentData(), 0))

    def show_count(self, found: Counted | None) -> None:
        """Show how many files there are; None while they are counted."""
        if found is None:
            self.count.setText(self.tr("counting…"))
        elif not found.count:
            self.count.setText("")
        elif found.count == 1:
            self.count.setText(self.tr("1 file, {name}").format(name=found.first))
        else:
            text = self.tr("{count} files, the first is {name}")
            self.count.setText(text.format(count=count(found.count), name=found.first))


def _folder(text: str) -> str:
    """A folder as the user typed it; "" for none."""
    return os.path.abspath(os.path.expanduser(text.strip())) if text.strip() else ""


def _fill(combo: Combo, entries: dict[str, str], chosen: str) -> None:
    """Replace the entries, and emit a change only if the chosen one differs."""
    before = [(combo.itemData(k), combo.itemText(k)) for k in range(combo.count())]
    if before == list(entries.items()) and combo.currentData() == chosen:
        return
    blocked = combo.blockSignals(True)
    combo.clear()
    for data, text in entries.items():
        combo.addItem(text, data)
    combo.setCurrentIndex(list(entries).index(chosen))
    combo.blockSignals(blocked)


def _tr(text: str) -> str:
    return QCoreApplication.translate("BatchForm", text)

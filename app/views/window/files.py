"""What a window does with files: open, drop, go from one to the next, save, and say what was written where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QLocale, QObject, QTimer, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from app.controllers.session import SessionController
from app.models.file_list import FileList
from app.models.file_names import all_files, open_kinds, proposed_name, save_kinds, save_suffix
from app.models.messages import UNDER
from app.settings import Settings
from app.views.picture_file import export_sheet
from app.views.window.message_bar import MessageBar
from gpu_ops.engine.messages import LoadRequest, NonFinite

if TYPE_CHECKING:
    from app.views.results.pictures import Pictures
    from app.views.sweep.panel import SweepPanel
    from app.views.timing.ladder import TimingLadder

Chooser = Callable[[QWidget, str, str, str], str]
"""(parent, title, folder or proposed path, kinds of files as Qt reads them) to the path that a person picks, or ""."""


def choose_file(parent: QWidget, title: str, folder: str, kinds: str) -> str:
    """A file that the person picks, or nothing."""
    return QFileDialog.getOpenFileName(parent, title, folder, kinds)[0]


def choose_target(parent: QWidget, title: str, proposed: str, kinds: str) -> str:
    """Where the person wants a file written, or nothing; a name without an ending gets the proposed one's."""
    dialog = QFileDialog(parent, title, str(Path(proposed).parent), kinds)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(Path(proposed).suffix.removeprefix("."))
    dialog.selectFile(Path(proposed).name)
    picked = dialog.selectedFiles() if dialog.exec() else []
    dialog.deleteLater()
    return picked[0] if picked else ""


class Files(QObject):
    """Asks with `chooser` and `target`. Files that were dropped together are a list to go through; one that cannot be
    opened is said and left out."""

    def __init__(
        self,
        window: QWidget,
        controller: SessionController,
        messages: MessageBar,
        settings: Settings,
        chooser: Chooser = choose_file,
        target: Chooser = choose_target,
    ) -> None:
        super().__init__(window)
        self._window, self.chooser, self.target = window, chooser, target
        self._controller, self._messages, self._settings = controller, messages, settings
        self.list = FileList(self)
        self._dropped = 0
        self._controller.succeeded.connect(self._take_success)
        self._controller.message.connect(self._take_message)
        self._controller.nonfinite_found.connect(self._offer)
        self._controller.session.input_changed.connect(self._take_input)

    # Opening

    def open(self) -> None:
        """Ask for a file and open it."""
        folder = self._settings.open_folder
        path = self.chooser(self._window, self.tr("Open an image or a signal"), folder, open_kinds())
        if path:
            self._settings.set_open_folder(str(Path(path).parent))
            self._controller.open_file(path)

    @Slot(str, object, object)
    def _offer(self, sentence: str, found: NonFinite, request: LoadRequest) -> None:
        """A file holds what is not finite: how it is to be opened is a person's choice."""
        texts = {"keep": self.tr("Keep them"), "zero": self.tr("Replace them by 0")}

        def opening(choice: str) -> Callable[[], None]:
            return lambda: self._controller.open_file(request.path, {**request.options, "nonfinite": choice})

        choices = {texts.get(choice, choice): opening(choice) for choice in found.choices}
        text = self.tr("{sentence} It is not open yet: choose what becomes of them.").format(sentence=sentence)
        self._messages.show_message("warning", text, "", "open", choices=choices)

    def drop(self, paths: Sequence[str]) -> None:
        """Open the first of these; the others follow by going on."""
        self._dropped = len(paths)
        self._messages.settle("files")
        self._controller.open_file(self.list.start(paths))

    def go(self, step: int) -> None:
        """Open the next file that was dropped, or with -1 the one before."""
        path = self.list.go(step)
        if path:
            self._messages.settle("files")
            self._controller.open_file(path)

    @Slot(object)
    def _take_input(self, shared: Any) -> None:
        went = self.list.waiting
        self.list.opened(str(shared.origin.get("path", "")))
        if went and len(self.list.paths) > 1:
            self._say_place(shared.name)

    def _say_place(self, name: str) -> None:
        """Which of the files it is that opened; of those just dropped, how to go on."""
        locale, dropped = QLocale(), self._dropped
        count, place = (locale.toString(n) for n in (len(self.list.paths), self.list.place + 1))
        self._dropped = 0
        if dropped:
            text = self.tr("{count} files were dropped; this is the first; Page Down opens the next.")
            self._messages.show_message("info", text.format(count=locale.toString(dropped)), "", "files")
        else:
            text = self.tr("File {place} of {count}: {name}.").format(place=place, count=count, name=name)
            self._messages.show_message("info", text, "", "files", passing=True)

    @Slot(str, str, str, str)
    def _take_message(self, kind: str, sentence: str, details: str, subject: str) -> None:
        """A file of the list cannot be opened: say so, and try the one behind it."""
        if not (self.list.waiting and kind == "error" and subject == "open"):
            return
        following = self.list.failed()
        if following:
            self._messages.settle("open")
            text = self.tr("{reason} It was left out of the files to go through.")
            self._messages.show_message("warning", text.format(reason=sentence), details, "left out")
            # The job that failed ends first.
            QTimer.singleShot(0, self, lambda: self._controller.open_file(following))

    # Writing

    def ask_target(self, title: str, name: str, kinds: str) -> str:
        """Where to write what would be called so, beside what was written last; "" for nowhere."""
        path = self.target(self._window, title, str(Path(self._settings.save_folder, name)), kinds)
        if path:
            self._settings.set_save_folder(str(Path(path).parent))
        return path

    def proposed(self, what: str, suffix: str) -> str:
        """A name for something that was made of the present input."""
        session = self._controller.session
        name = session.input.name if session.input else ""
        return proposed_name(name, session.filter, session.choice.params, what, suffix)

    def save_result(self) -> None:
        """Ask for a name and save the output that is looked at, of the last picked variant."""
        made = self._controller.result_to_save()
        if made is None:
            return
        variant, result, rate = made
        kind, dtype = result.kind, result.form.dtype
        session = self._controller.session
        what = variant if len(session.filter.outputs) == 1 else f"{variant}-{session.output.id}"
        name = self.proposed(what, save_suffix(kind, dtype, rate))
        path = self.ask_target(self.tr("Save the result"), name, save_kinds(kind, dtype, rate))
        if path:
            self._controller.save_result(path)

    def export_view(self, pictures: Pictures) -> None:
        """Ask for a name and write what is looked at as a picture."""
        session = self._controller.session
        if pictures.picture() is None:
            text = self.tr("There is nothing to write yet; open an image or a signal first.")
            self._messages.show_message("warning", text, "", "export")
            return
        kinds = f"PNG (*.png);;SVG (*.svg);;{all_files()}"
        name = self.proposed(f"{session.output.id}-view", ".png")
        path = self.ask_target(self.tr("Write the view as PNG or SVG"), name, kinds)
        if path:
            self._wrote(path, export_sheet(pictures.view.sheet, path, session.filter.title))

    def export_ladder(self, ladder: TimingLadder) -> None:
        """Ask for a name and write the ladder as a picture."""
        kinds = f"PNG (*.png);;{all_files()}"
        path = self.ask_target(self.tr("Write the ladder as PNG"), self.proposed("ladder", ".png"), kinds)
        if path:
            self._wrote(path, ladder.render_png(path))

    def export_sweep(self, panel: SweepPanel, kind: str) -> None:
        """Ask for a name and write the sweep that is shown: its rows ("csv") or its "picture"."""
        sweep = panel.controller.shown
        if sweep is None:
            text = self.tr("There is no sweep to write yet; make one in the Sweep tab.")
            self._messages.show_message("warning", text, "", "export")
            return
        title, suffix, kinds = {
            "csv": (self.tr("Write the sweep as CSV"), ".csv", "CSV (*.csv)"),
            "picture": (self.tr("Write the sweep as PNG or SVG"), ".png", "PNG (*.png);;SVG (*.svg)"),
        }[kind]
        name = self.proposed(f"sweep-{sweep.varied.name}", suffix)
        path = self.ask_target(title, name, f"{kinds};;{all_files()}")
        if path:
            self._wrote(path, panel.export(path, kind))

    def _wrote(self, path: str, well: bool) -> None:
        if well:
            self.say_written(path)
        else:
            text = self.tr("{path} cannot be written; choose another folder or name.").format(path=path)
            self.say_not_written(text)

    @Slot(str)
    def _take_success(self, subject: str) -> None:
        """A result was saved; an attempt before may have failed."""
        what, _, path = subject.partition(UNDER)
        if what == "save" and path:
            self._messages.settle(what)
            self.say_written(path)

    @Slot(str)
    def say_written(self, path: str) -> None:
        """Say what was written where; what was said of failures before holds no longer."""
        self._messages.settle("export")
        size = QLocale().formattedDataSize(Path(path).stat().st_size)
        text = self.tr("{name} was written ({size}), in {folder}.")
        text = text.format(name=Path(path).name, size=size, folder=Path(path).absolute().parent)
        self._messages.show_message("info", text, "", "written", passing=True)

    @Slot(str)
    def say_not_written(self, sentence: str) -> None:
        self._messages.show_message("error", sentence, "", "export")

"""A window's files: open, drop, step through a list, save, and report what was saved where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QLocale, QObject, QTimer, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

import gpu_ops
from app.base.numbers import shown
from app.controllers.importing import ImportController
from app.controllers.session import SessionController
from app.models.experiment.change import Change
from app.models.files.facts import facts_of
from app.models.files.file_list import FileList
from app.models.files.file_names import all_files, open_kinds, proposed_name, suffixes
from app.models.files.folder import files_in
from app.models.messages import UNDER
from app.models.settings import Settings
from app.models.timing.claims_table import claims_csv, claims_json
from app.views.picture_file import export_sheet, write_text
from app.views.window.message_bar import MessageBar
from app.views.window.saver import Saver
from gpu_ops import KernelscopeError, comment_lines
from gpu_ops.engine.messages import LoadRequest, NonFinite
from gpu_ops.params import Values

if TYPE_CHECKING:
    from app.models.pictures.display import Display
    from app.views.results.pictures import Pictures
    from app.views.sweep.panel import SweepPanel
    from app.views.timeline.panel import TimelinePanel
    from app.views.timing.figures_page import FiguresPage
    from app.views.timing.ladder import TimingLadder
    from app.views.xray.panel import XRayPanel

Chooser = Callable[[QWidget, str, str, str], str]
"""(parent, title, folder or proposed path, file filters in Qt's notation) to the path that the user picks, or ""."""
JSON, PICTURE = "JSON (*.json)", "PNG (*.png);;SVG (*.svg)"
Opener = Callable[[QWidget, str, str, str], "str | Sequence[str]"]
"""The same for files to open: one path, several, or none."""


def choose_files(parent: QWidget, title: str, folder: str, kinds: str) -> Sequence[str]:
    """Ask the user for files to open."""
    return QFileDialog.getOpenFileNames(parent, title, folder, kinds)[0]


def choose_folder(parent: QWidget, title: str, folder: str) -> str:
    """Ask the user for a folder to open; "" for none."""
    return QFileDialog.getExistingDirectory(parent, title, folder)


def choose_target(parent: QWidget, title: str, proposed: str, kinds: str) -> str:
    """Ask the user for a path to save to, "" for none; a name without a suffix gets the proposed one's."""
    dialog = QFileDialog(parent, title, str(Path(proposed).parent), kinds)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(Path(proposed).suffix.removeprefix("."))
    dialog.selectFile(Path(proposed).name)
    picked = dialog.selectedFiles() if dialog.exec() else []
    dialog.deleteLater()
    return picked[0] if picked else ""


class Files(QObject):
    """Asks for paths with `chooser` and `target`. Files that were opened together form a list to step through; a file
    that cannot be opened is reported and skipped."""

    def __init__(
        self,
        window: QWidget,
        controller: SessionController,
        importing: ImportController,
        messages: MessageBar,
        settings: Settings,
        chooser: Opener = choose_files,
        target: Chooser = choose_target,
    ) -> None:
        super().__init__(window)
        self._window, self.chooser, self.target = window, chooser, target
        self.folder_chooser = choose_folder
        self._controller, self._messages, self._settings = controller, messages, settings
        self._importing = importing
        self.list = FileList(self)
        self._begun = ""
        self.saver = Saver(self, controller, messages, self.ask_target, self.proposed)
        self._controller.succeeded.connect(self._take_success)
        self._controller.message.connect(self._take_message)
        self._controller.nonfinite_found.connect(self._offer)
        self._controller.session.changed.connect(self._take_input)

    # Opening

    def open(self) -> None:
        """Ask for files and open the first; `go` opens the others."""
        paths = self.choose(self.tr("Open an image or a signal"))
        if len(paths) == 1:
            self.open_path(paths[0])
        elif paths:
            text = self.tr("You opened {count} files. This is the first; Page Down opens the next.")
            self._begin(paths, text)

    def open_with_choices(self) -> None:
        """Ask for a file, and how to read it."""
        paths = self.choose(self.tr("Open with choices"))
        if paths:
            self.list.instead(paths[0])
            self._importing.ask(paths[0])

    def open_path(self, path: str, values: Values | None = None) -> None:
        """Open a file, or the files of a folder, or as one stack with `values` of choices."""
        if Path(path).is_dir() and not values:
            self._open_folder(path)
        else:
            self.list.instead(path)
            self._importing.open(path, values)

    def choose(self, title: str, kinds: str = "") -> list[str]:
        """Ask for files in the folder of the last one; `kinds` are file filters, those of inputs by default."""
        picked = self.chooser(self._window, title, self._settings.open_folder, kinds or open_kinds())
        paths = [path for path in ([picked] if isinstance(picked, str) else picked) if path]
        if paths:
            self._settings.set_open_folder(str(Path(paths[0]).parent))
        return paths

    def _open_folder(self, folder: str) -> None:
        """Open the files of a folder one by one, or let the user open its images as one stack."""
        name, found = Path(folder).name or folder, files_in(folder)
        if not found.paths:
            text = self.tr("{folder} holds no file that can be opened; the types are {types}.")
            text = found.reason or text.format(folder=name, types=" ".join(suffixes()))
            self._messages.show_message("error", text, "", "open")
        elif found.images < 2:
            self._walk(found.paths)
        else:
            text = self.tr("{folder} holds {count} files. Open its images as one stack, or its files one by one?")
            text = text.format(folder=name, count=shown(len(found.paths)))
            choices = {
                self.tr("As one stack"): lambda: self._importing.open(folder),
                self.tr("One by one"): lambda: self._walk(found.paths),
            }
            self._messages.show_message("info", text, "", "open", choices=choices)

    def _walk(self, paths: Sequence[str]) -> None:
        if len(paths) == 1:
            self._importing.open(paths[0])
        else:
            self._begin(paths, self.tr("The folder holds {count} files. This is the first; Page Down opens the next."))

    def open_folder(self) -> None:
        """Ask for a folder of images and open it as a stack."""
        path = self.folder_chooser(self._window, self.tr("Open a folder of images"), self._settings.open_folder)
        if path:
            self._settings.set_open_folder(str(Path(path).parent))
            self.list.instead(path)
            self._importing.open(path)

    @Slot(str, object, object)
    def _offer(self, sentence: str, nonfinite: NonFinite, request: LoadRequest) -> None:
        """A file has non-finite values: let the user choose how to open it."""
        texts = {"keep": self.tr("Keep them"), "zero": self.tr("Replace them with 0")}

        def opening(choice: str) -> Callable[[], None]:
            return lambda: self._controller.open_file(request.path, {**request.options, "nonfinite": choice})

        choices = {texts.get(choice, choice): opening(choice) for choice in nonfinite.choices}
        text = self.tr("{sentence} It is not open yet: choose what to do with them.").format(sentence=sentence)
        self._messages.show_message("warning", text, "", "open", choices=choices)

    def drop(self, paths: Sequence[str]) -> None:
        """Open the first of these; `go` opens the others. A folder among several files is replaced by its files."""
        if len(paths) == 1:
            self._messages.settle("files")
            self.open_path(paths[0])
            return
        each = [path for given in paths for path in (files_in(given).paths if Path(given).is_dir() else (given,))]
        self._begin(each or paths, self.tr("You dropped {count} files. This is the first; Page Down opens the next."))

    def _begin(self, paths: Sequence[str], text: str) -> None:
        """Open the first of several files, and say so with this text."""
        self._begun = text.format(count=shown(len(paths)))
        self._messages.settle("files")
        self._importing.open(self.list.start(paths))

    def go(self, step: int) -> None:
        """Open the next of several files that were opened together, or the previous one with -1."""
        path = self.list.go(step)
        if path:
            self._messages.settle("files")
            self._importing.open(path)

    def place_text(self) -> str:
        """The position of the open file among those that were opened together: "(2 of 3)"; empty for a single one."""
        count, place = len(self.list.paths), self.list.place + 1
        if count < 2 or place < 1:
            return ""
        return self.tr("({place} of {count})").format(place=shown(place), count=shown(count))

    @Slot(object)
    def _take_input(self, change: Change) -> None:
        shared = change.after.input
        if not change.opened or shared is None:
            return
        moving_on = self.list.waiting
        self.list.opened(str(shared.origin.get("path", "")))
        if moving_on and len(self.list.paths) > 1:
            self._say_place(shared.name)

    def _say_place(self, name: str) -> None:
        """Report the opened file's position in the list; the first time also how to open the next one."""
        begun, self._begun = self._begun, ""
        if begun:
            self._messages.show_message("info", begun, "", "files")
        else:
            place, count = shown(self.list.place + 1), shown(len(self.list.paths))
            text = self.tr("File {place} of {count}: {name}.").format(place=place, count=count, name=name)
            self._messages.show_message("info", text, "", "files", passing=True)

    @Slot(str, str, str, str)
    def _take_message(self, kind: str, sentence: str, details: str, subject: str) -> None:
        """A file of the list cannot be opened: report it, and try the next one."""
        if not (self.list.waiting and kind == "error" and subject == "open"):
            return
        following = self.list.failed()
        if following:
            self._messages.settle("open")
            text = self.tr("{reason} It was removed from the list.")
            self._messages.show_message("warning", text.format(reason=sentence), details, "left out")
            # The job that failed ends first.
            QTimer.singleShot(0, self, lambda: self._importing.open(following))

    # Writing

    def ask_target(self, title: str, name: str, kinds: str) -> str:
        """Ask where to save a file of this name, in the last folder at first; "" for nowhere."""
        path = self.target(self._window, title, str(Path(self._settings.save_folder, name)), kinds)
        if path:
            self._settings.set_save_folder(str(Path(path).parent))
        return path

    def proposed(self, what: str, suffix: str, params: Mapping[str, Any] | None = None) -> str:
        """A file name for a result of the present input, by its parameters, or by those of a pinned result."""
        session = self._controller.session
        name = session.input.name if session.input else ""
        return proposed_name(name, session.filter, session.choice.params if params is None else params, what, suffix)

    def save_result(self, looked_at: str = "", display: Display | None = None) -> None:
        """Ask for a name and save the present output of the variant that is `looked_at`, else the last result of the
        whole input; `display` has the levels that the window shows."""
        self.saver.ask(looked_at, display)

    def facts(self) -> dict[str, Any]:
        """The facts about the visible results; without results, about the input."""
        return facts_of(self._controller.session, self._controller.results)

    def export_view(self, pictures: Pictures) -> None:
        """Ask for a name and save the present view as a picture."""
        session = self._controller.session
        if pictures.picture() is None:
            text = self.tr("There is nothing to save yet; open an image or a signal first.")
            self._messages.show_message("warning", text, "", "export")
            return
        kinds = f"PNG (*.png);;SVG (*.svg);;{all_files()}"
        name = self.proposed(f"{session.output.id}-view", ".png")
        path = self.ask_target(self.tr("Save the view as PNG or SVG"), name, kinds)
        if path:
            sheet, facts = pictures.view.sheet, self.facts()
            self._write(path, lambda: export_sheet(sheet, path, session.filter.title, facts))

    def export_ladder(self, ladder: TimingLadder) -> None:
        """Ask for a name and save the ladder as a picture."""
        kinds = f"PNG (*.png);;SVG (*.svg);;{all_files()}"
        path = self.ask_target(self.tr("Save the ladder as PNG or SVG"), self.proposed("ladder", ".png"), kinds)
        if path:
            self._write(path, lambda: ladder.export(path, facts=self.facts()))

    def export_sweep(self, panel: SweepPanel, kind: str) -> None:
        """Ask for a name and save the visible sweep: its rows ("csv" or "json") or its "picture"."""
        if not panel.subject:
            text = self.tr("There is no sweep to save yet; run one in the Sweep tab.")
            self._messages.show_message("warning", text, "", "export")
            return
        title, suffix, kinds = {
            "csv": (self.tr("Save the sweep as CSV"), ".csv", "CSV (*.csv)"),
            "json": (self.tr("Save the sweep as JSON"), ".json", "JSON (*.json)"),
            "picture": (self.tr("Save the sweep as PNG or SVG"), ".png", "PNG (*.png);;SVG (*.svg)"),
        }[kind]
        name = self.proposed(panel.subject, suffix)
        path = self.ask_target(title, name, f"{kinds};;{all_files()}")
        if path:
            self._write(path, lambda: panel.export(path, kind))

    def export_figures(self, table: str) -> None:
        """Ask for a name and save these statistics of a region, or this profile; "" is none."""
        if not table:
            text = self.tr("There are no statistics to save yet; draw a region or a profile line first.")
            self._messages.show_message("warning", text, "", "export")
            return
        title, kinds = self.tr("Save the statistics as CSV"), f"CSV (*.csv);;{all_files()}"
        path = self.ask_target(title, self.proposed("figures", ".csv"), kinds)
        if path:
            self._write(path, lambda: write_text(path, comment_lines(self.facts()) + table))

    @Slot(object)
    def export_claims(self, claims: Any) -> None:
        """Ask for a name and save the judged claims, as JSON where the name ends in .json and else as CSV."""
        kinds = f"CSV (*.csv);;JSON (*.json);;{all_files()}"
        path = self.ask_target(self.tr("Save the claims as CSV or JSON"), "claims.csv", kinds)
        if path:
            text_of = claims_json if Path(path).suffix.lower() == ".json" else claims_csv
            self._write(path, lambda: write_text(path, text_of(claims)))

    @Slot(object)
    def export_figure(self, page: FiguresPage) -> None:
        """Ask for a name and save the figure of the page, in the format of the name's suffix."""
        if page.shown is None:
            return
        kinds = f"PNG (*.png);;SVG (*.svg);;CSV (*.csv);;JSON (*.json);;{all_files()}"
        name = f"{page.shown.figure.id}.png"
        path = self.ask_target(self.tr("Save the figure as PNG, SVG, CSV or JSON"), name, kinds)
        if path:
            self._write(path, lambda: page.export(path))

    @Slot(object)
    def open_figures(self, page: FiguresPage) -> None:
        """Ask for a report and draw the figures of the page with its points."""
        kinds = self.tr("Reports (*.json)")
        for path in self.choose(self.tr("Draw the points of a report"), f"{kinds};;{all_files()}")[:1]:
            try:
                page.set_figures(gpu_ops.draw_figures({path: gpu_ops.read_report(path)}))  # imported at first use
            except KernelscopeError as error:
                self._messages.show_message("error", str(error), "", "report")
            else:
                self._messages.settle("report")

    def export_xray(self, panel: XRayPanel, kind: str) -> None:
        """Ask for a name and save the X-ray: the visible part as a "picture", or all its counts ("json")."""
        missing = self.tr("There is no X-ray to save yet; open the X-ray panel and wait for it.")
        kinds = {
            "json": (self.tr("Save the X-ray as JSON"), JSON),
            "picture": (self.tr("Save the X-ray as PNG or SVG"), PICTURE),
        }
        self._export(panel, kind, "xray", missing, *kinds[kind])

    def export_timeline(self, panel: TimelinePanel, kind: str) -> None:
        """Ask for a name and save the timelines as a "picture", as "json", or as a "trace" in Chrome's format."""
        missing = self.tr("There are no timelines to save yet; open the Timeline tab and wait for them.")
        kinds = {
            "json": (self.tr("Save the timelines as JSON"), JSON),
            "trace": (self.tr("Save the timelines as a trace for Perfetto"), JSON),
            "picture": (self.tr("Save the timelines as PNG or SVG"), PICTURE),
        }
        self._export(panel, kind, "trace" if kind == "trace" else "timeline", missing, *kinds[kind])

    def _export(
        self, panel: XRayPanel | TimelinePanel, kind: str, name: str, missing: str, title: str, to: str
    ) -> None:
        """Ask for a name and save the content of a panel; `missing` is shown where there is none."""
        if not panel.filled:
            self._messages.show_message("warning", missing, "", "export")
            return
        suffix = ".json" if to == JSON else ".png"
        path = self.ask_target(title, self.proposed(name, suffix), f"{to};;{all_files()}")
        if path:
            self._write(path, lambda: panel.export(path, kind, self.facts()))

    def _write(self, path: str, write: Callable[[], None]) -> None:
        """Write a file in this process and report it."""
        try:
            write()
        except KernelscopeError as error:
            self.say_not_written(str(error))
        else:
            self.say_written(path)

    @Slot(str)
    def _take_success(self, subject: str) -> None:
        """A result was saved: remove the messages about earlier failures."""
        what, _, path = subject.partition(UNDER)
        if what == "save" and path:
            self._messages.settle(what)
            self.say_written(path, self.saver.mapping_of(path))

    @Slot(str)
    def say_written(self, path: str, mapping: str = "") -> None:
        """Report the saved file, and how its values were converted, in place of what was said of it and of failures."""
        file = Path(path).absolute()
        for subject in ("export", f"written{UNDER}{file}"):
            self._messages.settle(subject)
        size = QLocale().formattedDataSize(file.stat().st_size)
        text = self.tr("Saved {name} ({size}) in {folder}.").format(name=file.name, size=size, folder=file.parent)
        text += self.tr(" Its values: {mapping}.").format(mapping=mapping) if mapping else ""
        self._messages.show_message("info", text, "", subject, passing=True)

    @Slot(str)
    def say_not_written(self, sentence: str) -> None:
        self._messages.show_message("error", sentence, "", "export")

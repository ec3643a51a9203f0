"""The window: panels around the pictures, and every action connected to its handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragMoveEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QMainWindow, QSizePolicy, QWidget

import gpu_ops
from app.controllers.frames import FrameController
from app.controllers.importing import ImportController
from app.controllers.kernels.own_kernel import OwnKernelController
from app.controllers.kernels.traffic import TrafficController
from app.controllers.live.live import LiveController
from app.controllers.look import Appearance
from app.controllers.playback import Playback
from app.controllers.recorded import SUBJECT as RECORDED
from app.controllers.recorded import RecordedRuns, Reports
from app.controllers.refusal import InputRefusal
from app.controllers.remotes import RemoteMachines
from app.controllers.session import SessionController
from app.controllers.sessions import SessionFiles
from app.controllers.timeline import TimelineController
from app.controllers.xray import XRayController
from app.models.experiment.steps import title_with_steps
from app.models.hints import Hints
from app.models.log import Log
from app.models.messages import Message
from app.models.pictures.display import Display
from app.models.settings import Settings
from app.shell.actions import build_actions, fill_menu_bar
from app.shell.context import Context
from app.views.boxes import in_column
from app.views.charts.cut_bar import CutBar
from app.views.dialogs.catalogue import Catalogue
from app.views.dialogs.command_palette import CommandPalette
from app.views.dialogs.diagnostics import DiagnosticsPage
from app.views.dialogs.guide_catalogue import GuideCatalogue
from app.views.dialogs.import_dialog import ImportDialog
from app.views.dialogs.page_window import Pages
from app.views.dialogs.preferences import apply_preferences
from app.views.dialogs.recent_menu import RecentMenu
from app.views.live.bar import LiveBar
from app.views.page_makers import FITTING, page_makers
from app.views.pictures.clipboard import PasteFile
from app.views.pictures.frame_bar import FrameBar
from app.views.results.links import Links
from app.views.results.notes import Notes
from app.views.results.pictures import INPUT as INPUT
from app.views.results.pictures import Pictures
from app.views.scrolled import Scrolled, ScrolledAbove
from app.views.start.starting import Starting
from app.views.traffic.bar import TrafficBar
from app.views.traffic.link import TrafficLink
from app.views.window.context_menu import ContextMenus
from app.views.window.docks import Docks
from app.views.window.files import Chooser, Files, Opener, choose_files, choose_target
from app.views.window.full_screen import FullScreen
from app.views.window.handlers import open_guide, show_diagnostics
from app.views.window.keyboard import Letters, order_focus
from app.views.window.message_bar import MessageBar
from app.views.window.panels import EXPERIMENT, LADDER, LEVELS, SWEEP, TIMELINE, XRAY
from app.views.window.placing import put_on_screen
from app.views.window.probing import Probing
from app.views.window.session_link import SessionLink, ask_to_close, batch_of, keep_last
from app.views.window.status_line import StatusLine
from app.views.window.window_actions import WindowActions
from app.views.window.window_parts import WindowParts
from gpu_ops.io.opening import NOTE

if TYPE_CHECKING:
    from app.views.curves.signal_pane import SignalPane
    from app.views.sweep.panel import SweepPanel
    from app.views.timeline.panel import TimelinePanel
    from app.views.xray.panel import XRayPanel


MOVED_MS = 100
"""Milliseconds without a change of place and zoom after which other machines send what is in view now."""
ORDER_MS = 50
"""Milliseconds without a change of the panes after which the order of the Tab key is updated."""


def _recorded_reports() -> Reports:
    """All shipped reports; the code that reads and judges them is imported at first use."""
    return gpu_ops.recorded_reports()


class MainWindow(QMainWindow):
    """Puts the parts together and listens to the models; it computes nothing."""

    def __init__(
        self,
        controller: SessionController,
        look: Appearance,
        chooser: Opener = choose_files,
        target: Chooser = choose_target,
        settings: Settings | None = None,
        log: Log | None = None,
    ) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        messages, settings = MessageBar(self), settings or Settings()
        importing, xray = ImportController(controller, settings, self), XRayController(controller, self)
        self.context = context = Context(
            controller,
            importing,
            Display(self),
            look,
            settings,
            log or Log(self),
            messages,
            Files(self, controller, importing, messages, settings, chooser, target),
            Playback(controller, parent=self),
            RecordedRuns(controller.session, controller.results, _recorded_reports, self),
            xray,
            TimelineController(controller, self),
            _recorded_reports,
            FrameController(controller, self),
            SessionFiles(controller, settings, self),
            OwnKernelController(controller, self),
            RemoteMachines(controller.queue.engine, settings, self),
            TrafficController(controller, xray, self),
            Hints(settings, self),
            LiveController(controller, self),
        )
        self.stack = Pictures(context.display, context.session, context.results, self)
        self.links = Links(self.stack, context.session, context.results)
        self.frame_bar, self.cut_bar = FrameBar(context.frames, self), CutBar(context.session, self)
        self.probing = Probing(self.stack, context.session, self)
        self.docks = Docks(self, context)
        self._name_parts()
        self._arrange()
        self.parts = self._make_parts()
        self.actions_by_id = self.parts.actions
        WindowActions(self.parts)
        self.context_menus, self.notes = ContextMenus(self.parts), Notes(self.stack, context.session, context.results)
        self.status = StatusLine(self.statusBar(), context.results, self.parts.actions["cancel"])
        apply_preferences(context)
        self._listen()
        self.docks.note_first()

    def _name_parts(self) -> None:
        """Short names of parts for benchmarks and tests, which drive the window."""
        context, docks = self.context, self.docks
        self.controller, self.display, self.look = context.controller, context.display, context.look
        self.messages, self.files, self.output_panes = context.messages, context.files, self.links.outputs
        self.panes, self.panel, self.ladder = self.stack.panes, docks[EXPERIMENT], docks[LADDER]
        self.tabs, self.timing_dock = docks.tabs["timing"], docks.places["timing"]
        self.experiment_dock, self.xray_dock = docks.places["experiment"], docks.places["xray"]

    @property
    def signal_pane(self) -> SignalPane:
        """The pane that draws curves."""
        return self.stack.signal_pane

    @property
    def sweep(self) -> SweepPanel:
        """The panel in the sweep's tab."""
        return self.docks[SWEEP]

    @property
    def timeline(self) -> TimelinePanel:
        """The panel in the timeline's tab."""
        return self.docks[TIMELINE]

    @property
    def xray_panel(self) -> XRayPanel:
        """The X-ray panel."""
        return self.docks[XRAY]

    # Layout

    def _arrange(self) -> None:
        self.setWindowTitle("Kernelscope")
        self.setAcceptDrops(True)
        self._letters = Letters(self.stack)
        centre = QWidget(self)
        messages = ScrolledAbove(self.context.messages, centre)
        self.context.messages.passing.connect(messages.set_over)
        layout = in_column(messages, on=centre, gap=0)
        pictures = Scrolled(self.stack, centre)
        pictures.room_changed.connect(lambda: self.stack.fit(pictures.room))
        pictures.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # the room that messages leave
        layout.addWidget(pictures, 1)
        self.live_bar = LiveBar(self.context.live, self)
        for bar in (self.frame_bar, self.live_bar):
            layout.addWidget(bar)
        layout.addWidget(self.cut_bar)
        layout.addWidget(self.probing.bar)
        self.probing.bar.watch(centre)
        self.traffic_bar = TrafficBar(self.context.traffic, self)
        TrafficLink(self.stack, self.context.traffic, self.probing.probe)
        layout.addWidget(self.traffic_bar)
        self.setCentralWidget(centre)

    def _make_parts(self) -> WindowParts:
        self.full_screen = FullScreen(self, self.stack, self.docks)
        context, actions = self.context, build_actions(self)
        menus = fill_menu_bar(self.menuBar(), actions)
        recent = RecentMenu(menus["file/recent"], actions["clear_recent"], context.settings, context.importing.open)
        makers = page_makers(context, actions, recent)
        pages, catalogue = Pages(self, makers, FITTING), Catalogue(context.session, self)
        guide = GuideCatalogue(lambda name, anchor: open_guide(self.parts, name, anchor), self)
        palette, pasted = CommandPalette(self), PasteFile()
        parts = pages, actions, menus, recent, catalogue, guide, palette, pasted, self.probing.probe, self.full_screen
        return WindowParts(context, self, self.stack, self.docks, *parts)

    def _listen(self) -> None:
        context, controller = self.context, self.context.controller
        controller.queue.in_view, controller.queue.pixels = self.links.in_view, self.links.pixels
        moved = QTimer(self, singleShot=True, interval=MOVED_MS)
        moved.timeout.connect(controller.look_again)
        context.display.navigated.connect(lambda: moved.start())
        self.import_dialog = ImportDialog(context.importing, self)
        SessionLink(self.parts)
        self.starting = Starting(self.parts, context.hints)
        controller.input_array_changed.connect(self._show_input)
        controller.stepped_array_changed.connect(self._show_stepped)
        controller.outputs_changed.connect(self.stack.show_output)
        controller.outputs_changed.connect(self.cut_bar.show_output)
        for changed in (self.stack.view_changed, self.stack.arranged, self.stack.looked_at.changed):
            changed.connect(self._show_levels)
        self.stack.failed.connect(self._say_not_drawn)
        for changed in (self.panel.letters_changed, self.docks.made):
            changed.connect(self._share_letters)
        show = context.messages.show_message
        context.importing.message.connect(lambda kind, text, details, about: show(kind, text, details, about, True))
        self.refusal = InputRefusal(controller, self)
        self.refusal.found.connect(self._show_refusal)
        self.refusal.gone.connect(lambda: context.messages.settle("refused"))
        for speaker in (controller, context.playback, context.frames, context.live, context.remotes):
            speaker.message.connect(context.messages.show_message)
            speaker.succeeded.connect(context.messages.settle)
        context.recorded.missing.connect(self._show_nearest)
        context.recorded.succeeded.connect(context.messages.settle)
        context.files.list.changed.connect(self._show_title)
        context.sessions.path_changed.connect(self._show_title)
        context.messages.shown.connect(self._log_message)
        context.messages.more_wanted.connect(lambda: show_diagnostics(self.parts, log=True))
        context.playback.moved.connect(self.stack.set_heard)
        controller.began.connect(self.status.begin)
        controller.busy_changed.connect(self.status.show_busy)
        controller.progressed.connect(self.status.show_progress)
        controller.devices_changed.connect(self.status.show_devices)
        controller.doctor_answered.connect(self._show_doctor)
        # Forms and panes are created when needed, and Qt appends new widgets to the end of the tab order. To walk
        # through all of them takes as long as to draw a picture, which comes first.
        self._ordering = QTimer(self, singleShot=True, interval=ORDER_MS)
        self._ordering.timeout.connect(self._order_focus)
        self.stack.arranged.connect(lambda: self._ordering.start())

    # Files

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        self._offer_copy(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802
        self._offer_copy(event)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        if self._offer_copy(event):
            paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
            if not self.docks.open(paths):
                self.context.files.drop(paths)
            self.stack.setFocus()

    def open_kernel(self, path: str) -> None:
        """Show the panel of kernels from elsewhere and open a file there; nothing is launched."""
        self.docks.open([path])

    def _offer_copy(self, event: QDropEvent) -> bool:
        """Dropped files are read, never moved, whatever the other program proposes."""
        if not any(url.isLocalFile() for url in event.mimeData().urls()):
            return False
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """A letter that no part of the window handles goes to the pictures."""
        if not self._letters.send(event):
            super().keyPressEvent(event)

    # Signals of the models

    @Slot()
    def _share_letters(self) -> None:
        """The timeline's controls take the letters that the form leaves, which differ from filter to filter."""
        timeline = self.docks.existing(TIMELINE)
        if timeline is not None:
            timeline.controls.set_taken(self.panel.letters)

    def _order_focus(self) -> None:
        if self.controller.queue.playing:  # frames bring no other widgets
            self._ordering.start()
            return
        bars = self.frame_bar, self.live_bar, self.cut_bar, self.probing.bar, self.traffic_bar
        order_focus(self, self.docks.around(self.stack, *bars))

    @Slot(object, object)
    def _show_input(self, array: np.ndarray, shared: Any) -> None:
        path = str(shared.origin.get("path", ""))
        if path and path != self.parts.pasted.path:
            self.parts.recent.add(path)
        self.context.messages.settle(NOTE)
        self._show_title()
        self.stack.show_input(array, shared)

    @Slot(object, object)
    def _show_stepped(self, array: np.ndarray, shared: Any) -> None:
        """The same input after other steps, or as it was opened."""
        self._show_title()
        self.stack.show_stepped(array, shared)

    @Slot()
    def _show_title(self) -> None:
        """Name the input, its place among the files that were opened together, and the session's file."""
        input, session = self.controller.session.input, Path(self.context.sessions.path).name
        if input is not None:
            name = " ".join(filter(None, (title_with_steps(input), self.context.files.place_text())))
            name = self.tr("{name} – {session}").format(name=name, session=session) if session else name
            self.setWindowTitle(self.tr("{name} – Kernelscope").format(name=name))

    @Slot()
    def _show_levels(self) -> None:
        """Show the levels of the visible view, if it has any."""
        display = self.stack.looked_at.levels or self.stack.display
        self.docks.offer(LEVELS, display is not None)
        if display is not None:
            self.docks[LEVELS].set_display(display)

    @Slot(str, object)
    def _show_refusal(self, sentence: str, choices: Mapping[str, Callable[[], object]]) -> None:
        self.context.messages.show_message("warning", sentence, "", "refused", choices=choices)

    @Slot(str, object)
    def _show_nearest(self, sentence: str, choices: Mapping[str, Callable[[], object]]) -> None:
        self.context.messages.show_message("info", sentence, "", RECORDED, choices=choices)

    @Slot(str)
    def _say_not_drawn(self, sentence: str) -> None:
        self.context.messages.show_message("error", sentence, "", "view")

    @Slot(object)
    def _show_doctor(self, content: Mapping[str, Any]) -> None:
        page = self.parts.pages["diagnostics"].page
        assert isinstance(page, DiagnosticsPage)
        page.set_doctor(content)

    @Slot(object)
    def _log_message(self, message: Message) -> None:
        self.context.log.add(f"window {message.kind}", message.text)

    # State

    def restore(self) -> None:
        """Restore the stored geometry and layout; what does not fit is ignored."""
        if not self.context.settings.restored:
            return
        geometry, layout = self.context.settings.window()
        if not geometry.isEmpty() and self.restoreGeometry(geometry):
            put_on_screen(self)
        self.docks.restore(layout)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        settings, look = self.context.settings, self.context.look
        if not ask_to_close(self.parts):
            event.ignore()
            return
        self.full_screen.leave()
        start = self.docks.places["start"]
        start.hide()  # the last session and the next window begin with their picture
        keep_last(self.parts)  # with the steps that are not done yet
        self.context.controller.cancel()
        start.hide()  # it comes back where the first picture is cancelled
        self.context.sessions.end()
        self.context.playback.stop()
        self.context.own_kernel.close()
        if (batch := batch_of(self.parts)) is not None:
            batch.close()
        settings.set_window(self.saveGeometry(), self.docks.layout())
        settings.set_look(look.choice, look.presenter)
        settings.save()
        super().closeEvent(event)

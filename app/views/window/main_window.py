"""The window: panels around the pictures, and every action joined to what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMainWindow,
    QMenu,
    QScrollArea,
    QSizePolicy,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

import gpu_ops
from app.controllers.look import Look
from app.controllers.playback import Playback
from app.controllers.recorded import RecordedRuns, Reports
from app.controllers.session import SessionController
from app.controllers.xray import XRayController
from app.models.display import Display
from app.models.log import Log
from app.models.messages import Message
from app.settings import Settings
from app.views.experiment.panel import ExperimentPanel
from app.views.lazy import Lazy
from app.views.results.clipboard import PasteFile
from app.views.results.histogram import HistogramBar
from app.views.results.pictures import INPUT as INPUT
from app.views.results.pictures import Pictures
from app.views.scrolled import Scrolled, ScrolledAbove
from app.views.timing.claims_page import ClaimsPage
from app.views.timing.ladder import TimingLadder
from app.views.timing.result_table import ResultTable
from app.views.window.catalogue import Catalogue
from app.views.window.command_palette import CommandPalette
from app.views.window.diagnostics import DiagnosticsPage
from app.views.window.dock import Dock
from app.views.window.dock_sizes import DockSizes, Usual
from app.views.window.files import Chooser, Files, choose_file, choose_target
from app.views.window.message_bar import MessageBar
from app.views.window.page_window import PageWindow
from app.views.window.placing import put_on_screen
from app.views.window.preferences import PreferencesPage, apply_preferences
from app.views.window.recent_menu import RecentMenu
from app.views.window.shortcuts import ShortcutsPage
from app.views.window.status_line import StatusLine
from app.views.window.window_actions import join_actions, order_focus, palette_offers, show_look
from app.views.xray.panel import XRayPanel

LAYOUT_VERSION = 3
"""Goes up when the panels have other places at first: a layout that was kept with another number is left alone."""
BESIDE, TIMES, XRAY = Usual(44, 0.28), Usual(64, 0.28), Usual(76, 0.32)
"""The panels' widths at first."""

if TYPE_CHECKING:
    from app.views.results.panes import PaneGrid
    from app.views.results.signal_pane import SignalPane
    from app.views.sweep.panel import SweepPanel


def _recorded_reports() -> Reports:
    """Every report that came along; what reads and judges them is imported when they are first wanted."""
    return gpu_ops.recorded_reports()


class MainWindow(QMainWindow):
    """Listens to the models, hands what a person does to the controller, and computes nothing."""

    actions_by_id: dict[str, QAction]
    menus: dict[str, QMenu]

    def __init__(
        self,
        controller: SessionController,
        look: Look,
        chooser: Chooser = choose_file,
        target: Chooser = choose_target,
        settings: Settings | None = None,
        log: Log | None = None,
    ) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Kernelscope")
        self.setAcceptDrops(True)
        self.controller, self.look = controller, look
        self.settings, self.log = settings or Settings(), log or Log(self)
        self.recorded = RecordedRuns(controller.session, controller.results, _recorded_reports, self)
        self.playback = Playback(controller, parent=self)
        self.display = Display(self)
        self.stack = Pictures(self.display, controller.session, controller.results, self)
        self.messages = MessageBar(self)
        self.files = Files(self, chooser, target)
        self.panel = ExperimentPanel(controller.session, self)
        self.ladder = TimingLadder(controller.results, self)
        self.table = ResultTable(controller.results, self, self.files.ask_target)
        self.table.propose = lambda kind: self.files.proposed("results", f".{kind}")
        self.sweep_tab = Lazy(self._make_sweep, self)
        self.histogram = HistogramBar(self.display, self)
        self.xray_panel = XRayPanel(XRayController(controller, self), self)
        self.palette_window = CommandPalette(self)
        self.catalogue = Catalogue(controller.session, self)
        self._pasted = PasteFile()
        self._pages: dict[str, PageWindow] = {}
        self._arrange()
        self._add_docks()
        join_actions(self)
        self.recent = RecentMenu(
            self.menus["file/recent"], self.actions_by_id["clear_recent"], self.settings, controller.open_file
        )
        self.status = StatusLine(self.statusBar(), controller.results, self.actions_by_id["cancel"])
        apply_preferences(self)
        self._listen()
        self._factory_layout = self.saveState(LAYOUT_VERSION)

    # Layout

    def _arrange(self) -> None:
        centre = QWidget(self)
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(ScrolledAbove(self.messages, centre))
        pictures = Scrolled(self.stack, centre)
        pictures.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # what messages leave
        layout.addWidget(pictures, 1)
        self.setCentralWidget(centre)

    def _add_docks(self) -> None:
        self.tabs = QTabWidget(self)
        self.tabs.setAccessibleName(self.tr("Timing and levels"))
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self.ladder, self.tr("Ladder"))
        self.tabs.addTab(self.table, self.tr("Table"))
        self.tabs.addTab(self.sweep_tab, self.tr("Sweep"))
        levels = QScrollArea(self)
        levels.setWidgetResizable(True)
        levels.setFrameShape(QScrollArea.Shape.NoFrame)
        levels.setWidget(self.histogram)
        self.levels_tab = self.tabs.addTab(levels, self.tr("Levels"))
        area = Qt.DockWidgetArea
        self.experiment_dock = self._dock("experiment", self.tr("Experiment"), self.panel, area.LeftDockWidgetArea)
        self.timing_dock = self._dock("timing", self.tr("Timing"), Scrolled(self.tabs, self), area.RightDockWidgetArea)
        xray = Scrolled(self.xray_panel, self)
        self.xray_dock = self._dock("xray", self.tr("X-ray"), xray, area.RightDockWidgetArea)
        self.tabifyDockWidget(self.timing_dock, self.xray_dock)
        self.setTabPosition(area.RightDockWidgetArea, QTabWidget.TabPosition.North)
        self.xray_dock.hide()
        self.setCorner(Qt.Corner.BottomLeftCorner, area.LeftDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, area.RightDockWidgetArea)
        usual = {self.experiment_dock: BESIDE, self.timing_dock: TIMES, self.xray_dock: XRAY}
        self.dock_sizes = DockSizes(self, usual)

    def _dock(self, name: str, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = Dock(title, self)
        dock.setObjectName(f"dock.{name}")
        dock.setAccessibleName(title)
        dock.setWidget(widget)
        self.addDockWidget(area, dock)
        return dock

    def _listen(self) -> None:
        controller = self.controller
        controller.input_array_changed.connect(self._show_input)
        controller.outputs_changed.connect(self.stack.show_output)
        self.stack.looked_changed.connect(self._show_levels)
        self.stack.failed.connect(lambda sentence: self.messages.show_message("error", sentence, "", "view"))
        for speaker in (controller, self.recorded, self.playback):
            speaker.message.connect(self.messages.show_message)
            speaker.succeeded.connect(self.messages.settle)
        self.messages.shown.connect(self._log_message)
        self.messages.more_wanted.connect(lambda: self.show_diagnostics(log=True))
        controller.began.connect(self.status.begin)
        controller.busy_changed.connect(self.status.show_busy)
        controller.progressed.connect(self.status.show_progress)
        controller.devices_changed.connect(self.panel.show_devices)
        controller.devices_changed.connect(self.status.show_devices)
        controller.doctor_answered.connect(self._show_doctor)
        self.table.exported.connect(self.files.say_written)
        self.table.failed.connect(self.files.say_not_written)
        # Forms and panes are made as they are needed, and Qt appends what is new to the end of the way of Tab.
        self.stack.arranged.connect(lambda: QTimer.singleShot(0, self, self._order_focus))
        self.panel.run_wanted.connect(controller.run_live)
        self.panel.measure_wanted.connect(controller.measure)
        self.panel.variants.selection_changed.connect(self.xray_panel.choose)

    # Files

    def _make_sweep(self, parent: QWidget) -> SweepPanel:
        from app.controllers.sweep import SweepController
        from app.views.sweep.panel import SweepPanel

        return SweepPanel(SweepController(self.controller, _recorded_reports, parent), parent)

    @property
    def sweep(self) -> SweepPanel:
        """What stands in the sweep tab."""
        return self.sweep_tab.content

    def start_sweep(self) -> None:
        """Show the sweep tab and sweep over what stands there."""
        self.tabs.setCurrentWidget(self.sweep_tab)
        self.sweep.start()

    def copy_image(self) -> None:
        """Put the picture with the focus, or the last result's, on the clipboard; all else as it is drawn."""
        image = self.stack.picture()
        if image is not None:
            QApplication.clipboard().setImage(image)
        else:
            text = self.tr("There is no picture to copy yet; open one first.")
            self.messages.show_message("warning", text, "", "clipboard")

    def paste_image(self) -> None:
        """Take the picture on the clipboard as input."""
        image = QApplication.clipboard().image()
        if image.isNull():
            text = self.tr("There is no picture on the clipboard; copy one first.")
            self.messages.show_message("warning", text, "", "clipboard")
        elif self._pasted.write(image):
            self.messages.settle("clipboard")
            self.controller.open_file(self._pasted.path)
        else:
            text = self.tr("The picture cannot be kept: no temporary file can be made.")
            self.messages.show_message("error", text, "", "clipboard")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        self._offer_copy(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802
        self._offer_copy(event)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        if self._offer_copy(event):
            self.files.drop([url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()])
            self.stack.setFocus()

    def _offer_copy(self, event: QDropEvent) -> bool:
        """Files are read, never moved, whatever the other program proposes."""
        if not any(url.isLocalFile() for url in event.mimeData().urls()):
            return False
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        return True

    # Pictures

    @property
    def panes(self) -> PaneGrid:
        """Where pictures are shown beside the input."""
        return self.stack.panes

    @property
    def signal_pane(self) -> SignalPane:
        """Where curves are drawn over the input's."""
        return self.stack.signal_pane

    def _order_focus(self) -> None:
        order_focus(self, [self.panel, self.stack, self.tabs, self.xray_panel])

    @Slot(object, object)
    def _show_input(self, array: np.ndarray, shared: Any) -> None:
        path = str(shared.origin.get("path", ""))
        if path and path != self._pasted.path:
            self.recent.add(path)
        self.setWindowTitle(self.tr("{name} – Kernelscope").format(name=shared.name))
        self.stack.show_input(array, shared)

    @Slot()
    def _show_levels(self) -> None:
        """Those of what is looked at, where it has any."""
        display = self.stack.display
        self.tabs.setTabVisible(self.levels_tab, display is not None)
        if display is not None:
            self.histogram.set_display(display)

    # Pages

    def page(self, name: str) -> PageWindow:
        if name not in self._pages:
            makers: dict[str, Callable[[], QWidget]] = {
                "claims": self._claims_page,
                "shortcuts": lambda: ShortcutsPage(self.actions_by_id),
                "diagnostics": lambda: DiagnosticsPage(self.log),
                "preferences": lambda: PreferencesPage(self),
            }
            self._pages[name] = PageWindow(makers[name](), f"page.{name}", self, fits=name == "preferences")
        return self._pages[name]

    @staticmethod
    def _claims_page() -> QWidget:
        page = ClaimsPage()
        judgements = gpu_ops.judge_by_reports(gpu_ops.all_claims(), gpu_ops.recorded_reports())
        page.set_claims([j.as_dict() for j in judgements])
        return page

    def show_diagnostics(self, log: bool = False) -> None:
        """What the machine has, or the log."""
        window = self.page("diagnostics")
        assert isinstance(window.page, DiagnosticsPage)
        window.page.show_log(log)
        window.present()
        self.controller.ask_doctor()

    @Slot(object)
    def _show_doctor(self, content: Mapping[str, Any]) -> None:
        page = self.page("diagnostics").page
        assert isinstance(page, DiagnosticsPage)
        page.set_doctor(content)

    @Slot(object)
    def _log_message(self, message: Message) -> None:
        self.log.add(f"window {message.kind}", message.text)

    @Slot()
    def show_look(self) -> None:
        """Icons and marks as the look is now."""
        show_look(self)

    def show_about(self) -> None:
        text = self.tr(
            "Kernelscope {version}, BSD 3-Clause licence: an image and signal lab that shows why a GPU is fast."
        )
        self.messages.show_message("info", text.format(version=gpu_ops.__version__))

    # State

    def restore(self) -> None:
        """Take the place and the layout that were kept; anything that does not fit is left alone."""
        if not self.settings.restored:
            return
        geometry, layout = self.settings.window()
        if not geometry.isEmpty() and self.restoreGeometry(geometry):
            put_on_screen(self)
        if not layout.isEmpty() and self.restoreState(layout, LAYOUT_VERSION):
            self.dock_sizes.keep()

    def reset_layout(self) -> None:
        """Every panel in the place it has at first."""
        self.restoreState(self._factory_layout, LAYOUT_VERSION)
        self.dock_sizes.reset()

    def show_palette(self) -> None:
        """Offer every action that works now by its name."""
        self.recent.fill()
        self.palette_window.present(palette_offers(self))

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self.controller.cancel()
        self.playback.stop()
        self.settings.set_window(self.saveGeometry(), self.saveState(LAYOUT_VERSION))
        self.settings.set_look(self.look.choice, self.look.presenter)
        self.settings.save()
        super().closeEvent(event)

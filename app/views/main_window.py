"""The window: panels around the pictures, and every action joined to what it does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QFileDialog,
    QLabel,
    QMainWindow,
    QProgressBar,
    QScrollArea,
    QStackedWidget,
    QTabWidget,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from app.actions import build_actions, fill_menu_bar, fill_toolbar, set_icons
from app.controllers.look import Look
from app.controllers.session import SessionController
from app.models.display import Display
from app.views.claims_page import ClaimsPage
from app.views.diagnostics import DiagnosticsPage
from app.views.experiment_panel import ExperimentPanel
from app.views.histogram import HistogramBar
from app.views.ladder import TimingLadder
from app.views.message_bar import MessageBar
from app.views.page_window import PageWindow
from app.views.panes import PaneGrid
from app.views.result_table import ResultTable
from app.views.shortcuts import ShortcutsPage
from app.views.signal_pane import SignalPane
from gpu_ops import SAMPLES, __version__, all_claims, judge_by_reports, recorded_reports

LAYOUT_VERSION = 1
INPUT = "input"
MOST_PANES = 6
Chooser = Callable[[QWidget, str], str]


def choose_file(parent: QWidget, title: str) -> str:
    """A file that the person picks, or nothing."""
    return QFileDialog.getOpenFileName(parent, title)[0]


def choose_target(parent: QWidget, title: str) -> str:
    """Where the person wants a file written, or nothing."""
    return QFileDialog.getSaveFileName(parent, title)[0]


def _choose(choose: Callable[[str], None], action: QAction, _checked: bool = False) -> None:
    """Hand on what an action of a group stands for."""
    choose(action.data())


class MainWindow(QMainWindow):
    """Listens to the models, hands what a person does to the controller, and computes nothing."""

    def __init__(
        self,
        controller: SessionController,
        look: Look,
        chooser: Chooser = choose_file,
        target: Chooser = choose_target,
    ) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Kernelscope")
        self.setAcceptDrops(True)
        self._controller, self._look, self._chooser, self._target = controller, look, chooser, target
        self.display = Display(self)
        self.panes = PaneGrid(self.display, self)
        self.signal_pane = SignalPane(self)
        self.messages = MessageBar(self)
        self.panel = ExperimentPanel(controller.session, self)
        self.ladder = TimingLadder(controller.results, self)
        self.table = ResultTable(controller.results, self)
        self.histogram = HistogramBar(self.display, self)
        self._pages: dict[str, PageWindow] = {}
        self._curves: dict[str, tuple[np.ndarray, float | None]] = {}
        self._arrange()
        self._add_docks()
        self._add_status_bar()
        self._add_actions()
        self._listen()
        self._factory_layout = self.saveState(LAYOUT_VERSION)

    # Layout

    def _arrange(self) -> None:
        self.stack = QStackedWidget(self)
        self.stack.addWidget(self.panes)
        self.stack.addWidget(self.signal_pane)
        centre = QWidget(self)
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.messages)
        layout.addWidget(self.stack, 1)
        self.setCentralWidget(centre)

    def _add_docks(self) -> None:
        self.tabs = QTabWidget(self)
        self.tabs.addTab(self.ladder, self.tr("&Ladder"))
        self.tabs.addTab(self.table, self.tr("&Table"))
        levels = QScrollArea(self)
        levels.setWidgetResizable(True)
        levels.setFrameShape(QScrollArea.Shape.NoFrame)
        levels.setWidget(self.histogram)
        self.levels_tab = self.tabs.addTab(levels, self.tr("Le&vels"))
        area = Qt.DockWidgetArea
        self.experiment_dock = self._dock("experiment", self.tr("Experiment"), self.panel, area.LeftDockWidgetArea)
        self.timing_dock = self._dock("timing", self.tr("Timing"), self.tabs, area.BottomDockWidgetArea)
        self.setCorner(Qt.Corner.BottomLeftCorner, area.LeftDockWidgetArea)
        unit = self.fontMetrics().averageCharWidth()
        self.resizeDocks([self.experiment_dock], [unit * 44], Qt.Orientation.Horizontal)
        self.resizeDocks([self.timing_dock], [unit * 44], Qt.Orientation.Vertical)

    def _dock(self, name: str, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(title, self)
        dock.setObjectName(f"dock.{name}")
        dock.setWidget(widget)
        self.addDockWidget(area, dock)
        return dock

    def _add_status_bar(self) -> None:
        self.busy_label = QLabel(self)
        self.busy_label.setObjectName("busy")
        self.progress = QProgressBar(self)
        self.progress.setRange(0, 0)
        self.progress.setMaximumWidth(self.fontMetrics().averageCharWidth() * 20)
        self.progress.setAccessibleName(self.tr("Something is running"))
        self.progress.hide()
        self.statusBar().addWidget(self.busy_label, 1)
        self.statusBar().addPermanentWidget(self.progress)

    # Actions

    def _add_actions(self) -> None:
        self.actions_by_id = build_actions(self)
        self.menus = fill_menu_bar(self.menuBar(), self.actions_by_id)
        toolbar = QToolBar(self.tr("Main"), self)
        fill_toolbar(toolbar, self.actions_by_id)
        self.addToolBar(toolbar)
        set_icons(self.actions_by_id, self.palette())
        for sample in SAMPLES:
            action = QAction(sample.title, self)
            action.setObjectName(f"action.sample.{sample.id}")
            action.triggered.connect(lambda _=False, id=sample.id: self._controller.open_sample(id))
            self.menus["file/samples"].addAction(action)
        session = self._controller.session
        deeds: dict[str, Callable[[], Any]] = {
            "open": self.open_file,
            "save": self.save_result,
            "quit": self.close,
            "undo": session.undo,
            "redo": session.redo,
            "reset_parameters": session.reset_params,
            "run": self._controller.run_live,
            "measure": self._controller.measure,
            "cancel": self._controller.cancel,
            "fit": self._fit,
            "one_to_one": self._one_to_one,
            "zoom_in": lambda: self._zoom(1.25),
            "zoom_out": lambda: self._zoom(0.8),
            "levels_auto": lambda: self.display.auto_levels("range"),
            "presenter": lambda: self._look.set_presenter(self.actions_by_id["presenter"].isChecked()),
            "claims": lambda: self._page("claims").present(),
            "shortcuts": lambda: self._page("shortcuts").present(),
            "diagnostics": self._show_diagnostics,
            "export_csv": lambda: self.table.export("csv"),
            "export_json": lambda: self.table.export("json"),
            "about": self._show_about,
            "reset_layout": lambda: self.restoreState(self._factory_layout, LAYOUT_VERSION),
            "export_png": self.export_picture,
        }
        groups = {"compare": self.panes.set_mode, "map": self.display.set_colormap, "scheme": self._look.choose}
        for id, action in self.actions_by_id.items():
            if id in deeds:
                action.triggered.connect(lambda _=False, deed=deeds[id]: deed())
            elif id.partition("_")[0] in groups:
                action.triggered.connect(partial(_choose, groups[id.partition("_")[0]], action))
            else:
                # Only what works is offered.
                action.setVisible(False)
                action.setEnabled(False)
        session.undo_changed.connect(self._show_undo)
        self._show_undo(False, False)
        self._look.changed.connect(lambda: set_icons(self.actions_by_id, self.palette()))

    def _show_undo(self, undo: bool, redo: bool) -> None:
        self.actions_by_id["undo"].setEnabled(undo)
        self.actions_by_id["redo"].setEnabled(redo)

    def _listen(self) -> None:
        controller = self._controller
        controller.input_array_changed.connect(self._show_input)
        controller.outputs_changed.connect(self._show_output)
        controller.message.connect(self.messages.show_message)
        controller.busy_changed.connect(self._show_busy)
        controller.devices_changed.connect(self.panel.show_devices)
        controller.doctor_answered.connect(lambda content: self._page("diagnostics").page.set_doctor(content))
        self.table.failed.connect(lambda sentence: self.messages.show_message("error", sentence))
        controller.results.row_changed.connect(self._show_verdict)
        controller.session.choice_changed.connect(self._arrange_panes)
        self.panel.run_wanted.connect(controller.run_live)
        self.panel.measure_wanted.connect(controller.measure)

    # Files

    def open_file(self) -> None:
        """Ask for a file and open it."""
        path = self._chooser(self, self.tr("Open an image or a signal"))
        if path:
            self._controller.open_file(path)

    def save_result(self) -> None:
        """Ask for a name and save the last picked variant's result."""
        path = self._target(self, self.tr("Save the result"))
        if path:
            self._controller.save_result(path)

    def export_picture(self) -> None:
        """Ask for a name and write the ladder as a picture."""
        path = self._target(self, self.tr("Write the ladder as PNG"))
        if path and not self.ladder.render_png(path):
            self.messages.show_message("error", self.tr("{path} cannot be written.").format(path=path))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        local: list[QUrl] = [url for url in event.mimeData().urls() if url.isLocalFile()]
        if local:
            self._controller.open_file(local[0].toLocalFile())
            event.acceptProposedAction()

    # Pictures

    def _titles(self) -> dict[str, str]:
        return {v.id: v.title for v in self._controller.session.filter.variants}

    def _arrange_panes(self) -> None:
        keys = [INPUT, *self._controller.session.choice.picks][:MOST_PANES]
        if tuple(keys) != tuple(self.panes.keys):
            self.panes.set_panes(keys)
        self._curves = {k: v for k, v in self._curves.items() if k == INPUT or k in keys}
        self._draw_curves()

    @Slot(object, object)
    def _show_input(self, array: np.ndarray, shared: Any) -> None:
        image = shared.kind == "image"
        self.setWindowTitle(self.tr("{name} – Kernelscope").format(name=shared.name))
        self._curves = {} if image else {INPUT: (array, shared.rate)}
        self.stack.setCurrentWidget(self.panes if image else self.signal_pane)
        self.tabs.setTabVisible(self.levels_tab, image)
        self._arrange_panes()
        if image:
            self.panes.set_array(INPUT, array, shared.statistics, shared.name)
            self.histogram.set_statistics(shared.statistics)
            self._fit()

    @Slot(str, object, object)
    def _show_output(self, variant: str, array: np.ndarray, statistics: Any) -> None:
        if self.stack.currentWidget() is self.signal_pane:
            self._curves[variant] = (array, self._controller.session.input.rate)
            self._draw_curves()
        elif variant in self.panes.panes:
            self.panes.set_array(variant, array, statistics, self._titles().get(variant, variant))
            self.panes.pane(variant).set_state("unverified")

    def _draw_curves(self) -> None:
        titles = {INPUT: self.tr("input"), **self._titles()}
        curves = []
        for key, (array, rate) in self._curves.items():
            columns = array.reshape(len(array), -1)
            for channel in range(columns.shape[1]):
                name = titles.get(key, key)
                if columns.shape[1] > 1:
                    name = self.tr("{name}, channel {number}").format(name=name, number=channel + 1)
                curves.append((name, columns[:, channel], rate, True))
        self.signal_pane.set_curves(curves)

    @Slot(object)
    def _show_verdict(self, key: tuple[str, str]) -> None:
        """What is known of a result stands on its picture."""
        entry = self._controller.results.entry(key)
        if key[0] not in self.panes.panes or not entry.row:
            return
        pane = self.panes.pane(key[0])
        if entry.row.get("failure"):
            pane.set_state("failed", str(entry.row["failure"]))
        elif entry.row["ok"] is False:
            pane.set_state("wrong")
        elif entry.state == "stale":
            pane.set_state("stale")
        elif entry.row["ok"]:
            pane.set_state("fresh")

    # Pages

    def _page(self, name: str) -> PageWindow:
        if name not in self._pages:
            makers: dict[str, Callable[[], QWidget]] = {
                "claims": self._claims_page,
                "shortcuts": lambda: ShortcutsPage(self.actions_by_id),
                "diagnostics": DiagnosticsPage,
            }
            self._pages[name] = PageWindow(makers[name](), f"page.{name}", self)
        return self._pages[name]

    @staticmethod
    def _claims_page() -> QWidget:
        page = ClaimsPage()
        page.set_claims([j.as_dict() for j in judge_by_reports(all_claims(), recorded_reports())])
        return page

    def _show_diagnostics(self) -> None:
        self._page("diagnostics").present()
        self._controller.ask_doctor()

    def _show_about(self) -> None:
        text = self.tr(
            "Kernelscope {version}, BSD 3-Clause licence: an image and signal lab that shows why a GPU is fast."
        )
        self.messages.show_message("info", text.format(version=__version__))

    def _zoom(self, factor: float) -> None:
        if self.stack.currentWidget() is self.signal_pane:
            start, stop = self.signal_pane.view_range()
            self.signal_pane.zoom_at(factor, (start + stop) / 2)
        else:
            self.display.zoom_at(factor, *self.display.centre)

    def _fit(self) -> None:
        if self.stack.currentWidget() is self.signal_pane:
            self.signal_pane.fit()
        else:
            self.display.refit()

    def _one_to_one(self) -> None:
        if self.stack.currentWidget() is self.signal_pane:
            self.signal_pane.one_to_one()
        else:
            self.display.one_to_one()

    # State

    @Slot(str)
    def _show_busy(self, text: str) -> None:
        self.busy_label.setText(text)
        self.progress.setVisible(bool(text))
        self.actions_by_id["cancel"].setEnabled(bool(text))

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self._controller.cancel()
        super().closeEvent(event)

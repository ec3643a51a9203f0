"""All panels and their docks at the window's edges. Docks, tabs and the tab order follow from these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.base.translate import QT_TRANSLATE_NOOP
from app.shell.context import Context
from app.views.experiment.panel import ExperimentPanel
from app.views.pictures.histogram import HistogramBar
from app.views.timing.ladder import TimingLadder
from app.views.timing.result_table import ResultTable
from app.views.window.dock_sizes import DefaultSize
from app.views.window.panel_spec import DockSpec, PanelSpec

if TYPE_CHECKING:
    from app.views.block_steps.panel import BlockStepsPanel
    from app.views.lessons.panel import LessonPanel
    from app.views.own_kernel.panel import OwnKernelPanel
    from app.views.start.panel import StartPanel
    from app.views.sweep.panel import SweepPanel
    from app.views.timeline.panel import TimelinePanel
    from app.views.xray.panel import XRayPanel


def _experiment(context: Context, parent: QWidget) -> ExperimentPanel:
    panel, controller = ExperimentPanel(context.session, parent), context.controller
    controller.devices_changed.connect(panel.show_devices)
    panel.run_wanted.connect(controller.run_live)
    panel.measure_wanted.connect(controller.measure)
    panel.variants.selection_changed.connect(context.xray.choose)
    return panel


def _ladder(context: Context, parent: QWidget) -> TimingLadder:
    return TimingLadder(context.results, parent)


def _table(context: Context, parent: QWidget) -> ResultTable:
    table = ResultTable(context.results, parent, context.files.ask_target)
    table.propose = lambda kind: context.files.proposed("results", f".{kind}")
    table.exported.connect(context.files.say_written)
    table.failed.connect(context.files.say_not_written)
    return table


def _sweep(context: Context, parent: QWidget) -> SweepPanel:
    from app.controllers.sweep import SweepController
    from app.views.sweep.panel import SweepPanel

    return SweepPanel(SweepController(context.controller, context.reports, parent), parent)


def _timeline(context: Context, parent: QWidget) -> TimelinePanel:
    from app.views.timeline.panel import TimelinePanel

    return TimelinePanel(context.timeline, parent)


def _levels(context: Context, parent: QWidget) -> HistogramBar:
    return HistogramBar(context.display, parent)


def _xray(context: Context, parent: QWidget) -> XRayPanel:
    from app.controllers.kernels.cliffs import CliffsController
    from app.controllers.kernels.prediction import PredictionController  # with the model of times, at first use
    from app.views.xray.panel import XRayPanel

    prediction = PredictionController(context.controller, context.xray, context.xray)
    cliffs = CliffsController(context.controller, context.xray, context.xray)
    panel, files = XRayPanel(context.xray, prediction, cliffs, parent), context.files
    panel.editing.choose, panel.editing.ask_target = files.choose, files.ask_target
    panel.editing.saved.connect(files.say_written)
    panel.editing.failed.connect(files.say_not_written)
    panel.files.line_changed.connect(lambda: _paint_line(context, panel))
    return panel


def _block_steps(context: Context, parent: QWidget) -> BlockStepsPanel:
    from app.controllers.kernels.block_run import BlockRunController
    from app.views.block_steps.panel import BlockStepsPanel

    panel = BlockStepsPanel(controller := BlockRunController(context.controller, context.xray), parent)
    controller.setParent(panel)  # a floating panel is hidden after the window's other parts are gone
    return panel


def _paint_line(context: Context, panel: XRayPanel) -> None:
    """Paint the traffic of the line of the cursor, if it follows the X-ray."""
    if panel.filled and panel.files.file is not None:
        context.traffic.take_xray_line(panel.files.file.file, panel.source.textCursor().blockNumber() + 1)


def _own_kernel(context: Context, parent: QWidget) -> OwnKernelPanel:
    from app.views.own_kernel.panel import OwnKernelPanel

    return OwnKernelPanel(context.own_kernel, context.files, parent)


def _lessons(context: Context, parent: QWidget) -> LessonPanel:
    from app.controllers.lessons import LessonController
    from app.views.lessons.panel import LessonPanel

    own = (context.sessions, context.session, context.results, context.xray, context.settings, context.look)
    return LessonPanel(LessonController(*own, parent), context.files.choose, parent)


def _start(context: Context, parent: QWidget) -> StartPanel:
    from app.views.start.panel import StartPanel

    return StartPanel(context, parent)


_LEFT, _RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
DOCKS = (
    DockSpec("experiment", QT_TRANSLATE_NOOP("Panels", "Experiment"), _LEFT, DefaultSize(44, 0.28)),
    DockSpec(
        "lessons",
        QT_TRANSLATE_NOOP("Panels", "Lessons"),
        _LEFT,
        DefaultSize(44, 0.28),
        behind="experiment",
        shown=False,
    ),
    DockSpec(
        "start",
        QT_TRANSLATE_NOOP("Panels", "Start"),
        _LEFT,
        DefaultSize(44, 0.28),
        behind="experiment",
        shown=False,
    ),
    DockSpec(
        "timing",
        QT_TRANSLATE_NOOP("Panels", "Timing"),
        _RIGHT,
        DefaultSize(64, 0.28),
        tabs=QT_TRANSLATE_NOOP("Panels", "Timing and levels"),
    ),
    DockSpec("xray", QT_TRANSLATE_NOOP("Panels", "X-ray"), _RIGHT, DefaultSize(76, 0.32), behind="timing", shown=False),
    DockSpec(
        "block_steps",
        QT_TRANSLATE_NOOP("Panels", "Block steps"),
        _RIGHT,
        DefaultSize(76, 0.32),
        behind="timing",
        shown=False,
    ),
    DockSpec(
        "own_kernel",
        QT_TRANSLATE_NOOP("Panels", "Own kernel"),
        _RIGHT,
        DefaultSize(76, 0.32),
        behind="timing",
        shown=False,
    ),
)
EXPERIMENT = PanelSpec(
    "experiment", QT_TRANSLATE_NOOP("Panels", "Experiment"), "experiment", _experiment, help="window.md#the-window"
)
LADDER = PanelSpec("ladder", QT_TRANSLATE_NOOP("Panels", "Ladder"), "timing", _ladder, help="window.md#times")
TABLE = PanelSpec("table", QT_TRANSLATE_NOOP("Panels", "Table"), "timing", _table, help="window.md#times")
SWEEP = PanelSpec("sweep", QT_TRANSLATE_NOOP("Panels", "Sweep"), "timing", _sweep, lazy=True, help="window.md#times")
TIMELINE = PanelSpec(
    "timeline", QT_TRANSLATE_NOOP("Panels", "Timeline"), "timing", _timeline, lazy=True, help="window.md#timelines"
)
LEVELS = PanelSpec(
    "levels", QT_TRANSLATE_NOOP("Panels", "Levels"), "timing", _levels, scrolled=True, help="window.md#views"
)
XRAY = PanelSpec("xray", QT_TRANSLATE_NOOP("Panels", "X-ray"), "xray", _xray, lazy=True, help="window.md#x-ray-panel")
BLOCK_STEPS = PanelSpec(
    "block_steps",
    QT_TRANSLATE_NOOP("Panels", "Block steps"),
    "block_steps",
    _block_steps,
    lazy=True,
    help="window.md#block-steps",
)
OWN_KERNEL = PanelSpec(
    "own_kernel",
    QT_TRANSLATE_NOOP("Panels", "Own kernel"),
    "own_kernel",
    _own_kernel,
    lazy=True,
    help="window.md#run-a-kernel-of-your-own",
)
LESSONS = PanelSpec(
    "lessons", QT_TRANSLATE_NOOP("Panels", "Lessons"), "lessons", _lessons, lazy=True, help="window.md#lessons"
)
START = PanelSpec(
    "start", QT_TRANSLATE_NOOP("Panels", "Start"), "start", _start, lazy=True, help="window.md#start-page"
)

PANELS: tuple[PanelSpec[Any], ...] = (
    EXPERIMENT,
    LESSONS,
    START,
    LADDER,
    TABLE,
    SWEEP,
    TIMELINE,
    LEVELS,
    XRAY,
    BLOCK_STEPS,
    OWN_KERNEL,
)
"""Panels that share a place are in the order of their tabs."""
ENLARGEABLE: tuple[PanelSpec[Any], ...] = (LADDER, TABLE, SWEEP, TIMELINE, XRAY, BLOCK_STEPS)
"""Panels that can be shown alone on the whole screen."""

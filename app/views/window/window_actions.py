"""Connects the actions of a window to their handlers, and keeps them enabled and checked as the models say."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QSize, Qt, Slot
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import QApplication, QToolBar

from app.shell.actions import ACTIONS, ActionSpec, fill_toolbar, give_reason, set_icons
from app.views.curves.sound_menu import SoundMenu
from app.views.results.kept_differences import KeptDifferences
from app.views.window.desk import WindowParts
from app.views.window.panels import EXPERIMENT
from gpu_ops import SAMPLES


class WindowActions(QObject):
    """Connects the actions of a desk to their handlers and updates them after every change of the models."""

    def __init__(self, desk: WindowParts) -> None:
        super().__init__(desk.window)
        self._desk = desk
        toolbar = QToolBar(self.tr("Main"), desk.window)
        fill_toolbar(toolbar, desk.actions)
        desk.window.addToolBar(toolbar)
        for spec in ACTIONS:
            self._join(spec, desk.actions[spec.id])
        for sample in SAMPLES:
            action = QAction(sample.title, desk.window)
            action.setObjectName(f"action.sample.{sample.id}")
            action.triggered.connect(partial(self._open_sample, sample.id))
            desk.menus["file/samples"].addAction(action)
        desk.docks[EXPERIMENT].steps.offer_region(desk.actions["crop_region"])
        KeptDifferences(desk.pictures, desk.context.session, desk.actions["keep_difference"])
        SoundMenu(desk.menus["view/sound"], desk.actions["play"], desk.context.playback, desk.pictures.titles)
        self._follow()
        self._show_look()

    def _join(self, spec: ActionSpec, action: QAction) -> None:
        action.triggered.connect(lambda _=False: spec.do(self._desk))
        if spec.local:
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            self._desk.pictures.addAction(action)

    def _open_sample(self, id: str, _checked: bool = False) -> None:
        self._desk.context.controller.open_sample(id)

    def _follow(self) -> None:
        """The signals of everything that `able` and `on` of actions depend on."""
        context, pictures = self._desk.context, self._desk.pictures
        for changed in (
            context.session.changed,
            context.files.list.changed,
            *(pictures.view_changed, pictures.arranged, pictures.looked_at.changed),
            self._desk.docks.toggled,
            self._desk.probe.changed,
            self._desk.probe.scale_bar_changed,
        ):
            changed.connect(self.refresh)
        context.look.changed.connect(self._show_look)

    @Slot()
    def refresh(self) -> None:
        """Enable and check the actions as the models say."""
        for spec in ACTIONS:
            action = self._desk.actions[spec.id]
            if spec.able is not None or spec.why is not None:
                reason = spec.why(self._desk) if spec.why is not None else ""
                action.setEnabled(not reason and (spec.able is None or spec.able(self._desk)))
                give_reason(action, reason)
            if spec.on is not None:
                action.setChecked(spec.on(self._desk))

    @Slot()
    def _show_look(self) -> None:
        """Set icons in the palette's colours, with a size that suits the font."""
        # The window has its new palette and font only when it has heard of them; the application has them already.
        set_icons(self._desk.actions, QApplication.palette())
        side = round(1.7 * QFontMetrics(QApplication.font()).height())
        for toolbar in self._desk.window.findChildren(QToolBar):
            toolbar.setIconSize(QSize(side, side))
        self.refresh()

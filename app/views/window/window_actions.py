"""Connects the actions of a window to their handlers, and keeps them enabled and checked as the models say."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QSize, Qt, Slot
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import QApplication, QToolBar

from app.base.paced import Paced
from app.shell.actions import ACTIONS, ActionSpec, fill_toolbar, give_reason, set_icons
from app.views.curves.sound_menu import SoundMenu
from app.views.results.kept_differences import KeptDifferences
from app.views.window.panels import EXPERIMENT
from app.views.window.window_parts import WindowParts
from gpu_ops import SAMPLES


class WindowActions(QObject):
    """Connects the actions of the window's parts to their handlers and updates them after every change of the
    models."""

    def __init__(self, parts: WindowParts) -> None:
        super().__init__(parts.window)
        self._parts = parts
        toolbar = QToolBar(self.tr("Main"), parts.window)
        fill_toolbar(toolbar, parts.actions)
        parts.window.addToolBar(toolbar)
        parts.context.remotes.asked.connect(lambda: parts.pages.present("remote"))
        parts.context.remotes.changed.connect(self.refresh)
        for spec in ACTIONS:
            self._join(spec, parts.actions[spec.id])
        for sample in SAMPLES:
            action = QAction(sample.title, parts.window)
            action.setObjectName(f"action.sample.{sample.id}")
            action.triggered.connect(partial(self._open_sample, sample.id))
            parts.menus["file/samples"].addAction(action)
        parts.docks[EXPERIMENT].steps.offer_region(parts.actions["crop_region"])
        keep, jump = parts.actions["keep_difference"], parts.actions["jump_to_largest"]
        KeptDifferences(parts.pictures, parts.context.session, keep, jump)
        SoundMenu(parts.menus["view/sound"], parts.actions["play"], parts.context.playback, parts.pictures.titles)
        self._follow()
        self._show_look()

    def _join(self, spec: ActionSpec, action: QAction) -> None:
        action.triggered.connect(lambda _=False: self._do(spec, action))
        if spec.local:
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            self._parts.pictures.addAction(action)

    def _do(self, spec: ActionSpec, action: QAction) -> None:
        spec.do(self._parts)
        if spec.on is not None:  # a click has turned its check mark over, whatever it did
            action.setChecked(spec.on(self._parts))

    def _open_sample(self, id: str, _checked: bool = False) -> None:
        self._parts.context.controller.open_sample(id)

    def _follow(self) -> None:
        """The signals of everything that `able` and `on` of actions depend on."""
        context, pictures = self._parts.context, self._parts.pictures
        soon = Paced(self.refresh, lambda: context.results.playing, self)
        for changed in (
            context.session.changed,
            context.files.list.changed,
            *(pictures.view_changed, pictures.arranged, pictures.looked_at.changed),
            *(self._parts.docks.toggled, self._parts.full_screen.changed),
            self._parts.probe.changed,
            self._parts.probe.scale_bar_changed,
            context.traffic.shown_changed,
            *(context.results.rows_reset, context.results.pinned_changed),
        ):
            changed.connect(soon.ask)
        context.look.changed.connect(self._show_look)

    @Slot()
    def refresh(self) -> None:
        """Enable and check the actions as the models say."""
        for spec in ACTIONS:
            action = self._parts.actions[spec.id]
            if spec.able is not None or spec.why is not None:
                reason = spec.why(self._parts) if spec.why is not None else ""
                action.setEnabled(not reason and (spec.able is None or spec.able(self._parts)))
                give_reason(action, reason)
            if spec.on is not None:
                action.setChecked(spec.on(self._parts))

    @Slot()
    def _show_look(self) -> None:
        """Set icons in the palette's colours, with a size that suits the font."""
        # The window gets its new palette and font only with its next event; the application has them already.
        set_icons(self._parts.actions, QApplication.palette())
        side = round(1.7 * QFontMetrics(QApplication.font()).height())
        for toolbar in self._parts.window.findChildren(QToolBar):
            toolbar.setIconSize(QSize(side, side))
        self.refresh()

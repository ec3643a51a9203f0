"""The preferences page: changes are applied and stored at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QSize, Slot
from PySide6.QtGui import QAction, QIcon, QImage, QPixmap, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QWidget,
)

from app.base.nesting import bounded
from app.base.numbers import shown
from app.models.pictures.display import COLORMAPS, colors
from app.models.settings import RECENT_LIMIT, SCHEMES
from app.shell.context import Context
from app.views.boxes import in_column, in_row
from app.views.dialogs.recent_menu import RecentMenu
from app.views.labels import buddy, named
from app.views.parts import Combo, TickBox


def apply_preferences(context: Context) -> None:
    """Apply the settings to a window, except for the look, which all windows share."""
    context.display.set_colormap(context.settings.colormap)
    context.controller.queue.timed_after_pause = context.settings.timed


class PreferencesPage(QWidget):
    """Every preference with its present value; a change is applied and stored at once."""

    def __init__(
        self, context: Context, actions: Mapping[str, QAction], recent: RecentMenu, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("preferences_page")
        self.setWindowTitle(self.tr("Preferences"))
        self._context, self._settings, self._look = context, context.settings, context.look
        self._actions, self._recent = actions, recent
        self.reset_button = QPushButton(self.tr("Reset to &defaults"), self)
        self.reset_button.setToolTip(self.tr("Reset every preference to its default; recent files stay"))
        self.reset_button.clicked.connect(self._reset)
        layout = in_column(self._appearance(), self._start(), self._running(), self._files(), 1, on=self, margins=None)
        foot = in_row(1, self.reset_button)
        layout.addLayout(foot)
        for button in (self.clear_button, self.forget_button, self.reset_button):
            button.setAutoDefault(False)  # Return must only end the typing
        self._look.changed.connect(self.show_values)
        self.show_values()

    def _group(self, title: str) -> tuple[QGroupBox, QFormLayout]:
        group = QGroupBox(title, self)
        return group, QFormLayout(group)

    def _box(self, name: str, text: str, tip: str) -> QCheckBox:
        box = named(TickBox(text, self), f"preferences.{name}", tip=tip)
        return box

    def _list(self, name: str, prefix: str, ids: tuple[str, ...]) -> QComboBox:
        """A list with the texts of the actions `prefix_id`."""
        chooser = named(Combo(self), f"preferences.{name}")
        for id in ids:
            chooser.addItem(self._actions[f"{prefix}_{id}"].text().replace("&", ""), id)
        return chooser

    def _appearance(self) -> QGroupBox:
        group, form = self._group(self.tr("Appearance"))
        self.schemes = self._list("scheme", "scheme", SCHEMES)
        self.schemes.activated.connect(self._choose_scheme)
        tip = self.tr("Make everything larger, for presentations")
        self.presenter = self._box("presenter", self.tr("&Presenter size"), tip)
        self.presenter.clicked.connect(self._choose_size)
        self.maps = self._list("colormap", "map", COLORMAPS)
        self.maps.setToolTip(self.tr("The colour map of one-channel pictures, now and at every start"))
        self.maps.activated.connect(self._choose_map)
        form.addRow(self.tr("&Light or dark:"), self.schemes)
        form.addRow(self.tr("Colour &map:"), self.maps)
        form.addRow(self.presenter)
        return group

    def _start(self) -> QGroupBox:
        group, form = self._group(self.tr("Start"))
        tip = self.tr("Start with the size, position and panels that the window had when it was closed")
        self.restored = self._box("restored", self.tr("Restore the &last layout"), tip)
        self.restored.clicked.connect(self._choose_layout)
        form.addRow(self.restored)
        tip = self.tr(
            "Start with the input and all settings of the last session; for a large input you are asked first"
        )
        self.reopened = self._box("reopened", self.tr("&Open the last session"), tip)
        self.reopened.clicked.connect(self._choose_session)
        form.addRow(self.reopened)
        tip = self.tr("Start with questions, lessons and samples where no session is opened")
        self.start_page = self._box("start_page", self.tr("Show the &start page"), tip)
        self.start_page.clicked.connect(self._choose_start_page)
        form.addRow(self.start_page)
        return group

    def _running(self) -> QGroupBox:
        group, form = self._group(self.tr("Running"))
        tip = self.tr("Time the ticked variants when parameters stop changing; otherwise only Measure times them")
        self.timed = self._box("timed", self.tr("&Time results after a pause"), tip)
        self.timed.clicked.connect(self._choose_timing)
        form.addRow(self.timed)
        return group

    def _files(self) -> QGroupBox:
        group, form = self._group(self.tr("Files"))
        self.most = QSpinBox(self)
        self.most.setObjectName("preferences.most_recent")
        self.most.setRange(0, RECENT_LIMIT)
        self.most.setSpecialValueText(self.tr("none"))
        self.most.setToolTip(self.tr("The number of files in the menu Open recent; the oldest are dropped first"))
        # A typed number applies only when it is complete: typing 30 over 10 must not drop files at 3.
        self.most.setKeyboardTracking(False)
        self.most.valueChanged.connect(self._choose_most)
        clear = self._actions["clear_recent"]
        self.clear_button = named(QPushButton(self.tr("&Clear"), self), tip=clear.toolTip())
        self.clear_button.setEnabled(clear.isEnabled())
        self.clear_button.clicked.connect(clear.trigger)
        clear.enabledChanged.connect(self.clear_button.setEnabled)
        row = in_row(self.most, self.clear_button, 1)
        # A row with two widgets needs an explicit buddy.
        label = buddy(self.tr("&Recent files:"), self.most)
        form.addRow(label, row)
        self.most.setAccessibleName(self.tr("Recent files"))
        form.addRow(self._imports())
        return group

    def _imports(self) -> QHBoxLayout:
        """The number of kinds of files with remembered reading choices, and a button that forgets them."""
        self.imports, self.forget_button = QLabel(self), QPushButton(self.tr("&Forget"), self)
        self.imports.setObjectName("preferences.imports")
        self.forget_button.setObjectName("preferences.forget_imports")
        self.forget_button.setToolTip(self.tr("Ask again how to read such files; Open with choices… asks as well"))
        self.forget_button.clicked.connect(self._forget_imports)
        row = in_row(self.imports, self.forget_button, 1)
        return row

    @Slot()
    def show_values(self) -> None:
        """Set every control to the present settings and look."""
        look, settings = self._look, self._settings
        self.schemes.setCurrentIndex(self.schemes.findData(look.choice))
        self.presenter.setChecked(look.presenter)
        self.maps.setCurrentIndex(self.maps.findData(settings.colormap))
        self.restored.setChecked(settings.restored)
        self.reopened.setChecked(settings.reopened)
        self.start_page.setChecked(settings.start_page)
        self.timed.setChecked(settings.timed)
        self.most.setValue(settings.most_recent)
        self._show_imports()
        height = self.fontMetrics().height()
        self.maps.setIconSize(QSize(4 * height, height))
        for index in range(self.maps.count()):
            self.maps.setItemIcon(index, _strip(self.maps.itemData(index)))

    def _choose_scheme(self) -> None:
        self._look.choose(self.schemes.currentData())
        self._keep_look()

    def _choose_size(self, presenter: bool) -> None:
        self._look.set_presenter(presenter)
        self._keep_look()

    def _keep_look(self) -> None:
        self._settings.set_look(self._look.choice, self._look.presenter)
        self._settings.save()

    def _choose_map(self) -> None:
        self._settings.set_colormap(self.maps.currentData())
        self._context.display.set_colormap(self._settings.colormap)
        self._settings.save()

    def _choose_layout(self, restored: bool) -> None:
        self._settings.set_restored(restored)
        self._settings.save()

    def _choose_session(self, reopened: bool) -> None:
        self._settings.set_reopened(reopened)
        self._settings.save()

    def _choose_start_page(self, shown: bool) -> None:
        self._settings.set_start_page(shown)
        self._settings.save()

    def _choose_timing(self, timed: bool) -> None:
        self._settings.set_timed(timed)
        self._context.controller.queue.timed_after_pause = timed
        self._settings.save()

    def _choose_most(self, most: int) -> None:
        self._settings.set_most_recent(most)
        self._recent.fill()
        self._settings.save()

    def _show_imports(self) -> None:
        count = self._settings.imports
        none, one = self.tr("Choices are remembered for no files"), self.tr("Choices are remembered for 1 kind of file")
        many = self.tr("Choices are remembered for {count} kinds of files").format(count=shown(count))
        self.imports.setText(none if not count else one if count == 1 else many)
        self.forget_button.setEnabled(bool(count))

    def _forget_imports(self) -> None:
        self._settings.forget_imports()
        self._settings.save()
        self._show_imports()

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Files may have been opened since the page was shown last, and the start page has its own tick."""
        super().showEvent(event)
        self._show_imports()
        self.start_page.setChecked(self._settings.start_page)

    def _reset(self) -> None:
        self._settings.forget_preferences()
        self._look.set_presenter(self._settings.presenter)
        self._look.choose(self._settings.scheme)
        apply_preferences(self._context)
        self._recent.fill()
        self.show_values()
        self._settings.save()


def _strip(name: str) -> QIcon:
    """An icon with the colours of a map."""
    table = np.ascontiguousarray(colors(name))
    image = QImage(table.data, 256, 1, 768, QImage.Format.Format_RGB888)
    return QIcon(QPixmap.fromImage(image).scaled(256, 64))

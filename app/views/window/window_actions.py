"""Every action joined to what it does, and its marks to what the models say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDockWidget,
    QScrollArea,
    QToolBar,
    QWidget,
)

from app.actions import ACTIONS, build_actions, fill_menu_bar, fill_toolbar, set_icons
from app.views.results.sound_menu import SoundMenu
from app.views.window.catalogue import Offer
from gpu_ops import SAMPLES

if TYPE_CHECKING:
    from app.views.window.main_window import MainWindow

COMPARES, LEVELS = ("compare",), ("map", "levels")
"""First words of the actions that need pictures to compare, and levels to set."""


def join_actions(window: MainWindow) -> None:
    """Make a window's actions, menus and toolbar. Only what works is offered."""
    window.actions_by_id = actions = build_actions(window)
    window.menus = fill_menu_bar(window.menuBar(), actions)
    toolbar = QToolBar(window.tr("Main"), window)
    fill_toolbar(toolbar, actions)
    window.addToolBar(toolbar)
    for sample in SAMPLES:
        action = QAction(sample.title, window)
        action.setObjectName(f"action.sample.{sample.id}")
        action.triggered.connect(lambda _=False, id=sample.id: window.controller.open_sample(id))
        window.menus["file/samples"].addAction(action)
    deeds = _deeds(window)
    groups = {"compare": window.stack.compare, "map": window.stack.set_colormap, "scheme": window.look.choose}
    for id, action in actions.items():
        group = id.partition("_")[0]
        if id in deeds:
            action.triggered.connect(lambda _=False, deed=deeds[id]: deed())
        elif group in groups:
            action.triggered.connect(partial(_choose, groups[group], action))
        elif id != "clear_recent":
            action.setVisible(False)
            action.setEnabled(False)
    _follow(window)


def _choose(choose: Callable[[Any], None], action: QAction, _checked: bool = False) -> None:
    """Hand on what an action of a group stands for."""
    choose(action.data())


def _deeds(window: MainWindow) -> dict[str, Callable[[], Any]]:
    controller, session, stack = window.controller, window.controller.session, window.stack
    actions = window.actions_by_id
    return {
        "open": window.files.open,
        "next_file": lambda: window.files.go(1),
        "previous_file": lambda: window.files.go(-1),
        "save": window.files.save_result,
        "quit": window.close,
        "undo": session.undo,
        "redo": session.redo,
        "copy_image": window.copy_image,
        "paste_image": window.paste_image,
        "find_variant": window.panel.variants.finder.present,
        "reset_parameters": session.reset_params,
        "run": controller.run_live,
        "measure": controller.measure,
        "sweep": window.start_sweep,
        "cancel": controller.cancel,
        "recorded": lambda: window.recorded.show(actions["recorded"].isChecked()),
        "fit": lambda: stack.view.fit(),
        "one_to_one": lambda: stack.view.one_to_one(),
        "zoom_in": lambda: stack.view.zoom(1.25),
        "zoom_out": lambda: stack.view.zoom(0.8),
        "swap": stack.swap,
        "compare_next": lambda: stack.turn(1),
        "compare_previous": lambda: stack.turn(-1),
        "play": window.playback.toggle,
        "levels_auto": stack.auto_levels,
        "xray": lambda: _show_panel(window.xray_dock, actions["xray"].isChecked()),
        "presenter": lambda: window.look.set_presenter(actions["presenter"].isChecked()),
        "claims": lambda: window.page("claims").present(),
        "shortcuts": lambda: window.page("shortcuts").present(),
        "palette": window.show_palette,
        "preferences": lambda: window.page("preferences").present(),
        "diagnostics": window.show_diagnostics,
        "export_view": window.files.export_view,
        "export_csv": lambda: window.table.export("csv"),
        "export_json": lambda: window.table.export("json"),
        "export_png": window.files.export_ladder,
        "export_sweep_csv": lambda: window.files.export_sweep("csv"),
        "export_sweep_picture": lambda: window.files.export_sweep("picture"),
        "about": window.show_about,
        "reset_layout": window.reset_layout,
    }


def _show_panel(dock: QDockWidget, shown: bool) -> None:
    """Open a panel, before others that share its place, or close it."""
    dock.setVisible(shown)
    if shown:
        dock.raise_()


def _follow(window: MainWindow) -> None:
    """Marks and what is offered follow the models, whoever changed them."""
    actions, session, look = window.actions_by_id, window.controller.session, window.look

    def show_undo(undo: bool, redo: bool) -> None:
        actions["undo"].setEnabled(undo)
        actions["redo"].setEnabled(redo)

    def show_files() -> None:
        actions["next_file"].setEnabled(window.files.list.can_go(1))
        actions["previous_file"].setEnabled(window.files.list.can_go(-1))

    def titles() -> dict[str, str]:
        return {v.id: v.title for v in session.filter.variants}

    def show_looked() -> None:
        grid, display = window.stack.view.grid, window.stack.display
        for id, action in actions.items():
            group = id.partition("_")[0]
            if group in COMPARES:
                action.setEnabled(grid is not None)
            elif group in LEVELS:
                action.setEnabled(display is not None)
        for id in ("compare_next", "compare_previous"):
            actions[id].setEnabled(window.stack.view.pager is not None)
        actions["swap"].setEnabled(grid is not None and grid.mode != "side by side")
        if grid is not None:
            actions[f"compare_{grid.mode.replace(' ', '_')}"].setChecked(True)
        if display is not None:
            actions[f"map_{display.colormap}"].setChecked(True)

    for id in ("next_file", "previous_file"):  # elsewhere these keys scroll
        actions[id].setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        window.stack.addAction(actions[id])
    window.files.list.changed.connect(show_files)
    SoundMenu(window.menus["view/sound"], actions["play"], window.playback, titles)
    window.playback.moved.connect(window.stack.set_heard)
    window.xray_dock.toggleViewAction().toggled.connect(actions["xray"].setChecked)
    session.undo_changed.connect(show_undo)
    # The look may outlive the window: a slot of the window goes with it, which a closure would not.
    look.changed.connect(window.show_look)
    window.stack.looked_changed.connect(show_looked)
    show_undo(False, False)
    show_files()
    show_look(window)
    show_looked()


def show_look(window: MainWindow) -> None:
    """Icons in the palette's colours, and marks at the look that is chosen."""
    actions, look = window.actions_by_id, window.look
    # The window has its new palette and font only when it has heard of them; the application has them already.
    set_icons(actions, QApplication.palette())
    side = round(1.7 * QFontMetrics(QApplication.font()).height())
    for toolbar in window.findChildren(QToolBar):
        toolbar.setIconSize(QSize(side, side))
    actions[f"scheme_{look.choice}"].setChecked(True)
    actions["presenter"].setChecked(look.presenter)


def palette_offers(window: MainWindow) -> list[Offer]:
    """Every action by the words a person looks for: its text, after its submenu's title where it is in one; then all
    filters and presets."""
    offers = []
    for spec in (s for s in ACTIONS if s.id != "palette"):
        menu = f"{_plain(window.menus[spec.menu].title())}: " if "/" in spec.menu else ""
        action = window.actions_by_id[spec.id]
        offers.append(Offer(menu + _plain(action.text()), action, f"{spec.id} {action.statusTip()}"))
    for path in ("file/samples", "file/recent"):
        title = _plain(window.menus[path].title())
        named = [a for a in window.menus[path].actions() if a.objectName().startswith(("action.sample", "action.rec"))]
        offers += [Offer(f"{title}: {_plain(a.text())}", a, a.objectName().replace(".", " ")) for a in named]
    return offers + window.catalogue.offers()


def _plain(text: str) -> str:
    """A text without its mnemonic mark."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def order_focus(window: QWidget, regions: list[QWidget]) -> None:
    """Let Tab walk through the regions one after the other, in each from top to bottom and left to right."""
    order: list[QWidget] = []
    for region in regions:
        able = [
            w for w in _inside(region) if w.focusPolicy().value & 1 and w.focusProxy() is None and w.window() is window
        ]
        places = {w: w.mapTo(window, w.rect().topLeft()) for w in able}
        order += sorted(able, key=lambda w: (places[w].y(), places[w].x()))
    for before, after in zip(order, order[1:], strict=False):
        QWidget.setTabOrder(before, after)


def _inside(widget: QWidget) -> Iterator[QWidget]:
    """A widget and all that lies in it, but not what Qt makes its controls of: whoever asks for these in Python keeps
    them for ever, and with them the control."""
    yield widget
    if isinstance(widget, QScrollArea):
        children = [inner] if (inner := widget.widget()) else []
    elif isinstance(widget, QComboBox | QAbstractSpinBox | QAbstractScrollArea):
        children = []
    else:
        children = [child for child in widget.children() if isinstance(child, QWidget)]
    for child in children:
        yield from _inside(child)

"""What a user can do, as data: the actions, the menus they are in, and the toolbar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from PySide6 import QtCore
from PySide6.QtGui import QAction

QT_TRANSLATE_NOOP = cast(Callable[[str, str], str], QtCore.QT_TRANSLATE_NOOP)
"""Marks a text for the translators, who find it by this name, and gives it back."""


@dataclass(frozen=True)
class ActionSpec:
    """One action. Texts are in English here and translated when the action is built.

    `menu` is a path in MENUS. Actions that name the same `group` exclude each other; `checked` is how they start.
    `data` is what the action carries, for groups whose members differ only in that.
    """

    id: str
    text: str
    menu: str
    shortcuts: tuple[str, ...] = ()
    tip: str = ""
    icon: str = ""
    checkable: bool = False
    checked: bool = False
    group: str = ""
    data: str = ""
    separator: bool = False
    role: QAction.MenuRole = QAction.MenuRole.NoRole


MENUS: tuple[tuple[str, str, str], ...] = (
    ("file", QT_TRANSLATE_NOOP("Actions", "&File"), ""),
    ("file/samples", QT_TRANSLATE_NOOP("Actions", "Open sa&mple"), "open"),
    ("file/recent", QT_TRANSLATE_NOOP("Actions", "Open &recent"), "open"),
    ("file/export", QT_TRANSLATE_NOOP("Actions", "&Export results"), "save"),
    ("edit", QT_TRANSLATE_NOOP("Actions", "&Edit"), ""),
    ("run", QT_TRANSLATE_NOOP("Actions", "&Run"), ""),
    ("view", QT_TRANSLATE_NOOP("Actions", "&View"), ""),
    ("view/compare", QT_TRANSLATE_NOOP("Actions", "&Compare"), "zoom_out"),
    ("view/sound", QT_TRANSLATE_NOOP("Actions", "Soun&d"), "zoom_out"),
    ("view/colours", QT_TRANSLATE_NOOP("Actions", "Colour &map"), "levels_auto"),
    ("view/scheme", QT_TRANSLATE_NOOP("Actions", "&Light or dark"), "levels_auto"),
    ("help", QT_TRANSLATE_NOOP("Actions", "&Help"), ""),
)
"""Path, title and the action it follows. What is inside file/samples, and most of file/recent, the window adds."""


def _compare(id: str, text: str, keys: str, tip: str, checked: bool = False) -> ActionSpec:
    name, menu = f"compare_{id.replace(' ', '_')}", "view/compare"
    return ActionSpec(name, text, menu, (keys,), tip, checkable=True, checked=checked, group="compare", data=id)


def _colour_map(id: str, text: str, tip: str, checked: bool = False) -> ActionSpec:
    return ActionSpec(f"map_{id}", text, "view/colours", (), tip, checkable=True, checked=checked, group="map", data=id)


def _scheme(id: str, text: str, tip: str, checked: bool = False) -> ActionSpec:
    return ActionSpec(
        f"scheme_{id}", text, "view/scheme", (), tip, checkable=True, checked=checked, group="scheme", data=id
    )


_FILE = (
    ActionSpec(
        "open",
        QT_TRANSLATE_NOOP("Actions", "&Open…"),
        "file",
        ("Ctrl+O",),
        QT_TRANSLATE_NOOP("Actions", "Open an image or a signal"),
        "open",
    ),
    ActionSpec(
        "save",
        QT_TRANSLATE_NOOP("Actions", "&Save result…"),
        "file",
        ("Ctrl+S",),
        QT_TRANSLATE_NOOP("Actions", "Save the shown result as a file"),
        "save",
        separator=True,
    ),
    ActionSpec(
        "clear_recent",
        QT_TRANSLATE_NOOP("Actions", "&Clear the list"),
        "file/recent",
        (),
        QT_TRANSLATE_NOOP("Actions", "Forget recent files"),
    ),
    ActionSpec(
        "export_csv",
        QT_TRANSLATE_NOOP("Actions", "As &CSV…"),
        "file/export",
        ("Ctrl+Shift+E",),
        QT_TRANSLATE_NOOP("Actions", "Write the table of results as comma-separated values"),
    ),
    ActionSpec(
        "export_json",
        QT_TRANSLATE_NOOP("Actions", "As &JSON…"),
        "file/export",
        (),
        QT_TRANSLATE_NOOP("Actions", "Write the results as a report"),
    ),
    ActionSpec(
        "export_png",
        QT_TRANSLATE_NOOP("Actions", "As &picture…"),
        "file/export",
        (),
        QT_TRANSLATE_NOOP("Actions", "Write the ladder as a PNG"),
    ),
    ActionSpec(
        "preferences",
        QT_TRANSLATE_NOOP("Actions", "Pre&ferences…"),
        "file",
        ("Ctrl+,",),
        QT_TRANSLATE_NOOP("Actions", "Change how Kernelscope looks and measures"),
        separator=True,
        role=QAction.MenuRole.PreferencesRole,
    ),
    ActionSpec(
        "quit",
        QT_TRANSLATE_NOOP("Actions", "&Quit"),
        "file",
        ("Ctrl+Q",),
        QT_TRANSLATE_NOOP("Actions", "Leave Kernelscope"),
        separator=True,
        role=QAction.MenuRole.QuitRole,
    ),
)
_EDIT = (
    ActionSpec(
        "undo",
        QT_TRANSLATE_NOOP("Actions", "&Undo"),
        "edit",
        ("Ctrl+Z",),
        QT_TRANSLATE_NOOP("Actions", "Take the last change back"),
        "undo",
    ),
    ActionSpec(
        "redo",
        QT_TRANSLATE_NOOP("Actions", "&Redo"),
        "edit",
        ("Ctrl+Shift+Z", "Ctrl+Y"),
        QT_TRANSLATE_NOOP("Actions", "Make it again"),
        "redo",
    ),
    ActionSpec(
        "copy_image",
        QT_TRANSLATE_NOOP("Actions", "&Copy image"),
        "edit",
        ("Ctrl+Shift+C",),
        QT_TRANSLATE_NOOP("Actions", "Copy the shown picture to the clipboard"),
        separator=True,
    ),
    ActionSpec(
        "paste_image",
        QT_TRANSLATE_NOOP("Actions", "&Paste image"),
        "edit",
        ("Ctrl+Shift+V",),
        QT_TRANSLATE_NOOP("Actions", "Use the picture on the clipboard as input"),
    ),
    ActionSpec(
        "reset_parameters",
        QT_TRANSLATE_NOOP("Actions", "Re&set parameters"),
        "edit",
        ("Ctrl+R",),
        QT_TRANSLATE_NOOP("Actions", "Give every parameter its default"),
        separator=True,
    ),
)
_RUN = (
    ActionSpec(
        "run",
        QT_TRANSLATE_NOOP("Actions", "&Run now"),
        "run",
        ("F5", "Ctrl+Return"),
        QT_TRANSLATE_NOOP("Actions", "Compute the ticked variants"),
        "run",
    ),
    ActionSpec(
        "measure",
        QT_TRANSLATE_NOOP("Actions", "&Measure"),
        "run",
        ("Ctrl+M",),
        QT_TRANSLATE_NOOP("Actions", "Time the ticked variants with care"),
        "measure",
    ),
    ActionSpec(
        "cancel",
        QT_TRANSLATE_NOOP("Actions", "&Cancel"),
        "run",
        ("Esc",),
        QT_TRANSLATE_NOOP("Actions", "Stop what is running"),
        "cancel",
        separator=True,
    ),
    ActionSpec(
        "recorded",
        QT_TRANSLATE_NOOP("Actions", "&Show recorded runs"),
        "run",
        (),
        QT_TRANSLATE_NOOP("Actions", "Put runs of the same job on other machines beside those made here"),
        checkable=True,
        separator=True,
    ),
)
_VIEW = (
    ActionSpec(
        "fit",
        QT_TRANSLATE_NOOP("Actions", "&Fit"),
        "view",
        ("Ctrl+0",),
        QT_TRANSLATE_NOOP("Actions", "Show the whole picture or signal"),
        "fit",
    ),
    ActionSpec(
        "one_to_one",
        QT_TRANSLATE_NOOP("Actions", "&One to one"),
        "view",
        ("Ctrl+1",),
        QT_TRANSLATE_NOOP("Actions", "One pixel a pixel"),
        "one-to-one",
    ),
    ActionSpec(
        "zoom_in",
        QT_TRANSLATE_NOOP("Actions", "Zoom &in"),
        "view",
        ("Ctrl++", "Ctrl+="),
        QT_TRANSLATE_NOOP("Actions", "Show less, larger"),
    ),
    ActionSpec(
        "zoom_out",
        QT_TRANSLATE_NOOP("Actions", "Zoom o&ut"),
        "view",
        ("Ctrl+-",),
        QT_TRANSLATE_NOOP("Actions", "Show more, smaller"),
    ),
    _compare(
        "side by side",
        QT_TRANSLATE_NOOP("Actions", "&Side by side"),
        "Alt+1",
        QT_TRANSLATE_NOOP("Actions", "Show the pictures side by side, linked"),
        True,
    ),
    _compare(
        "swipe",
        QT_TRANSLATE_NOOP("Actions", "Swi&pe"),
        "Alt+2",
        QT_TRANSLATE_NOOP("Actions", "Two pictures with a movable edge between them"),
    ),
    _compare(
        "flicker",
        QT_TRANSLATE_NOOP("Actions", "&Flicker"),
        "Alt+3",
        QT_TRANSLATE_NOOP("Actions", "Two pictures in turn while a key is held"),
    ),
    _compare(
        "difference",
        QT_TRANSLATE_NOOP("Actions", "&Difference"),
        "Alt+4",
        QT_TRANSLATE_NOOP("Actions", "The first picture minus the second, in colours around zero"),
    ),
    ActionSpec(
        "swap",
        QT_TRANSLATE_NOOP("Actions", "S&wap pictures"),
        "view/compare",
        ("Ctrl+T",),
        QT_TRANSLATE_NOOP("Actions", "Exchange the two pictures"),
        "compare",
        separator=True,
    ),
    ActionSpec(
        "play",
        QT_TRANSLATE_NOOP("Actions", "&Play"),
        "view/sound",
        ("Ctrl+P",),
        QT_TRANSLATE_NOOP("Actions", "Hear the signal, or stop"),
        "sound",
        checkable=True,
    ),
    ActionSpec(
        "levels_auto",
        QT_TRANSLATE_NOOP("Actions", "&Automatic levels"),
        "view",
        ("Ctrl+L",),
        QT_TRANSLATE_NOOP("Actions", "Set black and white from the picture's own values"),
        separator=True,
    ),
    _colour_map(
        "gray", QT_TRANSLATE_NOOP("Actions", "&Gray"), QT_TRANSLATE_NOOP("Actions", "From black to white"), True
    ),
    _colour_map(
        "viridis",
        QT_TRANSLATE_NOOP("Actions", "&Viridis"),
        QT_TRANSLATE_NOOP("Actions", "Even steps, readable without colour vision"),
    ),
    _colour_map(
        "cividis",
        QT_TRANSLATE_NOOP("Actions", "&Cividis"),
        QT_TRANSLATE_NOOP("Actions", "Even steps in blue and yellow"),
    ),
    _colour_map(
        "magma",
        QT_TRANSLATE_NOOP("Actions", "&Magma"),
        QT_TRANSLATE_NOOP("Actions", "Even steps, from black through purple to white"),
    ),
    _scheme(
        "system",
        QT_TRANSLATE_NOOP("Actions", "As the &system"),
        QT_TRANSLATE_NOOP("Actions", "Follow the desktop"),
        True,
    ),
    _scheme(
        "light", QT_TRANSLATE_NOOP("Actions", "&Light"), QT_TRANSLATE_NOOP("Actions", "Dark text on a light ground")
    ),
    _scheme("dark", QT_TRANSLATE_NOOP("Actions", "&Dark"), QT_TRANSLATE_NOOP("Actions", "Light text on a dark ground")),
    ActionSpec(
        "xray",
        QT_TRANSLATE_NOOP("Actions", "&X-ray"),
        "view",
        ("Ctrl+Shift+X",),
        QT_TRANSLATE_NOOP("Actions", "Show a kernel's source with what each line does to memory"),
        "xray",
        checkable=True,
        separator=True,
    ),
    ActionSpec(
        "presenter",
        QT_TRANSLATE_NOOP("Actions", "&Presenter size"),
        "view",
        ("F11",),
        QT_TRANSLATE_NOOP("Actions", "Everything larger, for a room"),
        checkable=True,
        separator=True,
    ),
    ActionSpec(
        "reset_layout",
        QT_TRANSLATE_NOOP("Actions", "&Reset layout"),
        "view",
        (),
        QT_TRANSLATE_NOOP("Actions", "Put every panel back in its place"),
    ),
)
_HELP = (
    ActionSpec(
        "shortcuts",
        QT_TRANSLATE_NOOP("Actions", "&Shortcuts"),
        "help",
        ("F1", "?"),
        QT_TRANSLATE_NOOP("Actions", "Every key and what it does"),
    ),
    ActionSpec(
        "palette",
        QT_TRANSLATE_NOOP("Actions", "Command &palette…"),
        "help",
        ("Ctrl+Shift+P",),
        QT_TRANSLATE_NOOP("Actions", "Find an action by its name"),
    ),
    ActionSpec(
        "claims",
        QT_TRANSLATE_NOOP("Actions", "&Claims"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "What the sources say, and what was found"),
        separator=True,
    ),
    ActionSpec(
        "diagnostics",
        QT_TRANSLATE_NOOP("Actions", "&Diagnostics"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "Devices, libraries and the log"),
    ),
    ActionSpec(
        "about",
        QT_TRANSLATE_NOOP("Actions", "&About Kernelscope"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "Version and licence"),
        separator=True,
        role=QAction.MenuRole.AboutRole,
    ),
)
ACTIONS: tuple[ActionSpec, ...] = (*_FILE, *_EDIT, *_RUN, *_VIEW, *_HELP)
TOOLBAR: tuple[str, ...] = (
    *("open", "save", ""),
    *("undo", "redo", ""),
    *("run", "measure", "cancel", ""),
    *("fit", "one_to_one", "swap", "play", "xray"),
)
"""What the toolbar shows; an empty name is a separator."""

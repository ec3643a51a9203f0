"""What a user can do, as data: the actions, the menus they are in, and the toolbar."""

from __future__ import annotations

from PySide6.QtGui import QAction

from app.action_spec import QT_TRANSLATE_NOOP, ActionSpec
from app.view_specs import VIEW

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
        "next_file",
        QT_TRANSLATE_NOOP("Actions", "&Next file"),
        "file",
        ("PgDown",),
        QT_TRANSLATE_NOOP("Actions", "Open the next of the files that were dropped together"),
    ),
    ActionSpec(
        "previous_file",
        QT_TRANSLATE_NOOP("Actions", "Pre&vious file"),
        "file",
        ("PgUp",),
        QT_TRANSLATE_NOOP("Actions", "Open the file before among those that were dropped together"),
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
        "export_view",
        QT_TRANSLATE_NOOP("Actions", "&View as picture…"),
        "file/export",
        (),
        QT_TRANSLATE_NOOP("Actions", "Write what is looked at as a PNG, or as an SVG where the name ends in .svg"),
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
        "export_sweep_csv",
        QT_TRANSLATE_NOOP("Actions", "&Sweep as CSV…"),
        "file/export",
        (),
        QT_TRANSLATE_NOOP("Actions", "Write the rows of the sweep as comma-separated values"),
        separator=True,
    ),
    ActionSpec(
        "export_sweep_picture",
        QT_TRANSLATE_NOOP("Actions", "S&weep as picture…"),
        "file/export",
        (),
        QT_TRANSLATE_NOOP("Actions", "Write the plot of the sweep as a PNG, or as an SVG where the name ends in .svg"),
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
        "find_variant",
        QT_TRANSLATE_NOOP("Actions", "&Find a variant…"),
        "edit",
        ("Ctrl+F",),
        QT_TRANSLATE_NOOP("Actions", "Show only the variants that fit what is typed"),
        separator=True,
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
        "sweep",
        QT_TRANSLATE_NOOP("Actions", "S&weep"),
        "run",
        ("Ctrl+Shift+M",),
        QT_TRANSLATE_NOOP("Actions", "Time the ticked variants at several values of one quantity"),
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
ACTIONS: tuple[ActionSpec, ...] = (*_FILE, *_EDIT, *_RUN, *VIEW, *_HELP)
TOOLBAR: tuple[str, ...] = (
    *("open", "save", ""),
    *("undo", "redo", ""),
    *("run", "measure", "cancel", ""),
    *("fit", "one_to_one", "swap", "play", "xray"),
)
"""What the toolbar shows; an empty name is a separator."""

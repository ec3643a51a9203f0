"""The actions of the Help menu."""

from __future__ import annotations

from PySide6.QtGui import QAction

from app.base.translate import QT_TRANSLATE_NOOP
from app.shell.action_spec import ActionSpec
from app.views.start.helping import show_help
from app.views.window import handlers
from app.views.window.window_parts import WindowParts


def show_lectures(parts: WindowParts) -> None:
    """Show the lecturer's window."""
    from app.views.lecture.presenting import open_lectures  # with the lectures, at first use

    open_lectures(parts)


HELP = (
    ActionSpec(
        "shortcuts",
        QT_TRANSLATE_NOOP("Actions", "&Shortcuts"),
        "help",
        ("?", "Shift+F1"),
        QT_TRANSLATE_NOOP("Actions", "Show all keyboard shortcuts"),
        do=lambda parts: parts.pages.present("shortcuts"),
    ),
    ActionSpec(
        "help_here",
        QT_TRANSLATE_NOOP("Actions", "&Help on this part"),
        "help",
        ("F1",),
        QT_TRANSLATE_NOOP("Actions", "Open the guide at the panel with the focus, or at the term under the mouse"),
        do=show_help,
    ),
    ActionSpec(
        "start",
        QT_TRANSLATE_NOOP("Actions", "S&tart page"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "Continue, open something, ask a question, or take a lesson"),
        checkable=True,
        do=lambda parts: parts.docks.toggle("start"),
        on=lambda parts: parts.docks.is_open("start"),
    ),
    ActionSpec(
        "hints",
        QT_TRANSLATE_NOOP("Actions", "H&ints"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "Show in the status bar what to do next, from the first hint on"),
        checkable=True,
        do=lambda parts: parts.context.hints.set_on(not parts.context.hints.on),
        on=lambda parts: parts.context.hints.on,
    ),
    ActionSpec(
        "palette",
        QT_TRANSLATE_NOOP("Actions", "Command &palette…"),
        "help",
        ("Ctrl+Shift+P",),
        QT_TRANSLATE_NOOP("Actions", "Find an action by its name"),
        do=handlers.show_palette,
    ),
    ActionSpec(
        "lessons",
        QT_TRANSLATE_NOOP("Actions", "&Lessons"),
        "help",
        ("Ctrl+Alt+L",),
        QT_TRANSLATE_NOOP("Actions", "Learn why a GPU is fast, page by page, with questions about experiments"),
        checkable=True,
        do=lambda parts: parts.docks.toggle("lessons"),
        on=lambda parts: parts.docks.is_open("lessons"),
    ),
    ActionSpec(
        "lecture",
        QT_TRANSLATE_NOOP("Actions", "Lect&ures"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "Show a lecture scene by scene, with notes in a window for the second screen"),
        do=show_lectures,
    ),
    ActionSpec(
        "guide",
        QT_TRANSLATE_NOOP("Actions", "&Guide"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "Read about the window, files, measuring, the simulated GPU, and the results"),
        do=lambda parts: parts.pages.present("guide"),
    ),
    ActionSpec(
        "claims",
        QT_TRANSLATE_NOOP("Actions", "&Claims"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "Compare the claims of the sources with measurements"),
        separator=True,
        do=lambda parts: parts.pages.present("claims"),
    ),
    ActionSpec(
        "figures",
        QT_TRANSLATE_NOOP("Actions", "&Figures of the sources"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "Compare the figures that the sources published with measured points"),
        do=lambda parts: parts.pages.present("figures"),
    ),
    ActionSpec(
        "streams_exercise",
        QT_TRANSLATE_NOOP("Actions", "Streams &exercise"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "Convolve a large image with and without streams, and compare the timelines"),
        do=handlers.open_streams_exercise,
    ),
    ActionSpec(
        "layouts",
        QT_TRANSLATE_NOOP("Actions", "&Memory layouts"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "See which addresses the lanes of a warp access, and what each layout costs"),
        do=lambda parts: parts.pages.present("layouts"),
    ),
    ActionSpec(
        "diagnostics",
        QT_TRANSLATE_NOOP("Actions", "&Diagnostics"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "Devices, libraries and the log"),
        do=handlers.show_diagnostics,
    ),
    ActionSpec(
        "about",
        QT_TRANSLATE_NOOP("Actions", "&About Kernelscope"),
        "help",
        (),
        QT_TRANSLATE_NOOP("Actions", "Version and licence"),
        separator=True,
        role=QAction.MenuRole.AboutRole,
        do=handlers.show_about,
    ),
)

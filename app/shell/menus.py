"""The menus and the toolbar, as data."""

from __future__ import annotations

from app.base.translate import QT_TRANSLATE_NOOP

MENUS: tuple[tuple[str, str, str], ...] = (
    ("file", QT_TRANSLATE_NOOP("Actions", "&File"), ""),
    ("file/samples", QT_TRANSLATE_NOOP("Actions", "Open sa&mple"), "open"),
    ("file/recent", QT_TRANSLATE_NOOP("Actions", "Open &recent"), "open"),
    ("file/export", QT_TRANSLATE_NOOP("Actions", "&Export results"), "save"),
    ("edit", QT_TRANSLATE_NOOP("Actions", "&Edit"), ""),
    ("run", QT_TRANSLATE_NOOP("Actions", "&Run"), ""),
    ("devices", QT_TRANSLATE_NOOP("Actions", "Devi&ces"), ""),
    ("view", QT_TRANSLATE_NOOP("Actions", "&View"), ""),
    ("view/compare", QT_TRANSLATE_NOOP("Actions", "&Compare"), "zoom_out"),
    ("view/probe", QT_TRANSLATE_NOOP("Actions", "Re&gion and profile"), "zoom_out"),
    ("view/sound", QT_TRANSLATE_NOOP("Actions", "Soun&d"), "zoom_out"),
    ("view/colours", QT_TRANSLATE_NOOP("Actions", "Colour &map"), "levels_auto"),
    ("view/scheme", QT_TRANSLATE_NOOP("Actions", "&Light or dark"), "levels_auto"),
    ("help", QT_TRANSLATE_NOOP("Actions", "&Help"), ""),
)
"""Path, title and the preceding action. The window fills file/samples and most of file/recent."""
TOOLBAR: tuple[str, ...] = (
    *("open", "save", ""),
    *("undo", "redo", ""),
    *("run", "measure", "cancel", ""),
    *("fit", "one_to_one", "full_screen", "region", "profile", "swap", "play", "xray"),
)
"""What the toolbar shows; an empty name is a separator."""

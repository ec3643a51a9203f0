"""The actions that save and open sessions."""

from __future__ import annotations

from app.base.translate import QT_TRANSLATE_NOOP
from app.shell.action_spec import ActionSpec
from app.views.window import session_link

SESSION = (
    ActionSpec(
        "open_session",
        QT_TRANSLATE_NOOP("Actions", "O&pen session…"),
        "file",
        ("Ctrl+Shift+O",),
        QT_TRANSLATE_NOOP("Actions", "Open a session: an input with its steps, filter, variants and view"),
        separator=True,
        do=session_link.open_session,
    ),
    ActionSpec(
        "last_session",
        QT_TRANSLATE_NOOP("Actions", "Open the las&t session"),
        "file",
        (),
        QT_TRANSLATE_NOOP("Actions", "Open the session of the window when it was last closed"),
        do=lambda parts: parts.context.sessions.open_last(),
        able=lambda parts: parts.context.sessions.has_last,
    ),
    ActionSpec(
        "save_session",
        QT_TRANSLATE_NOOP("Actions", "Save sess&ion"),
        "file",
        ("Ctrl+Shift+S",),
        QT_TRANSLATE_NOOP("Actions", "Save all settings of the window to a small file"),
        do=session_link.save_session,
        able=lambda parts: parts.context.session.input is not None,
    ),
    ActionSpec(
        "save_session_as",
        QT_TRANSLATE_NOOP("Actions", "Save session &as…"),
        "file",
        (),
        QT_TRANSLATE_NOOP("Actions", "Save all settings of the window to another file"),
        do=session_link.save_session_as,
        able=lambda parts: parts.context.session.input is not None,
    ),
)

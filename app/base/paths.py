"""The path of Kernelscope's settings, the names of sessions, and the default input."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

from platformdirs import user_config_path

DEFAULT_SAMPLE = "camera"
"""The input of a window that was started without one."""
SESSION = ".kernelscope"
"""The suffix of a session file."""
LAST_SESSION = f"last{SESSION}"
"""The session that was open when the last window was closed; it is stored next to the settings."""


def settings_file() -> Path:
    """The settings file, in the system's folder for configuration."""
    return user_config_path("Kernelscope", appauthor=False) / "window.ini"


def is_session(path: str | os.PathLike[str]) -> bool:
    """Whether a file of this name is a session."""
    return PurePath(path).suffix.lower() == SESSION

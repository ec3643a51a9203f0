"""Where Kernelscope keeps what it remembers."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_config_path


def settings_file() -> Path:
    """The file of the window's settings, at the place the system has for such files."""
    return user_config_path("Kernelscope", appauthor=False) / "window.ini"

"""The place of Kernelscope's settings."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_config_path


def settings_file() -> Path:
    """The settings file, in the system's folder for configuration."""
    return user_config_path("Kernelscope", appauthor=False) / "window.ini"

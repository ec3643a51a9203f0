"""What is remembered from one start to the next: the window's place, what a person prefers, and recent files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

from app.models.display import COLORMAPS

SCHEMES = ("system", "light", "dark")
MOST_RECENT = 10
"""How many recent files are kept where nothing else was chosen."""
RECENT_LIMIT = 30
"""The most that can be chosen."""
_PREFERENCES = ("look/scheme", "look/presenter", "look/colormap", "window/restored", "run/timed", "files/most")


class Settings:
    """An ini file, or, without a path, memory that nobody reads again."""

    def __init__(self, path: str | Path | None = None) -> None:
        self._values: dict[str, Any] = {}
        self._store = QSettings(str(path), QSettings.Format.IniFormat) if path else None

    def _get(self, key: str) -> Any:
        return self._store.value(key) if self._store is not None else self._values.get(key)

    def _put(self, key: str, value: Any) -> None:
        if self._store is None:
            self._values[key] = value
        else:
            self._store.setValue(key, value)

    def _drop(self, key: str) -> None:
        self._values.pop(key, None)
        if self._store is not None:
            self._store.remove(key)

    def window(self) -> tuple[QByteArray, QByteArray]:
        """Geometry and layout as they were kept; empty where there are none."""
        found = self._get("window/geometry"), self._get("window/layout")
        empty = QByteArray()
        return tuple(v if isinstance(v, QByteArray) else empty for v in found)  # type: ignore[return-value]

    def set_window(self, geometry: QByteArray, layout: QByteArray) -> None:
        self._put("window/geometry", geometry)
        self._put("window/layout", layout)

    # What a person prefers

    def _flag(self, key: str, default: bool) -> bool:
        return {"true": True, "false": False}.get(str(self._get(key)).lower(), default)

    def _name(self, key: str, allowed: tuple[str, ...]) -> str:
        found = self._get(key)
        return found if found in allowed else allowed[0]

    @property
    def scheme(self) -> str:
        """One of SCHEMES."""
        return self._name("look/scheme", SCHEMES)

    @property
    def presenter(self) -> bool:
        """Whether everything is larger, for a room."""
        return self._flag("look/presenter", False)

    def set_look(self, scheme: str, presenter: bool) -> None:
        self._put("look/scheme", scheme)
        self._put("look/presenter", "true" if presenter else "false")

    @property
    def colormap(self) -> str:
        """The colours that a new window starts with: one of COLORMAPS."""
        return self._name("look/colormap", COLORMAPS)

    def set_colormap(self, name: str) -> None:
        self._put("look/colormap", name)

    @property
    def restored(self) -> bool:
        """Whether a window starts with the place and the panels that the last one had."""
        return self._flag("window/restored", True)

    def set_restored(self, restored: bool) -> None:
        self._put("window/restored", "true" if restored else "false")

    @property
    def timed(self) -> bool:
        """Whether live results are timed once the person pauses."""
        return self._flag("run/timed", True)

    def set_timed(self, timed: bool) -> None:
        self._put("run/timed", "true" if timed else "false")

    @property
    def most_recent(self) -> int:
        """How many recent files are kept, from 0 to RECENT_LIMIT."""
        found = str(self._get("files/most"))
        return min(int(found), RECENT_LIMIT) if found.isdecimal() else MOST_RECENT

    def set_most_recent(self, most: int) -> None:
        """Keep that many; older ones are forgotten now."""
        self._put("files/most", str(most))
        self._put("files/recent", list(self.recent))

    def forget_preferences(self) -> None:
        """Every preference has its default again; the window's place and recent files stay."""
        for key in _PREFERENCES:
            self._drop(key)

    # Recent files

    @property
    def recent(self) -> tuple[str, ...]:
        """Paths of the files opened last, the newest first."""
        found = self._get("files/recent") or []
        return tuple(str(p) for p in ([found] if isinstance(found, str) else found))[: self.most_recent]

    def add_recent(self, path: str) -> None:
        """A file was opened."""
        newest = str(Path(path).absolute())
        self._put("files/recent", [newest, *(p for p in self.recent if p != newest)][: self.most_recent])

    def clear_recent(self) -> None:
        self._put("files/recent", [])

    # Folders

    def _folder(self, key: str) -> str:
        """A folder that is still there, else the home."""
        found = str(self._get(key) or "")
        return found if found and Path(found).is_dir() else str(Path.home())

    @property
    def open_folder(self) -> str:
        """Where a file was chosen last."""
        return self._folder("files/open_folder")

    def set_open_folder(self, folder: str) -> None:
        self._put("files/open_folder", folder)

    @property
    def save_folder(self) -> str:
        """Where something was written last."""
        return self._folder("files/save_folder")

    def set_save_folder(self, folder: str) -> None:
        self._put("files/save_folder", folder)

    def save(self) -> None:
        """Write what has changed now."""
        if self._store is not None:
            self._store.sync()

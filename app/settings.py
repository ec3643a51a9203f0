"""What is remembered from one start to the next: the window's place, its look, and recent files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

SCHEMES = ("system", "light", "dark")
MOST_RECENT = 10


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

    def window(self) -> tuple[QByteArray, QByteArray]:
        """Geometry and layout as they were kept; empty where there are none."""
        found = self._get("window/geometry"), self._get("window/layout")
        empty = QByteArray()
        return tuple(v if isinstance(v, QByteArray) else empty for v in found)  # type: ignore[return-value]

    def set_window(self, geometry: QByteArray, layout: QByteArray) -> None:
        self._put("window/geometry", geometry)
        self._put("window/layout", layout)

    @property
    def scheme(self) -> str:
        """One of SCHEMES."""
        found = self._get("look/scheme")
        return found if found in SCHEMES else SCHEMES[0]

    @property
    def presenter(self) -> bool:
        return str(self._get("look/presenter")).lower() == "true"

    def set_look(self, scheme: str, presenter: bool) -> None:
        self._put("look/scheme", scheme)
        self._put("look/presenter", "true" if presenter else "false")

    @property
    def recent(self) -> tuple[str, ...]:
        """Paths of the files opened last, the newest first."""
        found = self._get("files/recent") or []
        return tuple(str(p) for p in ([found] if isinstance(found, str) else found))[:MOST_RECENT]

    def add_recent(self, path: str) -> None:
        """A file was opened."""
        newest = str(Path(path).absolute())
        self._put("files/recent", [newest, *(p for p in self.recent if p != newest)][:MOST_RECENT])

    def clear_recent(self) -> None:
        self._put("files/recent", [])

    def save(self) -> None:
        """Write what has changed now."""
        if self._store is not None:
            self._store.sync()

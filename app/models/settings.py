"""Settings that persist between starts: the window's geometry, preferences and recent files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QLockFile, QSettings

from app.base.paths import LAST_SESSION
from app.models.files.importing import Memory
from app.models.pictures.display import COLORMAPS
from gpu_ops.params import Values
from gpu_ops.remote.destination import location

SCHEMES = ("system", "light", "dark")
MOST_RECENT = 10
"""The default number of recent files."""
RECENT_LIMIT = 30
"""The highest number of recent files that can be chosen."""
_PREFERENCES = (
    *("look/scheme", "look/presenter", "look/colormap", "window/restored", "window/reopened"),
    *("window/start_page", "run/timed", "files/most"),
)


LOCK_MS = 5000
"""How long one window waits for another that changes the same settings."""


class Settings:
    """Settings in an ini file; without a path they stay in memory only. A value of another type than that of its
    setting, which Qt makes of words such as @Point(1 2), counts as none."""

    def __init__(self, path: str | Path | None = None) -> None:
        if path is not None and Path(path).exists() and not Path(path).is_file():
            path = None  # a pipe would block for ever
        self._folder_of_file = Path(path).parent if path else None
        self._values: dict[str, Any] = {}
        self._store = QSettings(str(path), QSettings.Format.IniFormat) if path else None

    def _get(self, key: str) -> Any:
        return self._store.value(key) if self._store is not None else self._values.get(key)

    def _text(self, key: str) -> str:
        value = self._get(key)
        return value if isinstance(value, str) else ""

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Synchronise with the file before and after the block, under a lock, so that no window overwrites another's
        values."""
        if self._store is None:
            yield
            return
        lock = QLockFile(f"{self._store.fileName()}.changing")
        locked = lock.tryLock(LOCK_MS)
        self._store.sync()
        try:
            yield
        finally:
            self._store.sync()
            if locked:
                lock.unlock()

    def refresh(self) -> None:
        """Read what other windows have written since."""
        if self._store is not None:
            self._store.sync()

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
        """The stored geometry and layout; empty where there are none."""
        values = self._get("window/geometry"), self._get("window/layout")
        empty = QByteArray()
        return tuple(v if isinstance(v, QByteArray) else empty for v in values)  # type: ignore[return-value]

    def set_window(self, geometry: QByteArray, layout: QByteArray) -> None:
        self._put("window/geometry", geometry)
        self._put("window/layout", layout)

    # Hints

    @property
    def hints(self) -> bool:
        """Whether hints are shown."""
        return self._flag("hints/on", True)

    def set_hints(self, on: bool) -> None:
        self._put("hints/on", str(on).lower())

    @property
    def hints_done(self) -> tuple[str, ...]:
        """The hints that were followed or dismissed."""
        return tuple(self._text("hints/done").split())

    def set_hints_done(self, ids: Iterable[str]) -> None:
        self._put("hints/done", " ".join(ids))

    # Preferences

    def _flag(self, key: str, default: bool) -> bool:
        return {"true": True, "false": False}.get(self._text(key).lower(), default)

    def _name(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self._text(key)
        return value if value in allowed else allowed[0]

    @property
    def scheme(self) -> str:
        """One of SCHEMES."""
        return self._name("look/scheme", SCHEMES)

    @property
    def presenter(self) -> bool:
        """Whether everything is larger, for presentations."""
        return self._flag("look/presenter", False)

    def set_look(self, scheme: str, presenter: bool) -> None:
        self._put("look/scheme", scheme)
        self._put("look/presenter", "true" if presenter else "false")

    @property
    def colormap(self) -> str:
        """The colour map of a new window: one of COLORMAPS."""
        return self._name("look/colormap", COLORMAPS)

    def set_colormap(self, name: str) -> None:
        self._put("look/colormap", name)

    @property
    def restored(self) -> bool:
        """Whether a window starts with the geometry and the panels of the last one."""
        return self._flag("window/restored", True)

    def set_restored(self, restored: bool) -> None:
        self._put("window/restored", "true" if restored else "false")

    @property
    def reopened(self) -> bool:
        """Whether a window starts with the last session, where that is small."""
        return self._flag("window/reopened", True)

    def set_reopened(self, reopened: bool) -> None:
        self._put("window/reopened", "true" if reopened else "false")

    @property
    def start_page(self) -> bool:
        """Whether a window that opens no session shows the start page."""
        return self._flag("window/start_page", True)

    def set_start_page(self, shown: bool) -> None:
        self._put("window/start_page", "true" if shown else "false")

    @property
    def last_session(self) -> Path | None:
        """The file of the last session, next to the settings file; None where settings stay in memory."""
        return self._folder_of_file / LAST_SESSION if self._folder_of_file is not None else None

    @property
    def timed(self) -> bool:
        """Whether live results are timed once the user pauses."""
        return self._flag("run/timed", True)

    def set_timed(self, timed: bool) -> None:
        self._put("run/timed", "true" if timed else "false")

    @property
    def most_recent(self) -> int:
        """The number of recent files to keep, from 0 to RECENT_LIMIT."""
        value = self._text("files/most")
        return min(int(value), RECENT_LIMIT) if value.isdecimal() else MOST_RECENT

    def set_most_recent(self, most: int) -> None:
        """Keep that many recent files and forget older ones now."""
        with self._changing():
            self._put("files/most", str(most))
            self._put("files/recent", list(self.recent))

    def forget_preferences(self) -> None:
        """Reset every preference; the window's geometry and recent files stay."""
        for key in _PREFERENCES:
            self._drop(key)

    @property
    def lesson_progress(self) -> str:
        """The pages of lessons that were reached, as JSON; "" at first."""
        return self._text("lessons/progress")

    def set_lesson_progress(self, text: str) -> None:
        self._put("lessons/progress", text)

    @property
    def batch(self) -> str:
        """The fields of the last batch, as JSON; "" at first."""
        return self._text("files/batch")

    def set_batch(self, text: str) -> None:
        self._put("files/batch", text)

    # Recent files

    @property
    def recent(self) -> tuple[str, ...]:
        """The paths of recent files, the newest first."""
        value = self._get("files/recent")
        paths = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
        return tuple(path for path in paths if isinstance(path, str) and path)[: self.most_recent]

    def add_recent(self, path: str) -> None:
        """Put a file at the top of the recent files."""
        newest = path if location(path) else str(Path(path).absolute())
        with self._changing():
            self._put("files/recent", [newest, *(p for p in self.recent if p != newest)][: self.most_recent])

    def clear_recent(self) -> None:
        with self._changing():
            self._put("files/recent", [])

    # Other machines

    @property
    def hosts(self) -> tuple[tuple[str, str], ...]:
        """The machines that were used, each with its command there, the newest first."""
        value = self._get("remote/hosts")
        lines = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
        pairs = (line.split(" ", 1) for line in lines if isinstance(line, str) and " " in line)
        return tuple((host, command) for host, command in pairs)

    def add_host(self, host: str, command: str) -> None:
        """Put a machine at the top of those that were used."""
        with self._changing():
            kept = [f"{host} {command}", *(f"{h} {c}" for h, c in self.hosts if h != host)]
            self._put("remote/hosts", kept[:MOST_RECENT])

    def forget_host(self, host: str) -> None:
        with self._changing():
            self._put("remote/hosts", [f"{h} {c}" for h, c in self.hosts if h != host])

    # How files are read

    def _imports(self) -> Memory:
        return Memory(self._text("files/choices"))

    @property
    def imports(self) -> int:
        """The number of kinds of files whose reading choices are remembered."""
        return len(self._imports())

    def remembered_import(self, key: str) -> Values | None:
        """The choices for a kind of file; None where there are none."""
        return self._imports().get(key)

    def remember_import(self, key: str, values: Values) -> None:
        """Read files of this kind with these choices from now on."""
        with self._changing():
            memory = self._imports()
            memory.put(key, values)
            self._put("files/choices", memory.text)

    def forget_import(self, key: str) -> None:
        with self._changing():
            memory = self._imports()
            memory.drop(key)
            self._put("files/choices", memory.text)

    def forget_imports(self) -> None:
        """Ask again for every kind of file."""
        self._drop("files/choices")

    # Folders

    def _folder(self, key: str) -> str:
        """The stored folder if it still exists, else the home folder."""
        value = self._text(key)
        return value if value and Path(value).is_dir() else str(Path.home())

    @property
    def open_folder(self) -> str:
        """The folder of the file opened last."""
        return self._folder("files/open_folder")

    def set_open_folder(self, folder: str) -> None:
        self._put("files/open_folder", folder)

    @property
    def save_folder(self) -> str:
        """The folder of the file saved last."""
        return self._folder("files/save_folder")

    def set_save_folder(self, folder: str) -> None:
        self._put("files/save_folder", folder)

    def save(self) -> None:
        """Write changes to the file now."""
        if self._store is not None:
            self._store.sync()

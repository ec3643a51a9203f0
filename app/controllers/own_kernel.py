"""A kernel file from elsewhere: opened by the user, and launched when the user says so, in a process of its own."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.base.nesting import bounded
from gpu_ops.errors import KernelscopeError
from gpu_ops.own_kernels.launch_process import Answer, Launcher, Request
from gpu_ops.own_kernels.sources import Declared, OwnFile, read_file

POLL_MS = 20


class OwnKernelController(QObject):
    """Opens a file and launches its kernels. `opened`: there is another file, or another text of it. `changed`:
    `running`, `answer` or `reason` changed. `reason` is a sentence that says why there is no file or no answer."""

    opened = Signal()
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = ""
        self.file: OwnFile | None = None
        self.answer: Answer | None = None
        self.reason = ""
        self.includes: tuple[str, ...] = ()
        self._launcher: Launcher | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self._poll)

    @property
    def kernels(self) -> tuple[Declared, ...]:
        """The kernels of the file."""
        return self.file.kernels if self.file else ()

    @property
    def running(self) -> bool:
        return self._launcher is not None and self._launcher.busy

    def open(self, path: str) -> None:
        """Open a file, or the same one again; nothing is launched. A file that cannot be opened leaves its `reason`."""
        self.stop()
        self.path, self.answer = path, None
        self.file, self.reason = self._read(path)
        if self.file and self._launcher is None:
            self._launcher = Launcher()  # ready by the time that the launch is described
        self.opened.emit()
        self.changed.emit()

    def reload(self) -> None:
        """Read the file again."""
        if self.path:
            self.open(self.path)

    def _read(self, path: str) -> tuple[OwnFile | None, str]:
        try:
            file = read_file(path, self.includes)
            if not file.kernels:
                file.kernel(None)  # raises, and says how a kernel is declared
        except KernelscopeError as error:
            return None, str(error)
        return file, ""

    def run(self, request: Request) -> None:
        """Launch; a launch that runs is stopped. Its arrays replace those of the one before."""
        if self._launcher is None:
            return
        folder = tempfile.TemporaryDirectory(prefix="kernelscope-arrays-")
        self._launcher.start(replace(request, path=self.path, includes=self.includes, folder=folder.name))
        if self._folder is not None:
            self._folder.cleanup()
        self._folder, self.answer, self.reason = folder, None, ""
        self._timer.start()
        self.changed.emit()

    def stop(self) -> None:
        """End a launch that runs."""
        if self.running and self._launcher is not None:
            self._launcher.stop()
            self._timer.stop()
            self.reason = self.tr("Stopped.")
            self.changed.emit()

    @Slot()
    @bounded
    def _poll(self) -> None:
        answer = self._launcher.poll() if self._launcher else None
        if answer is not None:
            self._timer.stop()
            self.answer, self.reason = answer, answer.reason
            self.changed.emit()

    def array_path(self, name: str) -> str:
        """The NPY file of an array after the launch; "" where there is none."""
        about = (self.answer.arrays or {}).get(name) if self.answer else None
        return str(Path(self._folder.name) / about["file"]) if about and self._folder else ""

    def array(self, name: str) -> np.ndarray[Any, Any] | None:
        """An array after the launch."""
        path = self.array_path(name)
        return np.load(path, mmap_mode="r", allow_pickle=False) if path else None

    def close(self) -> None:
        """End the process and remove the arrays."""
        self._timer.stop()
        if self._launcher is not None:
            self._launcher.close()
            self._launcher = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

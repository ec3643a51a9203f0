"""A kernel file from elsewhere: opened by the user, and launched when the user says so, in a process of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal, Slot

from app.base.nesting import bounded
from app.controllers.session import SessionController
from app.models.experiment.change import Change
from app.models.experiment.launch_fields import LaunchFields
from app.models.own_launch import command_of, first_fields, given_in, in_fields, request_of
from app.models.xray.architecture import architecture_of
from gpu_ops.errors import InputError, KernelscopeError, plain
from gpu_ops.own_kernels.arguments import converted
from gpu_ops.own_kernels.kernel_process import KernelProcess, Outcome
from gpu_ops.own_kernels.launches import WORK, Given
from gpu_ops.own_kernels.sources import Declared, OwnFile, read_file

POLL_MS = 20
SETTLED_MS = 200
"""Milliseconds after a change on disk until the file is read: editors write in several steps."""


class OwnKernelController(QObject):
    """Opens the file of the session's launch, and launches its kernel. `opened`: there is another file, another text of
    it, or another description of the launch. `changed`: `running`, `outcome`, `reason` or `stale` changed. `reason` is
    a sentence that says why there is no file or no result; the file is `stale` where it has changed on disk since.
    `given_changed`: there is another input, or another result."""

    opened = Signal()
    given_changed = Signal()
    changed = Signal()

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controller, self._session, self._engine = controller, controller.session, controller.queue.engine
        self.file: OwnFile | None = None
        self.outcome: Outcome | None = None
        self.ran = LaunchFields()
        self.reason = ""
        self.stale = False
        self._read_from: tuple[str, tuple[str, ...]] = ("", ())
        self._process: KernelProcess | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._held: tuple[str, ...] = ()
        self._timer, self._settled = QTimer(self), QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self._poll)
        self._settled.setInterval(SETTLED_MS)
        self._settled.setSingleShot(True)
        self._settled.timeout.connect(self._look)
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(lambda _: self._settled.start())
        self._watcher.directoryChanged.connect(lambda _: self._settled.start())
        self._session.changed.connect(self._follow)
        controller.outputs_changed.connect(self._take_outputs)

    @Slot(str, str, object)
    def _take_outputs(self, variant: str, name: str, shown: object) -> None:
        self.given_changed.emit()

    @property
    def fields(self) -> LaunchFields:
        """The launch as the user describes it."""
        return self._session.choice.own

    @property
    def kernels(self) -> tuple[Declared, ...]:
        """The kernels of the file."""
        return self.file.kernels if self.file else ()

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.busy

    @property
    def architecture(self) -> str:
        """The architecture of the simulated GPU that counts: that of the device that runs the kernel too."""
        return architecture_of(self.fields.device, self._engine.devices)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that run kernels besides the simulated GPU."""
        return tuple(name for name in self._session.devices if name.startswith("cuda"))

    # The file

    def open(self, path: str) -> None:
        """Open a file, or the same one again; nothing is launched. A file that cannot be opened leaves its `reason`."""
        path = os.path.abspath(path)
        if path == self.fields.path:
            self._load()
        else:
            before = replace(self.fields, path=path)
            file, _ = _read(before)
            self._session.set_own(first_fields(path, file.kernels if file else (), before))
        if self.file is not None:
            self._ready()

    def describe(self, fields: LaunchFields) -> None:
        """Describe the launch as the user has."""
        self._session.set_own(fields)

    def reload(self) -> None:
        """Read the file again."""
        if self.fields.path:
            self._load()

    @Slot(object)
    @bounded
    def _follow(self, change: Change) -> None:
        """The launch is described in another way, also by undo or by a session; nothing is launched."""
        if change.input:
            self.given_changed.emit()
        if not change.own:
            return
        if (self.fields.path, self.fields.folders) != self._read_from:
            self._load()
        else:
            self.opened.emit()

    def _load(self) -> None:
        self.stop()
        self._read_from = self.fields.path, self.fields.folders
        self.file, self.reason = _read(self.fields) if self.fields.path else (None, "")
        self.outcome, self.stale = None, False
        self._watch()
        self.opened.emit()
        self.changed.emit()

    def _watch(self) -> None:
        """Watch the file, and its folder as well: most editors write a new file in its place."""
        if watched := [*self._watcher.files(), *self._watcher.directories()]:
            self._watcher.removePaths(watched)
        path, folders = self._read_from
        wanted = dict.fromkeys((path, os.path.dirname(path), *folders)) if path else {}
        if there := [name for name in wanted if os.path.exists(name)]:
            self._watcher.addPaths(there)

    @Slot()
    @bounded
    def _look(self) -> None:
        """Compare the file and its headers on disk with those that were read."""
        before = self.stale
        file, _ = _read(self.fields)
        self.stale = (file.texts if file else None) != (self.file.texts if self.file else None)
        self._watch()
        if self.stale != before:
            self.changed.emit()

    # The launch

    def run(self) -> None:
        """Launch; one that runs is stopped. Its arrays replace those of the one before. Raises KernelscopeError."""
        self.stop()
        if self.file is None:
            return
        folder = tempfile.TemporaryDirectory(prefix="kernelscope-arrays-")
        try:
            given = self._given()
            request = request_of(self.fields, self.file, self.architecture, folder.name, given)
        except KernelscopeError:
            self._let_go()
            folder.cleanup()
            raise
        self._ready().start(asdict(request), plain(self.file.name))
        self.ran = self.fields
        if self._folder is not None:
            self._folder.cleanup()
        self._folder, self.outcome, self.reason = folder, None, ""
        self._timer.start()
        self.changed.emit()

    def _ready(self) -> KernelProcess:
        """The process, which is ready by the time that a launch is described."""
        self._process = self._process or KernelProcess(WORK)
        return self._process

    def _given(self) -> dict[str, Given]:
        """The window's arrays that are arguments; their memory stays until the launch has ended. Raises InputError."""
        found = {}
        for name in given_in(self.fields):
            shared = self._controller.array_of(name)
            self._engine.hold(shared.segment)
            self._held = (*self._held, shared.segment)
            found[name] = Given(self._engine.path(shared), shared.shape, shared.dtype)
        return found

    def _let_go(self) -> None:
        for segment in self._held:
            self._engine.release(segment)
        self._held = ()

    def shape_of(self, name: str) -> tuple[tuple[int, ...], str] | None:
        """The shape and the type of a window's array, "input" or "result"; None where there is none."""
        try:
            shared = self._controller.array_of(name)
        except InputError:
            return None
        return tuple(shared.shape), shared.dtype

    def stop(self) -> None:
        """End a launch that runs."""
        if self.running and self._process is not None:
            self._process.stop()
            self._timer.stop()
            self._let_go()
            self.reason = self.tr("Stopped.")
            self.changed.emit()

    @Slot()
    @bounded
    def _poll(self) -> None:
        outcome = self._process.poll() if self._process else None
        if outcome is not None:
            self._timer.stop()
            self._let_go()
            advice = self.tr("Take a smaller launch, or look for a loop without end.") if outcome.reached else ""
            self.outcome, self.reason = outcome, in_fields(f"{outcome.reason} {advice}".rstrip())
            self.changed.emit()

    def command(self, save: Mapping[str, str]) -> str:
        """The command that launches the same; `save` are the files to which arrays of the window are saved, by the
        argument. Raises InputError."""
        for argument, target in save.items():
            name, _, dtype = argument.partition(":")
            array = self._engine.array(self._controller.array_of(name))
            try:
                np.save(target, converted(array, dtype, name), allow_pickle=False)
            except OSError as error:
                text = self.tr("{path} cannot be written ({reason}); choose another folder.")
                raise InputError(text.format(path=plain(target), reason=error.strerror)) from None
        return command_of(self.fields, self.architecture, save)

    # Its arrays

    @property
    def arrays(self) -> Mapping[str, Mapping[str, Any]]:
        """What is known of each array after the launch, by name."""
        result = self.outcome.result if self.outcome else None
        return result["arrays"] if result else {}

    def array_path(self, name: str) -> str:
        """The NPY file of an array after the launch; "" where there is none."""
        about = self.arrays.get(name)
        return str(Path(self._folder.name) / about["file"]) if about and self._folder else ""

    def array(self, name: str) -> np.ndarray[Any, Any] | None:
        """An array after the launch."""
        path = self.array_path(name)
        return np.load(path, mmap_mode="r", allow_pickle=False) if path else None

    def use_array(self, name: str) -> None:
        """Make an array after the launch the input, as a result: undo brings the former one back."""
        text = self.tr("{array} after {kernel}").format(array=name, kernel=self.file.name if self.file else "")
        self._controller.inputs.use_array(self.array_path(name), text)

    def close(self) -> None:
        """End the process and remove the arrays."""
        self._timer.stop()
        self._let_go()
        if self._process is not None:
            self._process.close()
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _read(fields: LaunchFields) -> tuple[OwnFile | None, str]:
    """The file, or why there is none."""
    try:
        file = read_file(fields.path, fields.folders)
        if not file.kernels:
            file.kernel(None)  # raises, and says how a kernel is declared
    except KernelscopeError as error:
        return None, in_fields(str(error))
    return file, ""

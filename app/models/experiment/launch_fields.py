"""The launch of a kernel from elsewhere as the user describes it, which sessions and undo keep. No widgets, and
nothing here runs anything."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.models.files.json_text import Fields
from gpu_ops.errors import InputError, plain

SIM = "sim"
SIMULATED = (SIM, "sim:sm_90", "sim:sm_120")
"""The simulated GPUs: the usual one, and those of later architectures."""
DEVICE = re.compile("|".join(SIMULATED) + "|cuda:[0-9]{1,3}")
_TEXTS = ("kernel", "grid", "block", "cluster", "shared")
_LISTS = ("arguments", "symbols", "includes", "defines")


@dataclass(frozen=True)
class LaunchFields:
    """The texts of the form. `path` is that of the kernel file, "" for none; `kernel` is "" for the only kernel of the
    file, `cluster` "" for none, `symbols` the contents of variables as NAME=VALUE, and `device` one of SIMULATED, or
    "cuda:0" to run it there too."""

    path: str = ""
    kernel: str = ""
    grid: str = ""
    block: str = ""
    cluster: str = ""
    shared: str = "0"
    arguments: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    device: str = SIM

    @property
    def folder(self) -> str:
        """The folder of the kernel file, to which the paths of headers and arrays are relative."""
        return os.path.dirname(self.path)

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders with headers."""
        return tuple(os.path.join(self.folder, name) for name in self.includes)


def launch_json(fields: LaunchFields, near: Callable[[str], str]) -> dict[str, Any]:
    """The content of a session file's "own_kernel"; `near` is the path of a file from the folder of the session."""
    if not fields.path:
        return {}
    content = {name: getattr(fields, name) for name in (*_TEXTS, *_LISTS, "device")}
    return {"path": near(fields.path), "absolute": fields.path} | content


def read_launch(content: Fields, folder: str) -> LaunchFields:
    """The launch of a session file in a folder, all of it checked. Raises InputError."""
    if not content.has("absolute"):
        return LaunchFields()
    names = (content.text("path", ""), content.text("absolute"))
    paths = [os.path.abspath(os.path.join(folder, name)) for name in names if name]
    device = content.text("device", SIM)
    if "\0" in "".join(names) or not paths:
        raise InputError(_tr("own_kernel names no file by its path."))
    if DEVICE.fullmatch(device) is None:
        text = _tr("own_kernel runs on {device}, which is no device; choose sim or cuda:N.")
        raise InputError(text.format(device=plain(repr(device), 40)))
    path = next((path for path in paths if os.path.isfile(path)), paths[-1])
    texts: dict[str, Any] = {name: content.text(name, "") for name in _TEXTS}
    texts |= {name: content.texts(name) if content.has(name) else () for name in _LISTS}
    return LaunchFields(path, **texts, device=device)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Sessions", text)

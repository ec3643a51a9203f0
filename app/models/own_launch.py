"""A launch as the user describes it, made into a request and into a command."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QCoreApplication

from app.models.experiment.experiment_text import joined
from app.models.experiment.launch_fields import SIM, LaunchFields
from gpu_ops.device_names import is_simulated
from gpu_ops.errors import ParamError
from gpu_ops.own_kernels.arguments import GIVEN, extents, pairs
from gpu_ops.own_kernels.launches import Given, Request
from gpu_ops.own_kernels.presets import BLOCK, LENGTH, blocks_for, parameters
from gpu_ops.own_kernels.sources import Declared, OwnFile


def in_fields(sentence: str) -> str:
    """A message that names options of the command line, with the form's fields in their place."""
    fields = {"--kernel": _tr("Kernel"), "--include": _tr("Header folders"), "--arg ": _tr("The argument ")}
    fields |= {"--cluster": _tr("the field Cluster")}
    fields |= {"; --arg gives": _tr("; the form gives"), "--define": _tr("Macros"), "--symbol ": _tr("The variable ")}
    for option in sorted(fields, key=len, reverse=True):
        sentence = sentence.replace(option, fields[option])
    return sentence


def _tr(text: str) -> str:
    return QCoreApplication.translate("OwnKernel", text)


def first_fields(path: str, kernels: Sequence[Declared], before: LaunchFields) -> LaunchFields:
    """The launch of a file that is opened: that of its first kernel. Folders of headers and the device stay."""
    named = LaunchFields(path, grid=str(blocks_for(LENGTH)), block=str(BLOCK), includes=before.includes)
    kernel = kernels[0].first_instance if kernels else ""
    arguments = tuple(p.preset for p in parameters(kernels[0], kernel)) if kernels else ()
    return replace(named, kernel=kernel, arguments=arguments, device=before.device)


def given_in(fields: LaunchFields) -> tuple[str, ...]:
    """The arrays of the window that are arguments: "input", "result"."""
    kinds = {text.partition(":")[0] for text in fields.arguments}
    return tuple(name for name in GIVEN if name in kinds)


def request_of(
    fields: LaunchFields, file: OwnFile, architecture: str, folder: str, given: Mapping[str, Given]
) -> Request:
    """The request of a launch. Raises ParamError, which names the field and what it takes."""
    shared = fields.shared.strip() or "0"
    if not (shared.isascii() and shared.isdigit()):
        raise ParamError(f"Shared memory {shared!r} is no number of bytes; give 0 or more, such as 1024.")
    return Request(
        name=file.name,
        texts=file.texts,
        kernel=fields.kernel.strip() or None,
        grid=extents(fields.grid.strip(), "Blocks"),
        block=extents(fields.block.strip(), "Threads"),
        arguments=_placed(fields),
        folder=folder,
        shared_bytes=int(shared),
        cluster=extents(fields.cluster.strip(), "Cluster") if fields.cluster.strip() else None,
        defines=pairs(fields.defines, "Macros", "1"),
        symbols=pairs(_beside(fields, fields.symbols), _tr("Variables")),
        device=SIM if is_simulated(fields.device) else fields.device,
        architecture=architecture,
        given=given,
    )


def command_of(fields: LaunchFields, architecture: str, files: Mapping[str, str]) -> str:
    """The command that launches the same; `files` are those of the window's arrays, saved with their types."""
    parts = ["kernelscope", "xray", fields.path]
    parts += ["--kernel", fields.kernel] if fields.kernel else []
    parts += ["--grid", fields.grid, "--block", fields.block]
    parts += ["--cluster", fields.cluster] if fields.cluster.strip() else []
    parts += ["--shared", fields.shared] if fields.shared.strip() not in ("", "0") else []
    parts += _each("--arg", [files.get(text, text) for text in _placed(fields)])
    parts += _each("--symbol", _beside(fields, fields.symbols))
    parts += _each("--include", fields.folders) + _each("--define", fields.defines)
    where = ["--gpu", architecture] if is_simulated(fields.device) else ["--device", fields.device]
    return joined([*parts, *where])


def _placed(fields: LaunchFields) -> tuple[str, ...]:
    """The arguments, in which files are those of the kernel file's folder."""
    return tuple(os.path.join(fields.folder, text) if text.endswith(".npy") else text for text in fields.arguments)


def _beside(fields: LaunchFields, symbols: Sequence[str]) -> tuple[str, ...]:
    """The same of NAME=VALUE of variables."""
    parts = (text.partition("=") for text in symbols)
    return tuple(
        f"{name}{sign}{os.path.join(fields.folder, value) if value.endswith('.npy') else value}"
        for name, sign, value in parts
    )


def _each(flag: str, texts: Sequence[str]) -> list[str]:
    return [part for text in texts for part in (flag, text)]

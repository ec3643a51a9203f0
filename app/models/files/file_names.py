"""What file dialogs offer: file types, and proposed names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import QCoreApplication

from gpu_ops import FORMATS, maps_for
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.types import Filter

LONGEST = 100
"""Letters of a proposed name without its suffix."""


def _wild(suffixes: tuple[str, ...]) -> str:
    return f"({' '.join(f'*{suffix}' for suffix in suffixes)})"


def open_kinds() -> str:
    """The file filters of a dialog that opens a file, in Qt's notation."""
    translate = QCoreApplication.translate
    suffixes_of = {kind: tuple(s for f in FORMATS if kind in f.kinds for s in f.suffixes) for kind in INPUT_KINDS}
    titles = [
        (translate("Files", f"{kind}s".capitalize()), suffixes) for kind, suffixes in suffixes_of.items() if suffixes
    ]
    every = tuple(dict.fromkeys(s for _, suffixes in titles for s in suffixes))
    titles.insert(0, (translate("Files", "Images and signals"), every))
    return ";;".join([*(f"{title} {_wild(suffixes)}" for title, suffixes in titles), all_files()])


def suffixes() -> tuple[str, ...]:
    """The suffixes of all files that can be opened."""
    return tuple(dict.fromkeys(suffix for format in FORMATS for suffix in format.suffixes))


def all_files() -> str:
    return QCoreApplication.translate("Files", "All files (*)")


def save_kinds(kind: str, dtype: str, rate: float | None) -> str:
    """The file filters of a dialog that saves a result; formats that keep all its values and its rate come first."""
    fitting = sorted(_formats(kind), key=lambda suffix: not _keeps(suffix, dtype, rate))
    titles = [(_format_title(suffix), suffix) for suffix in fitting]
    suffixes_of = {title: tuple(s for t, s in titles if t == title) for title, _ in titles}
    return ";;".join([*(f"{title} {_wild(suffixes)}" for title, suffixes in suffixes_of.items()), all_files()])


def save_suffix(kind: str, dtype: str, rate: float | None) -> str:
    """The suffix for a result: the first of its kind's formats that keeps all its values and its rate."""
    return next((suffix for suffix in _formats(kind) if _keeps(suffix, dtype, rate)), ".npy")


def frames_kinds(kind: str) -> str:
    """The file filters of a dialog that saves the results of all frames as one stack."""
    formats = OUTPUT_KINDS[kind].stack_formats
    return ";;".join([*(f"{_format_title(suffix)} {_wild((suffix,))}" for suffix in formats), all_files()])


def _formats(kind: str) -> tuple[str, ...]:
    return OUTPUT_KINDS[kind].formats


def _format_title(suffix: str) -> str:
    """The name that a dialog shows for files with this suffix."""
    title = next((f.title for f in FORMATS if suffix in f.suffixes), suffix.removeprefix(".").upper())
    return title[0].upper() + title[1:]


def _keeps(suffix: str, dtype: str, rate: float | None) -> bool:
    """Whether the format keeps all values of the type; FLAC keeps only floats from -1 to 1. Only sound files keep a
    rate."""
    if suffix in (".wav", ".flac"):
        return dtype.startswith("float") == (suffix == ".wav") and rate is not None
    return rate is None and not maps_for(suffix, dtype)


def proposed_name(input: str, filter: Filter, params: Mapping[str, Any], what: str, suffix: str) -> str:
    """A name such as "camera-mean-window5-shared.png": the input, the filter, its settings, and `what` the file
    contains."""
    parts = [PurePath(input).stem if "." in input else input, filter.family, *_settings_words(filter, params), what]
    words = (re.sub(r"[^\w.-]+", "_", part).strip("_") for part in parts)
    return "-".join(word for word in words if word)[:LONGEST].rstrip("-._") + suffix


def _settings_words(filter: Filter, params: Mapping[str, Any]) -> list[str]:
    """The settings in a file name: a preset by its name, whole numbers, and everything that differs from its
    default."""
    preset = next((name for name, values in filter.presets.items() if _holds(params, values)), "")
    preset_names = set(filter.presets[preset]) if preset else set()
    words = [preset] if preset else []
    for param in filter.params:
        value = params.get(param.name, param.default)
        if param.name in preset_names or (type(param.default) is not int and value == param.default):
            continue
        words.append(f"{param.name}{'' if isinstance(value, tuple | list) else _plain(value)}")
    return words


def _holds(params: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    return all(name in params and _as_tuple(params[name]) == _as_tuple(value) for name, value in values.items())


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _plain(value: Any) -> str:
    """Numbers in the C locale; words after an underscore."""
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, int) else f"_{value}"

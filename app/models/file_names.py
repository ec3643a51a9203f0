"""What file dialogs offer: the kinds of files there are, and names that say what is in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import QCoreApplication

from gpu_ops import FORMATS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.types import Filter

LONGEST = 100
"""Letters of a proposed name without its ending."""


def _wild(suffixes: tuple[str, ...]) -> str:
    return f"({' '.join(f'*{suffix}' for suffix in suffixes)})"


def open_kinds() -> str:
    """The filters of a dialog that opens a file, as Qt reads them."""
    translate = QCoreApplication.translate
    held = {kind: tuple(s for f in FORMATS if kind in f.kinds for s in f.suffixes) for kind in INPUT_KINDS}
    titles = [(translate("Files", f"{kind}s".capitalize()), suffixes) for kind, suffixes in held.items() if suffixes]
    every = tuple(dict.fromkeys(s for _, suffixes in titles for s in suffixes))
    titles.insert(0, (translate("Files", "Images and signals"), every))
    return ";;".join([*(f"{title} {_wild(suffixes)}" for title, suffixes in titles), all_files()])


def all_files() -> str:
    return QCoreApplication.translate("Files", "All files (*)")


def save_kinds(kind: str, dtype: str, rate: float | None) -> str:
    """The filters of a dialog that saves a result of a kind, those first that keep every value of it and its rate."""
    fitting = sorted(_formats(kind), key=lambda suffix: not _keeps(suffix, dtype, rate))
    named = [(_format_title(suffix), suffix) for suffix in fitting]
    grouped = {title: tuple(s for t, s in named if t == title) for title, _ in named}
    return ";;".join([*(f"{title} {_wild(suffixes)}" for title, suffixes in grouped.items()), all_files()])


def save_suffix(kind: str, dtype: str, rate: float | None) -> str:
    """The ending for a result: the first of its kind's formats that keep every value of it and its rate."""
    return next((suffix for suffix in _formats(kind) if _keeps(suffix, dtype, rate)), ".npy")


def _formats(kind: str) -> tuple[str, ...]:
    return OUTPUT_KINDS[kind].formats


def _format_title(suffix: str) -> str:
    """What files with an ending are called in a dialog."""
    title = next(f.title for f in FORMATS if suffix in f.suffixes)
    return title[0].upper() + title[1:]


def _keeps(suffix: str, dtype: str, rate: float | None) -> bool:
    """PNG holds no floats, WAV floats only, and nothing but WAV a rate."""
    floats = dtype.startswith("float")
    if suffix == ".wav":
        return floats and rate is not None
    return rate is None and not (floats and suffix == ".png")


def proposed_name(input: str, filter: Filter, params: Mapping[str, Any], what: str, suffix: str) -> str:
    """A name such as "camera-mean-window5-shared.png": the input, the filter, what it was told, and `what` of it."""
    parts = [PurePath(input).stem if "." in input else input, filter.family, *_told(filter, params), what]
    words = (re.sub(r"[^\w.-]+", "_", part).strip("_") for part in parts)
    return "-".join(word for word in words if word)[:LONGEST].rstrip("-._") + suffix


def _told(filter: Filter, params: Mapping[str, Any]) -> list[str]:
    """Whole numbers, whatever differs from its default, and a preset by its name."""
    preset = next((name for name, values in filter.presets.items() if _holds(params, values)), "")
    held = set(filter.presets[preset]) if preset else set()
    told = [preset] if preset else []
    for param in filter.params:
        value = params.get(param.name, param.default)
        if param.name in held or (type(param.default) is not int and value == param.default):
            continue
        told.append(f"{param.name}{'' if isinstance(value, tuple | list) else _plain(value)}")
    return told


def _holds(params: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    return all(name in params and _tupled(params[name]) == _tupled(value) for name, value in values.items())


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _plain(value: Any) -> str:
    """Digits in the C locale, words after a line of their own."""
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, int) else f"_{value}"

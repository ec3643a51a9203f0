"""The words after a variant's title that distinguish its rows: "block 256 · edited"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.models.experiment.job_text import size_text, value_text
from gpu_ops import FILTERS
from gpu_ops.report.rows import Row
from gpu_ops.run_key import EDITS, RunKey, differences

BETWEEN = " · "
DIGITS = 6
"""The digits of a hash that distinguish two edited kernels."""


def settings_text(settings: Mapping[str, Any], between: str = ", ") -> str:
    """Parameters and knobs with their values; an edited kernel is "edited"."""
    return between.join(_setting(name, value) for name, value in settings.items())


def _setting(name: str, value: Any) -> str:
    if name == EDITS:
        return QCoreApplication.translate("Results", "edited")
    return f"{name.replace('_', ' ')} {value_text(value)}"


def key_differences(keys: Sequence[RunKey]) -> list[str]:
    """For each key the settings that differ among these keys; empty where none differ."""
    texts = [settings_text(own, BETWEEN) for own in differences(keys)]
    if len({key.edits for key in keys} - {""}) > 1:
        texts = [f"{t} {key.edits[:DIGITS]}" if key.edits else t for t, key in zip(texts, keys, strict=True)]
    return texts


def row_differences(rows: Sequence[Row]) -> list[str]:
    """For each row what differs among these rows: settings, shape and type, mode, protocol."""
    columns: list[list[str]] = [key_differences([row.key for row in rows])]
    columns.append([size_text(FILTERS.find(row.filter), row.shape, row.dtype) for row in rows])
    columns += [[row.mode for row in rows], [row.protocol for row in rows]]
    differing = [way for way in columns if len(set(way)) > 1]
    return [BETWEEN.join(text for text in texts if text) for texts in zip(*differing, strict=True)] or [""] * len(rows)

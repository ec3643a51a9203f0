"""What tells rows of one variant apart, in words that stand behind its title: "block 256 · edited"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.models.job_text import shape_text, value_text
from gpu_ops.measuring.rows import Row
from gpu_ops.run_key import EDITS, RunKey, differences

BETWEEN = " · "
DIGITS = 6
"""How many of a hash tell two edited kernels apart."""


def settings_text(settings: Mapping[str, Any], between: str = ", ") -> str:
    """Parameters and knobs with their values; a kernel that somebody edited is "edited"."""
    return between.join(_setting(name, value) for name, value in settings.items())


def _setting(name: str, value: Any) -> str:
    if name == EDITS:
        return QCoreApplication.translate("Results", "edited")
    return f"{name.replace('_', ' ')} {value_text(value)}"


def keys_apart(keys: Sequence[RunKey]) -> list[str]:
    """For each key what differs among these, empty where nothing does."""
    texts = [settings_text(own, BETWEEN) for own in differences(keys)]
    if len({key.edits for key in keys} - {""}) > 1:
        texts = [f"{t} {key.edits[:DIGITS]}" if key.edits else t for t, key in zip(texts, keys, strict=True)]
    return texts


def rows_apart(rows: Sequence[Row]) -> list[str]:
    """For each row what differs among these: what its run was of, else what it ran on and how it was timed."""
    ways: list[list[str]] = [keys_apart([row.key for row in rows])]
    ways.append([shape_text(row.shape, row.dtype) for row in rows])
    ways += [[row.mode for row in rows], [row.protocol for row in rows]]
    told = [way for way in ways if len(set(way)) > 1]
    return [BETWEEN.join(text for text in texts if text) for texts in zip(*told, strict=True)] or [""] * len(rows)

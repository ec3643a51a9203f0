"""Saves the difference that the user looks at, as numbers with the facts about both sides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication

import gpu_ops
from app.models.background import Background
from app.models.experiment.differences import DifferenceOf
from app.models.experiment.shown import variant_of
from app.models.files.facts import facts_of_difference
from app.models.pictures.difference import Difference
from app.models.results.view_data import Array
from app.views.comparing.difference_pane import missing_text
from app.views.window.window_parts import WindowParts
from gpu_ops.errors import InputError, plain
from gpu_ops.report.about import Part

SUFFIXES = ".tif", ".tiff", ".npy"
"""Suffixes of formats that store floats; the first two also store the facts."""
KINDS = "TIFF (*.tif *.tiff);;NumPy (*.npy)"


def _tr(text: str) -> str:
    return QCoreApplication.translate("Saver", text)


def save_difference(parts: WindowParts, kept: DifferenceOf, difference: Difference) -> None:
    """Ask for a name and save the values of a difference to it, in a background thread."""
    files, messages, distance = parts.context.files, parts.context.messages, difference.distance
    if distance is None:
        text = _tr("Nothing is saved yet ({reason}).")
        messages.show_message("warning", text.format(reason=missing_text(difference)), "", "save")
        return
    messages.settle("save")
    values, facts = distance.values, _facts(parts, kept, difference)
    words = "-minus-".join(variant_of(side) for side in (kept.first, kept.second))
    title = _tr("Save the difference {title}").format(title=difference.layer.title)
    path = files.ask_target(title, files.proposed(words, SUFFIXES[0]), KINDS)
    if path:
        background = Background(parts.window)
        background.finished.connect(lambda _: _end(background, lambda: files.say_written(path)))
        background.failed.connect(lambda reason: _end(background, lambda: files.say_not_written(reason)))
        background.start(lambda _stop: _write(path, values, facts))


def _end(background: Background, say: Callable[[], None]) -> None:
    background.deleteLater()
    say()


def _write(path: str, values: Array, facts: dict[str, Any]) -> bool:
    """In a background thread. Raises InputError."""
    if Path(path).suffix.lower() not in SUFFIXES:
        text = _tr("{name} cannot hold a difference, which has a sign and fractions; choose one of {suffixes}.")
        raise InputError(text.format(name=plain(Path(path).name), suffixes=" ".join(SUFFIXES)))
    gpu_ops.save(path, values, note="\n".join(gpu_ops.lines_of(facts)))
    return True


def _facts(parts: WindowParts, kept: DifferenceOf, difference: Difference) -> dict[str, Any]:
    context, origin = parts.context, difference.layer.origin
    facts = facts_of_difference(context.session, context.results, kept)
    if origin.start and difference.layer.shape is not None:
        facts["part"] = str(Part(origin.start, difference.layer.shape[:2], origin.whole))
    if any(layer.compared.ndim > 2 for layer in difference.layers):
        facts["channel"] = "the one that differs most in each pixel"
    return facts

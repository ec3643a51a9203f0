"""The facts that the window writes into its files. No widgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.base.numbers import shown
from app.models.experiment.differences import DifferenceOf
from app.models.experiment.session import Session
from app.models.experiment.shown import variant_of
from app.models.results.results import Results
from app.models.results.view_data import INPUT
from gpu_ops.engine.shared import SharedInput
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.report.about import SEVERAL, Part, about_input, about_machine, about_run


def facts_of(session: Session, results: Results) -> dict[str, Any]:
    """The facts that all results share; without results, the input and the present choice."""
    if any(entry.timed is not None for entry in results.entries()):
        return _shared(results.facts())
    input = about_input(session.input.origin) if session.input is not None else {}
    choice = {"filter": session.filter.id, "parameters": session.params}
    return {**input, **choice, **about_machine(results.provenance)}


def size_text(input: SharedInput) -> str:
    """The size of an input: "640 × 480", or "1024 samples at 360 Hz"."""
    kind, translate = INPUT_KINDS[input.kind], QCoreApplication.translate
    sides = " × ".join(shown(side) for side in kind.width_first(input.array.shape))
    if kind.rank > 1:
        return sides
    text = translate("Facts", "{size} samples at {rate} Hz") if input.rate else translate("Facts", "{size} samples")
    return text.format(size=sides, rate=shown(input.rate or 0.0, "g", 6))


def _shared(facts: Mapping[str, Any]) -> dict[str, Any]:
    shared = {name: _shared(v) if isinstance(v, Mapping) else v for name, v in facts.items() if v != SEVERAL}
    return {name: value for name, value in shared.items() if value != {}}


def facts_of_difference(session: Session, results: Results, kept: DifferenceOf) -> dict[str, Any]:
    """The facts about a difference: those that both sides share, then those of only one side."""
    one, other = (_facts_of_side(session, results, side) for side in (kept.first, kept.second))
    shared = {name: value for name, value in one.items() if other.get(name) == value}
    sides = [{name: value for name, value in side.items() if name not in shared} for side in (one, other)]
    return {**shared, "difference": "first minus second", "first": sides[0], "second": sides[1]}


def _facts_of_side(session: Session, results: Results, id: str) -> dict[str, Any]:
    if id != INPUT:
        return facts_of_result(session, results, id)
    about = about_input(session.input.origin) if session.input is not None else {}
    return {**about, "picture": "the input", **about_machine(results.provenance)}


def facts_of_result(session: Session, results: Results, id: str, part: Part | None = None) -> dict[str, Any]:
    """The facts about the visible output of a result, or about a `part` of it."""
    slot = session.shown.slot(id)
    row = results.entry(slot).row if slot in results else None
    if row is None:
        return {**facts_of(session, results), "variant": variant_of(id), "output": session.output.id}
    return about_run(row, results.provenance, session.output.id, part)

"""The facts about what the window shows, for the files that it writes. No widgets."""

from __future__ import annotations

from typing import Any

from app.models.results import Results
from app.models.session import Session
from gpu_ops.measuring.about import about_input, about_machine, about_run


def facts_of(session: Session, results: Results) -> dict[str, Any]:
    """What all results share; without any, the input and the present choice."""
    if any(entry.timed is not None for entry in results.entries()):
        return results.facts()
    input = about_input(session.input.origin) if session.input is not None else {}
    choice = {"filter": session.filter.id, "parameters": session.params}
    return {**input, **choice, **about_machine(results.provenance)}


def facts_of_result(session: Session, results: Results, variant: str) -> dict[str, Any]:
    """The facts about the present output of a variant."""
    rows = [e.row for e in results.entries() if e.variant == variant and e.row is not None and not e.recorded]
    if not rows:
        return {**facts_of(session, results), "variant": variant, "output": session.output.id}
    return about_run(rows[0], results.provenance, session.output.id)

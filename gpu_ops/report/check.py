"""Checks that JSON from a file is a report: everything that readers rely on is checked once, here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gpu_ops.errors import plain
from gpu_ops.report.row_kinds import is_positive
from gpu_ops.report.rows import FACTS, MAJOR, SCHEMA

DEEPEST = 32
"""The most levels of nested lists and objects."""


def fault_of(content: Any) -> str:
    """Why this is not a readable report, as the rest of a sentence; "" for a report."""
    if not isinstance(content, dict):
        return "is not a report: it holds no JSON object"
    schema = content.get("schema", "")
    match = re.fullmatch(rf"{SCHEMA}/([0-9]{{1,6}})", schema) if isinstance(schema, str) else None
    if not match:
        return f"is not a report: its schema is {plain(repr(schema), 60)}, not {SCHEMA}/{MAJOR}"
    if int(match[1]) > MAJOR:
        return f"has schema {schema}; this version reads up to {SCHEMA}/{MAJOR}: update Kernelscope"
    runs, provenance = content.get("runs"), content.get("provenance")
    if not isinstance(runs, list) or not isinstance(provenance, dict):
        return "is not a whole report: runs or provenance are missing"
    if _deeper(content, DEEPEST):
        return f"is not a report: its lists and objects have more than {DEEPEST} levels"
    fault = _provenance_fault(provenance)
    occupancy = content.get("occupancy", [])
    if not isinstance(occupancy, list) or not all(isinstance(o, dict) for o in occupancy):
        fault = fault or "its occupancy is no list of objects"
    for number, row in enumerate(runs, start=1):
        fault = fault or _row_fault(number, row)
    return f"is not a report: {fault}" if fault else ""


def _deeper(value: Any, levels: int) -> bool:
    """Whether an object or list has more than so many levels of them inside."""
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(v, levels - 1) for v in inner if isinstance(v, (dict, list)))


def _provenance_fault(provenance: Mapping[str, Any]) -> str:
    for name in ("devices", "devices_after"):
        devices = provenance.get(name, {})
        if not isinstance(devices, dict) or not all(isinstance(d, dict) for d in devices.values()):
            return f"{name} of its provenance is no object of objects"
        if not all(isinstance(d.get("model", ""), str) for d in devices.values()):
            return f"a model among {name} of its provenance is no text"
        if not all(is_positive(d.get(figure, 1)) for d in devices.values() for figure in ("sm_mhz", "multiprocessors")):
            return f"sm_mhz or multiprocessors among {name} of its provenance is not a number above 0"
    return "" if isinstance(provenance.get("earlier", []), list) else "earlier of its provenance is no list"


def _row_fault(number: int, row: Any) -> str:
    if not isinstance(row, dict):
        return f"run {number} is no object"
    for name, fact in FACTS.items():
        if fact.needed and name not in row:
            return f"run {number} has no {name}"
        if name in row and not fact.kind.fits(row[name]):
            return f"{name} of run {number} is not {fact.kind.words}"
    if row["error_max"] is not None and row["tolerance"] is None:
        return f"run {number} has an error_max and no tolerance"
    return ""

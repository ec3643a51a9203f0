"""Whether JSON from a file is a report: everything that a reader takes for granted is checked once, here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gpu_ops.errors import plain
from gpu_ops.measuring.rows import CLOSENESS, MAJOR, SCHEMA

DEEPEST = 32
"""The most levels of nested lists and objects."""
FAILURES = ("unsupported", "kernel", "memory")
"""What `failure_kind` may be."""


class Field(NamedTuple):
    """What a field of a row must be, in words and as a test."""

    words: str
    fits: Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _time(value: Any) -> bool:
    return _number(value) and bool(value > 0)


def _error(value: Any) -> bool:
    return value is None or value == "infinite" or _number(value)


def _shape(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(n) is int and n > 0 for n in value)


def _stage(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    times = [value.get(name) for name in ("median_s", "q1_s", "q3_s", "min_s")]
    words = [value.get(name) for name in ("stop", "clock", "mode")]
    return all(map(_time, times)) and type(value.get("n")) is int and all(map(_text, words))


def _stages(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_stage, value.values()))


def _speedup(value: Any) -> bool:
    return isinstance(value, dict) and all(_text(v) if k == "against" else _number(v) for k, v in value.items())


def _errors(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return all(isinstance(e, dict) and all(n in e and _error(e[n]) for n in ("max", "rms")) for e in value.values())


def _quality(value: Any) -> bool:
    if not isinstance(value, dict) or not all(map(_object, value.values())):
        return False
    sides = [quality.get(name) for quality in value.values() for name in ("before", "after")]
    return all(_object(side) and all(k in side and _error(side[k]) for k in CLOSENESS.values()) for side in sides)


def _roof(value: Any) -> bool:
    return isinstance(value, dict) and _text(value.get("kind")) and _number(value.get("bytes_s"))


def _counters(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_number, value.values()))


def _text_or_null(value: Any) -> bool:
    return value is None or _text(value)


def _findings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(f, dict) and _text(f.get("text")) for f in value)


TEXT, OBJECT, NUMBER = Field("text", _text), Field("an object", _object), Field("a number", _number)
TEXT_OR_NULL = Field("text or null", _text_or_null)
ERROR = Field('a number, "infinite" or null', _error)
NEEDED: Mapping[str, Field] = {
    **dict.fromkeys(("filter", "variant", "device", "dtype", "mode", "source_hash"), TEXT),
    **dict.fromkeys(("params", "knobs"), OBJECT),
    "shape": Field("a list of whole numbers above 0", _shape),
    "stages": Field("an object of timings, each above 0", _stages),
    "error_max": ERROR,
    "tolerance": ERROR,
    "ok": Field("true, false or null", lambda value: value is None or isinstance(value, bool)),
    "notes": Field("a list of texts", _texts),
    "failure": TEXT_OR_NULL,
    "failure_kind": Field(f"null or one of {', '.join(FAILURES)}", lambda value: value in (None, "", *FAILURES)),
    "bytes": NUMBER,
}
OPTIONAL: Mapping[str, Field] = {
    "input": OBJECT,
    **dict.fromkeys(("clock", "edits", "protocol", "checks"), TEXT_OR_NULL),
    "errors": Field("an object of errors, each with max and rms", _errors),
    **dict.fromkeys(("gbps", "share", "share_same_size"), NUMBER),
    "roof": Field("an object with a kind and bytes_s", _roof),
    "flag": TEXT,
    "quality": Field(f"an object with {', '.join(CLOSENESS.values())} before and after, by output", _quality),
    "counters": Field("an object of numbers", _counters),
    "printed": Field("a list of texts", _texts),
    "speedup": Field("an object of numbers", _speedup),
    "findings": Field("a list of findings", _findings),
}


def fault_of(content: Any) -> str:
    """Why this is no report that can be read, as the rest of a sentence; "" for a report."""
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
    if not isinstance(occupancy, list) or not all(map(_object, occupancy)):
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
        if not isinstance(devices, dict) or not all(map(_object, devices.values())):
            return f"{name} of its provenance is no object of objects"
        if not all(_text(d.get("model", "")) for d in devices.values()):
            return f"a model among {name} of its provenance is no text"
        if not all(_time(d.get(figure, 1)) for d in devices.values() for figure in ("sm_mhz", "multiprocessors")):
            return f"sm_mhz or multiprocessors among {name} of its provenance is no number above 0"
    return "" if isinstance(provenance.get("earlier", []), list) else "earlier of its provenance is no list"


def _row_fault(number: int, row: Any) -> str:
    if not isinstance(row, dict):
        return f"run {number} is no object"
    for name, field in NEEDED.items():
        if name not in row:
            return f"run {number} has no {name}"
        if not field.fits(row[name]):
            return f"{name} of run {number} is not {field.words}"
    for name, field in OPTIONAL.items():
        if name in row and not field.fits(row[name]):
            return f"{name} of run {number} is not {field.words}"
    if row["error_max"] is not None and row["tolerance"] is None:
        return f"run {number} has an error_max and no tolerance"
    return ""

"""The JSON form of the fields of a report's row: the allowed values, in words and as a test, and how they are read and
written.

`fact` declares a field of a row once, with its kind, unit and meaning; reading, writing, checking and the list of
fields (`kernelscope list --fields`) follow from it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpu_ops.run_key import with_tuples
from gpu_ops.types import Closeness, Quality, Timing

CLOSENESS = {"snr": "snr_db", "psnr": "psnr_db", "ssim": "ssim"}
"""The measures of a Closeness and their names in JSON."""
FAILURES = ("unsupported", "kernel", "memory")
"""The values of `failure_kind`."""


class Roof(NamedTuple):
    """The bandwidth that a row's is compared with, in bytes per second; `kind` is "copy" or "read"."""

    kind: str
    bytes_s: float


class Bound(NamedTuple):
    """What limits a row: the memory that holds its buffers, "DRAM" or "L2", with its bytes per second, and the seconds
    of one launch."""

    memory: str
    bytes_s: float
    launch_s: float

    def seconds(self, nbytes: int) -> float:
        """The shortest time in which one launch moves so many bytes."""
        return self.launch_s + nbytes / self.bytes_s


class ErrorSize(NamedTuple):
    """The error of one output, in the reference's unit; None for NaN."""

    max: float | None
    rms: float | None


class Speedup(NamedTuple):
    """The kernel time of `against` ("serial on cpu") divided by this row's time of each stage."""

    against: str
    stages: Mapping[str, float]


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Kind:
    """The JSON form of a field: in words, as a test of a value, and how to read and write it."""

    words: str
    fits: Callable[[Any], bool]
    read: Callable[[Any], Any] = _same
    write: Callable[[Any], Any] = _same


# ---------------------------------------------------------------- tests of values


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _text_or_null(value: Any) -> bool:
    return value is None or _text(value)


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_positive(value: Any) -> bool:
    """Whether a value of JSON is a finite number above 0."""
    return is_number(value) and bool(value > 0)


def _error(value: Any) -> bool:
    return value is None or value == "infinite" or is_number(value)


def _shape(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(n) is int and n > 0 for n in value)


def _stage(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    times = [value.get(name) for name in ("median_s", "q1_s", "q3_s", "min_s")]
    words = [value.get(name) for name in ("stop", "clock", "mode")]
    return all(map(is_positive, times)) and type(value.get("n")) is int and all(map(_text, words))


def _speedup(value: Any) -> bool:
    return isinstance(value, dict) and all(_text(v) if k == "against" else is_number(v) for k, v in value.items())


def _errors(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return all(isinstance(e, dict) and all(n in e and _error(e[n]) for n in ("max", "rms")) for e in value.values())


def _qualities(value: Any) -> bool:
    if not isinstance(value, dict) or not all(map(_object, value.values())):
        return False
    sides = [quality.get(name) for quality in value.values() for name in ("before", "after")]
    return all(_object(side) and all(k in side and _error(side[k]) for k in CLOSENESS.values()) for side in sides)


def _roof(value: Any) -> bool:
    return isinstance(value, dict) and _text(value.get("kind")) and is_number(value.get("bytes_s"))


def _bound(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("memory") not in ("DRAM", "L2"):
        return False
    return is_positive(value.get("bytes_s")) and is_positive(value.get("launch_s"))


def _findings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(f, dict) and _text(f.get("text")) for f in value)


# ---------------------------------------------------------------- reading and writing


def error_json(value: float | None) -> float | str | None:
    """JSON has no infinity: a word represents it, and null is no error."""
    return "infinite" if value is not None and math.isinf(value) else value


def _parsed(value: float | str | None) -> float | None:
    return math.inf if isinstance(value, str) else value


def _read_timing(name: str, t: Mapping[str, Any]) -> Timing:
    median, q1, q3, least = (t[f"{figure}_s"] for figure in ("median", "q1", "q3", "min"))
    return Timing(name, t["clock"], median, q1, q3, least, t["n"], t["stop"], t["mode"], doubt=t.get("doubt", ""))


def _write_timing(t: Timing) -> dict[str, Any]:
    figures = {"median_s": t.median, "q1_s": t.q1, "q3_s": t.q3, "min_s": t.min}
    words = {"n": t.n, "stop": t.stop, "clock": t.clock, "mode": t.mode}
    return figures | words | ({"doubt": t.doubt} if t.doubt else {})


def _read_errors(errors: Mapping[str, Any]) -> dict[str, ErrorSize]:
    return {output: ErrorSize(_parsed(e["max"]), _parsed(e["rms"])) for output, e in errors.items()}


def _write_errors(errors: Mapping[str, ErrorSize]) -> dict[str, Any]:
    return {output: {"max": error_json(e.max), "rms": error_json(e.rms)} for output, e in errors.items()}


def _read_qualities(content: Mapping[str, Any]) -> dict[str, Quality]:
    def side(figures: Mapping[str, Any]) -> Closeness:
        return Closeness(**{figure: _parsed(figures[key]) for figure, key in CLOSENESS.items()})

    return {output: Quality(side(q["before"]), side(q["after"])) for output, q in content.items()}


def _write_qualities(qualities: Mapping[str, Quality]) -> dict[str, Any]:
    def side(closeness: Closeness) -> dict[str, Any]:
        return {key: error_json(getattr(closeness, figure)) for figure, key in CLOSENESS.items()}

    return {output: {"before": side(q.before), "after": side(q.after)} for output, q in qualities.items()}


def _lists(value: Any) -> Any:
    """A value with lists in place of tuples, at any depth of objects and tuples."""
    if isinstance(value, Mapping):
        return {name: _lists(v) for name, v in value.items()}
    return [_lists(v) for v in value] if isinstance(value, tuple) else value


def without(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The values without those of some names."""
    return {name: value for name, value in values.items() if name not in set(names)}


# ---------------------------------------------------------------- the kinds

TEXT = Kind("text", _text)
TEXT_OR_NULL = Kind("text or null", _text_or_null, write=lambda text: text or None)
SENTENCE = Kind("text or null", _text_or_null)
OBJECT = Kind("an object", _object, write=dict)
VALUES = Kind("an object", _object, with_tuples, _lists)
NUMBER = Kind("a number", is_number)
COUNTS = Kind("an object of numbers", lambda v: _object(v) and all(map(is_number, v.values())), write=dict)
ERROR = Kind('a number, "infinite" or null', _error, _parsed, error_json)
TEXTS = Kind("a list of texts", _texts, tuple, list)
VERDICT = Kind("true, false or null", lambda value: value is None or isinstance(value, bool))
FAILURE = Kind(f"null or one of {', '.join(FAILURES)}", lambda value: value in (None, "", *FAILURES))
SHAPE = Kind("a list of whole numbers above 0", _shape, tuple, list)
STAGES = Kind(
    "an object of timings, each above 0",
    lambda value: _object(value) and all(map(_stage, value.values())),
    lambda stages: {name: _read_timing(name, t) for name, t in stages.items()},
    lambda stages: {name: _write_timing(t) for name, t in stages.items()},
)
ERRORS = Kind("an object of errors, each with max and rms", _errors, _read_errors, _write_errors)
ROOF = Kind(
    "an object with a kind and bytes_s", _roof, lambda roof: Roof(roof["kind"], roof["bytes_s"]), lambda r: r._asdict()
)
BOUND = Kind(
    "an object with memory (DRAM or L2), bytes_s and launch_s, both above 0",
    _bound,
    lambda b: Bound(b["memory"], b["bytes_s"], b["launch_s"]),
    lambda b: b._asdict(),
)
SPEEDUP = Kind(
    "an object of numbers",
    _speedup,
    lambda s: Speedup(s.get("against", ""), without(s, ("against",))) if s else None,
    lambda s: {"against": s.against, **s.stages},
)
FINDINGS = Kind("a list of findings", _findings, tuple, list)
QUALITIES = Kind(
    f"an object with {', '.join(CLOSENESS.values())} before and after, by output",
    _qualities,
    _read_qualities,
    _write_qualities,
)

ALWAYS, FILLED, COUNTED = "always", "filled", "counted"
"""When a field is written: in every row, where it is not empty, or where a simulated GPU counted."""


class Fact(NamedTuple):
    """The declaration of a row's field: its kind in JSON, its meaning and unit, when it is written, and whether every
    report has it."""

    kind: Kind
    help: str
    unit: str
    written: str
    needed: bool


def fact(
    kind: Kind,
    help: str,
    *,
    default: Any = dataclasses.MISSING,
    factory: Any = dataclasses.MISSING,
    unit: str = "",
    written: str = ALWAYS,
    needed: bool = False,
) -> Any:
    """A field of a row. Without `default` and `factory` it is required."""
    needed = needed or (default is dataclasses.MISSING and factory is dataclasses.MISSING)
    metadata = {"fact": Fact(kind, help, unit, written, needed)}
    if factory is not dataclasses.MISSING:
        return dataclasses.field(default_factory=factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)

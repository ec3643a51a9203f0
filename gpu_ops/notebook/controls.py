"""A filter's parameters as controls of a page, and its rows as a ladder, in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_ops.counters import counter_name, value_of
from gpu_ops.device_names import device_kind, is_simulated
from gpu_ops.errors import in_python
from gpu_ops.explaining.page_rows import verdict_text
from gpu_ops.explaining.result_tables import duration
from gpu_ops.explaining.sentences import number
from gpu_ops.notebook.live import Result
from gpu_ops.params import Param, Value
from gpu_ops.report.rows import Row
from gpu_ops.types import Filter

MOST_STEPS = 2000
"""A number with more steps between its limits has no slider: a pixel of it would be several steps."""
FINE = 200
"""Steps of a slider for a number that has none of its own."""
MOST_COUNTERS = 4


def control(param: Param) -> dict[str, Any]:
    """What a page needs to show a parameter: its kind, limits, choices and help."""
    about: dict[str, Any] = {"name": param.name, "help": f"{param.help}: {param.allowed}", "unit": param.unit}
    if param.choices:
        return {**about, "kind": "list", "choices": [{"value": c, "text": str(c)} for c in param.choices]}
    if isinstance(param.default, bool):
        return {**about, "kind": "check"}
    if isinstance(param.default, tuple):
        return {**about, "kind": "numbers"}
    if isinstance(param.default, str) or param.low is None or param.high is None:
        return {
            **about,
            "kind": "number" if not isinstance(param.default, str) else "text",
            "step": param.step or "any",
        }
    whole = isinstance(param.default, int)
    step = param.step or (1 if whole else (param.high - param.low) / FINE)
    sliding = (param.high - param.low) / step <= MOST_STEPS and (whole or param.high <= 1e4)
    limits = {"low": param.low, "high": param.high, "step": step if sliding or whole else "any"}
    return {**about, **limits, "kind": "slider" if sliding else "number"}


def plain_values(values: Mapping[str, Value]) -> dict[str, Any]:
    """Values as JSON: the numbers of a tuple as text, as a person writes them."""
    return {n: " ".join(f"{v:g}" for v in value) if isinstance(value, tuple) else value for n, value in values.items()}


def ladder(filter: Filter, results: Mapping[str, Result], ids: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each variant: its time and the share of the longest one, or its counters, or why it failed."""
    longest = max((results[id].row.seconds("kernel") or 0.0 for id in ids if id in results), default=0.0)
    return [_rung(filter, id, results.get(id), longest) for id in ids]


def _rung(filter: Filter, id: str, result: Result | None, longest: float) -> dict[str, Any]:
    rung: dict[str, Any] = {"key": id, "title": filter.variant(id).title, "device": "", "text": "", "verdict": ""}
    if result is None:
        return {**rung, "kind": "waits", "text": "…"}
    row = result.row
    rung |= {"device": device_words(row.device), "verdict": "" if row.failure else verdict_text(row)}
    rung["notes"] = [*row.notes, *(str(f["text"]) for f in row.findings)]
    if row.failure:
        return {**rung, "kind": "failed", "text": in_python(row.failure)}
    if is_simulated(row.device):
        part = " (of a part)" if result.place or row.counted_shape not in ((), row.shape) else ""
        return {**rung, "kind": "counted", "text": _counted(filter, row) + part}
    timing = row.stages.get("kernel")
    if timing is None:
        return {**rung, "kind": "waits", "text": "not timed yet"}
    spread = f"half of the times from {duration(timing.q1)} to {duration(timing.q3)}, {timing.clock} clock"
    doubt = f"; {timing.doubt}" if timing.doubt else ""
    text = duration(timing.median) + (" (unsure)" if timing.doubt else "")
    return {**rung, "kind": "timed", "text": text, "share": timing.median / longest, "help": spread + doubt}


def _counted(filter: Filter, row: Row) -> str:
    """The counters in which the filter's kernels differ most."""
    found = [(value, id) for id in filter.shows if (value := value_of(id, row.counters)) is not None]
    return ", ".join(f"{number(value)} {counter_name(id)}" for value, id in found[:MOST_COUNTERS]) or "counted"


def device_words(name: str) -> str:
    """A device by its name; a simulated one is said to be one."""
    return f"simulated {name.partition(':')[2]}".strip() if device_kind(name) == "sim" else name

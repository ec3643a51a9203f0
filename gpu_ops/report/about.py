"""The facts about a result for the file that it is saved in: input, filter, parameters, variant and machine, by name.

Names have no folders: a file describes its content, not where it was computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from gpu_ops.io.opening import NOTE
from gpu_ops.report.machines import device_model, machine_parts
from gpu_ops.report.rows import Row
from gpu_ops.version import __version__

ORIGIN = ("path", "generator", "array", "hash", "steps", "choices", "kind", "clean")
"""The entries of an origin that are not options of a sample."""
SEVERAL = "several, see the rows"
"""The text in place of a fact that differs between rows of a table."""
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Part:
    """The part of an input that a result covers: where it begins, its extents and those of the whole input, along
    each spatial axis."""

    start: tuple[int, ...]
    extents: tuple[int, ...]
    whole: tuple[int, ...]

    def __str__(self) -> str:
        """The width first: "254 x 254 from x 129 y 129 on, of 512 x 512"."""
        return f"{_width_first(self.extents)} from {_place(self.start)} on, of {_width_first(self.whole)}"


def input_name(origin: Mapping[str, Any]) -> str:
    """The name of an input's file, its sample with the options: "noise seed=0 size=64x64", or the filter and input of a
    result: "mean2d of a.png"."""
    if "result" in origin:
        return f"{origin['result']} of {input_name(origin.get('of', NOTHING))}"
    if "path" in origin:
        return PurePath(str(origin["path"])).name
    options = [f"{name}={value}" for name, value in sorted(origin.items()) if name not in ORIGIN]
    return " ".join([str(origin.get("generator", origin.get("array", ""))), *options]).strip()


def about_input(origin: Mapping[str, Any]) -> dict[str, Any]:
    """The facts about an input: its name, the hash of its file, how it was read, how it was computed if it is a result,
    and its steps in words. For a result, the file is that of its first input."""
    if "result" in origin:
        first = about_input(origin.get("of", NOTHING))
        made = [*first.pop("made by", []), _maker(origin, first.pop("steps", []))]
        steps = [_step(step) for step in origin.get("steps", ())]
        whole = {**first, "input": input_name(origin), "made by": made, "steps": steps}
        return {name: value for name, value in whole.items() if value}
    facts: dict[str, Any] = {"input": input_name(origin), "sha256": origin.get("hash", "")}
    read = {**({"kind": origin["kind"]} if origin.get("kind") else {}), **origin.get("choices", NOTHING)}
    facts["read as"] = ", ".join(f"{name} {value}" for name, value in read.items())
    facts["steps"] = [_step(step) for step in origin.get("steps", ())]
    return {name: value for name, value in facts.items() if value}


def _maker(origin: Mapping[str, Any], steps: Sequence[str]) -> str:
    """One filter in the history of an input: "noise sigma 2 seed 0, then mean2d by serial on cpu, window 3"."""
    values = {**origin.get("params", NOTHING), **origin.get("knobs", NOTHING)}
    values |= {"output": origin.get("output", ""), "edited kernels": origin.get("edits", "")}
    values |= {"start": origin.get("start", "")}
    filter = f"{origin['result']} by {origin.get('variant', '')} on {origin.get('device', '')}"
    parts = [filter, *(_setting(name, value) for name, value in values.items() if value not in ("", ()))]
    return " then ".join([*([f"{', '.join(steps)},"] if steps else []), ", ".join(parts)])


def _step(step: Mapping[str, Any]) -> str:
    """One step, such as "noise sigma 20 seed 0"; of a note its text."""
    if step.get("step") == NOTE:
        return str(step.get("words", ""))
    rest = (_setting(name, value) for name, value in step.items() if name != "step")
    return " ".join([str(step.get("step", "")), *rest])


def _setting(name: str, value: Any) -> str:
    """A value with its name. Positions and sizes in an image are x and width first, unlike in the array."""
    if name in ("shape", "size") and isinstance(value, list | tuple):
        return f"size {_width_first(value)}"
    return f"{name} {_place(value) if name == 'start' and isinstance(value, list | tuple) else _text(value)}"


def _width_first(extents: Sequence[Any]) -> str:
    return " x ".join(map(_text, reversed(extents)))


def _place(start: Sequence[Any]) -> str:
    """A position in an image or a signal: "x 5 y 3", "sample 5"."""
    names = ("y", "x") if len(start) == 2 else ("sample",)
    return " ".join(f"{name} {_text(value)}" for name, value in reversed([*zip(names, start, strict=True)]))


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " x ".join(map(_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def about_machine(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The facts about the machine and the program, and the present time in UTC."""
    versions = {"kernelscope": __version__}
    for name, key in (("commit", "commit"), ("python", "python")):
        if provenance.get(key):
            versions[name] = str(provenance[key])
    versions |= {str(k): str(v) for k, v in provenance.get("libraries", NOTHING).items()}
    facts = {"machine": machine_parts(provenance), "system": provenance.get("system", ""), "versions": versions}
    facts["time"] = datetime.now(UTC).isoformat(timespec="seconds")
    return {name: value for name, value in facts.items() if value}


def about_run(row: Row, provenance: Mapping[str, Any], output: str = "", part: Part | None = None) -> dict[str, Any]:
    """The facts about one run's result, or about one `output` of several. With `part` the values equal those of the
    whole input's result there, so the input's last step, the crop, is not mentioned."""
    input = row.input if part is None else {**row.input, "steps": row.input.get("steps", ())[:-1]}
    facts: dict[str, Any] = {**about_input(input), "filter": row.filter, "parameters": dict(row.params)}
    facts |= {"output": output} if output else {}
    facts |= {"part": str(part)} if part else {}
    facts |= {"variant": row.variant, "device": row.device, "device model": device_model(provenance, row.device)}
    facts |= {"knobs": dict(row.knobs), "edited kernels": row.edits, "kernel source": row.source_hash}
    facts["verdict"] = verdict(row)
    kept = {name: value for name, value in facts.items() if value not in ("", {}, None)}
    return {**kept, **about_machine(provenance)}


def verdict(row: Row) -> str:
    """Whether the result was compared with the reference, and how far off it is."""
    if row.failure:
        return "failed"
    if row.ok is None:
        return "not verified"
    error = "" if row.error_max is None else f", largest error {row.error_max:.2g}"
    return f"{'right' if row.ok and not row.faulty else 'wrong'}{error}"


def about_rows(rows: Sequence[Row], provenance: Mapping[str, Any], machine: str = "") -> dict[str, Any]:
    """The facts that all rows of a table share, and SEVERAL for those that differ. `machine` is that of rows that were
    recorded elsewhere, in place of this machine's."""
    facts = _shared([about_input(row.input) for row in rows])
    facts |= _shared([{"filter": row.filter} for row in rows])
    shared_params = _shared([dict(row.params) for row in rows])
    facts |= {"parameters": shared_params} if shared_params else {}
    facts |= _shared([{"variant": row.variant, "device": row.device} for row in rows])
    knobs = _shared([dict(row.knobs) for row in rows])
    facts |= {"knobs": knobs} if knobs else {}
    facts |= _shared([{"timing": row.mode, "protocol": row.protocol} for row in rows])
    here = about_machine(provenance)
    if machine:
        here = {"machine": machine, "versions": {"kernelscope": __version__}, "time": here["time"]}
    return {**facts, **here}


def _shared(all_facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Each fact that occurs in any of these: its value where all agree, else SEVERAL; empty facts are left out."""
    shared: dict[str, Any] = {}
    for name in dict.fromkeys(name for facts in all_facts for name in facts):
        values = [facts.get(name) for facts in all_facts]
        value = values[0] if all(v == values[0] for v in values) else SEVERAL
        if value not in ("", None):
            shared[name] = value
    return shared

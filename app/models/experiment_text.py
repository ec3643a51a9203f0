"""The experiment on the screen as a command for a shell, and as a Python program for a notebook. No widgets."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pprint import pformat
from typing import Any

from app.models.session import Session
from gpu_ops import active_steps, write_step
from gpu_ops.params import Value
from gpu_ops.types import Pick

PATH = "path"


def origin_of(session: Session) -> Mapping[str, Any] | None:
    """The origin of the input before the session's steps; None where it can be opened from nowhere, such as a
    result."""
    original = session.original
    if original is None or not {PATH, "generator"} & original.origin.keys():
        return None
    return original.origin


def command_text(session: Session) -> str:
    """`kernelscope run` with this input, its steps, the filter, its parameters and the ticked variants with their
    knobs: one line, or several where two variants have different values of one knob. "" without such an input."""
    origin = origin_of(session)
    if origin is None:
        return ""
    beginning = ["kernelscope", "run", session.choice.filter, *_input_flags(origin)]
    beginning += [word for step in active_steps(session.steps) for word in ("--step", write_step(step))]
    for name, value in session.params.items():
        beginning += _flag(name, value)
    groups: list[tuple[dict[str, Value], list[Pick]]] = []
    for pick in _picks(session):
        knobs = dict(pick.knobs)
        group = next((g for g in groups if all(g[0].get(k, v) == v for k, v in knobs.items())), None)
        if group is None:
            groups.append((knobs, [pick]))
        else:
            group[0].update(knobs)
            group[1].append(pick)
    lines = []
    for knobs, picks in groups:
        words = [*beginning, "--variant", *(p.variant for p in picks)]
        words += ["--device", *dict.fromkeys(p.device for p in picks)]
        words += [word for name, value in knobs.items() for word in _flag(name, value)]
        lines.append(_joined(words))
    return "\n".join(lines)


def python_text(session: Session) -> str:
    """The same as a program; "" without such an input."""
    origin = origin_of(session)
    if origin is None:
        return ""
    options = ", ".join(f"{name}={value!r}" for name, value in input_options(origin).items())
    opened = (
        f"ks.load({', '.join(filter(None, [repr(origin[PATH]), options]))})"
        if PATH in origin
        else f"ks.sample({', '.join(filter(None, [repr(origin['generator']), options]))})"
    )
    steps = [dict(step) for step in active_steps(session.steps)]
    picks = [f"    ks.Pick({p.variant!r}, {p.device!r}, {dict(p.knobs)!r})," for p in _picks(session)]
    lines = [
        "import gpu_ops as ks",
        "",
        f"input = {opened}",
        *([f"input = ks.apply_steps(input, {pformat(steps, sort_dicts=False)})"] if steps else []),
        f"params = {session.params!r}",
        *("picks = (", *picks, ")"),
        f"experiment = ks.Experiment({session.choice.filter!r}, input, params, picks)",
        "for run in ks.run_experiment(experiment):",
        "    print(run.pick.variant, run.stage, run.ok, run.failure or '')",
    ]
    return "\n".join(lines) + "\n"


def _picks(session: Session) -> list[Pick]:
    return [session.pick(v.id) for v in session.filter.variants if v.id in session.choice.picks]


def input_options(origin: Mapping[str, Any]) -> dict[str, Any]:
    """How the file or the sample was opened, without what is as usual."""
    if PATH not in origin:
        return {key: value for key, value in origin.items() if key not in ("generator", "steps")}
    rules = [step["rule"] for step in origin.get("steps", ()) if step.get("step") == "nonfinite"]
    kind = {"kind": origin["kind"]} if origin.get("kind") else {}
    return {**kind, **({"nonfinite": rules[0]} if rules else {}), **origin.get("choices", {})}


def _input_flags(origin: Mapping[str, Any]) -> list[str]:
    source = ["--input", os.fspath(origin[PATH])] if PATH in origin else ["--sample", origin["generator"]]
    return source + [word for name, value in input_options(origin).items() for word in _flag(name, value)]


def _flag(name: str, value: Any) -> list[str]:
    """A flag and its value; one word where the value could be taken for a flag."""
    text = ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return [f"--{name.replace('_', '-')}={text}"]


def _joined(words: list[str]) -> str:
    if sys.platform == "win32":
        import subprocess

        return subprocess.list2cmdline(words)
    return shlex.join(words)

"""The experiment on the screen as a command for a shell, and as a Python program for a notebook. No widgets."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from pprint import pformat
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.models.experiment.session import Session
from gpu_ops import FILTERS, STEPS, active_steps, write_step
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.params import Value
from gpu_ops.types import Output, Pick

PATH, RESULT = "path", "result"


def reason_against(session: Session, program: bool) -> str:
    """Why the experiment cannot be written, as a `program` or as commands; "" where it can."""
    tr, original = QCoreApplication.translate, session.original
    chain = [] if original is None else _chain(original.origin)
    if not chain or not {PATH, "generator"} & chain[0].keys():
        return tr("ExperimentText", "The input is neither a file nor a sample: save it, open the file, and copy again.")
    if any(origin.get("edits") for origin in chain):
        return tr(
            "ExperimentText", "The input was made by a kernel of your own: save it, open the file, and copy again."
        )
    if not program and any(origin.get("start") for origin in chain):
        return tr(
            "ExperimentText",
            "The input is a part of a simulated result, which no command creates. Copy as Python gives a "
            "program that does; or save the input, open the file, and copy again.",
        )
    return ""


def results_before(session: Session) -> int:
    """How many earlier results must be computed first, each by its own command, before the experiment can run."""
    return 0 if session.original is None else len(_chain(session.original.origin)) - 1


def command_text(session: Session) -> str:
    """`kernelscope run` with this input, its steps, the filter, its parameters and the ticked variants with their
    knobs: one line, or several where two variants have different values of one knob, and one for each pinned result.
    Where the input is a result, a command before computes it, with a comment. "" where no command can."""
    if session.original is None or reason_against(session, program=False):
        return ""
    chain = _chain(session.original.origin)
    lines = [_making(chain, place) for place in range(1, len(chain))]
    beginning = ["kernelscope", "run", session.choice.filter, *_source_flags(chain, len(chain) - 1)]
    beginning += _step_flags(session.steps)
    groups: list[tuple[dict[str, Value], list[Pick]]] = []
    for pick in _picks(session):
        knobs = dict(pick.knobs)
        group = next((g for g in groups if all(g[0].get(k, v) == v for k, v in knobs.items())), None)
        if group is None:
            groups.append((knobs, [pick]))
        else:
            group[0].update(knobs)
            group[1].append(pick)
    groups += [(dict(pick.knobs), [pick]) for pick in _pinned(session)]
    for knobs, picks in groups:
        words = [*beginning, *_flags({**session.params, **picks[0].params})]
        words += ["--variant", *(p.variant for p in picks), "--device", *dict.fromkeys(p.device for p in picks)]
        if picks[0].edits:
            file = f"{session.choice.filter}_{picks[0].variant}.cu"
            lines.append(f"# Save the edited kernel as {file} first.")
            words += ["--kernel", file]
        lines.append(joined([*words, *_flags(knobs)]))
    if len(chain) > 1:
        made = ", ".join(_file_of(chain, place) for place in range(1, len(chain)))
        lines.insert(
            0, f"# The input is a result, so it takes {len(lines)} commands: those before the last make {made}."
        )
    return "\n".join(lines)


def python_text(session: Session) -> str:
    """The same as a program, which recomputes an input that is a result, and ends with the outputs of the first variant
    as arrays with their coordinates; "" where no program can."""
    if session.original is None or reason_against(session, program=True):
        return ""
    origin = session.original.origin
    options = ", ".join(f"{name}={value!r}" for name, value in input_options(origin).items())
    if RESULT in origin:
        opened = f"ks.from_origin({pformat(_plain_json(origin), sort_dicts=False, width=110)})"
    elif PATH in origin:
        opened = f"ks.load({', '.join(filter(None, [repr(origin[PATH]), options]))})"
    else:
        opened = f"ks.sample({', '.join(filter(None, [repr(origin['generator']), options]))})"
    steps = [dict(step) for step in active_steps(session.steps)]
    shown = [*_picks(session), *_pinned(session)]
    picks = [f"    ks.Pick({', '.join(_pick_words(pick))})," for pick in shown]
    lines = [
        "import gpu_ops as ks",
        "",
        f"input = {opened}",
        *([f"input = ks.apply_steps(input, {pformat(steps, sort_dicts=False)})"] if steps else []),
        f"params = {session.params!r}",
        *("picks = (", *picks, ")"),
        f"experiment = ks.Experiment({session.choice.filter!r}, input, params, picks)",
        "runs = {}",
        "for run in ks.run_experiment(experiment):",
        "    print(run.pick.variant, run.stage, run.ok, run.failure or '')",
        "    runs[run.key] = run",
        "",
        "run = next(run for run in runs.values() if run.outputs)",
        *(line for output in session.filter.given(session.params) for line in _array_lines(output)),
    ]
    return "\n".join(lines) + "\n"


def _pinned(session: Session) -> list[Pick]:
    """The picks of the pinned results and of the edited kernels."""
    return [session.shown.pick(id) for id in session.shown.pins]


def _pick_words(pick: Pick) -> list[str]:
    """The arguments of a pick; only pinned results have parameters of their own, or edited kernel files."""
    own = [f"{name}={dict(value)!r}" for name, value in (("edits", pick.edits), ("params", pick.params)) if value]
    return [repr(pick.variant), repr(pick.device), repr(dict(pick.knobs)), *own]


def _array_lines(output: Output) -> list[str]:
    """Code for an output as an array, its coordinates along each axis, and its plot."""
    id, axes = output.id, f"{output.id}_axes"
    places = f"{axes} = [axis.places(n) for axis, n in zip(run.forms[{id!r}].axes, {id}.shape)]"
    drawn = output.of_kind.drawn.format(array=id, axes=axes)
    return [f"{id} = run.outputs[{id!r}]", places, *([f"# {drawn}"] if drawn else [])]


# Inputs that are results


def _chain(origin: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The origins of an input, from a file or a sample to the input itself."""
    chain = [origin]
    while RESULT in chain[0]:
        chain.insert(0, chain[0].get("of", {}))
    return chain


def _plain_json(value: Any) -> Any:
    """A nested origin of plain dicts and lists."""
    if isinstance(value, Mapping):
        return {key: _plain_json(inner) for key, inner in value.items()}
    return [_plain_json(inner) for inner in value] if isinstance(value, list | tuple) else value


def _making(chain: list[Mapping[str, Any]], place: int) -> str:
    """The command that computes a result of the chain and saves it."""
    own, before = chain[place], chain[place - 1]
    ids = {step.id for step in STEPS}
    steps = [step for step in before.get("steps", ()) if step.get("step") in ids]
    words = ["kernelscope", "run", own[RESULT], *_source_flags(chain, place - 1), *_step_flags(steps)]
    words += [word for name, value in own["params"].items() for word in _flag(name, value)]
    words += ["--variant", own["variant"], "--device", own["device"]]
    words += [word for name, value in own["knobs"].items() for word in _flag(name, value)]
    return joined([*words, "--output", f"{own['output']}={_file_of(chain, place)}"])


def _file_of(chain: list[Mapping[str, Any]], place: int) -> str:
    """The file for a result of the chain, in the current folder of the commands."""
    return f"{chain[place][RESULT]}-{place}.npy"


def _source_flags(chain: list[Mapping[str, Any]], place: int) -> list[str]:
    """The flags that open a part of the chain: a file, a sample, or the file that the previous command has written."""
    origin = chain[place]
    if RESULT in origin:
        source = ["--input", _file_of(chain, place)]
    else:
        source = ["--input", os.fspath(origin[PATH])] if PATH in origin else ["--sample", origin["generator"]]
    return source + [word for name, value in input_options(origin).items() for word in _flag(name, value)]


def _picks(session: Session) -> list[Pick]:
    return [session.shown.pick(v.id) for v in session.filter.all_variants if v.id in session.choice.picks]


def input_options(origin: Mapping[str, Any]) -> dict[str, Any]:
    """The options that opened the file or the sample, without defaults; for a result, those of its file."""
    if not {PATH, RESULT} & origin.keys():
        return {key: value for key, value in origin.items() if key not in ("generator", "steps")}
    rules = [step["rule"] for step in origin.get("steps", ()) if step.get("step") == "nonfinite"]
    nonfinite = {"nonfinite": rules[0]} if rules else {}
    if RESULT in origin:
        outputs = {output.id: output for output in FILTERS.find(origin[RESULT]).outputs}
        kind = outputs[origin["output"]].kind if origin["output"] in outputs else ""
        heard = {"kind": kind} if kind and OUTPUT_KINDS[kind].heard else {}  # the type of other files is detected
        return {**heard, **nonfinite, **({"rate": origin["rate"]} if origin.get("rate") else {})}
    given = {"kind": origin["kind"]} if origin.get("kind") else {}
    return {**given, **nonfinite, **origin.get("choices", {})}


def _step_flags(steps: Iterable[Mapping[str, Any]]) -> list[str]:
    return [word for step in active_steps(steps) for word in ("--step", write_step(step))]


def _flags(values: Mapping[str, Any]) -> list[str]:
    return [word for name, value in values.items() for word in _flag(name, value)]


def _flag(name: str, value: Any) -> list[str]:
    """A flag and its value; one word where the value could be taken for a flag."""
    text = ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return [f"--{name.replace('_', '-')}={text}"]


def joined(words: list[str]) -> str:
    """Words as one command of this system's shell."""
    return " ".join(map(_quoted_in_windows if sys.platform == "win32" else _quoted, words))


def _quoted_in_windows(word: str) -> str:
    """A word for cmd; without quotes, a name such as a&b would end one command and begin another."""
    import subprocess

    text = subprocess.list2cmdline([word])
    return text if text.startswith('"') or re.fullmatch(r"[\w\\/:.=+@~,-]*", word) else f'"{text}"'


def _quoted(word: str) -> str:
    """A word for a shell. Control characters are written as escapes: a terminal acts on them when they are pasted, even
    inside quotes."""
    return shlex.quote(word) if word.isprintable() else f"$'{''.join(map(_code, word))}'"


def _code(sign: str) -> str:
    if sign in "\\'":
        return f"\\{sign}"
    return sign if sign.isprintable() else "".join(f"\\x{byte:02x}" for byte in os.fsencode(sign))

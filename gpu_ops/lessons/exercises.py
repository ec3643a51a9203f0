"""Exercises: a folder with a task, a template and limits, to which the kernels of a class are held."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gpu_ops.devices.kernel_source import code_of, included_headers
from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.io import replacing
from gpu_ops.lessons.fields import read_fields
from gpu_ops.own_kernels.checking import Check, Verdict, check_of
from gpu_ops.own_kernels.sources import LARGEST_KERNEL, read_kernel
from gpu_ops.own_kernels.template import template_text
from gpu_ops.version import __version__

SHIPPED = Path(__file__).parents[2] / "resources" / "exercises" / "en"
FILE, TASK, TEMPLATE, HEADERS, SUBMISSIONS = "exercise.toml", "task.md", "template.cu", "headers", "submissions"
SCHEMA = "kernelscope-submission/1"


@dataclass(frozen=True)
class Exercise:
    """An exercise: what its solutions are held to, and the `task` in Markdown. `source` is its text in TOML."""

    id: str
    title: str
    task: str
    check: Check
    source: str


@dataclass(frozen=True)
class Submission:
    """A kernel that a student has sent. `claimed` is the verdict in the student's file; None for a kernel file."""

    student: str
    text: str
    claimed: Verdict | None = None


def shipped_exercises() -> tuple[Exercise, ...]:
    """The shipped exercises by id."""
    return tuple(read_exercise(path) for path in sorted(SHIPPED.glob("*.toml")))


def find_exercise(name: str) -> Exercise:
    """The shipped exercise with this id, in which - and _ are equal, or the one in a file or folder. Raises ParamError
    that names the ids."""
    found = {exercise.id: exercise for exercise in shipped_exercises()}
    if (id := name.replace("-", "_")) in found:
        return found[id]
    if not Path(name).exists():
        known = ", ".join(found)
        raise ParamError(f"There is no exercise {plain(name, 60)!r}; choose from {known}, or name a file or folder.")
    return read_exercise(Path(name))


def read_exercise(path: Path) -> Exercise:
    """The exercise in a TOML file or in a folder that has one. Raises InputError, ParamError or DeviceError for what is
    no exercise, and names the filters, variants and counters that there are."""
    file = path / FILE if path.is_dir() else path
    if path.is_dir() and not file.exists():
        raise InputError(f"{plain(path.name, 80)} has no {FILE}; make one with kernelscope exercise make.")
    fields = read_fields(file, "an exercise")
    title, filter, variant = (fields.text(name) for name in ("title", "filter", "variant"))
    limits = {
        "seconds": fields.number("deadline", Check.seconds),
        "mebibytes": fields.number("memory", Check.mebibytes),
    }
    architecture = fields.text("gpu", Check.architecture)
    check = check_of(filter, variant, architecture, gate=fields.text("gate", ""), **limits)
    exercise = Exercise(path.stem, title, fields.text("task"), check, file.read_text(encoding="utf-8"))
    fields.finish()
    return exercise


def make_folder(exercise: Exercise, folder: Path) -> tuple[str, ...]:
    """Write an exercise into a new or empty folder: its file, the task, a kernel without its body, the headers that it
    includes, to read, and a folder for what comes back. Returns the names. Raises InputError for a
    folder that has files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{plain(folder.name, 80)} is not empty; name a new folder.")
    variant = FILTERS.find(exercise.check.filter).variant(exercise.check.variant)
    task = f"# {exercise.title}\n\n{exercise.task.strip()}\n\n{_how(exercise)}"
    texts = {
        FILE: exercise.source,
        TASK: task,
        TEMPLATE: template_text(variant.kernels[0], headers=f"in {HEADERS}"),
        **{f"{HEADERS}/{name}": text for name, text in included_headers(variant.kernels[0]).items()},
    }
    try:
        for name in (HEADERS, SUBMISSIONS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with replacing(folder / name) as file:
                file.write(text.encode())
    except OSError as error:
        raise InputError(f"{plain(folder.name, 80)} cannot be written: {error.strerror}.") from None
    return (*texts, f"{SUBMISSIONS}/")


def _how(exercise: Exercise) -> str:
    """How a student works on it and hands it in."""
    gate = f" with the conditions `{exercise.check.gate}`" if exercise.check.gate else ""
    contract = f"the whole contract of `{exercise.check.filter}`{gate}"
    return f"""## How to work

Copy `{TEMPLATE}` to a file of your own, such as `mine.cu`, and fill in the kernel. No GPU is needed:
`kernelscope exercise check . mine.cu` holds it to {contract} on a simulated GPU, and names the lines of what is wrong.
The conditions, and the counters that it shows, are those of one whole launch.
`kernelscope exercise submit . mine.cu --student NAME` writes one file with the kernel and its counters for your
teacher.
"""


def is_template(exercise: Exercise, text: str) -> bool:
    """Whether a kernel file has the code of the exercise's template, whatever its comments are."""
    variant = FILTERS.find(exercise.check.filter).variant(exercise.check.variant)
    return code_of(text) == code_of(template_text(variant.kernels[0]))


def submission_of(exercise: Exercise, student: str, text: str, verdict: Verdict) -> dict[str, Any]:
    """A submission as JSON: the kernel, and the verdict on it, which is computed again when it arrives."""
    how = {"filter": exercise.check.filter, "variant": exercise.check.variant}
    own = {"exercise": exercise.title, "student": student, **how, "kernel": text}
    return {"schema": SCHEMA, "kernelscope": __version__, **own, "verdict": asdict(verdict)}


def read_submission(path: Path) -> Submission:
    """A submission: a kernel file, whose student is its name, or the JSON of `submission_of`. Raises InputError."""
    if path.suffix != ".json":
        return Submission(path.stem, read_kernel(path))
    shown = plain(path.name, 80)
    try:
        if path.stat().st_size > 4 * LARGEST_KERNEL:
            raise InputError(f"{shown} has more than {4 * LARGEST_KERNEL >> 20} MiB; a submission has one kernel file.")
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            raise InputError(f"{shown} is no submission of an exercise ({SCHEMA}).")
        return Submission(_text(content, "student"), _text(content, "kernel"), _claimed(content["verdict"]))
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            f"{shown} is no submission of an exercise; write it with kernelscope exercise submit."
        ) from None


def _text(content: Mapping[str, Any], name: str) -> str:
    if not isinstance(content[name], str):
        raise TypeError(name)
    return str(content[name])


def _claimed(entry: Mapping[str, Any]) -> Verdict:
    known = {name: entry[name] for name in Verdict.__dataclass_fields__ if name in entry}
    return Verdict(**{**known, "findings": tuple(entry["findings"])})


def differs(claimed: Verdict, counted: Verdict) -> str:
    """What of a student's own verdict is not what is counted here; "" where nothing is. Verdicts of another version or
    for other conditions have another hash, and say so."""
    if claimed.hash != counted.hash:
        return "checked by another version or for another exercise"
    if claimed.status != counted.status:
        return f"says {plain(claimed.status, 20)}"
    return "says other counters" if claimed.counters != counted.counters else ""

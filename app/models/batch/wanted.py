"""What the form of a batch asks for, and the batch that the present settings make of it. No widgets."""

from __future__ import annotations

import glob
import json
import os
from dataclasses import asdict, dataclass, fields
from importlib.util import find_spec
from typing import Any, Literal

from PySide6.QtCore import QCoreApplication

from app.models.experiment.experiment_text import PATH, input_options
from app.models.experiment.session import Session
from app.models.experiment.shown import edited_title
from gpu_ops import FILTERS, BatchSpec, InputError, active_steps, parse_step, step_words, write_step
from gpu_ops.batch.files import check_apart, find_files
from gpu_ops.device_names import device_host
from gpu_ops.io.reading import Reading
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.version import install

Place = Literal["here", "workers", "gpus", "scheduler"]
PLACES: tuple[Place, ...] = ("here", "workers", "gpus", "scheduler")
"""One process without Dask, several processes, one for each GPU, or the workers of a scheduler."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("BatchWanted", text)


@dataclass(frozen=True)
class Wanted:
    """The fields of the form. Without a `pattern` the batch has the files of the `folder` that can be read, without a
    `format` that of each kind of result. `frames`: all frames of stacks; `resume`: without what is done."""

    folder: str = ""
    pattern: str = ""
    output: str = ""
    format: str = ""
    place: Place = "here"
    workers: int = 2
    scheduler: str = ""
    frames: bool = False
    resume: bool = True

    @property
    def inputs(self) -> list[str]:
        """The names of the files, as a batch takes them."""
        return [os.path.join(glob.escape(self.folder), self.pattern) if self.pattern else self.folder]

    @property
    def text(self) -> str:
        """All fields, for the settings."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Wanted:
        """The fields that a text has; what cannot be one of them has its default."""
        try:
            content = json.loads(text)
        except ValueError:
            return cls()
        given = content if isinstance(content, dict) else {}
        known = {f.name: given[f.name] for f in fields(cls) if type(given.get(f.name)) is type(f.default)}
        if known.get("place") not in PLACES:
            known.pop("place", None)
        return cls(**known)

    def lacks(self) -> str:
        """What is still to be filled in or installed before such a batch can start; "" for nothing."""
        if not self.folder or not self.output:
            return _tr("Choose the folder of the inputs and that of the results.")
        if self.place == "scheduler" and not self.scheduler:
            return _tr("Enter the address of the scheduler, such as tcp://host:8786.")
        if self.place != "here" and find_spec("distributed") is None:
            text = _tr("Several workers need Dask, which is not installed: {command}. One process works without it.")
            return text.format(command=install("batch"))
        return ""


@dataclass(frozen=True)
class Counted:
    """How many files there are for a batch, the name of the first one, or the reason why it cannot start."""

    count: int = 0
    first: str = ""
    fault: str = ""


def counted(wanted: Wanted) -> Counted:
    """Find the files, which takes seconds where they are many."""
    try:
        found = find_files(wanted.inputs)
        check_apart(found, wanted.output)
    except InputError as error:
        return Counted(fault=str(error))
    first = next(iter(found.values()))
    if len(found) == 1 and not os.path.exists(first):
        return Counted(fault=_tr("{name} does not exist; choose another folder.").format(name=first))
    return Counted(len(found), os.path.relpath(first, wanted.folder))


def offered_variants(session: Session) -> list[str]:
    """The ticked variants of the filter, their edited kernels and pinned results, by id: a batch runs one of them."""
    ticked = [v.id for v in session.filter.all_variants if v.id in session.choice.picks]
    return list(session.shown.with_pins(ticked))


def offered_formats(session: Session) -> list[str]:
    """The formats of the filter's first output: what a batch saves."""
    return [suffix.removeprefix(".") for suffix in OUTPUT_KINDS[session.given[0].kind].formats]


def spec_of(session: Session, wanted: Wanted, variant: str) -> BatchSpec:
    """The batch: the present filter with its parameters and steps, by this variant on its present device, "" for the
    one that suits each file; an edited kernel goes along, and a pinned result has its own parameters. Raises InputError
    for a device of another machine, ParamError for impossible settings."""
    pick = session.shown.pick(variant) if variant else None
    devices = [] if pick is None or wanted.place == "gpus" else [pick.device]
    for name in filter(device_host, devices):
        text = _tr("{device} is on another machine, and a batch uses devices of this one: choose another GPU, or CPU.")
        raise InputError(text.format(device=name))
    spec = BatchSpec(
        inputs=wanted.inputs,
        output_dir=wanted.output,
        filter=session.choice.filter,
        values={**session.params, **({**pick.params, **pick.knobs} if pick is not None else {})},
        variant=pick.variant if pick is not None else None,
        edits=pick.edits if pick is not None else {},
        devices=devices,
        reading=_reading(session),
        format=wanted.format or None,
        resume=wanted.resume,
        frames=wanted.frames,
        workers=wanted.workers if wanted.place == "workers" else 1,
        gpus="all" if wanted.place == "gpus" else None,
        scheduler=wanted.scheduler if wanted.place == "scheduler" else None,
    )
    spec.check()
    return spec


def _reading(session: Session) -> Reading:
    """How the present input was read, but for its frame, and its steps."""
    origin = session.original.origin if session.original is not None else {}
    options: dict[str, Any] = dict(input_options(origin)) if PATH in origin else {}
    options.pop("frame", None)
    kind, nonfinite = options.pop("kind", None), options.pop("nonfinite", None)
    steps = tuple(write_step(step) for step in active_steps(session.steps))
    return Reading(kind=kind, nonfinite=nonfinite, steps=steps, values=options)


def words_of(spec: BatchSpec) -> str:
    """What a batch does with each file, in words."""
    filter = FILTERS.find(spec.filter)
    values = ", ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in spec.values.items())
    if spec.variant is None:
        variant = _tr("the fastest own variant that takes each file")
    else:
        device = (spec.devices[0] if spec.devices[0] != "cpu" else _tr("the CPU")) if spec.devices else _tr("each GPU")
        title = filter.variant(spec.variant).title
        title = edited_title(title) if spec.edits else title
        variant = _tr("{variant} on {device}").format(variant=title, device=device)
    steps = ", ".join(step_words(parse_step(text)) for text in spec.reading.steps)
    text = _tr("{filter} ({values}); {variant}") if values else _tr("{filter}; {variant}")
    text = text.format(filter=filter.title, values=values, variant=variant)
    return _tr("{text}; after the steps {steps}").format(text=text, steps=steps) if steps else text


def _value(value: Any) -> str:
    if isinstance(value, tuple | list):
        return " ".join(map(_value, value))
    return f"{value:g}" if isinstance(value, float) else str(value)

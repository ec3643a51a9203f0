"""A session file: the input with its steps, the filter with all choices, and the window's view. No
widgets."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, cast

import numpy as np
from PySide6.QtCore import QCoreApplication

from app.models.experiment.differences import MOST_DIFFERENCES, DifferenceOf
from app.models.experiment.experiment_text import PATH, input_options
from app.models.experiment.history import Choice
from app.models.experiment.launch_fields import launch_json, read_launch
from app.models.experiment.pin import MOST_PINS, Pin
from app.models.experiment.session import Session
from app.models.experiment.steps import Steps
from app.models.files.json_text import Fields, parsed, readable
from app.models.files.session_view import Offered, View, board_json, read_board, read_view
from app.models.results.view_data import INPUT
from app.models.xray.gpu_choice import read_gpu_choice
from app.models.xray.kept_drafts import read_edits
from gpu_ops import FILTERS, SAMPLES, KernelscopeError, __version__, check_step, require_regular, with_width_first
from gpu_ops.errors import InputError, NonFiniteError, plain, shortened
from gpu_ops.input_kinds import INPUT_KINDS, Kind
from gpu_ops.io.opening import CHOICES
from gpu_ops.params import check_values, nearest, with_current_names
from gpu_ops.types import Filter, Pick, Variant

SCHEMA, MAJOR = "kernelscope-session", 2
LARGEST = 1 << 22
"""The largest session file in bytes: it contains names and numbers only."""
DEVICE = re.compile(r"|cuda:[0-9]{1,3}|sim(:sm_[0-9]{2,3})?")
NONFINITE = ("refuse", *NonFiniteError.choices)
PINNED = "pinned {number}"
"""A pinned result in a difference, by its number in the list, from 1 on: its id depends on the settings of this
version."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Sessions", text)


@dataclass(frozen=True)
class SavedInput:
    """How an input is opened: the `paths` of its file, in the order in which they are tried, or the id of a sample;
    `options` are those of LoadRequest or SampleRequest. `hash` identifies the file, `nbytes` is the size of the
    array."""

    kind: Kind
    paths: tuple[str, ...] = ()
    sample: str = ""
    hash: str = ""
    nbytes: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the file, or the id of the sample."""
        return PurePath(self.paths[-1].replace("\\", "/")).name if self.paths else self.sample


@dataclass(frozen=True)
class SavedSession:
    """The content of a session file. `choice` includes the steps, `device` runs kernels, `output` is the visible one;
    "" in these and in the baseline means the default."""

    input: SavedInput
    choice: Choice
    device: str = ""
    baseline: str = ""
    output: str = ""
    view: View = View()

    @property
    def steps(self) -> Steps:
        return self.choice.steps


# Writing


def _origin_of(session: Session) -> Mapping[str, Any] | None:
    """The origin of the input before the session's steps; None where it is neither a file nor a sample."""
    original = session.original
    if original is None or not {PATH, "generator"} & original.origin.keys():
        return None
    return original.origin


def saved_of(session: Session, view: View, path: str = "") -> SavedSession:
    """The file content for the present session; `path` is where its input was opened. Raises InputError without an
    input that can be opened again."""
    original, origin = session.original, _origin_of(session)
    if original is None:
        raise InputError(_tr("There is nothing to save yet; open an image or a signal first."))
    if origin is None:
        text = _tr("{name} is a result, which no file holds: save it, open the file, and save the session then.")
        raise InputError(text.format(name=plain(original.name)))
    array, kind = original.array, original.kind
    nbytes = math.prod(array.shape) * np.dtype(array.dtype).itemsize
    options, filter = input_options(origin), session.filter
    if PATH in origin:
        where = os.path.abspath(path or str(origin[PATH]))
        input = SavedInput(kind, (where,), "", str(origin.get("hash", "")), nbytes, options)
    else:
        input = SavedInput(kind, (), str(origin["generator"]), "", nbytes, options)
    known = {v.id: {knob.name for knob in v.knobs} for v in filter.all_variants}
    set_knobs = {id: values for id, values in session.choice.knobs.items() if id in known and values}
    knobs = {id: {k: v for k, v in values.items() if k in known[id]} for id, values in set_knobs.items()}
    choice = replace(session.choice, params=session.params, knobs=knobs, input=0)
    baseline = session.baseline if session.baseline in known else ""
    return SavedSession(input, choice, session.device, baseline, session.output.id, view)


def session_text(saved: SavedSession, folder: str = "") -> str:
    """The text of a session file. A session in `folder` also has the relative path of the input's file, so that both
    can be moved together."""
    choice = saved.choice
    content = {
        "schema": f"{SCHEMA}/{MAJOR}",
        "version": __version__,
        "input": _input_json(saved.input, folder),
        "steps": list(choice.steps),
        "filter": choice.filter,
        "params": dict(choice.params),
        "output": saved.output,
        "variants": list(choice.picks),
        "knobs": dict(choice.knobs),
        "pinned": [_pick_json(pin.pick) for pin in choice.pins],
        "differences": _differences_json(choice),
        "board": board_json(choice.board, _names(choice)),
        "device": saved.device,
        "baseline": saved.baseline,
        "own_kernel": launch_json(choice.own, lambda path: _from_folder(path, folder) if folder else ""),
        "predicted_gpu": choice.gpu.as_json(),
        "view": saved.view.as_json(),
    }
    return readable(content) + "\n"


def _pick_json(pick: Pick) -> dict[str, Any]:
    about = {"variant": pick.variant, "device": pick.device, "params": dict(pick.params), "knobs": dict(pick.knobs)}
    return about | ({"texts": dict(pick.edits)} if pick.edits else {})


def _names(choice: Choice) -> dict[str, str]:
    return {pin.id: PINNED.format(number=number) for number, pin in enumerate(choice.pins, 1)}


def _differences_json(choice: Choice) -> list[dict[str, str]]:
    names = _names(choice)
    return [{side: names.get(id, id) for side, id in vars(kept).items()} for kept in choice.differences]


def _input_json(input: SavedInput, folder: str) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": input.kind}
    if input.sample:
        about["sample"] = input.sample
    else:
        path = input.paths[-1]
        near = _from_folder(path, folder) if folder else ""
        about |= {**({"path": near} if near else {}), "absolute": path, "hash": input.hash}
    return {**about, "bytes": input.nbytes, "options": dict(input.options)}


def _from_folder(path: str, folder: str) -> str:
    """The path from a folder, with slashes on every system; "" where it is on another drive."""
    try:
        return PurePath(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return ""


# Reading


def read_session(path: str, offered: Offered) -> SavedSession:
    """Read a session file and check every value. Raises InputError or ParamError with one sentence that says what is
    wrong."""
    file, name = Path(path), plain(PurePath(path).name)
    require_regular(file, "a session")
    try:
        with open(file, "rb") as opened:
            data = opened.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(_tr("{name} cannot be read ({reason}).").format(name=name, reason=reason)) from None
    if len(data) > LARGEST:
        raise InputError(_tr("{name} is too large for a session file.").format(name=name))
    return parse_session(data, str(file.absolute().parent), offered)


def parse_session(data: bytes, folder: str, offered: Offered) -> SavedSession:
    """The same, from the bytes of a file in that folder."""
    try:
        content = parsed(data.decode("utf-8-sig"))
    except ValueError as error:
        text = _tr("It is damaged, or no session file ({reason}).")
        raise InputError(text.format(reason=plain(error, 120))) from None
    fields = Fields(content)
    schema = _check_schema(fields)
    input = _read_input(fields.fields("input", needed=True), folder, schema)
    filter = FILTERS.find(fields.text("filter"))
    params = check_values(filter.params, fields.values("params"), filter.id)
    picks = [new for id in fields.texts("variants") for new in _todays(filter, id)]
    for id in picks:
        filter.variant(id)
    steps = tuple(check_step(step, input.kind) for step in fields.objects("steps"))
    listed = _read_pins(fields.objects("pinned"), filter)
    pins = tuple({pin.id: pin for pin in listed}.values())
    differences = _read_differences(fields.objects("differences"), filter, [pin.id for pin in listed])
    ids, pinned = tuple(v.id for v in filter.all_variants), tuple(pin.id for pin in pins)
    outputs = tuple(output.id for output in filter.outputs)
    ordered, knobs = tuple(id for id in ids if id in picks), _read_knobs(fields.fields("knobs"), filter)
    own = read_launch(fields.fields("own_kernel"), folder)
    board = read_board(fields.fields("board"), _keys(filter, [pin.id for pin in listed]), outputs)
    of_gpu = fields if fields.has("predicted_gpu") else fields.fields("view")  # where it was in earlier files
    gpu = read_gpu_choice(of_gpu.fields("predicted_gpu"))
    return SavedSession(
        input,
        Choice(filter.id, params, ordered, knobs, steps, 0, pins, differences, board, own, gpu),
        _read_device(fields.text("device", "")),
        _todays(filter, fields.one_of("baseline", ("", *ids, *filter.renamed), ""))[0],
        fields.one_of("output", ("", *outputs), ""),
        _with_current_ids(filter, read_view(fields.fields("view"), (*ids, *filter.renamed), pinned, offered)),
    )


def _todays(filter: Filter, id: str) -> tuple[str, ...]:
    """A variant by its id in this version. An old id that has been split gives all its successors: the input, which is
    not read yet, decides which of them applies."""
    return tuple(dict.fromkeys(s.variant for s in filter.renamed[id])) if id in filter.renamed else (id,)


def _with_current_ids(filter: Filter, view: View) -> View:
    """A view of variants by their ids in this version."""
    first, second, xray, against = (_todays(filter, id)[0] for id in (*view.pair, view.xray, view.against))
    return replace(view, pair=(first, second), xray=xray, against=against)


def _check_schema(fields: Fields) -> int:
    """The major version of the file's schema."""
    schema = fields.text("schema", "")
    match = re.fullmatch(rf"{SCHEMA}/([0-9]{{1,6}})(\.[0-9]{{1,6}})?", schema)
    if match is None:
        text = _tr("It is no session file: its schema is {schema}, not {expected}.")
        raise InputError(text.format(schema=plain(repr(schema), 60), expected=f"{SCHEMA}/{MAJOR}"))
    if int(match[1]) > MAJOR:
        text = _tr("It has the schema {schema}, and this version reads up to {expected}: update Kernelscope.")
        raise InputError(text.format(schema=schema, expected=f"{SCHEMA}/{MAJOR}"))
    return int(match[1])


def _read_input(fields: Fields, folder: str, schema: int) -> SavedInput:
    kind = cast(Kind, fields.one_of("kind", tuple(INPUT_KINDS)))
    options, nbytes = fields.values("options"), fields.count("bytes", 0)
    if fields.has("sample"):
        id, samples = fields.text("sample"), {s.id: s for s in SAMPLES}
        if id not in samples:
            text = _tr("There is no sample {id}; choose from {names}.")
            raise InputError(text.format(id=plain(repr(id) + nearest(id, list(samples))), names=", ".join(samples)))
        options = with_width_first(options) if schema == 1 else options
        return SavedInput(kind, (), id, "", nbytes, check_values(samples[id].params, options, f"sample {id}"))
    near, absolute = fields.text("path", ""), fields.text("absolute", "")
    paths = tuple(dict.fromkeys(os.path.abspath(os.path.join(folder, path)) for path in (near, absolute) if path))
    if not paths or "\0" in near + absolute:
        raise InputError(_tr("input names neither a file by its path nor a sample."))
    return SavedInput(kind, paths, "", fields.text("hash", ""), nbytes, _file_options(options))


def _file_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """How a file is read, each value checked."""
    own = Fields(options, "input.options")
    checked: dict[str, Any] = {}
    if own.has("kind"):
        checked["kind"] = own.one_of("kind", tuple(INPUT_KINDS))
    if own.has("nonfinite"):
        checked["nonfinite"] = own.one_of("nonfinite", NONFINITE)
    return checked | {param.name: param.check(options[param.name]) for param in CHOICES if param.name in options}


def _read_knobs(fields: Fields, filter: Filter) -> dict[str, dict[str, Any]]:
    """The knobs of each variant that are set, checked."""
    knobs = {}
    for id, new in [(old, new) for old in fields.names() for new in _todays(filter, old)]:
        variant: Variant = filter.variant(new)
        own = {knob.name for knob in variant.knobs}
        values = with_current_names(variant.knobs, fields.values(id))
        given = {name: value for name, value in values.items() if id == new or name in own}
        checked = check_values(variant.knobs, given, new)
        knobs[new] = {name: checked[name] for name in given}
    return knobs


def _read_pins(content: tuple[dict[str, Any], ...], filter: Filter) -> list[Pin]:
    """The pinned results, with a value of every parameter and knob, checked."""
    if len(content) > MOST_PINS:
        text = _tr("It has {number} pinned results; the maximum is {most}.")
        raise InputError(text.format(number=len(content), most=MOST_PINS))
    pins = []
    for fields in (Fields(item, "pinned") for item in content):
        (id, *_) = _todays(filter, fields.text("variant"))
        variant, name, edits = filter.variant(id), fields.text("device", "cpu"), read_edits(fields)
        if edits and not name:
            pins.append(Pin.edited(variant.id, edits))
            continue
        if (name == "cpu") != (variant.device == "cpu"):
            text = _tr("The pinned result of {variant} is of {device}, which does not run it.")
            raise InputError(text.format(variant=variant.id, device=plain(repr(name), 40)))
        device = name if name == "cpu" else _read_device(name)
        values = with_current_names(variant.knobs, fields.values("knobs"))
        own = {k: v for k, v in values.items() if k in {knob.name for knob in variant.knobs}}
        params = check_values(filter.params, fields.values("params"), filter.id)
        pins.append(Pin.of(filter, Pick(id, device, check_values(variant.knobs, own, id), edits, params)))
    return pins


def _keys(filter: Filter, pinned: Sequence[str]) -> dict[str, str]:
    """The keys of panes by their names in a session file."""
    ids = {INPUT: INPUT, **{variant.id: variant.id for variant in filter.all_variants}}
    ids |= {old: _todays(filter, old)[0] for old in filter.renamed}
    return ids | {PINNED.format(number=number): id for number, id in enumerate(pinned, 1)}


def _read_differences(
    content: tuple[dict[str, Any], ...], filter: Filter, pinned: Sequence[str]
) -> tuple[DifferenceOf, ...]:
    """The differences next to the results, each once and of two results that the file may show."""
    if len(content) > MOST_DIFFERENCES:
        text = _tr("It has {number} differences; the maximum is {most}.")
        raise InputError(text.format(number=len(content), most=MOST_DIFFERENCES))
    ids, found = _keys(filter, pinned), []
    for fields in (Fields(item, "differences") for item in content):
        first, second = (fields.one_of(side, tuple(ids)) for side in ("first", "second"))
        if first == second:
            text = _tr("A difference is of {name} and itself; it must be of two results, or of the input and one.")
            raise InputError(text.format(name=first))
        found.append(DifferenceOf(ids[first], ids[second]))
    return tuple(kept for kept in dict.fromkeys(found) if kept.first != kept.second)  # both may be one variant now


def _read_device(name: str) -> str:
    if DEVICE.fullmatch(name) is None:
        text = _tr("There is no device {name}; choose cuda:N, sim or sim:sm_90.")
        raise InputError(text.format(name=plain(repr(name), 40)))
    return name


def reason_of(error: KernelscopeError, name: str) -> str:
    """One sentence that says why a session is not opened, and what stays unchanged."""
    text = _tr("The session {name} is not opened, and everything stays as it is: {reason}")
    return text.format(name=plain(name), reason=shortened(str(error)))

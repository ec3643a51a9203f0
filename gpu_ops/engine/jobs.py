"""What the engine does for each kind of request. Every job ends by returning, or by an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_ops.engine.desk import Desk
from gpu_ops.engine.messages import (
    DoctorAnswer,
    DoctorRequest,
    Loaded,
    LoadRequest,
    RunRequest,
    RunUpdate,
    SampleRequest,
    SaveRequest,
    SharedInput,
    SharedResult,
    XRayAnswer,
    XRayRequest,
)
from gpu_ops.engine.statistics import statistics
from gpu_ops.errors import KernelscopeError, plain
from gpu_ops.filters import find_filter
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io import SAMPLES, convert, load, sample, save, save_result
from gpu_ops.measuring import comparison
from gpu_ops.measuring.affordable import shown, shown_note
from gpu_ops.measuring.doctor import examine
from gpu_ops.measuring.explain import explain
from gpu_ops.measuring.report import row
from gpu_ops.measuring.runner import run_experiment
from gpu_ops.measuring.sweeps import resized
from gpu_ops.measuring.xray import XRay, as_dict, xray
from gpu_ops.output_kinds import OUTPUT_KINDS, Array, Form
from gpu_ops.progress import finite, listening, stage
from gpu_ops.types import Experiment, Input, Output, Pick, Run

Job = LoadRequest | SampleRequest | RunRequest | XRayRequest | SaveRequest | DoctorRequest


def work(desk: Desk, job: Job) -> None:
    """Do a job and send its answers, all but Finished. Raises KernelscopeError, Cancelled and whatever goes wrong."""
    if isinstance(job, RunRequest):  # it tells how far it is by itself
        with listening(desk.stopped):
            _run(desk, job)
        return
    with listening(desk.stopped, desk.part):
        match job:
            case LoadRequest():
                _load(desk, job)
            case SampleRequest():
                _sample(desk, job)
            case XRayRequest():
                _xray(desk, job)
            case SaveRequest():
                desk.progress(f"saving {plain(job.path)}")
                _save(desk, job)
            case DoctorRequest():
                desk.progress("measuring bandwidth" if job.roofs else "looking at devices and libraries")
                desk.send(DoctorAnswer(job.job, examine(job.roofs)))


def _save(desk: Desk, request: SaveRequest) -> None:
    result, array = request.result, desk.array(request.result.array)
    if OUTPUT_KINDS[result.kind].headed:
        save_result(request.path, array, result.form, result.unit)
    else:
        save(request.path, array, rate=request.rate)


def _load(desk: Desk, request: LoadRequest) -> None:
    desk.progress(f"loading {plain(request.path)}")
    options = dict(request.options)
    dtype = options.pop("dtype", None)
    with stage(0, 2):
        loaded = load(request.path, **options)
    _answer(desk, request.job, loaded, dtype)


def _sample(desk: Desk, request: SampleRequest) -> None:
    desk.progress(f"making the sample {request.id}")
    options = dict(request.options)
    known = {p.name for s in SAMPLES if s.id == request.id for p in s.params}
    dtype = None if "dtype" in known else options.pop("dtype", None)
    with finite():
        made = sample(request.id, **options)
    _answer(desk, request.job, made, dtype)


def _answer(desk: Desk, job: int, input: Input, dtype: str | None) -> None:
    desk.now(f"examining {input.name}")
    if dtype:
        with finite():
            input = convert(input, dtype)
    with stage(2, 4):
        figures = statistics(_looked_at(input))
    with stage(3, 4):
        array = desk.share(input.array)
    shared = SharedInput(input.kind, array, input.axes, input.name, input.origin, input.rate, input.finite, figures)
    desk.send(Loaded(job, shared))


def _looked_at(input: Input) -> Array:
    """What the figures of an input are of."""
    figures = OUTPUT_KINDS[INPUT_KINDS[input.kind].view].figures(input.array)
    return input.array if figures is None else figures


def _run(desk: Desk, request: RunRequest) -> None:
    """What runs at full speed first; a simulated GPU then gets the part of the input that it can afford."""
    whole = desk.input(request.input)
    if request.size is not None:
        with finite():
            whole = resized(whole, request.size, request.noise)
    desk.pin(request.input.array.segment, (p.device for p in request.picks))
    fast = tuple(p for p in request.picks if not p.device.startswith("sim"))
    slow = tuple(p for p in request.picks if p.device.startswith("sim"))
    if fast:
        _run_picks(desk, request, whole, whole, (), fast)
    if slow:
        _run_picks(desk, request, whole, *desk.middle(whole), slow)


def _run_picks(
    desk: Desk, request: RunRequest, whole: Input, part: Input, place: tuple[int, ...], picks: tuple[Pick, ...]
) -> None:
    """Run picks on a part of the input that begins at `place`; the window gets of its results what the whole's are."""
    experiment = Experiment(request.filter, part, request.params, picks, request.protocol, request.mode, request.checks)
    count, of = len(picks), len(request.picks)
    before = of - count if picks[0].device.startswith("sim") else 0

    def tell(text: str, done: int, total: int) -> None:
        """These picks are a part of what was asked for; every pick takes as many steps."""
        desk.progress(text, done + total * before // count, total * of // count)

    sent: list[Pick] = []
    for run in run_experiment(experiment, stop=desk.stopped, progress=tell):
        first = not any(pick is run.pick for pick in sent)
        sent.append(run.pick)
        part_shown = shown(find_filter(run.filter), run.params, whole, part, place)
        if place:
            run = replace(run, notes=(shown_note(whole, part, part_shown), *run.notes))
        news = _row(desk, run, experiment, request.roofs)
        outputs = _outputs(desk, run, part, part_shown.cut) if first and request.outputs else {}
        machine = desk.provenance(run.pick.device) if run.timings or run.outputs else {}  # it is open by then
        desk.send(RunUpdate(request.job, request.generation, news, outputs, *part_shown[1:], machine))


def _row(desk: Desk, run: Run, experiment: Experiment, roofs: bool) -> Mapping[str, Any]:
    if roofs and "kernel" in run.timings:
        desk.now(f"measuring the bandwidth of {run.pick.device}")  # takes a while, once a device
    return {**row(run, experiment, with_roofs=roofs), "stage": run.stage}


def _outputs(desk: Desk, run: Run, input: Input, cut: tuple[slice, ...]) -> dict[str, SharedResult]:
    desk.now(f"examining {run.pick.variant} on {run.pick.device}")
    declared = {o.id: o for o in find_filter(run.filter).outputs}
    return {name: _shared(desk, declared[name], array, input, cut) for name, array in run.outputs.items()}


def _shared(desk: Desk, output: Output, array: Array, input: Input, cut: tuple[slice, ...]) -> SharedResult:
    kind = OUTPUT_KINDS[output.kind]
    axes = INPUT_KINDS[input.kind].axes_of(array.shape, input.rate)
    form, shown = Form(array.shape, array.dtype.name, axes).cut(cut), np.ascontiguousarray(array[cut])
    figures = kind.figures(shown)
    made = None if figures is None else statistics(figures)
    return SharedResult(kind.id, desk.share(shown), form, output.unit, kind.tell(shown, form, output.unit), made)


def _xray(desk: Desk, request: XRayRequest) -> None:
    whole = desk.input(request.input)
    part, place = desk.middle(whole)
    stages = 2 if request.against else 1
    with stage(0, stages):
        found = _look_into(desk, request, request.pick, part)
    content = {
        **as_dict(found),
        "title": found.title,
        "idea": found.idea,
        "sentences": comparison.said(explain(found)),
        "sources": {f.file: f.text for k in found.kernels for f in k.files},
        "name": whole.name,
        "whole": list(whole.array.shape[: 2 if whole.kind == "image" else 1]),
        "place": list(place),
    }
    if request.against:
        with stage(1, stages):
            content["comparison"] = _compare(desk, request, request.against, part, found)
    desk.send(XRayAnswer(request.job, content))


def _look_into(desk: Desk, request: XRayRequest, pick: Pick, part: Input) -> XRay:
    desk.now(f"looking into {pick.variant} on a simulated {request.architecture}")
    filter, how = find_filter(request.filter), (request.architecture, pick.edits)
    trace = pick is request.pick  # of what it is compared with only counts are told
    return xray(filter, filter.variant(pick.variant), part, request.params, pick.knobs, *how, trace=trace)


def _compare(desk: Desk, request: XRayRequest, against: Pick, part: Input, after: XRay) -> dict[str, Any]:
    """What changed from another variant; where that one cannot be looked into, why: the first one's X-ray is whole."""
    try:
        return comparison.as_dict(_look_into(desk, request, against, part), after)
    except KernelscopeError as error:
        title = find_filter(request.filter).variant(against.variant).title
        return {"before": {"variant": against.variant, "title": title}, "reason": str(error)}

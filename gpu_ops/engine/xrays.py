"""The engine's answers about kernels, shipped and edited: X-rays, traffic, counts for predicted times, the filter's
contract."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, replace
from typing import Any

from gpu_ops.devices.kernel_source import read_source
from gpu_ops.engine.edits import limits_of_edits
from gpu_ops.engine.job_channel import JobChannel
from gpu_ops.engine.kernel_messages import (
    BlockAnswer,
    BlockRequest,
    CliffsAnswer,
    CliffsRequest,
    ContractAnswer,
    ContractRequest,
    Counted,
    PageRequest,
    PredictionAnswer,
    PredictionRequest,
    TrafficAnswer,
    TrafficRequest,
    XRayAnswer,
    XRayRequest,
)
from gpu_ops.errors import KernelError, KernelscopeError, ParamError
from gpu_ops.explaining import comparison
from gpu_ops.explaining.block_steps.making import Job, block_steps
from gpu_ops.explaining.cliffs.targets import cliffs_dict, find_cliffs
from gpu_ops.explaining.prediction.counting import count_launches
from gpu_ops.explaining.prediction.gpus import Gpu, find_gpu
from gpu_ops.explaining.prediction.recorded import recorded_seconds
from gpu_ops.explaining.profiler.comparing import compare_with_profile, profile_dict
from gpu_ops.explaining.sentences import explain
from gpu_ops.explaining.traffic.content import footprint_dict, traffic_dict
from gpu_ops.explaining.traffic.footprints import footprint
from gpu_ops.explaining.traffic.recording import TrafficRun, record_traffic
from gpu_ops.explaining.traffic.warp_content import WarpAccesses, warps_json
from gpu_ops.explaining.traffic.warps import warp_accesses
from gpu_ops.explaining.varied.axes import axes_of
from gpu_ops.explaining.varied.making import Job as PageJob
from gpu_ops.explaining.varied.making import count_settings, page_of
from gpu_ops.explaining.xray import XRay, as_dict, xray
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.own_kernels.checking import hold
from gpu_ops.own_kernels.mending import mending
from gpu_ops.own_kernels.sources import with_own_name
from gpu_ops.params import check_values
from gpu_ops.progress import Limit, limited, stage
from gpu_ops.running.attempt import FOR_ALL, named
from gpu_ops.running.verify import full_meta
from gpu_ops.types import Filter, Input, Pick

KEPT = 4
"""Runs that are kept, because the footprints of many elements are asked for one after the other."""
_runs: list[tuple[Any, TrafficRun]] = []
SECONDS, MEMORY = 30.0, 2 << 30
"""The limits of each case of a contract."""
_others: list[tuple[Any, XRay]] = []
"""The last X-rays that an edited kernel was compared with, and what each depends on: while a kernel is edited, it is
compared with the same ones, the shipped kernel and one that the user chose, again and again."""
KEPT_OTHERS = 2


def answer_xray(channel: JobChannel, request: XRayRequest) -> None:
    """X-ray the pick. An edited kernel that does not compile or run is an answer too, with the reason and the
    compiler's messages; a shipped one raises."""
    if not request.pick.edits:
        channel.send(XRayAnswer(request.job, _content(channel, request)))
        return
    try:
        content = _content(channel, request)
    except KernelError as error:
        content = broken(error)
    channel.send(XRayAnswer(request.job, content))


def broken(error: KernelError) -> dict[str, Any]:
    """An answer without an X-ray: the reason, with advice on the fault that stopped the kernel, and "problems" {file,
    line, column, severity, text} by line: the compiler's messages, or what the simulated GPU found."""
    problems = [asdict(one) for one in error.diagnostics]
    for one in error.findings:
        problems.append({"file": one.file, "line": one.line, "column": 0, "severity": one.severity, "text": str(one)})
    advice = [one["advice"] for one in mending(f.kind for f in error.findings[-1:])]
    return {"broken": " ".join([str(error), *advice]), "problems": problems}


def _content(channel: JobChannel, request: XRayRequest) -> dict[str, Any]:
    whole = channel.input(request.input)
    part, place = channel.middle(whole)
    others = _compared_with(request)
    stages = 1 + len(others)
    with stage(0, stages):
        picture = _simulate(channel, request, request.pick, part)
    content = {
        **as_dict(picture),
        "title": picture.title,
        "idea": picture.idea,
        "sentences": comparison.sentences_json(explain(picture)),
        "sources": {f.file: f.text for k in picture.kernels for f in k.files},
        "name": whole.name,
        "whole": list(whole.meta.of_kind.spatial(whole.array.shape)),
        "place": list(place),
    }
    if request.profile:
        content |= _profiled(picture, request.profile)
    for at, (name, pick) in enumerate(others.items(), 1):
        with stage(at, stages):
            content[name] = _compare(channel, request, pick, part, picture)
    return content


def _compared_with(request: XRayRequest) -> dict[str, Pick]:
    """The picks to compare with, by the name of the comparison: an edited kernel is always compared with its own
    shipped one."""
    shipped = replace(request.pick, edits={}) if request.pick.edits else None
    return {name: pick for name, pick in (("shipped", shipped), ("comparison", request.against)) if pick}


def _profiled(picture: XRay, path: str) -> dict[str, Any]:
    """The comparison with a profile, or the reason why there is none: the X-ray stays valid."""
    try:
        return {"profiles": profile_dict(compare_with_profile(picture, path))}
    except KernelscopeError as error:
        return {"profile_reason": str(error)}


def _simulate(channel: JobChannel, request: XRayRequest, pick: Pick, part: Input) -> XRay:
    filter, target = FILTERS.find(request.filter), (request.architecture, pick.edits)
    channel.announce(f"simulating {named(filter.variant(pick.variant), request.architecture, True)}")
    more = pick is request.pick  # the window shows only counts of the other variant
    with limits_of_edits(pick):
        return xray(
            filter, filter.variant(pick.variant), part, request.params, pick.knobs, *target, trace=more, code=more
        )


def _before(channel: JobChannel, request: XRayRequest, against: Pick, part: Input) -> XRay:
    """The X-ray of the other variant, which is kept while a kernel is edited."""
    if not request.pick.edits:
        return _simulate(channel, request, against, part)
    key = (request.input.array, request.input.origin, request.filter, request.params, request.architecture, against)
    kept = next((one for other, one in _others if other == key), None)
    if kept is None:
        kept = _simulate(channel, request, against, part)
        _others[:] = [(key, kept), *_others[: KEPT_OTHERS - 1]]
    return kept


def _compare(channel: JobChannel, request: XRayRequest, against: Pick, part: Input, after: XRay) -> dict[str, Any]:
    """The comparison with another variant, or the reason why that variant has no X-ray: the first X-ray stays valid."""
    try:
        return comparison.as_dict(_before(channel, request, against, part), after)
    except KernelscopeError as error:
        title = FILTERS.find(request.filter).variant(against.variant).title
        return {"before": {"variant": against.variant, "title": title}, "reason": str(error)}


# Predicted times


def answer_prediction(channel: JobChannel, request: PredictionRequest) -> None:
    """Count the launches of every pick; one that cannot be counted does not affect the others. Raises ParamError for
    an unknown GPU, Cancelled."""
    whole, filter, gpu = channel.input(request.input), FILTERS.find(request.filter), find_gpu(request.gpu)
    counted = []
    for place, pick in enumerate(request.picks):
        title = filter.variant(pick.variant).title
        channel.announce(f"counting {title}{', edited,' if pick.edits else ''} for {gpu.model}")
        try:
            with stage(place, len(request.picks)):
                counted.append(_counted(filter, pick, whole, request, gpu))
        except FOR_ALL:
            raise
        except KernelscopeError as error:
            counted.append(Counted(reason=str(error)))
    channel.send(PredictionAnswer(request.job, gpu.id, tuple(counted)))


def _counted(filter: Filter, pick: Pick, whole: Input, request: PredictionRequest, gpu: Gpu) -> Counted:
    variant = filter.variant(pick.variant)
    params = check_values(filter.params, request.params, filter.id)
    knobs = check_values(variant.knobs, pick.knobs, variant.id)
    with limits_of_edits(pick):
        launches = count_launches(filter, variant, whole, params, knobs, gpu, pick.edits)
    known = gpu.measured and not pick.edits
    job = (filter.id, variant.id, params, knobs, full_meta(whole), gpu)
    return Counted(launches, recorded=recorded_seconds(*job) if known else None)


# A page with sliders


def answer_page(channel: JobChannel, request: PageRequest) -> None:
    """Count every combination and write the page; the file appears when it is complete. Raises ParamError, DeviceError,
    InputError, Cancelled."""
    whole, filter = channel.input(request.input), FILTERS.find(request.filter)
    part, _ = channel.middle(whole)
    axes = axes_of(filter, [pick.variant for pick in request.picks], request.over)
    gpus = () if request.gpu is None else (request.gpu,)
    job = PageJob(filter, request.picks, request.params, part, whole, request.architecture, gpus)

    @contextmanager
    def within(pick: Pick, place: int, count: int) -> Iterator[None]:
        title = filter.variant(pick.variant).title
        with stage(place, count), limits_of_edits(pick):
            channel.announce(f"counting combination {place + 1} of {count}: {title}")
            yield

    def named(text: str) -> str:
        for shipped, own in request.names.items():
            text = with_own_name(text, shipped, own)
        return text

    settings = count_settings(job, axes, within)
    page_of(job, axes, settings, named).write(request.path)


# Cliffs


def answer_cliffs(channel: JobChannel, request: CliffsRequest) -> None:
    """Find the cliffs of the pick. Raises ParamError, KernelError, DeviceError, Cancelled."""
    part, _ = channel.middle(channel.input(request.input))
    filter = FILTERS.find(request.filter)
    channel.announce(f"looking for cliffs of {named(filter.variant(request.pick.variant), request.architecture, True)}")
    with limits_of_edits(request.pick):
        found = find_cliffs(filter, request.pick, request.params, part, request.architecture)
    channel.send(CliffsAnswer(request.job, cliffs_dict(found)))


# A block step by step


def answer_block(channel: JobChannel, request: BlockRequest) -> None:
    """Record a block of the pick. Raises ParamError, KernelError, DeviceError, Cancelled."""
    part, _ = channel.middle(channel.input(request.input))
    filter, pick = FILTERS.find(request.filter), request.pick
    variant = filter.variant(pick.variant)
    channel.announce(f"recording a block of {named(variant, request.architecture, True)}")
    job = Job(filter, variant, part, request.params, pick.knobs, request.architecture, pick.edits)
    with limits_of_edits(pick):
        found = block_steps(job, request.launch, request.place, request.other)
    channel.send(BlockAnswer(request.job, found, read_source(found.run.file, pick.edits)))


# Traffic


def answer_traffic(channel: JobChannel, request: TrafficRequest) -> None:
    """Record the traffic of every pick; one that fails does not affect the others. Raises Cancelled."""
    part, start = channel.middle(channel.input(request.input))
    found = []
    for place, pick in enumerate(request.picks):
        with stage(place, len(request.picks)):
            found.append(_of_pick(channel, request, pick, part, start))
    channel.send(TrafficAnswer(request.job, {"start": list(start), "variants": found}))


def _of_pick(
    channel: JobChannel, request: TrafficRequest, pick: Pick, part: Input, start: tuple[int, ...]
) -> dict[str, Any]:
    filter = FILTERS.find(request.filter)
    about = {"variant": pick.variant, "title": filter.variant(pick.variant).title}
    channel.announce(f"recording {named(filter.variant(pick.variant), request.architecture, True)}")
    try:
        run = _run(request, pick, part)
        content = {**about, **traffic_dict(run.traffic())}
    except FOR_ALL:
        raise
    except KernelscopeError as error:
        return {**about, "reason": str(error)}
    if request.place:
        try:
            content["footprint"] = footprint_dict(footprint(run, request.output, _index(run, request, start)))
        except FOR_ALL:
            raise
        except KernelscopeError as error:
            content["footprint_reason"] = str(error)
        try:
            content["warps"] = warps_json(_warps(run, request, start))
        except FOR_ALL:
            raise
        except KernelscopeError as error:
            content["warps_reason"] = str(error)
    return content


def _warps(run: TrafficRun, request: TrafficRequest, start: tuple[int, ...]) -> tuple[WarpAccesses, ...]:
    """Those of the element of the output, or of the input where the output is not on its grid."""
    element = _flat(run.x.shape, request, start)
    shape = tuple(run.plan.outputs[request.output].shape) if request.output in run.plan.outputs else ()
    spatial = len(request.place)
    on_grid = shape[:spatial] == run.x.shape[:spatial]
    return warp_accesses(run, request.output, _flat(shape, request, start) if on_grid else None, element)


def _run(request: TrafficRequest, pick: Pick, part: Input) -> TrafficRun:
    """The run of a pick, which is kept for the next question about it."""
    about = (request.filter, dict(request.params), pick, request.architecture)
    kept = next((run for (input, key), run in _runs if input is part and key == about), None)
    if kept is None:
        filter = FILTERS.find(request.filter)
        variant = filter.variant(pick.variant)
        with limits_of_edits(pick):
            kept = record_traffic(filter, variant, part, request.params, pick.knobs, request.architecture, pick.edits)
        _runs[:] = [((part, about), kept), *_runs[: KEPT - 1]]
    return kept


def _index(run: TrafficRun, request: TrafficRequest, start: tuple[int, ...]) -> int:
    """The flat index of an element of the output, where that has the part's own grid."""
    shape = tuple(run.plan.outputs[request.output].shape) if request.output in run.plan.outputs else ()
    spatial = len(request.place)
    if shape[:spatial] != run.x.shape[:spatial]:
        filter = FILTERS.find(request.filter)
        others = [one.id for one in filter.outputs if one.kind == INPUT_KINDS[filter.accepts].view]
        raise ParamError(
            f"{request.output} is not on the grid of the input, so there is no footprint; see its warp for what reads "
            f"this element{', or choose the output ' + ' or '.join(others) if others else ''}."
        )
    return _flat(shape, request, start)


def _flat(shape: tuple[int, ...], request: TrafficRequest, start: tuple[int, ...]) -> int:
    """The flat index of the place in an array on the grid of the part."""
    spatial = len(request.place)
    place = [at - first for at, first in zip(request.place, start or (0,) * spatial, strict=True)]
    if not all(0 <= at < extent for at, extent in zip(place, shape, strict=False)):
        raise ParamError("The simulated part of the input does not contain this element; choose one inside.")
    index = 0
    for at, extent in zip((*place, *(0,) * (len(shape) - spatial)), shape, strict=True):
        index = index * extent + at
    return index


# The contract


def answer_contract(channel: JobChannel, request: ContractRequest) -> None:
    """Hold an edited kernel to the whole contract. One that does not compile is wrong in no case that ran."""
    filter, pick = FILTERS.find(request.filter), request.pick
    variant = filter.variant(pick.variant)

    def within(what: str) -> AbstractContextManager[Limit]:
        place, count = map(int, re.findall(r"\d+", what)[:2])
        channel.progress(f"checking {what}", place - 1, count)
        return limited(Limit(SECONDS, MEMORY))

    try:
        held = hold(filter, variant, pick.edits, pick.device, within)
    except KernelError as error:
        channel.send(ContractAnswer(request.job, False, "no case ran", str(error)))
        return
    first = held.wrong[-1] if held.reached else next(iter(held.wrong), "")
    channel.send(ContractAnswer(request.job, not held.wrong, held.summary, first))

"""The engine's answers about traffic: what variants fetch of the input, and what made one element of a result."""

from __future__ import annotations

from typing import Any

from gpu_ops.engine.edits import limits_of_edits
from gpu_ops.engine.job_channel import JobChannel
from gpu_ops.engine.kernel_messages import TrafficAnswer, TrafficRequest
from gpu_ops.errors import KernelscopeError, ParamError
from gpu_ops.explaining.traffic.content import footprint_dict, traffic_dict
from gpu_ops.explaining.traffic.footprints import footprint
from gpu_ops.explaining.traffic.recording import TrafficRun, record_traffic
from gpu_ops.filters import FILTERS
from gpu_ops.progress import stage
from gpu_ops.running.attempt import FOR_ALL, named
from gpu_ops.types import Input, Pick

KEPT = 4
"""Runs that are kept, because the footprints of many elements are asked for one after the other."""
_runs: list[tuple[Any, TrafficRun]] = []


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
    return content


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
        raise ParamError(f"{request.output} is not on the grid of the input; choose an output that is.")
    place = [at - first for at, first in zip(request.place, start or (0,) * spatial, strict=True)]
    if not all(0 <= at < extent for at, extent in zip(place, shape, strict=False)):
        raise ParamError("The simulated part of the input does not contain this element; choose one inside.")
    index = 0
    for at, extent in zip((*place, *(0,) * (len(shape) - spatial)), shape, strict=True):
        index = index * extent + at
    return index

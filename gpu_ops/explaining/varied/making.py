"""Counts the X-rays of a page: one for every combination of some values, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from gpu_ops.devices.coalescing import Rule
from gpu_ops.devices.sim.launch import Extent
from gpu_ops.errors import KernelError, KernelscopeError, ParamError
from gpu_ops.explaining.prediction.counting import count_launches
from gpu_ops.explaining.prediction.gpus import Gpu
from gpu_ops.explaining.prediction.model import predict
from gpu_ops.explaining.traffic.recording import record_traffic
from gpu_ops.explaining.varied.axes import Axis
from gpu_ops.explaining.varied.page import Fetched, Setting, Time, VariedPage
from gpu_ops.explaining.xray import xray
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io.steps.apply import title_of
from gpu_ops.params import Values
from gpu_ops.running.affordable import cut_note, part_spans
from gpu_ops.running.attempt import FOR_ALL
from gpu_ops.types import Filter, Input, Pick
from gpu_ops.version import __version__

PAINTED = 1 << 16
"""The most samples of an input whose traffic is painted: recording takes about twice as long as counting."""
SIDE, STRIP = 128, 512
"""The most pixels of a picture of an image along an axis, and of a signal."""

UNKNOWN = (
    "Times that were measured: a simulated GPU has no clock, and a predicted time is an interval. What caches and the "
    "scheduler of a real GPU do. Other values, inputs and GPUs than those counted here: the page holds recorded counts "
    "and simulates nothing itself."
)


@dataclass(frozen=True, eq=False)
class Job:
    """What a page counts: `picks` of a filter with the knobs that stay, whatever their devices, on the `part` of an
    input that a simulated GPU runs, and times predicted for `gpus` on the `whole` of it. `params` are the parameters
    that stay."""

    filter: Filter
    picks: Sequence[Pick]
    params: Values
    part: Input
    whole: Input
    architecture: str
    gpus: Sequence[Gpu] = ()
    counters: Extent = "full"
    coalescing: Rule = "today"

    @property
    def paints(self) -> bool:
        """Whether the traffic of each combination is painted."""
        return self.part.kind in ("image", "signal") and self.part.array.size <= PAINTED and self.counters == "full"


Within = Callable[[Pick, int, int], AbstractContextManager[object]]
"""Inside `within(pick, place, count)` a combination is counted, which is number `place` (from 0) of `count`: it
reports progress and sets limits."""


def count_settings(job: Job, axes: Sequence[Axis], within: Within) -> tuple[Setting, ...]:
    """Count every combination, the last axis fastest. What does not depend on a knob, because its variant has none of
    that name, is counted once. Raises ParamError where no combination can be counted, DeviceError, Cancelled."""
    picks = {pick.variant: pick for pick in job.picks}
    params = {param.name for param in job.filter.params}
    points = list(product(*(axis.values for axis in axes)))
    counted, settings = dict[str, Setting](), list[Setting]()
    for place, (id, *values) in enumerate(points):
        variant, chosen = job.filter.variant(id), dict(zip((a.name for a in axes[1:]), values, strict=True))
        knobs = {knob.name for knob in variant.knobs}
        own = {name: value for name, value in chosen.items() if name in params | knobs}
        key = repr((id, own))
        if key not in counted:
            pick = replace(picks[id], knobs={**picks[id].knobs, **{n: v for n, v in own.items() if n in knobs}})
            with within(pick, place, len(points)):
                found = _counted(job, pick, {**job.params, **{n: v for n, v in own.items() if n in params}})
            counted[key] = replace(found, edited=bool(pick.edits))
        idle = tuple(name for name in chosen if name not in own)
        settings.append(replace(counted[key], idle=idle))
    if all(one.xray is None for one in settings):
        raise ParamError(f"No combination can be counted. The first one: {settings[0].reason}")
    return tuple(settings)


def _counted(job: Job, pick: Pick, params: Values) -> Setting:
    variant = job.filter.variant(pick.variant)
    about = (job.filter, variant, job.part, params, pick.knobs, job.architecture, pick.edits)
    try:
        found = xray(*about, counters=job.counters, coalescing=job.coalescing, code=True)
    except FOR_ALL:
        raise
    except KernelError as error:
        return Setting(reason=str(error), findings=tuple(f"{f.severity}: {f}" for f in error.findings))
    except KernelscopeError as error:
        return Setting(reason=str(error))
    fetched, reason = _traffic(job, about) if job.paints else (None, "")
    return Setting(found, reason, times=tuple(_time(job, pick, params, gpu) for gpu in job.gpus), fetched=fetched)


def _traffic(job: Job, about: tuple[Any, ...]) -> tuple[Fetched | None, str]:
    """The traffic of a combination that was counted, or the reason why it was not recorded: the counts stay valid."""
    try:
        return _fetched(record_traffic(*about).traffic().painted("sectors"), job.part), ""
    except FOR_ALL:
        raise
    except KernelscopeError as error:
        return None, f"The traffic was not recorded: {error}"


def _time(job: Job, pick: Pick, params: Values, gpu: Gpu) -> Time:
    """The time that is predicted for a GPU, or the reason why there is none."""
    variant = job.filter.variant(pick.variant)
    try:
        launches = count_launches(job.filter, variant, job.whole, params, pick.knobs, gpu, pick.edits)
    except FOR_ALL:
        raise
    except KernelscopeError as error:
        return Time(gpu.model, reason=str(error))
    found = predict(launches, gpu)
    if found.unknown:
        return Time(gpu.model, reason=found.unknown)
    return Time(gpu.model, found.low, found.high, found.limit)


def _fetched(counts: np.ndarray[Any, Any], input: Input) -> Fetched:
    """How often the sectors of the samples are fetched, the channels together, as means of a coarser grid."""
    rank = input.meta.of_kind.rank
    each = counts.reshape(*counts.shape[:rank], -1).max(axis=-1).astype(np.float64)
    least, most = int(each.min()), int(each.max())
    for axis in range(rank):
        starts = _starts(each.shape[axis], STRIP if rank == 1 else SIDE)
        sums = np.add.reduceat(each, starts, axis=axis)
        widths = np.diff([*starts, each.shape[axis]])
        each = sums / widths.reshape([-1 if k == axis else 1 for k in range(rank)])
    return Fetched(np.atleast_2d(each), least, most)


def _starts(extent: int, most: int) -> list[int]:
    """Where at most `most` groups of about the same size begin along an axis."""
    groups = min(extent, most)
    return [extent * k // groups for k in range(groups)]


def page_of(
    job: Job, axes: Sequence[Axis], settings: Sequence[Setting], named: Callable[[str], str] = str
) -> VariedPage:
    """The page. `named` gives a text the names of the user's own files."""
    kind = INPUT_KINDS[job.whole.kind]
    stays = {**job.params, **{f"{k} of {p.variant}": v for p in job.picks for k, v in p.knobs.items()}}
    fixed = {name: value for name, value in stays.items() if name not in {axis.name for axis in axes}}
    edited = [f"{file} of {pick.variant}" for pick in job.picks for file in pick.edits]
    facts = {
        "program": f"Kernelscope {__version__}",
        "simulated GPU": job.architecture,
        "input": f"{title_of(job.whole)}, {kind.size_text(job.whole.array.shape)} {job.whole.array.dtype}",
        "counted": _extent(job),
        "kernels of your own": named(", ".join(edited)),
        "other values": ", ".join(f"{name} {value}" for name, value in fixed.items()),
        "not known here": UNKNOWN,
    }
    title = f"X-ray of {job.filter.title}: {title_of(job.whole)}"
    return VariedPage(title, {name: text for name, text in facts.items() if text}, axes, settings, named)


def _extent(job: Job) -> str:
    """Which part of the input was counted, and how, in words."""
    whole = job.part is job.whole
    part = "all of the input" if whole else cut_note(job.whole, part_spans(job.whole))
    return part + ("; in a sample of the blocks, scaled to all" if job.counters == "sample" else "")

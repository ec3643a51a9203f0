"""Recreates inputs from their origin, also results: their filter runs on its input again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_ops.device_names import is_simulated
from gpu_ops.errors import InputError, KernelError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io import origins
from gpu_ops.io.files import LIMIT
from gpu_ops.io.inputs import make_input
from gpu_ops.output_kinds import OUTPUT_KINDS, Array
from gpu_ops.run_key import with_tuples
from gpu_ops.running.affordable import cut_out, exact_crop, part_spans
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Facts, Input, Pick, Run

NEEDED = ("output", "variant", "device", "of")
"""The entries of the origin of a result in addition to its filter."""


def from_origin(origin: Mapping[str, Any], *, limit: int = LIMIT) -> Input:
    """The Input that `origin` describes: a file, a sample, or a result of a filter, recomputed on the same device from
    its own origin; then its steps. `limit` is as in load().

    Raises InputError when a file has changed since, when the input comes from an array or an edited kernel, or for an
    unknown step; DeviceError for a missing device, KernelError where the variant fails.
    """
    return origins.from_origin(origin, limit=limit, result=lambda own: _result(own, limit))


def _result(origin: Mapping[str, Any], limit: int) -> Input:
    """The result that `origin` describes, before its steps."""
    what = plain(origin["result"], 40)
    missing = [name for name in NEEDED if name not in origin]
    if missing or not isinstance(origin.get("of"), Mapping):
        raise InputError(
            f"This origin of a result of {what} lacks {', '.join(missing or ['of'])}; save the input again."
        )
    if origin.get("edits"):
        raise InputError(
            f"This input is a result of {what} by a kernel of your own, which its origin does not keep; save it to a "
            "file first."
        )
    whole = from_origin(origin["of"], limit=limit)
    filter = FILTERS.find(str(origin["result"]), whole.kind)
    pick = Pick(str(origin["variant"]), str(origin["device"]), with_tuples(origin.get("knobs", {})))
    start, part, place = tuple(origin.get("start", ())), whole, tuple[int, ...]()
    if start and is_simulated(pick.device):
        spans = tuple((int(a), int(b)) for a, b in origin.get("part", ())) or part_spans(whole)  # before: the centre
        part, place = cut_out(whole, spans), tuple(a for a, _ in spans)
    experiment = Experiment(filter.id, part, with_tuples(origin.get("params", {})), (pick,), "none", checks="off")
    *_, run = run_experiment(experiment)
    if run.failure or origin["output"] not in run.outputs:
        why = run.failure or f"it has no output {plain(origin['output'], 40)}"
        raise KernelError(f"{what} by {pick.variant} on {pick.device} cannot be made again: {why}")
    array, begins = _shown(run, str(origin["output"]), whole, part, place)
    if begins != start:
        raise InputError(
            f"This origin of a result of {what} begins at {list(start)}, and now it would at {list(begins)}."
        )
    return _input(origin, run, array, whole)


def _shown(run: Run, output: str, whole: Input, part: Input, place: tuple[int, ...]) -> tuple[Array, tuple[int, ...]]:
    """The output as the window has it, and where it begins: of a part of the input, the region that equals the
    whole's."""
    array = run.outputs[output]
    task = Task.of(part.meta, run.params, run.pick.knobs)
    region = exact_crop(FILTERS.find(run.filter), task, whole.array.shape, place)
    rank = len(region.place)
    alike = array.shape[:rank] == part.array.shape[:rank]
    return np.array(array[region.cut if alike else ()], order="C"), region.place


def _input(origin: Mapping[str, Any], run: Run, array: Array, whole: Input) -> Input:
    """The array as an input with the same name, rate and pixel size as before."""
    kind = FILTERS.find(run.filter).output(origin["output"]).kind
    takers = [k.id for k in INPUT_KINDS.values() if k.view == kind and k.sample]
    if not takers:
        raise InputError(
            f"The output {plain(origin['output'], 40)} of {run.filter} is {OUTPUT_KINDS[kind].title}, no input."
        )
    rate = whole.rate if OUTPUT_KINDS[kind].heard else None
    facts = replace(whole.facts, frames=1) if array.shape[:2] == whole.array.shape[:2] else Facts()
    bare = {key: value for key, value in origin.items() if key != "steps"}
    return make_input(array, takers[0], f"{run.filter} of {whole.name}", bare, rate, "keep", facts=facts)

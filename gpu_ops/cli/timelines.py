"""Timelines of variants: which steps overlap, as text, JSON, and a trace for Perfetto."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from gpu_ops.batch.choosing import knobs_of
from gpu_ops.cli import streams
from gpu_ops.cli.figures import check_picture
from gpu_ops.cli.inputs import check_flags, current_ids, make_job
from gpu_ops.cli.measure import emit, job_title
from gpu_ops.cli.models import chosen_device, queues_of, rates_of
from gpu_ops.cli.tables import align, seconds
from gpu_ops.errors import ParamError, counted, plain
from gpu_ops.explaining.blocked import any_timeline
from gpu_ops.explaining.spans import ENGINES, MARKS, Timeline, check_text, rates_text, timelines_json, traces
from gpu_ops.explaining.timeline import TimelineJob
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io import replacing
from gpu_ops.io.steps.apply import title_of
from gpu_ops.running.runner import runs_on
from gpu_ops.types import Filter, Variant

BASES = {
    "measured": "Measured by events around each step; the time in all without them.",
    "predicted": "Predicted by a model of the queues {where}.",
    "order": "The order alone, by a model of the queues: every step is as long as the others.",
}


def run(args: argparse.Namespace) -> int:
    """Draw the timeline of each named variant."""
    input, filter, values, params = make_job(args)
    device = chosen_device(args)
    if args.picture is not None:
        check_picture(args)
    variants = [filter.variant(id) for id in current_ids(args, filter, args.variants, input.meta, values)]
    variants = variants or _default(filter, device)
    check_flags(args, filter, variants, {})
    found = []
    for variant in variants:
        if not runs_on(variant, device):
            raise ParamError(f"{filter.id} {variant.id} does not run on {device}; name another --device.")
        how = knobs_of(variant, values), rates_of(args), queues_of(args, args.launch_blocking)
        found.append(any_timeline(TimelineJob(filter, variant, device, input, params, *how)))
    if args.picture is not None:
        args.draw(tuple(found), args.picture)
        streams.say(f"The picture is in {plain(args.picture)}.")
    if args.trace is not None:
        with replacing(Path(args.trace)) as file:
            file.write(json.dumps(traces(found)).encode())
        streams.say(f"The trace is in {plain(args.trace)}; ui.perfetto.dev opens it.")
    if args.json is not None:
        emit(args.json, timelines_json(found))
    if args.json != "-":
        size = INPUT_KINDS[input.kind].size_text(input.array.shape)
        print(job_title(filter.id, f"{title_of(input)}, {size} {input.array.dtype.name}", params))
        _print(found, args.chart_width)
    return 0


def _default(filter: Filter, device: str) -> list[Variant]:
    """The picked variants that run on the device, else the last variant that does."""
    there = [v for v in filter.variants if runs_on(v, device)]
    if not there:
        raise ParamError(f"No variant of {filter.id} runs on {device}; name another --device.")
    return [v for v in there if v.id in filter.picked] or there[-1:]


def _print(found: list[Timeline], width: int) -> None:
    for one in found:
        print(f"\n{one.variant} on {one.device}")
        print("\n".join(f"  {line}" for line in one.chart(width)))
    print(f"\n  {MARKS}\n")
    used = [engine for engine in ENGINES if any(engine in one.busy for one in found)]
    lines = [["variant", "in all", *(ENGINES[e] for e in used), "overlap"]]
    for one in found:
        busy = [_time(one, one.busy[e]) if e in one.busy else "" for e in used]
        lines.append([one.variant, _time(one, one.elapsed), *busy, f"{one.overlap:.2f}"])
    print(align(lines, frozenset(range(1, len(lines[0])))))
    print("Overlap: the engine that is busy longest, divided by the time from the first step to the end of the last.")
    for text in dict.fromkeys(filter(None, map(check_text, found))):
        print(text)
    if found[0].launch_blocking:
        print("The host waited for each kernel: CUDA_LAUNCH_BLOCKING was 1.")
    print(BASES[found[0].basis].format(where=rates_text(found[0].rates) if found[0].rates else ""))


def _time(one: Timeline, value: float) -> str:
    return counted(round(value), "step") if one.basis == "order" else seconds(value)

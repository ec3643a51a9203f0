"""Timelines of variants: which steps overlap, as text, JSON, and a trace for Perfetto."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from gpu_ops.batch.choosing import knobs_of
from gpu_ops.cli.figures import check_picture
from gpu_ops.cli.inputs import check_flags, make_job, todays_ids
from gpu_ops.cli.measure import emit, job_title
from gpu_ops.cli.tables import align, seconds
from gpu_ops.device_names import is_simulated
from gpu_ops.devices import device_statuses
from gpu_ops.devices.sim.streams.queues import Queues
from gpu_ops.errors import ParamError, counted
from gpu_ops.explaining.spans import ENGINES, MARKS, Rates, Timeline, timelines_json, traces
from gpu_ops.explaining.timeline import timeline
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io import replacing
from gpu_ops.io.steps.apply import title_of
from gpu_ops.running.runner import runs_on
from gpu_ops.types import Filter, Variant

RATES = ("h2d", "d2h", "kernel_rate", "host_rate", "latency")
BASES = {
    "measured": "Measured by events around each step; the time in all without them.",
    "predicted": "Predicted from the given rates by a model of the queues.",
    "order": "The order alone, by a model of the queues: every step is as long as the others.",
}


def run(args: argparse.Namespace) -> int:
    """Draw the timeline of each named variant."""
    input, filter, values, params = make_job(args)
    gpus = [s.name for s in device_statuses() if s.available and s.kind == "cuda"]
    device = args.device or (gpus or ["sim"])[0]
    _check_model(args, device)
    if args.picture is not None:
        check_picture(args)
    variants = [filter.variant(id) for id in todays_ids(args, filter, args.variants, input.meta, values)]
    variants = variants or _default(filter, device)
    check_flags(args, filter, variants, {})
    found = []
    for variant in variants:
        if not runs_on(variant, device):
            raise ParamError(f"{filter.id} {variant.id} does not run on {device}; name another --device.")
        how = knobs_of(variant, values), _rates(args), Queues(args.copy_engines, args.in_order, args.launch_blocking)
        found.append(timeline(filter, variant, device, input, params, *how))
    if args.picture is not None:
        args.draw(tuple(found), args.picture)
    if args.trace is not None:
        with replacing(Path(args.trace)) as file:
            file.write(json.dumps(traces(found)).encode())
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


def _check_model(args: argparse.Namespace, device: str) -> None:
    """Raises ParamError for options of the model on a device that is measured."""
    flags = {
        "--in-order": args.in_order,
        "--launch-blocking": args.launch_blocking,
        "--copy-engines": args.copy_engines != 2,
        **{f"--{name.replace('_', '-')}": getattr(args, name) is not None for name in RATES},
    }
    given = [flag for flag, chosen in flags.items() if chosen]
    if given and not is_simulated(device):
        raise ParamError(
            f"The timeline of {device} is measured, and {', '.join(given)} is of the model of a GPU's queues; "
            "leave it out, or name --device sim."
        )


def _rates(args: argparse.Namespace) -> Rates | None:
    if all(getattr(args, name) is None for name in RATES):
        return None
    given = args.h2d, args.d2h, args.kernel_rate
    if any(rate is None for rate in given):
        raise ParamError("A prediction needs --h2d, --d2h and --kernel-rate, each in GB/s; give all three.")
    h2d, d2h, kernel = (rate * 1e9 for rate in given)
    more = {"host": args.host_rate and args.host_rate * 1e9, "latency": args.latency and args.latency * 1e-6}
    return Rates(h2d, d2h, kernel, **{name: value for name, value in more.items() if value is not None})


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
    print(BASES[found[0].basis])


def _time(one: Timeline, value: float) -> str:
    return counted(round(value), "step") if one.basis == "order" else seconds(value)

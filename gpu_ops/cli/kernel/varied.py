"""xray --html: the X-rays for every combination of some values, as one HTML file with a slider for each parameter."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpu_ops.batch.choosing import knobs_of
from gpu_ops.cli import streams
from gpu_ops.cli.benches import axis_of
from gpu_ops.cli.limits import within_limits
from gpu_ops.errors import FINE, ParamError, counted, plain
from gpu_ops.explaining.prediction.gpus import find_gpu
from gpu_ops.explaining.varied.axes import MOST, axes_of
from gpu_ops.explaining.varied.making import Job, count_settings, page_of
from gpu_ops.own_kernels.sources import read_kernel, with_own_name
from gpu_ops.params import check_values
from gpu_ops.types import Filter, Input, Pick, Variant


def add_page(parser: argparse.ArgumentParser) -> None:
    """The flags of a page."""
    group = parser.add_argument_group("a page for the browser")
    help = "write one HTML file in which sliders choose the values of --over; it needs no network and no other file"
    group.add_argument("--html", metavar="FILE", help=help)
    help = f"with --html: a parameter or knob and its values; several are combined, up to {MOST} combinations"
    group.add_argument("--over", action="append", default=[], metavar="NAME=V1,V2,…", help=help)


def check_page(args: argparse.Namespace) -> None:
    """Raises ParamError for flags that do not go together."""
    if args.over and not args.html:
        raise ParamError("--over is for --html FILE; name the file, or give each parameter one value.")
    if args.html and (args.json or args.gate or args.show or args.ncu or args.cliffs or args.mend):
        raise ParamError("--html writes a page of its own; leave out --json, --gate, --show, --ncu, --cliffs, --mend.")
    if args.html and args.kernel and len(args.variants) > 1:
        raise ParamError("--kernel replaces the first kernel of one variant; name one variant.")


def write_page(
    args: argparse.Namespace,
    filter: Filter,
    variants: Sequence[Variant],
    inputs: tuple[Input, Input],
    values: Mapping[str, Any],
) -> int:
    """Count every combination and write the page; `values` are those of the flags. `inputs` are the whole input and the
    part of it that is simulated. Raises KernelscopeError."""
    axes = axes_of(filter, [v.id for v in variants], _over(args, values))
    edits = {variants[0].kernels[0]: read_kernel(args.kernel)} if args.kernel else {}
    picks = [Pick(v.id, "sim", knobs_of(v, values), edits) for v in variants]
    names = {p.name for p in filter.params}
    params = check_values(filter.params, {k: v for k, v in values.items() if k in names}, filter.id)
    gpus = [find_gpu(name) for name in args.predict]
    how = {"counters": args.counters, "coalescing": args.coalescing}
    job = Job(filter, picks, params, inputs[1], inputs[0], args.gpu, gpus, **how)

    @contextmanager
    def within(pick: Pick, place: int, count: int) -> Iterator[None]:
        streams.rewrite(f"{place + 1} of {count} combinations")
        with within_limits(args, f"{pick.variant} on a simulated {args.gpu}"):
            yield

    def named(text: str) -> str:
        return with_own_name(text, variants[0].kernels[0], Path(args.kernel).name) if args.kernel else text

    try:
        settings = count_settings(job, axes, within)
    finally:
        streams.rewrite("")
    size = page_of(job, axes, settings, named).write(args.html)
    found = sum(one.xray is not None for one in settings)
    refused = f", {len(settings) - found} with the reason why not" if found < len(settings) else ""
    about = f"{counted(max(1, size >> 10), 'KiB', 'KiB')}, {counted(found, 'combination')} counted{refused}"
    print(f"{plain(args.html)}: {about}")
    return FINE


def _over(args: argparse.Namespace, values: Mapping[str, Any]) -> dict[str, list[str]]:
    over: dict[str, list[str]] = {}
    for name, items in map(axis_of, args.over):
        if name in values or name in over:
            raise ParamError(f"{name} is given twice; give all of its values in one --over {name}=V1,V2,…")
        over[name] = items
    return over

"""xray --html: the X-rays for every combination of some values, as one HTML file with a slider for each parameter."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from gpu_ops.batch.choosing import knobs_of
from gpu_ops.cli import streams
from gpu_ops.cli.benches import axis_of
from gpu_ops.cli.limits import within_limits
from gpu_ops.errors import FINE, KernelError, KernelscopeError, ParamError, counted, plain
from gpu_ops.explaining.varied.page import Axis, Setting, VariedPage
from gpu_ops.explaining.xray import XRay
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io.steps.apply import title_of
from gpu_ops.params import Param, check_values
from gpu_ops.types import Filter, Input, Variant
from gpu_ops.version import __version__

MOST = 400
"""The most combinations of a page."""
SECONDS = 300.0
"""Seconds after which no further combination is counted."""
UNKNOWN = (
    "Times: a simulated GPU has no clock. What caches and a real GPU's scheduler do. Other values, inputs and GPUs than "
    "those counted here: the page holds recorded counts and simulates nothing itself."
)
Count = Callable[[Variant, Mapping[str, Any], Mapping[str, Any]], XRay]


def add_page(parser: argparse.ArgumentParser) -> None:
    """The flags of a page."""
    group = parser.add_argument_group("a page for the browser")
    help = "write one HTML file in which sliders choose the values of --over; it needs nothing else"
    group.add_argument("--html", metavar="FILE", help=help)
    help = f"with --html: a parameter or knob and its values; several are combined, up to {MOST} counts in all"
    group.add_argument("--over", action="append", default=[], metavar="NAME=V1,V2,…", help=help)


def write_page(
    args: argparse.Namespace,
    filter: Filter,
    variants: Sequence[Variant],
    part: Input,
    note: str,
    values: Mapping[str, Any],
) -> int:
    """Count every combination and write the page. `values` are those of the flags. Raises KernelscopeError."""
    axes = _axes(args, filter, variants, values)
    if (many := prod(len(a.values) for a in axes)) > MOST:
        raise ParamError(f"--over makes {many} combinations, and a page holds {MOST}; name fewer values.")
    settings, until, skipped = list[Setting](), time.monotonic() + SECONDS, 0
    for place, point in enumerate(product(*(a.values for a in axes)), start=1):
        streams.rewrite(f"{place} of {many} combinations")
        if time.monotonic() > until:
            skipped += 1
            settings.append(Setting(reason=f"Not counted: the {SECONDS:g} s for this page were over."))
            continue
        named = dict(zip((a.name for a in axes), point, strict=True))
        settings.append(_setting(args, filter, part, {**values, **named}))
    streams.rewrite("")
    found = [one for one in settings if one.xray is not None]
    if not found:
        raise ParamError(f"No combination of --over can be counted: {settings[0].reason}")
    start = _start(axes, settings)
    page = VariedPage(f"X-ray of {filter.title}: {title_of(part)}", _facts(args, part, note), axes, settings, start)
    page.write(args.html)
    size = counted(max(1, Path(args.html).stat().st_size >> 10), "KiB", "KiB")
    print(
        f"{plain(args.html)}: {size}, {counted(len(found), 'combination')} counted, {many - len(found)} with a reason"
    )
    if skipped:
        streams.say(f"{counted(skipped, 'combination')} of {many} had no time; name fewer values or a smaller input.")
    return FINE


def _axes(
    args: argparse.Namespace, filter: Filter, variants: Sequence[Variant], values: Mapping[str, Any]
) -> tuple[Axis, ...]:
    axes = [Axis("variant", tuple(v.id for v in variants), help="The kernel")]
    for text in args.over:
        name, items = axis_of(text)
        if name in values or name in {a.name for a in axes}:
            raise ParamError(f"{name} is given twice; give all of its values in one --over {name}=V1,V2,…")
        param = _param(filter, variants, name)
        axes.append(Axis(name, tuple(dict.fromkeys(_checked(param, v) for v in items)), param.unit, param.help))
    return tuple(axes)


def _param(filter: Filter, variants: Sequence[Variant], name: str) -> Param:
    known = {p.name: p for v in reversed(variants) for p in v.knobs} | {p.name: p for p in filter.params}
    if name not in known:
        raise ParamError(f"--over {plain(name, 60)}: not a parameter of {filter.id}; it has {', '.join(known)}.")
    return known[name]


def _checked(param: Param, text: str) -> Any:
    """The value in the type of the parameter. One outside its limits stays: its setting has the refusal."""
    try:
        return param.check(text)
    except ParamError:
        try:
            return type(param.default)(text) if isinstance(param.default, int | float) else text
        except ValueError:
            return text


def _setting(args: argparse.Namespace, filter: Filter, part: Input, values: Mapping[str, Any]) -> Setting:
    from gpu_ops.cli.xray import count  # which calls this module

    variant = filter.variant(values["variant"])
    names, knobs = {p.name for p in filter.params}, {k.name for k in variant.knobs}
    over = [axis_of(text)[0] for text in args.over]
    if strange := [name for name in over if name not in names | knobs]:
        return Setting(reason=f"{variant.id} has no {', '.join(strange)}; its knobs are {', '.join(knobs) or 'none'}.")
    try:
        params = check_values(filter.params, {k: v for k, v in values.items() if k in names}, filter.id)
        with within_limits(args, f"{variant.id} on a simulated {args.gpu}"):
            return Setting(count(args, filter, variant, part, params, knobs_of(variant, values)))
    except KernelError as error:
        return Setting(reason=str(error), findings=tuple(f"{f.severity}: {f}" for f in error.findings))
    except KernelscopeError as error:
        return Setting(reason=str(error))


def _start(axes: Sequence[Axis], settings: Sequence[Setting]) -> list[int]:
    """The places of the values of the first combination that was counted."""
    places = product(*(range(len(a.values)) for a in axes))
    return next(list(place) for place, one in zip(places, settings, strict=True) if one.xray is not None)


def _facts(args: argparse.Namespace, part: Input, note: str) -> dict[str, str]:
    size = f"{INPUT_KINDS[part.kind].size_text(part.array.shape)} {part.array.dtype}"
    facts = {
        "program": f"Kernelscope {__version__}: kernelscope xray --html",
        "simulated GPU": args.gpu,
        "input": f"{title_of(part)}, {size}",
        "counted": note or "all blocks",
        "not known here": UNKNOWN,
    }
    return facts

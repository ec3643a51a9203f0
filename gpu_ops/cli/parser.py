"""Arguments. A filter's parameters and its variants' knobs become flags; nothing is declared twice."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from gpu_ops import __version__
from gpu_ops.cli import (
    batch,
    benches,
    compare,
    figures,
    info,
    measure,
    models,
    outputs,
    page,
    parts,
    result_tables,
    timelines,
    transfers,
    xray,
)
from gpu_ops.cli.kernel import predict, varied
from gpu_ops.cli.kernel.listing import add_show
from gpu_ops.cli.learning import add_learning
from gpu_ops.cli.limits import add_limits
from gpu_ops.cli.own import check as own_check
from gpu_ops.cli.own import xray as own_xray
from gpu_ops.cli.remote import flags as remote_flags
from gpu_ops.cli.streams import Parser
from gpu_ops.devices.coalescing import RULES
from gpu_ops.devices.compiler import ARCHITECTURES
from gpu_ops.errors import ParamError, plain
from gpu_ops.explaining.transfers.catalogue import FAMILY
from gpu_ops.filters import FILTERS
from gpu_ops.io import CHOICES, NOISE, SAMPLES, STEPS
from gpu_ops.io.inputs import FILE_KINDS, NONFINITE
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.params import Param
from gpu_ops.report.files import target_of
from gpu_ops.types import DTYPES, Filter

MEASURING = {
    "run": "run a filter, verify the results and save one, or one of each of many files",
    "bench": "time every variant, verified, beside its roof",
    "sweep": "bench over a range of sizes, parameters or knobs, or with --device sim counts",
}


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parsed arguments; `command` is the function to call with them."""
    parser = Parser(
        prog="kernelscope", description="Runs, times and explains GPU kernel variants of image and signal filters."
    )
    parser.add_argument("--version", action="version", version=f"kernelscope {__version__}")
    commands = parser.add_subparsers(dest="name", required=True, metavar="COMMAND")
    for name, help in MEASURING.items():
        _add_measuring(commands.add_parser(name, help=help, description=help), name, _named_filters(argv))
    _add_xray(commands, _named_filters(argv), own_xray.is_own(list(argv)))
    _add_predict(commands, _named_filters(argv))
    own_check.add_check(commands)
    add_learning(commands)
    moving = FILTERS.named(FAMILY)
    _add_timeline(commands, _named_filters(argv, moving))
    _add_transfers(commands, moving)
    _add_page(commands, _named_filters(argv))
    _add_info(commands)
    args, unknown = parser.parse_known_args(_filter_first(argv))
    if unknown:
        commands.choices[args.name].error(f"unrecognized arguments: {' '.join(unknown)}")
    if args.name == "run":
        _settle_run(args)
    remote_flags.check_files(args)
    if args.json is not None and args.json != "-":
        target_of(args.json)  # raises before anything is computed
    return args


def _filter_first(argv: Sequence[str]) -> list[str]:
    """The arguments of run with the filter in front, because --input takes several names and would take the filter as
    one."""
    names = {name for f in FILTERS for name in (f.id, f.family)}
    for place in range(2, len(argv) if argv[:1] == ["run"] and argv[1:2] and argv[1] not in names else 0):
        if argv[place] in names and not argv[place - 1].startswith("-"):
            return [argv[0], argv[place], *argv[1:place], *argv[place + 1 :]]
    return list(argv)


def _settle_run(args: argparse.Namespace) -> None:
    """Choose the batch command for many files. Raises ParamError for flags that are not allowed together."""
    batch.check_use(args)
    if args.output_dir is not None:
        args.command = batch.run
    elif args.input is not None and len(args.input) > 1:
        raise ParamError("--input names several files; name a folder for their results with --output-dir.")
    elif args.input is not None:
        args.input = args.input[0]


def _budget(text: str) -> float:
    with suppress(ValueError):
        seconds = float(text)
        if 0 <= seconds < math.inf:
            return seconds
    raise argparse.ArgumentTypeError(f"must be a number of seconds from 0 on, not {plain(text, 60)!r}")


def _named_filters(argv: Sequence[str], others: Iterable[Filter] = FILTERS) -> list[Filter]:
    """The filters that the arguments name, whose parameters become flags; the others before one is named."""
    matches = [f for f in FILTERS if f.id in argv[1:] or f.family in argv[1:]]
    return matches or list(others)


def _add_measuring(parser: argparse.ArgumentParser, name: str, filters: list[Filter]) -> None:
    parser.set_defaults(command={"run": measure.run, "bench": benches.bench, "sweep": benches.sweep}[name])
    families = ", ".join(FILTERS.families)
    parser.add_argument("filter", metavar="FILTER", help=f"one of {families}, or a filter's id (kernelscope list)")
    _add_input(parser, many=name == "run")
    choose = parser.add_argument_group("what runs")
    where = "cpu, cuda:N, gpu-host/cuda:N (default: all available)"
    named: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
    choose.add_argument("--variant", metavar="ID", help="variants (default: see above)", **named)
    choose.add_argument("--device", metavar="DEVICE", help=where, **named)
    remote_flags.add_arguments(choose)
    _add_values(parser, filters)
    parser.add_argument("--json", metavar="FILE", help="write the report here; - for standard output")
    if name == "run":
        _add_results(parser)
        return
    parser.add_argument(
        "--mode", choices=("stream", "cold", "hot"), default="stream", help="state of the caches: stream, cold or hot"
    )
    parser.add_argument("--quick", action="store_true", help="fewer samples, as in live use")
    parser.add_argument("--budget", type=_budget, metavar="SECONDS", help="stop after this long; --json FILE resumes")
    parts.add_arguments(parser)
    parser.add_argument("--baseline", default="serial", metavar="ID", help="speed-ups are against it (default: serial)")
    if name == "sweep":
        _add_sweep(parser)


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    """What varies, and what is shown next to times or in their place."""
    parser.add_argument(
        "--over",
        action="append",
        required=True,
        metavar="NAME=V1,V2,…",
        help="a parameter, knob, sample option or dtype and its values; several are combined",
    )
    parser.add_argument(
        "--gpu",
        nargs="+",
        action="extend",
        metavar="SM",
        default=[],
        help="theoretical occupancy at each point on these GPUs, such as sm_90, here or not (default: those timed)",
    )
    parser.add_argument(
        "--counter",
        nargs="+",
        action="extend",
        metavar="ID",
        default=[],
        help="what a sweep with --device sim counts (default: sectors_per_load, bank_conflicts, bytes_per_sample "
        "and what explains the filter)",
    )


def _add_results(parser: argparse.ArgumentParser) -> None:
    """Where results go, and which results."""
    formats = " ".join(dict.fromkeys(s for kind in OUTPUT_KINDS.values() for s in kind.formats))
    parser.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help=f"save an output, by default the first ({formats})",
    )
    parser.add_argument(
        "--frames",
        choices=("all", "merged"),
        help="over all frames of a stack: the results become one .npy or .tif, or one result (histogram, reduce); on a "
        "GPU three at a time, in pinned memory of the host",
    )
    parser.add_argument(
        "--kernel", metavar="FILE.cu", help="test this kernel against the contract instead of a variant's first"
    )
    outputs.add_saving(parser)
    batch.add_arguments(parser)
    parts.add_arguments(add_limits(parser, "a case of --kernel", ", a quarter of the free memory for a file in bands"))


def _add_input(parser: argparse.ArgumentParser, many: bool = False) -> None:
    """The flags of an input, or with `many` of several files."""
    group = parser.add_argument_group("input (default: a shipped sample)")
    source = group.add_mutually_exclusive_group()
    count: dict[str, Any] = {"nargs": "+", "action": "extend"} if many else {}
    source.add_argument(
        "--input",
        metavar="FILE",
        **count,
        help="an image (.png .tif .jpg …), array (.npy), sound (.wav …), text, video, or a folder of images",
    )
    source.add_argument(
        "--sample", choices=[s.id for s in SAMPLES], metavar="NAME", help=", ".join(s.id for s in SAMPLES)
    )
    group.add_argument("--dtype", choices=DTYPES, help="convert the input, or generate it in this type")
    group.add_argument("--kind", choices=FILE_KINDS, help="read an array as this, such as (N, C) as a signal")
    group.add_argument("--limit", type=int, metavar="N", help="values that a file may hold (default 2^30)")
    group.add_argument("--nonfinite", choices=NONFINITE, help="NaN and infinities (default: refuse)")
    group.add_argument(
        "--step",
        action="append",
        default=[],
        metavar="'ID NAME=VALUE …'",
        help="a step before the filter, such as 'crop start=10,20 shape=100,200'; several follow one another, "
        f"noise comes last ({', '.join(step.id for step in STEPS)})",
    )
    _add_flags(group, NOISE)
    _add_flags(group, (*CHOICES, *(p for s in SAMPLES for p in s.params if p.name != "dtype")))


def _add_values(parser: argparse.ArgumentParser, filters: list[Filter], knobs: bool = True) -> None:
    """The filters' parameters, their presets, and the knobs of their variants."""
    group, params = parser.add_argument_group("parameters"), [p for f in filters for p in f.params]
    own, named = [k for f in filters for v in f.variants for k in v.knobs if knobs], {p.name for p in params}
    _add_flags(group, (*params, *(k for k in own if k.name in named)))  # a name may be a knob of another filter
    names = ", ".join(dict.fromkeys(name for f in filters for name in f.presets))
    if names:
        group.add_argument(
            "--preset", metavar="NAME", help=f"a named set of parameters: {names}; single flags take precedence"
        )
    if knobs:
        _add_flags(parser.add_argument_group("knobs"), (k for k in own if k.name not in named))


def _add_flags(group: argparse._ActionsContainer, params: Iterable[Param]) -> None:
    """One flag per name; values stay text until the parameter of that name checks them."""
    merged: dict[str, list[Param]] = {}
    for param in params:
        merged.setdefault(param.name, []).append(param)
    for name, same in merged.items():
        texts = list(dict.fromkeys(f"{p.help}: {p.allowed} (default {p.default})" for p in same))
        help = "; ".join(texts).replace("%", "%%")
        group.add_argument(_flag(name), dest=f"param_{name}", metavar="VALUE", help=help)
        for old in dict.fromkeys(old for p in same for old in p.formerly if old not in merged):
            group.add_argument(_flag(old), dest=f"param_{name}", help=argparse.SUPPRESS)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _add_predict(commands: argparse._SubParsersAction[Parser], filters: list[Filter]) -> None:
    help = "the times of variants on a GPU that need not be here, as intervals, from counts of a simulated GPU"
    parser = commands.add_parser("predict", help=help, description=help)
    predict.add_arguments(parser)
    _add_input(parser)
    _add_values(parser, filters)


def _add_xray(commands: argparse._SubParsersAction[Parser], filters: list[Filter], own: bool) -> None:
    help = "a kernel's source with counters beside each line, on a simulated GPU"
    more = "xray FILE.cu --help says how to launch a kernel of your own"
    parser = commands.add_parser("xray", help=help, description=f"{help}; of two variants, what changed.", epilog=more)
    if own:
        parser.description = "launches a kernel of your own: counted on a simulated GPU, or timed on a CUDA device"
        parser.epilog = None
        own_xray.add_arguments(parser)
        _add_simulation(parser)
        return
    parser.set_defaults(command=xray.run)
    families = ", ".join(FILTERS.families)
    parser.add_argument("filter", metavar="FILTER", help=f"one of {families}, or a filter's id (kernelscope list)")
    parser.add_argument(
        "variants", nargs="*", metavar="VARIANT", help="one, or two to compare (default: the last that takes the input)"
    )
    _add_input(parser)
    _add_values(parser, filters)
    parser.add_argument("--kernel", metavar="FILE.cu", help="use this kernel instead of the variant's first")
    varied.add_page(parser)
    _add_simulation(parser).add_argument(
        "--whole", action="store_true", help="simulate all of a large input instead of its centre"
    )


def _add_simulation(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    how = parser.add_argument_group("how to simulate")
    how.add_argument(
        "--gpu", default=ARCHITECTURES[0], metavar="SM", help=f"such as sm_90 (default {ARCHITECTURES[0]})"
    )
    how.add_argument(
        "--counters", choices=("full", "sample"), default="full", help="count all blocks or a sample of them"
    )
    rules = "; ".join(f"{name}: {text}" for name, text in RULES.items())
    how.add_argument("--coalescing", choices=tuple(RULES), default="today", help=rules)
    add_show(how)
    add_limits(parser, "the simulation")
    gate = "such as 'sectors_per_load <= 4.5, races == 0': exit code 3 and a line for each that is not met"
    parser.add_argument("--gate", metavar="CONDITIONS", help=gate)
    parser.add_argument("--json", metavar="FILE", help="write the result here as JSON; - for standard output")
    return how


def _add_timeline(commands: argparse._SubParsersAction[Parser], filters: list[Filter]) -> None:
    help = "which copies and kernels run beside which, measured on a GPU or by a model of its queues"
    parser = commands.add_parser("timeline", help=help, description=f"{help}; best with the filter transfer.")
    parser.set_defaults(command=timelines.run)
    parser.add_argument("filter", metavar="FILTER", help="such as transfer, or a filter's id (kernelscope list)")
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help="variants (default: those that a window shows)")
    parser.add_argument("--device", metavar="DEVICE", help="cuda:N, sim or sim:sm_90 (default: a GPU where one is)")
    _add_input(parser)
    _add_values(parser, filters)
    models.add_model(parser)
    parser.add_argument(
        "--launch-blocking", action="store_true", help="the host waits for each kernel, as with CUDA_LAUNCH_BLOCKING=1"
    )
    parser.add_argument("--trace", metavar="FILE.json", help="write a trace here, which ui.perfetto.dev opens")
    parser.add_argument("--picture", metavar="FILE", help="draw the timelines as PNG or SVG")
    parser.add_argument("--chart-width", type=int, default=72, metavar="N", help="columns of a drawn line (default 72)")
    parser.add_argument("--json", metavar="FILE", help="write the result here as JSON; - for standard output")


def _add_transfers(commands: argparse._SubParsersAction[Parser], filters: list[Filter]) -> None:
    help = "sweeps of transfers: kinds of memory, streams × chunks, residency, registering, locked memory"
    about = "Measured on a GPU, or predicted by a model of its queues; pinning is an experiment on the host."
    parser = commands.add_parser("transfers", help=help, description=f"{help}. {about}")
    transfers.add_arguments(parser)
    _add_input(parser)
    _add_values(parser, filters, knobs=False)
    models.add_model(parser)


def _add_page(commands: argparse._SubParsersAction[Parser], filters: list[Filter]) -> None:
    help = "one HTML file to print or to send: pictures, times, counts, kernels, claims and provenance"
    parser = commands.add_parser("report", help=help, description=f"{help}. It needs no script and no other file.")
    parser.set_defaults(command=page.report, json=None)
    parser.add_argument("filter", nargs="?", metavar="FILTER", help=f"one of {', '.join(FILTERS.families)}, or an id")
    parser.add_argument("--output", required=True, metavar="FILE.html", help="the file to write")
    parser.add_argument("--report", metavar="FILE", help="show the rows of this report instead of running a filter")
    parser.add_argument("--against", metavar="FILE", help="an earlier report: changes are relative to its rows")
    _add_input(parser)
    choose = parser.add_argument_group("what runs")
    names: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
    choose.add_argument("--variant", metavar="ID", help="variants (default: all that run here)", **names)
    choose.add_argument("--device", metavar="DEVICE", help="cpu, cuda:N (default: all available)", **names)
    choose.add_argument("--gpu", default="sim", metavar="SIM", help="count on this simulated GPU, such as sim:sm_90")
    choose.add_argument("--no-counts", action="store_true", help="leave out counts and kernels, which take longest")
    choose.add_argument("--code", action="store_true", help="also the machine code (SASS) of the kernels")
    choose.add_argument("--predict", metavar="GPU", help="also times predicted for these GPUs, such as h100", **names)
    choose.add_argument("--careful", action="store_true", help="more samples, as bench takes")
    choose.add_argument("--baseline", default="serial", metavar="ID", help="speed-ups are against it (default: serial)")
    _add_values(parser, filters)


def _add_info(commands: argparse._SubParsersAction[Parser]) -> None:
    listing = commands.add_parser("list", help="filters, parameters, variants and samples")
    listing.add_argument("--fields", action="store_true", help="the fields of a report instead: unit and meaning")
    listing.add_argument("filter", nargs="?", help="only this filter or family")
    listing.set_defaults(command=info.list_filters)
    claims = commands.add_parser("claims", help="the claims of the sources, beside what was counted or measured here")
    claims.add_argument("--measure", action="store_true", help="measure on this machine instead of recorded runs")
    claims.add_argument("--report", metavar="FILE", help="judge the claims by this report")
    claims.add_argument("--count", metavar="FILE", help="only count the steps of the laws, and write them here")
    claims.set_defaults(command=info.claims)
    drawing = commands.add_parser(
        "figures", help="the sources' figures: what was published, and the points of a report"
    )
    drawing.add_argument("figures", nargs="*", metavar="ID", help="only these figures")
    drawing.add_argument(
        "--report", metavar="FILE", help="take the points from this report (default: the recorded ones)"
    )
    drawing.add_argument("--csv", metavar="FILE", help="write all points here")
    drawing.add_argument("--picture", metavar="FILE", help="draw the one figure that is named, as PNG or SVG")
    drawing.set_defaults(command=figures.figures)
    tables = commands.add_parser("tables", help="the recorded results as Markdown tables")
    tables.add_argument("tables", nargs="*", metavar="NAME", help="only these tables")
    tables.add_argument("--write", nargs="+", default=[], metavar="FILE.md", help="fill the marked sections of these")
    tables.set_defaults(command=result_tables.tables)
    comparing = commands.add_parser("compare", help="two reports row by row: faster, slower or the same")
    comparing.add_argument("before", metavar="BEFORE.json", help="the earlier report")
    comparing.add_argument("after", metavar="AFTER.json", help="the report that may be slower (exit code 5)")
    comparing.add_argument("--stage", default="kernel", metavar="NAME", help="such as elapsed_pinned (default: kernel)")
    comparing.add_argument("--any-machine", action="store_true", help="compare reports of different machines as well")
    comparing.set_defaults(command=compare.compare)
    compiling = commands.add_parser("compile", help="compile every kernel, with no GPU, and show its resources")
    compiling.add_argument("kernels", nargs="*", metavar="KERNEL", help="only these kernel files")
    compiling.add_argument("--gpu", nargs="+", action="extend", metavar="SM", help="such as sm_75 sm_90")
    compiling.set_defaults(command=info.compile_kernels)
    doctor = commands.add_parser("doctor", help="what this machine can do, and what to install for more")
    doctor.add_argument("--skip-roofs", action="store_true", help="do not measure memory bandwidth")
    doctor.set_defaults(command=info.doctor)
    for parser in (listing, claims, drawing, tables, comparing, compiling, doctor):
        parser.add_argument("--json", metavar="FILE", help="write the result here as JSON; - for standard output")

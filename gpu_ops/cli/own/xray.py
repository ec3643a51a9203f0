"""xray of a kernel file from elsewhere: counted on a simulated GPU, or timed on a CUDA device."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.cli import streams
from gpu_ops.cli.kernel.cliffs import conflicts_text
from gpu_ops.cli.kernel.mend import mending_text
from gpu_ops.cli.kernel.profile import profiles_text
from gpu_ops.cli.limits import within_limits
from gpu_ops.cli.measure import emit
from gpu_ops.cli.tables import align, seconds
from gpu_ops.cli.xray import single, stopped_text
from gpu_ops.errors import FINE, WRONG, KernelError, ParamError, counted, plain
from gpu_ops.explaining.cliffs.bank_conflicts import as_dict as conflicts_dict
from gpu_ops.explaining.comparison import sentences_json
from gpu_ops.explaining.profiler.comparing import compare_with_profile, profile_dict
from gpu_ops.explaining.sentences import explain
from gpu_ops.explaining.xray import as_dict
from gpu_ops.own_kernels import KERNEL_FILES
from gpu_ops.own_kernels.arguments import FORMS, extents, pairs, summary
from gpu_ops.own_kernels.gate import conditions, reports
from gpu_ops.own_kernels.launching import OwnLaunch, OwnRun, measure, simulate
from gpu_ops.own_kernels.layouts import layout_of_launch
from gpu_ops.own_kernels.mending import kinds_of, mending
from gpu_ops.own_kernels.sources import read_file

FIRST = 8
"""Values of an array that a line shows."""


def is_own(argv: list[str]) -> bool:
    """Whether the arguments of xray name a kernel file instead of a filter."""
    return any(a.endswith(KERNEL_FILES) and before != "--kernel" for before, a in zip(argv, argv[1:], strict=False))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of a launch."""
    parser.set_defaults(command=run)
    parser.add_argument("file", metavar="FILE.cu", help="a file with a kernel, in CUDA C")
    what = parser.add_argument_group("the launch")
    what.add_argument("--kernel", metavar="NAME", help="as C++ names it, such as 'reduce<int>' (default: the only one)")
    what.add_argument("--grid", default="1", metavar="N", help="blocks: 41, 16x8 or 4x4x4 (default 1)")
    what.add_argument("--block", default="256", metavar="N", help="threads of a block: 256 or 32x8 (default 256)")
    what.add_argument("--cluster", metavar="N", help="blocks of a cluster, 2 or 2x1; not with __cluster_dims__")
    what.add_argument("--shared", type=int, default=0, metavar="BYTES", help="dynamic shared memory (default 0)")
    what.add_argument("--arg", action="append", default=[], metavar="[NAME=]VALUE", help=f"the next argument: {FORMS}")
    what.add_argument(
        "--symbol",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the content of a __constant__ or __device__ variable",
    )
    what.add_argument("--include", action="append", default=[], metavar="DIR", help="a folder with headers")
    what.add_argument("--define", action="append", default=[], metavar="NAME=VALUE", help="a macro")
    what.add_argument("--device", default="sim", metavar="DEVICE", help="sim, or cuda:N to time it (default sim)")
    parser.add_argument("--save", action="append", default=[], metavar="NAME=FILE.npy", help="save an array afterwards")
    parser.add_argument("--careful", action="store_true", help="time with more samples")


def run(args: argparse.Namespace) -> int:
    """Run the launch and print what it did. Exit code 3 when a fault was found."""
    targets = pairs(args.save, "--save")
    wanted = conditions(args.gate) if args.gate else ()
    if wanted and args.device != "sim":
        raise ParamError("--gate needs the counters of a simulated GPU; leave --device out.")
    if args.predict:
        raise ParamError("--predict is for a kernel of a filter; name the filter and its variant instead of a file.")
    if (args.show or args.cliffs or args.ncu) and args.device != "sim":
        flag = f"--show {args.show}" if args.show else "--cliffs" if args.cliffs else "--ncu"
        raise ParamError(f"{flag} needs a simulated GPU; leave --device out, and name the GPU by --gpu.")
    try:
        simulated = not args.device.startswith("cuda")
        with within_limits(args, f"{plain(Path(args.file).name)} on {args.device}", simulated):
            own = _launch_of(args)
            if args.device.startswith("cuda"):
                found, layout = measure(own, args.device, args.careful), None
            elif args.device == "sim":
                found = simulate(own, args.gpu, args.counters, args.coalescing, code=not args.gate)
                layout = layout_of_launch(own, args.gpu) if args.cliffs else None
            else:
                raise ParamError(f"--device {plain(args.device, 40)} is neither sim nor cuda:N; choose one.")
    except KernelError as error:
        if error.findings:
            print(stopped_text(error, [str(f) for f in error.findings], args.mend))
            streams.say(error)
            return WRONG
        raise
    _save(found, targets)
    profiles = compare_with_profile(found.xray, args.ncu) if args.ncu and found.xray else []
    if args.json:
        besides = {"profiles": profile_dict(profiles)} if profiles else {}
        emit(args.json, _json(found) | besides | ({"conflicts": conflicts_dict(layout)} if layout else {}))
    if args.json != "-":
        print(_text(own, found, args.show))
        more = [conflicts_text(layout)] if layout else []
        more += [profiles_text(found.xray, profiles)] if found.xray else []
        more += [mending_text(kinds_of(found.xray))] if args.mend and found.xray else []
        print("".join(f"\n{text}\n" for text in more if text), end="")
    if found.xray is None:
        return FINE
    lines = reports(found.xray, wanted, own.file.name, args.file)
    for line in lines:
        print(line, file=sys.stderr)
    return WRONG if lines or found.xray.faulty else FINE


def _launch_of(args: argparse.Namespace) -> OwnLaunch:
    return OwnLaunch(
        read_file(args.file, args.include),
        args.kernel,
        extents(args.grid, "--grid"),
        extents(args.block, "--block"),
        tuple(args.arg),
        args.shared,
        pairs(args.define, "--define", "1"),
        pairs(args.symbol, "--symbol"),
        cluster=extents(args.cluster, "--cluster") if args.cluster else None,
    )


def _save(found: OwnRun, targets: dict[str, str]) -> None:
    for name, target in targets.items():
        if name not in found.outputs:
            raise ParamError(f"--save {plain(name, 60)} is no array; choose from {', '.join(found.outputs) or 'none'}.")
        if Path(target).suffix != ".npy":
            raise ParamError(f"--save {plain(target)} does not end in .npy; arrays are saved as NPY.")
        np.save(target, found.outputs[name], allow_pickle=False)


def _json(found: OwnRun) -> dict[str, Any]:
    arrays = {n: {**summary(a), "changed": n in found.changed} for n, a in found.outputs.items()}
    if found.xray is not None:
        about = {"sentences": sentences_json(explain(found.xray)), "mending": mending(kinds_of(found.xray))}
        return {**as_dict(found.xray), **about, "arrays": arrays}
    t = found.timing
    assert t is not None
    times = {"median": t.median, "q1": t.q1, "q3": t.q3, "samples": t.n, "clock": t.clock, "mode": t.mode}
    return {"schema": "kernelscope-launch/1", "arrays": arrays, "time": times}


def _text(own: OwnLaunch, found: OwnRun, show: str | None) -> str:
    parts = []
    if found.xray is not None:
        grid, block = ("x".join(map(str, e)) for e in (own.grid, own.block))
        parts.append(f"{own.file.name}: grid {grid}, block {block}; simulated {found.xray.architecture}")
        parts.append(single(found.xray, explain(found.xray), show))
    if found.timing is not None:
        t = found.timing
        parts.append(
            f"{own.file.name}: {seconds(t.median)} a launch, median of {counted(t.n, 'sample')} "
            f"(quartiles {seconds(t.q1)} and {seconds(t.q3)}), {t.clock}, the same memory each time"
        )
    rows = [["array", "dtype", "shape", "min", "max", "first values"]]
    for name, array in found.outputs.items():
        about = summary(array)
        shape = " x ".join(map(str, about["shape"])) or "1"
        limits = ("" if v is None else f"{v:g}" for v in (about.get("min"), about.get("max")))
        first = ", ".join(_short(v) for v in about["first"]) + (", …" if array.size > FIRST else "")
        mark = name if name in found.changed else f"{name} (unchanged)"
        rows.append([mark, about["dtype"], shape, *limits, first])
    if found.outputs:
        parts.append(align(rows, frozenset({3, 4})))
    return "\n\n".join(parts)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

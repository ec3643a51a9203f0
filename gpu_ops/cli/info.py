"""list, claims, compile and doctor."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from gpu_ops.cli.measure import emit
from gpu_ops.cli.tables import align, roofs_block
from gpu_ops.devices import device_statuses
from gpu_ops.devices.compiler import ARCHITECTURES, compile_kernel
from gpu_ops.devices.instruments import INSTRUMENTS
from gpu_ops.devices.kernel_source import header_fields, read_source
from gpu_ops.devices.nvrtc import supported_architectures
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.doctor.machine import examine, transfers_text
from gpu_ops.errors import DeviceError, ParamError, plain
from gpu_ops.explaining.judging import Judgement, judge_by_measurement, judge_by_reports, recorded_reports
from gpu_ops.explaining.law_counts import laws_json
from gpu_ops.explaining.laws import ARCHITECTURE, count_laws
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io import SAMPLES
from gpu_ops.params import Param, Values, nearest
from gpu_ops.plan import Launch, Limits
from gpu_ops.report.files import read_report
from gpu_ops.report.rows import FACTS
from gpu_ops.running.declared import make_plan
from gpu_ops.task import Meta, Task
from gpu_ops.types import SOURCE_TITLES, Filter, Variant


def list_filters(args: argparse.Namespace) -> int:
    """Filters with parameters and variants, then samples."""
    if args.fields:
        return _list_fields()
    filters = list(FILTERS) if args.filter is None else FILTERS.named(args.filter)
    if args.json:
        emit(args.json, {"filters": [_filter_json(f) for f in filters], "samples": [s.id for s in SAMPLES]})
    if args.json != "-":
        for filter in filters:
            _print_filter(filter)
        width = max(len(s.id) for s in SAMPLES) + 2
        print("samples\n  " + "\n  ".join(f"{s.id:{width}}{s.title}" for s in SAMPLES))
    return 0


def _list_fields() -> int:
    """The fields of a report's rows."""
    lines = [(name, fact.kind.words, fact.unit, fact.help) for name, fact in FACTS.items()]
    print(align([("field", "JSON", "unit", "what it says"), *lines]))
    return 0


def _print_filter(filter: Filter) -> None:
    print(f"{filter.id}  –  {filter.summary}\n  takes {filter.accepts}s of {', '.join(filter.dtypes)}")
    for param in filter.params:
        print(f"  --{param.name}  {param.help}: {param.allowed} (default {param.default})")
    wide = max(map(len, filter.presets), default=0) + 2
    for name, values in filter.presets.items():
        print(f"  --preset {name:{wide}}" + ", ".join(f"{k} {_text(v)}" for k, v in values.items()))
    width = max(12, *(len(v.id) + 2 for v in filter.variants))
    for variant in filter.all_variants:
        print(f"  {variant.id:{width}}{variant.device:6}{variant.idea}")
        for knob in variant.knobs:
            print(f"{'':20}--{knob.name}  {knob.help}: {knob.allowed} (default {knob.default})")
    print()


def _text(value: Any) -> str:
    """A value in the form of its flag."""
    numbers = value if isinstance(value, tuple) else (value,)
    return " ".join(f"{n:g}" if isinstance(n, float) else str(n) for n in numbers)


def _param_json(param: Param) -> dict[str, Any]:
    return {
        "name": param.name,
        "default": param.default,
        "allowed": param.allowed,
        "unit": param.unit,
        "help": param.help,
    }


def _filter_json(filter: Filter) -> dict[str, Any]:
    return {
        "id": filter.id,
        "family": filter.family,
        "title": filter.title,
        "summary": filter.summary,
        "accepts": filter.accepts,
        "dtypes": list(filter.dtypes),
        "params": [_param_json(p) for p in filter.params],
        "presets": {name: dict(values) for name, values in filter.presets.items()},
        "variants": [_variant_json(filter, v) for v in filter.variants],
        "source": filter.source,
    }


def _variant_json(filter: Filter, variant: Variant) -> dict[str, Any]:
    return {
        "id": variant.id,
        "title": variant.title,
        "idea": variant.idea,
        "device": variant.device,
        "kernels": {name: header_fields(read_source(name)) for name in variant.kernels},
        "knobs": [_param_json(k) for k in variant.knobs],
        "library": variant.library,
        "caveat": variant.exactness.caveat if variant.exactness else "",
        "largest": _largest_json(filter, variant),
        "source": variant.source,
    }


def _largest_json(filter: Filter, variant: Variant) -> dict[str, float]:
    """The largest magnitude that the variant supports with default parameters and knobs, for each floating type whose
    range it does not support entirely."""
    if variant.largest is None:
        return {}
    params, knobs = ({p.name: p.default for p in those} for those in (filter.params, variant.knobs))
    shape = INPUT_KINDS[filter.accepts].usual[0]
    tasks = {d: Task.of(Meta(filter.accepts, shape, d), params, knobs) for d in filter.dtypes if d.startswith("float")}
    largest = {dtype: variant.largest(task) for dtype, task in tasks.items()}
    return {dtype: most for dtype, most in largest.items() if most < float(np.finfo(dtype).max)}


def claims(args: argparse.Namespace) -> int:
    """Every claim: published, counted or measured, and whether it is true; or only the counts of the laws."""
    if args.count is not None:
        emit(args.count, laws_json(count_laws(FILTERS), ARCHITECTURE))
        return 0
    if args.measure and args.report is not None:
        raise ParamError("Give --measure or --report FILE, not both.")
    if args.measure:
        judgements = judge_by_measurement(
            FILTERS, [s.name for s in device_statuses() if s.available and s.kind != "sim"]
        )
    else:
        reports = {args.report: read_report(args.report)} if args.report is not None else recorded_reports()
        judgements = judge_by_reports(FILTERS.claims, reports)
    if args.json:
        emit(args.json, {"claims": [j.as_dict() for j in judgements]})
    if args.json != "-":
        for judgement in judgements:
            _print_claim(judgement)
    return 0


HOLDS = {True: "holds", False: "does not hold", None: "undecided"}


def _print_claim(j: Judgement) -> None:
    print(f"{j.claim.id}  –  {j.claim.text}")
    for name, text in (
        ("source", SOURCE_TITLES[j.claim.source]),
        ("published", j.claim.published),
        ("predicted", j.claim.prediction),
        (j.claim.basis, j.result),
        ("holds?", f"{HOLDS[j.holds]} ({j.where})"),
    ):
        print(f"  {name:11}{text}")
    print()


def compile_kernels(args: argparse.Namespace) -> int:
    """Compile every kernel for every sample type and architecture, and show its resources."""
    architectures = tuple(dict.fromkeys(args.gpu or ARCHITECTURES))
    for architecture in architectures:
        if architecture not in supported_architectures():
            raise DeviceError(
                f"NVRTC does not know {architecture}; it supports {', '.join(supported_architectures())}."
            )
    kernel_files = dict.fromkeys(
        [*(k for f in FILTERS for v in f.variants for k in v.kernels), *(i.source for i in INSTRUMENTS)]
    )
    for name in args.kernels:
        if name not in kernel_files:
            near = nearest(name, list(kernel_files))
            raise ParamError(f"No kernel is called {plain(name, 60)}{near}; choose from {', '.join(kernel_files)}.")
    rows = [r for architecture in architectures for r in _resource_rows(architecture, args.kernels)]
    if args.json:
        emit(args.json, {"kernels": rows})
    if args.json != "-":
        names = ["kernel", "dtype", "gpu", "registers", "spill_store_bytes", "spill_load_bytes"]
        names += ["shared_bytes", "constants", "milliseconds"]
        lines = [["kernel", "dtype", "gpu", "registers", "spill store B", "spill load B"]]
        lines[0] += ["shared B", "constant B", "compile ms"]
        lines += [[str(r[n]) for n in names] for r in rows]
        print(align(lines, frozenset(range(3, 9))))
    return 0


def _resource_rows(architecture: str, kernels: list[str]) -> Iterator[dict[str, Any]]:
    for filter in FILTERS:
        for variant in filter.variants:
            if variant.kernels and (not kernels or set(kernels) & set(variant.kernels)):
                for dtype in filter.dtypes:
                    yield from _variant_rows(architecture, filter, variant, dtype)
    for instrument in INSTRUMENTS:
        if not kernels or instrument.source in kernels:
            compiled = compile_kernel(instrument.source, architecture, instrument.defines)
            yield _resource_row(compiled, instrument.name, "–")


def _variant_rows(architecture: str, filter: Filter, variant: Variant, dtype: str) -> Iterator[dict[str, Any]]:
    device = OfflineDevice(architecture)
    knobs = {p.name: p.default for p in variant.knobs}
    task = _supported_task(filter, variant, dtype, knobs, device.limits)
    if task is None:
        return  # there is no kernel for this sample type
    plan = make_plan(filter, variant, device, task.on(device.empty(task.meta.shape, task.dtype)))
    device.check(plan)
    for step in plan.steps:
        if isinstance(step, Launch):
            yield _resource_row(step.kernel.compiled, step.kernel.name, dtype)


def _supported_task(filter: Filter, variant: Variant, dtype: str, knobs: Values, limits: Limits) -> Task | None:
    """A task that the variant supports, as near to the defaults as possible; None where there is none."""
    defaults = {p.name: p.default for p in filter.params}
    changed = [{**defaults, p.name: choice} for p in filter.params for choice in p.choices]
    tasks = (
        Task.of(Meta(filter.accepts, shape, dtype), params, knobs, limits)
        for shape, params in product(INPUT_KINDS[filter.accepts].usual, (defaults, *changed))
    )
    return next((task for task in tasks if variant.refusal(task) is None), None)


def _resource_row(compiled: Any, name: str, dtype: str) -> dict[str, Any]:
    return {
        "kernel": f"{compiled.source} {name}",
        "dtype": dtype,
        "gpu": compiled.architecture,
        **compiled.entry(name).resources,
        "constants": sum(compiled.constants.values()),
        "milliseconds": round(compiled.seconds * 1e3, 1),
    }


def doctor(args: argparse.Namespace) -> int:
    """Show what this machine can do: processor, GPUs, compiler, libraries, measured bandwidth – and what to install."""
    state = examine(with_roofs=not args.skip_roofs)
    if args.json:
        emit(args.json, state)
    if args.json != "-":
        _print_doctor(state)
    return 0


def _print_extras(extras: dict[str, Any]) -> None:
    """For each extra its packages, and the command that installs those that are missing."""
    lines = [["extra", "for", "packages", "to install"]]
    for name, extra in extras.items():
        packages = ", ".join(f"{package} {there or 'missing'}" for package, there in extra["packages"].items())
        lines.append([name, extra["purpose"], packages, extra["install"]])
    print("extras     " + align(lines).replace("\n", "\n" + " " * 11))


def _print_cuda(cuda: dict[str, Any]) -> None:
    """The driver and its GPUs, which wheels suit them, and the command to run."""
    gpus = ", ".join(f"{gpu['name']} ({gpu['architecture']})" for gpu in cuda["gpus"]) or "no GPU"
    print(f"driver     {'CUDA ' + cuda['driver_cuda'] + ', ' + gpus if cuda['driver_cuda'] else 'none'}")
    rows = [("extra", "driver", "CUDA", "wheel", "architectures", "suits", "installed")]
    for line in cuda["lines"]:
        suits = ("yes" if line["suits"] else "no") if cuda["gpus"] else "–"
        about = (line["extra"], line["driver"], str(line["cuda"]), line["wheel"], line["architectures"], suits)
        rows.append((*about, line["installed"] or "no"))
    print("CUDA       " + align(rows).replace("\n", "\n" + " " * 11))
    print(f"           {cuda['why']}")
    if cuda["run"]:
        print("run        " + cuda["run"].replace("\n", "\n" + " " * 11))


def _print_doctor(state: dict[str, Any]) -> None:
    print(f"system     {state['system']}")
    print(f"processor  {state['cpu']}, {state['threads']} threads, {state['memory_bytes'] / 2**30:.1f} GiB")
    for device in state["devices"]:
        status = device["model"] if device["available"] else f"not available: {device['reason']}"
        print(f"{device['name']:11}{status}")
        if "transfers" in device:
            print(f"           {transfers_text(device['transfers'])}")
    nvrtc = state["nvrtc"]
    compiler = (
        f"{nvrtc['version']}, compiles for {' '.join(nvrtc['architectures'])}" if nvrtc["version"] else nvrtc["reason"]
    )
    print(f"NVRTC      {compiler}")
    _print_cuda(state["cuda"])
    print("libraries  " + ", ".join(f"{name} {v}" for name, v in state["libraries"].items()))
    _print_extras(state["extras"])
    for place, (name, package) in enumerate(state["not_installed"].items()):
        print(f"{'' if place else 'missing':11}{name} for more variants: install {package}")
    print("window     " + ("\n           ".join(state["window"]["faults"]) or "all its dependencies are installed"))
    if "roofs" in state:
        print(roofs_block(state["roofs"]))

"""predict: the times of variants on a GPU that need not be here, as intervals, with the limit that decides."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from gpu_ops.batch.choosing import knobs_of
from gpu_ops.cli.inputs import check_flags, checked_values, current_ids, read_input
from gpu_ops.cli.limits import add_limits, within_limits
from gpu_ops.cli.measure import emit
from gpu_ops.cli.tables import align, seconds
from gpu_ops.errors import FINE
from gpu_ops.explaining.prediction.counting import count_launches
from gpu_ops.explaining.prediction.gpus import GPUS, Gpu, find_gpu, what_if
from gpu_ops.explaining.prediction.launches import LaunchCounts
from gpu_ops.explaining.prediction.model import LIMITS, Prediction, predict
from gpu_ops.explaining.prediction.recorded import recorded_seconds
from gpu_ops.explaining.prediction.sentences import sentences
from gpu_ops.explaining.prediction.waterfall import waterfall
from gpu_ops.explaining.sentences import number
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io.steps.apply import title_of
from gpu_ops.own_kernels.sources import read_kernel
from gpu_ops.params import check_values
from gpu_ops.running.suitable import check_type
from gpu_ops.running.verify import full_meta
from gpu_ops.types import Filter, Input, Variant


@dataclass(frozen=True)
class Predicted:
    """The prediction of a variant from its launches, and the recorded seconds of the same job on the same GPU, if there
    are any."""

    variant: str
    launches: Sequence[LaunchCounts]
    prediction: Prediction
    recorded: float | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare all flags but those of inputs, parameters and knobs."""
    parser.set_defaults(command=run)
    families = ", ".join(FILTERS.families)
    parser.add_argument("filter", metavar="FILTER", help=f"one of {families}, or a filter's id (kernelscope list)")
    parser.add_argument("variants", nargs="+", metavar="VARIANT", help="each with its time; neighbours are compared")
    parser.add_argument(
        "--kernel", metavar="FILE.cu", help="predict the last variant also with this kernel instead of its first"
    )
    parser.add_argument("--gpu", default="h100", metavar="GPU", help=f"one of {', '.join(GPUS)} (default: h100)")
    group = parser.add_argument_group("what if the GPU were another")
    group.add_argument("--bandwidth", type=_factor, default=1.0, metavar="FACTOR", help="of its memory's bandwidth")
    group.add_argument("--l2-bandwidth", type=_factor, default=1.0, metavar="FACTOR", help="of its L2's bandwidth")
    group.add_argument("--clock", type=_factor, default=1.0, metavar="FACTOR", help="of its clock")
    group.add_argument("--multiprocessors", type=_number, metavar="N", help="how many it has, 1 to 1000")
    group.add_argument("--shared-kib", type=_number, metavar="KIB", help="shared memory of a multiprocessor, 1 to 1000")
    add_limits(parser, "the simulation")
    parser.add_argument("--json", metavar="FILE", help="write the predictions here; - for standard output")


def _factor(text: str) -> float:
    value = float(text)
    if not 0.05 <= value <= 20:
        raise argparse.ArgumentTypeError(f"{text} is no factor from 0.05 to 20")
    return value


def _number(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1 to 1000")
    return value


def run(args: argparse.Namespace) -> int:
    """Predict the time of each named variant."""
    shared = args.shared_kib << 10 if args.shared_kib else None
    gpu = what_if(find_gpu(args.gpu), args.bandwidth, args.l2_bandwidth, args.multiprocessors, args.clock, shared)
    input = read_input(args)
    filter = FILTERS.find(args.filter, input.kind)
    check_type(filter, input)
    variants = _variants(args, filter, input)
    check_flags(args, filter, variants)
    found = predicted(args, filter, variants, input, gpu)
    if args.json is not None:
        emit(args.json, prediction_json(args, filter, input, found, gpu))
    if args.json != "-":
        print(prediction_text(filter.id, input, found, gpu))
    return FINE


def _variants(args: argparse.Namespace, filter: Filter, input: Input) -> list[Variant]:
    _, params = _values(args, filter)
    return [filter.variant(id) for id in current_ids(args, filter, args.variants, input.meta, params)]


def _values(args: argparse.Namespace, filter: Filter) -> tuple[dict[str, Any], dict[str, Any]]:
    values, params = checked_values(args, filter)
    return values, check_values(filter.params, params, filter.id)


def predicted(
    args: argparse.Namespace, filter: Filter, variants: Sequence[Variant], input: Input, gpu: Gpu
) -> list[Predicted]:
    """Predict variants on the whole of an input, and the last one with the user's kernel as well. Raises ParamError,
    KernelError, DeviceError."""
    values, params = _values(args, filter)
    jobs: list[tuple[Variant, dict[str, str]]] = [(variant, {}) for variant in variants]
    if args.kernel and variants[-1].kernels:
        jobs.append((variants[-1], {variants[-1].kernels[0]: read_kernel(args.kernel)}))
    found = []
    for variant, edits in jobs:
        knobs = check_values(variant.knobs, knobs_of(variant, values), variant.id)
        with within_limits(args, f"{variant.id} on a simulated {gpu.architecture}"):
            counts = count_launches(filter, variant, input, params, knobs, gpu, edits)
        known = gpu.measured and not edits
        recorded = recorded_seconds(filter.id, variant.id, params, knobs, full_meta(input), gpu) if known else None
        name = f"{variant.id}, edited" if edits else variant.id
        found.append(Predicted(name, counts, predict(counts, gpu), recorded))
    return found


def prediction_text(filter: str, input: Input, found: Sequence[Predicted], gpu: Gpu) -> str:
    """The predictions as a table, sentences, and a table for each step from one variant to the next."""
    size = INPUT_KINDS[input.kind].size_text(input.array.shape)
    title = f"{filter} of {title_of(input)}, {size} {input.array.dtype.name}; predicted for {_gpu_text(gpu)}"
    said = [f"  {sentence}" for sentence in sentences([(p.variant, p.prediction) for p in found])]
    steps = [_step(a, b, gpu) for a, b in pairwise(found)]
    return "\n\n".join(["\n".join([title, table(found), *said]), *(step for step in steps if step)])


def _step(before: Predicted, after: Predicted, gpu: Gpu) -> str:
    """What each limit brings from one variant to the next, and the time after each; "" where a time is unknown."""
    found = waterfall(before.launches, after.launches, gpu)
    if found.unknown:
        return ""
    rows = [[f"{before.variant} → {after.variant}", "counted", "", "predicted", "", "change"]]
    total = found.before.seconds
    rows.append([before.variant, "", "", "", seconds(total), ""])
    for part in found.parts:
        counted = f"{number(part.counted[0])} → {number(part.counted[1])}"
        each = f"{seconds(part.before)} → {seconds(part.after)}"
        total += part.change
        rows.append([LIMITS[part.limit], counted, part.unit, each, seconds(total), signed(part.change)])
    change = signed(found.after.seconds - found.before.seconds)
    rows.append([after.variant, "", "", "", seconds(found.after.seconds), change])
    return align(rows, frozenset({1, 3, 4, 5}))


def signed(value: float) -> str:
    """A change in seconds with its sign."""
    return f"{'+' if value >= 0 else '−'}{seconds(abs(value))}"


def _gpu_text(gpu: Gpu) -> str:
    more = f"L2 {gpu.l2 / 1e12:.3g} TB/s, {gpu.clock / 1e9:.3g} GHz, " if gpu != GPUS[gpu.id] else ""
    return f"{gpu.model}: {gpu.copy / 1e12:.3g} TB/s, {more}{gpu.multiprocessors} multiprocessors; {gpu.basis}"


def table(found: Sequence[Predicted]) -> str:
    """What each limit alone would take, the interval, and what was recorded, a column for each variant."""
    rows = [["", *(p.variant for p in found)]]
    for limit, text in LIMITS.items():
        cells = [p.prediction.terms[limit] for p in found]
        marks = ["◂" if p.prediction.limit == limit else " " for p in found]
        rows.append([text, *(f"{seconds(t)} {m}" for t, m in zip(cells, marks, strict=True))])
    rows.append(["predicted", *(f"{interval(p.prediction)}  " for p in found)])
    if any(p.recorded is not None for p in found):
        rows.append(["measured", *(f"{seconds(p.recorded) or 'unknown'}  " for p in found)])
    return align(rows, frozenset(range(1, len(found) + 1)))


def interval(prediction: Prediction) -> str:
    """The interval of a prediction as text, or "unknown"."""
    return "unknown" if prediction.unknown else f"{seconds(prediction.low)} to {seconds(prediction.high)}"


def prediction_json(
    args: argparse.Namespace, filter: Filter, input: Input, found: Sequence[Predicted], gpu: Gpu
) -> dict[str, Any]:
    """The predictions as JSON: schema kernelscope-prediction/1."""
    return {
        "schema": "kernelscope-prediction/1",
        "filter": filter.id,
        "params": _values(args, filter)[1],
        "shape": list(input.array.shape),
        "dtype": input.array.dtype.name,
        "gpu": {
            "id": gpu.id,
            "model": gpu.model,
            "architecture": gpu.architecture,
            "measured": gpu.measured,
            "multiprocessors": gpu.multiprocessors,
            "clock_hz": gpu.clock,
            "copy_bytes_s": gpu.copy,
            "read_bytes_s": gpu.read,
            "l2_bytes_s": gpu.l2,
            "shared_bytes": gpu.shared_bytes,
        },
        "variants": [
            {
                "variant": p.variant,
                "terms_s": dict(p.prediction.terms),
                "shares_s": dict(p.prediction.shares),
                "limit": p.prediction.limit,
                "low_s": None if p.prediction.unknown else p.prediction.low,
                "high_s": None if p.prediction.unknown else p.prediction.high,
                "unknown": p.prediction.unknown,
                "notes": list(p.prediction.notes),
                "measured_s": p.recorded,
            }
            for p in found
        ],
        "steps": [_step_json(a, b, gpu) for a, b in pairwise(found)],
    }


def _step_json(before: Predicted, after: Predicted, gpu: Gpu) -> dict[str, Any]:
    found = waterfall(before.launches, after.launches, gpu)
    parts = [
        {"limit": part.limit, "counted": list(part.counted), "unit": part.unit, "change_s": part.change}
        for part in found.parts
    ]
    return {"from": before.variant, "to": after.variant, "unknown": found.unknown, "parts": parts}

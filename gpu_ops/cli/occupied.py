"""The theoretical occupancy at each point of a sweep, with the measured time if there is one."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_ops.batch.choosing import knobs_of
from gpu_ops.cli.inputs import check_flags, current_ids, make_job
from gpu_ops.cli.tables import align, seconds
from gpu_ops.devices import device_statuses
from gpu_ops.devices.nvrtc import supported_architectures
from gpu_ops.devices.occupancy import MULTIPROCESSORS, LaunchOccupancy, is_known
from gpu_ops.errors import DeviceError, ParamError
from gpu_ops.explaining.occupancies import launch_occupancy
from gpu_ops.params import Value
from gpu_ops.report.rows import Row
from gpu_ops.run_key import with_tuples
from gpu_ops.running.precompile import side_by_side
from gpu_ops.types import Filter, Pick, Variant

Axes = Mapping[str, str]
"""The values of one point by varied quantity."""


@dataclass(frozen=True)
class Place:
    """A variant at a point of a sweep on an architecture: its occupancy, or the `reason` why it has none."""

    variant: str
    architecture: str
    axes: Axes
    params: Mapping[str, Value]
    knobs: Mapping[str, Value]
    shape: tuple[int, ...]
    dtype: str
    launch: LaunchOccupancy | None
    reason: str = ""

    def seconds(self, rows: Iterable[Row], devices: Mapping[str, str]) -> float | None:
        """The kernel time in rows of devices of this architecture; None where it was not timed."""
        own = (r for r in rows if devices.get(r.device) == self.architecture and self._is(r))
        return next((time for r in own if (time := r.seconds("kernel")) is not None), None)

    def _is(self, row: Row) -> bool:
        same = (row.variant, row.shape, row.dtype) == (self.variant, self.shape, self.dtype)
        alike = with_tuples(self.params).items() <= row.params.items() and self.knobs.items() <= row.knobs.items()
        return same and alike

    def to_json(self) -> dict[str, Any]:
        """The JSON form for a report."""
        where: dict[str, Any] = {"variant": self.variant, "architecture": self.architecture, "shape": list(self.shape)}
        where |= {"dtype": self.dtype, "params": dict(self.params), "knobs": dict(self.knobs)}
        if self.launch is None:
            return where | {"reason": self.reason}
        o = self.launch.occupancy
        figures: dict[str, Any] = {
            "threads": self.launch.threads,
            "registers": self.launch.registers,
            "blocks": o.blocks,
        }
        figures |= {"warps": o.warps, "most_warps": o.most, "occupancy": o.share}
        return where | figures | {"resident_threads": self.launch.resident, "limiter": o.limiter}


def measured_architectures(args: argparse.Namespace) -> dict[str, str]:
    """The architectures of the CUDA devices that a sweep times, by name."""
    found = {s.name: s.architecture for s in device_statuses() if s.kind == "cuda" and s.available}
    return {name: a for name, a in found.items() if name in args.device or not args.device}


def places(args: argparse.Namespace, points: Sequence[Axes]) -> list[Place]:
    """All places of a sweep: on the GPUs of --gpu, or on those that it times. Without --gpu only for variants that have
    a varied knob. Raises ParamError, DeviceError, KernelError."""
    architectures = args.gpu or sorted(set(measured_architectures(args).values()))
    for one in args.gpu:
        if not is_known(one) or one not in supported_architectures():
            known = [name for n in MULTIPROCESSORS if (name := f"sm_{n}") in supported_architectures()]
            raise DeviceError(f"The occupancy of {one} is not known here; choose --gpu from {', '.join(known)}.")
    if not architectures:
        return []
    of_points = side_by_side(lambda point: list(_of_point(args, point, architectures)), points)
    return [place for of_point in of_points for place in of_point]


def _of_point(args: argparse.Namespace, point: Axes, architectures: Sequence[str]) -> Iterable[Place]:
    input, filter, values, params = make_job(args, point)
    variants = _variants(args, filter, point, current_ids(args, filter, args.variant, input.meta, values))
    if args.gpu:
        check_flags(args, filter, variants or filter.variants, point)
    for variant in variants:
        pick = Pick(variant.id, "cpu", knobs_of(variant, values))
        for architecture in architectures:
            launch, reason = None, ""
            try:
                launch = launch_occupancy(filter, pick, params, input.meta, architecture)
            except ParamError as error:
                reason = str(error)
            job = params, pick.knobs, input.meta.shape, input.meta.dtype
            yield Place(variant.id, architecture, point, *job, launch, reason)


def _variants(args: argparse.Namespace, filter: Filter, point: Axes, ids: Sequence[str]) -> list[Variant]:
    """The variants of --variant that have kernels, or all that have a varied knob."""
    named = [filter.variant(id) for id in ids] or filter.variants
    knobbed = {v.id for v in named if {k.name for k in v.knobs} & set(point)}
    asked = args.gpu and args.variant
    return [v for v in named if v.kernels and (asked or v.id in knobbed)]


def tables(found: Sequence[Place], rows: Sequence[Row], devices: Mapping[str, str]) -> str:
    """A table for each variant and GPU, with the time where the sweep has measured one."""
    groups = dict.fromkeys((p.variant, p.architecture) for p in found)
    return "\n\n".join(_table([p for p in found if (p.variant, p.architecture) == g], rows, devices) for g in groups)


def _table(found: Sequence[Place], rows: Sequence[Row], devices: Mapping[str, str]) -> str:
    names = list(dict.fromkeys(name for p in found for name in p.axes))
    times = [p.seconds(rows, devices) for p in found]
    heading = [*names, "registers used", "blocks", "warps", "occupancy", "threads", "limited by"]
    lines = [[*heading, *(["kernel time"] if any(times) else [])]]
    for place, time in zip(found, times, strict=True):
        own = [place.axes.get(name, "") for name in names]
        lines.append([*own, *_cells(place.launch), *([seconds(time)] if any(times) else [])])
    right = frozenset(range(len(names) + 5)) | {len(names) + 6}
    reasons = dict.fromkeys(p.reason for p in found if p.reason)
    title = f"Theoretical occupancy of {found[0].variant} on {found[0].architecture}"
    return "\n".join([title, align(lines, right), *(f"  {reason}" for reason in reasons)])


def _cells(launch: LaunchOccupancy | None) -> list[str]:
    if launch is None:
        return [""] * 6
    o = launch.occupancy
    figures = [str(launch.registers), str(o.blocks), f"{o.warps} of {o.most}", f"{o.share:.0%}"]
    return [*figures, f"{launch.resident} of {launch.most}", o.limiter]

"""The traffic of a variant: how often a simulated GPU fetches each element of the input, line by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_ops.devices.sim.lanes import Array
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.memory import Table, address_of
from gpu_ops.devices.sim.ptx.emit import Code
from gpu_ops.devices.sim.ptx.program import Place
from gpu_ops.devices.sim.traffic.maps import SECTOR, Measure, TrafficMaps
from gpu_ops.explaining.xray import execute_by_step
from gpu_ops.params import Values
from gpu_ops.plan import Execution, Launch, Plan
from gpu_ops.types import Filter, Input, Variant

Places = tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class LineTraffic:
    """What one line of a kernel's source fetches of the input: `counts` has, by measure, how often each element is asked
    for, or each sector is fetched. `places` are (file, line) of the line and then of those that it was inlined at."""

    kernel: str
    places: Places
    counts: Mapping[Measure, Array]


@dataclass(frozen=True, eq=False)
class Traffic:
    """What a variant fetches. `shape` is that of the input, whose elements have `itemsize` bytes; `requests` count by
    element (n,), the warps' requests that ask for it; `sectors` by sector of 32 bytes, the warps' requests that fetch
    it; `shared` by element, the threads' reads of cells of shared memory with a copy of it. `elsewhere` are the counts
    of other memory: fetches of sectors of other buffers, and reads of cells that hold anything else. `textures` are the
    requests of textures, which have no known sectors."""

    variant: str
    shape: tuple[int, ...]
    itemsize: int
    lines: tuple[LineTraffic, ...]
    elsewhere: Mapping[Measure, int] = field(default_factory=dict)
    textures: int = 0

    def painted(self, measure: Measure, place: tuple[str, int] | None = None) -> Array:
        """The counts of each element, in the input's shape: by one line with all that it calls, or by all lines."""
        total = np.zeros(int(np.prod(self.shape, dtype=np.int64)), np.int64)
        for line in self.lines:
            if measure in line.counts and (place is None or place in line.places):
                counts = line.counts[measure]
                if measure == "sectors":
                    counts = np.repeat(counts, SECTOR // self.itemsize)[: len(total)]
                total += counts
        return total.reshape(self.shape)

    def total(self, measure: Measure, place: tuple[str, int] | None = None) -> int:
        """The sum of the counts of a measure."""
        lines = [line for line in self.lines if measure in line.counts and (place is None or place in line.places)]
        return sum(int(line.counts[measure].sum(dtype=np.int64)) for line in lines)

    def places(self, file: str = "") -> list[tuple[str, int]]:
        """The lines that fetch anything of the input, of one file or of all."""
        found = {place for line in self.lines for place in line.places if file in ("", place[0])}
        return sorted(found)


class Recorder:
    """Makes the maps of each launch of a plan."""

    def __init__(self) -> None:
        self.maps: list[TrafficMaps] = []

    def observe(self, launch: Launch, code: Code, table: Table) -> TrafficMaps:
        """The maps of a launch that begins."""
        self.maps.append(TrafficMaps(code, table))
        return self.maps[-1]


@dataclass(frozen=True, eq=False)
class TrafficRun:
    """A variant that has run on a simulated GPU: everything that its traffic and its footprints follow from. `maps` are
    those of the launches, in their order; `x` is the input on the device."""

    variant: str
    device: Any
    x: Array
    plan: Plan
    maps: tuple[TrafficMaps, ...]
    executions: tuple[Execution, ...]

    @property
    def launches(self) -> list[Launch]:
        return [step for step in self.plan.steps if isinstance(step, Launch)]

    def traffic(self) -> Traffic:
        """How often each element of the input is fetched."""
        base = address_of(self.x)
        found: defaultdict[tuple[str, Places], dict[Measure, Array]] = defaultdict(dict)
        elsewhere: defaultdict[Measure, int] = defaultdict(int)
        sizes = {"requests": self.x.size, "sectors": -(-self.x.nbytes // SECTOR), "shared": self.x.size}
        for launch, maps in zip(self.launches, self.maps, strict=True):
            for measure, counted in maps.by_measure().items():
                for (place, start), counts in counted.items():
                    if start != base:
                        elsewhere[measure] += int(counts.sum())
                        continue
                    own, key = counts[: sizes[measure]], (launch.kernel.name, _places(place))
                    before = found[key].get(measure)
                    found[key][measure] = own if before is None else before + own
            elsewhere["shared"] += sum(maps.other.values())
        lines = (LineTraffic(*key, {m: small(c) for m, c in counts.items()}) for key, counts in sorted(found.items()))
        textures = sum(one.counts.get("texture_requests", 0) for each in self.executions for one in each.lines)
        about = (self.variant, self.x.shape, self.x.dtype.itemsize)
        return Traffic(*about, tuple(lines), dict(elsewhere), textures)


def record_traffic(
    filter: Filter,
    variant: Variant,
    input: Input,
    params: Values,
    knobs: Values,
    architecture: str = "sm_75",
    edits: Mapping[str, str] | None = None,
) -> TrafficRun:
    """Run a variant on a simulated GPU and record what it fetches. Counts are those of its X-ray. Raises as
    `gpu_ops.explaining.xray.xray` does."""
    recorder = Recorder()
    options = Options(counters="full", machine_code=True, observers=recorder)
    device, task, plan, executions = execute_by_step(
        filter, variant, input, params, knobs, architecture, options, edits
    )
    return TrafficRun(variant.id, device, task.x, plan, tuple(recorder.maps), tuple(e for _, e in executions))


def _places(place: Place) -> Places:
    return tuple(dict.fromkeys(((place.file, place.line), *place.inlined_at)))


def small(counts: Array) -> Array:
    """Counts in the smallest type that holds them, because they travel."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))

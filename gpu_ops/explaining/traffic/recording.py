"""The traffic of a variant: how often a simulated GPU fetches each element of the input, line by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.devices.sim.lanes import Array
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.memory import Table, address_of
from gpu_ops.devices.sim.ptx.emit import Code
from gpu_ops.devices.sim.ptx.program import Place
from gpu_ops.devices.sim.traffic.maps import TrafficMaps
from gpu_ops.devices.sim.units.textures import SimTexture
from gpu_ops.explaining.traffic.content import SECTOR, LineTraffic, Measure, Places, Traffic, small
from gpu_ops.explaining.xray import execute_by_step
from gpu_ops.params import Values
from gpu_ops.plan import Copy, Execution, Launch, Plan
from gpu_ops.types import Filter, Input, Variant


class Recorder:
    """Makes the maps of each launch of a plan."""

    def __init__(self) -> None:
        self.maps: list[TrafficMaps] = []

    def observe(self, launch: Launch, code: Code, table: Table) -> TrafficMaps:
        """The maps of a launch that begins."""
        self.maps.append(TrafficMaps(code, table, [arg.array for arg in launch.args if isinstance(arg, SimTexture)]))
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
        found: defaultdict[tuple[str, Places], dict[Measure, Array]] = defaultdict(dict)
        elsewhere: defaultdict[Measure, int] = defaultdict(int)
        sizes = {"requests": self.x.size, "sectors": -(-self.x.nbytes // SECTOR), "shared": self.x.size}
        for (launch, bases), maps in zip(self._launches_with_bases(), self.maps, strict=True):
            for measure, counted in maps.by_measure().items():
                for (place, start), counts in counted.items():
                    if start not in bases:
                        elsewhere[measure] += int(counts.sum())
                        continue
                    own, key = counts[: sizes[measure]], (launch.kernel.name, _places(place))
                    before = found[key].get(measure)
                    found[key][measure] = own if before is None else before + own
            elsewhere["shared"] += sum(maps.other.values())
        lines = (LineTraffic(*key, {m: small(c) for m, c in counts.items()}) for key, counts in sorted(found.items()))
        about = (self.variant, self.x.shape, self.x.dtype.itemsize)
        textures = self._counted("texture_requests")
        unpainted = textures - sum(maps.texture_requests for maps in self.maps)
        more = textures, self._counted("shared_load_threads"), unpainted
        return Traffic(*about, tuple(lines), dict(elsewhere), *more)

    def _launches_with_bases(self) -> Iterator[tuple[Launch, set[int]]]:
        """Each launch, and where the input is: its own address, and those of textures that it was copied into."""
        base, bases = address_of(self.x), {address_of(self.x)}
        for step in self.plan.steps:
            if isinstance(step, Copy) and isinstance(step.target, SimTexture):
                whole = isinstance(step.source, np.ndarray) and step.source.nbytes == self.x.nbytes
                held, target = whole and address_of(step.source) == base, address_of(step.target.array)
                bases = bases | {target} if held else bases - {target}
            elif isinstance(step, Launch):
                yield step, bases

    def _counted(self, name: str) -> int:
        """A counter of all launches."""
        return sum(line.counts.get(name, 0) for each in self.executions for line in each.lines)


def record_traffic(
    filter: Filter,
    variant: Variant,
    input: Input,
    params: Values,
    knobs: Values,
    architecture: str = "sm_75",
    edits: Mapping[str, str] | None = None,
    code: bool = True,
) -> TrafficRun:
    """Run a variant on a simulated GPU and record what it fetches. Counts are those of its X-ray with the same `code`,
    which counts accesses as the machine code makes them where it is known. Raises as
    `gpu_ops.explaining.xray.xray` does."""
    recorder = Recorder()
    options = Options(counters="full", machine_code=code, observers=recorder)
    device, task, plan, executions = execute_by_step(
        filter, variant, input, params, knobs, architecture, options, edits
    )
    return TrafficRun(variant.id, device, task.x, plan, tuple(recorder.maps), tuple(e for _, e in executions))


def _places(place: Place) -> Places:
    return tuple(dict.fromkeys(((place.file, place.line), *place.inlined_at)))

"""The next steps of the occupancy: how few registers, bytes or threads more or less change the resident blocks."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from gpu_ops.devices.limits import limits_of
from gpu_ops.devices.occupancy import WARP, Occupancy, is_known, occupancy
from gpu_ops.errors import counted

MOST_REGISTERS = 255
"""The most registers that a thread can have."""
MOST_THREADS = 1024
BYTES = 4
"""Shared memory changes by words."""

Resource = Literal["registers", "shared_bytes", "threads"]


@dataclass(frozen=True)
class Demand:
    """What a block asks of a multiprocessor: its `threads`, each with `registers`; its `shared_bytes`, static and
    dynamic; its `barriers`."""

    threads: int
    registers: int
    shared_bytes: int
    barriers: int = 1

    def on(self, architecture: str) -> Occupancy:
        """The occupancy on an architecture whose limits are known. Raises DeviceError for another one."""
        return occupancy(architecture, self.threads, self.registers, self.shared_bytes, self.barriers)


@dataclass(frozen=True)
class OccupancyStep:
    """The smallest change of one resource, all else equal, with which a multiprocessor holds other numbers of blocks
    and warps: `value` instead of the kernel's own."""

    resource: Resource
    value: int
    change: int
    occupancy: Occupancy
    gains: bool


def occupancy_steps(architecture: str, demand: Demand) -> list[OccupancyStep]:
    """The nearest change of registers, of shared bytes and of the block's threads that gains resident warps, and the
    nearest that costs some; none where no value that a kernel may have does. [] for an architecture whose limits are
    not known."""
    if not is_known(architecture) or demand.on(architecture).blocks == 0:
        return []
    most_bytes = limits_of(architecture).shared_bytes
    ranges: dict[Resource, tuple[range, range]] = {
        "registers": (range(demand.registers - 1, 0, -1), range(demand.registers + 1, MOST_REGISTERS + 1)),
        "shared_bytes": (
            range(demand.shared_bytes - BYTES, -1, -BYTES),
            range(demand.shared_bytes + BYTES, most_bytes + 1, BYTES),
        ),
    }
    found = []
    for resource, both in ranges.items():
        for values in both:
            own = _Change(architecture, demand, resource)
            place = bisect_left(values, True, key=own.counts)  # the blocks fall as either grows
            found += (
                [own.step(values[place])] if place < len(values) and own.step(values[place]).occupancy.blocks else []
            )
    return found + _sizes(architecture, demand)


def _sizes(architecture: str, demand: Demand) -> list[OccupancyStep]:
    """The next smaller and the next larger block of whole warps with more resident warps."""
    whole, change = -(-demand.threads // WARP) * WARP, _Change(architecture, demand, "threads")
    found = []
    for sizes in (range(whole - WARP, 0, -WARP), range(whole + WARP, MOST_THREADS + 1, WARP)):
        steps = (change.step(size) for size in sizes)
        found += [step for step in steps if step.gains][:1]
    return found


@dataclass(frozen=True)
class _Change:
    """Other values of one resource."""

    architecture: str
    demand: Demand
    resource: Resource

    def step(self, value: int) -> OccupancyStep:
        own = self.demand.on(self.architecture)
        other = replace(self.demand, **{self.resource: value}).on(self.architecture)
        before = int(getattr(self.demand, self.resource))
        return OccupancyStep(self.resource, value, value - before, other, other.warps > own.warps)

    def counts(self, value: int) -> bool:
        """Whether a value changes the resident warps."""
        return self.step(value).occupancy.warps != self.demand.on(self.architecture).warps


def step_sentence(demand: Demand, step: OccupancyStep, own: Occupancy) -> str:
    """A step in words."""
    change, o = abs(step.change), step.occupancy
    blocks = (
        f"{counted(o.blocks, 'block')} instead of {own.blocks}"
        if o.blocks != own.blocks
        else counted(o.blocks, "block")
    )
    held = f"{blocks} on a multiprocessor, {o.warps} of {o.most} warps instead of {own.warps}"
    if step.resource == "registers":
        return f"{counted(change, 'register')} {'fewer' if step.change < 0 else 'more'} per thread: {held}."
    if step.resource == "shared_bytes":
        side = "less" if step.change < 0 else "more"
        return f"{counted(change, 'byte')} of shared memory {side} per block: {held}."
    return f"Blocks of {step.value:,} threads instead of {demand.threads:,}, all else equal: {held}."


def sentences(architecture: str, demand: Demand) -> list[str]:
    """The steps in words, those that gain first; a sentence where no single change gains anything."""
    if not is_known(architecture):
        return [f"The occupancy of {architecture} is not known: the limits of its multiprocessors are not published."]
    own, steps = demand.on(architecture), occupancy_steps(architecture, demand)
    texts = [step_sentence(demand, step, own) for step in sorted(steps, key=lambda step: not step.gains)]
    if not any(step.gains for step in steps):
        why = "all warps fit already" if own.warps == own.most else "no change of one of them alone brings more warps"
        texts.insert(0, f"Registers, shared memory and block size: {why}.")
    return texts


def as_dict(architecture: str, demand: Demand) -> dict[str, Any]:
    """The steps as JSON, with their sentences."""
    steps = occupancy_steps(architecture, demand)
    listed = [
        {**{"resource": s.resource, "value": s.value, "change": s.change, "gains": s.gains}, **_held(s.occupancy)}
        for s in steps
    ]
    return {"architecture": architecture, **asdict(demand), "steps": listed, "texts": sentences(architecture, demand)}


def _held(o: Occupancy) -> dict[str, int]:
    return {"blocks": o.blocks, "warps": o.warps, "most_warps": o.most}

"""Checks that steps of a plan that access the same memory are ordered: by a stream, by an event, by the host, or by the
wait of a kernel that begins before the previous launch has ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpu_ops.devices.sim.memory import address_of
from gpu_ops.devices.sim.units.textures import SimTexture
from gpu_ops.errors import KernelError
from gpu_ops.plan import DEFAULT_STREAM, Call, Copy, HostTask, Launch, Plan, Prefetch, Step, Where

MUST = "name one in `after` of the other, or put both into one stream"


class _Access(NamedTuple):
    """Bytes low ≤ address < high that a step reads or may write. How a launch uses its arguments is not known."""

    low: int
    high: int
    writes: bool
    by_launch: bool


@dataclass(eq=False)
class _Done:
    """A step, its accesses, and as a bit set the steps that are known to have ended when it starts."""

    step: Step
    accesses: list[_Access]
    before: int


def check_order(plan: Plan, is_pageable: Where) -> None:
    """Raises KernelError that names two unordered steps which access the same memory, at least one of them writing.
    Launches that share an argument are not compared: both may only read it."""
    if all(step.stream == plan.steps[0].stream and not isinstance(step, HostTask) for step in plan.steps):
        return
    done: list[_Done] = []
    for one in _ordered(plan, is_pageable):
        unordered = ~one.before & ((1 << len(done)) - 1)
        while unordered:
            place = (unordered & -unordered).bit_length() - 1
            unordered &= unordered - 1
            if how := _conflict(done[place].accesses, one.accesses):
                raise KernelError(
                    f"{_name(one.step)} {how} what {_name(done[place].step)} accesses, and nothing orders the two: "
                    f"{MUST}."
                )
        done.append(one)


def check_early(plan: Plan) -> None:
    """Raises KernelError that names an early launch and what it loads as read-only memory although a launch that may
    still run writes it: the compiler moves such loads before the kernel's wait."""
    running = dict[int, list[Launch]]()  # by stream: what may run when the next early launch begins
    for step in plan.steps:
        if not isinstance(step, Launch):
            running[step.stream] = []
            continue
        before = running.get(step.stream, []) if step.early else []
        for other in before:
            _check_pair(step, other)
        running[step.stream] = [step] if step.kernel.loaded.reach.in_order else [*before, step]


def _check_pair(early: Launch, other: Launch) -> None:
    written = [access for _, access in _arrays(other, other.kernel.loaded.reach.writes)]
    for name, read in _arrays(early, early.kernel.loaded.reach.read_only):
        if _conflict(written, [read]):
            raise KernelError(
                f"{early.name} may begin before {other.name} has ended, and loads {name}, which that one writes, as "
                "read-only memory (ld.global.nc): such loads may precede its wait. Load it by load_after_wait, or do "
                "not launch it early."
            )


def _arrays(launch: Launch, names: frozenset[str]) -> Iterator[tuple[str, _Access]]:
    """The arrays of a launch that are arguments of these names."""
    for name, arg in zip(launch.kernel.loaded.param_names, launch.args, strict=True):
        if name in names and hasattr(arg, "__array_interface__") and arg.ndim:
            yield from ((name, access) for access in _of((arg,), True))


def _ordered(plan: Plan, is_pageable: Where) -> Iterator[_Done]:
    known = everything = 0  # what has ended when the host enqueues the next step, its own tasks among it; all steps
    of_stream, of_name = dict[int, int](), dict[str, int]()
    for place, step in enumerate(plan.steps):
        before = known
        for name in step.after:
            before |= of_name.get(name, 0)
        if isinstance(step, HostTask):
            before |= everything if step.synchronizes else 0
        else:
            before |= of_stream.get(step.stream, 0)
            if plan.blocking:
                before |= everything if step.stream == DEFAULT_STREAM else of_stream.get(DEFAULT_STREAM, 0)
        yield _Done(step, list(_accesses(step)), before)
        ended = before | 1 << place
        everything |= ended
        of_name[step.name] = of_name.get(step.name, 0) | ended
        if not isinstance(step, HostTask):
            of_stream[step.stream] = ended
        if isinstance(step, HostTask) or _waits(step, is_pageable):
            known |= ended


def _waits(step: Step, is_pageable: Where) -> bool:
    """Whether the host waits until a step has ended."""
    return isinstance(step, Copy) and (is_pageable(step.source) or is_pageable(step.target))


def _accesses(step: Step) -> Iterator[_Access]:
    if isinstance(step, Copy):
        yield from _of((step.source,), False)
        yield from _of((step.target,), True)
    elif isinstance(step, Launch):
        yield from _of((arg for arg in step.args if hasattr(arg, "__array_interface__") and arg.ndim), True, True)
    elif isinstance(step, HostTask):
        yield from _of(step.reads, False)
        yield from _of(step.writes, True)
    elif not isinstance(step, Call):
        yield from _of((step.target,), not isinstance(step, Prefetch))


def _of(arrays: Iterable[Any], writes: bool, by_launch: bool = False) -> Iterator[_Access]:
    for array in arrays:
        whole = array.array if isinstance(array, SimTexture) else array
        low = address_of(whole)
        length = sum((n - 1) * apart for n, apart in zip(whole.shape, whole.strides, strict=True)) + whole.itemsize
        yield _Access(low, low + (length if whole.size else 0), writes, by_launch)


def _conflict(before: Iterable[_Access], now: Iterable[_Access]) -> str:
    """How a later step conflicts with an earlier one's memory; "" where they access different memory."""
    for other in before:
        for one in now:
            meet = one.low < other.high and other.low < one.high
            if meet and (one.writes or other.writes) and not (one.by_launch and other.by_launch):
                return "writes" if one.writes else "reads"
    return ""


def _name(step: Step) -> str:
    where = "the host" if isinstance(step, HostTask) else f"stream {step.stream}"
    return f"{step.name} ({where})"

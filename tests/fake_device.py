"""A device that computes on the host, keeps what it was asked for, and whose clock is a list of numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_ops.devices.cpu import CpuDevice, run_step
from gpu_ops.errors import DeviceMemoryError
from gpu_ops.plan import Call, Copy, Execution, Launch, Limits, Plan

MIB = 1 << 20


@dataclass
class Asked:
    """One sampler that was asked for: its plans, the mode, and how many samples it gave."""

    plans: list[Plan]
    mode: str
    samples: int = 0

    @property
    def copies(self) -> list[Copy]:
        return [step for step in self.plans[0].steps if isinstance(step, Copy)]


class FakeSampler:
    clock = "cuda-event"

    def __init__(self, asked: Asked, seconds: Iterable[float], host: float) -> None:
        self.asked, self.mode, self.host_seconds_per_step = asked, asked.mode, host
        self._seconds = itertools.cycle(seconds)

    def sample(self) -> float:
        self.asked.samples += 1
        for step in without_launches(self.asked.plans[0]).steps:
            run_step(step)
        return next(self._seconds)


@dataclass
class FakeDevice(CpuDevice):
    """It answers to the name cpu, so that CPU variants run on it, and has the memory, the cache and the clock of a
    device with memory of its own."""

    l2: int = 1
    free: int = 1 << 40
    host_seconds: float = 0.0
    seconds: Sequence[float] = (0.001,)
    fails_after: int | None = None
    asked: list[Asked] = field(default_factory=list)
    memory: dict[int, str] = field(default_factory=dict)
    executed: list[str] = field(default_factory=list)
    kind: Any = "cpu"
    clock: Any = "cuda-event"
    _kept: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.limits = Limits((9, 0), 1024, 1 << 16, 4, self.l2, self.free, 2)

    def session(self, edits: Mapping[str, str], checks: Any = "full") -> FakeDevice:
        return self

    def free_bytes(self) -> int:
        return self.free

    def allocate(self, kind: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        array = super().empty(shape, dtype)
        self._kept.append(array)
        self.memory[id(array)] = kind
        return array

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        if self.fails_after is not None:
            if self.fails_after == 0:
                raise DeviceMemoryError("This needs more than is free.")
            self.fails_after -= 1
        return super().empty(shape, dtype)

    def execute(self, plan: Plan, mode: Any = "direct", trace: bool = False) -> Execution:
        self.executed.append(mode)
        return super().execute(without_launches(plan), mode, trace)

    def sampler(self, plans: Sequence[Plan], mode: Any) -> Any:
        asked = Asked(list(plans), mode)
        self.asked.append(asked)
        return FakeSampler(asked, self.seconds, self.host_seconds)


def copy_plan(device: Any, task: Any) -> Plan:
    """A plan that copies its input."""
    out = device.empty(task.x.shape, task.x.dtype)
    return Plan((Call(np.copyto, (out, task.x), name="copy"),), {"image": out})


def without_launches(plan: Plan) -> Plan:
    """The steps that the host can run."""
    return Plan(tuple(step for step in plan.steps if not isinstance(step, Launch)), plan.outputs)

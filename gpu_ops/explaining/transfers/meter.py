"""The time of plans: measured on a GPU, or predicted by the model of a simulated GPU's queues."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gpu_ops.devices import open_device
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.streams.queues import Queues, overlap
from gpu_ops.errors import ParamError
from gpu_ops.explaining.spans import Basis, Rates
from gpu_ops.plan import Device, Plan, Span

REPEATS = 9
AFFORDED = 0.15
"""Seconds for the repeats of a plan after the first, of which there is one at least."""


@dataclass
class Meter:
    """Times plans on `device`, a GPU or a simulated one. A simulated GPU has these `queues`; without `rates` it counts
    steps, each as long as the others."""

    device: str
    rates: Rates | None = None
    queues: Queues = field(default_factory=Queues)
    session: Device = field(init=False)

    def __post_init__(self) -> None:
        if self.device == "cpu":
            raise ParamError("Transfers are those of a GPU: name cuda:N, or sim for the model, as the device.")
        self.session = open_device(self.device).session({})

    @property
    def measures(self) -> bool:
        """Whether plans run and are timed."""
        return not isinstance(self.session, SimDevice)

    @property
    def basis(self) -> Basis:
        """What the times are."""
        return "measured" if self.measures else "order" if self.rates is None else "predicted"

    @property
    def machine(self) -> str:
        """The model of a GPU that measures, else the machine of the rates, if it is known."""
        return str(self.session.describe()["model"]) if self.measures else self.rates.machine if self.rates else ""

    def time(self, plan: Plan, before: Plan | None = None) -> float:
        """How long a plan takes: the median of its executions, each after one of `before`, which does not count."""
        if not self.measures:
            return _end(self._spans(plan))
        found: list[float] = []
        while len(found) < 2 or (len(found) <= REPEATS and sum(found[1:]) < AFFORDED):
            if before is not None:
                self.session.execute(before)
            found.append(self.session.execute(plan).elapsed)
        return statistics.median(found[1:])

    def time_and_overlap(self, plan: Plan) -> tuple[float, float]:
        """How long a plan takes, and how well its uploads, kernels and downloads overlap, see
        `gpu_ops.devices.sim.streams.queues.overlap`."""
        if not self.measures:
            spans = self._spans(plan)
            return _end(spans), overlap(spans)
        return self.time(plan), overlap(self.session.execute(plan, trace=True).spans)

    def _spans(self, plan: Plan) -> tuple[Span, ...]:
        assert isinstance(self.session, SimDevice)
        how: dict[str, Any] = {} if self.rates is None else {"cost": self.rates.cost}
        return self.session.timeline(plan, self.queues, **how)


def _end(spans: Sequence[Span]) -> float:
    return max((span.end for span in spans), default=0.0)

"""What a sweep copies and computes: an input, and a kernel of another filter between its copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpu_ops.errors import ParamError
from gpu_ops.explaining.transfers.catalogue import FAMILY
from gpu_ops.filters import FILTERS
from gpu_ops.filters.transfer.workload import Workload
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io.steps.apply import title_of
from gpu_ops.params import Values, check_values
from gpu_ops.plan import Device, DeviceArray
from gpu_ops.running.suitable import check_input
from gpu_ops.running.verify import full_meta
from gpu_ops.task import Task
from gpu_ops.types import Filter, Input


@dataclass(frozen=True, eq=False)
class Subject:
    """An input with the filter of its transfers, and its task."""

    input: Input
    filter: Filter
    params: Values

    @classmethod
    def of(cls, input: Input, filter: str = "", params: Values | None = None) -> Subject:
        """The transfers of an input: with the parameters of a filter if that is the filter of transfers, else with its
        defaults. Raises ParamError for what it does not take."""
        transfers = FILTERS.find(FAMILY, input.kind)
        values = check_values(transfers.params, params or {} if filter == transfers.id else {}, transfers.id)
        check_input(transfers, input, values)
        return cls(input, transfers, values)

    @property
    def workload(self) -> Workload:
        """The kernel between the copies."""
        filter, _, variant = str(self.params["work"]).partition("-")
        found = FILTERS.find(filter)
        return Workload(found, found.variant(variant))

    def task(self, device: Device, knobs: Values | None = None, x: DeviceArray | None = None) -> Task:
        """The task on a device, with the input there. Raises ParamError where the kernel does not take it."""
        task = Task.of(full_meta(self.input), self.params, knobs or {}, device.limits)
        if reason := self.workload.variant.refusal(self.workload.task(task)):
            raise ParamError(f"{self.params['work']} cannot do this: {reason}.")
        return task.on(device.upload(self.input.array) if x is None else x)

    def __str__(self) -> str:
        array: Any = self.input.array
        size = INPUT_KINDS[self.input.kind].size_text(array.shape)
        return f"{self.params['work']} on {title_of(self.input)}, {size} {array.dtype.name}"

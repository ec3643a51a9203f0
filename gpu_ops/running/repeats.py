"""Plans of a GPU that run again and again, each time into pinned memory that the caller keeps as the result."""

from __future__ import annotations

import ctypes
import weakref
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from gpu_ops.errors import PinnedMemoryError
from gpu_ops.io.memory import empty
from gpu_ops.plan import Call, Copy, Device, DeviceArray, HostTask, Plan

Array = np.ndarray[Any, Any]
LENT = 2
"""How many results of a plan may be pinned memory at a time: a caller has one, and drops it as the next one comes."""
LENT_BYTES = 4 << 20
"""The most bytes of such results. Larger ones are copied from pinned memory, of which there is little."""


@dataclass(eq=False)
class _Target:
    """What a GPU executes, and the pinned memory that this fills. `lent` are watched: the arrays that callers have."""

    ready: Any
    results: dict[str, Array]
    lent: list[weakref.ref[Any]] = field(default_factory=list)

    @property
    def free(self) -> bool:
        return all(buffer() is None for buffer in self.lent)

    def lend(self) -> dict[str, Array]:
        """Arrays over the pinned memory, for a caller."""
        arrays, self.lent = {}, []
        for name, result in self.results.items():
            # Every view of the array keeps this buffer alive, but not the array itself.
            buffer: Any = (ctypes.c_byte * max(result.nbytes, 1)).from_address(result.ctypes.data)
            buffer.memory = result
            self.lent.append(weakref.ref(buffer))
            arrays[name] = np.frombuffer(buffer, result.dtype, result.size).reshape(result.shape)
        return arrays


class Repeats:
    """A plan that runs again and again. A run sets all bits of the outputs first and copies them last, so that the host
    waits once. Raises PinnedMemoryError."""

    def __init__(self, session: Device, plan: Plan) -> None:
        self._session, self._plan = session, plan
        self._most = LENT if sum(out.nbytes for out in plan.outputs.values()) <= LENT_BYTES else 0
        self._own = self._target()
        self._targets: list[_Target] = []

    @staticmethod
    def takes(session: Device, plan: Plan) -> bool:
        """Whether it is a plan for a GPU, with one stream and outputs without gaps."""
        alone = not any(step.stream or isinstance(step, HostTask) for step in plan.steps)
        return session.kind == "cuda" and alone and all(out.flags.c_contiguous for out in plan.outputs.values())

    def run(self) -> dict[str, Array]:
        """The outputs of one more run, which belong to the caller."""
        target = self._free_target()
        self._session.execute(target.ready)
        return target.lend() if target is not self._own else {n: _copied(a) for n, a in target.results.items()}

    def _free_target(self) -> _Target:
        """Memory that no caller has, or this plan's own where callers have all that there may be."""
        for target in self._targets:
            if target.free:
                return target
        if len(self._targets) < self._most:
            with suppress(PinnedMemoryError):
                self._targets.append(self._target())
                return self._targets[-1]
        return self._own

    def _target(self) -> _Target:
        session, outputs = self._session, self._plan.outputs
        results = {name: session.allocate("pinned", out.shape, out.dtype) for name, out in outputs.items()}
        first = [Call(session.fill, (as_bytes(out), 0xFF)) for out in outputs.values()]
        last = [Copy(results[name], out) for name, out in outputs.items()]
        plan = replace(self._plan, steps=(*first, *self._plan.steps, *last), outputs=results)
        return _Target(cast(Any, session).prepare(plan), results)


def as_bytes(array: DeviceArray) -> DeviceArray:
    """The bytes of an array; of pitched rows those in the rows alone."""
    return (array.reshape(-1) if array.flags.c_contiguous else array).view(np.uint8)


def _copied(array: Array) -> Array:
    """A copy of a result, in memory of `io.memory.allocating`."""
    copy = empty(array.shape, array.dtype)[0]
    np.copyto(copy, array)
    return copy

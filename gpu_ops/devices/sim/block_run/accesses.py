"""What each step does with memory, in few arrays, so that thousands of steps are sent quickly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpu_ops.devices.sim.block_run.log import Array


class Access(NamedTuple):
    """What lanes of one step do with memory by one instruction: `threads` (n,) of the block access `nbytes` bytes at
    each of `addresses` (n,): bytes in shared memory, or from the beginning of the array `name` in global memory. `verb`
    is "reads", "writes" or "changes"."""

    space: str
    verb: str
    nbytes: int
    name: str
    threads: Array
    addresses: Array


@dataclass(frozen=True, eq=False)
class Accesses:
    """All accesses of a run. Access n belongs to step `steps[n]`, is of kind `kinds[which[n]]` (space, verb, nbytes,
    name), and its lanes are from `starts[n]` to before `starts[n + 1]` in `threads` and `addresses`."""

    steps: Array
    which: Array
    kinds: tuple[tuple[str, str, int, str], ...]
    starts: Array
    threads: Array
    addresses: Array

    def at(self, step: int) -> tuple[Access, ...]:
        """The accesses of a step, in order."""
        first, last = np.searchsorted(self.steps, (step, step + 1))
        return tuple(self._access(n) for n in range(first, last))

    def __iter__(self) -> Iterator[tuple[int, Access]]:
        """Each access with its step, in order."""
        return ((step, self._access(n)) for n, step in enumerate(self.steps.tolist()))

    def _access(self, number: int) -> Access:
        part = slice(int(self.starts[number]), int(self.starts[number + 1]))
        space, verb, nbytes, name = self.kinds[self.which[number]]
        return Access(space, verb, nbytes, name, self.threads[part], self.addresses[part])


class AccessLog:
    """Collects accesses."""

    def __init__(self) -> None:
        self._steps, self._which = list[int](), list[int]()
        self._kinds: dict[tuple[str, str, int, str], int] = {}
        self._threads, self._addresses = list[Array](), list[Array]()

    def note(self, step: int, access: Access) -> None:
        """Note an access of a step, which is not before the last one's."""
        kind = (access.space, access.verb, access.nbytes, access.name)
        self._steps.append(step)
        self._which.append(self._kinds.setdefault(kind, len(self._kinds)))
        self._threads.append(access.threads.astype(np.uint16))
        self._addresses.append(access.addresses)

    def accesses(self, steps: int) -> Accesses:
        """All of them up to a step."""
        count = int(np.searchsorted(self._steps, steps, "right"))
        threads, addresses = self._threads[:count], self._addresses[:count]
        starts = np.cumsum([0, *map(len, threads)])
        return Accesses(
            np.array(self._steps[:count], np.int32),
            np.array(self._which[:count], np.int32),
            tuple(self._kinds),
            starts,
            np.concatenate([np.zeros(0, np.uint16), *threads]),
            np.concatenate([np.zeros(0, np.int64), *addresses]),
        )

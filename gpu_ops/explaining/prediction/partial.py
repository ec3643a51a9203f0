"""Which arrays of a plan are not whole, because only some blocks of a launch were simulated, and what they decide."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from gpu_ops.devices.sim.launch import Options, blocks_per_batch
from gpu_ops.devices.sim.ptx.decided import decided
from gpu_ops.devices.sim.ptx.kernels import LoadedKernel
from gpu_ops.explaining.prediction.launches import Values
from gpu_ops.plan import Copy, Launch, Step

Bytes = tuple[int, int]


class Partial:
    """The steps of a plan in their order, of which launches run so many `batches` of blocks between the first and the
    last, all of them (0), or none (None)."""

    def __init__(self, batches: int | None, options: Options) -> None:
        self.batches, self.options = batches, options
        self._parts: list[Bytes] = []

    def values(self, step: Step) -> Values:
        """The values that may decide what the next step does."""
        if isinstance(step, Copy):
            self._parts += [_bytes(step.target)] * self._is_part(step.source)
        if not isinstance(step, Launch):
            return ""
        loaded = step.kernel.loaded
        arrays = dict(zip(loaded.param_names, step.args, strict=True))
        reads, writes, deciding = (
            [array for name, array in arrays.items() if hasattr(array, "nbytes") and (name in names or "?" in names)]
            for names in (loaded.reach.reads, loaded.reach.writes, _deciding(loaded))
        )
        found: Values = ""
        if _deciding(loaded):
            found = "computed" if any(map(self._is_part, deciding)) else "loaded"
        if not self._runs_whole(step, loaded) or any(map(self._is_part, reads)):
            self._parts += map(_bytes, writes)
        return found

    def _runs_whole(self, step: Launch, loaded: LoadedKernel) -> bool:
        if not self.batches:
            return self.batches == 0
        shared = loaded.entry.resources.get("shared_bytes", 0) + step.shared_bytes
        return math.prod(step.grid) <= (self.batches + 2) * blocks_per_batch(step, shared, loaded, self.options)

    def _is_part(self, array: Any) -> bool:
        first, last = _bytes(array)
        return any(first < other_last and other_first < last for other_first, other_last in self._parts)


def _bytes(array: Any) -> Bytes:
    """The place of an array, or of a texture's, in memory."""
    array = getattr(array, "array", array)
    first = int(array.__array_interface__["data"][0])
    return first, first + int(array.nbytes)


@lru_cache(64)
def _deciding(loaded: LoadedKernel) -> frozenset[str]:
    """The parameters whose values may decide what a kernel does, by their names in the source."""
    names = dict(zip(loaded.symbols, loaded.param_names, strict=True))
    found = decided([code.block for code in loaded.code.blocks])
    return frozenset(names.get(name, name) for name in found.addresses | found.branches)

"""What the lanes of a warp have of a row and need of their neighbours, which the kernels of lone warps compute as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.wavelet.forms import work_type
from gpu_ops.filters.wavelet.lattice import lattice_of
from gpu_ops.filters.wavelet.strips import Strips
from gpu_ops.filters.wavelet.transform import MOST_TAPS
from gpu_ops.task import Task

WARP, TANGENTS = 32, 4


class Lane(NamedTuple):
    """A lane of `each` samples, or half as many coefficients of either half."""

    taps: int
    reach: int
    each: int
    lattice: bool
    image: bool

    @classmethod
    def of(cls, task: Task) -> Lane:
        strips = Strips.of(task)
        lattice = lattice_of(task.params["wavelet"]) is not None and bool(task.knobs["lattice"])
        return cls(strips.taps, strips.reach, int(task.knobs["each"]), lattice, strips.image)

    @property
    def ahead(self) -> int:
        """How far a lane's first coefficient is from half its first sample."""
        if not self.image:
            return 0
        return (self.reach + 2) // 4 * 2 if self.lattice else (self.reach - self.taps // 2 + 3) // 4 * 2

    def lost(self, there: bool, levels: int = 1) -> tuple[int, int]:
        """The lanes at both ends of a warp that lack what lies beyond, where `levels` levels are as wide as one."""
        before = self.reach - 2 * self.ahead
        around = max(before, 0), self.taps - 2 - before
        wanted = self.taps // 2 - 1 + self.ahead - self.reach // 2, (self.reach + 1) // 2 - self.ahead
        sides = [own + (0 if there else 2 * more) for own, more in zip(around, wanted, strict=True)]
        return -(-sides[0] * levels // self.each), -(-sides[1] * levels // self.each)

    def width(self, there: bool) -> int:
        """The samples of a row that a warp makes, or whose coefficients it makes."""
        return (WARP - sum(self.lost(there))) * self.each


def constants_of(task: Task, constants: Mapping[str, Any]) -> dict[str, Any]:
    """Of kernels of lone warps: those of all kernels, or the lattice."""
    if not Lane.of(task).lattice:
        return dict(constants)
    values = np.zeros(TANGENTS + MOST_TAPS // 2, work_type(task))
    found = lattice_of(task.params["wavelet"])
    assert found is not None
    values[: len(found)] = found
    return {**constants, "lattice": values}

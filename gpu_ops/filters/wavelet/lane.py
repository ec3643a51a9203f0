"""What the lanes of a warp have of a row and need of their neighbours, which kernels of lone warps compute as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.wavelet.bases import taps_of
from gpu_ops.filters.wavelet.forms import work_type
from gpu_ops.filters.wavelet.lattice import lattice_of
from gpu_ops.filters.wavelet.strips import Strips
from gpu_ops.filters.wavelet.transform import MOST_TAPS
from gpu_ops.task import Task

WARP, TANGENTS = 32, 4
OF_IMAGE, OF_SIGNAL = 4, (32, 48, 64)
"""Samples a lane. More of a signal's cost registers and code, fewer leave fewer lanes with all that they need."""
LONGEST = 16
"""The most taps of filters whose state lies in registers."""


class Lane(NamedTuple):
    """A lane of `each` samples, or half as many coefficients of either half."""

    taps: int
    reach: int
    each: int
    lattice: bool
    image: bool

    @classmethod
    def of(cls, task: Task) -> Lane:
        """Of a signal the fewest samples with which two thirds of the lanes have all that they need."""
        strips, found = Strips.of(task), lattice_of(task.params["wavelet"]) is not None
        if strips.image:
            return cls(strips.taps, strips.reach, OF_IMAGE, found, True)
        levels = (1 << task.params["levels"]) - 1
        possible = [cls(strips.taps, strips.reach, each, found, False) for each in OF_SIGNAL]
        enough = (lane for lane in possible if 3 * sum(lane.lost(False, levels)) <= WARP)
        return next(enough, possible[-1])

    @property
    def ahead(self) -> int:
        """How far a lane's first coefficient is from half its first sample."""
        if not self.image:
            return 0
        return (self.reach + 2) // 4 * 2 if self.lattice else (self.reach - self.taps // 2 + 3) // 4 * 2

    def lost(self, there: bool, levels: int = 1) -> tuple[int, int]:
        """The lanes at both ends of a warp that lack what lies beyond, where `levels` levels are as wide as one."""
        around = max(self.reach - 2 * self.ahead, 0), self.taps - 2 - self.reach + 2 * self.ahead
        wanted = self.taps // 2 - 1 + self.ahead - self.reach // 2, (self.reach + 1) // 2 - self.ahead
        sides = [own + (0 if there else 2 * more) for own, more in zip(around, wanted, strict=True)]
        return -(-sides[0] * levels // self.each), -(-sides[1] * levels // self.each)

    def width(self, there: bool, levels: int = 1) -> int:
        """The samples of a row that a warp makes, or whose coefficients it makes."""
        return (WARP - sum(self.lost(there, levels))) * self.each


def shared_defines(task: Task, lane: Lane) -> dict[str, Any]:
    """What the kernels of lone warps have in common."""
    return {
        "TAPS": lane.taps,
        "EACH": lane.each,
        "LATTICE": int(lane.lattice),
        "ZEROS": zeros_of(task),
        "THREADS": WARP,
    }


def zeros_of(task: Task) -> str:
    """The taps that are zero, 16 bits a filter in the order of the bank."""
    filters = taps_of(task.params["wavelet"])
    bank = filters.dec_lo[::-1], filters.dec_hi[::-1], filters.rec_lo, filters.rec_hi
    return f"{sum(1 << 16 * f + t for f, taps in enumerate(bank) for t, tap in enumerate(taps) if tap == 0)}ULL"


def constants_of(task: Task, constants: Mapping[str, Any]) -> dict[str, Any]:
    """The constants of all kernels, and the lattice where there is one."""
    found = lattice_of(task.params["wavelet"])
    if found is None:
        return dict(constants)
    values = np.zeros(TANGENTS + MOST_TAPS // 2, work_type(task))
    values[: len(found)] = found
    return {**constants, "lattice": values}

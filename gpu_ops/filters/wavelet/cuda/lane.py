"""The part of a row in each lane of an independent warp, and the neighbours it needs; the kernels compute it as
well."""

from __future__ import annotations

from typing import Any, NamedTuple

from gpu_ops.filters.wavelet.cuda.lane_filters import Form, ahead_of, defines_of, form_of
from gpu_ops.filters.wavelet.cuda.strips import Strips
from gpu_ops.task import Task

WARP = 32
OF_IMAGE, OF_SIGNAL = 4, (32, 48, 64)
"""Samples per lane. More samples of a signal need more registers and code, fewer leave fewer lanes with all their
neighbours."""
LONGEST = 16
"""The most taps of filters whose state is in registers forward and inverse at once; one of the two alone holds all."""


class Part(NamedTuple):
    """The work of a launch: samples to coefficients, coefficients to samples, or both; for one level, or for two with
    their intermediate approximation in registers."""

    splits: bool
    joins: bool
    two: bool = False

    @property
    def forward(self) -> bool:
        """Whether it writes coefficients."""
        return not self.joins


FORWARD, JOIN, INVERSE = Part(True, False), Part(False, True), Part(True, True)
TWO_FORWARD, TWO_INVERSE = Part(True, False, True), Part(True, True, True)


class Lane(NamedTuple):
    """A lane of `each` samples, or half as many coefficients of either half."""

    taps: int
    reach: int
    each: int
    form: Form
    image: bool

    @classmethod
    def of(cls, task: Task) -> Lane:
        """For a signal the minimum number of samples for which two thirds of the lanes have all their neighbours."""
        strips, form = Strips.of(task), form_of(task.params["wavelet"], task.params["border"])
        if strips.image:
            return cls(strips.taps, strips.reach, OF_IMAGE, form, True)
        levels = (1 << task.params["levels"]) - 1
        possible = [cls(strips.taps, strips.reach, each, form, False) for each in OF_SIGNAL]
        enough = (lane for lane in possible if 3 * sum(lane.lost(INVERSE, levels)) <= WARP)
        return next(enough, possible[-1])

    @property
    def open(self) -> int:
        """The values of unfinished columns that a lane of an image keeps forward, and as many inverse: for each of its
        columns half the taps of each filter, of which a lattice shares both halves."""
        return self.each * (self.taps // 2 - 1) * (2 if self.form is Form.SUMS else 1)

    @property
    def ahead(self) -> int:
        """The distance from half a lane's first sample to its first coefficient."""
        return ahead_of(self.form, self.taps, self.reach) if self.image else 0

    def lost(self, part: Part, levels: int = 1) -> tuple[int, int]:
        """The lanes at both ends of a warp that lack neighbours, if `levels` levels have equal width."""
        sides = zip(self._around(), self._wanted(self.ahead), self._wanted(0), strict=True)
        before, after = (self._lack(part, *side) for side in sides)
        return -(-before * levels // self.each), -(-after * levels // self.each)

    def _lack(self, part: Part, around: int, wanted: int, second: int) -> int:
        """The samples at one end, from the numbers of neighbouring samples and coefficients; `second` are those of a
        second level."""
        if not part.two:
            return part.splits * around + part.joins * 2 * wanted
        return 2 * wanted + max(around, 4 * second) if part.joins else 3 * around

    def _around(self) -> tuple[int, int]:
        """Neighbouring samples that a lane's coefficients need."""
        return max(self.reach - 2 * self.ahead, 0), self.taps - 2 - self.reach + 2 * self.ahead

    def _wanted(self, ahead: int) -> tuple[int, int]:
        """Neighbouring coefficients that a lane's samples need, if the first one is at this distance."""
        return self.taps // 2 - 1 + ahead - self.reach // 2, (self.reach + 1) // 2 - ahead

    def width(self, part: Part, levels: int = 1) -> int:
        """The samples of a row that a warp computes, or whose coefficients it computes."""
        return (WARP - sum(self.lost(part, levels))) * self.each


def shared_defines(task: Task, lane: Lane) -> dict[str, Any]:
    """The common part of the kernels of independent warps."""
    return {
        "TAPS": lane.taps,
        "EACH": lane.each,
        "THREADS": WARP,
        **defines_of(task.params["wavelet"], task.params["border"]),
    }

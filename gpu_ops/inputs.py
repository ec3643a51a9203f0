"""What a filter is applied to: an array with its meaning, and what its file says beside the values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.html import html_of_input
from gpu_ops.input_kinds import Kind
from gpu_ops.output_kinds import Form
from gpu_ops.task import Meta


class Pixel(NamedTuple):
    """The size of a pixel, or the distance of two: along y and x, in a unit such as "µm"."""

    y: float
    x: float
    unit: str


class FrameAxes(NamedTuple):
    """The axes along which the frames of a stack lie, the slowest first: `letters` out of T, Z and C (time, depth,
    channel) with as many `counts`; "" where they are unknown. `interval` is the time from frame to frame along T in
    seconds, `distance` that of two planes along Z in millimetres; 0 where they are unknown."""

    letters: str = ""
    counts: tuple[int, ...] = ()
    interval: float = 0.0
    distance: float = 0.0


@dataclass(frozen=True)
class Facts:
    """What a file says beside its values: how many `frames` it has, of which the input shows one or a projection, the
    size of a pixel where it is known, the names of a signal's channels and the units of their values where they have
    some, the time of its first sample in seconds, and the axes of frames."""

    frames: int = 1
    pixel: Pixel | None = None
    labels: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    start: float = 0.0
    frame_axes: FrameAxes = FrameAxes()

    def describe(self, form: Form) -> Form:
        """The form of the input, or of an output made of it, with these facts."""
        return form.described(self.labels, self.units, self.start)


@dataclass(frozen=True, eq=False)
class Input:
    """An array with its meaning.

    `axes` names each axis ("yx", "yxc", "t", "tc", or any letters for a stack). `rate` is in hertz. `origin` is
    JSON: {"path", "hash"} or {"generator", "seed", …}, then {"steps": […]} with the changes since.
    `clean` is the noise-free original where there is one, `facts` what the file says beside the values.
    """

    kind: Kind
    array: np.ndarray[Any, Any]
    axes: str
    name: str
    origin: Mapping[str, Any]
    rate: float | None = None
    clean: np.ndarray[Any, Any] | None = None
    finite: bool = True
    facts: Facts = Facts()

    @property
    def meta(self) -> Meta:
        return Meta(self.kind, self.array.shape, self.array.dtype.name, self.finite, rate=self.rate)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The array itself, for numpy.asarray and for libraries that draw."""
        return np.array(self.array, dtype=dtype, copy=copy)

    def _repr_html_(self) -> str:
        return html_of_input(self)

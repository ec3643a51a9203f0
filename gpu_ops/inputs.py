"""The input of a filter: an array with its axes and rate, and the metadata of its file."""

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
    """The size of a pixel, or the pixel spacing, along y and x, in a unit such as "µm"."""

    y: float
    x: float
    unit: str


class FrameAxes(NamedTuple):
    """The axes of the frames of a stack, the slowest first: `letters` out of T, Z and C (time, depth, channel) with
    their `counts`; "" if unknown. `interval` is the time between frames along T in seconds, `distance` the spacing of
    planes along Z in millimetres; 0 if unknown."""

    letters: str = ""
    counts: tuple[int, ...] = ()
    interval: float = 0.0
    distance: float = 0.0


@dataclass(frozen=True)
class Facts:
    """The metadata of a file: its number of `frames`, of which the input is one or a projection; the pixel size if
    known; the names and units of a signal's channels if given; the time of its first sample in seconds; and the axes of
    the frames."""

    frames: int = 1
    pixel: Pixel | None = None
    labels: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    start: float = 0.0
    frame_axes: FrameAxes = FrameAxes()

    def describe(self, form: Form) -> Form:
        """The form of the input, or of an output derived from it, with this metadata."""
        return form.described(self.labels, self.units, self.start)


@dataclass(frozen=True, eq=False)
class Input:
    """An array with its axes, rate and origin.

    `axes` names each axis ("yx", "yxc", "t", "tc", or any letters for a stack). `rate` is in hertz. `origin` is JSON:
    {"path", "hash"} or {"generator", "seed", …}, then {"steps": […]} with all later changes. `clean` is the noise-free
    original if there is one, `facts` the metadata of the file.
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
        """The array itself, for numpy.asarray and for plotting libraries."""
        return np.array(self.array, dtype=dtype, copy=copy)

    def _repr_html_(self) -> str:
        return html_of_input(self)

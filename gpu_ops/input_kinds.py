"""Kinds of input: axes, spatial rank, the crop that a simulated GPU processes, and the shapes that the contract
tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gpu_ops.output_kinds import CHANNEL, TIME, Axis, ViewKind

Kind = Literal["image", "signal", "stack"]
Shape = tuple[int, ...]
Part = tuple[slice, ...]
Spans = tuple[tuple[int, int], ...]
"""Where a part of an input begins and ends along each spatial axis."""

IMAGE_CHANNELS = (1, 3, 4)
MOST_CHANNELS = 256
"""The maximum number of channels of a signal: that of the largest EEG electrode caps. More is an image or a mistake."""

ODD = ("NaN", "infinity")
"""Contract data with a few such values among random ones, for floating-point types of filters that accept them."""


@dataclass(frozen=True)
class InputKind:
    """Everything that depends only on the kind of an input.

    `rank` is the number of spatial axes, which come first; the channel axis follows. `axes` gives the letters of the
    axes by number of dimensions. `part` is the extent of each spatial axis that a simulated GPU processes
    interactively. `view` is the kind of output that displays such an input. `sample` is the default input. The contract
    tests `shapes`, and floating-point types with the values `ends`; every variant should support one of `usual`.
    `largest_noise` is the largest noise input in a sweep: the side of a square image, or the length of a signal.
    """

    id: Kind
    layout: str
    rank: int
    axes: Mapping[int, str]
    channels: tuple[int, ...]
    element: str = "value"
    size: str = "size"
    part: Shape = ()
    view: ViewKind = "image"
    sample: str = ""
    usual: tuple[Shape, ...] = ()
    shapes: tuple[Shape, ...] = ()
    ends: tuple[Shape, ...] = field(default=(), repr=False)
    largest_noise: int = 0

    @property
    def title(self) -> str:
        """The kind as it is written in a sentence."""
        return f"{'an' if self.id[0] in 'aeiou' else 'a'} {self.id}"

    def spatial(self, shape: Shape) -> Shape:
        """The extents of the spatial axes."""
        return shape[: self.rank]

    def width_first(self, shape: Shape) -> Shape:
        """The extents in display order: for an image width, height, channels."""
        return (*reversed(self.spatial(shape)), *shape[self.rank :])

    def size_text(self, shape: Shape, by: str = " x ") -> str:
        """The extents as text: "640 x 480", with channels "640 x 480 x 3"."""
        return by.join(map(str, self.width_first(shape)))

    def channels_of(self, shape: Shape) -> int:
        """Interleaved values per pixel or sample."""
        return shape[self.rank] if len(shape) > self.rank else 1

    def middle(self, shape: Shape, extents: Shape) -> Part:
        """The centre crop of those extents, no larger than the array."""
        cut = zip(self.spatial(shape), extents, strict=True)
        starts = [(max(0, (n - side) // 2), min(n, side)) for n, side in cut]
        return tuple(slice(start, start + side) for start, side in starts)

    def middle_extents(self, shape: Shape) -> Shape:
        """The extents of the crop that a simulated GPU processes interactively."""
        return tuple(cut.stop - cut.start for cut in self.middle(shape, self.part))

    def noise(self, size: int) -> dict[str, Any]:
        """The options of the sample "noise" for an input of that size."""
        return {"size": f"{size}x{size}"} if self.rank == 2 else {"length": size}

    def axes_of(self, shape: Shape, rate: float | None = None) -> tuple[Axis, ...]:
        """The axes of an array of that shape; `rate`, in hertz, gives time in seconds."""
        letters = self.axes.get(len(shape), "")
        return tuple(_AXES[letter] if letter != "t" else time_axis(rate) for letter in letters)


def centred(spans: Sequence[tuple[int, int]], whole: Sequence[int]) -> bool:
    """Whether a part is as far from both ends of every axis, to within one place."""
    return all(abs(start - (n - stop)) <= 1 for (start, stop), n in zip(spans, whole, strict=True))


def time_axis(rate: float | None) -> Axis:
    """The axis of a signal: in seconds if its rate in hertz is known, else in samples."""
    return Axis(*TIME, step=1 / rate) if rate else Axis("sample")


_AXES = {"z": Axis("z"), "y": Axis("y", "px"), "x": Axis("x", "px"), "c": Axis(CHANNEL)}

IMAGE = InputKind(
    "image",
    "an image is (H, W) or (H, W, C) with C = 1, 3 or 4",
    2,
    {2: "yx", 3: "yxc"},
    IMAGE_CHANNELS,
    element="pixel",
    size="side",
    part=(256, 256),
    view="image",
    sample="camera",
    usual=((256, 256), (256, 256, 3)),
    shapes=((1, 1), (1, 7), (7, 1), (17, 33), (33, 257), (61, 127), (19, 23, 3), (16, 31, 4), (130, 70)),
    ends=((17, 33), (19, 23, 3)),
    largest_noise=4096,
)
SIGNAL = InputKind(
    "signal",
    "a signal is (N,) or (N, C)",
    1,
    {1: "t", 2: "tc"},
    tuple(range(1, MOST_CHANNELS + 1)),
    element="sample",
    size="length",
    part=(1 << 16,),
    view="signal",
    sample="ecg",
    usual=((65536,),),
    shapes=((1,), (3,), (7,), (257,), (1009,), (1024,), (5003,), (1025, 2), (97, 3)),
    ends=((257,),),
    largest_noise=1 << 24,
)
STACK = InputKind("stack", "a stack is (D, H, W)", 3, {3: "zyx"}, (1,), element="voxel")
"""No filter accepts one yet, and no file format yields one."""

INPUT_KINDS: Mapping[str, InputKind] = {kind.id: kind for kind in (IMAGE, SIGNAL, STACK)}

"""The part of an input that a simulated GPU runs while somebody waits: its middle, at a size that takes a moment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_ops.types import Input

IMAGE_SIDE = 256
SIGNAL_LENGTH = 1 << 16


def affordable(input: Input) -> tuple[Input, tuple[int, ...]]:
    """The middle of an input, and where it begins along each spatial axis; () when it is the whole.

    Images are cut to 256 × 256 pixels, signals to 65,536 samples, stacks not at all.
    """
    sides = {"image": (IMAGE_SIDE, IMAGE_SIDE), "signal": (SIGNAL_LENGTH,), "stack": ()}[input.kind]
    extents = input.array.shape[: len(sides)]
    if all(extent <= side for extent, side in zip(extents, sides, strict=True)):
        return input, ()
    starts = tuple(max(0, (extent - side) // 2) for extent, side in zip(extents, sides, strict=True))
    cut = tuple(slice(start, start + side) for start, side in zip(starts, sides, strict=True))
    array = np.ascontiguousarray(input.array[cut])
    step = {"crop": {"start": list(starts), "shape": list(array.shape[: len(sides)])}}
    origin = {**input.origin, "steps": [*input.origin.get("steps", ()), step]}
    return replace(input, array=array, origin=origin, clean=None), starts


def cut_note(whole: Input, part: Input) -> str:
    """What the cut is, in words."""
    sizes = (" x ".join(map(str, i.array.shape[: 2 if i.kind == "image" else 1])) for i in (part, whole))
    return "simulated on the middle {} of {}".format(*sizes)

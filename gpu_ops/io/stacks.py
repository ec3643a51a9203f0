"""Frames of one file or folder: one of them, or a projection of all."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from gpu_ops.errors import InputError, ParamError
from gpu_ops.input_kinds import IMAGE
from gpu_ops.io.inputs import Array, check_limit
from gpu_ops.io.opening import Decoded, Opening
from gpu_ops.progress import advance, stage
from gpu_ops.types import Facts


class Stack(Protocol):
    """Frames that are read one at a time. `shape` is that of one frame, (H, W) or (H, W, C), `steps` are those from the
    stored values to a frame, and `facts` has the number of frames. `read` raises InputError for a damaged frame."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def facts(self) -> Facts: ...
    @property
    def steps(self) -> tuple[dict[str, Any], ...]: ...
    def read(self, frame: int) -> Array: ...


def single(decoded: Decoded) -> Stack:
    """A file of one picture as a stack of one frame."""
    return _Single(decoded)


class _Single:
    def __init__(self, decoded: Decoded) -> None:
        self._array, self.shape, self.dtype = decoded.array, decoded.array.shape, decoded.array.dtype
        self.facts, self.steps = decoded.facts, decoded.steps

    def read(self, frame: int) -> Array:
        return self._array


def decode_stack(stack: Stack, opening: Opening) -> Decoded:
    """The frame that the choices "frame" and "project" select. A projection reads one frame at a time; a mean is
    float32, or float64 for types that float32 does not represent exactly. Raises ParamError for a missing frame,
    InputError, Cancelled."""
    frames, frame, way = stack.facts.frames, int(opening.choices["frame"]), opening.choices["project"]
    check_limit(opening.name, int(np.prod(stack.shape, dtype=object)), opening.limit)
    if way != "none":
        return Decoded(_project(stack, str(way)), None, (*stack.steps, {"step": "project", "how": way}), stack.facts)
    if frame >= frames:
        raise ParamError(f"{opening.name} has {frames:,} frames; choose one from 0 to {frames - 1:,}, not {frame:,}.")
    return Decoded(_same(stack.read(frame), stack, opening.name), None, stack.steps, stack.facts)


def _project(stack: Stack, way: str) -> Array:
    """The maximum or the mean of each pixel over all frames; a mean of wide types is float64."""
    count, result = stack.facts.frames, np.empty(0)
    wide = np.float64 if way == "mean" else stack.dtype
    for frame in range(count):
        advance(frame, count)
        with stage(frame, count):
            values = stack.read(frame)
        if frame == 0:
            result = values.astype(wide)
        elif way == "mean":
            result += values
        else:
            np.maximum(result, values, out=result)
    exact = stack.dtype.itemsize <= 2 or stack.dtype == np.float32
    return result if way == "max" else (result / count).astype(np.float32 if exact else np.float64)


def _same(frame: Array, stack: Stack, name: str) -> Array:
    if frame.shape != stack.shape:
        sizes = " and of ".join(IMAGE.size_text(shape) for shape in (stack.shape, frame.shape))
        raise InputError(f"{name} has frames of {sizes}; a stack has one size: split it.")
    return frame

"""Parts of inputs, with the place of the cut in their origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.input_kinds import INPUT_KINDS, SIGNAL
from gpu_ops.types import Input


def crop(input: Input, start: Sequence[int], shape: Sequence[int]) -> Input:
    """The part of an input that begins at `start` and has that `shape` along its spatial axes, with the same part of
    its noise-free original, recorded as a step. Raises InputError when it does not lie inside."""
    extents = INPUT_KINDS[input.kind].spatial(input.array.shape)
    inside = len(start) == len(shape) == len(extents)
    if not inside or any(a < 0 or n < 1 or a + n > whole for a, n, whole in zip(start, shape, extents, strict=True)):
        raise InputError(
            f"{input.name} has {_by(extents)} {INPUT_KINDS[input.kind].element}s, and no part of {_by(shape)} from "
            f"{_place(start)} on; choose a part inside."
        )
    cut = tuple(slice(a, a + n) for a, n in zip(start, shape, strict=True))
    clean = None if input.clean is None else np.ascontiguousarray(input.clean[cut])
    step = {"step": "crop", "start": list(start), "shape": list(shape)}
    origin = {**input.origin, "steps": [*input.origin.get("steps", ()), step]}
    facts = input.facts
    if input.kind == SIGNAL.id and input.rate:
        facts = replace(facts, start=facts.start + start[0] / input.rate)
    return replace(input, array=np.ascontiguousarray(input.array[cut]), origin=origin, clean=clean, facts=facts)


def _by(extents: Sequence[int]) -> str:
    return " x ".join(map(str, reversed(extents))) or "no"


def _place(start: Sequence[int]) -> str:
    return f"x {start[1]}, y {start[0]}" if len(start) == 2 else _by(start)

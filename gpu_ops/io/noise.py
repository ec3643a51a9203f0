"""Normal noise as a step of an input; the noise-free original stays beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gpu_ops.input_kinds import IMAGE
from gpu_ops.io.inputs import Array, enough_memory
from gpu_ops.params import Param
from gpu_ops.progress import advance
from gpu_ops.types import Input

BLOCK = 1 << 16
"""Values, or pixels with alpha, at a time in float64, so that a large input needs little memory besides its own."""

SIGMA = Param(
    "noise", 0.0, 0.0, 1e30, help="standard deviation of normal noise added to the input, in its unit; 0 adds none"
)
SEED = Param("noise_seed", 0, 0, 2**32 - 1, help="the same seed adds the same noise")
NOISE: tuple[Param, ...] = (SIGMA, SEED)
"""What a form and the flags ask for."""


def add_noise(input: Input, sigma: float, seed: int = 0) -> Input:
    """The input with independent normal noise added to each value, recorded as a step.

    `sigma` is the standard deviation in the input's own unit; with 0 the input itself comes back. Integers are rounded,
    half up, and saturate. The alpha of an image stays as it is. `clean` is the original without any noise: the input's
    own where it has one, else the input's array. Raises ParamError for a sigma or seed outside its limits, InputError
    when it does not fit in memory, Cancelled.
    """
    sigma, seed = float(SIGMA.check(sigma)), int(SEED.check(seed))  # type: ignore[arg-type]
    if sigma == 0:
        return input
    with enough_memory(f"{input.name} with noise", "use a smaller input"):
        array = _with_noise(input.array, sigma, seed, _has_alpha(input))
    clean = input.array if input.clean is None else input.clean
    step = {"step": "noise", "sigma": sigma, "seed": seed}
    origin = {**input.origin, "steps": [*input.origin.get("steps", ()), step]}
    return replace(input, array=array, clean=clean, origin=origin)


def title_of(input: Input) -> str:
    """The input's name with the noise that was added to it: "camera + noise σ 20"."""
    added = [f" + noise σ {step['sigma']:g}" for step in input.origin.get("steps", ()) if step["step"] == "noise"]
    return input.name + "".join(added)


def _has_alpha(input: Input) -> bool:
    return input.kind == IMAGE.id and input.array.ndim == 3 and input.array.shape[2] == 4


def _with_noise(array: Array, sigma: float, seed: int, has_alpha: bool) -> Array:
    """One normal number for each value, in the order of memory, whatever the block. Alpha has one as well, unused."""
    random = np.random.Generator(np.random.PCG64(seed))
    result, width = np.empty_like(array), 4 if has_alpha else 1
    source, target = array.reshape(-1, width), result.reshape(-1, width)
    for start in range(0, len(source), BLOCK):
        advance(start, len(source))
        part = source[start : start + BLOCK]
        values = random.standard_normal(part.shape)
        values *= sigma
        if has_alpha:
            values[:, 3] = 0
        values += part
        target[start : start + len(part)] = _stored(values, array.dtype)
    return result


def _stored(values: Array, dtype: np.dtype[Any]) -> Array:
    """Values in the input's type."""
    if dtype.kind == "f":
        return values
    values += 0.5
    np.floor(values, out=values)
    return np.clip(values, 0, np.iinfo(dtype).max, out=values)

"""Noise as a step of an input: normal, salt and pepper, and Poisson (photon counts); the noise-free original is kept
with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.input_kinds import IMAGE
from gpu_ops.io.inputs import Array, enough_memory
from gpu_ops.io.steps.ranges import ends_of, has_alpha, range_of, stored
from gpu_ops.params import Param, Values
from gpu_ops.progress import advance
from gpu_ops.types import Input

BLOCK = 1 << 16
"""Values, or pixels with alpha, at a time in float64, so that a large input needs little memory besides its own."""

SIGMA = Param(
    "noise", 0.0, 0.0, 1e30, help="standard deviation of normal noise added to the input, in its unit; 0 adds none"
)
SEED = Param("noise_seed", 0, 0, 2**32 - 1, help="the same seed adds the same noise")
MOST_PHOTONS = 1e15
"""Above it, adjacent counts are no longer distinct in float64."""
NOISE: tuple[Param, ...] = (SIGMA, SEED)
"""The values in a form or in the flags."""


def add_noise(input: Input, sigma: float, seed: int = 0) -> Input:
    """The input with independent normal noise added to each value, recorded as a step.

    `sigma` is the standard deviation in the input's own unit; with 0 the input itself is returned. Integers are
    rounded, half up, and saturate. The alpha of an image stays as it is. `clean` is the original without any noise: the
    input's own where it has one, else the input's array. Raises ParamError for a sigma or seed outside its limits,
    InputError when it does not fit in memory, Cancelled.
    """
    sigma, seed = float(SIGMA.check(sigma)), int(SEED.check(seed))  # type: ignore[arg-type]
    if sigma == 0:
        return input
    with enough_memory(f"{input.name} with noise", "use a smaller input"):
        array = _with_noise(input.array, sigma, seed, has_alpha(input))
    step = {"step": "noise", "sigma": sigma, "seed": seed}
    origin = {**input.origin, "steps": [*input.origin.get("steps", ()), step]}
    return replace(input, array=array, clean=_clean(input), origin=origin)


def salt_and_pepper(input: Input, values: Values) -> Input:
    """The input with a `share` of its pixels, or of a signal's values, set to an end of the range, half to each end.

    The ends are those of an integer type, else the least and the greatest finite value. Alpha stays as it is.
    """
    share, array = values["share"], input.array.copy()
    if share == 0:
        return input
    (low, high), random = ends_of(input), np.random.Generator(np.random.PCG64(values["seed"]))
    channels = array.shape[2] if input.kind == IMAGE.id and array.ndim == 3 else 1
    pixels = array.reshape(-1, channels)
    coloured = pixels[:, : 3 if channels == 4 else channels]
    for start in range(0, len(pixels), BLOCK):
        advance(start, len(pixels))
        numbers = random.random(min(BLOCK, len(pixels) - start))
        part = coloured[start : start + BLOCK]
        part[numbers < share] = high
        part[numbers < share / 2] = low
    return replace(input, array=array, clean=_clean(input))


def poisson(input: Input, values: Values) -> Input:
    """The input as photon counts: each value v becomes a Poisson variate of mean v × `scale`, divided by `scale`.

    Integers are rounded, half up, and saturate. Alpha stays as it is. Raises InputError for values below 0, for NaN and
    infinity, and where more photons are expected than can be counted.
    """
    scale, (low, high) = values["scale"], range_of(input)
    if not input.finite or low < 0 or high * scale > MOST_PHOTONS:
        what = f"values from {low:g} to {high:g}" if input.finite else "NaN or infinity"
        top = f"{MOST_PHOTONS / scale:g} at a scale of {scale:g}"
        raise InputError(f"{input.name} holds {what}, and Poisson noise takes 0 to {top}; normalise it first.")
    random = np.random.Generator(np.random.PCG64(values["seed"]))
    array = input.array.copy()
    width = 4 if has_alpha(input) else 1
    pixels = array.reshape(-1, width)[:, : 3 if width == 4 else 1]
    for start in range(0, len(pixels), BLOCK):
        advance(start, len(pixels))
        part = pixels[start : start + BLOCK]
        part[...] = stored(random.poisson(part.astype(np.float64) * scale) / scale, array.dtype)
    return replace(input, array=array, clean=_clean(input))


def _clean(input: Input) -> Array:
    return input.array if input.clean is None else input.clean


def _with_noise(array: Array, sigma: float, seed: int, has_alpha: bool) -> Array:
    """One normal number for each value, in memory order, independent of the block size. Alpha has one as well,
    unused."""
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
        target[start : start + len(part)] = stored(values, array.dtype)
    return result

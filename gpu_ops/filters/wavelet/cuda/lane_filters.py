"""How independent warps compute the coefficients of a level: as sums over all taps, by a lattice of rotations, or by
lifting. The last two omit the scale factors of their results, so that coefficients are scaled differently."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.wavelet.bases import LENGTHS, Array, gain_of, taps_of
from gpu_ops.filters.wavelet.cuda.lifting import (
    MOST_WEIGHTS,
    NAMES,
    deviation_of,
    lifting_of,
    reach_forward,
    reach_inverse,
)
from gpu_ops.filters.wavelet.cuda.transform import MOST_TAPS
from gpu_ops.filters.wavelet.spans import reach_of

DEVIATION = 1e-10
"""The maximum difference between lifting steps and the listed filters: negligible in float32."""


class Form(IntEnum):
    """The kernels have the same constants."""

    SUMS = 0
    LATTICE = 1
    LIFTING = 2


class Units(NamedTuple):
    """The scales of low and high coefficients along an axis, and the factor for samples computed from them."""

    low: float = 1.0
    high: float = 1.0
    inverse: float = 1.0


@lru_cache(16)
def form_of(wavelet: str, border: str) -> Form:
    """A lattice if there is one, else lifting, else sums. It loads PyWavelets."""
    if lattice_of(wavelet) is not None:
        return Form.LATTICE
    lifts = wavelet in NAMES and _lifts(wavelet) and _has_own_pairs(wavelet, border)
    return Form.LIFTING if lifts else Form.SUMS


def ahead_of(form: Form, taps: int, reach: int) -> int:
    """The distance from half an image lane's first sample to its first coefficient."""
    middle = reach + 2 if form is Form.LATTICE else reach - taps // 2 + 3
    return middle // 4 * 2


def _lifts(wavelet: str) -> bool:
    """Whether no intermediate value needs more neighbours than the filters do: further neighbours would be wrong."""
    lifting, half = lifting_of(wavelet), LENGTHS[wavelet] // 2
    forward, inverse = reach_forward(lifting), reach_inverse(lifting)
    shifts = lifting.low.shift, lifting.high.shift
    inside = forward.before >= 0 and forward.after < half
    outside = inverse.before - max(shifts) <= -half or inverse.after > min(shifts)
    return inside and not outside and deviation_of(wavelet) < DEVIATION


def _has_own_pairs(wavelet: str, border: str) -> bool:
    """Whether the pairs at the positions of a lane's coefficients begin with its own first sample. Otherwise lanes at
    an end of a warp would lack a pair whose samples the warp has: for six taps with a symmetric border the pairs are
    two samples later."""
    reach = reach_of(LENGTHS[wavelet], border)
    ahead = ahead_of(Form.LIFTING, LENGTHS[wavelet], reach)
    return 2 * (ahead + lifting_of(wavelet).low.shift) == reach


def units_of(wavelet: str, border: str) -> Units:
    """The scales of coefficients: as the rotations of a lattice scale them; for lifting without its gains."""
    form, lattice = form_of(wavelet, border), lattice_of(wavelet)
    if lattice is not None:
        length = abs(float(lattice[0]))
        return Units(length, length, length**2)
    if form is Form.LIFTING:
        lifting = lifting_of(wavelet)
        return Units(abs(lifting.low.gain), abs(lifting.high.gain))
    return Units()


def row_bits(wavelet: str) -> tuple[int, int]:
    """The powers of two by which the rows of an image are divided after their rotations, and before the inverse ones:
    four times the gain of a long filter, up to 2^28, exceeds the range of float32."""
    lattice = lattice_of(wavelet)
    return (0, 0) if lattice is None or abs(float(lattice[0])) > 2**-20 else (12, 28)


def growth_of(wavelet: str, border: str, turns: int) -> float:
    """The maximum intermediate gain relative to that of a level of the filters, if coefficients with other scales are
    combined over this number of levels."""
    form, units = form_of(wavelet, border), units_of(wavelet, border)
    if form is Form.LATTICE:
        after, before = row_bits(wavelet)
        return float(max(units.low ** (1 - turns), units.low**-turns / 2**before) / 2**after)
    if form is Form.SUMS:
        return 1.0
    taps, (forward, inverse) = taps_of(wavelet), lifting_of(wavelet).peaks
    backward = float(np.abs(taps.rec_lo).sum() + np.abs(taps.rec_hi).sum())
    return float(max(1.0, forward / gain_of(wavelet), inverse / backward, 1 / units.low, 1 / units.high) ** turns)


def operations_of(wavelet: str, border: str, flops: int) -> int:
    """The operations, relative to the number for sums over all taps."""
    form, taps = form_of(wavelet, border), LENGTHS[wavelet]
    if form is Form.LATTICE:
        return flops // 2
    if form is Form.LIFTING:
        return flops * sum(step.by.values.size for step in lifting_of(wavelet).steps) // (2 * taps)
    return flops


def defines_of(wavelet: str, border: str) -> dict[str, Any]:
    """The compile-time constants of a wavelet for the kernels of independent warps."""
    form = form_of(wavelet, border)
    bits = dict(zip(("FORWARD_BITS", "INVERSE_BITS"), row_bits(wavelet), strict=True))
    defines: dict[str, Any] = {"FORM": int(form), "ZEROS": _zeros(wavelet), **bits}
    if form is not Form.LIFTING:
        return defines
    lifting = lifting_of(wavelet)
    shapes = (f"{{{step.target}, {step.by.first}, {step.by.values.size}}}" for step in lifting.steps)
    ends = lifting.low.phase, lifting.low.shift, lifting.high.shift
    return defines | {
        "STEPS": len(lifting.steps),
        "SHAPES": f"{{{', '.join(shapes)}}}",
        "ENDS": f"{{{', '.join(map(str, ends))}}}",
    }


def constants_of(wavelet: str, border: str, constants: Mapping[str, Any], kind: np.dtype[Any]) -> dict[str, Any]:
    """The constants of all kernels, and those of the form."""
    form, found = form_of(wavelet, border), lattice_of(wavelet)
    if form is Form.SUMS:
        return dict(constants)
    low, high, inverse = units_of(wavelet, border)
    more = {**constants, "units": np.array([low, high, 1 / low, 1 / high, inverse], kind)}
    if found is not None:
        tangents = np.zeros(MOST_TAPS // 2, kind)
        tangents[: found.size - 1] = found[1:]
        return more | {"lattice": tangents}
    steps = lifting_of(wavelet).steps
    weights = np.zeros((len(steps), MOST_WEIGHTS), kind)
    for own, step in zip(weights, steps, strict=True):
        own[: step.by.values.size] = step.by.values
    return more | {"lifting": weights}


def _zeros(wavelet: str) -> str:
    """The taps that are zero, 16 bits a filter in the order of the bank; longer filters list none."""
    if LENGTHS[wavelet] > 16:
        return "0ULL"
    filters = taps_of(wavelet)
    bank = filters.dec_lo[::-1], filters.dec_hi[::-1], filters.rec_lo, filters.rec_hi
    return f"{sum(1 << 16 * f + t for f, taps in enumerate(bank) for t, tap in enumerate(taps) if tap == 0)}ULL"


EXACT = 1e-9
"""The maximum difference between rotations and the filters, relative to their largest tap."""
SHORTEST = 4
"""The number of taps from which on rotations save work."""


REFINEMENTS = 4
"""Newton's steps for the angles of a lattice: each squares the error, which is at most 1e-4."""


@lru_cache(16)
def lattice_of(wavelet: str) -> Array | None:
    """The common scale factor of the results of all rotations, which are given by their tangents: first that of the
    rotation of pairs of samples, then the others in order. None for filters that are no lattice, or too short for
    one."""
    filters = taps_of(wavelet)
    low, high = (np.array(taps[::-1], np.float64) for taps in (filters.dec_lo, filters.dec_hi))
    backward = np.array([filters.rec_lo, filters.rec_hi], np.float64)
    if len(low) < SHORTEST or not np.allclose(backward, [low, high], rtol=0, atol=EXACT):
        return None
    tangents = _peeled(low, high)
    if tangents is None:
        return None
    angles = np.arctan(tangents)
    for _ in range(REFINEMENTS):
        made = _rotated(angles)[0]
        # A quarter turn more of one rotation is the derivative by its angle.
        slopes = [_rotated(angles + np.eye(len(angles))[k] * np.pi / 2)[0] for k in range(len(angles))]
        angles += np.linalg.lstsq(np.transpose(slopes), low * np.sign(made @ low) - made)[0]
    made, other = _rotated(angles)
    sign = np.sign(made @ low)
    if max(np.abs(sign * made - low).max(), np.abs(sign * other - high).max()) > EXACT * np.abs(low).max():
        return None
    return np.array([sign * np.prod(np.cos(angles)), *np.tan(angles)])


def _peeled(low: Array, high: Array) -> Array | None:
    """The tangents by which a lattice makes these filters, found from the last one to the first. Each step multiplies
    the error of the taps: of 40 it makes 2e-5 in the worst case."""
    tangents = []
    while len(low) > 2:
        over = float(high[:2] @ high[:2])
        if not over:
            return None
        tangents.append(float(low[:2] @ high[:2]) / over)
        low, high = (low - tangents[-1] * high)[2:], (high + tangents[-1] * low)[:-2]
    return np.array([low[1] / low[0], *reversed(tangents)]) if low[0] else None


def _rotated(angles: Array) -> tuple[Array, Array]:
    """The low and the high filter of a lattice with these angles."""
    cosines, sines = np.cos(angles), np.sin(angles)
    low, high = np.array([cosines[0], sines[0]]), np.array([sines[0], -cosines[0]])
    for cosine, sine in zip(cosines[1:], sines[1:], strict=True):
        later, earlier = np.concatenate([[0, 0], low]), np.concatenate([high, [0, 0]])
        low, high = cosine * later + sine * earlier, cosine * earlier - sine * later
    return low, high

"""Signals as sound: the samples that go to the sound device. No Qt."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
LOWEST, HIGHEST = 4_000.0, 384_000.0
"""The sample rates in hertz that can be played."""


def to_sound(samples: Array) -> Array:
    """Samples (N, C) of real numbers as float32 within ±1.

    Integers by their full scale, unsigned ones around its middle. Floats are clipped; NaN is silent.
    """
    kind = samples.dtype.kind
    if kind not in "uif":
        raise ValueError(f"sound is made of integers or floats, not {samples.dtype}")
    if kind == "f":
        bounded = np.clip(np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0), -1, 1)
        return np.asarray(bounded, np.float32)
    half = 2.0 ** (samples.dtype.itemsize * 8 - 1)
    middle = half if kind == "u" else 0.0
    return np.asarray((samples.astype(np.float64) - middle) / half, np.float32)


class Track:
    """A signal (N,) or (N, C) that is being played, and the next sample to play.

    `fill` runs in the device's thread. Meanwhile `samples` may be replaced by others of the same shape.
    """

    def __init__(self, samples: Array) -> None:
        self.samples = samples
        self.next = 0

    @property
    def channels(self) -> int:
        return self.samples.shape[1] if self.samples.ndim == 2 else 1

    def fill(self, out: Array) -> bool:
        """Put the next samples into `out` (n, channels), silence after the last. False when there are no more."""
        part = self.samples[self.next : self.next + len(out)]
        out[: len(part)] = to_sound(part.reshape(len(part), -1))
        out[len(part) :] = 0
        self.next += len(part)
        return self.next < len(self.samples)

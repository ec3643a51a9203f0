"""The task of a variant in one object: inputs by name, parameters, knobs, and the limits of the device."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.input_kinds import INPUT_KINDS, InputKind, Kind, Shape
from gpu_ops.params import Values
from gpu_ops.plan import DeviceArray, Limits

MAIN = "input"
"""The name of the input that a filter accepts; further inputs have their own names."""


@dataclass(frozen=True)
class Meta:
    """What a variant may know of an input before it plans. `finite` is False when it holds NaN or infinity;
    `largest` is the largest finite magnitude of floating samples, `low` and `high` are the lowest and the highest
    finite one without the alpha of an image, all 0 where they are not known; `rate` is in hertz, None where it is not
    known."""

    kind: Kind
    shape: Shape
    dtype: str
    finite: bool = True
    largest: float = 0.0
    rate: float | None = None
    low: float = 0.0
    high: float = 0.0

    @property
    def of_kind(self) -> InputKind:
        """Everything that depends on the kind alone."""
        return INPUT_KINDS[self.kind]

    @property
    def channels(self) -> int:
        """Interleaved values per pixel or sample."""
        return self.of_kind.channels_of(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return int(math.prod(self.shape))

    @property
    def itemsize(self) -> int:
        """Bytes of a value."""
        return np.dtype(self.dtype).itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize


NO_LIMITS = Limits((0, 0), 1 << 30, 1 << 62, 1, 0, 1 << 62, 0)
"""The limits of no device: nothing is too large."""


class Trial(NamedTuple):
    """A case that the contract tries beside pairs of choices. Parameters and knobs that it does not name have their
    defaults."""

    shape: Shape
    dtype: str
    data: str
    params: Values = {}
    knobs: Values = {}


class Successor(NamedTuple):
    """A variant that an id of the version before stood for: the one that ran where it supports the task, and the knobs
    of that id, if any, had these values."""

    variant: str
    knobs: Values = {}


@dataclass(frozen=True, eq=False)
class Task:
    """What a variant is to do. `metas` describe the inputs by name, `arrays` are the inputs on the device once they are
    there. What a variant supports, loads, loses and needs depends on nothing else."""

    metas: Mapping[str, Meta]
    params: Values
    knobs: Values = field(default_factory=dict)
    limits: Limits = NO_LIMITS
    arrays: Mapping[str, DeviceArray] = field(default_factory=dict)

    @classmethod
    def of(cls, meta: Meta, params: Values, knobs: Values | None = None, limits: Limits = NO_LIMITS) -> Task:
        """A task with one input."""
        return cls({MAIN: meta}, params, knobs or {}, limits)

    def on(self, x: DeviceArray, **others: DeviceArray) -> Task:
        """The same task with its inputs in these arrays of the device."""
        return replace(self, arrays={MAIN: x, **others})

    def with_params(self, **params: Any) -> Task:
        """The same task with other values of some parameters, which the filter need not have."""
        return replace(self, params={**self.params, **params})

    def with_knobs(self, **knobs: Any) -> Task:
        """The same task with other values of some knobs."""
        return replace(self, knobs={**self.knobs, **knobs})

    @property
    def meta(self) -> Meta:
        """The meta of the main input."""
        return self.metas[MAIN]

    @property
    def x(self) -> DeviceArray:
        """The main input on the device."""
        return self.arrays[MAIN]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the main input."""
        return np.dtype(self.meta.dtype)

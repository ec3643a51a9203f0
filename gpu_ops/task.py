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
"""The name of a filter's main input; further inputs have their own names."""


@dataclass(frozen=True)
class Meta:
    """What a variant may know of an input at planning time. `finite` is False if it contains NaN or infinity; `largest`
    is the largest finite magnitude of floating-point samples, `low` and `high` are the minimum and maximum finite
    sample, alpha excluded, all 0 if unknown; `rate` is in hertz, None if unknown."""

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
        """Everything that depends only on the kind."""
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
"""The limits of an unlimited device."""


class Trial(NamedTuple):
    """A case that the contract tests in addition to its pairwise choices. Parameters and knobs that it does not name
    have their defaults."""

    shape: Shape
    dtype: str
    data: str
    params: Values = {}
    knobs: Values = {}


class Successor(NamedTuple):
    """The successor of a variant id of the previous version: it applies if it supports the task and the knobs had these
    values."""

    variant: str
    knobs: Values = {}


@dataclass(frozen=True, eq=False)
class Task:
    """What a variant has to compute. `metas` describe the inputs by name, `arrays` are the inputs on the device once
    uploaded. What a variant supports, loads, loses and needs depends on nothing else."""

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
        """The same task with other values of some parameters, including ones that the filter does not have."""
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

"""Arrays in shared-memory segments of the window and its engine, with everything that a view needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_ops.input_kinds import INPUT_KINDS, Kind, Shape
from gpu_ops.output_kinds import Form, ViewKind
from gpu_ops.types import Facts


@dataclass(frozen=True)
class SharedArray:
    """An array at the start of a segment. `segment` is its name."""

    segment: str
    shape: Shape
    dtype: str


@dataclass(frozen=True)
class Statistics:
    """Exact statistics of an array. `histogram` counts finite values in 256 equal bins from minimum to maximum;
    `percentiles` has 0.1, 1, 50, 99 and 99.9. For integers, minimum, maximum, and percentiles that are one of the
    values are int, because float is not exact beyond 2^53. All are 0 if no value is finite."""

    minimum: float
    maximum: float
    mean: float
    percentiles: Mapping[float, float]
    histogram: tuple[int, ...]
    nan: int
    infinite: int

    @property
    def finite(self) -> int:
        """How many values are finite."""
        return sum(self.histogram)


@dataclass(frozen=True)
class SharedResult:
    """One output of a run: an array in a segment, and everything that a view needs. `kind` is one of
    gpu_ops.output_kinds.OUTPUT_KINDS, `form` has the axes, `unit` is that of the values, `text` one line about it.
    `statistics` are None if the kind has none; for complex values they are those of the magnitudes."""

    kind: ViewKind
    array: SharedArray
    form: Form
    unit: str
    text: str
    statistics: Statistics | None


@dataclass(frozen=True)
class SharedInput:
    """An Input whose array is in a segment, with its noise-free original if there is one."""

    kind: Kind
    array: SharedArray
    axes: str
    name: str
    origin: Mapping[str, Any]
    rate: float | None
    finite: bool
    statistics: Statistics
    clean: SharedArray | None = None
    facts: Facts = Facts()

    @property
    def segments(self) -> tuple[str, ...]:
        """The names of its segments."""
        return (self.array.segment,) if self.clean is None else (self.array.segment, self.clean.segment)

    @property
    def result(self) -> SharedResult:
        """The input in the form in which results are shown and saved."""
        kind, shape = INPUT_KINDS[self.kind], self.array.shape
        form = self.facts.describe(Form(shape, self.array.dtype, kind.axes_of(shape, self.rate)))
        return SharedResult(kind.view, self.array, form, form.unit_of(kind.view, ""), "", self.statistics)

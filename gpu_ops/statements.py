"""Statements of the sources: claims, which are tested here; laws, which are drawn with counted points; and figures,
which are reproduced with measured points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from gpu_ops.input_kinds import Shape
from gpu_ops.params import Values

SOURCE_TITLES = {
    "S0": "wavelet denoising on a GPU, coursework, 2020",
    "S1": "image processing with CUDA, teaching manual, 2021",
    "S2": "two-dimensional FFT on a GPU, 2020",
    "S3": "parallel medical signal and image algorithms",
    "S4": "mean filter on ten million samples, 2024",
}
"""The publications whose methods are variants here, and whose statements are claims."""


@dataclass(frozen=True)
class Claim:
    """A claim of a source, tested here.

    `basis` is "counted" (from declared or simulated access counts) or "measured" (from runs of `experiment`, a mapping
    with filter, sample, params and knobs). `figures` gives the published seconds per variant. `judge(runs)` takes
    {variant id: Run} and returns the result as text and whether the claim holds (None: undecided). A counted claim
    about laws names them, {"laws": (id, …)}, and its judge takes {(law id, n, p): counted steps}.
    """

    id: str
    source: str
    text: str
    published: str
    prediction: str
    basis: Literal["counted", "measured"]
    experiment: Mapping[str, Any]
    judge: Callable[[Mapping[Any, Any]], tuple[str, bool | None]]
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Law:
    """The number of sequential steps that a method takes to reduce n numbers with p processors, as a source states it.

    One processor takes n - 1; the speed-up is (n - 1) / steps(n, p), the efficiency is the speed-up divided by p.
    `text` is the law as a formula. `processors(n)` are those that the method uses for n numbers, and `variant` with
    `knobs(n, p)` implements it, with default parameters. A simulated GPU counts the steps of `sizes` with these
    processors, and, if the method leaves p free, those of `choices` for `fixed` numbers.
    """

    id: str
    source: str
    title: str
    text: str
    variant: str
    steps: Callable[[float, float], float]
    processors: Callable[[int], int]
    knobs: Callable[[int, int], Values]
    sizes: tuple[int, ...]
    fixed: int = 0
    choices: tuple[int, ...] = ()

    def speedup(self, n: float, p: float) -> float:
        """The speed-up over one processor."""
        return (n - 1) / self.steps(n, p)

    def efficiency(self, n: float, p: float) -> float:
        """The speed-up divided by p."""
        return self.speedup(n, p) / p

    @property
    def points(self) -> tuple[tuple[int, int], ...]:
        """Every (n, p) whose steps are counted."""
        chosen = [(self.fixed, p) for p in self.choices]
        return tuple(dict.fromkeys([*((n, self.processors(n)) for n in self.sizes), *chosen]))


Basis = Literal["published", "model", "predicted", "measured"]
"""The origin of the points of a series: the source, a model over all values, a model at the measured points
("predicted"), or a report."""


@dataclass(frozen=True)
class Scale:
    """An axis of a figure: its quantity, its unit ("" for a plain number), the tick values, and whether it is
    logarithmic. Without ticks the range follows from the points."""

    title: str
    unit: str = ""
    ticks: tuple[float, ...] = ()
    logarithmic: bool = True

    @property
    def label(self) -> str:
        """The title with the unit."""
        return f"{self.title}, {self.unit}" if self.unit else self.title


@dataclass(frozen=True)
class Series:
    """Points of a figure, by increasing x. If there are `tops`, each point is a range from `ys` to its top. `joined`
    points are connected by a line. `text` states where the values come from; `filter` and `variant` are those of
    measured points."""

    name: str
    basis: Basis
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    tops: tuple[float, ...] = ()
    joined: bool = True
    text: str = ""
    filter: str = ""
    variant: str = ""


@dataclass(frozen=True)
class Timed:
    """A verified kernel time of a report, in seconds, and what was timed: `title` is the variant's."""

    filter: str
    variant: str
    title: str
    device: str
    params: Values
    knobs: Values
    shape: Shape
    dtype: str
    mode: str
    seconds: float


class Found(NamedTuple):
    """The series that a report's times give for a figure, and sentences on what is missing."""

    series: tuple[Series, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A figure of a source, reproduced from a report's times together with what the source `published`.

    `number` is the figure's number in the source, `published_on` the GPU used there, `text` its description. Times of
    `filters` are used. `measured(times, device)` gives the series of those times on one GPU, `model(device)` those of
    the source's model; `device` is the GPU's description from a report's provenance, {} if there is none.
    `sweeps(filters)` are the arguments of `kernelscope` that measure all points, () if no variant can.
    """

    id: str
    source: str
    number: str
    title: str
    text: str
    x: Scale
    y: Scale
    published_on: str
    published: tuple[Series, ...]
    filters: tuple[str, ...]
    measured: Callable[[Sequence[Timed], Mapping[str, Any]], Found]
    sweeps: Callable[[Iterable[Any]], tuple[str, ...]]
    model: Callable[[Mapping[str, Any]], tuple[Series, ...]] | None = None

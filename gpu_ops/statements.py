"""What the sources state: claims, which are tested here, and laws, which are drawn with counted points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gpu_ops.params import Values

SOURCE_TITLES = {
    "S0": "wavelet denoising on a GPU, coursework, 2020",
    "S1": "image processing with CUDA, teaching manual, 2021",
    "S2": "two-dimensional FFT on a GPU, 2020",
    "S3": "parallel medical signal and image algorithms",
    "S4": "mean filter on ten million samples, 2024",
}
"""The published texts whose methods are variants here, and whose statements are claims."""


@dataclass(frozen=True)
class Claim:
    """A claim of a source, tested here.

    `basis` is "counted" (from declared or simulated access counts) or "measured" (from runs of `experiment`, a
    mapping with filter, sample, params and knobs). `figures` gives the published seconds per variant.
    `judge(runs)` takes {variant id: Run} and returns the result in words and whether the claim holds (None: undecided).
    A counted claim about laws names them, {"laws": (id, …)}, and its judge takes {(law id, n, p): counted steps}.
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
    """How many steps, one after the other, a method takes to join n numbers with p processors, as a source states it.

    One processor takes n - 1; the speed-up is (n - 1) / steps(n, p), the efficiency that divided by p. `text` is the
    law in letters. `processors(n)` are those that the method takes for n numbers, and `variant` with `knobs(n, p)` does
    what it says, on the parameters' defaults. A simulated GPU counts the steps of `sizes` with these processors, and
    where the method lets p be chosen, those of `choices` for `fixed` numbers.
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
        """How many times fewer steps than one processor."""
        return (n - 1) / self.steps(n, p)

    def efficiency(self, n: float, p: float) -> float:
        """The speed-up of each processor."""
        return self.speedup(n, p) / p

    @property
    def points(self) -> tuple[tuple[int, int], ...]:
        """Every (n, p) whose steps are counted."""
        chosen = [(self.fixed, p) for p in self.choices]
        return tuple(dict.fromkeys([*((n, self.processors(n)) for n in self.sizes), *chosen]))

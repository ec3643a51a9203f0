"""How files become inputs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_ops.errors import ParamError
from gpu_ops.input_kinds import Kind
from gpu_ops.io.files import LIMIT, load
from gpu_ops.io.inputs import convert
from gpu_ops.io.opening import CHOICES
from gpu_ops.io.steps.apply import apply_steps, parse_step
from gpu_ops.io.steps.noise import NOISE, add_noise
from gpu_ops.types import Input


@dataclass(frozen=True)
class Reading:
    """The arguments of load(), the type of the values, steps in words such as "crop start=10,20 shape=100,200", and
    noise. `values` has CHOICES and NOISE by name, as values or as text, and may have others. Raises ParamError for
    invalid steps and noise."""

    kind: Kind | None = None
    nonfinite: str | None = None
    limit: int | None = None
    dtype: str | None = None
    steps: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for param in NOISE:
            param.check(self.values.get(param.name, param.default))
        if "noise_seed" in self.values and "noise" not in self.values:
            raise ParamError("--noise-seed is the seed of added noise; add some with --noise SIGMA, or leave it out.")
        for text in self.steps:
            parse_step(text)

    def load(self, path: str | os.PathLike[str]) -> Input:
        """The content of a file with its type converted, before the steps. Raises the errors of load()."""
        choices = {p.name: self.values[p.name] for p in CHOICES if p.name in self.values}
        limit = LIMIT if self.limit is None else self.limit
        found = load(path, kind=self.kind, limit=limit, nonfinite=self.nonfinite or "refuse", **choices)
        return convert(found, self.dtype) if self.dtype else found

    def finish(self, input: Input) -> Input:
        """The input after the steps, with noise. Raises ParamError."""
        noise: Any = (p.check(self.values.get(p.name, p.default)) for p in NOISE)
        return add_noise(apply_steps(input, [parse_step(text) for text in self.steps]), *noise)

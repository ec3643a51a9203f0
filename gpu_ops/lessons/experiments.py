"""The experiments of lessons: their inputs and filters."""

from __future__ import annotations

from gpu_ops.errors import ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import Kind
from gpu_ops.io import SAMPLES, apply_steps, parse_step, sample
from gpu_ops.lessons.lesson import Setup
from gpu_ops.types import Filter, Input


def input_of(setup: Setup) -> Input:
    """The input of a page. Raises ParamError or InputError."""
    made = sample(setup.sample, **setup.options)
    return apply_steps(made, [parse_step(step) for step in setup.steps]) if setup.steps else made


def kind_of(setup: Setup) -> Kind:
    """The kind of that input, which is not computed: a sample with a size is an image. Raises ParamError."""
    for entry in SAMPLES:
        if entry.id == setup.sample:
            return "image" if setup.options.get("size") else entry.kind
    raise ParamError(f"There is no sample {plain(setup.sample, 60)!r}; choose from {', '.join(s.id for s in SAMPLES)}.")


def filter_of(setup: Setup) -> Filter:
    """The filter of a page. Raises ParamError that names all samples, or all families."""
    return FILTERS.find(setup.filter, kind_of(setup))

"""Checks that an input suits a filter, before anything runs; the error is one sentence."""

from __future__ import annotations

from gpu_ops.errors import ParamError, plain
from gpu_ops.io.inputs import nonfinite_words
from gpu_ops.io.steps.ranges import range_of
from gpu_ops.io.steps.tones import conversion_words
from gpu_ops.params import Values
from gpu_ops.task import Task
from gpu_ops.types import Filter, Input


def check_type(filter: Filter, input: Input) -> None:
    """Raises ParamError, with a type to convert to, where the filter does not take the type of the input's values."""
    dtype = input.array.dtype.name
    if dtype not in filter.dtypes:
        advice = conversion_words(dtype, *range_of(input), filter.dtypes)
        raise ParamError(f"{filter.id} takes {', '.join(filter.dtypes)}, and {plain(input.name)} is {dtype}; {advice}.")


def check_input(filter: Filter, input: Input, params: Values) -> None:
    """Raises ParamError where the input or the checked parameters do not suit the filter."""
    check_type(filter, input)
    if filter.finite_only and not input.finite:
        words, *_ = nonfinite_words(input.array, plain(input.name))
        if words:  # a part may have no samples
            raise ParamError(f"{words}; {filter.id} takes finite values only: open it with NaN and infinity set to 0.")
    filter.check(Task.of(input.meta, params))

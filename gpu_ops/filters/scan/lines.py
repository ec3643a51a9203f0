"""The lines along which a prefix sum runs, and the form of its sums.

A signal (N,) or (N, C) is one line per channel, along time. An image (H, W) or (H, W, C) is one line per row and
colour, alpha included. The lines of one row, or of a signal, are interleaved.

Sums of floats have their type. Sums of integers are float64: that represents every integer up to 2^53, and 2^31 values
of 16 bits sum to less than 2^47, so these sums are exact in every variant. A 64-bit integer would have the same size,
and pictures, sounds and other filters do not support it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_ops.output_kinds import Form
from gpu_ops.params import Param
from gpu_ops.task import Meta, Task
from gpu_ops.types import form_of_input

INCLUSIVE, EXCLUSIVE = "inclusive", "exclusive"
SUMS = Param(
    "sums",
    INCLUSIVE,
    choices=(INCLUSIVE, EXCLUSIVE),
    help="inclusive: each sum includes its own value; exclusive: only the values before it",
)


class Lines(NamedTuple):
    """`groups` of `step` interleaved lines of `n` values each: an array (groups, n, step)."""

    groups: int
    n: int
    step: int

    @classmethod
    def of(cls, meta: Meta) -> Lines:
        """The lines of an input."""
        rank = meta.of_kind.rank
        groups = meta.shape[0] if rank == 2 else 1
        return cls(groups, meta.shape[rank - 1], meta.channels)

    @property
    def many(self) -> int:
        return self.groups * self.step

    def tiles(self, size: int) -> int:
        """The number of tiles of `size` values that cover a line."""
        return -(-self.n // size)


def sum_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the sums of values of a type."""
    return np.dtype(np.float64) if dtype.kind == "u" else dtype


def form(task: Task) -> Form:
    """Shape and axes of the input, in the type of sums."""
    like = form_of_input(task)
    return Form(like.shape, sum_type(task.dtype).name, like.axes)


def is_exclusive(task: Task) -> bool:
    """Whether a sum excludes the value at its own position."""
    return bool(task.params["sums"] == EXCLUSIVE)

"""What one element of a result depends on, which decides whether an input can be worked on in parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gpu_ops.task import Task

Outputs = Mapping[str, np.ndarray[Any, Any]]
"""The arrays of a result by the ids of their outputs."""


@dataclass(frozen=True)
class Locality:
    """What one output element depends on. `halo(task)` is the reach along each spatial axis, for kind "halo".

    Of kind "mergeable", `merge(task, parts, rows)` makes the outputs of a whole from those of its parts in order,
    and the rows or samples that each has; the task is that of the whole. `extremes(task)` says that a part must know
    the extremes of all samples. `whole(task)` is the reason why these parameters need the whole at once, None where
    parts will do.
    """

    kind: Literal["pointwise", "halo", "mergeable", "global"]
    halo: Callable[[Task], tuple[int, ...]] | None = None
    merge: Callable[[Task, Sequence[Outputs], Sequence[int]], dict[str, np.ndarray[Any, Any]]] | None = None
    extremes: Callable[[Task], bool] = lambda task: False
    whole: Callable[[Task], str | None] = lambda task: None

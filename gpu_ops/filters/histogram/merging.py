"""Merging histograms of parts into that of the whole: counts are added, and statistics computed from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_ops.filters.histogram.bins import MOST, Array, bins_of, statistics_form
from gpu_ops.filters.histogram.figures import statistics
from gpu_ops.task import Task
from gpu_ops.types import Arrays


def merge(task: Task, parts: Sequence[Arrays], rows: Sequence[int]) -> dict[str, Array]:
    """{"counts", "outside"} of the whole, with {"statistics"} if `result` includes them. Counts that exceed 32 bits
    have 64."""
    made: dict[str, Array] = {}
    for name in ("counts", "outside"):
        sums = np.stack([part[name] for part in parts]).sum(axis=0, dtype=np.uint64)
        made[name] = np.asarray(sums if sums.max() > MOST else sums.astype(np.uint32))
    if task.params["result"] != "counts":
        form = statistics_form(task)
        made["statistics"] = np.empty(form.shape, form.dtype)
        statistics(made["counts"], made["statistics"], bins_of(task))
    return made


def whole(task: Task) -> str | None:
    """Equalised samples need the counts of all samples before the first can be computed."""
    if task.params["result"] == "equalised":
        return "an equalised sample depends on the counts of all samples (choose result statistics or counts)"
    return None


def extremes(task: Task) -> bool:
    """The bins of a part are those of the whole, whose automatic range of floats is from its minimum to its maximum."""
    return task.dtype.kind == "f" and task.params["range"] == "auto"

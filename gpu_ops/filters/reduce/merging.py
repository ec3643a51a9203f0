"""Merging statistics of parts into those of the whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_ops.filters.reduce.figures import Array, is_compensated, wanted
from gpu_ops.task import Task
from gpu_ops.types import Arrays


def merge(task: Task, parts: Sequence[Arrays], rows: Sequence[int]) -> dict[str, Array]:
    """{"figures"} of the whole from those of parts with these numbers of rows: sums are added, extremes compared, means
    weighted, and variances combined by the rule of Chan, Golub and LeVeque."""
    tables = [part["figures"] for part in parts]
    joined, n = tables[0].copy(), rows[0]
    for table, more in zip(tables[1:], rows[1:], strict=True):
        _join(wanted(task), joined, table, n, more)
        n += more
    return {"figures": joined}


def _join(names: Sequence[str], joined: Array, table: Array, n: int, more: int) -> None:
    """Combine the statistics of `more` rows with those of `n` rows."""
    share = more / (n + more)
    place = {name: k for k, name in enumerate(names)}
    with np.errstate(invalid="ignore", over="ignore"):
        if "variance" in place:
            delta = table[place["mean"]] - joined[place["mean"]]
            k = place["variance"]
            joined[k] = (1 - share) * joined[k] + share * table[k] + share * (1 - share) * delta**2
        if "mean" in place:
            k = place["mean"]
            joined[k] = (1 - share) * joined[k] + share * table[k]
        if "sum" in place:
            joined[place["sum"]] += table[place["sum"]]
        for name, choose in (("min", np.minimum), ("max", np.maximum)):
            if name in place:
                joined[place[name]] = choose(joined[place[name]], table[place[name]])


def whole(task: Task) -> str | None:
    """Why these parameters need all samples at once; None if parts suffice."""
    if task.params["statistic"] == "variance":
        return "the variance of parts says nothing without their means (choose statistic all)"
    if is_compensated(task):
        return "what sums lose is not kept from part to part (choose compensated off)"
    return None

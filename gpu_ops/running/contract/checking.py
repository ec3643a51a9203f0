"""Runs of single cases, and their data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gpu_ops.input_kinds import INPUT_KINDS, ODD
from gpu_ops.running.contract.cases import ENDS, Case, task_of
from gpu_ops.running.contract.choices import RANDOM
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Filter, Input, Pick, Run, Variant

Array = np.ndarray[Any, Any]
NONFINITE_STEP = 97
"""One value in so many is NaN or infinite."""


def check_case(
    filter: Filter, variant: Variant, case: Case, device: str, edits: Mapping[str, str], again: bool = True
) -> Run:
    """Run one case, whole and verified; with `again` also in another order on a simulated GPU."""
    input = case_input(filter, variant, case)
    pick = Pick(variant.id, device, case.knobs, edits)
    experiment = Experiment(filter.id, input, case.params, (pick,), protocol="none")
    return list(run_experiment(experiment, again=again))[-1]


def case_input(filter: Filter, variant: Variant, case: Case) -> Input:
    """The input of a case."""
    most = math.inf
    if variant.largest is not None and case.data == "largest":
        most = variant.largest(task_of(filter, case))
    array = case_data(case, seed=len(str(case)), most=most)
    axes = INPUT_KINDS[filter.accepts].axes[array.ndim]
    finite = case.data not in ODD
    return Input(filter.accepts, array, axes, "contract", {"generator": "contract", "steps": []}, finite=finite)


def case_data(case: Case, seed: int, most: float = math.inf) -> Array:
    """The case's array: random, one constant, only the largest and smallest values, or one impulse; for floats also
    random with NaN or infinities among it, the largest finite values up to `most`, and denormal ones."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(case.dtype)
    if case.data in ENDS:
        return _end_data(case, random, most)
    largest = float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0
    if case.data in ODD:
        return _odd_data(case, random)
    if case.data == RANDOM:
        low = 0.0 if dtype.kind == "u" else -1.0
        return (low + (largest - low) * random.random(case.shape)).astype(dtype)
    if case.data == "constant":
        return np.full(case.shape, 0.7 * largest).astype(dtype)
    if case.data == "extremes":
        return np.where(random.random(case.shape) < 0.8, largest, 0).astype(dtype)
    array = np.zeros(case.shape, dtype)
    array.reshape(-1)[array.size // 2] = largest
    return array


def _odd_data(case: Case, random: np.random.Generator) -> Array:
    """Random values, with NaN or an infinity of either sign at every NONFINITE_STEP-th place, at least at one."""
    array = random.uniform(-1, 1, case.shape).astype(case.dtype)
    places = random.permutation(array.size)[: -(-array.size // NONFINITE_STEP)]
    signs = random.choice([-np.inf, np.inf], len(places))
    array.reshape(-1)[places] = np.nan if case.data == "NaN" else signs
    return array


def _end_data(case: Case, random: np.random.Generator, most: float) -> Array:
    kind = np.finfo(case.dtype)
    if case.data == "denormal":
        return (random.integers(-4000, 4000, case.shape) * float(kind.smallest_subnormal)).astype(case.dtype)
    largest = kind.dtype.type(min(most, float(kind.max)))
    if float(largest) > most:
        largest = np.nextafter(largest, kind.dtype.type(0))
    return np.where(random.random(case.shape) < 0.9, largest, 0).astype(case.dtype)

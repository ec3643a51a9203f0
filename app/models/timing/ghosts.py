"""Recorded GPU rows over the sizes of a sweep that was made here: the lines of another machine, for the break-even size
of this machine's CPU. No widgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpu_ops.device_names import device_kind
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.report.kernel_age import has_older_kernels
from gpu_ops.report.machines import machine_name
from gpu_ops.report.rows import Report, Row
from gpu_ops.report.sweeps import SIZE, settings
from gpu_ops.run_key import items_of
from gpu_ops.types import Filter

TYPE = "type"
LEAST = 2
"""A line needs so many points."""


def ghost_rows(
    filter: Filter, params: Mapping[str, object], shape: tuple[int, ...], dtype: str, reports: Iterable[Report]
) -> dict[str, tuple[Row, ...]]:
    """By machine the recorded GPU rows of these parameters, of inputs of any size with this type and as many channels:
    of each variant at each size the best one, where there are two sizes at least."""
    rank = INPUT_KINDS[filter.accepts].rank
    known = {variant.id for variant in filter.variants}
    best: dict[tuple[str, str, int], Row] = {}
    for report in reports:
        machine = machine_name(report.provenance)
        for row in report.rows:
            alike = (row.filter, row.key.param_items, row.dtype, row.shape[rank:])
            if alike != (filter.id, items_of(params), dtype, shape[rank:]) or row.variant not in known:
                continue
            if device_kind(row.device) == "cuda" and row.ok is not False and "kernel" in row.stages:
                key = machine, row.variant, settings(row)[SIZE]
                if key not in best or _rank(row) > _rank(best[key]):
                    best[key] = row
    lines: dict[tuple[str, str], list[Row]] = {}
    for (machine, variant, _), row in sorted(best.items()):
        lines.setdefault((machine, variant), []).append(row)
    found: dict[str, tuple[Row, ...]] = {}
    for (machine, _), rows in lines.items():
        if len(rows) >= LEAST:
            found[machine] = (*found.get(machine, ()), *rows)
    return found


def nearest_setting(
    filter: Filter, params: Mapping[str, object], shape: tuple[int, ...], dtype: str, reports: Iterable[Report]
) -> dict[str, object]:
    """What to change of parameters and type for recorded GPU lines, by name; {} where none are recorded."""
    reports, rank = tuple(reports), INPUT_KINDS[filter.accepts].rank
    settings_of = {
        (row.key.param_items, row.dtype): {**row.params, TYPE: row.dtype}
        for report in reports
        for row in report.rows
        if row.filter == filter.id and row.shape[rank:] == shape[rank:]
    }
    own = {**params, TYPE: dtype}
    changes = [{n: v for n, v in setting.items() if own.get(n) != v} for setting in settings_of.values()]
    for change in sorted(changes, key=len):
        changed = {**own, **change}
        if ghost_rows(filter, {n: changed[n] for n in params}, shape, str(changed[TYPE]), reports):
            return change
    return {}


def _rank(row: Row) -> tuple[bool, bool, bool, float]:
    """Today's kernels first, then rows with end-to-end times, then careful ones, then the fastest."""
    return not has_older_kernels(row), "elapsed" in row.stages, row.protocol == "careful", -row.stages["kernel"].median

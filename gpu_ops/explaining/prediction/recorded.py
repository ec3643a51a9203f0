"""Recorded times of a job on a named GPU, to compare a prediction with."""

from __future__ import annotations

from gpu_ops.explaining.judging import recorded_reports
from gpu_ops.explaining.prediction.gpus import Gpu
from gpu_ops.params import Values
from gpu_ops.report.kernel_age import has_older_kernels
from gpu_ops.report.rows import Row
from gpu_ops.task import Meta


def recorded_seconds(filter: str, variant: str, params: Values, knobs: Values, meta: Meta, gpu: Gpu) -> float | None:
    """The recorded median of a job's kernels on the GPU, by today's code; None where there is none."""
    for report in recorded_reports().values():
        for row in report.rows:
            model = str(report.provenance.get("devices", {}).get(row.device, {}).get("model", ""))
            if model == gpu.model and _is_job(row, filter, variant, params, knobs, meta):
                return row.stages["kernel"].median
    return None


def _is_job(row: Row, filter: str, variant: str, params: Values, knobs: Values, meta: Meta) -> bool:
    """Whether a row is a verified time of a job, in a stream."""
    same = (row.filter, row.variant, row.shape, row.dtype, row.mode) == (
        filter,
        variant,
        meta.shape,
        meta.dtype,
        "stream",
    )
    timed = bool(row.ok) and "kernel" in row.stages and not row.edits
    return (
        same
        and timed
        and dict(row.params) == dict(params)
        and dict(row.knobs) == dict(knobs)
        and not has_older_kernels(row)
    )

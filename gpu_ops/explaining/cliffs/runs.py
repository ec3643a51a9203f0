"""Runs of a variant with other layouts of shared memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.sim.launch import Options
from gpu_ops.explaining.cliffs.bank_conflicts import Conflicts, Ran, find_layout
from gpu_ops.explaining.xray import execute_by_step, kernels_of
from gpu_ops.params import Values
from gpu_ops.types import Filter, Input, Variant


def layout_of_variant(
    filter: Filter,
    variant: Variant,
    input: Input,
    params: Values,
    knobs: Values,
    architecture: str,
    edits: Mapping[str, str] | None = None,
) -> Conflicts:
    """A layout of shared memory without conflicts for the kernels of a variant, edited or shipped. Raises as `xray`
    does."""
    edits = edits or {}

    def run(texts: Mapping[str, str], other: Mapping[str, Any]) -> Ran:
        changed, options = {**edits, **texts}, Options(counters="full", machine_code=True)
        about = (filter, variant, input, params, {**knobs, **other}, architecture, options, changed)
        session, _, plan, executions = execute_by_step(*about)
        outputs = {name: session.download(array) for name, array in plan.outputs.items()}
        faulty = any(f.severity == "error" for _, execution in executions for f in execution.findings)
        return Ran(outputs, kernels_of(executions, architecture, changed, False), faulty)

    texts = {file: read_source(file, edits) for file in variant.kernels}
    return find_layout(run, texts, {knob.name: knob.choices for knob in variant.knobs})

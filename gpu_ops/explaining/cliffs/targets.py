"""The cliffs of a variant on each GPU that times are predicted for, its spills, and a layout without conflicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.nvrtc import supported_architectures
from gpu_ops.devices.sim.launch import Options
from gpu_ops.errors import DeviceError
from gpu_ops.explaining.cliffs.bank_conflicts import Conflicts, Ran, find_layout
from gpu_ops.explaining.cliffs.bank_conflicts import as_dict as conflicts_dict
from gpu_ops.explaining.cliffs.occupancy_steps import Demand, as_dict, sentences
from gpu_ops.explaining.occupancies import launch_demand
from gpu_ops.explaining.prediction.gpus import GPUS, Gpu
from gpu_ops.explaining.xray import execute_by_step, kernels_of
from gpu_ops.params import Values, check_values
from gpu_ops.progress import stage
from gpu_ops.running.verify import full_meta
from gpu_ops.task import Meta
from gpu_ops.types import Filter, Input, Pick, Variant


@dataclass(frozen=True)
class Target:
    """GPUs of one architecture: what a block of the main `kernel` asks for there, or the `reason` why it is unknown."""

    architecture: str
    gpus: tuple[Gpu, ...]
    kernel: str = ""
    demand: Demand | None = None
    reason: str = ""

    @property
    def names(self) -> str:
        """The models of the GPUs."""
        return ", ".join(gpu.model for gpu in self.gpus)

    @property
    def title(self) -> str:
        """The GPUs, with the kernel's occupancy there."""
        if self.demand is None:
            return f"{self.names} ({self.architecture})"
        o, d = self.demand.on(self.architecture), self.demand
        return (
            f"{self.names} ({self.architecture}): {o.warps} of {o.most} warps, limited by {o.limiter}; "
            f"{d.registers} registers per thread, {d.shared_bytes:,} bytes of shared memory per block"
        )

    @property
    def texts(self) -> list[str]:
        """The steps in words."""
        return sentences(self.architecture, self.demand) if self.demand else [self.reason]


def targets(filter: Filter, pick: Pick, params: Mapping[str, Any], meta: Meta) -> Iterator[Target]:
    """The main launch of a variant on each architecture of the GPUs that times are predicted for, compiled for it.

    Raises ParamError for a task that the variant refuses, KernelError.
    """
    for architecture in dict.fromkeys(gpu.architecture for gpu in GPUS.values()):
        gpus = tuple(gpu for gpu in GPUS.values() if gpu.architecture == architecture)
        if architecture not in supported_architectures():
            yield Target(architecture, gpus, reason=f"NVRTC here does not compile for {architecture}.")
            continue
        try:
            yield Target(architecture, gpus, *launch_demand(filter, pick, params, meta, architecture))
        except DeviceError as error:
            yield Target(architecture, gpus, reason=str(error))


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


@dataclass(frozen=True)
class Cliffs:
    """The cliffs of a variant: on each GPU, and the conflicts of its shared memory with the layouts that were tried."""

    targets: tuple[Target, ...]
    conflicts: Conflicts


def find_cliffs(filter: Filter, pick: Pick, params: Mapping[str, Any], part: Input, architecture: str) -> Cliffs:
    """The cliffs of a variant, edited or shipped, on an input that is small enough to simulate. Raises ParamError,
    KernelError, DeviceError, Cancelled."""
    variant = filter.variant(pick.variant)
    params = check_values(filter.params, params, filter.id)
    knobs = check_values(variant.knobs, pick.knobs, variant.id)
    with stage(0, 2):
        found = tuple(targets(filter, pick, params, full_meta(part)))
    with stage(1, 2):
        layout = layout_of_variant(filter, variant, part, params, knobs, architecture, pick.edits)
    return Cliffs(found, layout)


def cliffs_dict(found: Cliffs) -> dict[str, Any]:
    """The cliffs as JSON: "targets" with their "title" and "texts", and "conflicts"."""
    return {
        "targets": [
            {
                **{"architecture": one.architecture, "gpus": [gpu.id for gpu in one.gpus], "kernel": one.kernel},
                **{"title": one.title, "reason": one.reason, "texts": one.texts},
                **(as_dict(one.architecture, one.demand) if one.demand else {}),
            }
            for one in found.targets
        ],
        "conflicts": conflicts_dict(found.conflicts),
    }

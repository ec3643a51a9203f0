"""The theoretical occupancy of a variant's main launch, computed: its kernel is compiled, and nothing runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from gpu_ops.devices.occupancy import LaunchOccupancy, is_known
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.explaining.cliffs.occupancy_steps import Demand
from gpu_ops.plan import Launch
from gpu_ops.running.declared import offline_plan
from gpu_ops.task import Meta
from gpu_ops.types import Filter, Pick, Variant


def launch_occupancy(
    filter: Filter, pick: Pick, params: Mapping[str, object], meta: Meta, architecture: str
) -> LaunchOccupancy | None:
    """The occupancy of a variant's main launch on an architecture such as "sm_90", compiled for it; None for a variant
    without its own kernels, and where the limits of that architecture are not known.

    Raises ParamError for a task that the variant refuses, KernelError, DeviceError.
    """
    if not filter.variant(pick.variant).kernels or not is_known(architecture):
        return None
    kernel, demand = launch_demand(filter, pick, params, meta, architecture)
    return LaunchOccupancy(kernel, demand.threads, demand.registers, demand.on(architecture))


def launch_demand(
    filter: Filter, pick: Pick, params: Mapping[str, object], meta: Meta, architecture: str
) -> tuple[str, Demand]:
    """The kernel of a variant's main launch and what its blocks ask for, compiled for an architecture.

    Raises ParamError for a task that the variant refuses, KernelError, DeviceError.
    """
    device = OfflineDevice(architecture, pick.edits)
    plan = offline_plan(filter, pick, params, meta, device)
    device.check(plan)
    launches = [step for step in plan.steps if isinstance(step, Launch)]
    launch = _main(launches, filter.variant(pick.variant))
    own = launch.kernel.resources
    shared = own.get("shared_bytes", 0) + launch.shared_bytes
    return launch.kernel.name, Demand(prod(launch.block), own["registers"], shared, own.get("barriers", 1))


def _main(launches: Sequence[Launch], variant: Variant) -> Launch:
    """The main launch of a variant: of the kernel with its name, else the one with most threads."""
    named = [launch for launch in launches if launch.kernel.name.endswith(f"_{variant.id}")]
    return max(named or launches, key=lambda launch: prod(launch.grid) * prod(launch.block))

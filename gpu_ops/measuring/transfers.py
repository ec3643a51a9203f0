"""The transfers around a plan: uploads and downloads, as copy steps of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gpu_ops.measuring.timing import TRANSFERS, measure_interleaved
from gpu_ops.plan import Copy, Device, DeviceArray, Plan
from gpu_ops.types import Timing


def wrap_host(
    device: Device, plan: Plan, array: np.ndarray[Any, Any], x: DeviceArray, kind: Literal["pageable", "pinned"]
) -> Plan:
    """The plan with its input copied in and its outputs copied out. The host buffers are new ones of that kind:
    pageable memory is not registered with the driver."""
    source = device.allocate(kind, array.shape, array.dtype)
    np.copyto(source, array)
    results = {name: device.allocate(kind, out.shape, out.dtype) for name, out in plan.outputs.items()}
    upload = Copy(x, source, name="upload")
    downloads = tuple(Copy(results[name], out, name=f"download {name}") for name, out in plan.outputs.items())
    return Plan((upload, *plan.steps, *downloads), results)


def time_transfers(
    device: Device, array: np.ndarray[Any, Any], x: DeviceArray, stop: Callable[[], bool] | None = None
) -> dict[str, Timing]:
    """Upload and download of the input's size from pageable memory, by the wall clock; {} for the CPU. Raises
    Cancelled when `stop`, called between samples, is true."""
    if device.kind == "cpu":
        return {}
    host = device.allocate("pageable", array.shape, array.dtype)
    np.copyto(host, array)
    back = np.empty_like(host)
    samplers = {
        "upload": device.sampler([Plan((Copy(x, host, name="upload"),), {})], "wall"),
        "download": device.sampler([Plan((Copy(back, x, name="download"),), {})], "wall"),
    }
    return {stage: replace(t, stage=stage) for stage, t in measure_interleaved(samplers, TRANSFERS, stop=stop)}

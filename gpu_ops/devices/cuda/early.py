"""Launches that begin before the one ahead of them in their stream has ended (programmatic dependent launch)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpu_ops.plan import Launch


def early_launch(step: Launch, stream: Any, arguments: int) -> Callable[[], None]:
    """A function that enqueues the launch; `arguments` is the address of the addresses of its arguments. The function
    raises CUDADriverError, as CuPy does."""
    from cuda.bindings import driver

    attribute = driver.CUlaunchAttribute()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value.programmaticStreamSerializationAllowed = 1
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = step.grid
    config.blockDimX, config.blockDimY, config.blockDimZ = step.block
    config.sharedMemBytes, config.hStream = step.shared_bytes, stream.ptr
    config.attrs, config.numAttrs = [attribute], 1
    function = driver.CUfunction(step.kernel.pointer)

    def launch() -> None:
        (status,) = driver.cuLaunchKernelEx(config, function, arguments, 0)
        if status != driver.CUresult.CUDA_SUCCESS:
            from cupy.cuda import driver as cupy_driver

            raise cupy_driver.CUDADriverError(int(status))

    return launch

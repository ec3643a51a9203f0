"""Calls of PyTorch on the arrays of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpu_ops.plan import Device
from gpu_ops.types import Rule

FLOATS = Rule(
    lambda task: task.dtype.kind != "f",
    "PyTorch computes it of floating-point samples only: convert them to float32",
    {"dtype": ("uint8", "uint16")},
)


def on_tensors(device: Device, function: Callable[..., Any]) -> Callable[..., None]:
    """`function` of tensors as a function of the device's arrays, whose memory the tensors share. Its work is put into
    CuPy's current stream; PyTorch has an allocator of its own for intermediate results. Raises
    LibraryMissing without PyTorch or CuPy."""
    torch, cuda = device.library("torch"), device.library("cupy").cuda

    def call(*arrays: Any) -> None:
        here = f"cuda:{cuda.Device().id}"
        stream = torch.cuda.ExternalStream(cuda.get_current_stream().ptr, here)
        with torch.cuda.stream(stream):
            function(*(torch.as_tensor(array, device=here) for array in arrays))

    return call

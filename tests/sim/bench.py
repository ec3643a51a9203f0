"""Runs a kernel's text on any device that runs kernels: the same launch on the simulated GPU and on a real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_ops.device_names import device_place
from gpu_ops.devices import open_device
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.plan import Finding, Launch, Plan

FILE = "tests/kernel.cu"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a launch left in its array arguments, in their order, what was found and what was printed."""

    arrays: tuple[np.ndarray[Any, Any], ...]
    findings: tuple[Finding, ...]
    printed: tuple[str, ...]

    def kinds(self) -> set[str]:
        """The kinds of faults found."""
        return {f.kind for f in self.findings}


@dataclass(frozen=True, eq=False)
class Texture:
    """An array to be passed as a texture."""

    array: np.ndarray[Any, Any]
    border: str = "nearest"
    linear: bool = False


@dataclass(frozen=True, eq=False)
class Empty:
    """Memory of the device in which nothing has been put."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, eq=False)
class Case:
    """One launch. Arrays among `args` are uploaded, and read back afterwards."""

    text: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    args: Sequence[Any]
    shared_bytes: int = 0
    constants: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    defines: Mapping[str, Any] = field(default_factory=dict)


def launch(case: Case, device: str = "sim", options: Options | None = None, mode: str = "direct") -> Outcome:
    """Run a case on "cuda:0", or on "sim" or "sim:sm_90" with `options`."""
    if options is not None:
        opened: Any = SimDevice(device_place(device) or "sm_75", options)
    else:
        opened = open_device(device)
    session = opened.session({FILE: case.text})
    args: list[Any] = []
    for arg in case.args:
        if isinstance(arg, np.ndarray):
            args.append(session.upload(arg))
        elif isinstance(arg, Texture):
            args.append(session.texture(session.upload(arg.array), arg.border, arg.linear))
        elif isinstance(arg, Empty):
            args.append(session.empty(arg.shape, arg.dtype))
        else:
            args.append(arg)
    kernel = session.kernel(FILE, case.kernel, dict(case.defines))
    step = Launch(kernel, case.grid, case.block, tuple(args), case.shared_bytes, dict(case.constants), case.kernel)
    done = session.execute(Plan((step,), {}), mode)
    given = zip(args, case.args, strict=True)
    arrays = tuple(session.download(a) for a, c in given if isinstance(c, np.ndarray | Empty))
    return Outcome(arrays, done.findings, done.printed)

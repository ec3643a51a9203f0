"""The GPUs that times are predicted for: what limits a kernel on each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches

from gpu_ops.devices.data_sheets import PEAKS
from gpu_ops.devices.limits import limits_of
from gpu_ops.devices.occupancy import shared_of
from gpu_ops.errors import ParamError
from gpu_ops.plan import Limits

REACHED = 0.9
"""The share of its data sheet's bandwidth that a copy reaches: 0.90 on the H100, 0.89 on the H200."""
BUS = {3: 13.7e9, 4: 27.4e9, 5: 55e9}
"""Bytes per second of copies between host and device by the generation of PCI Express, 16 lanes: 55 GB/s were measured
of the fifth (H100), which is 0.87 of its data sheet, and the others are in proportion."""
READ = 1.06
"""What only reading reaches over copying: 1.05 on the H100, 1.07 on the H200."""


@dataclass(frozen=True)
class Gpu:
    """A GPU. `clock` is in Hz; `copy`, `read` and `l2` are bytes per second of device memory and of the L2 cache. They
    are `measured`, or follow from the data sheet. `launch` are the seconds from one empty kernel to the next; `bus` is
    for copies between host and device. `shared` are the bytes of shared memory of a multiprocessor, 0 for those of its
    architecture."""

    id: str
    model: str
    architecture: str
    multiprocessors: int
    clock: float
    copy: float
    read: float
    l2: float
    l2_bytes: int
    memory_bytes: int
    measured: bool = False
    launch: float = 1.4e-6
    bus: float = BUS[5]
    shared: int = 0

    @property
    def shared_bytes(self) -> int:
        """The bytes of shared memory of a multiprocessor."""
        return self.shared or shared_of(self.architecture)

    @property
    def basis(self) -> str:
        """Where its numbers come from, in words."""
        if self != GPUS.get(self.id, self):
            return f"changed, with {self.shared_bytes >> 10} KiB of shared memory each; not measured"
        return "roofs measured" if self.measured else "roofs by its data sheet, not measured"

    @property
    def limits(self) -> Limits:
        """Its limits as a device that plans are made for."""
        return replace(
            limits_of(self.architecture),
            multiprocessors=self.multiprocessors,
            l2_bytes=self.l2_bytes,
            memory_bytes=self.memory_bytes,
        )


def _by_data_sheet(
    id: str,
    model: str,
    architecture: str,
    multiprocessors: int,
    clock: float,
    l2: float,
    l2_mib: int,
    memory_gib: int,
    pci: int,
) -> Gpu:
    copy = REACHED * PEAKS[model]
    sizes = (l2_mib << 20, memory_gib << 30)
    return Gpu(
        id, model, architecture, multiprocessors, clock * 1e9, copy, READ * copy, l2 * 1e12, *sizes, bus=BUS[pci]
    )


GPUS = {
    gpu.id: gpu
    for gpu in (
        _by_data_sheet("t4", "Tesla T4", "sm_75", 40, 1.59, 1.27, 4, 16, 3),
        _by_data_sheet("a100", "NVIDIA A100-SXM4-80GB", "sm_80", 108, 1.41, 5.1, 40, 80, 4),
        _by_data_sheet("l4", "NVIDIA L4", "sm_89", 58, 2.04, 2.4, 48, 24, 4),
        _by_data_sheet("rtx4090", "NVIDIA GeForce RTX 4090", "sm_89", 128, 2.52, 5.0, 72, 24, 4),
        Gpu(
            "h100",
            "NVIDIA H100 80GB HBM3",
            "sm_90",
            132,
            1.98e9,
            3.03e12,
            3.17e12,
            7.1e12,
            50 << 20,
            80 << 30,
            True,
            1.7e-6,
        ),
        Gpu("h200", "NVIDIA H200", "sm_90", 132, 1.98e9, 4.27e12, 4.59e12, 7.44e12, 60 << 20, 141 << 30, True),
        _by_data_sheet("b200", "NVIDIA B200", "sm_100", 148, 1.97, 10.0, 126, 180, 5),
        _by_data_sheet("rtx5090", "NVIDIA GeForce RTX 5090", "sm_120", 170, 2.41, 7.0, 96, 32, 5),
    )
}
"""By id. Multiprocessors, clocks and cache sizes are those of NVIDIA's data sheets and architecture white papers.
Bandwidths of memory and of L2, and the seconds of a launch, of the H100 and the H200 are roofs that `kernelscope bench`
measured. Bandwidths of L2 on the T4 and the A100 are published measurements, on the others estimates from these by
multiprocessors and clock; a launch is taken to last there as on the H200."""


def find_gpu(name: str) -> Gpu:
    """The GPU with an id such as "h100", or with a model's name. Raises ParamError."""
    wanted = name.strip().lower().replace(" ", "")
    for gpu in GPUS.values():
        if wanted in (gpu.id, gpu.model.lower().replace(" ", "")):
            return gpu
    near = get_close_matches(wanted, list(GPUS), 1)
    hint = f" – did you mean {near[0]}?" if near else ""
    raise ParamError(f"There is no prediction for {name!r}; choose from {', '.join(GPUS)}{hint}")


def what_if(
    gpu: Gpu,
    bandwidth: float = 1.0,
    l2: float = 1.0,
    multiprocessors: int | None = None,
    clock: float = 1.0,
    shared: int | None = None,
) -> Gpu:
    """The GPU with other numbers: factors of the bandwidths of memory and of L2 and of the clock, a number of
    multiprocessors, and the bytes of `shared` memory of each. With all of them its own, it is the GPU itself."""
    own = gpu.multiprocessors, gpu.shared_bytes
    if (bandwidth, l2, clock, multiprocessors or own[0], shared or own[1]) == (1, 1, 1, *own):
        return gpu
    return replace(
        gpu,
        copy=gpu.copy * bandwidth,
        read=gpu.read * bandwidth,
        l2=gpu.l2 * l2,
        clock=gpu.clock * clock,
        multiprocessors=multiprocessors or gpu.multiprocessors,
        measured=False,
        shared=shared if shared and shared != own[1] else gpu.shared,
    )

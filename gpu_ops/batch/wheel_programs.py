"""Compiles the shipped kernels at default settings for the wheel: see gpu_ops.devices.shipped_programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gpu_ops.devices import shipped_programs
from gpu_ops.devices.compiler import request_of
from gpu_ops.devices.nvrtc import nvrtc_version
from gpu_ops.devices.offline import OfflineDevice, OfflineKernel
from gpu_ops.devices.shipped_programs import Program, key_of, normal
from gpu_ops.filters import FILTERS
from gpu_ops.io import SAMPLES, sample
from gpu_ops.params import Value
from gpu_ops.running.affordable import affordable
from gpu_ops.running.declared import make_plan
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter

DTYPES = {"image": ("uint8", "float32"), "signal": ("float32", "float64")}
"""The types of the samples, for each kind."""


class Recorder(OfflineDevice):
    """Compiles the kernels of plans, and keeps what the compiler made."""

    def __init__(self, architecture: str) -> None:
        super().__init__(architecture)
        self.programs: dict[str, Program] = {}

    def kernel(self, source: str, name: str, defines: Mapping[str, Value] | None = None) -> OfflineKernel:
        request = request_of(source, self.architecture, dict(defines or {}), None, True, ())
        key = key_of(source, request.text, request.headers, request.flags)
        kernel = super().kernel(source, name, defines)
        self.programs[key] = normal(source, Program(kernel.compiled.ptx, kernel.compiled.log))
        return kernel


def compile_programs(architecture: str, filters: Iterable[Filter] = FILTERS) -> dict[str, Program]:
    """The programs of every variant with default parameters and knobs, on the samples and on the parts of them that an
    X-ray takes."""
    device = Recorder(architecture)
    metas = list(_metas())
    for filter in filters:
        params = {p.name: p.default for p in filter.params}
        for variant in (v for v in filter.variants if v.kernels):
            knobs = {p.name: p.default for p in variant.knobs}
            for meta in (m for m in metas if m.kind == filter.accepts and m.dtype in map(str, filter.dtypes)):
                task = Task.of(meta, params, knobs, device.limits)
                if variant.refusal(task) is None:
                    make_plan(filter, variant, device, task.on(device.empty(meta.shape, task.dtype)))
    return device.programs


def _metas() -> Iterator[Meta]:
    """Kind, shape and dtype of the samples and of their parts, each once."""
    found = {}
    for one in SAMPLES:
        whole = sample(one.id)
        for input in (whole, affordable(whole)[0]):
            for dtype in DTYPES[input.kind]:
                found[input.kind, input.array.shape, dtype] = Meta(input.kind, input.array.shape, dtype)
    yield from found.values()


def main(folder: str) -> None:
    """Write the files of all architectures into a folder."""
    for architecture in shipped_programs.ARCHITECTURES:
        programs = compile_programs(architecture)
        path = shipped_programs.write(Path(folder), architecture, nvrtc_version(), programs)
        print(f"{path.name}: {len(programs)} programs, {path.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

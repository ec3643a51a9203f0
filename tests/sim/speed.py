"""How fast the simulated GPU is here, held to what is required of it: python -m tests.sim.speed [--json FILE]

Every figure is the median of several runs after a first; "first use" is taken in processes of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import find_filter
from gpu_ops.plan import Launch, Plan
from gpu_ops.report.provenance import machine
from gpu_ops.task import Meta, Task

REPEATS = 7
HISTOGRAM = """
extern "C" __global__ void histogram(const unsigned char* x, unsigned int* bins, int n)
{
    __shared__ unsigned int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
"""


def _planned(variant: str, array: np.ndarray[Any, Any], border: str, **options: Any) -> tuple[SimDevice, Plan]:
    filter = find_filter("mean", "image" if array.ndim == 2 else "signal")
    device = SimDevice("sm_75", Options(**options))
    meta = Meta(filter.accepts, array.shape, array.dtype.name)
    task = Task.of(meta, {"window": 5, "border": border}, {"block": 128, "outputs": 2})
    return device, filter.variant(variant).plan(device, task.on(device.upload(array)))


def _image(side: int = 512, **options: Any) -> tuple[SimDevice, Plan]:
    return _planned("naive", np.random.default_rng(0).random((side, side), np.float32), "reflect", **options)


def _signal() -> tuple[SimDevice, Plan]:
    return _planned("shared", np.random.default_rng(0).random(1_000_000, np.float32), "zero")


def _histogram() -> tuple[SimDevice, Plan]:
    device = SimDevice("sm_75").session({"tests/histogram.cu": HISTOGRAM})
    values = np.random.default_rng(0).integers(0, 256, 1_000_000).astype(np.uint8)
    args = (device.upload(values), device.upload(np.zeros(256, np.uint32)), np.int32(values.size))
    kernel = device.kernel("tests/histogram.cu", "histogram")
    return device, Plan((Launch(kernel, (977, 1, 1), (256, 1, 1), args),), {})


def _time(make: Callable[[], tuple[SimDevice, Plan]]) -> float:
    device, plan = make()
    device.execute(plan)
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        device.execute(plan)
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def _inside(what: str) -> float:
    """A figure that a fresh process gives."""
    done = subprocess.run([sys.executable, "-m", "tests.sim.speed", "--one", what], capture_output=True, text=True)
    return float(done.stdout)


def _first_use() -> float:
    """Compile, read, write and load one kernel: everything until it could run."""
    array = np.zeros((64, 64), np.float32)
    SimDevice("sm_75").upload(array)
    start = time.perf_counter()
    _planned("naive", array, "reflect")
    return 1e3 * (time.perf_counter() - start)


def _peak() -> float:
    device, plan = _image(2048, counters="full")
    device.execute(plan)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


FIGURES: tuple[tuple[str, str, float, Callable[[], float]], ...] = (
    ("naive 5×5 mean, 512² float", "ms", 100, lambda: _time(_image)),
    ("the same with all counters", "ms", 150, lambda: _time(lambda: _image(counters="full"))),
    ("constant + shared mean, 1e6 samples", "ms", 150, lambda: _time(_signal)),
    ("shared-atomic histogram, 1e6 bytes", "ms", 100, lambda: _time(_histogram)),
    ("first use of a kernel", "ms", 250, lambda: statistics.median(_inside("first") for _ in range(5))),
    ("peak memory, 2048² float", "MB", 1000, lambda: _inside("peak")),
)


def main() -> int:
    """Print the table; exit code 1 when a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--one", choices=("first", "peak"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(_first_use() if args.one == "first" else _peak())
        return 0
    rows = [{"what": w, "unit": u, "limit": limit, "measured": run()} for w, u, limit, run in FIGURES]
    for row in rows:
        print(f"{row['what']:38} {row['measured']:8.4g} {row['unit']}  ≤ {row['limit']:g}")
    if args.json:
        content = {"schema": "kernelscope-speed/1", "provenance": machine([], with_roofs=False), "rows": rows}
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
    return 0 if all(float(row["measured"]) <= float(row["limit"]) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

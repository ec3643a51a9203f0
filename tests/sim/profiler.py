"""Holds the simulated GPU's counts to Nsight Compute's, and its occupancy to the driver's, on a real GPU.

python -m tests.sim.profiler --json FILE [--device cuda:0]

Every kernel of the product is launched under `ncu` and on a simulated GPU of the same architecture, with as many
multiprocessors: some plans depend on them. The counts that must agree follow from addresses alone: theoretical sectors
of global memory, wavefronts of shared memory, and the minimum of each. Where they differ, the report gives the reason
if it is known: diverged lanes reconverge as soon as they can here, and where nvdisasm is missing, accesses are those of
the PTX, of which the assembler merges, narrows and drops some. Exit code 1 when more than one launch in fifty differs
and nobody knows why, or an occupancy does.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.devices import open_device
from gpu_ops.devices.occupancy import occupancy
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import FILTERS
from gpu_ops.params import check_values
from gpu_ops.plan import Device, Launch, Plan
from gpu_ops.report.provenance import machine
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Variant

METRICS = {
    "memory_l2_theoretical_sectors_global": "sectors",
    "memory_l2_theoretical_sectors_global_ideal": "ideal_sectors",
    "memory_l1_wavefronts_shared": "wavefronts",
    "memory_l1_wavefronts_shared_ideal": "ideal_wavefronts",
}
REQUESTS = {
    "smsp__inst_executed_op_global_ld.sum": "global_load_requests",
    "smsp__inst_executed_op_global_st.sum": "global_store_requests",
    "smsp__inst_executed_op_shared_ld.sum": "shared_load_requests",
    "smsp__inst_executed_op_shared_st.sum": "shared_store_requests",
}
SHAPES: dict[str, tuple[tuple[int, ...], ...]] = {
    "image": ((300, 500), (129, 127, 3)),
    "signal": ((100_003,), (5_001, 2)),
}
BORDERS = ("zero", "reflect", "nearest", "wrap")
KERNELS = "regex:^(box|conv3x3|fft|histogram|layout|mean|reduce|scan|wavelet)_"
"""The names of the product's kernels."""
OWN = "(mean|box|conv).*"
"""The filters to compare."""
BLOCKS = (32, 64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024)
UNKNOWN_SHARE = 0.02
REQUESTED = "other requests: the assembler joins and drops accesses of the PTX; lanes that part meet again elsewhere"
UNKNOWN = "not explained"
MOST_THREADS, NUM_REGS, DYNAMIC_SHARED = 0, 4, 8  # CU_FUNC_ATTRIBUTE_…


def launches(device: Device, only: str = OWN) -> Iterator[tuple[str, Plan]]:
    """Name and plan of every launch that is compared: each kernel with each dtype, shapes and borders in turn. `only`
    is a regular expression for the filters."""
    place = 0
    for filter in FILTERS:
        for variant in filter.variants:
            if variant.device != "cuda" or variant.library:
                continue
            for dtype in filter.dtypes:
                for shape in SHAPES[filter.accepts]:
                    place += 1
                    if not re.fullmatch(only, filter.id):
                        continue
                    found = plan_of(device, filter, variant, shape, dtype, BORDERS[place % 4])
                    if found is not None:
                        yield found


def plan_of(
    device: Device, filter: Filter, variant: Variant, shape: tuple[int, ...], dtype: str, border: str
) -> tuple[str, Plan] | None:
    """The name and the plan of a case; None where the variant refuses it."""
    has_border = any(p.name == "border" and border in (p.choices or ()) for p in filter.params)
    params = check_values(filter.params, {"border": border} if has_border else {}, filter.id)
    knobs = check_values(variant.knobs, {}, variant.id)
    task = Task.of(Meta(filter.accepts, shape, dtype), params, knobs, device.limits)
    if variant.refusal(task):
        return None
    values = np.random.default_rng(7).random(shape) * (200 if dtype.startswith("u") else 1)
    name = f"{filter.id} {variant.id} {dtype} {' x '.join(map(str, shape))} {border}"
    return name, variant.plan(device, task.on(device.upload(values.astype(dtype))))


def run_all(device_name: str, only: str) -> None:
    """Launch everything once, for a profiler that watches."""
    device = open_device(device_name).session({})
    for _, plan in launches(device, only):
        device.execute(plan)


def profiled(device_name: str, only: str = OWN) -> list[tuple[str, dict[str, int]]]:
    """Kernel name and metrics of each launch, in order. Raises RuntimeError when ncu does not work here."""
    own = [sys.executable, "-m", "tests.sim.profiler", "--inner", "--device", device_name, "--only", only]
    watch = ["ncu", "--csv", "--page", "raw", "--clock-control", "none", "--metrics", ",".join((*METRICS, *REQUESTS))]
    done = subprocess.run([*watch, "-k", KERNELS, *own], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if done.returncode or len(lines) < 3:
        raise RuntimeError(f"ncu failed: {(done.stderr or done.stdout)[-1500:]}")
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))[1:]  # the first holds units
    wanted = {**METRICS, **REQUESTS}
    return [(r["Kernel Name"], {short: _whole(r[name]) for name, short in wanted.items()}) for r in rows]


def _whole(text: str) -> int:
    return round(float(text.replace(",", "") or 0))


def counted(architecture: str, multiprocessors: int, only: str = OWN) -> list[tuple[str, str, dict[str, int]]]:
    """Case, kernel and our counts of each launch, in the same order; accesses as the machine code makes them."""
    device = SimDevice(architecture, Options(checks="off", counters="full", machine_code=True), assemble=True)
    device.limits = replace(device.limits, multiprocessors=multiprocessors)
    found = []
    for case, plan in launches(device, only):
        for step in plan.steps:
            if isinstance(step, Launch):
                done = device.execute(Plan((step,), {}))
                found.append((case, step.kernel.name, ours(done.counters)))
    return found


def ours(counts: Any) -> dict[str, int]:
    """The counts of a simulated launch that have a metric, by name."""
    kinds = ("load", "store", "atomic")
    return {
        "sectors": sum(counts.get(f"global_{k}_sectors", 0) for k in kinds),
        "ideal_sectors": sum(counts.get(f"global_{k}_ideal_sectors", 0) for k in kinds),
        "wavefronts": counts.get("shared_wavefronts", 0),
        "ideal_wavefronts": counts.get("shared_ideal_wavefronts", 0),
        **{name: counts.get(name, 0) for name in REQUESTS.values()},
    }


def _verdict(metrics: dict[str, int], own: dict[str, int]) -> dict[str, Any]:
    """Whether all four are equal, and if not why."""
    apart = [name for name in METRICS.values() if metrics[name] != own[name]]
    why = UNKNOWN if apart else ""
    if apart and any(metrics[name] != own[name] for name in REQUESTS.values()):
        why = REQUESTED
    return {"equal": not apart, "why": why}


def occupancies(device_name: str) -> list[dict[str, Any]]:
    """The driver's occupancy and ours for every kernel and block size."""
    import cupy

    device = open_device(device_name).session({})
    architecture = device.describe()["architecture"]
    found = []
    for case, plan in launches(device):
        for step in plan.steps:
            if not isinstance(step, Launch):
                continue
            ask = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
            resources = step.kernel.resources
            shared = resources["shared_bytes"] + step.shared_bytes
            cupy.cuda.driver.funcSetAttribute(step.kernel.pointer, DYNAMIC_SHARED, step.shared_bytes)
            most = cupy.cuda.driver.funcGetAttribute(MOST_THREADS, step.kernel.pointer)  # by its launch bounds
            for block in (b for b in BLOCKS if b <= most):
                ours = occupancy(architecture, block, resources["registers"], shared, resources["barriers"]).blocks
                driver = ask(step.kernel.pointer, block, step.shared_bytes)
                used = cupy.cuda.driver.funcGetAttribute(NUM_REGS, step.kernel.pointer)
                registers = {"by_log": resources["registers"], "by_driver": used}
                found.append({"case": case, "block": block, "driver": driver, "ours": ours, "registers": registers})
    return found


def compare(device_name: str, only: str = OWN) -> dict[str, Any]:
    """The whole comparison as a report."""
    device = open_device(device_name)
    facts = device.describe()
    theirs = profiled(device_name, only)
    ours = counted(facts["architecture"], device.limits.multiprocessors, only)
    if [name for name, _ in theirs] != [name for _, name, _ in ours]:
        raise RuntimeError(f"ncu saw {len(theirs)} launches, {len(ours)} were simulated, or in another order")
    rows = [
        {"case": case, "kernel": kernel, "ncu": metrics, "simulated": own, **_verdict(metrics, own)}
        for (_, metrics), (case, kernel, own) in zip(theirs, ours, strict=True)
    ]
    fits = occupancies(device_name)
    return {
        "schema": "kernelscope-profiler/1",
        "provenance": machine([device_name], with_roofs=False),
        "device": facts,
        "ncu": subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-1],
        "equal": sum(r["equal"] for r in rows),
        "unknown": sum(r["why"] == UNKNOWN for r in rows),
        "launches": len(rows),
        "rows": rows,
        "occupancy_equal": sum(f["driver"] == f["ours"] for f in fits),
        "occupancy_checked": len(fits),
        "occupancy_differs": [f for f in fits if f["driver"] != f["ours"]],
    }


def main() -> int:
    """Compare, write the report, say what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default=OWN, help="the filters, as a regular expression")
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inner:
        run_all(args.device, args.only)
        return 0
    report = compare(args.device, args.only)
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")
    print(f"{report['equal']} of {report['launches']} launches equal in all four counts")
    print(f"{report['unknown']} differ and nobody knows why")
    print(f"occupancy: {report['occupancy_equal']} of {report['occupancy_checked']} equal")
    for row in report["rows"]:
        if not row["equal"]:
            print(f"  {row['case']}: ncu {row['ncu']}, simulated {row['simulated']}: {row['why']}")
    return 0 if report["unknown"] <= UNKNOWN_SHARE * report["launches"] and not report["occupancy_differs"] else 1


if __name__ == "__main__":
    sys.exit(main())

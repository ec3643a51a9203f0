"""Nsight Compute's counts of launches that were recorded on an H200, next to those of the simulated GPU.

python -m tests.sim.recorded_profiler [--part N/PARTS] [--only REGEX] [--json FILE]

`profiler_counts.json.xz` has launches of the product's kernels as `tests.sim.profiler` makes them: filter, variant,
dtype, shape, border, number of the step, kernel, and the eight numbers of `COUNTS`. A launch whose kernel file has
changed since is left out. It was recorded with Nsight Compute 2025.3.1, driver 580 and NVRTC 13.0 on sm_90. To take
that compiler: pip install nvidia-cuda-nvrtc==13.0.88.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from gpu_ops.devices.kernel_source import read_source, source_hash
from gpu_ops.devices.nvrtc import nvrtc_version
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import find_filter
from gpu_ops.plan import Launch, Plan
from tests.sim.profiler import METRICS, REQUESTS, ours, plan_of

FILE = Path(__file__).with_name("profiler_counts.json.xz")
COUNTS = (*METRICS.values(), *REQUESTS.values())
"""The names of the numbers of a launch."""
COMPILER = 13, 0
"""The NVRTC whose machine code was recorded: another one's may have other accesses."""
MULTIPROCESSORS = 132
"""Those of the H200; some plans depend on them."""


class Case(NamedTuple):
    """A plan, some of whose launches were recorded."""

    filter: str
    variant: str
    dtype: str
    shape: tuple[int, ...]
    border: str


class Compared(NamedTuple):
    """A launch with both counts by name; `apart` are the names of the four address-derived counts that differ."""

    case: Case
    step: int
    kernel: str
    profiled: dict[str, int]
    simulated: dict[str, int]

    @property
    def apart(self) -> list[str]:
        return [name for name in METRICS.values() if self.profiled[name] != self.simulated[name]]

    def __str__(self) -> str:
        names = [n for n in COUNTS if self.profiled[n] != self.simulated[n]]
        apart = ", ".join(f"{n} {self.profiled[n]} profiled, {self.simulated[n]} simulated" for n in names)
        return f"{' '.join(map(str, self.case))} step {self.step} {self.kernel}: {apart}"


def files_as_recorded(filter: str, variant: str, hashes: str) -> list[str]:
    """The kernel files of a variant that are as they were when its launches were recorded: their text."""
    files = find_filter(filter).variant(variant).kernels
    pairs = zip(files, hashes.split("-"), strict=True)
    return [read_source(file) for file, recorded in pairs if source_hash(file) == recorded]


@lru_cache(1)
def recorded() -> dict[Case, dict[int, tuple[str, dict[str, int]]]]:
    """The recorded launches of today's kernels: by case and step, the kernel's name and its counts."""
    file = json.loads(lzma.decompress(FILE.read_bytes()))
    texts = {name: files_as_recorded(*name.split(), hashes) for name, hashes in file["kernels"].items()}
    cases: dict[Case, dict[int, tuple[str, dict[str, int]]]] = defaultdict(dict)
    for filter, variant, dtype, shape, border, step, kernel, counts in file["launches"]:
        if any(re.search(rf"\b{kernel}\b", text) for text in texts[f"{filter} {variant}"]):
            case = Case(filter, variant, dtype, tuple(shape), border)
            cases[case][step] = kernel, dict(zip(COUNTS, counts, strict=True))
    return cases


def compared(cases: Iterable[Case]) -> Iterator[Compared]:
    """Simulate cases, up to their last recorded launch."""
    options = Options(checks="off", counters="full", machine_code=True)
    device = SimDevice("sm_90", options, assemble=True)
    device.limits = replace(device.limits, multiprocessors=MULTIPROCESSORS)
    plain = SimDevice("sm_90", Options(checks="off"), device._memory, limits=device.limits)
    for case in cases:
        launches = recorded()[case]
        filter = find_filter(case.filter)
        found = plan_of(device, filter, filter.variant(case.variant), case.shape, case.dtype, case.border)
        assert found is not None, case
        for number, step in enumerate(found[1].steps[: max(launches) + 1]):
            watched = number in launches
            done = (device if watched else plain).execute(Plan((step,), {}))
            if watched:
                kernel, profiled = launches[number]
                assert isinstance(step, Launch) and step.kernel.name == kernel, (case, number, kernel)
                yield Compared(case, number, kernel, profiled, ours(done.counters))


def main() -> int:
    """Compare all, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--only", default=".*", help="filter and variant, as a regular expression")
    parser.add_argument("--json", type=Path, help="one line for each launch that differs")
    args = parser.parse_args()
    if nvrtc_version() != COMPILER:
        print("NVRTC {}.{} compiles here, {}.{} was recorded: machine code differs".format(*nvrtc_version(), *COMPILER))
    part, parts = map(int, args.part.split("/"))
    cases = [case for case in recorded() if re.fullmatch(args.only, f"{case.filter} {case.variant}")][part::parts]
    all, equal = Counter[str](), Counter[str]()
    for one in compared(cases):
        all[one.case.filter] += 1
        equal[one.case.filter] += not one.apart
        if one.apart:
            print(one, flush=True)
            if args.json:
                with args.json.open("a") as file:
                    file.write(json.dumps(one) + "\n")
    for filter, launches in all.items():
        print(f"{filter}: {equal[filter]} of {launches} launches equal in all four counts")
    print(f"{equal.total()} of {all.total()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Kernels of many kinds, as people write them: the counts that Nsight Compute had of their launches on an H200, next to
those of the simulated GPU.

python -m tests.sim.recorded_foreign [--part N/PARTS] [--only REGEX]

`foreign/launches.json.xz` has for each launch the file, the kernel, the grid, the block, the arguments as the command
line takes them ({name} is an array of `foreign/arrays.npz`), the bytes of dynamic shared memory, the symbols, and the
four counts. Recorded with Nsight Compute 2025.3.1 and NVRTC 13.0; see `recorded_profiler`.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.own_kernels.launching import OwnLaunch, _launch
from gpu_ops.own_kernels.sources import read_file
from gpu_ops.plan import Plan
from tests.sim.profiler import METRICS, ours
from tests.sim.recorded_profiler import MULTIPROCESSORS

FOLDER = Path(__file__).with_name("foreign")


class Foreign(NamedTuple):
    """A launch and its recorded counts."""

    file: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[str, ...]
    shared_bytes: int
    symbols: dict[str, str]
    profiled: dict[str, int]

    def own(self, folder: Path) -> OwnLaunch:
        """The launch with its arrays in files of a folder."""
        used = {name for text in (*self.arguments, *self.symbols.values()) for name in re.findall(r"{(\w+)}", text)}
        with np.load(FOLDER / "arrays.npz") as arrays:
            for name in used:
                np.save(folder / f"{name}.npy", arrays[name])
        paths = {name: folder / f"{name}.npy" for name in used}
        symbols = {name: text.format(**paths) for name, text in self.symbols.items()}
        arguments = tuple(text.format(**paths) for text in self.arguments)
        file = read_file(FOLDER / self.file)
        return OwnLaunch(file, self.kernel, self.grid, self.block, arguments, self.shared_bytes, symbols=symbols)


class Compared(NamedTuple):
    """A launch and its simulated counts; `unknown`: some depend on which thread comes first."""

    launch: Foreign
    simulated: dict[str, int]
    unknown: bool

    @property
    def apart(self) -> dict[str, tuple[int, int]]:
        """The counts that differ: as profiled and as simulated."""
        both = {name: (self.launch.profiled[name], self.simulated[name]) for name in METRICS.values()}
        return {name: pair for name, pair in both.items() if pair[0] != pair[1]}

    def __str__(self) -> str:
        apart = ", ".join(f"{name} {a} profiled, {b} simulated" for name, (a, b) in self.apart.items())
        return f"{self.launch.file} {self.launch.kernel} {self.launch.grid}: {'unknown: ' * self.unknown}{apart}"


@cache
def recorded() -> tuple[Foreign, ...]:
    """All recorded launches."""
    rows: list[list[Any]] = json.loads(lzma.decompress((FOLDER / "launches.json.xz").read_bytes()))
    return tuple(
        Foreign(f, k, tuple(g), tuple(b), tuple(a), n, s, dict(zip(METRICS.values(), c, strict=True)))
        for f, k, g, b, a, n, s, c in rows
    )


def compared(launches: Iterable[Foreign]) -> Iterator[Compared]:
    """Simulate launches."""
    device = SimDevice("sm_90", Options(checks="off", counters="full", machine_code=True), assemble=True)
    device.limits = replace(device.limits, multiprocessors=MULTIPROCESSORS)
    for one in launches:
        with tempfile.TemporaryDirectory() as folder:
            own = one.own(Path(folder))
            session = device.session(own.texts)
            counts = session.execute(Plan((_launch(own, session)[0],), {})).counters
        yield Compared(one, ours(counts), counts.get("unsettled_requests", 0) > 0)


def main() -> int:
    """Compare all, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--only", default=".*", help="file and kernel, as a regular expression")
    args = parser.parse_args()
    part, parts = map(int, args.part.split("/"))
    found = list(compared([one for one in recorded() if re.match(args.only, f"{one.file} {one.kernel}")][part::parts]))
    for one in found:
        if one.apart:
            print(one)
    known = [one for one in found if not one.unknown]
    print(f"{sum(not one.apart for one in found)} of {len(found)} launches equal in all four counts;")
    print(f"{sum(not one.apart for one in known)} of the {len(known)} that do not depend on which thread comes first")
    return 0


if __name__ == "__main__":
    sys.exit(main())

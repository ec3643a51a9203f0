"""The PTX and the machine code of a kernel as text, below the source lines that they come from."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from gpu_ops.cli.kernel.mend import add_mend
from gpu_ops.cli.tables import align
from gpu_ops.devices.sass.listing import SassLine
from gpu_ops.errors import counted, shortened
from gpu_ops.explaining.machine_code import KernelCode, Place, barrier_text
from gpu_ops.explaining.prediction.gpus import GPUS
from gpu_ops.explaining.xray import KernelXRay

SHOWN = ("ptx", "sass")
WIDEST = 120
"""The most letters of a source line that are shown."""
LEGEND = """\
  stall     cycles that the warp waits after the instruction; y: another warp is preferred then
  barriers  numbers: it waits until these are released; w, r and a number: released once its result is written, once
            its operands are read
  live      registers of a thread that are in use"""


def add_show(group: argparse._ArgumentGroup) -> None:
    """The flags that ask for code, for a profile, for cliffs and for predicted times."""
    help = "the code of the kernel instead of its counters: PTX, or machine code (SASS)"
    group.add_argument("--show", choices=SHOWN, help=help)
    profile = "a report of Nsight Compute to compare with, line by line: a .ncu-rep, or the output of ncu --csv"
    group.add_argument("--ncu", metavar="FILE", help=profile)
    cliffs = "also the next steps of the occupancy on each GPU, and a layout of shared memory without bank conflicts"
    group.add_argument("--cliffs", action="store_true", help=cliffs)
    add_mend(group)
    times = f"also the times of the whole input on these GPUs: {', '.join(GPUS)}"
    group.add_argument("--predict", nargs="+", action="extend", default=[], metavar="GPU", help=times)


def listing(kernel: KernelXRay, kind: str) -> str:
    """The code of a kernel, "ptx" or "sass", or one sentence that says why there is none."""
    code = kernel.code
    assert code is not None
    if kind == "sass" and code.missing:
        return f"{kernel.name}: {code.missing}"
    sources = {f.file: f.text.splitlines() for f in kernel.files}
    if kind == "ptx":
        heading = f"{kernel.name}: PTX for {code.architecture}"
        lines = list(_headed(((line.places, f"{line.row:>6}  {line.text}") for line in code.ptx), sources))
        return "\n".join([heading, *lines])
    most = max((line.live.get("GPR", 0) for line in code.listed), default=0)
    heading = f"{kernel.name}: machine code for {code.architecture}, {counted(len(code.listed), 'instruction')}"
    heading += f", at most {counted(most, 'live register')}"
    return "\n".join([heading, *_sass(code, sources), LEGEND])


def _sass(code: KernelCode, sources: Mapping[str, Sequence[str]]) -> list[str]:
    places, titles = code.places(), ["address", "stall", "barriers", "live", "instruction"]
    rows = align([titles, *(_cells(line) for line in code.listed)], frozenset({0, 1, 3})).splitlines()
    found = ((places.get(line.ptx, ()), row) for line, row in zip(code.listed, rows[-len(code.listed) :], strict=True))
    return [*rows[: -len(code.listed)], *_headed(found, sources)]


def _cells(line: SassLine) -> list[str]:
    control = line.control
    label = f"{line.label}: " if line.label else ""
    stall = f"{control.stall}{'y' if control.yields else ' '}"
    return [f"{line.address:04x}", stall, barrier_text(control), str(line.live.get("GPR", "")), f"{label}{line.text}"]


def _headed(lines: Iterator[tuple[tuple[Place, ...], str]], sources: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The lines, with the source line above each run of lines that comes from it."""
    for places, run in groupby(lines, key=lambda line: line[0]):
        if places:
            yield _heading(places, sources)
        yield from (text for _, text in run)


def _heading(places: Sequence[Place], sources: Mapping[str, Sequence[str]]) -> str:
    (file, line), callers = places[0], places[1:]
    text = sources.get(file, ())
    source = shortened(text[line - 1].strip(), WIDEST) if line <= len(text) else ""
    by = f"  (called in {', '.join(f'{f}:{n}' for f, n in callers)})" if callers else ""
    return f"{file}:{line}{by}  {source}"

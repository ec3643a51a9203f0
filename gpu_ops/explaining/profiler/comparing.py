"""The counters of a profile next to those of a simulated GPU, line by line, and why they differ."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gpu_ops.devices.nvrtc import nvrtc_version
from gpu_ops.errors import ParamError, counted, plain
from gpu_ops.explaining.profiler.instructions import Instructions, simulated_instructions
from gpu_ops.explaining.profiler.launches import (
    IDEAL,
    IDEAL_WAVEFRONTS,
    SECTORS,
    WAVEFRONTS,
    Place,
    ProfiledLaunch,
)
from gpu_ops.explaining.profiler.reading import read_profile
from gpu_ops.explaining.xray import KernelXRay, XRay
from gpu_ops.version import exact

_KINDS = ("load", "store", "atomic")
COUNTERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    SECTORS: ("sectors", tuple(f"global_{kind}_sectors" for kind in _KINDS)),
    IDEAL: ("ideal sectors", tuple(f"global_{kind}_ideal_sectors" for kind in _KINDS)),
    WAVEFRONTS: ("wavefronts", ("shared_wavefronts",)),
    IDEAL_WAVEFRONTS: ("ideal wavefronts", ("shared_ideal_wavefronts",)),
}
"""What is compared: the name, and the counters of the simulated GPU that are added up."""
MOVED = "the whole kernel has the same number: the machine code has it at another line"
AGAIN = "an atomic operation that the GPU tries again until it is first counts each time"
TURNS = "unknown: it depends on which thread comes first"
DIVERGED = "not explained by addresses: lanes may stay diverged longer on the GPU"
OTHER_CODE = "the profile is of other machine code, which may make other accesses"
OTHER = "not explained by addresses: lanes may stay diverged longer on the GPU, or another compiler made its code"
"""Where the machine code of one of both is not known."""
NAMED = 5
"""The most kernels that an error names."""


@dataclass(frozen=True)
class Compared:
    """A counter of a line, or of the whole kernel (`line` 0): as simulated and as profiled, None where the profile does
    not have it; `why` says why they differ."""

    file: str
    line: int
    counter: str
    simulated: int
    profiled: float | None
    why: str = ""

    @property
    def equal(self) -> bool:
        """Whether both have the same number."""
        return self.profiled is not None and self.simulated == self.profiled


@dataclass(frozen=True)
class KernelProfile:
    """A kernel next to its profile. `notes` say what does not fit together; `totals` are of the whole kernel, `lines`
    of those with a count, in the order of the files."""

    kernel: str
    source: str
    notes: tuple[str, ...]
    totals: tuple[Compared, ...]
    lines: tuple[Compared, ...]


def compare_with_profile(x: XRay, path: str | Path) -> list[KernelProfile]:
    """The kernels of an X-ray that a report of Nsight Compute has as well. Raises ReportError, InputError, and
    ParamError where it has none of them."""
    launches: dict[str, list[ProfiledLaunch]] = defaultdict(list)
    for one in read_profile(path):
        launches[_own_name(one.kernel)].append(one)
    names = [_own_name(kernel.name) for kernel in x.kernels]
    found = [
        _kernel(k, launches[n], x, Path(path).name) for k, n in zip(x.kernels, names, strict=True) if n in launches
    ]
    if not found:
        theirs, ours = _some(list(launches)), _some([k.name for k in x.kernels])
        advice = "choose the variant or the kernel of the profile"
        raise ParamError(f"{plain(Path(path).name)} is of {theirs}, the X-ray of {ours}; {advice}.")
    return found


def _own_name(kernel: str) -> str:
    """The name of a kernel without namespaces, arguments of templates and parameters, as reports have it."""
    return kernel.split("(")[0].split("<")[0].rsplit("::", 1)[-1]


def _some(names: Sequence[str]) -> str:
    """The first of these names, and how many others there are."""
    shown = ", ".join(map(plain, names[:NAMED]))
    return f"{shown} and {counted(len(names) - NAMED, 'other')}" if len(names) > NAMED else shown


def _kernel(kernel: KernelXRay, all_launches: Sequence[ProfiledLaunch], x: XRay, name: str) -> KernelProfile:
    launches = _once(kernel, all_launches)
    notes = _notes(kernel, launches, x, name)
    fits, reason = not notes, OTHER
    if launches[0].architecture == x.architecture and (codes := _codes(kernel, launches)):
        reason = DIVERGED if codes[0] == codes[1] else OTHER_CODE
        notes += [] if codes[0] == codes[1] else [_other_code(*codes)]
    totals = _added([one.totals for one in launches])
    files = [f.file for f in kernel.files]
    theirs: dict[Place, Mapping[str, float]] = {}
    for place in {place for one in launches for place in one.lines}:
        theirs[_own_file(place[0], files), place[1]] = _added([one.lines.get(place, {}) for one in launches])
    whole = tuple(
        _compared("", 0, metric, kernel.totals, totals, fits, reason)
        for metric in COUNTERS
        if metric in totals or not fits
    )
    same = {one.counter for one in whole if one.equal}
    ours = {(f.file, line): counts for f in kernel.files for line, counts in f.lines.items()}
    lines: list[Compared] = []
    order = {file: number for number, file in enumerate(files)}
    for place in sorted({*ours, *theirs}, key=lambda p: (order.get(p[0], len(order)), p)) if theirs else ():
        for metric, (title, _) in COUNTERS.items():
            why = MOVED if title in same and reason != OTHER_CODE else reason
            own = {metric: 0.0, **theirs.get(place, {})} if metric in totals else {}
            one = _compared(*place, metric, ours.get(place, {}), own, fits, why)
            if one.simulated or one.profiled:
                lines.append(one)
    if not theirs:
        notes.append("The profile has totals, but no lines.")
    if (times := len(all_launches) // len(launches)) > 1:
        notes.append(f"The profile has the same counts {times} times; those of once are compared.")
    return KernelProfile(kernel.name, name, tuple(notes), whole, tuple(lines))


def _once(kernel: KernelXRay, launches: Sequence[ProfiledLaunch]) -> Sequence[ProfiledLaunch]:
    """The launches of a profile, or those of once where it has the same ones several times, as of a program that
    repeats its work."""
    turns = [launches[at : at + kernel.launches] for at in range(0, len(launches), kernel.launches)]
    return turns[0] if all(turn == turns[0] for turn in turns) else launches


def _codes(kernel: KernelXRay, launches: Sequence[ProfiledLaunch]) -> tuple[Instructions, Instructions] | None:
    """The instructions of the profile and of the simulation; None where those of one are not known, or where launches
    have different ones, because an X-ray has those of the first."""
    theirs = {one.instructions for one in launches}
    first, own = launches[0].instructions, simulated_instructions(kernel.code.sass if kernel.code else ())
    return (first, own) if len(theirs) == 1 and len(kernel.defines) < 2 and first and own else None


def _other_code(theirs: Instructions, own: Instructions) -> str:
    """Which compiler to use, where the machine code differs."""
    version = ".".join(map(str, nvrtc_version()))
    return (
        f"The profile has other machine code, {counted(len(theirs), 'instruction')}, than the simulation, "
        f"{len(own):,} by NVRTC {version}: make the profile with NVRTC {version}, or install the version that "
        f"compiled the profiled kernel ({exact('nvidia-cuda-nvrtc', 'VERSION')}); take the same source and defines."
    )


def _compared(
    file: str, line: int, metric: str, counts: Mapping[str, int], theirs: Mapping[str, float], fits: bool, why: str
) -> Compared:
    title, parts = COUNTERS[metric]
    simulated, profiled = sum(counts.get(part, 0) for part in parts), theirs.get(metric)
    if profiled is None or math.isnan(profiled):
        return Compared(file, line, title, simulated, None)
    if simulated == profiled or not fits:
        return Compared(file, line, title, simulated, profiled)
    if why != MOVED and counts.get("unsettled_requests"):
        why = TURNS
    elif why not in (MOVED, OTHER_CODE) and counts.get("atomics"):
        why = AGAIN
    return Compared(file, line, title, simulated, profiled, why)


def _notes(kernel: KernelXRay, launches: Sequence[ProfiledLaunch], x: XRay, name: str) -> list[str]:
    """What differs between the launches, so that equal counts cannot be expected."""
    first, notes = launches[0], []
    if first.architecture and first.architecture != x.architecture:
        card = f"{plain(first.card)} ({first.architecture})" if first.card else first.architecture
        notes.append(f"The profile is of {card}, the simulation of {x.architecture}: simulate {first.architecture}.")
    if not first.architecture:
        notes.append("The profile does not say which GPU it is of, so no difference is explained.")
    for what, theirs, own in (("grid", first.grid, kernel.grid), ("block", first.block, kernel.block)):
        if theirs and theirs != own:
            texts = (" x ".join(map(str, extents)) for extents in (theirs, own))
            notes.append(
                f"The profile has a {what} of {next(texts)}, the simulation of {next(texts)}: take the same input."
            )
    if len(launches) != kernel.launches:
        theirs_text = counted(len(launches), "launch", "launches")
        notes.append(f"The profile has {theirs_text} of this kernel, the simulation {kernel.launches}.")
    if missing := [title for metric, (title, _) in COUNTERS.items() if any(metric not in o.totals for o in launches)]:
        notes.append(f"{plain(name)} has no {', no '.join(missing)}: profile with ncu --section SourceCounters.")
    return notes


def _added(all_metrics: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The metrics that all have, summed; a line without a metric has none of it."""
    names = {name for metrics in all_metrics for name in metrics}
    return {name: sum(metrics.get(name, 0.0) for metrics in all_metrics) for name in names}


def _own_file(path: str, files: Sequence[str]) -> str:
    """The kernel's name of a file that the profile names by its path."""
    path = path.replace("\\", "/")
    return next((file for file in files if path == file or path.endswith(f"/{file}")), path.rsplit("/", 1)[-1])


def profile_dict(profiles: Sequence[KernelProfile]) -> list[dict[str, Any]]:
    """The comparison as JSON."""
    return [asdict(one) for one in profiles]

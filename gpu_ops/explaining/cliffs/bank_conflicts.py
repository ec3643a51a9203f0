"""A layout of shared memory without bank conflicts: proposed only after it has run on the simulated GPU with the same
results and fewer conflicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_ops.devices.occupancy import Occupancy
from gpu_ops.errors import KernelError, counted
from gpu_ops.explaining.cliffs.shared_arrays import SharedArray, padded, shared_arrays, swizzled
from gpu_ops.explaining.xray import KernelXRay

MOST_PADDING = 4
"""The most words that are added to a row."""
LEAST_GAIN = 0.05
"""The least share of the wavefronts that a layout must save to be proposed."""
PADDING_KNOB = "padding"


@dataclass(frozen=True)
class Ran:
    """A run on the simulated GPU: its `outputs`, its kernels' counts, and whether a fault was found."""

    outputs: Mapping[str, np.ndarray[Any, Any]]
    kernels: Sequence[KernelXRay]
    faulty: bool = False

    def count(self, name: str) -> int:
        return sum(kernel.totals.get(name, 0) for kernel in self.kernels)


Run = Callable[[Mapping[str, str], Mapping[str, Any]], Ran]
"""Runs a kernel with other texts of its files and other knobs. Raises KernelError."""


@dataclass(frozen=True)
class Layout:
    """Another layout of shared memory: what is changed, in words, with the texts and the knobs that make it."""

    what: str
    texts: Mapping[str, str] = field(default_factory=dict)
    knobs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Tried:
    """A layout that ran: `refused` says why it cannot be proposed, "" if it can. `extra_bytes` are those of shared
    memory per block that it needs more, in the kernel that needs most."""

    layout: Layout
    wavefronts: int = 0
    extra_bytes: int = 0
    extra_instructions: float = 0.0
    before: Occupancy | None = None
    after: Occupancy | None = None
    refused: str = ""

    @property
    def cost(self) -> tuple[float, ...]:
        """What it costs, the worst first: conflicts that are left, resident blocks, instructions, bytes."""
        lost = self.before.blocks - self.after.blocks if self.before and self.after else 0
        return self.wavefronts, lost, self.extra_instructions, self.extra_bytes


@dataclass(frozen=True)
class Conflicts:
    """The `wavefronts` of a kernel's shared memory, how many there would be without conflicts (`ideal`), the layouts
    that were tried, and the one that is proposed. `reason` says why nothing could be tried."""

    wavefronts: int
    ideal: int
    tried: tuple[Tried, ...] = ()
    proposed: Tried | None = None
    reason: str = ""

    @property
    def sentences(self) -> list[str]:
        """The conflicts and the proposal in words."""
        if self.wavefronts <= self.ideal:
            return ["Shared memory has no bank conflicts." if self.wavefronts else "It uses no shared memory."]
        factor = self.wavefronts / max(self.ideal, 1)
        texts = [f"Bank conflicts make {factor:.3g} times the wavefronts of shared memory that are needed."]
        if self.reason:
            return [*texts, self.reason]
        if self.proposed is None:
            return [*texts, f"{counted(len(self.tried), 'layout')} ran on the simulated GPU; none clears them."]
        best = self.proposed
        left = best.wavefronts / max(self.ideal, 1)
        clears = "no conflicts are left" if best.wavefronts <= self.ideal else f"{left:.3g} times are left"
        more = f" and {best.extra_instructions:.1%} more instructions" if best.extra_instructions >= 0.001 else ""
        texts.append(
            f"{best.layout.what}: {clears}, and the simulated GPU has the same results. It costs "
            f"{counted(best.extra_bytes, 'byte')} of shared memory per block{more}{_held(best)}."
        )
        return texts


def _held(tried: Tried) -> str:
    before, after = tried.before, tried.after
    if before is None or after is None:
        return ""
    if after.blocks == before.blocks:
        return f"; {counted(after.blocks, 'block')} on a multiprocessor as before"
    return f"; {counted(after.blocks, 'block')} instead of {before.blocks} on a multiprocessor"


def find_layout(run: Run, texts: Mapping[str, str], knobs: Mapping[str, Sequence[Any]]) -> Conflicts:
    """Run a kernel as it is, and if its shared memory has conflicts, with other layouts. `texts` are those of its
    files, `knobs` the values that its knobs may have. Raises what the first run raises."""
    own = run({}, {})
    wavefronts, ideal = own.count("shared_wavefronts"), own.count("shared_ideal_wavefronts")
    if wavefronts <= ideal:
        return Conflicts(wavefronts, ideal)
    layouts = list(_layouts(own, texts, knobs))
    if not layouts:
        reason = (
            "No layout could be tried: the lines with conflicts index no array of two dimensions and of fixed size, "
            "whose rows could be longer."
        )
        return Conflicts(wavefronts, ideal, reason=reason)
    tried = tuple(_try(run, own, layout) for layout in layouts)
    good = [one for one in tried if not one.refused]
    best = min(good, key=lambda one: one.cost, default=None)
    return Conflicts(wavefronts, ideal, tried, best)


def _layouts(own: Ran, texts: Mapping[str, str], knobs: Mapping[str, Sequence[Any]]) -> Iterator[Layout]:
    for value in knobs.get(PADDING_KNOB, ()):
        yield Layout(f"The knob {PADDING_KNOB} at {value}", knobs={PADDING_KNOB: value})
    defines = {name: value for kernel in own.kernels for one in kernel.defines for name, value in one.items()}
    for file, text in texts.items():
        lines = _conflicting(own, file)
        for array in shared_arrays(text):
            if any(array.name in text.splitlines()[line - 1] for line in lines):
                yield from _of_array(file, text, array, defines)


def _conflicting(own: Ran, file: str) -> set[int]:
    """The lines of a file whose accesses have conflicts."""
    return {
        line
        for kernel in own.kernels
        for one in kernel.files
        if one.file == file
        for line, counts in one.lines.items()
        if counts.get("shared_wavefronts", 0) > counts.get("shared_ideal_wavefronts", 0) and line
    }


def _of_array(file: str, text: str, array: SharedArray, defines: Mapping[str, Any]) -> Iterator[Layout]:
    place = f"{file}:{array.line}"
    other = swizzled(text, array, defines)
    if other is not None:
        rule = f"{array.name}[r][c ^ (r & ({array.dims[-1]} - 1))]"
        yield Layout(f"{place}: {rule} in place of {array.name}[r][c]", {file: other})
    for words in range(1, MOST_PADDING + 1):
        more = words * array.step
        dims = "".join(f"[{dim}]" for dim in array.dims[:-1])
        what = (
            f"{place}: {array.name}{dims}[{array.dims[-1]} + {more}] in place of {array.name}{dims}[{array.dims[-1]}]"
        )
        yield Layout(what, {file: padded(text, array, more)})


def _try(run: Run, own: Ran, layout: Layout) -> Tried:
    try:
        found = run(layout.texts, layout.knobs)
    except KernelError as error:
        return Tried(layout, refused=str(error))
    wavefronts = found.count("shared_wavefronts")
    pairs = [(a, b) for a, b in zip(own.kernels, found.kernels, strict=True)]
    before, after = max(pairs, key=lambda pair: pair[1].shared_bytes - pair[0].shared_bytes)
    refused = ""
    if found.faulty:
        refused = "the simulated GPU finds a fault in it"
    elif not _same(own.outputs, found.outputs):
        refused = "its results differ"
    elif wavefronts > own.count("shared_wavefronts") * (1 - LEAST_GAIN):
        refused = "it saves no conflicts"
    extra = after.shared_bytes - before.shared_bytes
    more = found.count("warp_instructions") / max(own.count("warp_instructions"), 1) - 1
    return Tried(layout, wavefronts, extra, more, before.occupancy, after.occupancy, refused)


def _same(a: Mapping[str, np.ndarray[Any, Any]], b: Mapping[str, np.ndarray[Any, Any]]) -> bool:
    """Whether the outputs are the same, bit by bit."""
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


def as_dict(found: Conflicts) -> dict[str, Any]:
    """The conflicts as JSON, with all layouts that ran."""
    layouts = [
        {**{"what": one.layout.what, "wavefronts": one.wavefronts, "extra_bytes": one.extra_bytes}}
        | {"extra_instructions": one.extra_instructions}
        | {"refused": one.refused, "proposed": one is found.proposed}
        for one in found.tried
    ]
    about = {"wavefronts": found.wavefronts, "ideal_wavefronts": found.ideal, "texts": found.sentences}
    return {**about, "layouts": layouts}

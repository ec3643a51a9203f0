"""A kernel's counts by source file: its own file, and the headers whose functions the compiler inlined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from gpu_ops.devices.kernel_source import source_of
from gpu_ops.plan import LineCounts

Place = tuple[str, int]
Counts = dict[str, int]
MOST_CALLEES = 12


@dataclass(frozen=True)
class FileXRay:
    """A source file of a kernel. `lines` has the counts of each line itself, which add up to the kernel's totals over
    all files. `calls` has, by line, the counts of the functions that the line calls, which are also at their own lines;
    `callees` has the lines that the line calls, the most used first."""

    file: str
    text: str
    lines: Mapping[int, Mapping[str, int]]
    calls: Mapping[int, Mapping[str, int]]
    callees: Mapping[int, tuple[Place, ...]]


def by_file(kernel: str, counted: Sequence[LineCounts], edits: Mapping[str, str] | None = None) -> tuple[FileXRay, ...]:
    """The kernel's file, then the headers, those with the most warp instructions first. Counts in the compiler's own
    files go to the line that uses them, counts without a line to line 0 of the kernel's file."""

    @cache
    def text(file: str) -> str | None:
        return source_of(file, edits)

    own: dict[Place, Counts] = defaultdict(lambda: defaultdict(int))
    calls: dict[Place, Counts] = defaultdict(lambda: defaultdict(int))
    callees: dict[Place, dict[Place, int]] = defaultdict(lambda: defaultdict(int))
    for one in counted:
        places = [(f, n) for f, n in ((one.file, one.line), *one.inlined_at) if n and text(f) is not None]
        places = places or [(kernel, 0)]
        _add(own[places[0]], one.counts)
        callers = dict(zip(places[1:], places, strict=False))
        for caller, callee in callers.items():
            if caller != places[0]:
                _add(calls[caller], one.counts)
            if caller != callee:
                callees[caller][callee] += one.counts.get("warp_instructions", 0)
    most: dict[str, int] = defaultdict(int)
    for (file, _), counts in own.items():
        most[file] += counts.get("warp_instructions", 0)
    files = sorted({kernel, *(f for f, _ in own), *(f for f, _ in calls)}, key=lambda f: (f != kernel, -most[f], f))
    return tuple(
        FileXRay(
            file,
            text(file) or "",
            {n: dict(c) for (f, n), c in sorted(own.items()) if f == file},
            {n: dict(c) for (f, n), c in sorted(calls.items()) if f == file},
            {n: _most_used(places) for (f, n), places in sorted(callees.items()) if f == file},
        )
        for file in files
    )


def _add(total: Counts, counts: Mapping[str, int]) -> None:
    for name, value in counts.items():
        total[name] += value


def _most_used(counts: Mapping[Place, int]) -> tuple[Place, ...]:
    return tuple(sorted(counts, key=lambda place: (-counts[place], place)))[:MOST_CALLEES]

"""An X-ray as a view wants it: counts by line, what each counter means, and what is shown of all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from PySide6 import QtCore
from PySide6.QtCore import QCoreApplication

from app.figures import count
from app.models.access_trace import WarpTrace, warp_trace

QT_TRANSLATE_NOOP = cast(Callable[[str, str], str], QtCore.QT_TRANSLATE_NOOP)
Counts = Mapping[str, int]
SECTORS = "global_sectors"
"""A counter of this module's: sectors of all global accesses together."""
PARTS_OF_SECTORS = ("global_load_sectors", "global_store_sectors", "global_atomic_sectors")

WORDS: dict[str, str] = {
    SECTORS: QT_TRANSLATE_NOOP("XRay", "sectors of global memory touched"),
    "warp_instructions": QT_TRANSLATE_NOOP("XRay", "instructions, once a warp"),
    "thread_instructions": QT_TRANSLATE_NOOP("XRay", "instructions of threads"),
    "divergent_branches": QT_TRANSLATE_NOOP("XRay", "branches at which lanes of a warp part"),
    "global_load_requests": QT_TRANSLATE_NOOP("XRay", "requests to load from global memory"),
    "global_load_sectors": QT_TRANSLATE_NOOP("XRay", "sectors of 32 bytes that loads touch"),
    "global_load_threads": QT_TRANSLATE_NOOP("XRay", "global loads of threads"),
    "global_store_requests": QT_TRANSLATE_NOOP("XRay", "requests to store to global memory"),
    "global_store_sectors": QT_TRANSLATE_NOOP("XRay", "sectors of 32 bytes that stores touch"),
    "global_store_threads": QT_TRANSLATE_NOOP("XRay", "global stores of threads"),
    "global_atomic_requests": QT_TRANSLATE_NOOP("XRay", "atomic requests to global memory"),
    "global_atomic_sectors": QT_TRANSLATE_NOOP("XRay", "sectors of 32 bytes that atomics touch"),
    "global_atomic_threads": QT_TRANSLATE_NOOP("XRay", "global atomics of threads"),
    "atomics": QT_TRANSLATE_NOOP("XRay", "atomic operations of threads"),
    "atomic_collisions": QT_TRANSLATE_NOOP("XRay", "atomics that meet another of their warp"),
    "shared_load_requests": QT_TRANSLATE_NOOP("XRay", "requests to load from shared memory"),
    "shared_load_threads": QT_TRANSLATE_NOOP("XRay", "shared loads of threads"),
    "shared_store_requests": QT_TRANSLATE_NOOP("XRay", "requests to store to shared memory"),
    "shared_store_threads": QT_TRANSLATE_NOOP("XRay", "shared stores of threads"),
    "shared_atomic_requests": QT_TRANSLATE_NOOP("XRay", "atomic requests to shared memory"),
    "shared_atomic_threads": QT_TRANSLATE_NOOP("XRay", "shared atomics of threads"),
    "shared_wavefronts": QT_TRANSLATE_NOOP("XRay", "passes over the banks of shared memory"),
    "constant_requests": QT_TRANSLATE_NOOP("XRay", "requests to constant memory"),
    "constant_words": QT_TRANSLATE_NOOP("XRay", "words of constant memory, one after the other"),
    "constant_threads": QT_TRANSLATE_NOOP("XRay", "constant reads of threads"),
    "texture_requests": QT_TRANSLATE_NOOP("XRay", "requests to textures"),
    "texture_threads": QT_TRANSLATE_NOOP("XRay", "texture fetches of threads"),
    "local_requests": QT_TRANSLATE_NOOP("XRay", "requests to local memory, which is the card's"),
    "local_bytes": QT_TRANSLATE_NOOP("XRay", "bytes of local memory"),
    "local_sectors": QT_TRANSLATE_NOOP("XRay", "sectors of 32 bytes of local memory"),
}
"""Every counter in the order in which it is shown."""
IDEALS = {
    "global_load_sectors": "global_load_ideal_sectors",
    "global_store_sectors": "global_store_ideal_sectors",
    "global_atomic_sectors": "global_atomic_ideal_sectors",
    "shared_wavefronts": "shared_ideal_wavefronts",
    "constant_words": "constant_requests",
}
"""Where a counter has a best case, what that is counted in."""
BEST = frozenset(v for v in IDEALS.values() if "_ideal_" in v)
"""Counters that are only ever shown beside what they are the best case of."""


def words(counter: str) -> str:
    """What a counter counts; a counter unknown here says its own name."""
    return QCoreApplication.translate("XRay", WORDS[counter]) if counter in WORDS else counter.replace("_", " ")


@dataclass(frozen=True)
class Figure:
    """One counter of a line or of all: how much, and what it would be at best, 0 where that has no meaning."""

    counter: str
    value: int
    best: int = 0

    @property
    def text(self) -> str:
        """In words: "1,024 sectors of 32 bytes that loads touch; 512 at best"."""
        said = QCoreApplication.translate("XRay", "{count} {what}").format(
            count=count(self.value), what=words(self.counter)
        )
        if not self.best:
            return said
        return QCoreApplication.translate("XRay", "{said}; {best} at best").format(said=said, best=count(self.best))


def figures(counts: Counts) -> list[Figure]:
    """What was counted, in the order of WORDS; counters unknown there come last."""
    known = [n for n in WORDS if n in counts]
    rest = sorted(n for n in counts if n not in WORDS and n not in BEST)
    return [Figure(n, counts[n], counts.get(IDEALS.get(n, ""), 0)) for n in (*known, *rest) if counts[n]]


@dataclass(frozen=True)
class Mark:
    """A finding at a line of the kernel's file; 0 where it has none."""

    line: int
    severity: str
    text: str


class KernelView:
    """One kernel of an X-ray: its source, the counts of each line, what the warps that were followed did there, and the
    findings in it."""

    def __init__(self, kernel: Mapping[str, Any], source: str, findings: Sequence[Mapping[str, Any]]) -> None:
        self.name, self.file, self.source = str(kernel["name"]), str(kernel["file"]), source.rstrip("\n")
        self.kernel = kernel
        self.lines: dict[int, Counts] = {int(one["line"]): one["counts"] for one in kernel["lines"]}
        self.traces: dict[int, list[WarpTrace]] = defaultdict(list)
        for one in kernel.get("accesses", ()):
            self.traces[int(one["line"])].append(warp_trace(one))
        self.marks: dict[int, list[Mark]] = defaultdict(list)
        for finding in findings:
            if finding["kernel"] == self.name:
                line = self._line(finding)
                self.marks[line].append(Mark(line, str(finding["severity"]), str(finding["text"])))

    def _line(self, finding: Mapping[str, Any]) -> int:
        """Where this file has it: what goes wrong in a header belongs to the line that uses the header."""
        places = [(finding["file"], finding["line"]), *finding["inlined_at"]]
        return next((int(line) for file, line in places if file == self.file), 0)

    def counters(self) -> list[str]:
        """The counters that occur, those of this module's first."""
        there = {f.counter for counts in self.lines.values() for f in figures(counts)}
        sectors = [SECTORS] if there & set(PARTS_OF_SECTORS) else []
        return [*sectors, *(n for n in WORDS if n in there), *sorted(there - set(WORDS))]

    def column(self, counter: str) -> dict[int, int]:
        """A counter by line, where it is not 0."""
        parts = PARTS_OF_SECTORS if counter == SECTORS else (counter,)
        found = {line: sum(counts.get(p, 0) for p in parts) for line, counts in self.lines.items()}
        return {line: value for line, value in found.items() if value}

    def told(self, line: int) -> list[str]:
        """All that is known of a line, in words: findings, then counts."""
        marks = [m.text for m in self.marks.get(line, ())]
        return [*marks, *(f.text for f in figures(self.lines.get(line, {})))]


def views(content: Mapping[str, Any]) -> list[KernelView]:
    """The kernels of an X-ray as the engine answers it."""
    sources, findings = content["sources"], content["findings"]
    return [KernelView(kernel, sources[kernel["file"]], findings) for kernel in content["kernels"]]

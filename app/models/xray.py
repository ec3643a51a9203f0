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
    """A finding at a line of a file of the kernel's; line 0 where it has none."""

    line: int
    severity: str
    text: str
    file: str = ""


Place = tuple[str, int]


class FileView:
    """A file that a kernel comes from: the counts of each line itself, and of what the line calls; where that is, the
    most used first; what the warps that were followed did there, and the findings in it."""

    def __init__(self, data: Mapping[str, Any], source: str) -> None:
        self.file, self.source = str(data["file"]), source.rstrip("\n")
        lines = data["lines"]
        self.lines: dict[int, Counts] = {int(one["line"]): one["counts"] for one in lines if one["counts"]}
        self.calls: dict[int, Counts] = {int(one["line"]): one["calls"] for one in lines if one.get("calls")}
        self.callees: dict[int, list[Place]] = {
            int(one["line"]): [(str(file), int(line)) for file, line in one["callees"]]
            for one in lines
            if one.get("callees")
        }
        self.traces: dict[int, list[WarpTrace]] = defaultdict(list)
        self.marks: dict[int, list[Mark]] = defaultdict(list)

    @property
    def name(self) -> str:
        """The file without its folder."""
        return self.file.rsplit("/", 1)[-1]

    @property
    def work(self) -> int:
        """Instructions of warps on its own lines."""
        return sum(counts.get("warp_instructions", 0) for counts in self.lines.values())

    def column(self, counter: str) -> dict[int, int]:
        """A counter by line, of the line itself, where it is not 0."""
        return _column(counter, self.lines)

    def called(self, counter: str) -> dict[int, int]:
        """A counter by line of those that call others: the line and all it calls."""
        own = {line: _sum(counter, self.lines.get(line, {})) for line in self.calls}
        return {line: value + own[line] for line, value in _column(counter, self.calls).items()}

    def told(self, line: int) -> list[str]:
        """All that is known of a line, in words: findings, then counts, then what it calls and what runs there."""
        said = [m.text for m in self.marks.get(line, ())]
        said += [f.text for f in figures(self.lines.get(line, {}))]
        if line in self.callees:
            places = ", ".join(f"{file.rsplit('/', 1)[-1]}:{n}" for file, n in self.callees[line])
            said.append(QCoreApplication.translate("XRay", "It calls {places}; there:").format(places=places))
            said += [f.text for f in figures(self.calls.get(line, {}))]
        return said

    def callers(self, line: int, files: Sequence[FileView]) -> list[Place]:
        """Lines that lead to this one."""
        return [(f.file, n) for f in files for n, places in f.callees.items() if (self.file, line) in places]


def _sum(counter: str, counts: Counts) -> int:
    return sum(counts.get(part, 0) for part in (PARTS_OF_SECTORS if counter == SECTORS else (counter,)))


def _column(counter: str, lines: Mapping[int, Counts]) -> dict[int, int]:
    found = {line: _sum(counter, counts) for line, counts in lines.items()}
    return {line: value for line, value in found.items() if value}


class KernelView:
    """One kernel of an X-ray: the files it comes from, its own first, with the counts of each line."""

    def __init__(
        self, kernel: Mapping[str, Any], sources: Mapping[str, str], findings: Sequence[Mapping[str, Any]]
    ) -> None:
        self.name, self.kernel = str(kernel["name"]), kernel
        self.files = [FileView(one, sources[one["file"]]) for one in kernel["files"]]
        known = {f.file: f for f in self.files}
        for one in kernel.get("accesses", ()):
            if one["file"] in known:
                known[one["file"]].traces[int(one["line"])].append(warp_trace(one))
        self.findings: list[Mark] = []
        for finding in findings:
            if finding["kernel"] == self.name:
                self.findings.append(self._mark(finding, known))

    def _mark(self, finding: Mapping[str, Any], known: Mapping[str, FileView]) -> Mark:
        """A finding at its own line, where there is a view of it, and at those that call it."""
        places = [(finding["file"], int(finding["line"])), *((f, int(n)) for f, n in finding["inlined_at"])]
        here = [(file, line) for file, line in places if file in known] or [(self.files[0].file, 0)]
        marks = [Mark(line, str(finding["severity"]), str(finding["text"]), file) for file, line in dict.fromkeys(here)]
        for mark in marks:
            known[mark.file].marks[mark.line].append(mark)
        return marks[0]

    @property
    def unplaced(self) -> int:
        """Instructions that belong to no line."""
        return self.files[0].lines.get(0, {}).get("warp_instructions", 0)

    def share(self, file: FileView) -> float:
        """The part of the kernel's instructions that a file's own lines are."""
        total = sum(f.work for f in self.files)
        return file.work / total if total else 0.0

    def counters(self) -> list[str]:
        """The counters that occur, those of this module's first."""
        there = {f.counter for file in self.files for counts in file.lines.values() for f in figures(counts)}
        sectors = [SECTORS] if there & set(PARTS_OF_SECTORS) else []
        return [*sectors, *(n for n in WORDS if n in there), *sorted(there - set(WORDS))]

    def most(self, counter: str) -> int:
        """The most that a counter is on any line itself, in whichever file."""
        return max((value for file in self.files for value in file.column(counter).values()), default=0)

    def hottest(self, counter: str) -> Place:
        """Where that is; the first line of the kernel's file where it is nowhere."""
        found = {(f.file, line): value for f in self.files for line, value in f.column(counter).items() if line}
        return max(found, key=found.__getitem__, default=(self.files[0].file, 1))


def views(content: Mapping[str, Any]) -> list[KernelView]:
    """The kernels of an X-ray as the engine answers it."""
    return [KernelView(kernel, content["sources"], content["findings"]) for kernel in content["kernels"]]

"""An X-ray as a view wants it: counts by line, and what is shown of all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.figures import count
from app.models.access_trace import WarpTrace, warp_trace
from app.terms import counter_name
from gpu_ops.counters import COUNTERS, FIGURES, in_order

Counts = Mapping[str, int]
SECTORS = FIGURES["global_sectors"].id
"""What is shown first: sectors of all global accesses together."""


@dataclass(frozen=True)
class Figure:
    """One counter of a line or of all: how much, and what it would be at best, 0 where that has no meaning."""

    counter: str
    value: int
    best: int = 0

    @property
    def text(self) -> str:
        """In words: "1,024 global load sectors; 512 at best"."""
        said = QCoreApplication.translate("XRay", "{count} {what}").format(
            count=count(self.value), what=counter_name(self.counter)
        )
        if not self.best:
            return said
        return QCoreApplication.translate("XRay", "{said}; {best} at best").format(said=said, best=count(self.best))


def figures(counts: Counts) -> list[Figure]:
    """What was counted, in the catalogue's order; counters that a newer engine has come last."""
    found = []
    for id in in_order(sorted(counts)):
        known = COUNTERS.get(id)
        if counts[id] and (known is None or known.hint != "best"):
            found.append(Figure(id, counts[id], counts.get(known.best, 0) if known else 0))
    return found


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
    return sum(counts.get(part, 0) for part in (FIGURES[SECTORS].parts if counter == SECTORS else (counter,)))


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
        """What occurs, sectors of all accesses first."""
        there = {f.counter for file in self.files for counts in file.lines.values() for f in figures(counts)}
        sectors = [SECTORS] if there & set(FIGURES[SECTORS].parts) else []
        return [*sectors, *in_order(sorted(there))]

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

"""An X-ray in the form that views need: counts by line, file and kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.base.numbers import count, short_count
from app.base.terms import counter_name
from app.models.xray.access_trace import WarpTrace, warp_trace
from app.models.xray.code import CodeText, Kind
from gpu_ops.counters import COUNTERS, FIGURES, add_up, counter_of, in_order
from gpu_ops.devices.kernel_source import compiled_with

Counts = Mapping[str, int]
SECTORS = FIGURES["global_sectors"].id
"""The first counter to show: sectors of all global accesses together."""
SETS = 4
"""Sets of defines that are shown above the source."""


@dataclass(frozen=True)
class Figure:
    """One counter of a line or of the kernel: its value and the ideal one, 0 where an ideal has no meaning."""

    counter: str
    value: int
    best: int = 0

    @property
    def text(self) -> str:
        """In words: "1,024 global load sectors; 512 ideal"."""
        text = QCoreApplication.translate("XRay", "{count} {what}").format(
            count=count(self.value), what=counter_name(self.counter)
        )
        if not self.best:
            return text
        return QCoreApplication.translate("XRay", "{text}; {best} ideal").format(text=text, best=count(self.best))


def figures(counts: Counts) -> list[Figure]:
    """The counters in the catalogue's order, then those that the catalogue does not have."""
    result = []
    for id in in_order(sorted(counts)):
        counter = COUNTERS.get(id)
        if counts[id] and (counter is None or counter.hint != "best"):
            result.append(Figure(id, counts[id], counts.get(counter.best, 0) if counter else 0))
    return result


def _in_words(counts: Counts) -> list[str]:
    """The counters of a line, each with its value, or with that it is unknown."""
    unknown = QCoreApplication.translate("XRay", "{what}: unknown")
    return [
        unknown.format(what=counter_name(f.counter)) if counter_of(f.counter).is_unknown(counts) else f.text
        for f in figures(counts)
    ]


@dataclass(frozen=True)
class Mark:
    """A finding at a line of one of the kernel's files; line 0 where it has none."""

    line: int
    severity: str
    text: str
    file: str = ""
    kind: str = ""


Place = tuple[str, int]


class FileView:
    """A source file of a kernel: the counts of each line itself (`lines`) and of the code that it calls (`calls`); the
    called lines (`callees`), the most used first; the traced accesses and the findings of each line."""

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
        """Warp instructions of the file's own lines."""
        return sum(counts.get("warp_instructions", 0) for counts in self.lines.values())

    @property
    def severities(self) -> dict[int, str]:
        """The worst severity of the findings of each line, "error" or "warning"."""
        return {
            line: "error" if any(m.severity == "error" for m in marks) else "warning"
            for line, marks in self.marks.items()
        }

    def column(self, counter: str) -> dict[int, int]:
        """A counter by line, for the line itself, where it is known and not 0."""
        found = counter_of(counter)
        values = {line: int(found.value(one)) for line, one in self.lines.items() if not found.is_unknown(one)}
        return {line: value for line, value in values.items() if value}

    def texts(self, counter: str) -> dict[int, str]:
        """The text at each line: of a line that calls others, the line and everything that it calls."""
        both = {
            line: add_up((self.lines.get(line, {}), self.calls.get(line, {}))) for line in (*self.lines, *self.calls)
        }
        cells = {line: counter_of(counter).cell(counts, short_count) for line, counts in both.items()}
        return {line: text for line, text in cells.items() if text}

    def calling(self, counter: str) -> set[int]:
        """The lines that call others which have this counter."""
        return {line for line, counts in self.calls.items() if counter_of(counter).value(counts)}

    def by_line(self, counter: str) -> tuple[dict[int, int], dict[int, str], set[int]]:
        """What a source shows of a counter: the values, the texts, and the lines that call others."""
        return self.column(counter), self.texts(counter), self.calling(counter)

    def describe_line(self, line: int) -> list[str]:
        """A line in words: its findings, its counts, then the called lines with their counts."""
        texts = [m.text for m in self.marks.get(line, ())]
        texts += _in_words(self.lines.get(line, {}))
        if line in self.callees:
            places = ", ".join(f"{file.rsplit('/', 1)[-1]}:{n}" for file, n in self.callees[line])
            texts.append(QCoreApplication.translate("XRay", "It calls {places}:").format(places=places))
            texts += _in_words(self.calls.get(line, {}))
        return texts

    def callers(self, line: int, files: Sequence[FileView]) -> list[Place]:
        """The lines that call this one."""
        return [(f.file, n) for f in files for n, places in f.callees.items() if (self.file, line) in places]


class KernelView:
    """One kernel of an X-ray: its source files, its own first, with the counts of each line."""

    def __init__(
        self, kernel: Mapping[str, Any], sources: Mapping[str, str], findings: Sequence[Mapping[str, Any]]
    ) -> None:
        self.name, self.kernel = str(kernel["name"]), kernel
        self.files = [FileView(one, sources[one["file"]]) for one in kernel["files"]]
        views = {f.file: f for f in self.files}
        for one in kernel.get("accesses", ()):
            if one["file"] in views:
                views[one["file"]].traces[int(one["line"])].append(warp_trace(one))
        self.findings: list[Mark] = []
        for finding in findings:
            if finding["kernel"] == self.name:
                self.findings.append(self._mark(finding, views))

    def _mark(self, finding: Mapping[str, Any], views: Mapping[str, FileView]) -> Mark:
        """Mark a finding at its own line, where its file has a view, and at the lines that call it."""
        places = [(finding["file"], int(finding["line"])), *((f, int(n)) for f, n in finding["inlined_at"])]
        here = [(file, line) for file, line in places if file in views] or [(self.files[0].file, 0)]
        severity, text, kind = (str(finding[what]) for what in ("severity", "text", "kind"))
        marks = [Mark(line, severity, text, file, kind) for file, line in dict.fromkeys(here)]
        for mark in marks:
            views[mark.file].marks[mark.line].append(mark)
        return marks[0]

    def code(self, kind: Kind) -> CodeText:
        """Its PTX or its machine code."""
        return CodeText(kind, self.kernel.get("code"))

    @property
    def compiled_with(self) -> list[str]:
        """The defines of the compilation, one line for each set; only the first sets where there are many."""
        sets, translate = self.kernel.get("defines", ()), QCoreApplication.translate
        lines = [translate("XRay", "Compiled with: {defines}").format(defines=text) for text in compiled_with(sets)]
        if len(lines) > SETS:
            more = translate("XRay", "… and with {number} other sets of defines").format(number=len(lines) - SETS)
            return [*lines[:SETS], more]
        return lines

    @property
    def without_line(self) -> int:
        """Instructions that belong to no line."""
        return self.files[0].lines.get(0, {}).get("warp_instructions", 0)

    def share(self, file: FileView) -> float:
        """The share of the kernel's instructions that come from a file's own lines."""
        total = sum(f.work for f in self.files)
        return file.work / total if total else 0.0

    def ways_of(self, file: FileView) -> Callable[[int], tuple[list[Place], list[Place]]]:
        """For the lines of a file, the lines that each calls, and those that call it."""
        known = {f.file for f in self.files}

        def ways(line: int) -> tuple[list[Place], list[Place]]:
            return [p for p in file.callees.get(line, ()) if p[0] in known], file.callers(line, self.files)

        return ways

    def counters(self) -> list[str]:
        """The counters that occur, sectors of all accesses first."""
        counters = {f.counter for file in self.files for counts in file.lines.values() for f in figures(counts)}
        sectors = [SECTORS] if counters & set(FIGURES[SECTORS].parts) else []
        return [*sectors, *in_order(sorted(counters))]

    def most(self, counter: str) -> int:
        """The highest value of a counter on any line of any file."""
        return max((value for file in self.files for value in file.column(counter).values()), default=0)

    def line_with_most(self, counter: str) -> Place:
        """The line with the highest value of a counter; the first line of the kernel's file where the counter is 0
        everywhere."""
        values = {(f.file, line): value for f in self.files for line, value in f.column(counter).items() if line}
        return max(values, key=values.__getitem__, default=(self.files[0].file, 1))


def views(content: Mapping[str, Any]) -> list[KernelView]:
    """The kernels of the engine's answer to an X-ray request."""
    return [KernelView(kernel, content["sources"], content["findings"]) for kernel in content["kernels"]]

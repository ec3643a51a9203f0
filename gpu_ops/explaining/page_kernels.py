"""The kernels of a report: their source lines, with counters next to them if an X-ray has any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_ops.counters import COLUMNS, Counter, add_up, value_of
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.explaining.sentences import number
from gpu_ops.types import Filter, Variant

SHOWN = (
    *("warp_instructions", "active_lanes", "divergent_branches", "sectors_per_load", "sectors_per_store"),
    *(
        "atomic_collisions",
        "unsettled_requests",
        "wavefronts_per_request",
        "words_per_constant_request",
        "sectors_per_local_request",
    ),
)
"""The columns of a page, which is narrower than a window."""
HOT = 0.1
"""A line with so much of a kernel's instructions is marked."""
FULL = 31.5
"""Lanes of a warp that count as all."""


@dataclass(frozen=True)
class SourceLine:
    """A line of a file with the values of the columns."""

    number: int
    text: str
    cells: Sequence[str] = ()
    hot: bool = False


@dataclass(frozen=True)
class CodeLine:
    """An instruction, and the source line that it comes from, if it is another one than that of the line before."""

    cells: Sequence[str]
    text: str
    source: str = ""


@dataclass(frozen=True)
class Kernel:
    """A kernel file. `about` says how it was launched, `sentences` what an X-ray found; `code` is its machine code and
    `code_about` what the code is for, or why there is none."""

    title: str
    file: str
    idea: str
    lines: Sequence[SourceLine]
    columns: Sequence[str] = ()
    about: str = ""
    sentences: Sequence[str] = ()
    code: Sequence[CodeLine] = ()
    code_about: str = ""


def plain_kernels(filter: Filter, variant: Variant, edits: Mapping[str, str] | None = None) -> list[Kernel]:
    """The kernel files of a variant without counters."""
    return [
        Kernel(variant.title, file, variant.idea if not place else "", _numbered(read_source(file, edits)))
        for place, file in enumerate(variant.kernels)
    ]


def _numbered(text: str) -> list[SourceLine]:
    return [SourceLine(number, line) for number, line in enumerate(text.rstrip("\n").splitlines(), start=1)]


def counted_kernels(content: Mapping[str, Any]) -> list[Kernel]:
    """The kernels of an X-ray with counters next to their lines, from JSON of the schema kernelscope-xray/1 that also
    has the "title", the "idea", the "sentences" and the "sources" of the engine's answer."""
    kernels = []
    for place, kernel in enumerate(content["kernels"]):
        sentences = [str(s["text"]) for s in content["sentences"]] if not place else []
        kernels.append(_counted(content, kernel, str(content["idea"]) if not place else "", sentences))
    return kernels


def _counted(content: Mapping[str, Any], kernel: Mapping[str, Any], idea: str, sentences: Sequence[str]) -> Kernel:
    own = next(f for f in kernel["files"] if f["file"] == kernel["file"])
    # A line has the counts of what it calls as well: the page shows only the kernel's own file.
    counts = {int(one["line"]): add_up((one["counts"], one["calls"])) for one in own["lines"]}
    columns = [c for c in COLUMNS if c.id in SHOWN and _is_informative(c, counts.values())]
    total = sum(one.get("warp_instructions", 0) for one in counts.values()) or 1
    lines = [
        SourceLine(n, text, [_cell(c, counts.get(n, {})) for c in columns], _share(counts.get(n, {}), total) >= HOT)
        for n, text in enumerate(str(content["sources"][kernel["file"]]).rstrip("\n").splitlines(), start=1)
    ]
    texts = tuple(c.column for c in columns)
    about, code = _about(kernel, columns), _code(kernel.get("code"), content["sources"])
    return Kernel(str(content["title"]), str(kernel["file"]), idea, lines, texts, about, sentences, *code)


CODE_COLUMNS = (
    "stall: cycles that the warp waits after the instruction, y if another warp is preferred then; barriers: numbers "
    "to wait for, w and r those that it releases; live: registers in use"
)


def _code(code: Mapping[str, Any] | None, sources: Mapping[str, str]) -> tuple[list[CodeLine], str]:
    """The machine code of a kernel, and a sentence about it."""
    if code is None or code["missing"]:
        return [], str(code["missing"]) if code else ""
    texts = {file: text.splitlines() for file, text in sources.items()}
    places = {row: code["places"][number] for row, _, number in code["ptx"]}
    lines, before = [], None
    for one in code["sass"]:
        place = next(iter(places.get(one["ptx"], ())), before)
        stall, live = f"{one['stall']}{'y' if one['yield'] else ''}", str(one["live"].get("GPR", ""))
        label = f"{one['label']}: " if one["label"] else ""
        source = ""
        if place is not None and place != before:
            file, line = place
            own = texts.get(file, [])[line - 1 : line]
            source = f"{file}:{line}  {own[0].strip() if own else ''}"
        cells = (f"{one['address']:04x}", stall, one["barriers"], live)
        lines.append(CodeLine(cells, f"{label}{one['text']}", source))
        before = place
    return lines, f"For {code['architecture']}. {CODE_COLUMNS}."


def _is_informative(column: Counter, counts: Iterable[Mapping[str, int]]) -> bool:
    """Whether a column has something to tell: full warps are what everybody expects."""
    values = {value for one in counts if (value := value_of(column.id, one))}
    return bool(values) and not (column.id == "active_lanes" and min(values) > FULL)


def _share(counts: Mapping[str, int], total: int) -> float:
    return counts.get("warp_instructions", 0) / total


def _cell(column: Counter, counts: Mapping[str, int]) -> str:
    return column.cell(counts, number)


def _about(kernel: Mapping[str, Any], columns: Sequence[Counter]) -> str:
    """The launch, the resources, and what the columns are."""
    grid, block = (" × ".join(str(n) for n in kernel[name]) for name in ("grid", "block"))
    resources = kernel["resources"]
    parts = [f"{kernel['name']}: {kernel['launches']} × grid {grid}, block {block}"]
    parts += [f"{resources['registers']} registers per thread"] if resources.get("registers") else []
    parts += [f"{kernel['shared_bytes']:,} bytes of shared memory per block"] if kernel["shared_bytes"] else []
    if occupancy := kernel.get("occupancy"):
        parts.append(f"occupancy {occupancy['share']:.0%}, limited by {occupancy['limiter']}")
    legend = ", ".join(f"{c.column}: {c.name}" for c in columns)
    return "; ".join(parts) + (f". Columns – {legend}." if legend else ".")

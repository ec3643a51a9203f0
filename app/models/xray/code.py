"""The PTX and the machine code of a kernel as rows of a table, each with the source lines that it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QCoreApplication

from app.base.numbers import count
from app.base.translate import QT_TRANSLATE_NOOP

Kind = Literal["ptx", "sass"]
Place = tuple[str, int]


@dataclass(frozen=True)
class Column:
    """A column: its title, what it shows, and whether it holds numbers."""

    title: str
    tip: str
    number: bool = False


COLUMNS: Mapping[Kind, tuple[Column, ...]] = {
    "ptx": (
        Column(QT_TRANSLATE_NOOP("XRay", "Line"), QT_TRANSLATE_NOOP("XRay", "The line of the PTX"), True),
        Column(
            "PTX", QT_TRANSLATE_NOOP("XRay", "The compiler's code for a virtual GPU, which the assembler translates")
        ),
    ),
    "sass": (
        Column(
            QT_TRANSLATE_NOOP("XRay", "Address"),
            QT_TRANSLATE_NOOP("XRay", "The byte of the kernel, in hexadecimal"),
            True,
        ),
        Column(
            QT_TRANSLATE_NOOP("XRay", "Stall"),
            QT_TRANSLATE_NOOP(
                "XRay", "Cycles that the warp waits after the instruction; y: another warp is preferred then"
            ),
            True,
        ),
        Column(
            QT_TRANSLATE_NOOP("XRay", "Barriers"),
            QT_TRANSLATE_NOOP(
                "XRay",
                "Numbers: the instruction waits until these are released; w, r and a number: the one that is released "
                "once its result is written, once its operands are read",
            ),
        ),
        Column(
            QT_TRANSLATE_NOOP("XRay", "Live"),
            QT_TRANSLATE_NOOP("XRay", "Registers of a thread that are in use; the tip of a line has the other kinds"),
            True,
        ),
        Column(QT_TRANSLATE_NOOP("XRay", "Instruction"), QT_TRANSLATE_NOOP("XRay", "The machine code of the GPU")),
    ),
}
LIVE = {
    "GPR": QT_TRANSLATE_NOOP("XRay", "live registers: {count}"),
    "PRED": QT_TRANSLATE_NOOP("XRay", "live predicates: {count}"),
    "UGPR": QT_TRANSLATE_NOOP("XRay", "live uniform registers: {count}"),
    "UPRED": QT_TRANSLATE_NOOP("XRay", "live uniform predicates: {count}"),
}


def _tr(text: str) -> str:
    return QCoreApplication.translate("XRay", text)


@dataclass(frozen=True)
class CodeRow:
    """A line of code: its cells, the source lines that it comes from, innermost first, and more about it."""

    cells: tuple[str, ...]
    places: tuple[Place, ...]
    about: str = ""


class CodeText:
    """The code of a kernel of one kind. `sentence` is a summary, or why there is no code."""

    def __init__(self, kind: Kind, content: Mapping[str, Any] | None) -> None:
        self.kind, self.columns = kind, COLUMNS[kind]
        self.rows: list[CodeRow] = []
        if content is None:
            self.sentence = _tr("This X-ray has no code.")
            return
        places = [tuple((str(f), int(n)) for f, n in one) for one in content["places"]]
        by_line = {int(row): places[number] for row, _, number in content["ptx"]}
        if kind == "ptx":
            self.rows = [CodeRow((str(row), str(text)), by_line[int(row)]) for row, text, _ in content["ptx"]]
        else:
            self.rows = [_sass_row(one, by_line.get(int(one["ptx"]), ())) for one in content["sass"]]
        self.sentence = self._summary(content)

    def _summary(self, content: Mapping[str, Any]) -> str:
        if self.kind == "sass" and content["missing"]:
            return str(content["missing"])
        text = _tr("For {architecture}: {count} lines.")
        if self.kind == "sass":
            text = _tr("For {architecture}: {count} instructions, at most {live} live registers.")
        live = max((int(one["live"].get("GPR", 0)) for one in content["sass"]), default=0)
        named = {"architecture": content["architecture"], "count": count(len(self.rows)), "live": live}
        more = _tr("Lines of the source line at the cursor are marked; a click on a line goes to its source.")
        return f"{text.format(**named)} {more}"

    @staticmethod
    def tr(text: str) -> str:
        """A text of a column in the user's language."""
        return _tr(text)

    def marked(self, place: Place) -> list[int]:
        """The rows that come from a source line, also through functions that it calls."""
        return [number for number, row in enumerate(self.rows) if place in row.places]


def _sass_row(line: Mapping[str, Any], places: Sequence[Place]) -> CodeRow:
    label = f"{line['label']}: " if line["label"] else ""
    cells = (
        f"{line['address']:04x}",
        f"{line['stall']}{'y' if line['yield'] else ''}",
        line["barriers"],
        str(line["live"].get("GPR", "")),
        f"{label}{line['text']}",
    )
    live = [_tr(text).format(count=line["live"][kind]) for kind, text in LIVE.items() if line["live"].get(kind)]
    return CodeRow(cells, tuple(places), "; ".join(live))

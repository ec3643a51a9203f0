"""The layout of a drawn access: lanes above, sectors or banks below, lines in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import QCoreApplication, QLineF, QPointF, QRectF
from PySide6.QtGui import QFontMetricsF

from app.models.xray.access_text import byte_range
from app.models.xray.access_trace import BANKS, WARP, TracedAccess

FALL = 2.6
"""The height of the lines between lanes and memory, in lines of text."""
MOST_HIGH = 9.0
"""The largest height of all wavefronts together, in lines of text."""
LEAST_WAVEFRONT = 0.32
LANES_OF_A_SECTOR = 8
"""The largest width of a drawn sector, in lanes: lanes with 4 bytes each are then above their own sector."""

Kind = Literal["lane", "piece", "gap", "bank"]
Sign = Literal["used", "unused", "gap", "rest", "conflict", "shared"]


def tr(text: str) -> str:
    return QCoreApplication.translate("Access", text)


@dataclass(frozen=True)
class Spot:
    """A part that the mouse can point at: a lane, a sector, a gap or a bank, by its number."""

    kind: Kind
    number: int
    rect: QRectF


@dataclass(frozen=True)
class Used:
    """Bytes of a sector, or a bank's word in a wavefront, and the lanes that use it."""

    rect: QRectF
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class Written:
    """A text centred in a box."""

    rect: QRectF
    text: str


@dataclass
class Layout:
    """All parts of a drawing of one width. `spots` are in search order."""

    width: float
    height: float = 0.0
    spots: list[Spot] = field(default_factory=list)
    banks: list[QRectF] = field(default_factory=list)
    used: list[Used] = field(default_factory=list)
    lines: dict[int, QLineF] = field(default_factory=dict)
    titles: list[Written] = field(default_factory=list)
    numbers: list[Written] = field(default_factory=list)
    legend: list[tuple[Sign, QRectF, str]] = field(default_factory=list)

    def of(self, kind: Kind) -> list[Spot]:
        return [spot for spot in self.spots if spot.kind == kind]

    def at(self, place: QPointF) -> Spot | None:
        """The spot at a point."""
        return next((spot for spot in self.spots if spot.rect.contains(place)), None)


class Builder:
    """Lays an access out in a width, with the sizes of its small font."""

    def __init__(self, access: TracedAccess, width: float, metrics: QFontMetricsF) -> None:
        self.access, self.metrics = access, metrics
        self.line, self.letter = metrics.height(), metrics.averageCharWidth()
        self.layout = Layout(width)
        self.shared = access.space == "shared"
        beside = metrics.horizontalAdvance("00") + self.letter if self.shared else 0.0  # the wavefronts' numbers
        self.left, self.right = self.letter + beside, width - self.letter
        self.cell = (self.right - self.left) / WARP
        self.y = 0.5 * self.letter

    def build(self) -> Layout:
        self._title(tr("Lanes"))
        self._count(WARP)
        lanes = self._row(WARP)
        self.layout.spots += [Spot("lane", lane, rect) for lane, rect in enumerate(lanes)]
        top = self.y
        self.y += FALL * self.line
        below = self._banks() if self.shared else self._pieces()
        for lane, place in below.items():
            self.layout.lines[lane] = QLineF(lanes[lane].center().x(), top, place.x(), place.y())
        self._legend()
        self.layout.height = self.y + 0.5 * self.letter
        return self.layout

    def _title(self, text: str) -> None:
        self.layout.titles.append(Written(QRectF(self.letter, self.y, self.right - self.letter, self.line), text))
        self.y += self.line

    def _count(self, total: int) -> None:
        """Put numbers over the cells, as many as fit."""
        room = self.metrics.horizontalAdvance("00") + 0.5 * self.letter
        step = next((s for s in (1, 2, 4) if s * self.cell >= room), 8)
        for number in range(0, total, step):
            middle = self.left + (number + 0.5) * self.cell
            self.layout.numbers.append(Written(QRectF(middle - room, self.y, 2 * room, self.line), str(number)))
        self.y += self.line

    def _row(self, total: int) -> list[QRectF]:
        height = 1.1 * self.line
        cells = [QRectF(self.left + n * self.cell, self.y, self.cell, height) for n in range(total)]
        self.y += height
        return cells

    # Sectors

    def _pieces(self) -> dict[int, QPointF]:
        """Put sectors side by side and leave out the gaps. Returns where each lane's line ends."""
        pieces, height = self.access.pieces, 1.6 * self.line
        breaks = sum(gap > 0 for gap in pieces.gaps)
        room = self.right - self.left
        pause = min(2.5 * self.letter, 0.3 * room / breaks) if breaks else 0.0
        each = min(LANES_OF_A_SECTOR * self.cell, (room - breaks * pause) / len(pieces.pieces))
        x = self.left + (room - breaks * pause - each * len(pieces.pieces)) / 2
        places = []
        for number, gap in enumerate((0, *pieces.gaps)):
            if gap:
                self.layout.spots.append(Spot("gap", number - 1, QRectF(x, self.y, pause, height)))
                x += pause
            places.append(QRectF(x, self.y, each, height))
            x += each
        self.layout.spots += [Spot("piece", number, rect) for number, rect in enumerate(places)]
        ends = self._parts(places, each / pieces.grain)
        self.y += height
        self._ranges(places)
        constant = self.access.space == "constant"
        name = tr("Words of constant memory; bytes of {buffer}") if constant else tr("Sectors; bytes of {buffer}")
        self._title(name.format(buffer=self.access.buffer or tr("no buffer")))
        return ends

    def _parts(self, places: Sequence[QRectF], scale: float) -> dict[int, QPointF]:
        """Lay out the bytes that lanes use, at least wide enough to be visible."""
        ends: dict[int, QPointF] = {}
        for piece, rect in zip(self.access.pieces.pieces, places, strict=True):
            for first, last, lanes in piece.used:
                width = max((last - first) * scale, 0.25 * self.letter)
                left = min(rect.left() + first * scale, rect.right() - width)
                part = QRectF(left, rect.top(), width, rect.height())
                self.layout.used.append(Used(part, lanes))
                ends |= {lane: QPointF(part.center().x(), part.top()) for lane in lanes}
        return ends

    def _ranges(self, places: Sequence[QRectF]) -> None:
        """Put the byte ranges under runs of adjacent sectors: the first, the last, and others that fit."""
        pieces, start = self.access.pieces, self.access.start
        runs: list[list[int]] = []
        for number, gap in enumerate((1, *pieces.gaps)):
            if gap:
                runs.append([number])
            else:
                runs[-1].append(number)
        taken: list[QRectF] = []
        for run in (runs[0], runs[-1], *runs[1:-1]):
            first, last = (pieces.pieces[n].address - start for n in (run[0], run[-1]))
            text = byte_range(first, last + pieces.grain - 1)
            width = self.metrics.horizontalAdvance(text) + self.letter
            middle = (places[run[0]].left() + places[run[-1]].right()) / 2
            left = min(max(middle - width / 2, 0.0), self.layout.width - width)
            rect = QRectF(left, self.y, width, self.line)
            if not any(rect.intersects(other) for other in taken):
                taken.append(rect)
                self.layout.numbers.append(Written(rect, text))
        self.y += self.line

    # Banks

    def _banks(self) -> dict[int, QPointF]:
        """Lay out a row of banks, and below it a row for each wavefront with the words they deliver. Returns where each
        lane's line ends: above the middle of its banks."""
        wavefronts = self.access.banks.wavefronts
        top = self.y
        self.layout.banks = self._row(BANKS)
        self._count(BANKS)
        height = min(1.1, max(LEAST_WAVEFRONT, MOST_HIGH / len(wavefronts))) * self.line
        shown = -(-self.line // height) if height < self.line else 1
        wanted: dict[int, list[int]] = {}
        for turn, cells in enumerate(wavefronts):
            for bank, cell in cells.items():
                rect = QRectF(self.left + bank * self.cell, self.y, self.cell, height)
                self.layout.used.append(Used(rect, cell.lanes))
                for lane in cell.lanes:
                    wanted.setdefault(lane, []).append(bank)
            if turn % shown == 0:
                beside = QRectF(0, self.y + height / 2 - self.line / 2, self.left, self.line)
                self.layout.numbers.append(Written(beside, str(turn + 1)))
            self.y += height
        self.layout.spots += [
            Spot("bank", bank, QRectF(self.left + bank * self.cell, top, self.cell, self.y - top))
            for bank in range(BANKS)
        ]
        self.y += 0.25 * self.line
        self._title(tr("Banks; a row for each wavefront"))
        middle = {lane: sum(banks) / len(banks) + 0.5 for lane, banks in wanted.items()}
        return {lane: QPointF(self.left + at * self.cell, top) for lane, at in middle.items()}

    # Legend

    def _legend(self) -> None:
        """Lay out the legend of the signs that occur, side by side as far as they fit."""
        x, side = self.letter, 1.3 * self.line
        self.y += 0.25 * self.line
        signs = self._signs()
        for sign, text in signs:
            width = side + self.metrics.horizontalAdvance(text) + 2 * self.letter
            if x > self.letter and x + width > self.right:
                x, self.y = self.letter, self.y + self.line
            self.layout.legend.append((sign, QRectF(x, self.y, min(width, self.right - x), self.line), text))
            x += width
        self.y += self.line if signs else 0.0

    def _signs(self) -> list[tuple[Sign, str]]:
        access = self.access
        rests: list[tuple[Sign, str]] = [("rest", tr("an inactive lane"))] if len(access.lanes) < WARP else []
        if self.shared:
            conflict, together = tr("bank conflict"), tr("one word for several lanes")
            marks: list[tuple[Sign, str]] = [("conflict", conflict)] if access.banks.conflicts else []
            same: list[tuple[Sign, str]] = [("shared", together)] if access.banks.shared else []
            return [*marks, *same, *rests]
        pieces = access.pieces
        unused: list[tuple[Sign, str]] = [("unused", tr("moved but not used"))] if pieces.wasted else []
        gaps: list[tuple[Sign, str]] = [("gap", tr("gap: not accessed"))] if any(pieces.gaps) else []
        return [("used", tr("bytes that lanes use")), *unused, *gaps, *rests]

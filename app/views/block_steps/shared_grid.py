"""Shared memory of a block as rows of 32 words, one for each bank, with the access of the present step."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.base.numbers import number
from app.base.theme import mix
from app.models.xray.block_reader import BANKS, WORD, Banks
from app.views.block_steps.cells import CellsView

LEAST, VALUE, MOST = 1.75, 5.2, 6.5
"""Letters across for a word: the least, with its value, the most."""
NAME = 7
"""Letters for the index of a row's first word."""
HEAD = 2.4
"""Rows above the words."""
MOST_ROWS = 512
"""Rows that are shown: 64 KiB."""


class SharedGrid(CellsView):
    """Words of shared memory, coloured by the warp that wrote them last; a thick edge marks those that the present step
    wrote. Above them, the banks: the number of different words that the present access needs of each."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("block.shared", "", parent)
        self.setAccessibleName(self.tr("Shared memory"))
        self.banks: Banks | None = None
        self._values = False
        self._words = np.zeros(0, np.uint32)
        self._written = np.zeros(0, np.bool_)
        self._writers = np.zeros(0, np.int32)
        self._changed: set[int] = set()

    def show_values(self, on: bool) -> None:
        """Make words wide enough for their values, or let all banks fit where there is little space."""
        self._values = on
        self.setMinimumSize(self.minimumSizeHint())
        self.update()

    def prepare(self) -> None:
        if self.reader is not None:
            run = self.reader.run
            self._words, _ = run.shared.at(self.step)
            self._writers, self._written = run.writers.at(self.step)
            self._changed = set(run.writers.changed(self.step).tolist())
            self.banks = self.reader.banks(self.step)

    @property
    def rows(self) -> int:
        """The rows of 32 words that the block's arrays take."""
        if self.reader is None or not self.reader.run.arrays:
            return 0
        last = max(one.last for one in self.reader.run.arrays)
        return min(-(-last // (WORD * BANKS)), MOST_ROWS)

    def sizeHint(self) -> QSize:  # noqa: N802
        width = (NAME + BANKS * (VALUE if self._values else LEAST)) * self.letter
        return QSize(round(width), round((self.rows + HEAD + 0.2) * self.row_height))

    def _cell(self, row: float, bank: int) -> QRectF:
        size = (self.width() - NAME * self.letter) / BANKS
        size = min(max(size, LEAST * self.letter), MOST * self.letter)
        return QRectF(NAME * self.letter + bank * size, row * self.row_height, size, self.row_height)

    def paint(self, painter: QPainter) -> None:
        assert self.reader is not None
        centre, colours = Qt.AlignmentFlag.AlignCenter, self.colours
        painter.setPen(colours.muted)
        heads = ((0, self.tr("bank")), (1, self.tr("words")))
        for row, head in heads:
            painter.drawText(
                QRectF(0, row * self.row_height, NAME * self.letter, self.row_height),
                Qt.AlignmentFlag.AlignVCenter,
                head,
            )
        every = 1 if self._cell(0, 0).width() > painter.fontMetrics().horizontalAdvance("00 ") else 4
        for bank in range(BANKS):
            painter.setPen(colours.muted)
            if bank % every == 0:
                painter.drawText(self._cell(0, bank), centre | Qt.TextFlag.TextDontClip, str(bank))
            if self.banks is not None and self.banks.words[bank]:
                self._paint_bank(painter, bank, len(self.banks.words[bank]))
        used = {word for words in self.banks.words for word in words} if self.banks is not None else set()
        for row in self._visible_rows(painter):
            painter.setPen(colours.muted)
            place = QRectF(0, (row + HEAD) * self.row_height, (NAME - 0.5) * self.letter, self.row_height)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, str(row * BANKS))
            for bank in reversed(range(BANKS)):  # a number across two words is drawn after the second
                self._paint_word(painter, row * BANKS + bank, self._cell(row + HEAD, bank), used)

    def _visible_rows(self, painter: QPainter) -> range:
        """The rows in the part that is painted: others take time and are not seen."""
        clip, first = painter.clipBoundingRect(), self._cell(HEAD, 0).y()
        top = int(max(clip.top() - first, 0) // self.row_height)
        return range(top, min(int(max(clip.bottom() - first, 0) // self.row_height) + 1, self.rows))

    def _paint_bank(self, painter: QPainter, bank: int, words: int) -> None:
        colours, text = self.colours, self.text
        rect = self._cell(1, bank).adjusted(1, 1, -1, -1)
        if self.banks is not None and words > self.banks.least:
            base = self.base
            self.box(painter, rect, colours.error.colour, mix(base, colours.error.colour, 0.2), 2.0)
        else:
            self.box(painter, rect, colours.muted, Qt.BrushStyle.NoBrush)
        painter.setPen(text)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip, str(words))

    def _paint_word(self, painter: QPainter, word: int, rect: QRectF, used: set[int]) -> None:
        text, colours = self.text, self.colours
        inner = rect.adjusted(0.5, 0.5, -0.5, -0.5)
        if word >= len(self._written) or not self._written[word]:
            painter.fillRect(inner, QBrush(colours.grid, Qt.BrushStyle.BDiagPattern))
        else:
            painter.fillRect(inner, self.ground(self.series(int(self._writers[word])), 0.35))
            self._paint_value(painter, word, inner)
        if word in self._changed:
            self.box(painter, rect, text, Qt.BrushStyle.NoBrush, 2.0)
        elif word in used:
            painter.setPen(QPen(text, 1.5, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(1, 1, -1, -1))

    def _paint_value(self, painter: QPainter, word: int, rect: QRectF) -> None:
        """Draw a word's value with as many digits as fit; a number of 8 bytes across its two words."""
        value = self._value(word)
        if value is None or rect.width() < (VALUE - 1.2) * self.letter:
            return
        wide = QRectF(rect)
        if isinstance(value, float) and self._itemsize(word) == 2 * WORD and (word + 1) % BANKS:
            wide.setWidth(2 * rect.width() + 1)
        metrics = QFontMetricsF(painter.font())
        texts = [value] if isinstance(value, str) else [number(value, digits) for digits in (4, 3, 2, 1)]
        text = next((text for text in texts if metrics.horizontalAdvance(text) <= wide.width()), "…")
        painter.setPen(self.text)
        painter.drawText(wide, Qt.AlignmentFlag.AlignCenter, text)

    def _itemsize(self, word: int) -> int:
        return self._kind(word)[1].itemsize

    def _kind(self, word: int) -> tuple[int, np.dtype[Any]]:
        """The first byte and the type of the array that a word belongs to."""
        assert self.reader is not None
        _, first, dtype = self.reader.array_at(word * WORD)
        return first, np.dtype(dtype)

    def _value(self, word: int) -> float | str | None:
        """A word in the type of its array; None for the second word of a number; of several small numbers the first."""
        first, kind = self._kind(word)
        if kind.itemsize == 2 * WORD:
            whole = self._words[word : word + 2]
            return None if (word * WORD - first) % kind.itemsize or len(whole) < 2 else float(whole.view(kind)[0])
        values = self._words[word : word + 1].view(kind)
        return float(values[0]) if len(values) == 1 else f"{number(float(values[0]), 3)}…"

    def value(self, word: int) -> str:
        """A word's value in full."""
        value = self._value(word if self._itemsize(word) != 2 * WORD else word // 2 * 2)
        if isinstance(value, str):
            return ", ".join(number(float(one), 6) for one in self._words[word : word + 1].view(self._kind(word)[1]))
        return number(value, 9) if value is not None else ""

    def tip(self, at: QPointF) -> str:
        assert self.reader is not None
        first = self._cell(HEAD, 0)
        bank, row = int((at.x() - first.x()) // first.width()), int((at.y() - first.y()) // self.row_height)
        word = row * BANKS + bank
        if not (0 <= bank < BANKS and 0 <= row < self.rows and word < len(self._words)):
            return ""
        name, start, dtype = self.reader.array_at(word * WORD)
        index = (word * WORD - start) // np.dtype(dtype).itemsize
        if not self._written[word]:
            return self.tr("{name}[{index}], bank {bank}: nothing is written yet").format(
                name=name, index=index, bank=bank
            )
        return self.tr("{name}[{index}], bank {bank}: {value}, written by warp {warp}").format(
            name=name, index=index, bank=bank, value=self.value(word), warp=int(self._writers[word])
        )

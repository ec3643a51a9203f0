"""An access of one warp in words. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from PySide6 import QtCore
from PySide6.QtCore import QCoreApplication

from app.base.numbers import count, percent
from app.models.xray.access_trace import WARP, Banks, Cell, Piece, TracedAccess, WarpTrace

QT_TRANSLATE_NOOP = cast(Callable[[str, str], str], QtCore.QT_TRANSLATE_NOOP)
LISTED = 6
"""The most lanes that a text lists one by one; of more it gives the first and the last."""
VERBS = {
    "load": QT_TRANSLATE_NOOP("Access", "Load"),
    "store": QT_TRANSLATE_NOOP("Access", "Store"),
    "atomic": QT_TRANSLATE_NOOP("Access", "Atomic"),
}
SPACES = {
    "global": QT_TRANSLATE_NOOP("Access", "global memory"),
    "shared": QT_TRANSLATE_NOOP("Access", "shared memory"),
    "constant": QT_TRANSLATE_NOOP("Access", "constant memory"),
}


def tr(text: str) -> str:
    return QCoreApplication.translate("Access", text)


def lane_numbers(lanes: Sequence[int]) -> str:
    """Numbers of lanes in short: 0–31, or 0 and 16, or 0, 2 … 30."""
    if len(lanes) == 2:
        return tr("{first} and {last}").format(first=lanes[0], last=lanes[1])
    if len(lanes) > 2 and lanes[-1] - lanes[0] == len(lanes) - 1:
        return tr("{first}–{last}").format(first=lanes[0], last=lanes[-1])
    if len(lanes) > LISTED:
        return tr("{first}, {second} … {last}").format(first=lanes[0], second=lanes[1], last=lanes[-1])
    return ", ".join(map(str, lanes))


def byte_range(first: int, last: int) -> str:
    """The bytes from the first to the last."""
    return count(first) if first == last else tr("{first}–{last}").format(first=count(first), last=count(last))


def warp_title(trace: WarpTrace) -> str:
    """Which warp it is, such as "block (3, 2) · warp 1"."""
    x, y, z = trace.block
    numbers = (x, y, z) if z else (x, y)
    return tr("block ({block}) · warp {warp}").format(block=", ".join(map(str, numbers)), warp=trace.warp)


def place_text(kernel: str, file: str, line: int, edited: bool) -> str:
    """Which line of which kernel the accesses are of, such as "mean_shared, line 31 of 3_shared.cu"; 0 is a line whose
    text has changed since."""
    if not line:
        return tr("{kernel}, a line of {file} that was edited since").format(kernel=kernel, file=file)
    text = tr("{kernel}, line {line} of {file}, edited") if edited else tr("{kernel}, line {line} of {file}")
    return text.format(kernel=kernel, line=line, file=file)


def what(access: TracedAccess) -> str:
    """The kind of access, such as "Load of 4 bytes per lane · image · global memory"."""
    one = tr("{verb} of 1 byte per lane") if access.nbytes == 1 else tr("{verb} of {count} bytes per lane")
    text = one.format(verb=tr(VERBS[access.verb]), count=access.nbytes)
    return " · ".join(part for part in (text, access.buffer, tr(SPACES[access.space])) if part)


def sentence(access: TracedAccess) -> str:
    """What the access costs, and what it would cost at best."""
    sentence = {"global": _sectors, "shared": _wavefronts, "constant": _words}[access.space](access)
    met = len(access.lanes) - access.distinct
    if access.verb == "atomic" and met:
        text = tr("{sentence} {count} of {lanes} atomics are serialised with another at the same address.")
        sentence = text.format(sentence=sentence, count=met, lanes=len(access.lanes))
    if len(access.lanes) < WARP:
        text = tr("{sentence} {count} of the 32 lanes are inactive.")
        sentence = text.format(sentence=sentence, count=WARP - len(access.lanes))
    return sentence


def _lanes(number: int) -> str:
    return tr("1 lane") if number == 1 else tr("{count} lanes").format(count=number)


def _sectors(access: TracedAccess) -> str:
    pieces, lanes = access.pieces, _lanes(len(access.lanes))
    touched = len(pieces.pieces)
    if access.distinct == 1 and len(access.lanes) > 1:
        text = tr("{lanes} access the same {bytes} bytes: 1 sector serves all of them.")
        return text.format(lanes=lanes, bytes=access.nbytes)
    verb = tr("{lanes} touches {sectors}") if len(access.lanes) == 1 else tr("{lanes} touch {sectors}")
    sectors = tr("1 sector") if touched == 1 else tr("{count} sectors").format(count=touched)
    first = verb.format(lanes=lanes, sectors=sectors)
    if touched > pieces.ideal:
        text = tr("{first}; ideal: {ideal}; {share} of the bytes moved are not used.")
    elif pieces.wasted:
        text = tr("{first}, the minimum; {share} of the bytes moved are not used.")
    else:
        text = tr("{first}, the minimum: every byte moved is used.")
    share = percent(pieces.wasted / pieces.moved).replace(" ", "\N{NO-BREAK SPACE}")
    return text.format(first=first, ideal=pieces.ideal, share=share)


def _wavefronts(access: TracedAccess) -> str:
    banks = access.banks
    wavefronts = (
        tr("1 wavefront")
        if len(banks.wavefronts) == 1
        else tr("{count} wavefronts").format(count=len(banks.wavefronts))
    )
    if banks.conflicts:
        return _conflict(banks, wavefronts)
    if banks.parts > 1:
        half = access.nbytes == 8
        by = tr("half-warps") if half else tr("quarters of a warp")
        text = tr("{bytes} bytes per lane are served by {by}: {wavefronts}, the minimum.")
        if len(banks.wavefronts) > banks.least:
            text = tr("{bytes} bytes per lane are served by {by}: {wavefronts}; ideal: {least}.")
        return text.format(bytes=access.nbytes, by=by, wavefronts=wavefronts, least=banks.least)
    if banks.shared:
        return tr("No bank conflict, and lanes that read the same word share it: {wavefronts}.").format(
            wavefronts=wavefronts
        )
    return tr("No bank conflict: {wavefronts}.").format(wavefronts=wavefronts)


def _conflict(banks: Banks, wavefronts: str) -> str:
    """The worst bank conflict: the bank with the most distinct words, and the lanes that need them."""
    bank, cells = max(banks.conflicts.items(), key=lambda item: len(item[1]))
    text = tr("Bank conflict: lanes {lanes} need different words of bank {bank}: {wavefronts}; ideal: {least}.")
    lanes = lane_numbers([cell.lanes[0] for cell in cells])
    return text.format(lanes=lanes, bank=bank, wavefronts=wavefronts, least=banks.least)


def _words(access: TracedAccess) -> str:
    words = len(access.pieces.pieces)
    if words == 1:
        return tr("{lanes} read one word: it is broadcast.").format(lanes=_lanes(len(access.lanes)))
    text = tr("{lanes} read {words} words, which are served one after the other; a single word would be broadcast.")
    return text.format(lanes=_lanes(len(access.lanes)), words=words)


# Texts for the element under the mouse


def lane_text(access: TracedAccess, lane: int) -> str:
    """The location of a lane's access: bytes and elements of the buffer, and the sector or the banks."""
    offset = access.offset(lane)
    if offset is None:
        return tr("Lane {lane} is inactive.").format(lane=lane)
    text = tr("Lane {lane}: byte {bytes}") if access.nbytes == 1 else tr("Lane {lane}: bytes {bytes}")
    sentence = text.format(lane=lane, bytes=byte_range(offset, offset + access.nbytes - 1))
    if access.buffer:
        sentence = tr("{sentence} of {buffer}").format(sentence=sentence, buffer=access.buffer)
    elements = access.elements(lane)
    if elements is not None:
        name = tr("element {range}") if elements[0] == elements[1] else tr("elements {range}")
        sentence = tr("{sentence}, {elements}").format(
            sentence=sentence, elements=name.format(range=byte_range(*elements))
        )
    return tr("{sentence}; {where}").format(sentence=sentence, where=_where(access, lane))


def _where(access: TracedAccess, lane: int) -> str:
    if access.space != "shared":
        number, total = access.pieces.of_lane(lane), len(access.pieces.pieces)
        assert number is not None
        text = tr("word {number} of {total}") if access.space == "constant" else tr("sector {number} of {total}")
        return text.format(number=number + 1, total=total)
    banks = [bank for cells in access.banks.wavefronts for bank, cell in cells.items() if lane in cell.lanes]
    text = (
        tr("bank {banks}, wavefront {number} of {total}")
        if len(banks) == 1
        else tr("banks {banks}, wavefront {number} of {total}")
    )
    number, total = access.banks.lane_wavefront[lane] + 1, len(access.banks.wavefronts)
    return text.format(banks=lane_numbers(sorted(banks)), number=number, total=total)


def piece_text(access: TracedAccess, piece: Piece) -> str:
    """A sector's or a word's bytes, the lanes that use it, and how many of its bytes they use."""
    pieces = access.pieces
    first = piece.address - access.start
    used = sum(last - begin for begin, last, _ in piece.used)
    text = tr("Word of constant memory, bytes {bytes}") if access.space == "constant" else tr("Sector, bytes {bytes}")
    sentence = text.format(bytes=byte_range(first, first + pieces.grain - 1))
    if access.buffer:
        sentence = tr("{sentence} of {buffer}").format(sentence=sentence, buffer=access.buffer)
    alone = len(piece.lanes) == 1
    many = tr("{sentence}: lanes {lanes} use {used} of its {grain} bytes")
    text = tr("{sentence}: lane {lanes} uses {used} of its {grain} bytes") if alone else many
    return text.format(sentence=sentence, lanes=lane_numbers(piece.lanes), used=used, grain=pieces.grain)


def bank_text(access: TracedAccess, bank: int) -> str:
    """The words that a bank delivers, wavefront by wavefront."""
    cells = access.banks.of_bank(bank)
    if not cells:
        return tr("No lane uses bank {bank}.").format(bank=bank)
    parts = [_cell_text(access, cell) for cell in cells[:LISTED]]
    more = [tr("{count} more").format(count=len(cells) - LISTED)] if len(cells) > LISTED else []
    return tr("Bank {bank}: {words}").format(bank=bank, words="; ".join([*parts, *more]))


def _cell_text(access: TracedAccess, cell: Cell) -> str:
    first = 4 * cell.word - access.start
    text = tr("bytes {bytes} to lane {lanes}") if len(cell.lanes) == 1 else tr("bytes {bytes} to lanes {lanes}")
    return text.format(bytes=byte_range(first, first + 3), lanes=lane_numbers(cell.lanes))


def gap_text(nbytes: int) -> str:
    """The gap between two pieces that are drawn side by side."""
    return tr("{count} bytes in between are not accessed").format(count=count(nbytes))

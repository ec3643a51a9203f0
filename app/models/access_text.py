"""An access of one warp in words. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from PySide6 import QtCore
from PySide6.QtCore import QCoreApplication

from app.figures import count, percent
from app.models.access_trace import WARP, Access, Banks, Cell, Piece, WarpTrace

QT_TRANSLATE_NOOP = cast(Callable[[str, str], str], QtCore.QT_TRANSLATE_NOOP)
LISTED = 6
"""Lanes that are told one by one; of more the first and the last are."""
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


def what(access: Access) -> str:
    """What is done, such as "Load of 4 bytes a lane · image · global memory"."""
    one = tr("{verb} of 1 byte a lane") if access.nbytes == 1 else tr("{verb} of {count} bytes a lane")
    said = one.format(verb=tr(VERBS[access.verb]), count=access.nbytes)
    return " · ".join(part for part in (said, access.buffer, tr(SPACES[access.space])) if part)


def sentence(access: Access) -> str:
    """What the access costs, and what it would cost at best."""
    said = {"global": _sectors, "shared": _wavefronts, "constant": _words}[access.space](access)
    met = len(access.lanes) - access.distinct
    if access.verb == "atomic" and met:
        text = tr("{said} {count} of {lanes} atomics meet another at their address and wait for it.")
        said = text.format(said=said, count=met, lanes=len(access.lanes))
    if len(access.lanes) < WARP:
        text = tr("{said} {count} of the 32 lanes rest.")
        said = text.format(said=said, count=WARP - len(access.lanes))
    return said


def _lanes(number: int) -> str:
    return tr("1 lane") if number == 1 else tr("{count} lanes").format(count=number)


def _sectors(access: Access) -> str:
    found, lanes = access.pieces, _lanes(len(access.lanes))
    touched = len(found.pieces)
    if access.distinct == 1 and len(access.lanes) > 1:
        text = tr("{lanes} use the same {bytes} bytes: 1 sector is moved for all of them.")
        return text.format(lanes=lanes, bytes=access.nbytes)
    verb = tr("{lanes} touches {sectors}") if len(access.lanes) == 1 else tr("{lanes} touch {sectors}")
    sectors = tr("1 sector") if touched == 1 else tr("{count} sectors").format(count=touched)
    first = verb.format(lanes=lanes, sectors=sectors)
    if touched > found.ideal:
        text = tr("{first}; {ideal} would do: {share} of what is moved is not used.")
    elif found.wasted:
        text = tr("{first}, as few as can be; {share} of what is moved is not used.")
    else:
        text = tr("{first}, as few as can be: all that is moved is used.")
    share = percent(found.wasted / found.moved).replace(" ", "\N{NO-BREAK SPACE}")
    return text.format(first=first, ideal=found.ideal, share=share)


def _wavefronts(access: Access) -> str:
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
        text = tr("{bytes} bytes a lane go by {by}: {wavefronts}, as few as can be.")
        return text.format(bytes=access.nbytes, by=by, wavefronts=wavefronts)
    if banks.shared:
        return tr("No bank conflict, and lanes that want the same word share it: {wavefronts}.").format(
            wavefronts=wavefronts
        )
    return tr("No bank conflict: {wavefronts}.").format(wavefronts=wavefronts)


def _conflict(banks: Banks, wavefronts: str) -> str:
    """The bank of which the most words are wanted, and who wants them."""
    bank, cells = max(banks.conflicts.items(), key=lambda item: len(item[1]))
    text = tr("Bank conflict: lanes {lanes} want different words of bank {bank}: {wavefronts}; {least} would do.")
    lanes = lane_numbers([cell.lanes[0] for cell in cells])
    return text.format(lanes=lanes, bank=bank, wavefronts=wavefronts, least=banks.parts)


def _words(access: Access) -> str:
    words = len(access.pieces.pieces)
    if words == 1:
        return tr("{lanes} want one word: it is fetched once.").format(lanes=_lanes(len(access.lanes)))
    text = tr("{lanes} want {words} words, which are fetched one after the other; one for all would do.")
    return text.format(lanes=_lanes(len(access.lanes)), words=words)


# What is pointed at


def told_lane(access: Access, lane: int) -> str:
    """Where a lane's access lies: bytes and elements of the buffer, and the sector or the banks."""
    offset = access.offset(lane)
    if offset is None:
        return tr("Lane {lane} rests.").format(lane=lane)
    text = tr("Lane {lane}: byte {bytes}") if access.nbytes == 1 else tr("Lane {lane}: bytes {bytes}")
    said = text.format(lane=lane, bytes=byte_range(offset, offset + access.nbytes - 1))
    if access.buffer:
        said = tr("{said} of {buffer}").format(said=said, buffer=access.buffer)
    elements = access.elements(lane)
    if elements is not None:
        name = tr("element {range}") if elements[0] == elements[1] else tr("elements {range}")
        said = tr("{said}, {elements}").format(said=said, elements=name.format(range=byte_range(*elements)))
    return tr("{said}; {where}").format(said=said, where=_where(access, lane))


def _where(access: Access, lane: int) -> str:
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


def told_piece(access: Access, piece: Piece) -> str:
    """A sector's or a word's bytes, who uses it, and how much of it is not used."""
    found = access.pieces
    first = piece.address - access.start
    used = sum(last - begin for begin, last, _ in piece.used)
    text = tr("Word of constant memory, bytes {bytes}") if access.space == "constant" else tr("Sector, bytes {bytes}")
    said = text.format(bytes=byte_range(first, first + found.grain - 1))
    if access.buffer:
        said = tr("{said} of {buffer}").format(said=said, buffer=access.buffer)
    alone = len(piece.lanes) == 1
    many = tr("{said}: lanes {lanes} use {used} of its {grain} bytes")
    text = tr("{said}: lane {lanes} uses {used} of its {grain} bytes") if alone else many
    return text.format(said=said, lanes=lane_numbers(piece.lanes), used=used, grain=found.grain)


def told_bank(access: Access, bank: int) -> str:
    """What a bank gives, wavefront by wavefront."""
    cells = access.banks.of_bank(bank)
    if not cells:
        return tr("Bank {bank} gives nothing.").format(bank=bank)
    said = [_told_cell(access, cell) for cell in cells[:LISTED]]
    more = [tr("{count} more").format(count=len(cells) - LISTED)] if len(cells) > LISTED else []
    return tr("Bank {bank}: {words}").format(bank=bank, words="; ".join([*said, *more]))


def _told_cell(access: Access, cell: Cell) -> str:
    first = 4 * cell.word - access.start
    text = tr("bytes {bytes} to lane {lanes}") if len(cell.lanes) == 1 else tr("bytes {bytes} to lanes {lanes}")
    return text.format(bytes=byte_range(first, first + 3), lanes=lane_numbers(cell.lanes))


def told_gap(nbytes: int) -> str:
    """What lies between two pieces that are drawn side by side."""
    return tr("{count} bytes in between are not touched").format(count=count(nbytes))

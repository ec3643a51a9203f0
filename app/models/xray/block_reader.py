"""One block that ran step by step: where its lanes are after a step, what the step did in words, and where to go next.
No widgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from PySide6.QtCore import QCoreApplication

from gpu_ops.devices.sim.block_run.accesses import Access
from gpu_ops.devices.sim.block_run.compared import say_meeting
from gpu_ops.devices.sim.block_run.run import ENDED, BlockRun

Array = np.ndarray[Any, Any]
Goal = Literal["step", "line", "barrier", "divergence"]
WARP = BANKS = 32
WORD = 4


def _tr(text: str) -> str:
    return QCoreApplication.translate("BlockReader", text)


class Banks(NamedTuple):
    """An access of one warp to shared memory: the word that each lane uses (first of several), and the distinct words
    of each bank."""

    lanes: dict[int, int]
    words: tuple[tuple[int, ...], ...]

    @property
    def most(self) -> int:
        """The distinct words of the bank that has most; for words of 4 bytes the passes that the access takes."""
        return max(map(len, self.words))

    @property
    def least(self) -> int:
        """What `most` would be if the same words were spread evenly over the banks."""
        return -(-sum(map(len, self.words)) // BANKS)


def banks_of(access: Access) -> Banks:
    """The banks that an access of one warp to shared memory needs."""
    each = max(access.nbytes // WORD, 1)
    first = access.addresses // WORD
    lanes = dict(zip((access.threads % WARP).tolist(), first.tolist(), strict=True))
    words = sorted({int(word) + more for word in first for more in range(each)})
    return Banks(lanes, tuple(tuple(w for w in words if w % BANKS == bank) for bank in range(BANKS)))


class BlockReader:
    """Reads a BlockRun. Steps are from 0, before the first, to `steps`."""

    def __init__(self, run: BlockRun) -> None:
        self.run, self.steps, self.warps = run, run.steps, run.warps
        self.line_of = np.array([one.line for one in run.statements], np.int32)

    @cached_property
    def lines(self) -> Array:
        """The line of each step (steps + 1,); 0 before the first."""
        return np.concatenate([[0], self.line_of[self.run.at]])

    @cached_property
    def opens(self) -> Array:
        """Whether a barrier opens at each step (steps + 1,)."""
        waits = np.array([bool(one.waits) and one.waits != "warp" for one in self.run.statements])
        return np.concatenate([[False], waits[self.run.at] & ~self.run.waited])

    @cached_property
    def parts(self) -> Array:
        """Whether the lanes of each step go on at different places (steps + 1,)."""
        places, found = self.run.places, np.zeros(self.steps + 1, np.bool_)
        for step in range(1, self.steps + 1):
            to = places.values[places.ends[step - 1] : places.ends[step]]
            moved = int(np.bitwise_count(self.run.masks[step - 1]).sum()) if len(to) else 0
            found[step] = len(to) > 0 and (len(to) < moved or bool((to != to[0]).any()))
        return found

    def next(self, step: int, goal: Goal, back: bool = False) -> int | None:
        """The next step after (or `back` before) one at which something happens: any step, another line, a barrier
        opens, lanes part. None where there is no such step."""
        if goal == "step":
            return step - 1 if back and step else step + 1 if not back and step < self.steps else None
        if goal == "line":
            found = np.flatnonzero(self.lines != self.lines[step])
        else:
            found = np.flatnonzero(self.opens if goal == "barrier" else self.parts)
        place = int(np.searchsorted(found, step, side="left" if back else "right")) - back
        return int(found[place]) if 0 <= place < len(found) else None

    def line_at(self, step: int) -> int:
        """The line of a step; before the first step the line at which the lanes are. 0 where there is none."""
        return int(self.lines[step]) or min(self.lanes_by_line(step), default=0)

    # The state after a step

    def lane_lines(self, step: int) -> tuple[Array, Array]:
        """The line at which each lane stops (width,), 0 for one that has ended, and whether it waits there (width,)."""
        places = self.run.places_at(step)
        there = places != ENDED
        return np.where(there, self.line_of[np.where(there, places, 0) // 2], 0), there & (places % 2 == 1)

    def lanes_by_line(self, step: int) -> dict[int, int]:
        """The number of lanes that stop at each line."""
        lines, _ = self.lane_lines(step)
        return {
            int(line): int(count) for line, count in zip(*np.unique(lines[lines > 0], return_counts=True), strict=True)
        }

    def accesses(self, step: int) -> tuple[Access, ...]:
        """What a step did with memory."""
        return self.run.accesses.at(step) if step else ()

    def banks(self, step: int) -> Banks | None:
        """The last access of a step to shared memory; None without one."""
        shared = [one for one in self.accesses(step) if one.space == "shared" and len(one.threads)]
        return banks_of(shared[-1]) if shared else None

    def registers_of(self, step: int, lane: int) -> tuple[Array, Array, set[int]]:
        """The bits of all registers of one thread, whether each was set, and the numbers of those that the step set."""
        bits, known = self.run.registers.at(step)
        width = self.run.width
        changed = self.run.registers.changed(step)
        return bits[lane::width], known[lane::width], set((changed[changed % width == lane] // width).tolist())

    # In words

    def sentences(self, step: int) -> list[str]:
        """What a step did."""
        if not step:
            return [
                _tr("Before the first step all {count} threads are at the beginning.").format(count=self.run.threads)
            ]
        texts = [self._what(step)]
        if self.parts[step]:
            texts.append(self._parting(step))
        texts += dict.fromkeys(self._access(access) for access in self.accesses(step)[:2] if len(access.threads))
        for meeting in self.run.meetings:
            if step == meeting.steps[1]:
                texts.append(
                    _tr("A race: lines {first} and {then} meet at {place}.").format(
                        first=meeting.lines[0], then=meeting.lines[1], place=meeting.place
                    )
                )
        if step == self.steps and self.run.ended:
            texts.append(self.run.ended)
        return texts

    def _what(self, step: int) -> str:
        lanes, statement = self.run.lanes(step), self.run.statements[self.run.at[step - 1]]
        warps = np.flatnonzero(lanes.reshape(-1, WARP).any(axis=1))
        line, warp = statement.line, int(warps[0])
        if self.run.waited[step - 1]:
            if statement.waits == "warp":
                return _tr("{lanes} lanes of warp {warp} wait at line {line} for others of their warp.").format(
                    lanes=int(lanes.sum()), warp=warp, line=line
                )
            come = self._arrived(step)
            return _tr("Warp {warp} waits at the barrier of line {line}; {come} of {all} warps have arrived.").format(
                warp=warp, line=line, come=come, all=self._living(step)
            )
        if self.opens[step]:
            return _tr("The barrier of line {line} opens: {count} warps go on.").format(line=line, count=len(warps))
        return _tr("Warp {warp} runs line {line} with {lanes} of 32 lanes.").format(
            warp=warp, line=line, lanes=int(lanes.sum())
        )

    def _arrived(self, step: int) -> int:
        """The warps that wait where this step's warp does."""
        return int((self.run.places_at(step) == 2 * self.run.at[step - 1] + 1).reshape(-1, WARP).any(axis=1).sum())

    def _living(self, step: int) -> int:
        return int((self.run.places_at(step) != ENDED).reshape(-1, WARP).any(axis=1).sum())

    def _parting(self, step: int) -> str:
        lines, _ = self.lane_lines(step)
        counts = Counter(lines[self.run.lanes(step)].tolist())
        parts = [
            _tr("{count} end").format(count=n) if not line else _tr("{count} at line {line}").format(count=n, line=line)
            for line, n in sorted(counts.items())
        ]
        return _tr("Its lanes part: {parts}.").format(parts=_tr(", ").join(parts))

    def _access(self, access: Access) -> str:
        verb = {"reads": _tr("reads"), "writes": _tr("writes")}.get(access.verb, _tr("changes"))
        if access.space == "shared":
            banks, name = banks_of(access), self.array_at(int(access.addresses[0]))[0]
            if banks.most > banks.least:
                text = _tr("It {verb} {name}: a bank has {most} different words, {least} if they were spread evenly.")
            elif banks.most > 1:
                text = _tr("It {verb} {name}: {most} words of each bank, without a conflict.")
            else:
                text = _tr("It {verb} {name}: no two words in one bank.")
            return text.format(verb=verb, name=name, most=banks.most, least=banks.least)
        sectors = len(np.unique(access.addresses // 32))
        return _tr("It {verb} {name}: {count} sectors of 32 bytes.").format(
            verb=verb, name=access.name or _tr("global memory"), count=sectors
        )

    def array_at(self, byte: int) -> tuple[str, int, str]:
        """The array in shared memory that a byte belongs to, its first byte, and NumPy's type of its elements."""
        for one in self.run.arrays:
            if one.first <= byte < one.last:
                return one.name, one.first, one.dtype
        return _tr("shared memory"), 0, "<u4"

    @property
    def meeting_lines(self) -> Sequence[tuple[int, str]]:
        """The lines whose accesses meet others with no barrier in between, each with a sentence."""
        return [(line, say_meeting(one)) for one in self.run.meetings for line in dict.fromkeys(one.lines)]

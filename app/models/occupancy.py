"""How many warps a multiprocessor holds at each block size, what limits them, and that in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.figures import count

WARP = 32
LIMITERS = ("registers", "shared memory", "warps", "blocks", "barriers")
MOST_SIZES = 4
"""How many block sizes a sentence names."""


def tr(text: str) -> str:
    return QCoreApplication.translate("Occupancy", text)


def limiter_name(limiter: str) -> str:
    """What limits, as people call it."""
    names = {
        "registers": tr("registers"),
        "shared memory": tr("shared memory"),
        "warps": tr("warps"),
        "blocks": tr("blocks"),
        "barriers": tr("barriers"),
    }
    return names[limiter]


@dataclass(frozen=True)
class Held:
    """What a multiprocessor holds of blocks of so many threads: `blocks`, their `warps` of `most`, and the limiter."""

    threads: int
    blocks: int
    warps: int
    most: int
    limiter: str

    @property
    def text(self) -> str:
        """All of it in words."""
        figures = {"threads": count(self.threads), "blocks": count(self.blocks), "warps": count(self.warps)}
        text = tr("{threads} threads a block: {blocks} blocks, {warps} of {most} warps, limited by {limiter}")
        return text.format(**figures, most=count(self.most), limiter=limiter_name(self.limiter))


@dataclass(frozen=True)
class Curve:
    """What is held at every block size of whole warps, ascending, and at the kernel's own; `registers` a thread,
    `shared_bytes` and `barriers` a block are the same everywhere."""

    sizes: tuple[Held, ...]
    own: Held
    registers: int
    shared_bytes: int
    barriers: int = 1

    def span(self) -> tuple[int, int]:
        """The first and the last block size around the kernel's own at which the same limits."""
        whole = -(-self.own.threads // WARP) * WARP
        runs = [list(run) for _, run in groupby(self.sizes, key=lambda held: held.limiter)]
        run = next(run for run in runs if run[0].threads <= whole <= run[-1].threads)
        return run[0].threads, run[-1].threads

    @property
    def sentence(self) -> str:
        """What the kernel's block size allows and why, and whether another one allows more."""
        texts = {
            "registers": tr(
                "{registers} registers a thread allow {warps} of {most} warps in blocks of {threads} threads; "
                "registers limit {where}."
            ),
            "shared memory": tr(
                "{bytes} bytes of shared memory a block allow {warps} of {most} warps in blocks of {threads} threads; "
                "shared memory limits {where}."
            ),
            "warps": tr(
                "Blocks of {threads} threads fill {warps} of {most} warps; the number of warps limits {where}."
            ),
            "blocks": tr(
                "{blocks} blocks of {threads} threads, the most there can be, fill {warps} of {most} warps; the number "
                "of blocks limits {where}."
            ),
            "barriers": tr(
                "{barriers} barriers a block allow {warps} of {most} warps in blocks of {threads} threads; barriers "
                "limit {where}."
            ),
        }
        figures = {
            **{"registers": self.registers, "bytes": self.shared_bytes, "barriers": self.barriers},
            **{"blocks": self.own.blocks},
            **{"warps": self.own.warps, "most": self.own.most, "threads": self.own.threads},
        }
        numbers = {name: count(value) for name, value in figures.items()}
        return f"{texts[self.own.limiter].format(**numbers, where=self._where())} {self._best()}"

    def _where(self) -> str:
        first, last = self.span()
        if (first, last) == (self.sizes[0].threads, self.sizes[-1].threads):
            return tr("at every block size")
        if last == self.sizes[-1].threads:
            return tr("from {first} threads on").format(first=count(first))
        if first == last:
            return tr("at {first} threads").format(first=count(first))
        return tr("from {first} to {last} threads").format(first=count(first), last=count(last))

    def _best(self) -> str:
        most = max(held.warps for held in self.sizes)
        if most <= self.own.warps:
            return tr("No other block size holds more.")
        best = [count(held.threads) for held in self.sizes if held.warps == most]
        sizes = ", ".join([*best[:MOST_SIZES], *(["…"] if len(best) > MOST_SIZES else [])])
        return tr("The most is {warps}, with {sizes} threads a block.").format(warps=count(most), sizes=sizes)

    @property
    def proviso(self) -> str:
        """What is held as it is while the block size changes."""
        if not self.shared_bytes:
            return tr("Registers are held as they are; a compiler may use others for another block size.")
        text = tr(
            "Registers and the {bytes} bytes of shared memory a block are held as they are; a tile that grows with the "
            "block would need more."
        )
        return text.format(bytes=count(self.shared_bytes))


def curve(kernel: Mapping[str, Any]) -> Curve | None:
    """That of an X-ray's kernel; None where its architecture's figures are not known."""
    by_block, own = kernel["occupancy_by_block"], kernel["occupancy"]
    if not by_block or not own:
        return None
    sizes = sorted((_held(int(threads), one) for threads, one in by_block.items()), key=lambda held: held.threads)
    registers, barriers = (int(kernel["resources"].get(name, 0)) for name in ("registers", "barriers"))
    own_size = _held(prod(kernel["block"]), own)
    return Curve(tuple(sizes), own_size, registers, int(kernel["shared_bytes"]), barriers)


def _held(threads: int, one: Mapping[str, Any]) -> Held:
    return Held(threads, int(one["blocks"]), int(one["warps"]), int(one["most_warps"]), str(one["limiter"]))

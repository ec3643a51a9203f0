"""How many warps are resident per multiprocessor at each block size and what limits them, as numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.base.numbers import count

WARP = 32
LIMITERS = ("registers", "shared memory", "warps", "blocks", "barriers")
MOST_SIZES = 4
"""The most block sizes that a sentence names."""


def tr(text: str) -> str:
    return QCoreApplication.translate("Occupancy", text)


def limiter_name(limiter: str) -> str:
    """The limiter's name in the user's language."""
    names = {
        "registers": tr("registers"),
        "shared memory": tr("shared memory"),
        "warps": tr("warps"),
        "blocks": tr("blocks"),
        "barriers": tr("barriers"),
    }
    return names[limiter]


@dataclass(frozen=True)
class BlockOccupancy:
    """Occupancy at one block size in `threads`: resident `blocks`, their `warps` out of `most`, and the limiter."""

    threads: int
    blocks: int
    warps: int
    most: int
    limiter: str

    @property
    def text(self) -> str:
        """The occupancy in words."""
        figures = {"threads": count(self.threads), "blocks": count(self.blocks), "warps": count(self.warps)}
        text = tr("{threads} threads per block: {blocks} blocks, {warps} of {most} warps, limited by {limiter}")
        return text.format(**figures, most=count(self.most), limiter=limiter_name(self.limiter))


@dataclass(frozen=True)
class Curve:
    """Occupancy at every block size of whole warps, ascending, and at the kernel's own block size. `registers` per
    thread, `shared_bytes` and `barriers` per block are the same at every size."""

    sizes: tuple[BlockOccupancy, ...]
    own: BlockOccupancy
    registers: int
    shared_bytes: int
    barriers: int = 1

    def span(self) -> tuple[int, int]:
        """The first and the last block size around the kernel's own that have the same limiter."""
        whole = -(-self.own.threads // WARP) * WARP
        runs = [list(run) for _, run in groupby(self.sizes, key=lambda held: held.limiter)]
        run = next(run for run in runs if run[0].threads <= whole <= run[-1].threads)
        return run[0].threads, run[-1].threads

    @property
    def sentence(self) -> str:
        """The occupancy of the kernel's block size, its limiter, and whether another size allows more."""
        texts = {
            "registers": tr(
                "{registers} registers per thread allow {warps} of {most} warps in blocks of {threads} threads; "
                "registers limit {where}."
            ),
            "shared memory": tr(
                "{bytes} bytes of shared memory per block allow {warps} of {most} warps in blocks of {threads} "
                "threads; shared memory limits {where}."
            ),
            "warps": tr(
                "Blocks of {threads} threads fill {warps} of {most} warps; the number of warps limits {where}."
            ),
            "blocks": tr(
                "{blocks} blocks of {threads} threads, the maximum, fill {warps} of {most} warps; the number "
                "of blocks limits {where}."
            ),
            "barriers": tr(
                "{barriers} barriers per block allow {warps} of {most} warps in blocks of {threads} threads; barriers "
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
            return tr("No other block size allows more.")
        best = [count(held.threads) for held in self.sizes if held.warps == most]
        sizes = ", ".join([*best[:MOST_SIZES], *(["…"] if len(best) > MOST_SIZES else [])])
        return tr("The maximum is {warps}, with {sizes} threads per block.").format(warps=count(most), sizes=sizes)

    @property
    def assumption(self) -> str:
        """The assumption behind the curve: what stays fixed while the block size changes."""
        if not self.shared_bytes:
            return tr("The register count is fixed here; a compiler may choose another one for another block size.")
        text = tr(
            "Registers and the {bytes} bytes of shared memory per block stay fixed; a tile that grows with the block "
            "would need more."
        )
        return text.format(bytes=count(self.shared_bytes))


def curve(kernel: Mapping[str, Any]) -> Curve | None:
    """The occupancy curve of an X-ray's kernel; None where the limits of its architecture are unknown."""
    by_block, own = kernel["occupancy_by_block"], kernel["occupancy"]
    if not by_block or not own:
        return None
    sizes = sorted(
        (_block_occupancy(int(threads), one) for threads, one in by_block.items()), key=lambda size: size.threads
    )
    registers, barriers = (int(kernel["resources"].get(name, 0)) for name in ("registers", "barriers"))
    own_size = _block_occupancy(prod(kernel["block"]), own)
    return Curve(tuple(sizes), own_size, registers, int(kernel["shared_bytes"]), barriers)


def _block_occupancy(threads: int, one: Mapping[str, Any]) -> BlockOccupancy:
    return BlockOccupancy(threads, int(one["blocks"]), int(one["warps"]), int(one["most_warps"]), str(one["limiter"]))

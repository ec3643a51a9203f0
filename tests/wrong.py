"""Kernels that are wrong on purpose: the first kernel file of a variant with a fault planted in its text."""

from __future__ import annotations

from dataclasses import dataclass

from wrong_kernels.boxes import BOXES
from wrong_kernels.histograms import HISTOGRAMS
from wrong_kernels.layouts import LAYOUTS
from wrong_kernels.means import MEANS
from wrong_kernels.sums import SUMS
from wrong_kernels.transforms import TRANSFORMS
from wrong_kernels.wavelets import WAVELETS

from gpu_ops.devices.kernel_source import read_source
from gpu_ops.filters import find_filter

TABLES = (BOXES, HISTOGRAMS, LAYOUTS, MEANS, SUMS, TRANSFORMS, WAVELETS)

RACES = {
    "box.columns.missing_barrier": "its warps mostly take a row together",
    "fft1d.shared.missing_barrier": "its few warps mostly finish a stage together",
    "reduce1d.one_pass.early_ticket": "the other blocks have mostly stored their states long before",
    "reduce1d.one_pass.missing_fence": "stores are mostly visible in the order in which a thread does them",
    "reduce1d.sequential.missing_barrier": "its few warps mostly add in step",
    "scan1d.look_back.does_not_wait": "the tiles before have mostly published their sums",
    "scan1d.look_back.first_window_only": "a tile among the last 32 mostly knows the sum of all before it",
    "scan1d.look_back.lane_left_out": "a tile among the last 32 mostly knows the sum of all before it",
}
"""Faults that a real GPU shows by chance alone, because its warps seldom get out of step where the barrier is missing,
and why. The simulated GPU sees the hazard itself, or the wrong result in an adversarial order."""


@dataclass(frozen=True)
class Wrong:
    """A kernel with a fault. `name` is filter.variant.fault and `reason` what is wrong."""

    name: str
    reason: str
    edits: tuple[tuple[str, str], ...]
    """What is replaced, found once in the shipped text, and by what."""

    @property
    def filter(self) -> str:
        return self.name.split(".")[0]

    @property
    def variant(self) -> str:
        return self.name.split(".")[1]

    @property
    def fault(self) -> str:
        return self.name.split(".")[2]

    @property
    def file(self) -> str:
        """The shipped file whose text it takes the place of."""
        return find_filter(self.filter).variant(self.variant).kernels[0]

    def text(self) -> str:
        """The text with the fault. Fails where the shipped text has changed so that an edit has no place of its own."""
        shipped = text = read_source(self.file)
        for old, new in self.edits:
            found = shipped.count(old)
            assert found == 1 == text.count(old), (
                f"{self.name} no longer applies: {self.file} has this text {found} times, not once. Adapt its edits "
                f"in tests/wrong_kernels to the kernel.\n{old}"
            )
            text = text.replace(old, new)
        return text


WRONG = [Wrong(name, reason, tuple(edits)) for table in TABLES for name, (reason, *edits) in table.items()]
WRONG.sort(key=lambda wrong: wrong.name)


def find_wrong(name: str) -> Wrong:
    """The wrong kernel of that name."""
    (wrong,) = (wrong for wrong in WRONG if wrong.name == name)
    return wrong
